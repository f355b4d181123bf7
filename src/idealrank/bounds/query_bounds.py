"""Bounds of every query and of their mean, as records, and how bounds of parts of a collection
merge.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.interchange import finite
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import IncompatibleError
from idealrank.measures.measure import Measure
from idealrank.measures.sums import aggregate


@dataclass(frozen=True, kw_only=True, eq=False)
class QueryBounds:
    """Lowest and highest values or differences, of each query and of their mean."""

    measure: str
    query_ids: Sequence[str]
    low: FloatArray
    value: FloatArray
    high: FloatArray
    exact_queries: BoolArray
    max_grade: float
    depth: int | None
    mean_low: float
    mean: float
    mean_high: float
    always: BoolArray

    @property
    def exact(self) -> bool:
        """True if all bounds are attained; False if some are outer bounds."""
        return bool(self.exact_queries.all())


@dataclass(frozen=True, kw_only=True, eq=False)
class Bounds(QueryBounds):
    """Lowest and highest value of each query, whatever the grades of the unjudged documents; see
    `bounds`.

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
        Share of unjudged documents among those, over all queries together, as
        `Coverage.unjudged_share`.
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
    >>> from idealrank.judging import bounds
    >>> found = bounds({"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}, "nDCG@2")
    >>> found.low.round(3), found.value.round(3), found.high.round(3), found.exact
    (array([0.387]), array([0.387]), array([1.]), True)
    """

    name: str
    unjudged_ranks: Sequence[IntArray]
    judged_share: FloatArray
    unjudged_share: float
    counts: tuple[int, int]
    measured: Measure

    def merge(self, other: "Bounds") -> "Bounds":
        """Merge the bounds of other queries of the same run, as of a collection that was split by
        query.

        Parameters
        ----------
        other : Bounds
            Bounds of the other part, by the same measure, `max_grade` and `depth`. Name `max_grade`
            for every part: its default is the highest grade of the part.

        Raises
        ------
        IncompatibleError
            These differ, or the parts share a query.

        Examples
        --------
        >>> from idealrank.judging import bounds
        >>> parts = [
        ...     bounds({query: {"a": 1}}, {query: ["x", "a"]}, "RR", 1) for query in ("p", "q")
        ... ]
        >>> merged = parts[0].merge(parts[1])
        >>> merged.query_ids, merged.mean, merged.mean_high
        (['p', 'q'], 0.5, 1.0)
        """
        _refuse_unlike(self, other, same_measure=self.measured == other.measured)
        low, high, always = (
            np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("low", "high", "always")
        )
        value = np.concatenate([self.value, other.value])
        counts = (self.counts[0] + other.counts[0], self.counts[1] + other.counts[1])
        return replace(
            self,
            name=self.name if self.name == other.name else f"{self.name}+{other.name}",
            query_ids=[*self.query_ids, *other.query_ids],
            low=low,
            value=value,
            high=high,
            always=always,
            counts=counts,
            exact_queries=np.concatenate([self.exact_queries, other.exact_queries]),
            unjudged_ranks=[*self.unjudged_ranks, *other.unjudged_ranks],
            judged_share=np.concatenate([self.judged_share, other.judged_share]),
            unjudged_share=counts[0] / counts[1] if counts[1] else 0.0,
            mean_low=extreme_mean(self.measured, low, always, lowest=True),
            mean=aggregate(self.measured, value, ~np.isnan(value)),
            mean_high=extreme_mean(self.measured, high, always, lowest=False),
        )

    @property
    def n_unjudged(self) -> IntArray:
        """Number of documents with an open grade, shape (n_queries,)."""
        return np.array([ranks.size for ranks in self.unjudged_ranks], np.int64)

    @property
    def residual(self) -> FloatArray:
        """Largest rise of each value, ``high - value``, shape (n_queries,): the residual of the
        measure for the documents returned.

        Below 0 only for measures that tell an unjudged document from a document of grade 0, such as
        infAP.
        """
        return self.high - self.value

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record: means and settings, and the queries."""
        columns = {
            "low": self.low.tolist(),
            "value": self.value.tolist(),
            "high": self.high.tolist(),
            "exact": self.exact_queries.tolist(),
            "judged": self.judged_share.tolist(),
            "unjudged_ranks": [ranks.tolist() for ranks in self.unjudged_ranks],
        }
        return {
            "run": self.name,
            "measure": self.measure,
            "max_grade": self.max_grade,
            "depth": self.depth,
            "exact": self.exact,
            "unjudged_share": self.unjudged_share,
            "low": finite(self.mean_low),
            "value": finite(self.mean),
            "high": finite(self.mean_high),
            "queries": _records_by_query(self.query_ids, columns),
        }


@dataclass(frozen=True, kw_only=True, eq=False)
class DifferenceBounds(QueryBounds):
    """Lowest and highest difference of two runs in each query, whatever the grades of the unjudged
    documents; see `difference_bounds`.

    Attributes
    ----------
    measure, a, b : str
        Text of the measure, and names of the runs; differences are b - a.
    query_ids : sequence of str
        Queries that count in both runs.
    low, value, high : float64 array, shape (n_queries,)
        Lowest difference, difference as judged, highest difference. NaN where the convention gives
        no value.
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
    The first document is returned by both runs at the same rank, so that its grade changes the
    difference little.

    >>> from idealrank.judging import difference_bounds
    >>> qrels = {"q": {"a": 1, "b": 0}}
    >>> found = difference_bounds(qrels, {"q": ["x", "b", "a"]}, {"q": ["x", "a", "b"]}, "nDCG@3")
    >>> found.low.round(3), found.value.round(3), found.high.round(3)
    (array([0.08]), array([0.131]), array([0.131]))
    """

    a: str
    b: str
    unjudged_a: IntArray
    unjudged_b: IntArray
    unjudged_both: IntArray

    def merge(self, other: "DifferenceBounds") -> "DifferenceBounds":
        """Merge the bounds of other queries of the same two runs; see `Bounds.merge`.

        Raises
        ------
        IncompatibleError
            Measure, `max_grade` or `depth` differ, or the parts share a query.

        Examples
        --------
        >>> from idealrank.judging import difference_bounds
        >>> parts = [
        ...     difference_bounds({query: {"a": 1}}, {query: ["x", "a"]}, {query: ["x"]}, "RR", 1)
        ...     for query in ("p", "q")
        ... ]
        >>> parts[0].merge(parts[1]).mean
        -0.5
        """
        _refuse_unlike(self, other, same_measure=self.measure == other.measure)
        names = (
            "low",
            "value",
            "high",
            "exact_queries",
            "unjudged_a",
            "unjudged_b",
            "unjudged_both",
            "always",
        )
        columns: dict[str, Any] = {
            name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in names
        }
        return replace(
            self,
            query_ids=[*self.query_ids, *other.query_ids],
            **columns,
            mean_low=optional_mean(columns["low"], columns["always"], lowest=True),
            mean=known_mean(columns["value"]),
            mean_high=optional_mean(columns["high"], columns["always"], lowest=False),
        )

    @property
    def flips(self) -> BoolArray:
        """Mark queries in which either run may have the higher value, shape (n_queries,)."""
        return (self.low < 0) & (self.high > 0)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record: means and settings, and the queries."""
        columns = {
            "low": self.low.tolist(),
            "value": self.value.tolist(),
            "high": self.high.tolist(),
            "exact": self.exact_queries.tolist(),
            "unjudged_a": self.unjudged_a.tolist(),
            "unjudged_b": self.unjudged_b.tolist(),
            "unjudged_both": self.unjudged_both.tolist(),
            "flips": self.flips.tolist(),
        }
        return {
            "a": self.a,
            "b": self.b,
            "measure": self.measure,
            "max_grade": self.max_grade,
            "depth": self.depth,
            "exact": self.exact,
            "low": finite(self.mean_low),
            "value": finite(self.mean),
            "high": finite(self.mean_high),
            "flips": int(self.flips.sum()),
            "queries": _records_by_query(self.query_ids, columns),
        }


def _records_by_query(
    query_ids: Sequence[str], columns: Mapping[str, Sequence[Any]]
) -> dict[str, dict[str, Any]]:
    """Columns by name as a JSON record for each query."""
    records = {}
    for place, query in enumerate(query_ids):
        records[query] = {name: finite(column[place]) for name, column in columns.items()}
    return records


@dataclass(frozen=True, kw_only=True, eq=False)
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
        every: list[QueryBounds] = [*self.runs, *self.differences]
        return all(bounds.exact for bounds in every)


def extreme_mean(measure: Measure, values: FloatArray, always: BoolArray, *, lowest: bool) -> float:
    """Lowest or highest aggregate."""
    if always.all() or measure.aggregate != "mean":
        return aggregate(measure, values, ~np.isnan(values))
    return optional_mean(values, always, lowest=lowest)


def known_mean(values: FloatArray) -> float:
    """Mean of the values that are not NaN."""
    return _mean(values[~np.isnan(values)].tolist())


def _mean(values: list[float]) -> float:
    """Mean, the same in any order of the values; NaN without one."""
    return math.fsum(values) / len(values) if values else math.nan


def optional_mean(values: FloatArray, always: BoolArray, *, lowest: bool) -> float:
    """Lowest or highest mean where some queries count at some grades alone: each of these counts if
    that moves the mean further.
    """
    has_value = ~np.isnan(values)
    counted = values[has_value & always].tolist()
    optional = values[has_value & ~always].tolist()
    # Farthest first: once a value does not move the mean, no later one does.
    for value in sorted(optional, reverse=not lowest):
        if counted:
            mean = _mean(counted)
            moves = value < mean if lowest else value > mean
            if not moves:
                break
        counted.append(value)
    return _mean(counted)


def _refuse_unlike(first: QueryBounds, other: QueryBounds, *, same_measure: bool) -> None:
    """Refuse parts whose bounds mean different things, or that share a query."""
    first_settings, other_settings = (
        f"{part.measure}, max_grade={part.max_grade:g}, depth={part.depth}"
        for part in (first, other)
    )
    if first_settings != other_settings or not same_measure:
        raise IncompatibleError(
            f"found bounds of {first_settings} and of {other_settings}; expected the same for all "
            "parts; name max_grade for each"
        )
    if shared := set(first.query_ids) & set(other.query_ids):
        raise IncompatibleError(
            f"query {min(shared)!r} is in both parts ({len(shared)} are); expected each query "
            f"in one part"
        )
