"""Lowest and highest value of a measure, and of the difference of two runs, over all grades of free
documents.

For each query, the first of these ways that applies:

1. *A quotient of two sums* (nDCG, R) or a plain sum (DCG, P, RBP): `Quotients` finds the extremes
   of any size.
2. *A value that rises with grades* (ERR, Success, RR, ...): all documents at the highest grade, all
   at the lowest. In a difference, this settles documents that one run alone returns; grades of
   documents that both return are enumerated.
3. *A value that rises if higher grades move up* (AP, Rprec, F, nERR, ...): for given numbers of
   documents with each grade, the highest value has the highest grades at the top, the lowest value
   at the bottom. Only choices sorted by rank are enumerated; of AP, `PrecisionList` finds the best
   one.
4. *Few choices*: all are enumerated.
5. Else the bounds are outer ones: the bounds of the measure, or for a difference, the difference of
   the bounds of both runs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from idealrank.bounds.choices import (
    PrecisionList,
    Quotients,
    Trial,
    ValueRange,
    at_most_one,
    every,
    n_sorted,
    sorted_choices,
)
from idealrank.bounds.free_documents import NOWHERE, FreeDocuments
from idealrank.conventions import Convention
from idealrank.data.judged import Hits
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.binary import AP
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.discounts import Discount
from idealrank.measures.gains import TableGain
from idealrank.measures.measure import Measure
from idealrank.measures.terms import Fraction

# Choices of grades of one query that are enumerated, at most. A scale of more whole grades is not
# enumerated: one document alone has too many choices.
MOST = 2048
_FEW = 64  # different grades, up to which all queries are worked out with all of them


class Extremes(NamedTuple):
    """Lowest and highest value of each query."""

    # low, high: shape (n_queries,): NaN where the query has no value, whatever the grades
    low: FloatArray
    high: FloatArray
    # shape (n_queries,): where the bounds are attained; elsewhere they are outer bounds
    exact: BoolArray
    always: BoolArray  # shape (n_queries,): whether the query has a value whatever the grades


class _Program(NamedTuple):
    """Quotients of all queries: see `Quotients`; `solvable` marks queries for which the program
    holds.
    """

    constant: FloatArray
    weight: FloatArray
    inside: BoolArray
    fraction: Fraction
    row: IntArray
    ideal: FloatArray
    solvable: BoolArray


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """A measure, one or two runs with free documents, and the grades that these may have."""

    measure: Measure  # With every option set
    free: FreeDocuments  # The documents
    convention: Convention  # Of the runs
    max_grade: float  # Highest grade
    most: int = MOST  # Choices of grades of one query that are enumerated, at most

    def of_run(self, side: int = 0) -> Extremes:
        """Extremes of the value of one run."""
        trial = Trial(
            self.free,
            lambda copies, grades: self._values(side, copies, grades),
            ValueRange(n_queries=len(self.free.queries)),
        )
        unsettled = self._start(trial)
        unsettled &= ~self._by_quotient(trial, unsettled, (side,))
        unsettled &= ~self._by_sum(trial, unsettled, (side,))
        if self._rises:
            trial.try_choice(unsettled, self._all(self._grades[0]))
            trial.try_choice(unsettled, self._all(self._grades[-1]))
            unsettled &= False
        elif self._moves_up:
            unsettled &= ~self._by_precision(trial, unsettled, side)
            are_few = n_sorted(self.free.sizes, self._grades.size) <= self.most
            few = unsettled & self._are_listed & are_few
            trial.try_choices(
                few,
                self._all(0.0),
                sorted_choices(self._grades.tolist()),
                order=self.free.first_rank(side),
            )
            unsettled &= ~few
        unsettled &= ~self._by_all(trial, unsettled)
        return _closed(trial.ends, unsettled, *self._outer)

    def of_difference(self) -> Extremes:
        """Extremes of the second run's value minus the first run's."""

        def values(copies: IntArray, grades: FloatArray) -> FloatArray:
            return self._values(1, copies, grades) - self._values(0, copies, grades)

        trial = Trial(self.free, values, ValueRange(n_queries=len(self.free.queries)))
        unsettled = self._start(trial)
        unsettled &= ~self._by_quotient(trial, unsettled, (1, 0))
        unsettled &= ~self._by_sum(trial, unsettled, (1, 0))
        unsettled &= ~self._by_shared(trial, unsettled)
        unsettled &= ~self._by_all(trial, unsettled)
        if not unsettled.any() or not self.most:
            return _closed(trial.ends, unsettled, -np.inf, np.inf)
        a = self.of_run(0)
        b = self.of_run(1)
        return _closed(trial.ends, unsettled, b.low - a.high, b.high - a.low)

    def _values(self, side: int, copies: IntArray, grades: FloatArray) -> FloatArray:
        measured = self.measure.measured(self.free.completed(side, grades, copies))
        if measured.scored is None:
            return measured.values
        return np.where(measured.scored, measured.values, np.nan)

    def _start(self, trial: Trial) -> BoolArray:
        """Queries with free documents; those without have the value that they have as judged."""
        unsettled = self.free.sizes > 0
        trial.try_choice(~unsettled, self._all(0.0))
        return unsettled

    def _all(self, grade: float) -> FloatArray:
        return np.full(self.free.query.size, float(grade))

    # --- ways -------------------------------------------------------------------------------------

    def _by_quotient(
        self, trial: Trial, unsettled: BoolArray, sides: "tuple[int, ...]"
    ) -> BoolArray:
        """Extremes of a quotient of sums, or of the difference of two with one ideal; the queries
        that it settles.
        """
        program = self._program(sides) if unsettled.any() else None
        if program is None:
            return np.zeros_like(unsettled)
        settled = unsettled & program.solvable & ~self._tied_at_an_end(sides)
        for queries in self._with_few_grades(settled):
            self._ends_of_quotients(trial, queries, program)
        return settled

    def _program(self, sides: "tuple[int, ...]") -> "_Program | None":
        """The quotient of every query, or the difference of two; None where the measure is none, or
        two runs have two ideals.
        """
        first_side = sides[0]
        # A difference of rounded values is not the rounded difference.
        rounded = len(sides) > 1 and getattr(self.measure, "rounding", None) not in (None, "none")
        of_sides = [self.measure.fraction(self.free.sides[side].judged) for side in sides]
        fractions = [fraction for fraction in of_sides if fraction is not None]
        if rounded or len(fractions) < len(sides):
            return None
        if len(sides) > 1 and not all(fraction.shared for fraction in fractions):
            return None

        rows = [self.free.sides[side].row for side in sides]
        n_known = np.bincount(fractions[0].known.query, minlength=fractions[0].total.size)[rows[0]]
        n_ranks = int((n_known + self.free.sizes).max(initial=0))
        tables = [
            fraction.ideal(n_ranks)[row] for fraction, row in zip(fractions, rows, strict=True)
        ]
        first, *others = tables
        solvable = _is_ideal(first)
        for other in others:
            solvable &= _same_rows(first, other)

        weight = np.zeros(self.free.query.size)
        constant = np.zeros(solvable.size)
        sign = 1.0
        for side, fraction, row in zip(sides, fractions, rows, strict=True):
            weight += sign * self._added(side, fraction.weigh(self._places(side)))
            constant += sign * fraction.total[row]
            sign = -1.0  # of two runs, the second is subtracted

        # The ideal of a returned list holds no document of another run.
        inside = (
            np.ones(self.free.query.size, np.bool_)
            if fractions[0].shared
            else self.free.returned_by(first_side)
        )
        return _Program(
            constant=constant,
            weight=weight,
            inside=inside,
            fraction=fractions[0],
            row=rows[0],
            ideal=first,
            solvable=solvable,
        )

    def _with_few_grades(self, queries: BoolArray) -> Iterator[BoolArray]:
        """All queries at once if they have few different grades, else one by one."""
        if self._kinks(queries).size <= _FEW:
            yield queries
            return
        for query in np.flatnonzero(queries).tolist():
            single = np.zeros_like(queries)
            single[query] = True
            yield single

    def _ends_of_quotients(self, trial: Trial, queries: BoolArray, program: "_Program") -> None:
        """Try the grades that give the extremes; and the lowest, at which a query may have no
        ideal.
        """
        grades, gains = self._gains(self._kinks(queries))
        known = program.fraction.known
        known_gains = self._worth(known.grade)
        if min(float(gains.min(initial=0.0)), float(known_gains.min(initial=0.0))) < 0:
            raise OptionError(
                f"{self.measure}: found gains below 0, expected 0 or more, for the bounds of "
                f"a quotient; negative=zero makes them 0",
                switch="negative=zero",
            )

        # Codes of the queries among the chosen ones, by their code in the program: -1 if left out.
        code = np.cumsum(queries) - 1
        back = np.full(program.fraction.total.size, -1)
        back[program.row[queries]] = code[queries]
        of_known = back[known.query]
        # The queries of the program may be in another order than the known documents.
        ideal = np.argsort(of_known, kind="stable")
        ideal = ideal[of_known[ideal] >= 0]
        kept = queries[self.free.query] & program.inside
        quotients = Quotients(
            constant=program.constant[queries],
            query=code[self.free.query[kept]],
            weight=program.weight[kept],
            levels=gains,
            known_query=of_known[ideal],
            known_gain=known_gains[ideal],
            ideal=program.ideal[queries],
        )

        chosen = self._all(grades[0])
        trial.try_choice(queries, chosen)
        for levels in (quotients.highest(), quotients.lowest()):
            chosen[kept] = grades[levels]
            trial.try_choice(queries, chosen)

    def _by_sum(self, trial: Trial, unsettled: BoolArray, sides: "tuple[int, ...]") -> BoolArray:
        """Extremes of a sum over documents with fixed weights, or of the difference of two; the
        queries that it settles.
        """
        judged = [self.free.sides[side].judged for side in sides]
        is_sum = self.measure.response == "rising" and self.measure.fraction(judged[0]) is None
        if not unsettled.any() or not is_sum or self.measure.worth(np.ones(1)) is None:
            return np.zeros_like(unsettled)
        weight = np.zeros(self.free.query.size)
        sign = 1.0
        for side in sides:
            weights = self.measure.weights(self.free.sides[side].judged, self._places(side))
            if weights is None:
                return np.zeros_like(unsettled)
            weight += sign * self._added(side, weights)
            sign = -1.0  # of two runs, the second is subtracted
        settled = unsettled & ~self._tied_at_an_end(sides)
        grades, _ = self._gains(self._levels(settled))
        for high, low in ((grades[-1], grades[0]), (grades[0], grades[-1])):
            trial.try_choice(settled, np.where(weight > 0, high, low))
        return settled

    def _by_shared(self, trial: Trial, unsettled: BoolArray) -> BoolArray:
        """Extremes of a difference of values that rise with grades: only documents that both runs
        return are open.
        """
        if not self._rises or not unsettled.any():
            return np.zeros_like(unsettled)
        returned = [self.free.returned_by(side) for side in (0, 1)]
        shared = returned[0] & returned[1]
        n_shared = np.bincount(self.free.query[shared], minlength=unsettled.size)
        grades = self._grades.tolist()
        first = unsettled & (self.measure.response == "first") & ~self._tied((0, 1))
        settled = first | (unsettled & self._are_few(len(grades), n_shared))
        for ahead, behind in ((1, 0), (0, 1)):
            chosen = np.where(returned[ahead] & ~returned[behind], grades[-1], grades[0])
            trial.try_choices(
                first, chosen, at_most_one(grades), among=shared & self._above_relevant(ahead)
            )
            trial.try_choices(settled & ~first, chosen, every(grades), among=shared)
        return settled

    def _above_relevant(self, side: int) -> BoolArray:
        """Mark documents that stand above every relevant document of a run; all of them if the
        measure does not say which are relevant.
        """
        worth = self.measure.worth(self.free.sides[side].judged.hits.grade)
        if worth is None:
            return np.ones(self.free.query.size, np.bool_)
        judged = self.free.sides[side].judged
        top = np.full(judged.n_queries, np.iinfo(np.int64).max)
        np.minimum.at(top, judged.hits.query[worth > 0], judged.hits.rank[worth > 0])
        return self.free.first_rank(side) < top[self.free.sides[side].row][self.free.query]

    def _by_precision(self, trial: Trial, unsettled: BoolArray, side: int) -> BoolArray:
        """Extremes of average precision, unless ties leave the order open or a document is listed
        twice; the queries that it settles.
        """
        listed_run = self.free.sides[side]
        measure = cast("AP", self.measure)
        if (
            measure.response != "precision"
            or not unsettled.any()
            or self.convention.alignment.duplicates == "twice"
        ):
            return np.zeros_like(unsettled)
        judged = listed_run.judged
        relevant = listed_run.judged.relevant(measure.threshold)
        settled = unsettled & ~self._tied((side,))
        if (
            judged.ties in ("expected", "best", "worst")
            and relevant.hits.tie_first is not None
            and relevant.hits.tie_last is not None
        ):
            tied = np.zeros(judged.n_queries, np.bool_)
            tied[relevant.hits.query[relevant.hits.tie_first < relevant.hits.tie_last]] = True
            settled &= ~tied[listed_run.row]

        rank = self.free.first_rank(side)
        limits = resolve_cutoff(measure.cutoff, judged.lengths)
        low = self._all(self._grades[0])
        high = self._all(self._grades[0])
        for query in np.flatnonzero(settled).tolist():
            row = int(listed_run.row[query])
            documents = np.arange(self.free.offsets[query], self.free.offsets[query + 1])
            documents = documents[np.argsort(rank[documents], kind="stable")]
            ranks = np.where(rank[documents] < NOWHERE, rank[documents], np.inf)
            begin, end = np.searchsorted(relevant.hits.query, [row, row + 1]).tolist()
            relevant_ranks = relevant.hits.rank[begin:end]
            listed = PrecisionList(
                relevant=relevant_ranks[relevant_ranks <= limits[row]],
                open=ranks,
                n_relevant=int(relevant.total[row]),
                limit=int(limits[row]),
                reachable=measure.divisor == "reachable" and measure.cutoff is not None,
            )
            high[documents[: listed.highest()]] = self._grades[-1]
            low[documents[documents.size - listed.lowest() :]] = self._grades[-1]

        for grades in (self._all(self._grades[0]), low, high):
            trial.try_choice(settled, grades)
        return settled

    def _by_all(self, trial: Trial, unsettled: BoolArray) -> BoolArray:
        """Extremes over all choices, where they are few; the queries that it settles."""
        few = unsettled & self._are_few(self._grades.size, self.free.sizes)
        trial.try_choices(few, self._all(0.0), every(self._grades.tolist()))
        return few

    def _are_few(self, n_grades: int, n_documents: IntArray) -> BoolArray:
        """Mark numbers of documents whose grades can be chosen in few ways."""
        few = n_documents * np.log(n_grades) <= np.log(max(self.most, 1)) + 1e-9
        return np.asarray(few & (self._are_listed | (n_documents == 0)), np.bool_)

    # --- grades -----------------------------------------------------------------------------------

    def _levels(self, queries: BoolArray) -> FloatArray:
        """Grades that a document may have: whole numbers up to the highest, and those judged for
        the queries.
        """
        gain = getattr(self.measure, "gain", None)
        if isinstance(gain, TableGain) and not gain.others:
            listed = np.array([0.0, *(grade for grade, _ in gain.entries)])
            return np.unique(listed[(listed >= 0) & (listed <= self.max_grade)])
        whole = np.arange(0.0, self.max_grade) if self.max_grade <= MOST else np.zeros(1)
        return np.unique(np.concatenate((whole, [self.max_grade], self._judged_between(queries))))

    def _kinks(self, queries: BoolArray) -> FloatArray:
        """Grades at which the extremes of a quotient lie: the lowest, the highest, and those judged
        for the queries.
        """
        gain = getattr(self.measure, "gain", None)
        if gain is not None and not gain.rising:
            return self._levels(queries)
        return np.unique(np.concatenate(([0.0, self.max_grade], self._judged_between(queries))))

    def _judged_between(self, queries: BoolArray) -> FloatArray:
        """Grades judged for the queries that are above 0 and below the highest."""
        judged = self.free.sides[0].judged.ideal
        of_queries = np.zeros(self.free.sides[0].judged.n_queries, np.bool_)
        of_queries[self.free.sides[0].row[queries]] = True
        grades = judged.grade[of_queries[judged.query]]
        return np.asarray(grades[(grades > 0) & (grades < self.max_grade)])

    def _worth(self, grades: FloatArray) -> FloatArray:
        worth = self.measure.worth(grades)
        assert worth is not None  # noqa: S101  (for the type checker: looked at before)
        return worth

    def _gains(self, levels: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Grades with different gains, and these gains, rising."""
        gains, first = np.unique(self._worth(levels), return_index=True)
        return levels[first], gains

    @cached_property
    def _grades(self) -> FloatArray:
        """Grades that differ to the measure, by rising worth where the measure says what they are
        worth, else by themselves.
        """
        levels = self._levels(np.ones(len(self.free.queries), np.bool_))
        return self._gains(levels)[0] if self._is_binary else levels

    @cached_property
    def _is_binary(self) -> bool:
        return (
            _has(self.measure, "rel")
            and not _has(self.measure, "gain")
            and self.measure.worth(np.ones(1)) is not None
        )

    @property
    def _are_listed(self) -> bool:
        """True if `_grades` has all grades that differ to the measure, so that choices can be
        enumerated.
        """
        return self._is_binary or self.max_grade <= MOST

    @property
    def _rises(self) -> bool:
        """True if no grade lowers the value: a query without a relevant document must have the
        lowest value.
        """
        no_relevant = getattr(self.measure, "no_relevant", None)
        return self._response in ("rising", "first") and no_relevant in (None, "zero", "quotient")

    @property
    def _moves_up(self) -> bool:
        return self._response in ("upward", "first", "precision")

    @cached_property
    def _response(self) -> str:
        """The response of the measure, where its gains rise with the grade, and its discount falls
        with the rank.
        """
        gain = getattr(self.measure, "gain", None)
        discount = getattr(self.measure, "discount", None)
        if gain is not None and not gain.rising:
            return "unknown"
        if getattr(self.measure, "ideal", None) == "returned" and len(self.free.sides) > 1:
            return "unknown"  # a grade that moves into the list raises the ideal, too
        if discount is not None and not self._falls(discount):
            return "unknown"
        return self.measure.response

    def _falls(self, discount: Discount) -> bool:
        """Return whether the weights of the ranks of all lists fall, down to 0 at the lowest."""
        deepest = max(int(side.judged.lengths.max(initial=0)) for side in self.free.sides)
        weights = discount.at(np.arange(1, deepest + 1), np.full(deepest, deepest))
        return bool((np.diff(weights) <= 0).all() and (weights >= 0).all())

    @property
    def _outer(self) -> tuple[float, float]:
        """Bounds of the measure, if the convention and the discount keep to them."""
        alignment = self.convention.alignment
        discount = getattr(self.measure, "discount", None)
        keeps_negative = alignment.negative in ("kept", "padding")
        if keeps_negative or alignment.duplicates == "twice":
            return (-np.inf, np.inf)
        if discount is not None and not self._falls(discount):
            return (-np.inf, np.inf)
        return self.measure.bounds

    # --- places -----------------------------------------------------------------------------------

    def _places(self, side: int) -> Hits:
        """Places of free documents with the query codes of the run's own lists."""
        listed_run = self.free.sides[side]
        return replace(listed_run.places, query=listed_run.row[listed_run.places.query])

    def _added(self, side: int, weights: FloatArray) -> FloatArray:
        """Sum over the places of each document, shape (n_documents,)."""
        document = self.free.sides[side].document
        return np.bincount(document, weights=weights, minlength=self.free.query.size).astype(
            np.float64, copy=False
        )

    def _tied(self, sides: "tuple[int, ...]") -> BoolArray:
        """Mark queries in which a free document is tied and the order of ties is not fixed."""
        tied = np.zeros(len(self.free.queries), np.bool_)
        for listed_run in (self.free.sides[side] for side in sides):
            places = listed_run.places
            has_order = listed_run.judged.ties not in ("expected", "best", "worst")
            if has_order or places.tie_first is None or places.tie_last is None:
                continue
            tied[places.query[places.tie_first < places.tie_last]] = True
        return tied

    def _tied_at_an_end(self, sides: "tuple[int, ...]") -> BoolArray:
        """Mark queries as `_tied` does, if the order of ties depends on the grades."""
        fixed = all(self.free.sides[side].judged.ties not in ("best", "worst") for side in sides)
        return np.zeros(len(self.free.queries), np.bool_) if fixed else self._tied(sides)


