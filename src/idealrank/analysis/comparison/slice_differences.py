"""Differences of two runs on slices of the queries, with intervals, and p values corrected for the
number of slices.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import chain, islice, product
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from idealrank._lazy import repr_html
from idealrank.analysis.comparison.difference_rows import NEGATED, DifferenceRow, verdict_of
from idealrank.analysis.comparison.families import (
    COMPANION_SLICES,
    SLICES,
    Corrected,
    Correction,
    Hypothesis,
    Side,
    corrected,
    name_of,
)
from idealrank.analysis.comparison.query_table import (
    QueryTable,
    design_by_query,
    restricted,
    seed_from,
)
from idealrank.analysis.comparison.slice_membership import Categories, Membership
from idealrank.data.interchange import by_query
from idealrank.errors import InputError
from idealrank.stats.comparison import Detectable, Plan, TestName, visible_by
from idealrank.stats.design import Design
from idealrank.stats.randomness import RandomLike

_PAIR_COLUMNS = ("a", "b", "measure")
# Columns of a slice's flat record that have the values of all queries.
_SHARED_COLUMNS = (*_PAIR_COLUMNS, "direction", "level")


@dataclass(frozen=True, kw_only=True)
class Slice(DifferenceRow):
    """One slice of the queries; every difference is b - a.

    Has the fields of `DifferenceRow`, too. All slices were corrected together, so `detectable` is
    beside so many tests. The verdict is never ``equivalent``, and never ``too few judgments`` in
    what `slices` returns, which knows values alone.

    Attributes
    ----------
    name : str
        Its category.
    detectable : float
        As of all queries, and infinite for a single query.
    part : float
        What the slice adds to the difference over all queries: its share of their number, or of
        their weight, times its difference.
    family : str
        Tests it was corrected in: ``slices`` of the primary measure, or ``slices of companions``.
    """

    _AFTER: ClassVar[Mapping[str, str]] = {"n": "", "part": "detectable"}

    name: str
    verdict: Side | Literal["too few judgments"]
    part: float = field(metadata=NEGATED)
    family: str = "slices"

    def as_dict(self) -> dict[str, Any]:
        """Everything but the name, and the family of tests it was corrected in; None for what is
        not finite.
        """
        return {name: value for name, value in self.record().items() if name != "name"}


@dataclass(frozen=True, kw_only=True)
class Slices:
    """Differences on all slices by one measure.

    Attributes
    ----------
    rows : tuple of Slice
        Slices, the largest loss first.
    n : int
        Number of queries that count in both runs, in a slice or not.
    difference : float
        Difference over all these queries.
    uncategorised : tuple of str
        Queries in no slice.
    unknown : int
        Number of queries that have a category but were not compared.
    overlapping : bool
        True if a query is in several slices; the slices' parts then need not sum to the difference.
    level : float
        Confidence level of the intervals.
    test : str
        Test behind p values and intervals: permutation, t, wilcoxon or sign.
    tests : int
        Number of p values corrected together: the slices of all pairs, for the primary measure or
        for the others.
    seed : int
        Random seed.
    correction : str
        ``max-T``, ``bonferroni``, ``holm``, or ``none`` for a single slice.

    Examples
    --------
    >>> from idealrank.analysis.comparison.slice_differences import slices
    >>> a = {f"q{i}": 0.5 for i in range(12)}
    >>> b = {f"q{i}": 0.25 if i < 6 else 0.75 for i in range(12)}
    >>> found = slices(a, b, {f"q{i}": "short" if i < 6 else "long" for i in range(12)})
    >>> found.difference, [(row.name, row.difference, row.p, row.p_corrected) for row in found.rows]
    (0.0, [('short', -0.25, 0.03125, 0.0615234375), ('long', 0.25, 0.03125, 0.0615234375)])
    """

    rows: tuple[Slice, ...]
    n: int
    difference: float
    uncategorised: tuple[str, ...]
    unknown: int
    overlapping: bool
    level: float
    test: str
    tests: int
    seed: int
    correction: str = "none"

    _repr_html_ = repr_html  # for notebooks

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Slice:
        """The slice of a category."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"{name}: no such slice, only {', '.join(row.name for row in self.rows)}")

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record, with slices by name.

        Examples
        --------
        >>> from idealrank.analysis.comparison.slice_differences import slices
        >>> slices({"q": 0.5}, {"q": 0.75}, {"q": "news"}).as_dict()["slices"]["news"]["difference"]
        0.25
        """
        about = {name: value for name, value in asdict(self).items() if name != "rows"}
        return {"slices": self.by_name(), **about, "uncategorised": list(self.uncategorised)}

    def without_verdicts(self) -> "Slices":
        """Return the slices without verdicts, for a run whose values mean nothing."""
        return replace(
            self, rows=tuple(replace(row, verdict="too few judgments") for row in self.rows)
        )

    def reversed(self) -> "Slices":
        """Return the differences as a - b, the largest loss first."""
        return replace(
            self,
            difference=0.0 - self.difference,
            rows=tuple(row.reversed() for row in reversed(self.rows)),
        )

    def by_name(self) -> dict[str, dict[str, Any]]:
        """Return the slices alone, as dicts."""
        return {row.name: row.as_dict() for row in self.rows}

    def records(self, whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Return the flat record of all queries, with a column for the slice, followed by one
        record per slice.

        Parameters
        ----------
        whole : dict
            Record of all queries, beginning with ``a``, ``b`` and ``measure``.

        Examples
        --------
        >>> from idealrank.analysis.comparison.slice_differences import slices
        >>> whole = {
        ...     "a": "old",
        ...     "b": "new",
        ...     "measure": "RR",
        ...     "level": 0.95,
        ...     "n": 1,
        ...     "unjudged_a": 0.0,
        ... }
        >>> [
        ...     list(record.values())
        ...     for record in slices({"q": 0.5}, {"q": 0.75}, {"q": "news"}).records(whole)
        ... ]
        [['old', 'new', 'RR', None, 0.95, 1, 0.0, None], ['old', 'new', 'RR', 'news', 0.95, 1, None, 0.25]]
        """  # noqa: E501
        others = [name for name in whole if name not in _PAIR_COLUMNS]
        names = [*_PAIR_COLUMNS, "slice", *others, "part"]
        yield {name: whole.get(name) for name in names}
        shared = {name: value for name, value in whole.items() if name in _SHARED_COLUMNS}
        for row in self.rows:
            record = row.as_dict()
            low, high = record["interval"]
            record |= {"interval_low": low, "interval_high": high, **shared, "slice": row.name}
            yield {name: record.get(name) for name in names}


