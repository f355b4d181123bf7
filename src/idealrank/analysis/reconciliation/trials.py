"""One measure under many conventions, from few alignments.

Conventions that align alike share their alignment, and those that cannot differ on these data share their values.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from idealrank.conventions import SWITCHES, Convention
from idealrank.conventions.occurrences import Occurrences
from idealrank.conventions.switches import settled
from idealrank.data.align import align
from idealrank.data.alignment import Alignment
from idealrank.data.judged import Judged
from idealrank.data.lists import Lists, array_alignment, judge_lists
from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.data.run import Run
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import FileFormatError, IdealrankError, InputError, OptionError
from idealrank.measures.aggregates import aggregate
from idealrank.measures.measure import Measure
from idealrank.measures.rules import Rules

QrelsSource: TypeAlias = "Qrels | Callable[[QrelsDuplicates], Qrels]"
"""Judgments, or what reads them under a policy for documents that are judged twice."""

_RULES = Rules.names()
_ALIGNMENT = tuple(name for name in SWITCHES if name not in _RULES)
# The alignment that refuses nothing and drops nothing.
_FULL = Alignment(ties="input", duplicates="twice", negative="kept", without_judgments="evaluated")
_FULL_FLOAT32 = replace(_FULL, score="float32")
# What lists of labels and scores cannot show.
_NOT_IN_ARRAYS = ("duplicates", "unjudged", "missing", "without_judgments")
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
    """A convention that may be the one: a base, and switches changed on it.

    Parameters
    ----------
    base : Convention
        What the changes are made on.
    changes : tuple of (str, object)
        Switches and their new values, as `Convention.of` takes them.

    Examples
    --------
    >>> Candidate(Convention.of("lightgbm"), (("ties", "expected"),)).convention.name
    'lightgbm,ties=expected'
    """

    base: Convention
    changes: tuple[tuple[str, object], ...] = ()

    @cached_property
    def switches(self) -> dict[str, str]:
        """Every switch as text."""
        return self.base.switches() | {name: _switch_text(value) for name, value in self.changes}

    @property
    def convention(self) -> Convention:
        """The convention itself."""
        return Convention.of(self.base, **dict(self.changes)) if self.changes else self.base

    def changed(self, *changes: tuple[str, object]) -> "Candidate":
        """The same with further switches changed."""
        new = Candidate(self.base, (*self.changes, *changes))
        # Thousands are made from one base: its texts are taken over, not made again.
        vars(new)["switches"] = self.switches | {name: _switch_text(value) for name, value in changes}
        return new

    def value(self, switch: str) -> object:
        """A switch as `Convention.of` takes it, functions of the user's included."""
        changed = dict(self.changes)
        if switch in changed:
            return changed[switch]
        return getattr(self.base.alignment if switch in _ALIGNMENT else self.base.rules, switch)


def _switch_text(value: object) -> str:
    return "none" if value is None else str(getattr(value, "text", value))


