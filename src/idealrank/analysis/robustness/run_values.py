"""Values of a run under many alignments, each computed once, and of two runs side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from idealrank.analysis.comparison.families import Hypothesis
from idealrank.analysis.comparison.query_table import QueryTable
from idealrank.data.alignment import Alignment
from idealrank.data.types import BoolArray, FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.coverage import Coverage
from idealrank.evaluation.sweep import ALIGNMENT, Sweep
from idealrank.measures.measure import Measure
from idealrank.stats.tolerance import ROUNDING

Computation = tuple[Alignment, Measure]


@dataclass(frozen=True, eq=False)
class MeasureValues:
    """Values of one measure for every query."""

    queries: Sequence[str]
    values: FloatArray
    unanswerable: tuple[str, ...] = ()


class RunValues:
    """Values of one run, or of one set of scores, under any alignment."""

    def __init__(self, name: str, sweep: Sweep) -> None:
        self.name = name
        self._sweep = sweep
        self._computed: dict[Computation, MeasureValues | str] = {}
        self._coverages: dict[Computation, Coverage] = {}

    def _settled(self, alignment: Alignment, measure: Measure) -> Alignment:
        """The alignment with all that cannot act on these data set to one and the same value."""
        switches = {name: getattr(alignment, name) for name in ALIGNMENT}
        settled = self._sweep.settled(
            switches | {"rounding": getattr(measure, "rounding", None) or "none"}
        )
        return Alignment(**{name: settled[name] for name in ALIGNMENT})  # type: ignore[arg-type]

    def jobs(self, computations: Iterable[Computation]) -> "dict[Alignment, list[Measure]]":
        """List the missing computations: measures, with every option set, under each alignment."""
        jobs: dict[Alignment, dict[Measure, None]] = {}
        for alignment, measure in computations:
            settled = self._settled(alignment, measure)
            if (settled, measure) not in self._computed:
                jobs.setdefault(settled, {})[measure] = None
        return {alignment: list(measures) for alignment, measures in jobs.items()}

    def compute(self, alignment: Alignment, measures: list[Measure]) -> None:
        """Do one of the jobs: the measures under one alignment."""
        columns = self._columns(alignment, measures)
        self._computed |= {(alignment, measure): column for measure, column in columns.items()}

    def _columns(
        self, alignment: Alignment, measures: list[Measure]
    ) -> "dict[Measure, MeasureValues | str]":
        columns: dict[Measure, MeasureValues | str] = {}
        try:
            queries, measured = self._sweep.measured(alignment, measures)
        except (InputError, OptionError) as error:
            if len(measures) == 1:
                reason = str(error)
                if reason.startswith("no query counts"):
                    reason = f"run {self.name!r}: {reason}"
                return {measures[0]: reason}
            # Some measure is refused, or all are: each is tried by itself.
            for measure in measures:
                columns |= self._columns(alignment, [measure])
            return columns
        self._coverages |= {(alignment, measure): measured.coverage for measure in measures}
        for place, measure in enumerate(measures):
            values = measured.values[:, place]
            scored = measured.scored[:, place]
            if not np.isfinite(values[scored]).all():
                columns[measure] = "a query has no value, so the mean is undefined"
            elif not scored.any():
                columns[measure] = f"run {self.name!r}: no query counts"
            else:
                without = measured.coverage.by_measure[str(measure)].unanswerable
                columns[measure] = MeasureValues(queries, np.where(scored, values, np.nan), without)
        return columns

    def column(self, alignment: Alignment, measure: Measure) -> "MeasureValues | str":
        """Return the values, or the reason for their absence."""
        return self._computed[self._settled(alignment, measure), measure]

    def coverage(self, alignment: Alignment, measure: Measure) -> Coverage:
        """The coverage behind a column that was found."""
        return self._coverages[self._settled(alignment, measure), measure]


@dataclass(frozen=True, kw_only=True, eq=False)
class Grid:
    """Values of both runs, a row for each query of any alternative and a column for each
    alternative; NaN where a query does not count.
    """

    queries: list[str]
    # a, b, evaluated: shape (n_queries, n_alternatives)
    a: FloatArray
    b: FloatArray
    evaluated: BoolArray  # Queries that the convention of an alternative evaluates for either run

    @classmethod
    def of(cls, columns: Sequence[tuple[MeasureValues, MeasureValues]]) -> "Grid":
        # Most columns share their list of queries.
        sides = chain.from_iterable(columns)
        query_lists = {id(side.queries): side.queries for side in sides}
        # By id, as `queries_of` has them.
        every = sorted(set(chain.from_iterable(query_lists.values())))
        row_of = {query: row for row, query in enumerate(every)}
        rows_of_list = {}
        for key, queries in query_lists.items():
            rows_of_list[key] = np.array([row_of[query] for query in queries], np.int64)
        a, b = (np.full((len(every), len(columns)), np.nan) for _ in range(2))
        evaluated = np.zeros((len(every), len(columns)), bool)
        for column, pair in enumerate(columns):
            for matrix, side in zip((a, b), pair, strict=True):
                rows = rows_of_list[id(side.queries)]
                matrix[rows, column] = side.values
                evaluated[rows, column] = True
        return cls(queries=every, a=a, b=b, evaluated=evaluated)

    @cached_property
    def counted(self) -> BoolArray:
        """Mask of the queries that count in both runs."""
        first, second = self._tables
        return first.counted & second.counted

    @cached_property
    def _tables(self) -> tuple[QueryTable, QueryTable]:
        first, second = (QueryTable(side, np.isfinite(side)) for side in (self.a, self.b))
        return first, second

    def hypothesis(self, column: int) -> Hypothesis:
        """Hypothesis that both runs have one mean in a column, on the queries of either."""
        first, second = self._tables
        return Hypothesis(
            first=first, second=second, column=column, within=self.evaluated[:, column]
        )

    def repetitions(self) -> list[int]:
        """List for each column the first with the same values of both runs on the same queries."""
        originals: list[int] = []
        for column in range(self.a.shape[1]):
            distinct_columns = dict.fromkeys(originals)
            same = (original for original in distinct_columns if self._same(original, column))
            originals.append(next(same, column))
        return originals

    @cached_property
    def _marks(self) -> FloatArray:
        """A few numbers of each column, shape (n_columns, 3): where they differ, the columns do."""
        sums = [np.where(self.counted, side, 0.0).sum(axis=0) for side in (self.a, self.b)]
        return np.stack([*sums, self.counted.sum(axis=0)], axis=1)

    def _same(self, first: int, other: int) -> bool:
        if not np.allclose(self._marks[first], self._marks[other], rtol=1e-9, atol=1e-9):
            return False
        kept = self.counted[:, first]
        if not np.array_equal(kept, self.counted[:, other]):
            return False
        return all(
            np.allclose(side[kept, first], side[kept, other], rtol=ROUNDING, atol=ROUNDING)
            for side in (self.a, self.b)
        )
