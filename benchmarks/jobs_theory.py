"""The theory: NDCG of random lists under many measures, against a loop over `ndcg`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from measuring import Contender, Timing, in_turns, require_equal, seconds
from report import Row, faster

SCRIPT = Path(__file__).resolve().parent / "contenders" / "simulation.py"
MOST_SECONDS = 60


def _call(name: str, samples: int, documents: int, rounds: int) -> Contender:
    return Contender((sys.executable, str(SCRIPT), name, str(samples), str(documents)), rounds)


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """A few samples against the loop, then all that were promised; the quick run draws a tenth of
    both.
    """
    documents, samples = (200_000, 100) if quick else (1_000_000, 1000)
    subject = f"lists of {documents:,} documents under six discounts and cutoffs"
    few = in_turns(
        {
            name: _call(name, 10, documents, 1 if quick else 2)
            for name in ("idealrank", "one-by-one")
        }
    )
    means = {name: runs[0].reported()["means"] for name, runs in few.items()}
    require_equal("simulated lists", means["idealrank"], means["one-by-one"], 1e-12)
    ours, theirs = (Timing.of_calls(few[name]) for name in ("idealrank", "one-by-one"))
    yield faster(subject, "10 lists: a loop over lists and measures with ndcg", 5, ours, theirs)
    whole = Timing.of_calls([_call("idealrank", samples, documents, 1).run()])
    target, met = ("", None) if quick else (f"at most {MOST_SECONDS} s", whole.wall <= MOST_SECONDS)
    behind = (
        f"of the processor {seconds(whole.cpu)}, {seconds(whole.cpu / samples)} a list; at most "
        f"{whole.peak / 1e6:.0f} MB of memory"
    )
    yield Row(
        subject,
        f"{samples:,} lists with theory.simulate_many",
        target,
        f"{seconds(whole.wall)}",
        met,
        behind,
        {"ours": whole},
    )
