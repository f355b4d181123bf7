"""One run under many conventions: values of many measures from few alignments.

Conventions that align alike share their alignment, and so do those that cannot differ on these data.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from idealrank.analysis.robustness.variants import ALIGNMENT
from idealrank.conventions.occurrences import Occurrences
from idealrank.conventions.switches import settled
from idealrank.data.align import align
from idealrank.data.alignment import Alignment
from idealrank.data.join import Judgments, join
from idealrank.data.lists import Lists, judge_lists
from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.data.run import Run
from idealrank.data.types import FloatArray
from idealrank.errors import FileFormatError, IdealrankError, InputError, OptionError
from idealrank.evaluation.batches import Measured, measure_lists, measure_parts, splits
from idealrank.evaluation.coverage import Coverage
from idealrank.measures.measure import Measure

JudgmentsSource: TypeAlias = "Judgments | Callable[[QrelsDuplicates], Judgments]"
"""Judgments, or what reads them under a policy for documents that are judged twice."""

# The alignment that refuses nothing and drops nothing.
_FULL = Alignment(ties="input", duplicates="twice", negative="kept", without_judgments="evaluated")
_FULL_FLOAT32 = replace(_FULL, score="float32")

Measurer = Callable[[Alignment, Sequence[Measure]], tuple[Sequence[str], Measured]]
Wanted = tuple[Alignment, Measure]


@dataclass(frozen=True, eq=False)
class Column:
    """Values of one measure.

    Parameters
    ----------
    queries : sequence of str
        Those that the alignment keeps.
    values : float64 array, shape (n_queries,)
        NaN where the query does not count.

    Examples
    --------
    >>> Column(["p", "q"], np.array([0.5, np.nan])).values
    array([0.5, nan])
    """

    queries: Sequence[str]
    values: FloatArray


class Readings:
    """Judgments under each policy for documents judged twice; read once where none is.

    Parameters
    ----------
    source : Qrels, PreferenceQrels, AssessorQrels or callable
        The judgments, or what reads them under a policy.

    Examples
    --------
    >>> readings = Readings(Qrels({"q": {"a": 2, "b": 0}}))
    >>> readings.under("error").n_judgments, readings.grades, readings.judged_twice
    (2, [0.0, 2.0], False)
    """

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
        return [float(grade) for grade in np.unique(self.some.grades)] if isinstance(self.some, Qrels) else []


class Side:
    """Values of one run, or of one set of scores, under any alignment.

    Parameters
    ----------
    name : str
        Of the run.
    measurer : callable
        Values of some measures under an alignment; raises what the alignment or a measure refuses.
    occurs : Occurrences or None
        Which cases occur; None where that is not known, and every alignment is made.

    Examples
    --------
    >>> from idealrank.measures.binary import RR
    >>> side = Side.of_run(Readings(Qrels({"q": {"a": 1}})), Run({"q": ["b", "a"]}))
    >>> jobs = side.jobs([(Alignment(), RR()), (Alignment(ties="worst"), RR())])
    >>> for alignment, measures in jobs.items():
    ...     side.do(alignment, measures)
    >>> len(jobs), side.column(Alignment(ties="worst"), RR()).values
    (1, array([0.5]))
    """

    def __init__(self, name: str, measurer: Measurer, occurs: Occurrences | None) -> None:
        self.name = name
        self._measurer = measurer
        self._occurs = occurs
        self._found: dict[Wanted, Column | str] = {}
        self._coverages: dict[Wanted, Coverage] = {}

    @classmethod
    def of_run(cls, readings: Readings, run: Run, name: str | None = None, *, threads: int = 0) -> "Side":
        """Of a run and its judgments."""

        def measured(alignment: Alignment, measures: Sequence[Measure]) -> tuple[Sequence[str], Measured]:
            depths = [measure.hits_needed() for measure in measures]
            judgments = readings.under(alignment.duplicates)
            judged = join(judgments, run, alignment, depth=0 if 0 in depths else max(depths), threads=threads)
            if not judged.n_queries:
                raise InputError(f"run {run.name!r}: no query counts; do its query ids match those of the judgments?")
            return judged.queries, measure_parts(judged.parts() if splits(measures) else [judged], judged.n_queries, measures)

        some = readings.some
        occurs = None
        if isinstance(some, Qrels):
            full, float32 = (align(some, run, alignment, threads=threads) for alignment in (_FULL, _FULL_FLOAT32))
            occurs = Occurrences.of(full, float32, some.grades, judged_twice=readings.judged_twice)
        return cls(run.name if name is None else name, measured, occurs)

    @classmethod
    def of_lists(cls, lists: Lists, name: str, *, threads: int = 0) -> "Side":
        """Of labels and scores."""
        full, float32 = (judge_lists(lists, alignment) for alignment in (_FULL, _FULL_FLOAT32))
        occurs = Occurrences.of(full, float32, lists.labels.astype(np.float64), judged_twice=False)
        return cls(name, lambda alignment, measures: (lists.queries, measure_lists(lists, measures, alignment, threads=threads)), occurs)

    def _settled(self, alignment: Alignment, measure: Measure) -> Alignment:
        """The alignment with all that cannot act on these data set to one and the same value."""
        if self._occurs is None:
            return alignment
        switches = {name: getattr(alignment, name) for name in ALIGNMENT}
        rounding = getattr(measure, "rounding", None) or "none"
        found = settled(switches | {"rounding": rounding}, self._occurs)
        return Alignment(**{name: found[name] for name in ALIGNMENT})  # type: ignore[arg-type]

    def jobs(self, wanted: Iterable[Wanted]) -> "dict[Alignment, list[Measure]]":
        """What is not known yet: the measures, with every option set, to be found under each alignment."""
        jobs: dict[Alignment, dict[Measure, None]] = {}
        for alignment, measure in wanted:
            settled = self._settled(alignment, measure)
            if (settled, measure) not in self._found:
                jobs.setdefault(settled, {})[measure] = None
        return {alignment: list(measures) for alignment, measures in jobs.items()}

    def do(self, alignment: Alignment, measures: list[Measure]) -> None:
        """One of the jobs: one alignment."""
        found = self._columns(alignment, measures)
        self._found |= {(alignment, measure): column for measure, column in found.items()}

    def _columns(self, alignment: Alignment, measures: list[Measure]) -> "dict[Measure, Column | str]":
        try:
            queries, measured = self._measurer(alignment, measures)
        except (InputError, OptionError) as error:
            if len(measures) == 1:
                return {measures[0]: str(error)}
            # One of them, or all, are refused: each by itself.
            return {measure: column for one in measures for measure, column in self._columns(alignment, [one]).items()}
        found: dict[Measure, Column | str] = {}
        self._coverages |= {(alignment, measure): measured.coverage for measure in measures}
        for place, measure in enumerate(measures):
            values, scored = measured.values[:, place], measured.scored[:, place]
            if not np.isfinite(values[scored]).all():
                found[measure] = "a query has no number, and so the mean has none"
            elif not scored.any():
                found[measure] = f"run {self.name!r}: no query counts"
            else:
                found[measure] = Column(queries, np.where(scored, values, np.nan))
        return found

    def column(self, alignment: Alignment, measure: Measure) -> "Column | str":
        """What was found, or why there is nothing."""
        return self._found[self._settled(alignment, measure), measure]

    def coverage(self, alignment: Alignment, measure: Measure) -> Coverage:
        """The coverage behind a column that was found."""
        return self._coverages[self._settled(alignment, measure), measure]
