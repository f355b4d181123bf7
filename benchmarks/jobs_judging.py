"""Bounds over grades of unjudged documents, of one run and of a difference, on the clock."""

import sys
from collections.abc import Iterator
from pathlib import Path

from jobs_stats import within
from measuring import Contender, Timing, in_turns, require_equal
from report import Row

SCRIPT = Path(__file__).resolve().parent / "contenders" / "judging.py"
RESULTS, CHECKED = 1000, 5
SUBJECTS = {
    "bounds": "bounds of nDCG@10 at depth 10",
    "difference": "bounds of a difference of nDCG@10 at depth 10",
}
AT_MOST = 1.0


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Values against every choice of grades, then times; the quick run promises nothing."""
    for name, subject in SUBJECTS.items():
        ours, theirs = (
            call(each, CHECKED).run().reported()["values"] for each in (name, f"plain-{name}")
        )
        require_equal(name, ours, theirs, 1e-12)
        samples = in_turns({"ours": call(name, RESULTS, calls=3)})["ours"]
        yield within(
            f"{subject}, 43 queries x {RESULTS:,}",
            None if quick else AT_MOST,
            Timing.of_calls(samples),
            samples,
        )


def call(name: str, results: int, *, calls: int = 1) -> Contender:
    """One process, which makes its data before the clock starts."""
    return Contender((sys.executable, str(SCRIPT), name, str(results), str(calls)), 2)
