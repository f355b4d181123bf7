"""Values and gradients that boosting libraries call for in every round, on the arrays that they
hand over.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any
from weakref import ref

import numpy as np

from idealrank.conventions import Convention
from idealrank.data.types import FloatArray
from idealrank.errors import OptionError
from idealrank.inputs.evaluation import evaluate
from idealrank.measures.measure import Measure
from idealrank.measures.parse import MeasureLike, parse_measures
from idealrank.training import LambdaObjective, UnbiasedObjective
from idealrank.training.row_arrays import row_numbers

_OF_CLICKS = ("propensity", "unclicked_propensity", "positions", "regularisation", "bias")
_LEAST_CHANCE = 1e-12  # its inverse is a weight


@dataclass(frozen=True)
class RoundMeasures:
    """Measures of scores in one round of training."""

    measures: tuple[Measure, ...]  # Measures, by whose texts values are reported
    convention: Convention  # Convention of the values, as in `evaluate`

    @classmethod
    def of_one(
        cls, measure: MeasureLike, convention: "str | Convention", library: str
    ) -> "tuple[RoundMeasures, Measure]":
        """Parse the one measure that a library takes, and the convention."""
        parsed = cls.of(measure, convention)
        if len(parsed.measures) != 1:
            raise OptionError(
                f"measure: found {len(parsed.measures)}, expected one, as {library} takes one "
                f"function"
            )
        return parsed, parsed.measures[0]

    @classmethod
    def of(
        cls,
        measures: "MeasureLike | Iterable[MeasureLike]",
        convention: "str | Convention" = "standard",
    ) -> "RoundMeasures":
        """Parse measures and the convention."""
        parsed = tuple(parse_measures(measures))
        for measure in parsed:
            if not measure.direction:
                raise OptionError(
                    f"measure {measure}: has no better direction, expected one that training can "
                    "make better"
                )
        return cls(parsed, Convention.of(convention))

    def values(
        self, labels: Any, scores: Any, group: Any = None, *, qid: Any = None
    ) -> list[tuple[str, float, bool]]:
        """Return for each measure its text, its mean over the queries, and whether a higher value
        is better.
        """
        evaluation = evaluate(labels, scores, self.measures, self.convention, group=group, qid=qid)
        means = evaluation.mean()
        return [
            (str(measure), float(means[str(measure)]), measure.direction > 0)
            for measure in self.measures
        ]


def _propensities(**chances: Any) -> dict[str, FloatArray]:
    """Check the propensities that are given, by the row of a pair that they belong to."""
    propensities = {
        row: row_numbers("propensity", chance)
        for row, chance in chances.items()
        if chance is not None
    }
    lowest = min((float(array.min(initial=np.inf)) for array in propensities.values()), default=1.0)
    if lowest < _LEAST_CHANCE:
        shown_lowest = "0 or less" if lowest <= 0 else f"{lowest:g}"
        raise OptionError(
            f"propensity: found {shown_lowest}, expected above 0; clip it from below, as in "
            "numpy.maximum(propensity, 0.05)"
        )
    return propensities


@dataclass(eq=False, kw_only=True)
class RoundGradients:
    """Gradients of one objective, with the lists of the last data set kept ready."""

    objective: LambdaObjective | UnbiasedObjective
    rows: dict[str, Any] = field(default_factory=dict)
    # Lists of the last data set; None before the first round
    lists: Any = field(default=None, repr=False)
    # Weak reference to the object that owns the last data set
    _owner: Any = field(default=None, repr=False)

    @classmethod
    def of(cls, options: dict[str, Any]) -> "RoundGradients":
        """Read the options of an objective, with the propensities of clicks among them."""
        settings = dict(options)
        known_names = [*(option.name for option in fields(LambdaObjective)), *_OF_CLICKS]
        for name in settings:
            if name not in known_names:
                raise OptionError(
                    f"{name}: found an unknown option, expected one of {', '.join(known_names)}"
                )
        positions = settings.pop("positions", None)
        estimation = {
            name: settings.pop(name) for name in ("regularisation", "bias") if name in settings
        }
        propensities = _propensities(
            up=settings.pop("propensity", None), down=settings.pop("unclicked_propensity", None)
        )
        if positions is None:
            if estimation:
                raise OptionError(
                    f"{next(iter(estimation))}: expected only with positions, the rank at which "
                    "each row was shown"
                )
            weights = {name: 1 / propensity for name, propensity in propensities.items()}
            return cls(objective=LambdaObjective(**settings), rows=weights)
        if propensities:
            raise OptionError(
                "positions: found propensities, too; expected one of them, since positions "
                "estimate their own"
            )
        return cls(
            objective=UnbiasedObjective(objective=LambdaObjective(**settings), **estimation),
            rows={"positions": row_numbers("positions", positions)},
        )

    def __getstate__(self) -> dict[str, Any]:
        return {"objective": self.objective, "rows": self.rows, "lists": None, "_owner": None}

    def _prepare(self, labels: Any, group: Any) -> Any:
        return self.objective.prepare(labels, group, **self.rows)

    def gradients(
        self, owner: Any, labels: Any, group: Any, scores: Any, weights: Any = None
    ) -> Any:
        """First and second derivatives of every row; `owner` is the object to which labels and
        group belong.
        """
        if self._owner is None or self._owner() is not owner:
            try:
                reference = ref(owner)
            except TypeError:  # arrays of Python's own types have no weak references
                return self._prepare(labels, group).gradients(scores, weights=weights)
            self.lists = self._prepare(labels, group)
            self._owner = reference
        return self.lists.gradients(scores, weights=weights)
