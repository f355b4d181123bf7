"""One measure under many conventions, from few alignments.

Conventions that align alike share their alignment, and those that cannot differ on these data share
their values.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.alignment import Alignment
from idealrank.data.judged import Judged
from idealrank.data.lists import Lists, array_alignment
from idealrank.data.run import Run
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.sweep import (
    ALIGNMENT,
    NOT_IN_ARRAYS,
    JudgmentsSource,
    Readings,
    Sweep,
    switch_text,
)
from idealrank.measures.measure import Measure
from idealrank.measures.rules import Rules
from idealrank.measures.sums import aggregate

_RULES = Rules.names()
# How many numbers the kept alignments and values may hold together.
_KEPT_NUMBERS = 40_000_000

_Value = TypeVar("_Value")


class _Recent(Generic[_Value]):
    """The values used last, at most `limit` of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._values: OrderedDict[Hashable, _Value] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], _Value]) -> _Value:
        if key not in self._values:
            self._values[key] = make()
        self._values.move_to_end(key)
        value = self._values[key]
        if len(self._values) > self._limit:
            self._values.popitem(last=False)
        return value


@dataclass(frozen=True, eq=False)
class Candidate:
    """A convention that may be the one: a base, and switches changed on it."""

    base: Convention
    changes: tuple[tuple[str, object], ...] = ()

    @cached_property
    def switches(self) -> dict[str, str]:
        """Every switch as text."""
        return self.base.switches() | {name: switch_text(value) for name, value in self.changes}

    @property
    def convention(self) -> Convention:
        """The convention itself."""
        return Convention.of(self.base, **dict(self.changes)) if self.changes else self.base

    def changed(self, *changes: tuple[str, object]) -> "Candidate":
        """Return the convention with further switches changed."""
        new = Candidate(self.base, (*self.changes, *changes))
        # Thousands are made from one base: its texts are taken over, not made again.
        vars(new)["switches"] = self.switches | {
            name: switch_text(value) for name, value in changes
        }
        return new

    def value(self, switch: str) -> object:
        """A switch as `Convention.of` takes it, functions of the user's included."""
        changed = dict(self.changes)
        if switch in changed:
            return changed[switch]
        return getattr(self.base.alignment if switch in ALIGNMENT else self.base.rules, switch)


@dataclass(frozen=True)
class Refusal:
    """Why a convention gives no number on these data, and the switch of the error that says so."""

    reason: str
    switch: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcome:
    """Values under one convention."""

    value: float  # The mean (or sum, for counts)
    # shape (n_queries,): per query, in the order of `Trials.queries`; 0 where the query does not
    # count
    values: FloatArray
    counted: BoolArray  # shape (n_queries,): which queries count
    weight: float  # Of each counted query in `value`: 1 / their number, or 1 for a sum

    @property
    def shares(self) -> FloatArray:
        """Contribution of each query to `value`, shape (n_queries,)."""
        return self.values * self.weight

    def same_as(self, other: "Outcome") -> bool:
        """Return whether both outcomes count the same queries, with values equal to 1e-12 (sums may
        run in another order).
        """
        return bool(np.array_equal(self.counted, other.counted)) and bool(
            np.allclose(self.values, other.values, rtol=1e-12, atol=1e-12, equal_nan=True)
        )


