"""How alike the rankings of the runs of a command are, pair by pair."""

import warnings
from collections.abc import Sequence
from functools import partial
from itertools import combinations
from typing import Any

from idealrank.app.progress import Watch
from idealrank.conventions import Convention
from idealrank.data.progress import Progress
from idealrank.data.run import Run
from idealrank.errors import IdealrankWarning, InputError
from idealrank.evaluation.overlap import Overlap, measures_beside, overlap
from idealrank.measures.measure import Measure

_FEW = 5  # runs: of more, every two are not looked at unless asked


def are_wanted(asked: bool | None, n_runs: int) -> bool:
    """Whether rankings are compared: as asked, or of few runs.

    Examples
    --------
    >>> are_wanted(None, 2), are_wanted(None, 130), are_wanted(True, 130)
    (True, False, True)
    """
    return n_runs <= _FEW if asked is None else asked


def overlaps(
    runs: Sequence[Run], baseline: str | None, measures: Sequence[Measure], convention: Convention, threads: int, watch: Watch
) -> list[Overlap]:
    """How alike every two runs are, or each and the baseline, at the cutoffs of the measures; pairs without a common query are left out.

    Tied documents are ordered as the convention does, and share a rank where it gives them none.

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measures
    >>> runs = [Run({"q": ["x", "y"]}, name="a"), Run({"q": ["y", "x"]}, name="b")]
    >>> found = overlaps(runs, None, parse_measures("RR@2"), Convention.of("standard"), 1, Watch())
    >>> found[0].mean()["Same@2"], found[0].mean()["overlap@2"]
    (0.0, 1.0)
    """
    beside, alignment = measures_beside(measures), convention.alignment
    ordered, cutoffs = alignment.ties in ("docid", "docid-ascending", "input"), [measure.cutoff for measure in beside]
    options = {
        "ties": alignment.ties if ordered else "shared",
        "duplicates": "first" if alignment.duplicates == "twice" else alignment.duplicates,
        "depth": max(map(int, cutoffs)) if ordered and all(isinstance(cutoff, int) for cutoff in cutoffs) else 0,  # type: ignore[arg-type]
        "threads": threads,
    }
    found = []
    for a, b in combinations(runs, 2):
        if baseline is None or baseline in (a.name, b.name):
            compared = partial(_overlap, a, b, beside, options)
            found.append(watch.run(f"{a.name} and {b.name}", compared))
    return [one for one in found if one is not None]


def _overlap(a: Run, b: Run, measures: Sequence[Measure], options: dict[str, Any], progress: Progress) -> Overlap | None:
    """None where no query is common; that no document is, the values say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IdealrankWarning)
        try:
            return overlap(a, b, measures, progress=progress, **options)
        except InputError:
            return None