# Whether the judgments carry what a test found, given the place of the pair.
Carries: TypeAlias = Callable[[int, Corrected], bool]

_NOTHING_DETECTABLE = Detectable(math.inf, "too few queries for this test alone")


def _carries_all(_place: int, _test: Corrected) -> bool:
    """Take every result as carried: values alone say nothing about judgments."""
    return True


def slices(
    values_a: Mapping[str, float | None],
    values_b: Mapping[str, float | None],
    categories: Categories,
    *,
    direction: int = 1,
    test: TestName = "permutation",
    level: float = 0.95,
    weights: Mapping[str, float] | None = None,
    clusters: Mapping[str, object] | None = None,
    n_resamples: int = 100_000,
    rng: RandomLike = None,
    threads: int | None = None,
) -> Slices:
    """Compare two runs on each slice of the queries, by one measure.

    ``compare(..., slices=categories)`` does the same for every measure and pair of runs.

    Parameters
    ----------
    values_a, values_b : mapping of query to float or None
        Values of one measure, such as ``dict(zip(evaluation.queries, evaluation["nDCG@10"]))``. A
        query that is missing, None or NaN in either run is left out.
    categories : mapping of query to str, or to several
        Slices of each query; a query may be in several. See `read_categories` for files, and
        `traffic_thirds`.
    direction : {1, -1}
        -1 if lower values are better; determines the verdicts and the order of the slices.
    test : {"permutation", "t", "wilcoxon", "sign"}
        As for `compare`.
    level : float
        Confidence level of the intervals; the significance level is ``1 - level``.
    weights : mapping of query to float, optional
        Weight of each query, such as its traffic; for the permutation and t tests.
    clusters : mapping of query to label, optional
        Cluster of each query (user, session, topic): queries of one cluster are not independent.
        For the permutation and t tests.
    n_resamples : int
        Number of random sign flips for a slice with more than 20 queries that differ; smaller
        slices are enumerated.
    rng : Generator, seed or None
        Random generator or seed. By default the seed is derived from the values, so the same input
        gives the same output.
    threads : int, optional
        Number of threads; None or 0 uses all cores. Results do not depend on it.

    Returns
    -------
    Slices

    Raises
    ------
    InputError
        No query counts in both runs, none of them is in a slice, or a query has no weight or
        cluster.
    OptionError
        An option has an invalid value.

    Notes
    -----
    The slices form one family of tests, since looking at many slices makes a small p likely by
    chance. They are corrected in a single step, by max-T for the permutation test, even if they
    overlap. Intervals hold simultaneously for all slices. A slice with too few queries for an
    interval alone has none beside others, and its `detectable` is infinite.

    References
    ----------
    Westfall and Young (1993), Resampling-based multiple testing, section 2.3.

    Examples
    --------
    >>> [
    ...     row.name
    ...     for row in slices(
    ...         {"q1": 1.0, "q2": 0.0},
    ...         {"q1": 0.5, "q2": 0.5},
    ...         {"q1": ["news", "short"], "q2": "short"},
    ...     )
    ... ]
    ['news', 'short']
    """
    values_a = by_query(values_a, "values_a")
    values_b = by_query(values_b, "values_b")
    queries = [
        query
        for query in sorted(values_a)
        if _is_value(values_a[query]) and _is_value(values_b.get(query))
    ]
    if not queries:
        raise InputError(
            f"no query has a value in both runs ({len(values_a)} and {len(values_b)} queries); do "
            "the query ids match?"
        )
    first = _table([values_a[query] for query in queries])
    second = _table([values_b[query] for query in queries])
    seed = seed_from(rng, [first, second])
    plan = Plan(
        test=test, level=level, margin=None, n_resamples=n_resamples, seed=seed, threads=threads
    )
    membership = Membership.of(queries, categories)
    design = design_by_query(queries, weights, clusters, test)
    ((of_measure,),) = sliced([(first, second)], [direction], membership, design, plan)
    return of_measure