@dataclass(frozen=True)
class Refusal:
    """Why a convention gives no number on these data, and the switch of the error that says so."""

    reason: str
    switch: str = ""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What one convention gives.

    Attributes
    ----------
    value : float
        The mean (or sum, for counts).
    values : float64 array, shape (n_queries,)
        Per query, in the order of `Trials.queries`; 0 where the query does not count.
    counted : bool array, shape (n_queries,)
        Which queries count.
    weight : float
        Of each counted query in `value`: 1 / their number, or 1 for a sum.
    """

    value: float
    values: FloatArray
    counted: BoolArray
    weight: float

    @property
    def shares(self) -> FloatArray:
        """What each query adds to `value`, shape (n_queries,)."""
        return self.values * self.weight

    def same_as(self, other: "Outcome") -> bool:
        """Whether every query counts in both or in neither, with equal values (to 1e-12: sums may run in another order)."""
        return bool(np.array_equal(self.counted, other.counted)) and bool(
            np.allclose(self.values, other.values, rtol=1e-12, atol=1e-12, equal_nan=True)
        )


class Trials:
    """Values of measures under many conventions on one run or one set of lists.

    Parameters
    ----------
    judge : callable
        Gives the `Judged` of an alignment; raises what the alignment refuses.
    full : Judged
        Of an alignment that refuses and drops nothing.
    occurs : Occurrences
        Which cases occur.
    size : int
        Grades looked at for one value; with the number of returned documents it says how much work a trial is.
    arrays : bool
        Whether the data are labels and scores, which have no documents.
    """

    def __init__(self, judge: Callable[[Alignment], Judged], full: Judged, occurs: Occurrences, size: int, *, arrays: bool) -> None:
        self._judge = judge
        self._full = full
        self.occurs = occurs
        self.arrays = arrays
        self.work = 0.0
        self._align_work = 3e-4 + 1e-7 * float(full.returned.sum())
        self._measure_work = 2e-4 + 6e-8 * size
        self._relevant: dict[Measure, tuple[str, ...]] = {}
        self._judged: _Recent[Judged | Refusal] = _Recent(max(4, _KEPT_NUMBERS // (5 * size + 1)))
        self._outcomes: _Recent[Outcome | Refusal] = _Recent(max(64, _KEPT_NUMBERS // (full.n_queries + 1)))

    @classmethod
    def of_run(cls, qrels: QrelsSource, run: Run) -> "Trials":
        """Trials on a run and its judgments."""
        some, under, judged_twice = _readings(qrels)
        full = align(some, run, _FULL)
        occurs = Occurrences.of(full, align(some, run, _FULL_FLOAT32), some.grades, judged_twice=judged_twice)

        def judge(alignment: Alignment) -> Judged:
            policy = alignment.duplicates
            return align(under("error" if policy == "twice" else policy), run, alignment)

        return cls(judge, full, occurs, full.hits.query.size + some.n_judgments, arrays=False)

    @classmethod
    def of_lists(cls, lists: Lists) -> "Trials":
        """Trials on labels and scores."""
        full = judge_lists(lists, _FULL)
        occurs = Occurrences.of(full, judge_lists(lists, _FULL_FLOAT32), lists.labels.astype(np.float64), judged_twice=False)
        return cls(lambda alignment: judge_lists(lists, alignment), full, occurs, 2 * lists.labels.size, arrays=True)

    @property
    def n_queries(self) -> int:
        """Queries of the judgments and of the run together."""
        return self._full.n_queries

    @cached_property
    def queries(self) -> list[str]:
        """Their ids, in the order of every array here."""
        return list(self._full.queries)

    def adapt(self, convention: Convention) -> Convention:
        """The convention as these data can follow it: arrays have no document ids, so ties by id become the expected value."""
        return Convention.of(convention, ties=array_alignment(convention.alignment).ties) if self.arrays else convention

    def relevant(self, measure: Measure) -> tuple[str, ...]:
        """The switches that can matter to a measure on data of this kind: not those that it sets itself or never asks for."""
        if measure not in self._relevant:
            ours = [name for name in _ALIGNMENT if not (self.arrays and name in _NOT_IN_ARRAYS)]
            rules = [name for name in _RULES if name in measure.from_convention and getattr(measure, name) is None]
            self._relevant[measure] = (*ours, *rules)
        return self._relevant[measure]

    def signature(self, candidate: Candidate, measure: Measure) -> tuple[tuple[str, str], ...]:
        """The relevant switches: candidates of one signature are one convention, whatever the data."""
        return tuple((name, self._one_word(name, candidate.switches[name])) for name in self.relevant(measure))

    def _one_word(self, switch: str, value: str) -> str:
        """In arrays every item is judged and returned, so three kinds of ideal are one."""
        return "judged" if self.arrays and switch == "ideal" and value in ("returned", "hits") else value

    def settled(self, candidate: Candidate, measure: Measure) -> dict[str, str]:
        """The relevant switches, those that cannot act on these data set to one and the same value."""
        switches = settled(candidate.switches, self.occurs)
        if self.arrays and switches["ties"] == "docid":
            switches["ties"] = "input"  # there are none, and no ids either
        return {name: self._one_word(name, switches[name]) for name in self.relevant(measure)}

    def outcome(self, candidate: Candidate, measure: Measure) -> Outcome | Refusal:
        """Value under a convention, or why there is none."""
        settled = self.settled(candidate, measure)
        return self._outcomes.get((tuple(settled.values()), measure), lambda: self._measure(candidate, measure, settled))

    def _measure(self, candidate: Candidate, measure: Measure, settled: dict[str, str]) -> Outcome | Refusal:
        alignment = Alignment(**{name: settled[name] for name in _ALIGNMENT if name in settled})  # type: ignore[arg-type]
        judged = self._judged.get(alignment, lambda: self._aligned(alignment))
        if isinstance(judged, Refusal):
            return judged
        self.work += self._measure_work
        try:
            result = measure.under(candidate.convention).compute(judged)
        except (InputError, OptionError) as error:
            return Refusal(str(error), error.switch)
        scored = np.ones(judged.n_queries, bool) if result.scored is None else result.scored
        counted = result.values[scored]
        weight = 1.0 if measure.aggregate == "sum" else 1.0 / counted.size if counted.size else math.nan
        value = aggregate(measure, result.values, scored)
        places = self._places(judged)[scored]
        values, mask = np.zeros(self.n_queries), np.zeros(self.n_queries, bool)
        values[places], mask[places] = counted, True
        return Outcome(value, values, mask, weight)

    def _aligned(self, alignment: Alignment) -> Judged | Refusal:
        self.work += self._align_work
        try:
            judged = self._judge(alignment)
        except (InputError, OptionError) as error:
            return Refusal(str(error), error.switch)
        return judged if judged.n_queries else Refusal("no query counts")

    def _places(self, judged: Judged) -> IntArray:
        """Where the queries of an alignment stand among all."""
        if judged.n_queries == self.n_queries:
            return np.arange(self.n_queries)
        place = self._place_of
        return np.array([place[query] for query in judged.queries], np.int64)

    @cached_property
    def _place_of(self) -> dict[str, int]:
        return {query: place for place, query in enumerate(self.queries)}


def _readings(source: QrelsSource) -> tuple[Qrels, Callable[[QrelsDuplicates], Qrels], bool]:
    """Some reading of the judgments, the reading of each policy for documents judged twice, and whether there are such."""
    if isinstance(source, Qrels):
        return source, lambda _policy: source, False
    try:
        plain = source("error")
    except FileFormatError as error:
        try:
            first = source("first")
        except IdealrankError:
            raise error from None
        kept: _Recent[Qrels] = _Recent(4)
        return first, lambda policy: kept.get(policy, lambda: source(policy)), True
    return plain, lambda _policy: plain, False