def _closed(
    ends: ValueRange, unsettled: BoolArray, low: "FloatArray | float", high: "FloatArray | float"
) -> Extremes:
    """The extremes found, and outer bounds for the queries left over."""
    return Extremes(
        low=np.where(unsettled, low, ends.low),
        high=np.where(unsettled, high, ends.high),
        exact=~unsettled,
        always=ends.always,
    )


def _is_ideal(sums: FloatArray) -> BoolArray:
    """Mark queries whose ideal is above 0 for any gain above 0, or 0 for all."""
    weights = np.diff(sums, axis=1)
    falls_never = (weights >= 0).all(axis=1)
    starts_above = (weights[:, :1] > 0).any(axis=1)
    is_flat = (weights == 0).all(axis=1)
    return np.asarray(falls_never & (starts_above | is_flat))


def _same_rows(a: FloatArray, b: FloatArray) -> BoolArray:
    """Mark rows that are equal, the shorter one continued by its last number."""
    width = max(a.shape[1], b.shape[1])
    first, second = (
        np.pad(sums, ((0, 0), (0, width - sums.shape[1])), mode="edge") for sums in (a, b)
    )
    return np.asarray((first == second).all(axis=1))


def _has(measure: Measure, option: str) -> bool:
    return any(field.name == option for field in fields(measure))
