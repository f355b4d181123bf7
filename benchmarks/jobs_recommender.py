"""Many short lists, as recommenders have them: `compare` against `evaluate` of the same files, and
its memory.

Labels are purchases, so that they are positive-only: the verdict is that of the test, with its
sensitivity.
"""

from collections.abc import Iterator
from pathlib import Path

from jobs_text import IDEALRANK
from measuring import Contender, Sample, Timing, in_turns, seconds
from report import Row
from workload import recommender_files

USERS, FEWER = 60_000, 6_000
MEASURES = "nDCG@10,R@20,P@10,AP@20,HR@20"
MOST_MEGABYTES = 500


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Two runs; three runs with slices; the peak of the first."""
    users = FEWER if quick else USERS
    purchases, *runs, segments = recommender_files(users)
    subject = f"`compare`, {users:,} users x 20 items, five measures"
    two = _turns(purchases, runs[:2], ())
    yield _on_the_clock(subject, "`evaluate` of the same files, two runs", 2.5, two)
    three = _turns(purchases, runs, ("--slices", str(segments)))
    yield _on_the_clock(subject, "`evaluate` of the same files, three runs with slices", 4.0, three)
    peak = max(sample.peak for sample in two["compare"]) / 1e6
    target, reached = f"at most {MOST_MEGABYTES} MB", f"{peak:.0f} MB"
    yield Row(subject, "peak memory, two runs", target, reached, peak <= MOST_MEGABYTES, "resident")


def _turns(purchases: Path, runs: list[Path], options: tuple[str, ...]) -> dict[str, list[Sample]]:
    files = (str(purchases), *map(str, runs), "-m", MEASURES, "--format", "json")
    contenders = {
        "compare": Contender((IDEALRANK, "compare", *files, *options), 3),
        "evaluate": Contender((IDEALRANK, "evaluate", *files), 3),
    }
    return in_turns(contenders)


def _on_the_clock(subject: str, what: str, at_most: float, samples: dict[str, list[Sample]]) -> Row:
    ours, theirs = (Timing.of(samples[name]) for name in ("compare", "evaluate"))
    ratio = ours.wall / theirs.wall
    behind = (
        f"{seconds(ours.wall)} against {seconds(theirs.wall)} on the clock; "
        f"of the processor {seconds(ours.cpu)} against {seconds(theirs.cpu)}"
    )
    return Row(
        subject,
        what,
        f"at most {at_most:g} x",
        f"{ratio:.2f} x",
        ratio <= at_most,
        behind,
        {"ours": ours, "theirs": theirs},
    )
