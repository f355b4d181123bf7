"""One run, or one set of lists, under many conventions: judgments read once a policy, what occurs
in the data, and what that settles.

`reconcile` looks for the convention behind a number among thousands, `robust` makes one comparison
in every way; both use this.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np

from idealrank.conventions.switches import occurrences, settled
from idealrank.data.alignment import Alignment, Occurrences
from idealrank.data.join import Judgments, join
from idealrank.data.judged import Judged
from idealrank.data.lists import Lists, judge_lists
from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.data.run import Run
from idealrank.data.types import FloatArray
from idealrank.errors import FileFormatError, IdealrankError, InputError
from idealrank.evaluation.batches import Measured, measure_judged, measure_lists
from idealrank.measures.measure import Measure

JudgmentsSource: TypeAlias = Judgments | Callable[[QrelsDuplicates], Judgments]
"""Judgments, or what reads them under a policy for documents that are judged twice."""

ALIGNMENT = tuple(field.name for field in fields(Alignment))
"""The switches that act before a measure sees anything."""

NOT_IN_ARRAYS = ("duplicates", "unjudged", "missing", "without_judgments")
"""Switches that cannot act on lists of labels and scores, which have no documents."""

# The alignment that refuses nothing and drops nothing.
_FULL = Alignment(ties="input", duplicates="twice", negative="kept", without_judgments="evaluated")
_FULL_FLOAT32 = replace(_FULL, score="float32")


def switch_text(value: object) -> str:
    """The value of a switch or option as a text."""
    return "none" if value is None else str(getattr(value, "text", value))


class Readings:
    """Judgments under each policy for documents judged twice; read once where none is."""

    def __init__(self, source: JudgmentsSource) -> None:
        self._read = source if callable(source) else lambda _policy: source
        self._kept: dict[str, Judgments] = {}
        try:
            self.some = self._read("error")
            self.judged_twice = False
        except FileFormatError as error:
            try:
                self.some = self._kept["first"] = self._read("first")
            except IdealrankError:
                raise error from None
            self.judged_twice = True

    def under(self, policy: str) -> Judgments:
        """The judgments under a policy of a convention."""
        if not self.judged_twice:
            return self.some
        policy = "error" if policy == "twice" else policy
        if policy not in self._kept:
            self._kept[policy] = self._read(policy)  # type: ignore[arg-type]
        return self._kept[policy]

    @property
    def grades(self) -> list[float]:
        """The distinct grades, rising; none of judgments that are not plain grades."""
        if isinstance(self.some, Qrels):
            return [float(grade) for grade in np.unique(self.some.grades)]
        return []


@dataclass(frozen=True, kw_only=True, eq=False)
class Sweep:
    """Run with its judgments, or lists of labels and scores, under many conventions."""

    align: Callable[[Alignment, int], Judged]
    grades: FloatArray | None
    judged_twice: bool = False
    lists: Lists | None = None
    threads: int = 0

    @classmethod
    def of_run(cls, readings: Readings, run: Run, *, threads: int = 0) -> "Sweep":
        """Sweep over a run and its judgments."""
        some_judgments = readings.some

        def align(alignment: Alignment, depth: int) -> Judged:
            # The cases that occur are looked up in any reading of the judgments.
            looks_up_cases = alignment is _FULL or alignment is _FULL_FLOAT32
            return join(
                some_judgments if looks_up_cases else readings.under(alignment.duplicates),
                run,
                alignment,
                depth=depth,
                threads=threads,
            )

        return cls(
            align=align,
            grades=some_judgments.grades if isinstance(some_judgments, Qrels) else None,
            judged_twice=readings.judged_twice,
            threads=threads,
        )

    @classmethod
    def of_lists(cls, lists: Lists, *, threads: int = 0) -> "Sweep":
        """Sweep over labels and scores."""
        grades = lists.labels.astype(np.float64)
        return cls(
            align=lambda alignment, _depth: judge_lists(lists, alignment),
            grades=grades,
            lists=lists,
            threads=threads,
        )

    @cached_property
    def full(self) -> Judged:
        """All queries and whole lists; nothing is refused or dropped."""
        return self.align(_FULL, 0)

    @cached_property
    def occurs(self) -> Occurrences | None:
        """Return the cases that occur in the data; None if unknown."""
        if self.grades is None:
            return None
        return occurrences(
            self.full, self.align(_FULL_FLOAT32, 0), self.grades, judged_twice=self.judged_twice
        )

    def settled(self, switches: Mapping[str, str]) -> dict[str, str]:
        """Return the switches, each set to a fixed value if it cannot act on these data."""
        return dict(switches) if self.occurs is None else settled(switches, self.occurs)

    def measured(
        self, alignment: Alignment, measures: Sequence[Measure]
    ) -> tuple[Sequence[str], Measured]:
        """The queries that count under an alignment, and the values of measures with every option
        set.
        """
        if self.lists is not None:
            return self.lists.queries, measure_lists(
                self.lists, measures, alignment, threads=self.threads
            )
        depths = [measure.hits_needed() for measure in measures]
        judged = self.align(alignment, 0 if 0 in depths else max(depths))
        if not judged.n_queries:
            raise InputError("no query counts; do the query ids of run and judgments match?")
        return judged.queries, measure_judged(judged, measures)
