"""Values and gradients that boosting libraries call for in every round, on the arrays that they
hand over.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any
from weakref import ref

from idealrank.api.evaluation import evaluate
from idealrank.conventions import Convention
from idealrank.errors import OptionError
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
        found = cls.of(measure, convention)
        if len(found.measures) != 1:
            raise OptionError(
                f"measure: found {len(found.measures)}, expected one, as {library} takes one "
                f"function"
            )
        return found, found.measures[0]

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
                    f"measure {measure}: has no better direction, expected one that training "
                    f"can make better"
                )
        return cls(parsed, Convention.of(convention))

    def values(
        self, labels: Any, scores: Any, group: Any = None, *, qid: Any = None
    ) -> list[tuple[str, float, bool]]:
        """For each measure its text, its mean over the queries, and whether a higher value is
        better.
        """
        means = evaluate(
            labels, scores, self.measures, self.convention, group=group, qid=qid
        ).mean()
        return [
            (str(measure), float(means[str(measure)]), measure.direction > 0)
            for measure in self.measures
        ]


@dataclass(eq=False)
class RoundGradients:
    """Gradients of one objective, with the lists of the last data set kept ready."""

    objective: LambdaObjective | UnbiasedObjective
    rows: dict[str, Any] = field(default_factory=dict)
    _kept: tuple[Any, Any] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, options: dict[str, Any]) -> "RoundGradients":
        """Read the options of an objective, with the propensities of clicks among them."""
        given = dict(options)
        known_names = [*(one.name for one in fields(LambdaObjective)), *_OF_CLICKS]
        for name in given:
            if name not in known_names:
                raise OptionError(
                    f"{name}: found an unknown option, expected one of {', '.join(known_names)}"
                )
        positions = given.pop("positions", None)
        estimation = {name: given.pop(name) for name in ("regularisation", "bias") if name in given}
        chances = {
            "up": given.pop("propensity", None),
            "down": given.pop("unclicked_propensity", None),
        }
        known = {
            name: row_numbers("propensity", chance)
            for name, chance in chances.items()
            if chance is not None
        }
        if any((chance < _LEAST_CHANCE).any() for chance in known.values()):
            least = min(float(chance.min()) for chance in known.values())
            found = "0 or less" if least <= 0 else f"{least:g}"
            raise OptionError(
                f"propensity: found {found}, expected above 0; clip it from below, as in "
                f"numpy.maximum(propensity, 0.05)"
            )
        if positions is None:
            if estimation:
                raise OptionError(
                    f"{next(iter(estimation))}: expected only with positions, the rank at "
                    f"which each row was shown"
                )
            return cls(
                LambdaObjective(**given), {name: 1 / chance for name, chance in known.items()}
            )
        if known:
            raise OptionError(
                "positions: found propensities, too; expected one of them, since positions "
                "estimate their own"
            )
        return cls(
            UnbiasedObjective(objective=LambdaObjective(**given), **estimation),
            {"positions": row_numbers("positions", positions)},
        )

    @property
    def lists(self) -> Any:
        """The lists of the last data set; None before the first round."""
        return None if self._kept is None else self._kept[1]

    def __getstate__(self) -> dict[str, Any]:
        return {"objective": self.objective, "rows": self.rows, "_kept": None}

    def _prepare(self, labels: Any, group: Any) -> Any:
        return self.objective.prepare(labels, group, **self.rows)

    def gradients(
        self, owner: Any, labels: Any, group: Any, scores: Any, weights: Any = None
    ) -> Any:
        """First and second derivatives of every row; `owner` is the object to which labels and
        group belong.
        """
        if self._kept is None or self._kept[0]() is not owner:
            try:
                kept = ref(owner)
            except TypeError:  # arrays of Python's own types have no weak references
                return self._prepare(labels, group).gradients(scores, weights=weights)
            self._kept = (kept, self._prepare(labels, group))
        return self._kept[1].gradients(scores, weights=weights)
