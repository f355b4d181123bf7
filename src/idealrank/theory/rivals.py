"""Two rankers before the same growing list: which of them has the larger DCG at each size."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError
from idealrank.measures.gains import GainLike, make_gain
from idealrank.theory.relevance import Chance, ModelLike, RelevanceModel, values_of
from idealrank.theory.weighting import Levels, WeightTable, gains_of

# Of the difference between a and b: 1, 0 or -1.
Signs: TypeAlias = npt.NDArray[np.int8]

_CELLS = 1 << 14  # of the inverse distribution functions; each cell has its exact mass, so its inside is all that is approximate
_ROUNDING = 1e-14  # relative: DCGs that are closer differ by how they were summed
_SAME_SHARE = 1e-6


class Rivals(Protocol):
    """Two rankers and the documents they rank."""

    @property
    def documents(self) -> int | None: ...  # None where there is no end of them
    def signs(self, sizes: IntArray, tables: Sequence[Sequence[WeightTable]], rng: np.random.Generator) -> Signs: ...


def sign_of(a: float, b: float) -> int:
    """1 where a is the larger, -1 where b is, 0 where rounding alone tells them apart.

    Examples
    --------
    >>> sign_of(2.0, 1.0), sign_of(1.0, 1.0 + 1e-16), sign_of(0.5, 1.0)
    (1, 0, -1)
    """
    return 0 if abs(a - b) <= _ROUNDING * max(abs(a), abs(b)) else 1 if a > b else -1


@dataclass(frozen=True)
class ModelRivals:
    """Two models of relevance with one share of each grade; the scores are independent given the relevance of a document.

    Then the places of the relevant documents in the order of one ranker say nothing about those in the order of the other, beyond
    how many there are: each order can be drawn by itself, given the counts.
    """

    gains: FloatArray  # of each level, rising from 0
    shares: FloatArray  # of each level
    quantiles: tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]  # by ranker and level: distribution function on its grid
    grids: tuple[FloatArray, FloatArray]

    documents: None = None

    @classmethod
    def of(cls, a: ModelLike, b: ModelLike, points: Iterable[float], gain: GainLike) -> "ModelRivals":
        """From two models.

        Raises
        ------
        InputError
            Their gains or their shares of a grade differ: they cannot be about the same documents.
        """
        first, second = (RelevanceModel.of(model, points=points, gain=gain) for model in (a, b))
        if first.gains != second.gains:
            raise InputError(f"a has gains {first.gains} and b {second.gains}; expected the same, for both rank the same documents")
        apart = np.abs(np.subtract(first.reached, second.reached))
        if apart.max() > _SAME_SHARE:
            at = int(apart.argmax())
            raise InputError(
                f"P(Y >= {first.gains[at]:g}) is {first.reached[at]:.9g} under a and {second.reached[at]:.9g} under b; expected the same, "
                "for both rank the same documents: the mean of ybar over [0, 1] is the share of relevant ones"
            )
        upto = np.array([*first.reached[::-1], 0.0])
        shares = np.concatenate(([1.0 - upto[0]], upto[:-1] - upto[1:]))
        grids = tuple(_grid(model) for model in (first, second))
        quantiles = tuple(_distributions(model, grid) for model, grid in zip((first, second), grids, strict=True))
        return cls(np.array([0.0, *first.gains[::-1]]), shares / shares.sum(), cast("Any", quantiles), cast("Any", grids))

    def signs(self, sizes: IntArray, tables: Sequence[Sequence[WeightTable]], rng: np.random.Generator) -> Signs:
        """Of one growing list: shape (n_sizes, n_measures)."""
        counts = [rng.multinomial(int(sizes[-1]), self.shares)]
        for size in sizes[-2::-1].tolist():
            counts.append(rng.multivariate_hypergeometric(counts[-1], size))
        arrived = np.array(counts[::-1])
        values = [self._grown(which, arrived, tables, rng) for which in (0, 1)]
        signs = [[sign_of(a, b) for a, b in zip(*row, strict=True)] for row in zip(*values, strict=True)]
        return np.array(signs, np.int8)

    def _grown(self, which: int, arrived: IntArray, tables: Sequence[Sequence[WeightTable]], rng: np.random.Generator) -> list[list[float]]:
        """DCG of one ranker at each size; `arrived` has how many documents of each level are there by then."""
        levels = self._ranked(which, arrived[-1], rng)
        since = np.empty(levels.size, np.int64)  # the first size at which a document is there
        for level, count in enumerate(np.diff(arrived, axis=0, prepend=0).T):
            since[levels == level] = rng.permutation(np.repeat(np.arange(count.size), count))
        rows = []
        for at in range(len(tables) - 1, -1, -1):
            there = since <= at
            levels, since = np.compress(there, levels), np.compress(there, since)  # much faster than levels[there]
            rows.append(dcgs(gains_of(levels, self.gains), tables[at]))
        return rows[::-1]

    def _ranked(self, which: int, counts: IntArray, rng: np.random.Generator) -> Levels:
        """Levels in the order of one ranker."""
        grid, parts = self.grids[which], []
        for count, distribution in zip(counts.tolist(), self.quantiles[which], strict=True):
            steps = np.cumsum(rng.standard_exponential(count + 1))
            parts.append(np.interp(steps[:-1] / steps[-1], distribution, grid))  # rising: each part is in order already
        order = np.argsort(np.concatenate(parts), kind="stable")  # merges what is in order
        return np.repeat(np.arange(counts.size, dtype=np.uint8), counts)[order[::-1]]


def _grid(model: RelevanceModel) -> FloatArray:
    return np.unique(np.concatenate((np.linspace(0.0, 1.0, _CELLS + 1), model.points)))


def _distributions(model: RelevanceModel, grid: FloatArray) -> tuple[FloatArray, ...]:
    """Distribution function of the score at each level on a grid: that of gain 0 first, then as the gains rise."""
    chances: list[Callable[[FloatArray], FloatArray]] = [partial(values_of, chance) for chance in model.chances[::-1]]
    chances.insert(0, lambda score: 1.0 - _total(model.chances, score))
    return tuple(_distribution(chance, grid) for chance in chances)


def _total(chances: Sequence[Chance], score: FloatArray) -> FloatArray:
    total = np.zeros(score.shape)
    for chance in chances:
        total += values_of(chance, score)
    return total


def _distribution(chance: Callable[[FloatArray], FloatArray], grid: FloatArray) -> FloatArray:
    nodes, weights = np.polynomial.legendre.leggauss(4)
    half, middle = np.diff(grid) / 2, (grid[1:] + grid[:-1]) / 2
    values = np.maximum(chance((middle[:, None] + half[:, None] * nodes).reshape(-1)), 0.0).reshape(-1, nodes.size)
    upto = np.concatenate(([0.0], np.cumsum((values * weights).sum(axis=1) * half)))
    return upto / upto[-1] if upto[-1] > 0 else grid  # a level that never occurs


def dcgs(gains: FloatArray, tables: Sequence[WeightTable]) -> list[float]:
    """DCG of one list under each table."""
    return [float((gains[: table.weights.size] * table.weights).sum()) for table in tables]


@dataclass(frozen=True)
class ScoreRivals:
    """Two columns of scores and the labels of the documents, whose lists are the first documents of random orders."""

    orders: tuple["_Order", "_Order"]
    documents: int

    @classmethod
    def of(cls, a: Any, b: Any, labels: Any, gain: GainLike) -> "ScoreRivals":
        """From arrays, shape (n,).

        Raises
        ------
        InputError
            They are no numbers of one length; a gain is below 0, or all documents have the same.
        """
        label, first, second = (_column(name, values) for name, values in (("labels", labels), ("a", a), ("b", b)))
        if not label.size == first.size == second.size:
            raise InputError(f"found {label.size} labels and scores of {first.size} and {second.size} documents; expected one length")
        gains = np.asarray(make_gain(gain)(label), np.float64)
        if (gains < 0).any():
            raise InputError(f"labels: a gain is {gains.min():g}; expected gains of 0 or more")
        if not label.size or gains.min() == gains.max():
            found = f"all {label.size} documents have gain {gains[0]:g}" if label.size else "no document"
            raise InputError(f"labels: {found}; expected some relevant and some that are not, else every order has the same value")
        return cls((_Order.of(first, gains), _Order.of(second, gains)), label.size)

    def signs(self, sizes: IntArray, tables: Sequence[Sequence[WeightTable]], rng: np.random.Generator) -> Signs:
        """Of one random order of the documents: shape (n_sizes, n_measures)."""
        arrival = rng.permutation(self.documents)
        found = np.zeros((sizes.size, len(tables[0])), np.int8)
        for at, size in enumerate(sizes.tolist()):
            both = [order.dcgs(arrival, size, tables[at]) for order in self.orders]
            found[at] = [sign_of(a, b) for a, b in zip(*both, strict=True)]
        return found


@dataclass(frozen=True)
class _Order:
    """Documents by falling score, their gains, and a number for each score; None if all differ."""

    documents: IntArray
    gains: FloatArray
    groups: IntArray | None

    @classmethod
    def of(cls, scores: FloatArray, gains: FloatArray) -> "_Order":
        documents = np.argsort(-scores, kind="stable")
        new = np.diff(scores[documents]) != 0
        groups = None if new.all() else np.concatenate(([0], np.cumsum(new)))
        return cls(documents, gains[documents], groups)

    def dcgs(self, arrival: IntArray, size: int, tables: Sequence[WeightTable]) -> list[float]:
        """DCG of the first documents to arrive; tied ones weigh the mean of their ranks, as over all their orders."""
        kept = arrival[self.documents] < size
        gains = np.compress(kept, self.gains)
        if self.groups is None:
            return dcgs(gains, tables)
        groups = np.compress(kept, self.groups)
        ends = np.append(np.flatnonzero(np.diff(groups)) + 1, size)
        starts = np.concatenate(([0], ends[:-1]))
        totals = np.add.reduceat(gains, starts)
        values = []
        for table in tables:
            upto = table.sums[np.minimum(np.concatenate(([0], ends)), table.weights.size)]
            values.append(float((totals * np.diff(upto) / (ends - starts)).sum()))
        return values


def _column(name: str, values: Any) -> FloatArray:
    try:
        column = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        column = np.empty((0, 0))
    if column.ndim != 1:
        raise InputError(f"{name}: expected numbers in one row, one for each document; without labels, a and b are models of relevance")
    if not np.isfinite(column).all():
        at = int(np.flatnonzero(~np.isfinite(column))[0])
        raise InputError(f"{name}[{at}] is {column[at]}; expected finite numbers")
    return column
