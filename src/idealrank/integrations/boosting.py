"""Values and gradients that boosting libraries call for in every round, on the arrays that they hand over."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from weakref import ref

import numpy as np

from idealrank.api.evaluation import evaluate
from idealrank.conventions import Convention
from idealrank.errors import OptionError
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measures
from idealrank.training import LambdaLists, LambdaObjective


@dataclass(frozen=True)
class RoundMeasures:
    """Measures of scores in one round of training.

    Attributes
    ----------
    measures : tuple of Measure
        Measures, by whose texts values are reported.
    convention : Convention
        Convention of the values, as in `evaluate`.

    Examples
    --------
    >>> RoundMeasures.of("RR").values([0, 1], [0.9, 0.1], [2])
    [('RR', 0.5, True)]
    """

    measures: tuple[Measure, ...]
    convention: Convention

    @classmethod
    def of(cls, measures: "MeasureLike | Iterable[MeasureLike]", convention: "str | Convention" = "standard") -> "RoundMeasures":
        """Parse measures and the convention.

        Raises
        ------
        OptionError
            A measure or the convention is unknown, or a measure has no better direction.
        """
        parsed = tuple(parse_measures(measures))
        for measure in parsed:
            if not measure.direction:
                raise OptionError(f"measure {measure}: has no better direction, expected one that training can make better")
        return cls(parsed, Convention.of(convention))

    def values(self, labels: Any, scores: Any, group: Any = None, *, qid: Any = None) -> list[tuple[str, float, bool]]:
        """For each measure its text, its mean over the queries, and whether a higher value is better.

        The mean has the bits of ``evaluate(labels, scores, measures, convention, group=group, qid=qid).mean()``.
        """
        means = evaluate(labels, scores, self.measures, self.convention, group=group, qid=qid).mean()
        return [(str(measure), float(means[str(measure)]), measure.direction > 0) for measure in self.measures]


@dataclass(eq=False)
class RoundGradients:
    """Gradients of one objective, with the lists of the last data set kept ready.

    Examples
    --------
    >>> RoundGradients(LambdaObjective()).gradients("data", [1, 0], [2], [0.0, 0.0])[1].shape
    (2,)
    """

    objective: LambdaObjective
    up: Any = None
    down: Any = None
    _kept: tuple[Any, LambdaLists] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, options: dict[str, Any]) -> "RoundGradients":
        """Read the options of an objective, with the propensities of clicks among them.

        Parameters
        ----------
        options : dict
            Of `LambdaObjective`; and ``propensity``, the probability that users looked at each row of the training set, and
            ``unclicked_propensity``, the probability that a row without a click was looked at.

        Raises
        ------
        OptionError
            An option is out of its range.
        """
        given = dict(options)
        chances = [given.pop(name, None) for name in ("propensity", "unclicked_propensity")]
        for chance in chances:
            if chance is not None and not (np.asarray(chance) > 0).all():
                raise OptionError(
                    "propensity: found 0 or less, expected above 0; clip it from below, as in numpy.maximum(propensity, 0.05)"
                )
        up, down = (None if chance is None else 1 / np.asarray(chance, np.float64) for chance in chances)
        return cls(LambdaObjective(**given), up, down)

    def __getstate__(self) -> dict[str, Any]:
        return {"objective": self.objective, "up": self.up, "down": self.down, "_kept": None}

    def _prepare(self, labels: Any, group: Any) -> LambdaLists:
        return self.objective.prepare(labels, group, up=self.up, down=self.down)

    def gradients(self, owner: Any, labels: Any, group: Any, scores: Any, weights: Any = None) -> Any:
        """First and second derivatives of every row; `owner` is the object to which labels and group belong."""
        if self._kept is None or self._kept[0]() is not owner:
            try:
                kept = ref(owner)
            except TypeError:  # arrays of Python's own types have no weak references
                return self._prepare(labels, group).gradients(scores, weights=weights)
            self._kept = (kept, self._prepare(labels, group))
        return self._kept[1].gradients(scores, weights=weights)
