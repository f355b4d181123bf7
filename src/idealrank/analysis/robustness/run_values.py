"""Values of one run under many alignments, each computed once."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from idealrank.data.alignment import Alignment
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.coverage import Coverage
from idealrank.evaluation.sweep import ALIGNMENT, Sweep
from idealrank.measures.measure import Measure

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