class Trials:
    """Values of measures under many conventions on one run or one set of lists."""

    def __init__(self, sweep: Sweep, size: int) -> None:
        self._sweep = sweep
        self._full = sweep.full
        self.arrays = sweep.lists is not None
        self.work = 0.0
        self._align_work = 3e-4 + 1e-7 * float(self._full.returned.sum())
        self._measure_work = 2e-4 + 6e-8 * size
        self._relevant: dict[Measure, tuple[str, ...]] = {}
        self._judged: _Recent[Judged | Refusal] = _Recent(max(4, _KEPT_NUMBERS // (5 * size + 1)))
        self._outcomes: _Recent[Outcome | Refusal] = _Recent(
            max(64, _KEPT_NUMBERS // (self._full.n_queries + 1))
        )

    @classmethod
    def of_run(cls, qrels: JudgmentsSource, run: Run) -> "Trials":
        """Trials on a run and its judgments."""
        readings = Readings(qrels)
        sweep = Sweep.of_run(readings, run)
        return cls(sweep, sweep.full.hits.query.size + readings.some.grades.size)

    @classmethod
    def of_lists(cls, lists: Lists) -> "Trials":
        """Trials on labels and scores."""
        return cls(Sweep.of_lists(lists), 2 * lists.labels.size)

    @property
    def n_queries(self) -> int:
        """Queries of the judgments and of the run together."""
        return self._full.n_queries

    @cached_property
    def queries(self) -> list[str]:
        """Their ids, in the order of every array here."""
        return list(self._full.queries)

    @cached_property
    def grades(self) -> list[float]:
        """The distinct grades above 0, rising; none of judgments that are not plain grades."""
        grades = self._sweep.grades
        return [] if grades is None else [float(grade) for grade in np.unique(grades[grades > 0])]

    @property
    def returned(self) -> IntArray:
        """Number of documents returned for each query, in the order of `queries`."""
        return self._full.returned

    def adapt(self, convention: Convention) -> Convention:
        """The convention as these data can follow it: arrays have no document ids, so ties by id
        become the expected value.
        """
        if self.arrays:
            return Convention.of(convention, ties=array_alignment(convention.alignment).ties)
        return convention

    def relevant(self, measure: Measure) -> tuple[str, ...]:
        """The switches that can matter to a measure on data of this kind: not those that it sets
        itself or never asks for.
        """
        if measure not in self._relevant:
            alignment = [name for name in ALIGNMENT if not (self.arrays and name in NOT_IN_ARRAYS)]
            rules = [
                name
                for name in _RULES
                if name in measure.from_convention and getattr(measure, name) is None
            ]
            self._relevant[measure] = (*alignment, *rules)
        return self._relevant[measure]

    def signature(self, candidate: Candidate, measure: Measure) -> tuple[tuple[str, str], ...]:
        """The relevant switches: candidates of one signature are one convention, whatever the
        data.
        """
        return tuple(
            (name, self._one_word(name, candidate.switches[name]))
            for name in self.relevant(measure)
        )

    def _one_word(self, switch: str, value: str) -> str:
        """Make three kinds of ideal one in arrays, where every item is judged and returned."""
        if self.arrays and switch == "ideal" and value in ("returned", "hits"):
            return "judged"
        return value

    def settled(self, candidate: Candidate, measure: Measure) -> dict[str, str]:
        """The relevant switches, those that cannot act on these data set to one and the same
        value.
        """
        switches = self._sweep.settled(candidate.switches)
        if self.arrays and switches["ties"] == "docid":
            switches["ties"] = "input"  # there are none, and no ids either
        return {name: self._one_word(name, switches[name]) for name in self.relevant(measure)}

    def outcome(self, candidate: Candidate, measure: Measure) -> Outcome | Refusal:
        """Value under a convention, or why there is none."""
        settled = self.settled(candidate, measure)
        return self._outcomes.get(
            (tuple(settled.values()), measure), lambda: self._measure(candidate, measure, settled)
        )

    def _measure(
        self, candidate: Candidate, measure: Measure, settled: dict[str, str]
    ) -> Outcome | Refusal:
        alignment = Alignment(**{name: settled[name] for name in ALIGNMENT if name in settled})  # type: ignore[arg-type]
        judged = self._judged.get(alignment, lambda: self._aligned(alignment))
        if isinstance(judged, Refusal):
            return judged
        self.work += self._measure_work
        try:
            result = measure.under(candidate.convention).compute(judged)
        except (InputError, OptionError) as error:
            return Refusal(str(error), error.switch)
        scored = np.ones(judged.n_queries, bool) if result.scored is None else result.scored
        scored_values = result.values[scored]
        if measure.aggregate == "sum":
            weight = 1.0
        elif scored_values.size:
            weight = 1.0 / scored_values.size
        else:
            weight = math.nan
        value = aggregate(measure, result.values, scored)
        places = self._places(judged)[scored]
        values = np.zeros(self.n_queries)
        counted = np.zeros(self.n_queries, bool)
        values[places] = scored_values
        counted[places] = True
        return Outcome(value=value, values=values, counted=counted, weight=weight)

    def _aligned(self, alignment: Alignment) -> Judged | Refusal:
        self.work += self._align_work
        try:
            judged = self._sweep.align(alignment, 0)
        except (InputError, OptionError) as error:
            return Refusal(str(error), error.switch)
        return judged if judged.n_queries else Refusal("no query counts")

    def _places(self, judged: Judged) -> IntArray:
        """Place of each query of an alignment among all queries."""
        if judged.n_queries == self.n_queries:
            return np.arange(self.n_queries)
        place = self._place_of
        return np.array([place[query] for query in judged.queries], np.int64)

    @cached_property
    def _place_of(self) -> dict[str, int]:
        return {query: place for place, query in enumerate(self.queries)}
