"""Bounds of values: the lowest and the highest, whatever the grades of the documents that were not judged."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.align import align
from idealrank.data.interchange import finite
from idealrank.data.judged import Judged
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import IncompatibleError, InputError, OptionError
from idealrank.evaluation.coverage import Tally
from idealrank.judging.extremes import MOST, Problem
from idealrank.judging.free_documents import FreeDocuments
from idealrank.measures.aggregates import aggregate
from idealrank.measures.judgedness import JudgedShare
from idealrank.measures.measure import Measure, number_option
from idealrank.measures.parse import MeasureLike, parse_measure

AnyQrels: TypeAlias = "Qrels | Mapping[str, Any]"
AnyRun: TypeAlias = "Run | Mapping[str, Any]"
_WHOLE = (1 << 31) - 1


@dataclass(frozen=True, eq=False)
class Bounds:
    """Lowest and highest value of each query, whatever the grades of the unjudged documents; see `bounds`.

    Attributes
    ----------
    measure : str
        Text of the measure.
    name : str
        Name of the run.
    query_ids : sequence of str
        Queries that count.
    low, value, high : float64 array, shape (n_queries,)
        Lowest value, value as judged, highest value. NaN where the convention gives no value.
    exact_queries : bool array, shape (n_queries,)
        Where `low` and `high` are attained by some grades; elsewhere they are outer bounds.
    unjudged_ranks : sequence of int64 arrays
        Ranks of each query's unjudged documents, down to `depth`, whose grades are open.
    judged_share : float64 array, shape (n_queries,)
        Share of judged documents among those returned down to the measure's cutoff: ``Judged@k``.
    unjudged_share : float
        Share of unjudged documents among those, over all queries together, as `Coverage.unjudged_share`.
    max_grade : float
        Highest grade that an unjudged document may have.
    depth : int or None
        Deepest rank of these documents; None for whole lists.
    mean_low, mean, mean_high : float
        Aggregates of the measure over the queries that count: lowest, as judged, highest.
    always : bool array, shape (n_queries,)
        Queries that count at all grades; others count at some alone.
    counts : tuple of int
        Unjudged documents, and documents returned, behind `unjudged_share`.
    measured : Measure
        The measure.

    Examples
    --------
    >>> found = bounds({"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}, "nDCG@2")
    >>> found.low.round(3), found.value.round(3), found.high.round(3), found.exact
    (array([0.387]), array([0.387]), array([1.]), True)
    """

    measure: str
    name: str
    query_ids: Sequence[str]
    low: FloatArray
    value: FloatArray
    high: FloatArray
    exact_queries: BoolArray
    unjudged_ranks: Sequence[IntArray]
    judged_share: FloatArray
    unjudged_share: float
    max_grade: float
    depth: int | None
    mean_low: float
    mean: float
    mean_high: float
    always: BoolArray
    counts: tuple[int, int]
    measured: Measure

    def merge(self, other: "Bounds") -> "Bounds":
        """Merge the bounds of other queries of the same run, as of a collection that was split by query.

        Parameters
        ----------
        other : Bounds
            Bounds of the other part, by the same measure, `max_grade` and `depth`. Name `max_grade` for every part: its default is the
            highest grade of the part.

        Raises
        ------
        IncompatibleError
            These differ, or the parts share a query.

        Examples
        --------
        >>> parts = [bounds({query: {"a": 1}}, {query: ["x", "a"]}, "RR", 1) for query in ("p", "q")]
        >>> merged = parts[0].merge(parts[1])
        >>> merged.query_ids, merged.mean, merged.mean_high
        (['p', 'q'], 0.5, 1.0)
        """
        _refuse_unlike(self, other, self.measured == other.measured)
        low, high, always = (np.concatenate([getattr(self, name), getattr(other, name)]) for name in ("low", "high", "always"))
        value, counts = np.concatenate([self.value, other.value]), (self.counts[0] + other.counts[0], self.counts[1] + other.counts[1])
        return replace(
            self, name=self.name if self.name == other.name else f"{self.name}+{other.name}",
            query_ids=[*self.query_ids, *other.query_ids], low=low, value=value, high=high, always=always, counts=counts,
            exact_queries=np.concatenate([self.exact_queries, other.exact_queries]),
            unjudged_ranks=[*self.unjudged_ranks, *other.unjudged_ranks],
            judged_share=np.concatenate([self.judged_share, other.judged_share]),
            unjudged_share=counts[0] / counts[1] if counts[1] else 0.0,
            mean_low=_mean(self.measured, low, always, lowest=True), mean=aggregate(self.measured, value, ~np.isnan(value)),
            mean_high=_mean(self.measured, high, always, lowest=False),
        )  # fmt: skip

    @property
    def exact(self) -> bool:
        """True if all bounds are attained; False if some are outer bounds."""
        return bool(self.exact_queries.all())

    @property
    def n_unjudged(self) -> IntArray:
        """Number of documents with an open grade, shape (n_queries,)."""
        return np.array([ranks.size for ranks in self.unjudged_ranks], np.int64)

    @property
    def residual(self) -> FloatArray:
        """Largest rise of each value, ``high - value``, shape (n_queries,): the residual of the measure for the documents returned.

        Below 0 only for measures that tell an unjudged document from a document of grade 0, such as infAP.
        """
        return self.high - self.value

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record: means and settings, and the queries."""
        rows = zip(
            self.query_ids, self.low.tolist(), self.value.tolist(), self.high.tolist(), self.exact_queries.tolist(),
            self.judged_share.tolist(), self.unjudged_ranks, strict=True,
        )  # fmt: skip
        queries = {
            query: {"low": finite(low), "value": finite(value), "high": finite(high), "exact": exact, "judged": judged,
                    "unjudged_ranks": ranks.tolist()}
            for query, low, value, high, exact, judged, ranks in rows
        }  # fmt: skip
        return {
            "run": self.name, "measure": self.measure, "max_grade": self.max_grade, "depth": self.depth, "exact": self.exact,
            "unjudged_share": self.unjudged_share,
            "low": finite(self.mean_low), "value": finite(self.mean), "high": finite(self.mean_high), "queries": queries,
        }  # fmt: skip


@dataclass(frozen=True, eq=False)
class DifferenceBounds:
    """Lowest and highest difference of two runs in each query, whatever the grades of the unjudged documents; see `difference_bounds`.

    Attributes
    ----------
    measure, a, b : str
        Text of the measure, and names of the runs; differences are b - a.
    query_ids : sequence of str
        Queries that count in both runs.
    low, value, high : float64 array, shape (n_queries,)
        Lowest difference, difference as judged, highest difference. NaN where the convention gives no value.
    exact_queries : bool array, shape (n_queries,)
        Where `low` and `high` are attained by some grades; elsewhere they are outer bounds.
    unjudged_a, unjudged_b, unjudged_both : int64 array, shape (n_queries,)
        Documents with an open grade that run a alone returns, run b alone, and both.
    max_grade : float
        Highest grade that an unjudged document may have.
    depth : int or None
        Deepest rank of these documents in either run; None for whole lists.
    mean_low, mean, mean_high : float
        Means over the queries with a difference.
    always : bool array, shape (n_queries,)
        Queries that count at all grades; others count at some alone.

    Examples
    --------
    The first document is returned by both runs at the same rank, so that its grade changes the difference little.

    >>> qrels = {"q": {"a": 1, "b": 0}}
    >>> found = difference_bounds(qrels, {"q": ["x", "b", "a"]}, {"q": ["x", "a", "b"]}, "nDCG@3")
    >>> found.low.round(3), found.value.round(3), found.high.round(3)
    (array([0.08]), array([0.131]), array([0.131]))
    """

    measure: str
    a: str
    b: str
    query_ids: Sequence[str]
    low: FloatArray
    value: FloatArray
    high: FloatArray
    exact_queries: BoolArray
    unjudged_a: IntArray
    unjudged_b: IntArray
    unjudged_both: IntArray
    max_grade: float
    depth: int | None
    mean_low: float
    mean: float
    mean_high: float
    always: BoolArray

    def merge(self, other: "DifferenceBounds") -> "DifferenceBounds":
        """Merge the bounds of other queries of the same two runs; see `Bounds.merge`.

        Raises
        ------
        IncompatibleError
            Measure, `max_grade` or `depth` differ, or the parts share a query.

        Examples
        --------
        >>> parts = [difference_bounds({query: {"a": 1}}, {query: ["x", "a"]}, {query: ["x"]}, "RR", 1) for query in ("p", "q")]
        >>> parts[0].merge(parts[1]).mean
        -0.5
        """
        _refuse_unlike(self, other, self.measure == other.measure)
        names = ("low", "value", "high", "exact_queries", "unjudged_a", "unjudged_b", "unjudged_both", "always")
        columns: dict[str, Any] = {name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names}
        return replace(
            self, query_ids=[*self.query_ids, *other.query_ids], **columns,
            mean_low=_optional_mean(columns["low"], columns["always"], lowest=True), mean=_known_mean(columns["value"]),
            mean_high=_optional_mean(columns["high"], columns["always"], lowest=False),
        )  # fmt: skip

    @property
    def exact(self) -> bool:
        """True if all bounds are attained; False if some are outer bounds."""
        return bool(self.exact_queries.all())

    @property
    def flips(self) -> BoolArray:
        """Mark queries in which either run may have the higher value, shape (n_queries,)."""
        return (self.low < 0) & (self.high > 0)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record: means and settings, and the queries."""
        columns = (self.low, self.value, self.high, self.exact_queries, self.unjudged_a, self.unjudged_b, self.unjudged_both, self.flips)
        names = ("low", "value", "high", "exact", "unjudged_a", "unjudged_b", "unjudged_both", "flips")
        rows = zip(self.query_ids, *(column.tolist() for column in columns), strict=True)
        queries = {
            query: {name: finite(value) if isinstance(value, float) else value for name, value in zip(names, row, strict=True)}
            for query, *row in rows
        }
        return {
            "a": self.a, "b": self.b, "measure": self.measure, "max_grade": self.max_grade, "depth": self.depth, "exact": self.exact,
            "low": finite(self.mean_low), "value": finite(self.mean), "high": finite(self.mean_high), "flips": int(self.flips.sum()),
            "queries": queries,
        }  # fmt: skip


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
        return all(one.exact for one in self.runs) and all(one.exact for one in self.differences)


def bounds(
    qrels: AnyQrels,
    run: AnyRun,
    measure: MeasureLike,
    max_grade: float | None = None,
    depth: int | None = None,
    *,
    convention: "Convention | str" = "standard",
    threads: int = 0,
) -> Bounds:
    """Compute the lowest and the highest value of each query over all grades of the documents that the run returns unjudged.

    Parameters
    ----------
    qrels : Qrels or mapping
        What was judged.
    run : Run or mapping
        What was returned.
    measure : measure or str
        The measure.
    max_grade : float, optional
        Highest grade of the scale. Grades are the whole numbers from 0 to it, itself, and grades between that were judged. Default: the
        highest grade judged, at least 1.
    depth : int, optional
        Documents below this rank stay unjudged, as grade 0. Default: documents at any rank are open. Documents that the run does not
        return stay unjudged in any case.
    convention : Convention or str
        Convention of alignment and measure.
    threads : int
        Number of threads; 0 uses all cores.

    Returns
    -------
    Bounds

    Raises
    ------
    OptionError
        The convention or the measure takes unjudged documents out of the lists, or makes gains negative in a quotient; a value of
        `max_grade` or `depth` is impossible.
    InputError
        No query counts.

    Notes
    -----
    Exact for nDCG, DCG, R, P and RBP at any size, whatever the gain and the discount. Open documents change the ideal list, too.
    Exact for measures that rise with every grade (RR, Success, ERR, the static measures of C/W/L), and for AP. Exact for further
    measures that rise when higher grades move up (Rprec, F, Bpref, nERR, ...) while at most 2,048 choices of grades of a query can
    matter, and for all others while there are as few choices. `Bounds.exact_queries` marks the queries with exact bounds; the other
    bounds are the bounds of the measure.

    Grades between the ends matter. Of nDCG, the lowest value is attained by grades 0 and `max_grade` alone, the highest often by others:
    a document at rank 5 adds more to the list than to the ideal while its grade is low, and the reverse when it is high.

    Examples
    --------
    >>> found = bounds({"q": {"a": 2, "b": 1}}, {"q": ["a", "x", "b"]}, "nDCG@3")
    >>> found.low.round(3), found.high.round(3), [ranks.tolist() for ranks in found.unjudged_ranks]
    (array([0.95]), array([1.]), [[2]])
    """
    made, table, lists = parse_measure(measure), as_qrels(qrels), as_run(run, "run")
    _, under = _resolved(made, convention)
    judged = aligned(table, lists, [made], under, depth, threads=threads)
    if not judged.n_queries:
        raise InputError(f"no query to evaluate: {table.name} and run {lists.name!r} have none that counts under convention {under.name}")
    return bounds_of(judged, made, max_grade, depth, convention=under, name=lists.name)


def difference_bounds(
    qrels: AnyQrels,
    run_a: AnyRun,
    run_b: AnyRun,
    measure: MeasureLike,
    max_grade: float | None = None,
    depth: int | None = None,
    *,
    convention: "Convention | str" = "standard",
    threads: int = 0,
) -> DifferenceBounds:
    """Compute the lowest and the highest difference of two runs in each query over all grades of the documents they return unjudged.

    A document has one grade in both runs, and both share the ideal list. The bounds are therefore narrower than the difference of the
    bounds of the runs.

    Parameters
    ----------
    qrels : Qrels or mapping
        What was judged.
    run_a, run_b : Run or mapping
        What was returned; the difference is that of b less that of a.
    measure : measure or str
        The measure.
    max_grade, depth, convention, threads
        As for `bounds`. Documents are open that either run returns unjudged, down to the rank; a document is one in both runs, at any
        rank of the other.

    Returns
    -------
    DifferenceBounds

    Raises
    ------
    OptionError
        As for `bounds`.
    InputError
        No query counts in both runs.

    Notes
    -----
    Exact for nDCG and R where both runs have the same ideal list, for DCG, P and RBP, and for RR and Success without ties; for other
    measures that rise with every grade while documents that both runs return have at most 2,048 choices of grades; for all others while
    all open documents have. Elsewhere the bounds are differences of the bounds of both runs.

    Examples
    --------
    >>> qrels, a, b = {"q": {"a": 1}}, {"q": ["x", "a"]}, {"q": ["x", "y"]}
    >>> found = difference_bounds(qrels, a, b, "P@2")
    >>> found.low, found.value, found.high, found.flips
    (array([-0.5]), array([-0.5]), array([0.]), array([False]))
    """
    made, table, lists = parse_measure(measure), as_qrels(qrels), (as_run(run_a, "A"), as_run(run_b, "B"))
    _, under = _resolved(made, convention)
    a, b = (aligned(table, run, [made], under, depth, threads=threads) for run in lists)
    return difference_bounds_of(a, b, made, max_grade, depth, convention=under, names=(lists[0].name, lists[1].name))


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


def bounds_of(
    judged: Judged, measure: Measure, max_grade: float | None, depth: int | None, *, convention: Convention, name: str = "run"
) -> Bounds:
    """Bounds of lists that are aligned already, with their unjudged documents; arguments as for `bounds`.

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
    >>> judged = align(Qrels({"q": {"a": 1}}), Run({"q": ["x", "a"]}), Alignment(), unjudged_depth=2)
    >>> bounds_of(judged, parse_measure("RR"), None, None, convention=Convention.of("standard")).high
    array([1.])
    """
    resolved, _ = _resolved(measure, convention)
    free = FreeDocuments.of([judged], judged.queries, _checked_depth(depth))
    highest = _highest(judged, max_grade)
    found = Problem(resolved, free, convention, highest).of_run()
    given = resolved.measured(judged)
    scored = np.ones(judged.n_queries, np.bool_) if given.scored is None else given.scored
    places = free.sides[0].places
    cutoff = resolved.cutoff if measure.after_at == "cutoff" else None
    tally = Tally(cutoff if isinstance(cutoff, int) else 0)
    tally.add(judged, out_of_range=0)
    coverage = tally.coverage(judged.scope)
    return Bounds(
        measure=str(measure),
        name=name,
        query_ids=judged.queries,
        low=found.low,
        value=np.where(scored, given.values, np.nan),
        high=found.high,
        exact_queries=found.exact,
        unjudged_ranks=np.split(places.rank, np.searchsorted(places.query, np.arange(1, judged.n_queries))),
        judged_share=JudgedShare(cutoff=cutoff).compute(judged).values,
        unjudged_share=coverage.unjudged_share,
        max_grade=highest,
        depth=depth,
        mean_low=_mean(measure, found.low, found.always, lowest=True),
        mean=aggregate(measure, given.values, scored),
        mean_high=_mean(measure, found.high, found.always, lowest=False),
        always=found.always,
        counts=(coverage.unjudged, coverage.considered),
        measured=measure,
    )


def difference_bounds_of(
    judged_a: Judged,
    judged_b: Judged,
    measure: Measure,
    max_grade: float | None,
    depth: int | None,
    *,
    convention: Convention,
    names: "tuple[str, str]" = ("A", "B"),
    queries: Sequence[str] | None = None,
    most: int = MOST,
) -> DifferenceBounds:
    """Bounds of the difference of lists that are aligned already.

    Arguments as for `difference_bounds`, the queries to look at, and how many choices of grades of a query are enumerated.

    Examples
    --------
    >>> from idealrank.data.alignment import Alignment
    >>> runs = (Run({"q": ["x", "a"]}), Run({"q": ["a"]}))
    >>> a, b = (align(Qrels({"q": {"a": 1}}), run, Alignment(), unjudged_depth=2) for run in runs)
    >>> difference_bounds_of(a, b, parse_measure("RR"), None, None, convention=Convention.of("standard")).low
    array([0.])
    """
    resolved, _ = _resolved(measure, convention)
    if queries is None:
        others = set(judged_b.queries)
        queries = [query for query in judged_a.queries if query in others]
    if not queries:
        raise InputError(f"no query to compare: runs {names[0]!r} and {names[1]!r} have none that counts in both")
    free = FreeDocuments.of([judged_a, judged_b], queries, _checked_depth(depth))
    highest = max(_highest(judged_a, max_grade), _highest(judged_b, max_grade))
    found = Problem(resolved, free, convention, highest, most).of_difference()
    values = []
    for side, judged in zip(free.sides, (judged_a, judged_b), strict=True):
        given = resolved.measured(judged)
        values.append((given.values if given.scored is None else np.where(given.scored, given.values, np.nan))[side.row])
    by_a, by_b = free.returned_by(0), free.returned_by(1)
    counts = [
        np.bincount(free.query[kept], minlength=len(queries)).astype(np.int64)
        for kept in (by_a & ~by_b, by_b & ~by_a, by_a & by_b)
    ]  # fmt: skip
    value = values[1] - values[0]
    return DifferenceBounds(
        measure=str(measure),
        a=names[0],
        b=names[1],
        query_ids=queries,
        low=found.low,
        value=value,
        high=found.high,
        exact_queries=found.exact,
        unjudged_a=counts[0],
        unjudged_b=counts[1],
        unjudged_both=counts[2],
        max_grade=highest,
        depth=depth,
        mean_low=_optional_mean(found.low, found.always, lowest=True),
        mean=_known_mean(value),
        mean_high=_optional_mean(found.high, found.always, lowest=False),
        always=found.always,
    )


def as_qrels(qrels: AnyQrels) -> Qrels:
    """Judgments as `Qrels`.

    Examples
    --------
    >>> as_qrels({"q": {"a": 1}}).n_judgments
    1
    """
    if isinstance(qrels, Qrels):
        return qrels
    if not isinstance(qrels, Mapping):
        raise InputError(f"found {type(qrels).__name__}, expected judgments as Qrels or {{query: {{document: grade}}}}")
    return Qrels(qrels)


def as_run(run: AnyRun, name: str) -> Run:
    """Lists as a `Run`, with a name where they have none.

    Examples
    --------
    >>> as_run({"q": ["a"]}, "A").name
    'A'
    """
    return run if isinstance(run, Run) else Run(run, name=name)


def _resolved(measure: Measure, convention: "Convention | str") -> tuple[Measure, Convention]:
    """The measure with every option set, refused where unjudged documents have no place in the lists."""
    under = Convention.of(convention)
    measure.check_tables(())
    if measure.aggregate == "text" or not measure.looks_at_grades:
        raise OptionError(f"{measure}: found a measure without grades, expected one whose values depend on them, such as nDCG@10")
    if measure.judged_only or under.alignment.unjudged == "skipped":
        raise OptionError(
            f"{measure}: unjudged documents are taken out of the lists, so that their grades have no bounds; expected "
            "unjudged=not-relevant, and a measure without judged_only",
            switch="unjudged=not-relevant",
        )
    return measure.under(under), under


def aligned(qrels: Qrels, run: Run, measures: Sequence[Measure], convention: Convention, depth: int | None, *, threads: int = 0) -> Judged:
    """Lists with hits as deep as the measures look, and unjudged documents at all ranks that may be open or count.

    Examples
    --------
    >>> aligned(Qrels({"q": {"a": 1}}), Run({"q": ["x", "a"]}), [parse_measure("RR")], Convention.of("standard"), None).unjudged.rank
    array([1])
    """
    needed = [_resolved(measure, convention)[0].hits_needed() or _WHOLE for measure in measures]
    deepest = max(_checked_depth(depth) or _WHOLE, *needed)
    hits = 0 if deepest == _WHOLE else deepest
    return align(qrels, run, convention.alignment, depth=hits, unjudged_depth=deepest, threads=threads)


def _checked_depth(depth: object) -> int | None:
    if depth is None or (isinstance(depth, (int, np.integer)) and not isinstance(depth, bool) and 1 <= depth <= _WHOLE):
        return None if depth is None else int(depth)
    raise OptionError(f"depth={depth!r}: expected a rank from 1 on, or None for whole lists")


def _highest(judged: Judged, max_grade: float | None) -> float:
    if max_grade is not None:
        return number_option("max_grade", max_grade, 0, 1e6)
    return max(1.0, float(judged.ideal.grade.max(initial=1.0)))


def _mean(measure: Measure, values: FloatArray, always: BoolArray, *, lowest: bool) -> float:
    """Lowest or highest aggregate."""
    if always.all() or measure.aggregate != "mean":
        return aggregate(measure, values, ~np.isnan(values))
    return _optional_mean(values, always, lowest=lowest)


def _known_mean(values: FloatArray) -> float:
    known = ~np.isnan(values)
    return math.fsum(values[known].tolist()) / int(known.sum()) if known.any() else math.nan


def _refuse_unlike(one: "Bounds | DifferenceBounds", other: "Bounds | DifferenceBounds", same_measure: bool) -> None:  # noqa: FBT001
    """Refuse parts whose bounds mean different things, or that share a query."""
    ours, theirs = (f"{part.measure}, max_grade={part.max_grade:g}, depth={part.depth}" for part in (one, other))
    if ours != theirs or not same_measure:
        raise IncompatibleError(f"found bounds of {ours} and of {theirs}; expected the same for all parts; name max_grade for each")
    if shared := set(one.query_ids) & set(other.query_ids):
        raise IncompatibleError(f"query {min(shared)!r} is in both parts ({len(shared)} are); expected each query in one part")


def _optional_mean(values: FloatArray, always: BoolArray, *, lowest: bool) -> float:
    """Lowest or highest mean where some queries count at some grades alone: each of these counts if that moves the mean further."""
    known = ~np.isnan(values)
    fixed = values[known & always].tolist()
    optional = np.sort(values[known & ~always])
    for value in (optional if lowest else optional[::-1]).tolist():
        mean = math.fsum(fixed) / len(fixed) if fixed else None
        if mean is None or (value < mean if lowest else value > mean):
            fixed.append(value)
    return math.fsum(fixed) / len(fixed) if fixed else math.nan
