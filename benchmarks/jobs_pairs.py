"""The pairwise loss of one list of ten million against a single sort of its scores, and the memory
it takes beside them.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from measuring import Contender, Sample, Timing, in_turns, require_equal
from report import Row, costing
from workload import long_list_files

SCRIPT = Path(__file__).resolve().parent / "contenders" / "pairs.py"
ITEMS = 10_000_000
TIES = ("half", "strict", "weak")
MOST_BYTES = 40


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Scores that hardly ever tie, and a thousand different ones; the weights of tied pairs other
    than a half are promised nothing.
    """
    for what, distinct in (("no ties", 0), ("1,000 distinct scores", 1000)):
        subject = f"pairwise loss, one list of {ITEMS:,}, labels 0 to 4, {what}"
        samples = measured(ITEMS, distinct, rounds=2 if quick else 4)
        timings = {name: Timing.of_calls(runs) for name, runs in samples.items()}
        for ties in TIES:
            at_most = 2 if ties == "half" else None
            yield costing(
                subject,
                f"ties={ties}, against one stable `np.argsort`",
                at_most,
                timings[f"idealrank-{ties}"],
                timings["argsort"],
            )
        most = max(run.reported()["bytes_an_item"] for run in samples["idealrank-half"])
        target, reached = f"at most {MOST_BYTES} bytes an item", f"{most:.1f} bytes"
        behind = (
            f"peak of the process over what it held with both arrays loaded; one stable "
            f"`np.argsort`: {least_of(samples['argsort']):.1f}"
        )
        yield Row(
            subject,
            "memory beside labels and scores, ties=half",
            target,
            reached,
            most <= MOST_BYTES,
            behind,
        )


def measured(items: int, distinct: int, rounds: int) -> dict[str, list[Sample]]:
    """Every contender in turns, after its values have been found equal to those of counting grade
    against grade.
    """
    files = tuple(map(str, long_list_files(items, distinct=distinct)))

    def call(name: str, calls: int, turns: int) -> Contender:
        return Contender((sys.executable, str(SCRIPT), name, *files, str(calls)), turns)

    theirs = {ties: call(f"counting-{ties}", 1, 1).run().reported()["value"] for ties in TIES}
    ours = {ties: call(f"idealrank-{ties}", 1, 1).run().reported()["value"] for ties in TIES}
    require_equal("pairwise loss", ours, theirs, 0)
    return in_turns(
        {
            name: call(name, 3, rounds)
            for name in ("argsort", *(f"idealrank-{ties}" for ties in TIES))
        }
    )


def least_of(samples: list[Sample]) -> float:
    """Bytes an item of the most modest run."""
    return min(float(run.reported()["bytes_an_item"]) for run in samples)
