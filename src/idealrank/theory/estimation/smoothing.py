"""Chances of relevance along a list, from labels: by bins, by a kernel, or as a rising function."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from scipy.optimize import isotonic_regression

from idealrank.data.types import BoolArray, FloatArray, IntArray

_CELLS = 512  # a kernel sees documents gathered in so many places
# weights made at a time: few enough bytes that malloc does not ask the system for them
_WEIGHTS = 3 << 12
GRID = 101  # where it is evaluated
LEAST_WEIGHT = 1e-9  # below it a line has no two places to go through


@dataclass(frozen=True)
class Cells:
    """Documents gathered by canonical score."""

    score: FloatArray
    count: FloatArray
    reached: FloatArray  # shape (n_grades, n_cells): documents of each grade or a higher one

    def of(self, mask: BoolArray) -> "Cells":
        """Return some cells alone."""
        return Cells(score=self.score[mask], count=self.count[mask], reached=self.reached[:, mask])

    def gathered(self, code: IntArray, size: int) -> "Cells":
        """Cells with the same code made one, at their mean score; those without documents stay,
        with NaN for a score.
        """
        count = np.bincount(code, weights=self.count, minlength=size).astype(np.float64)
        reached = np.stack(
            [np.bincount(code, weights=row, minlength=size) for row in self.reached]
        ).astype(np.float64)
        with np.errstate(invalid="ignore"):
            score = np.bincount(code, weights=self.count * self.score, minlength=size) / count
        return Cells(score=score, count=count, reached=reached)


@dataclass(frozen=True)
class Curves:
    """Chances of each grade or a higher one at any canonical score: steps between edges, or lines
    between knots.
    """

    kind: Literal["steps", "lines"]
    knots: FloatArray
    values: FloatArray

    def at(self, grade: int, score: FloatArray) -> FloatArray:
        """The chance of a grade, by its place, or a higher one."""
        return along(self.kind, self.knots, self.values[grade], score)

    @cached_property
    def points(self) -> tuple[float, ...]:
        """Where they have jumps or kinks."""
        return tuple(self.knots[1:-1].tolist())


def along(
    kind: Literal["steps", "lines"], knots: FloatArray, values: FloatArray, score: FloatArray
) -> FloatArray:
    """Values at canonical scores, constant between edges or linear between knots."""
    if kind == "lines":
        interpolated: FloatArray = np.interp(score, knots, values)
        return interpolated
    step = np.clip(np.searchsorted(knots, score, side="right") - 1, 0, values.size - 1)
    return values[step]


class Smoother(Protocol):
    """Makes curves of documents."""

    def fit(self, cells: Cells) -> Curves: ...


def step_of(edges: FloatArray, score: FloatArray) -> IntArray:
    """Return the step of each score; the last step takes its upper edge."""
    return np.clip(np.searchsorted(edges, score, side="right") - 1, 0, edges.size - 2)


@dataclass(frozen=True)
class Binned:
    """The share of relevant documents in each bin."""

    edges: tuple[float, ...]

    def fit(self, cells: Cells) -> Curves:
        """A step for each bin; a bin without documents, as resampling can make, takes what lies
        between its neighbours.
        """
        edges = np.array(self.edges)
        bins = cells.gathered(step_of(edges, cells.score), edges.size - 1)
        filled = bins.count > 0
        middle = (edges[1:] + edges[:-1]) / 2
        shares = [
            np.interp(middle, middle[filled], row[filled] / bins.count[filled])
            for row in bins.reached
        ]
        return Curves("steps", edges, np.stack(shares))


@dataclass(frozen=True)
class Kernel:
    """Local linear regression with the Epanechnikov kernel, on a grid; it needs no correction at
    the ends.

    Fan and Gijbels (1996), Local Polynomial Modelling and Its Applications, section 3.2.
    """

    bandwidth: float

    def fit(self, cells: Cells) -> Curves:
        """Lines between the knots of the grid, cut to [0, 1]; a knot with no two places near takes
        what lies between its neighbours.
        """
        gathered = near(cells)
        weights = self.weights(gathered)
        total = np.einsum("gc,c->g", weights, gathered.count)
        reached = np.einsum("lc,gc->lg", gathered.reached, weights)
        if not (total > LEAST_WEIGHT).any():
            total = np.full(_GRID.size, gathered.count.sum())
            reached = np.repeat(gathered.reached.sum(axis=1, keepdims=True), _GRID.size, axis=1)
        known = total > LEAST_WEIGHT  # knots at which a line is determined
        shares = np.stack(
            [np.interp(_GRID, _GRID[known], row[known] / total[known]) for row in reached]
        )
        return Curves("lines", _GRID, np.maximum.accumulate(np.clip(shares, 0.0, 1.0), axis=0))

    def weights(self, cells: Cells, at: FloatArray | None = None) -> FloatArray:
        """The weight of a document of each cell at each place, shape (n_places, n_cells), but for a
        factor; default on the grid.
        """
        places = _GRID if at is None else at
        weights = np.zeros((places.size, cells.score.size))
        rows = max(1, _WEIGHTS // max(1, cells.score.size))
        for first in range(0, places.size, rows):
            self._weigh(cells, places[first : first + rows, None], weights[first : first + rows])
        return weights

    def _weigh(self, cells: Cells, at: FloatArray, weights: FloatArray) -> None:
        """Write the weights at some places, shape (n_places, 1), over zeros; until then `weights`
        holds products, and is summed whole.

        Cells out of reach of all these places keep their zeros.
        """
        # The kernel is 0 beyond the bandwidth; 1.01 of it leaves room for rounding.
        lowest = at.min() - 1.01 * self.bandwidth
        highest = at.max() + 1.01 * self.bandwidth
        first_cell, last_cell = np.searchsorted(cells.score, [lowest, highest])
        reach = slice(first_cell, last_cell)
        distance = cells.score[reach] - at
        in_reach = weights[:, reach]
        kernel = distance / self.bandwidth
        kernel *= kernel
        np.subtract(1, kernel, out=kernel)
        np.maximum(kernel, 0.0, out=kernel)
        # Weight of a document at distance d: K(d) (S2 - d S1), with the sums S1 of K d and S2 of
        # K d^2 over all documents. `in_reach` is a part of `weights`, whose rows are summed whole,
        # so that the order of the additions does not depend on the cells in reach.
        counted = kernel * cells.count[reach]
        np.multiply(counted, distance, out=in_reach)
        s1 = weights.sum(axis=1, keepdims=True)
        np.multiply(distance, distance, out=in_reach)
        np.multiply(counted, in_reach, out=in_reach)
        s2 = weights.sum(axis=1, keepdims=True)
        distance *= s1
        np.subtract(s2, distance, out=distance)
        np.multiply(kernel, distance, out=in_reach)


_GRID = np.linspace(0.0, 1.0, GRID)


def near(cells: Cells, most: int = _CELLS) -> Cells:
    """At most `most` cells, none empty."""
    gathered = cells.gathered(place_of(cells.score, most), most)
    return gathered.of(gathered.count > 0)


def place_of(score: FloatArray, cells: int = _CELLS) -> IntArray:
    """Return the cell of each score among equal cells."""
    return np.minimum((score * cells).astype(np.int64), cells - 1)


@dataclass(frozen=True)
class Isotonic:
    """The rising function with the greatest likelihood: pool adjacent violators, on the documents
    of either end pooled beforehand.
    """

    ends: float

    def fit(self, cells: Cells) -> Curves:
        """A step for each stretch of equal values, with edges halfway between cells."""
        pooled = self.pooled(cells)
        score = pooled.score
        values = np.stack(
            [
                isotonic_regression(row / pooled.count, weights=pooled.count).x
                for row in pooled.reached
            ]
        )
        values = np.maximum.accumulate(np.clip(values, 0.0, 1.0), axis=0)
        breaks = np.flatnonzero((np.diff(values, axis=1) != 0).any(axis=0))
        # The ends of the pooled stretches are known; elsewhere an edge lies halfway between cells.
        middle = (score[1:] + score[:-1]) / 2
        if self.ends:
            middle = np.clip(middle, self.ends, 1 - self.ends)
        edges = np.concatenate(([0.0], middle[breaks], [1.0]))
        return Curves("steps", edges, values[:, np.append(breaks, score.size - 1)])

    def pooled(self, cells: Cells) -> Cells:
        """The cells with documents, those within `ends` of 0 made one, and those within it of 1."""
        low = cells.score < self.ends
        high = cells.score > 1 - self.ends
        code = np.cumsum(~low & ~high).astype(np.int64) + high.astype(np.int64)
        gathered = cells.gathered(code, int(code.max()) + 1)
        return gathered.of(gathered.count > 0)
