"""One run under many conventions: values of many measures from few alignments.

Conventions that align alike share their alignment, and so do those that cannot differ on these data.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from idealrank.data.alignment import Alignment
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.coverage import Coverage
from idealrank.evaluation.sweep import ALIGNMENT, Sweep
from idealrank.measures.measure import Measure

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


class Side:
    """Values of one run, or of one set of scores, under any alignment.

    Parameters
    ----------
    name : str
        Of the run.
    sweep : Sweep
        The run or the lists.

    Examples
    --------
    >>> from idealrank.measures.binary import RR
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> from idealrank.evaluation.sweep import Readings
    >>> side = Side("run", Sweep.of_run(Readings(Qrels({"q": {"a": 1}})), Run({"q": ["b", "a"]})))
    >>> jobs = side.jobs([(Alignment(), RR()), (Alignment(ties="worst"), RR())])
    >>> for alignment, measures in jobs.items():
    ...     side.do(alignment, measures)
    >>> len(jobs), side.column(Alignment(ties="worst"), RR()).values
    (1, array([0.5]))
    """

    def __init__(self, name: str, sweep: Sweep) -> None:
        self.name = name
        self._sweep = sweep
        self._found: dict[Wanted, Column | str] = {}
        self._coverages: dict[Wanted, Coverage] = {}

    def _settled(self, alignment: Alignment, measure: Measure) -> Alignment:
        """The alignment with all that cannot act on these data set to one and the same value."""
        switches = {name: getattr(alignment, name) for name in ALIGNMENT}
        found = self._sweep.settled(switches | {"rounding": getattr(measure, "rounding", None) or "none"})
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
            queries, measured = self._sweep.measured(alignment, measures)
        except (InputError, OptionError) as error:
            if len(measures) == 1:
                return {measures[0]: f"run {self.name!r}: {error}" if str(error).startswith("no query counts") else str(error)}
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