def _is_value(value: float | None) -> bool:
    return value is not None and not math.isnan(value)


def _table(values: Sequence[float | None]) -> QueryTable:
    column = np.array(values, np.float64)[:, None]
    return QueryTable(column, np.ones(column.shape, np.bool_))


def sliced(
    pairs: Sequence[tuple[QueryTable, QueryTable]],
    directions: Sequence[int],
    membership: Membership,
    design: Design,
    plan: Plan,
    correction: Correction = "auto",
    *,
    carries: Carries = _carries_all,
    tell: Callable[[int, int], None] | None = None,
) -> list[list[Slices]]:
    """The slices of every pair of runs and every measure; slices of the first measure are one
    family, all others another.
    """
    slicing = _Slicing(
        membership=membership, design=design, plan=replace(plan, margin=None), correction=correction
    )
    by_pair: list[dict[int, Slices]] = [{} for _ in pairs]
    columns = range(len(directions))
    families = [members for members in ([0], list(columns[1:])) if members]
    for done, members in enumerate(families, start=1):
        cells = list(product(range(len(pairs)), members))
        tests = slicing.tested([(*pairs[place], column) for place, column in cells])
        for (place, column), of_slices in zip(cells, tests, strict=True):
            by_pair[place][column] = slicing.slices(
                pairs[place],
                of_slices,
                column=column,
                direction=directions[column],
                carries=partial(carries, place),
            )
        if tell is not None:
            tell(done, len(families))
    return [[of_pair[column] for column in columns] for of_pair in by_pair]


class _Slicing(NamedTuple):
    """Slices, and how each is tested: the same for every pair and measure."""

    membership: Membership
    design: Design
    plan: Plan
    correction: Correction

    def tested(
        self, cells: Sequence[tuple[QueryTable, QueryTable, int]]
    ) -> list[dict[str, Corrected]]:
        """One family: the slices that have a query, by name, for each pair of tables and column."""
        tests: list[dict[str, Hypothesis]] = []
        for first, second, column in cells:
            of_slices = {
                name: Hypothesis(first=first, second=second, column=column, within=within)
                for name, within in self.membership.within.items()
            }
            tests.append({name: test for name, test in of_slices.items() if test.counted.any()})
        family = list(chain.from_iterable(of_slices.values() for of_slices in tests))
        results = iter(corrected(family, self.design, self.plan, self.correction))
        return [
            dict(zip(of_slices, islice(results, len(of_slices)), strict=True))
            for of_slices in tests
        ]

    def slices(
        self,
        pair: tuple[QueryTable, QueryTable],
        tests: Mapping[str, Corrected],
        *,
        column: int,
        direction: int,
        carries: Callable[[Corrected], bool],
    ) -> Slices:
        """Assemble the slices of one pair by one measure."""
        first, second = pair
        members = self.membership
        kept = first.counted[:, column] & second.counted[:, column]
        weights = np.where(kept, 1.0 if self.design.weights is None else self.design.weights, 0.0)
        sign = 1 if direction >= 0 else -1
        family = COMPANION_SLICES if column else SLICES
        rows = []
        for name, test in tests.items():
            share = float(weights[members.within[name]].sum() / weights.sum())
            verdict = verdict_of(test, sign, self.plan.alpha)
            if verdict != "undecided" and not carries(test):
                verdict = "too few judgments"
            visible = _NOTHING_DETECTABLE
            if test.found.df:
                visible = visible_by(test.found, self.plan, test.alpha)
            part = share * test.found.difference
            rows.append(Slice.of(test, visible, sign, verdict, name=name, part=part, family=family))
        n_tests = next((test.tests for test in tests.values()), 0)
        differences = (second.values - first.values)[kept, column]
        in_none = np.flatnonzero(kept & (members.times == 0)).tolist()
        return Slices(
            rows=tuple(sorted(rows, key=lambda row: row.difference * sign)),
            n=int(kept.sum()),
            difference=float(restricted(self.design, kept).mean(differences)),
            uncategorised=tuple(members.queries[place] for place in in_none),
            unknown=members.unknown,
            overlapping=bool((members.times[kept] > 1).any()),
            level=self.plan.level,
            test=self.plan.test,
            tests=n_tests,
            seed=self.plan.seed,
            correction=name_of(self.plan, n_tests, self.correction),
        )
