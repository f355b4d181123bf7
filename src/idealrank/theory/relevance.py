"""Model of relevance by position in a ranking, the basis of every statement of the theory."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from operator import itemgetter
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from idealrank._lazy import annotation
from idealrank.data.types import FloatArray
from idealrank.errors import IdealrankError, InputError, OptionError
from idealrank.measures.gains import GainLike, make_gain
from idealrank.theory.quadrature import integrate

Chance: TypeAlias = Callable[[FloatArray], FloatArray]
if TYPE_CHECKING:
    ModelLike: TypeAlias = "RelevanceModel | Chance | Mapping[float, Chance]"
else:  # the class comes below
    ModelLike = annotation(__name__, "RelevanceModel") | Chance | Mapping[float, Chance]

_GRID = np.linspace(0.0, 1.0, 257)  # canonical scores at which chances are checked
_MOST_GRADES = 255  # levels of simulated lists are bytes, 0 being no relevance
_SLACK = 1e-9  # what rounding may take a chance beyond 0 and 1


@dataclass(frozen=True)
class RelevanceModel:
    """Probability of each grade at each canonical score.

    The canonical score s of a document is the share of documents with a lower score: uniform on [0,
    1], 1 at the top (Wang et al., Lemma 3, which requires a ranker without ties). `ybar(s)` is the
    probability that a document of canonical score s is relevant.

    Parameters
    ----------
    gains : tuple of float
        Gain of each grade, falling: y_1 > y_2 > ... > y_q > 0. (1.0,) for binary relevance.
    chances : tuple of callable
        For each gain the probability P(Y = y_j | s), vectorised on [0, 1]. The remaining
        probability is that of gain 0.
    points : tuple of float
        Canonical scores at which a probability has a kink or a jump.

    Examples
    --------
    >>> model = RelevanceModel.of(lambda s: 0.1 + 0.8 * s)
    >>> model.expected(np.array([0.0, 1.0])), model.reached
    (array([0.1, 0.9]), (0.5,))
    """

    gains: tuple[float, ...]
    chances: tuple[Chance, ...]
    points: tuple[float, ...] = ()

    @classmethod
    def of(
        cls, ybar: ModelLike, *, points: Iterable[float] = (), gain: GainLike = "linear"
    ) -> "RelevanceModel":
        """Build a model from a function (binary relevance), or from a mapping of grades to
        functions.

        Parameters
        ----------
        ybar : callable, mapping or RelevanceModel
            A vectorised function on [0, 1] with values in [0, 1], or one for each grade above 0:
            ``{1: ..., 2: ...}``.
        points : iterable of float, optional
            Kinks or jumps of the functions, in (0, 1).
        gain : str, mapping or callable, optional
            Gain of each grade, see `make_gain`; binary relevance is grade 1.

        Raises
        ------
        InputError
            A function is not vectorised or has values outside [0, 1], or the probabilities of all
            grades sum to more than 1.
        OptionError
            Grades or gains are not above 0, more than 255, or not distinct; or the points are not
            in (0, 1).
        """
        if isinstance(ybar, RelevanceModel):
            return ybar
        by_grade = ybar if isinstance(ybar, Mapping) else {1.0: ybar}
        by_gain = [(_gain_of(grade, gain), chance) for grade, chance in by_grade.items()]
        by_gain.sort(key=itemgetter(0), reverse=True)
        gains = tuple(value for value, _ in by_gain)
        if not gains or len(set(gains)) < len(gains):
            raise OptionError(
                f"gains {gains}: expected a different gain for each grade, and at least one grade"
            )
        if len(gains) > _MOST_GRADES:
            raise OptionError(
                f"found {len(gains)} grades, expected at most {_MOST_GRADES}; round them to fewer"
            )
        model = cls(gains, tuple(chance for _, chance in by_gain), _checked_points(points))
        model._check()
        return model

    def _check(self) -> None:
        total = np.zeros(_GRID.size)
        for gain, chance in zip(self.gains, self.chances, strict=True):
            name = f"the probability of gain {gain:g}" if len(self.gains) > 1 else "ybar"
            total += _checked_chance(chance, name)
        if total.max() > 1 + _SLACK:
            raise InputError(
                f"the probabilities of all grades sum to {total.max():g} at s = "
                f"{_GRID[total.argmax()]:g}, expected at most 1"
            )

    def expected(self, score: FloatArray) -> FloatArray:
        """Return E[Y | s], the expected gain at each canonical score, in the shape of `score`;
        ybar(s) for binary relevance.
        """
        total: FloatArray = np.zeros(np.shape(score))
        for gain, chance in zip(self.gains, self.chances, strict=True):
            total = total + gain * values_of(chance, score)
        return total

    def expected_from_top(self, depth: FloatArray) -> FloatArray:
        """Return E[Y | s = 1 - depth]: the expected gain at a share `depth` of the list, counted
        from its top.
        """
        return self.expected(1.0 - np.asarray(depth, np.float64))

    @property
    def depths(self) -> tuple[float, ...]:
        """The points, counted from the top of the list."""
        return tuple(sorted(1.0 - point for point in self.points))

    @cached_property
    def reached(self) -> tuple[float, ...]:
        """R_j = P(Y >= y_j), rising; the last is the share of documents with a gain, p for binary
        relevance.
        """
        shares = [
            integrate(partial(values_of, chance), 0.0, 1.0, points=self.points)
            for chance in self.chances
        ]
        return tuple(min(float(total), 1.0) for total in np.cumsum(shares))

    @cached_property
    def steps(self) -> tuple[tuple[float, float], ...]:
        """The gains that occur, falling, each with R_j: the ideal list is these steps. A gain of
        chance 0 everywhere is left out.
        """
        steps: list[tuple[float, float]] = []
        before = 0.0
        for gain, reached in zip(self.gains, self.reached, strict=True):
            if reached > before:
                steps.append((gain, reached))
                before = reached
        return tuple(steps)

    @property
    def share(self) -> float:
        """P(Y > 0): p for binary relevance."""
        return self.reached[-1]

    @property
    def at_top(self) -> float:
        """E[Y | s = 1]: the expected gain at the very top."""
        return float(self.expected(np.array([1.0]))[0])


def values_of(chance: Chance, score: FloatArray) -> FloatArray:
    """A chance at each canonical score; a function that gives one number is a constant."""
    values = np.asarray(chance(score), np.float64)
    if values.shape not in {(), np.shape(score)}:
        raise InputError(
            f"a probability gave shape {values.shape} for scores of shape {np.shape(score)}; "
            f"expected one value for each score"
        )
    return np.broadcast_to(values, np.shape(score))


def _gain_of(grade: float, gain: GainLike) -> float:
    if not grade > 0:
        raise OptionError(
            f"grade {grade:g} of a model: expected grades above 0; grade 0 has the remaining "
            f"probability"
        )
    value = float(make_gain(gain)(np.array([float(grade)]))[0])
    if not 0 < value < np.inf:
        raise OptionError(f"gain {value:g} of grade {grade:g}: the theory is about gains above 0")
    return value


def _checked_points(points: Iterable[float]) -> tuple[float, ...]:
    scores = tuple(sorted({float(point) for point in points}))
    if any(not 0 < point < 1 for point in scores):
        raise OptionError(f"points={list(scores)}: expected canonical scores between 0 and 1")
    return scores


def _on_grid(chance: Chance, name: str) -> FloatArray:
    """Values on a grid; a function of single numbers, which is the usual slip, is told from one
    that is at fault itself.
    """
    try:
        return values_of(chance, _GRID)
    except (TypeError, ValueError) as error:
        if isinstance(error, IdealrankError):
            raise
        try:
            float(chance(0.5))  # type: ignore[arg-type]
        except Exception:  # noqa: BLE001  (whatever it is, the first error says more)
            raise error from None
        raise InputError(
            f"{name} takes single numbers only, expected a vectorised function of canonical "
            "scores: numpy.where in place of if, numpy.exp in place of math.exp, or "
            "numpy.vectorize(ybar, otypes=[float])"
        ) from None


def _checked_chance(chance: Chance, name: str) -> FloatArray:
    """Values on a grid, checked."""
    if not callable(chance):
        raise InputError(
            f"{name}: found {chance!r}, expected a vectorised function of canonical scores, as in "
            "`lambda s: 0.1 + 0.8 * s`"
        )
    values = _on_grid(chance, name)
    wrong = ~((values >= -_SLACK) & (values <= 1 + _SLACK))
    if wrong.any():
        index = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"{name} is {values[index]:g} at s = {_GRID[index]:g}, expected probabilities from "
            "0 to 1"
        )
    return values


def over_steps(model: RelevanceModel, size: Callable[[float], float], first: float = 0.0) -> float:
    """sum_j y_j (size(R_j) - size(R_(j-1))): what the ideal list has, if size(x) is what its top x
    has for each unit of gain; `first` is size(R_0).
    """
    total = 0.0
    before = first
    for gain, reached in model.steps:
        size_reached = size(reached)
        total += gain * (size_reached - before)
        before = size_reached
    return total
