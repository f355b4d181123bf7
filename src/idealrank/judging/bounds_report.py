"""Bounds of one or two runs by several measures: what `idealrank judge bounds` shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from idealrank.conventions import Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import InputError
from idealrank.judging.value_bounds import Bounds, DifferenceBounds, aligned, bounds_of, difference_bounds_of
from idealrank.measures.measure import Measure


@dataclass(frozen=True, eq=False)
class BoundsReport:
    """Bounds by measure, of each run and of their difference.

    Attributes
    ----------
    convention : Convention
        Convention of alignment and measures.
    max_grade : float
        Highest grade that an unjudged document may have.
    depth : int or None
        Deepest rank of documents with an open grade; None for whole lists.
    runs : tuple of Bounds
        Measure by measure, of each run.
    differences : tuple of DifferenceBounds
        Of two runs, for each measure; empty for one run.
    """

    convention: Convention
    max_grade: float
    depth: int | None
    runs: tuple[Bounds, ...]
    differences: tuple[DifferenceBounds, ...]

    @property
    def exact(self) -> bool:
        """True if all bounds are attained."""
        return all(one.exact for one in (*self.runs, *self.differences))


def bounds_report(
    qrels: Qrels,
    runs: Sequence[Run],
    measures: Sequence[Measure],
    *,
    max_grade: float | None = None,
    depth: int | None = None,
    convention: "Convention | str" = "standard",
    threads: int = 0,
) -> BoundsReport:
    """Compute the bounds of one or two runs; each run is ranked once.

    Parameters
    ----------
    qrels : Qrels
        What was judged.
    runs : sequence of Run
        One run, or two to be compared.
    measures : sequence of Measure
        The measures.
    max_grade, depth, convention, threads
        As for `bounds`.

    Returns
    -------
    BoundsReport

    Examples
    --------
    >>> from idealrank.measures.parse import parse_measures
    >>> found = bounds_report(Qrels({"q": {"a": 1}}), [Run({"q": ["x", "a"]})], parse_measures(["RR", "P@1"]))
    >>> [(one.measure, one.mean_low, one.mean_high) for one in found.runs]
    [('RR', 0.5, 1.0), ('P@1', 0.0, 1.0)]
    """
    under = Convention.of(convention)
    lists = [aligned(qrels, run, measures, under, depth, threads=threads) for run in runs]
    for run, judged in zip(runs, lists, strict=True):
        if not judged.n_queries:
            raise InputError(f"no query to evaluate: {qrels.name} and run {run.name!r} have none that counts under {under.name}")
    names = [run.name for run in runs]
    names = [name if names.index(name) == place else f"{name} ({place + 1})" for place, name in enumerate(names)]
    alone = tuple(
        bounds_of(judged, measure, max_grade, depth, convention=under, name=name)
        for measure in measures
        for judged, name in zip(lists, names, strict=True)
    )
    differences = tuple(
        difference_bounds_of(lists[0], lists[1], measure, max_grade, depth, convention=under, names=(names[0], names[1]))
        for measure in (measures if len(runs) > 1 else ())
    )
    return BoundsReport(under, max(one.max_grade for one in alone), depth, alone, differences)
