"""Lift: how far a mean is from the chance level to the ceiling of its candidates, with an
interval.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from idealrank._lazy import printed
from idealrank.bounds.random_orders import Chance, chance_of_evaluation
from idealrank.data.interchange import finite, frame_of
from idealrank.data.types import BoolArray, FloatArray
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.parse import MeasureLike, parse_measure
from idealrank.stats.intervals import mean_interval

_SAME = 1e-12  # values of one query that differ by no more are equal


@dataclass(frozen=True, kw_only=True)
class MeasureLift:
    """Lift of one measure.

    Attributes
    ----------
    value, chance, ceiling : float
        Means over the queries that count: of the run, of a random order of the candidates, and of
        their best order.
    lift : float
        ``(value - chance) / (ceiling - chance)``: 0 at chance level, 1 at the ceiling; NaN if no
        query has a ceiling above its chance level.
    interval : tuple of float
        Of the lift, by its linearised standard error and Student's t; infinite for one query.
    n : int
        Number of queries behind the lift.
    left_out : int
        Number of further queries in which every order of the candidates has the same value, and the
        run has it too: 0 / 0.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {"q": {"a": 1}, "r": {"a": 1}, "s": {"b": 0}}
    >>> run = ir.evaluate(qrels, {q: ["a", "b"] for q in qrels}, "RR", candidates=2)
    >>> rr = run.lift()["RR"]
    >>> rr.lift, rr.interval, rr.n, rr.left_out
    (1.0, (1.0, 1.0), 2, 1)
    """

    value: float
    chance: float
    ceiling: float
    lift: float
    interval: tuple[float, float]
    n: int
    left_out: int

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record; None for what has no number."""
        low, high = self.interval
        return {
            "value": finite(self.value),
            "chance": finite(self.chance),
            "ceiling": finite(self.ceiling),
            "lift": finite(self.lift),
            "low": finite(low),
            "high": finite(high),
            "n": self.n,
            "left_out": self.left_out,
        }


@dataclass(frozen=True, kw_only=True)
class Lift:
    """Lifts of one run, by measure; made by `Evaluation.lift`.

    Attributes
    ----------
    run : str
        Name of the run.
    measures : mapping of str to MeasureLift
        By text of the measure.
    not_offered : mapping of str to str
        Reason why a measure has no chance level, by its text.
    cautions : tuple of str
        Cutoffs that are deeper than the candidates.
    level : float
        Confidence level of each interval alone.

    Examples
    --------
    >>> import idealrank as ir
    >>> run = ir.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, ["RR", "P@4"], candidates=4)
    >>> lift = run.lift()
    >>> round(lift["RR"].lift, 3), lift.cautions
    (-0.043, ('P@4 of 4 candidates is 0.25 whatever the ranking',))
    """

    run: str
    measures: Mapping[str, MeasureLift]
    not_offered: Mapping[str, str] = field(default_factory=dict)
    cautions: tuple[str, ...] = ()
    level: float = 0.95

    __str__ = printed

    def __getitem__(self, measure: MeasureLike) -> MeasureLift:
        """Lift of one measure."""
        text = str(measure)
        return self.measures[text if text in self.measures else str(parse_measure(measure))]

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record."""
        return {
            "run": self.run,
            "level": self.level,
            "measures": {text: lift.as_dict() for text, lift in self.measures.items()},
            "not_offered": dict(self.not_offered),
            "cautions": list(self.cautions),
        }

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a dataframe with a row for each measure: measure, value, chance, ceiling, lift,
        low, high, n, left_out.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}
            Any eager dataframe library that narwhals supports and that is installed.
        """
        titles = ("value", "chance", "ceiling", "lift", "low", "high", "n", "left_out")
        columns: dict[str, list[Any]] = {"measure": list(self.measures)}
        records = [lift.as_dict() for lift in self.measures.values()]
        columns |= {title: [record[title] for record in records] for title in titles}
        return frame_of(columns, backend)


def lift_of(evaluation: Evaluation, *, level: float = 0.95) -> Lift:
    """Compute the lifts of an evaluation with candidates; the function of `Evaluation.lift`."""
    chance = chance_of_evaluation(evaluation)
    lifts = {}
    for place, measure in enumerate(chance.measures):
        values = evaluation[measure]
        scored = evaluation.scored[:, evaluation.measures.index(measure)]
        lifts[str(measure)] = _measure_lift(chance, place, values, scored, level=level)
    return Lift(
        run=evaluation.name,
        measures=lifts,
        not_offered=chance.not_offered,
        cautions=chance.cautions,
        level=level,
    )


def _measure_lift(
    level_of: Chance, place: int, values: FloatArray, scored: BoolArray, *, level: float
) -> MeasureLift:
    counts = scored & level_of.scored[:, place] & ~np.isnan(values)
    value = values[counts]
    chance = level_of.values[counts, place]
    ceiling = level_of.ceilings[counts, place]
    rise = value - chance
    room = ceiling - chance
    # Whatever the order, such a query has one value: it says nothing about the ranking.
    tells = (np.abs(rise) > _SAME) | (np.abs(room) > _SAME)
    lift, interval = ratio_interval(rise[tells], room[tells], level=level)
    return MeasureLift(
        value=_mean(value),
        chance=_mean(chance),
        ceiling=_mean(ceiling),
        lift=lift,
        interval=interval,
        n=int(np.count_nonzero(tells)),
        left_out=int(np.count_nonzero(~tells)),
    )


def _mean(values: FloatArray) -> float:
    return math.fsum(values.tolist()) / values.size if values.size else math.nan


def ratio_interval(
    rise: FloatArray, room: FloatArray, *, level: float
) -> tuple[float, tuple[float, float]]:
    """Ratio of two means over the same queries, and its interval.

    The error of the ratio is that of the mean of ``rise - ratio * room``, divided by the mean of
    `room` (Davison and Hinkley 1997, section 2.7.2); experiments/lift_coverage.py measures it.
    """
    below = _mean(room)
    if not below > _SAME:
        return math.nan, (math.nan, math.nan)
    ratio = _mean(rise) / below
    residuals = rise - ratio * room
    residuals[np.abs(residuals) <= _SAME] = 0.0
    interval = mean_interval(residuals, level=level)
    half = float(interval.high - interval.estimate) / below
    return ratio, (ratio - half, ratio + half)
