"""The n-th largest of very many streamed values, column by column, in memory that hardly grows with
their number.

A few draws say roughly where the n-th largest lies; a look at more of them keeps only what is near
it, and counts what is above. The draws can be made again, so a look that missed (five standard
errors: less than one in a million) is followed by another.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from idealrank.data.segments import starts_of
from idealrank.data.types import FloatArray, IntArray

# Called with a number of draws and a function of blocks (draws, columns); gives what the function
# made of each block, in order. The same draws every time, and the first ones do not depend on their
# number.
Stream: TypeAlias = Callable[[int, Callable[[FloatArray], Any]], Iterator[Any]]
Count: TypeAlias = Callable[[FloatArray], IntArray]

_PILOT = 4096  # draws of the first look, fewer for very many columns
_PILOT_VALUES = 1 << 21
_GROWTH = 16  # from one look to the next
_ERRORS = 5.0  # standard errors of a rank on either side
_HELD = 1 << 20  # values near the n-th largest before equal ones are counted instead of kept
FEW_VALUES = 1 << 21  # in all: kept and sorted
_FEW_COLUMNS = 64  # counted one after another


class TailBlock(NamedTuple):
    """Values of one block near the n-th largest with their columns, and counts of others."""

    above: IntArray
    counted: IntArray
    column: "np.ndarray[tuple[int], np.dtype[np.int32]]"
    value: FloatArray


class Tail(NamedTuple):
    """The n-th largest value of each column, and further counts."""

    end: FloatArray
    counted: IntArray


def from_zero(values: FloatArray) -> IntArray:
    """Count the values of each column that are 0 or larger."""
    counted = values >= 0
    if counted.shape[1] > _FEW_COLUMNS:
        return np.asarray(np.count_nonzero(counted, axis=0), np.int64)
    # several times as fast as along an axis
    return np.array([np.count_nonzero(column) for column in counted.T], np.int64)


def nth_largest(
    stream: Stream, rank: int, n_draws: int, columns: int, count: Count = from_zero
) -> Tail:
    """The value at a rank from the top, exactly, of each column of a stream."""
    if n_draws * columns <= FEW_VALUES:
        return _of_all(stream, rank, n_draws, count)
    low = np.full(columns, -np.inf)
    high = np.full(columns, np.inf)
    for size in _first_looks(n_draws, columns):
        expected = rank * size / n_draws
        spread = _ERRORS * np.sqrt(expected * max(1 - expected / size, 0)) + 1
        near = _Near(low, high, count).fed(stream, size)
        low, high = near.bracket(expected - spread, expected + spread)
    end = np.full(columns, np.nan)
    near = _Near(low, high, count).fed(stream, n_draws)
    # A bracket that missed the rank of a column is opened on the side where it lies; NaN marks it.
    while True:
        end = np.where(np.isnan(end), near.at_rank(rank), end)
        missed = np.isnan(end)
        if not missed.any():
            return Tail(end, near.counted)
        above = missed & (near.above >= rank)
        next_low = np.where(above, high, np.where(missed, -np.inf, np.inf))
        next_high = np.where(missed & ~above, low, np.inf)
        low, high = next_low, next_high
        near = _Near(low, high, count).fed(stream, n_draws)


def _of_all(stream: Stream, rank: int, n_draws: int, count: Count) -> Tail:
    values = np.concatenate(list(stream(n_draws, np.transpose)), axis=1)
    counted = count(values.T)
    values.partition(n_draws - rank, axis=1)
    return Tail(values[:, n_draws - rank].copy(), counted)


def _first_looks(n_draws: int, columns: int) -> list[int]:
    """Return the number of draws before each look: a small share of the next."""
    pilot = min(_PILOT, max(256, _PILOT_VALUES // columns))
    sizes = [n_draws]
    while sizes[0] > 2 * pilot:
        sizes.insert(0, max(pilot, -(-sizes[0] // _GROWTH)))
    return sizes[:-1]


def _emptied(parts: "list[Any]") -> Any:
    """Join the parts and let go of them, so that no value is held twice while they are sorted."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


class _Near:
    """Values in [low, high) of each column, equal ones counted where there are many, and how many
    are above.
    """

    def __init__(self, low: FloatArray, high: FloatArray, count: Count) -> None:
        self.low = low
        self.high = high
        self._count = count
        self.above: Any = 0
        self.counted: Any = 0
        self._columns: list[IntArray] = []
        self._values: list[FloatArray] = []
        self._counts: list[IntArray] = []
        self._n_held = 0
        self._most_held = _HELD

    def fed(self, stream: Stream, size: int) -> "_Near":
        """Return itself, after a look at the first draws."""
        for block in stream(size, self._look):
            self.above = self.above + block.above
            self.counted = self.counted + block.counted
            self._columns.append(block.column.astype(np.int64))
            self._values.append(block.value)
            self._counts.append(np.ones(block.value.size, np.int64))
            self._n_held += block.value.size
            if self._n_held > self._most_held:
                self._count_equal()
        self._count_equal()
        return self

    def _look(self, values: FloatArray) -> TailBlock:
        columns = np.ascontiguousarray(values.T)
        above = columns >= self.high[:, None]
        near = columns >= self.low[:, None]
        near &= ~above
        near_indices = np.flatnonzero(near)
        column = (near_indices // len(values)).astype(np.int32)
        return TailBlock(
            above=np.asarray(np.count_nonzero(above, axis=1)),
            counted=self._count(columns.T),
            column=column,
            value=columns.ravel()[near_indices],
        )

    def _count_equal(self) -> None:
        if not self._values:
            return
        column = _emptied(self._columns)
        value = _emptied(self._values)
        count = _emptied(self._counts)
        order = np.lexsort((-value, column))
        column = column[order]
        value = value[order]
        count = count[order]
        starts = starts_of(column, value)
        if starts.size:
            count = np.add.reduceat(count, starts)
        self._columns = [column[starts]]
        self._values = [value[starts]]
        self._counts = [count]
        self._n_held = starts.size
        self._most_held = max(_HELD, 2 * self._n_held)

    def at_rank(self, rank: float) -> FloatArray:
        """The value at a rank of each column; infinity where it is above everything, NaN where it
        is not among those near.
        """
        values_at_rank = np.where(
            self.above >= rank, np.where(np.isposinf(self.high), np.inf, np.nan), np.nan
        )
        if not self._values or not self._values[0].size:
            return values_at_rank
        column = self._columns[0]
        value = self._values[0]
        count = self._counts[0]
        first = np.searchsorted(column, np.arange(self.low.size))
        reached = np.cumsum(count)
        before = np.concatenate([[0], reached])[first]
        rank_inside = rank - self.above
        index = np.searchsorted(reached, before + rank_inside)
        end = np.append(first[1:], value.size)
        inside = (rank_inside > 0) & (index < end)
        values_at_rank[inside] = value[index[inside]]
        return values_at_rank

    def bracket(self, best: float, worst: float) -> tuple[FloatArray, FloatArray]:
        """A narrower [low, high) that holds the ranks from `best` to `worst` of these values."""
        low = self.at_rank(np.ceil(worst))
        high = self.at_rank(np.floor(best)) if best >= 1 else np.full(self.low.size, np.inf)
        low = np.where(np.isnan(low), self.low, low)
        high = np.where(np.isnan(high), self.high, np.nextafter(high, np.inf))
        return low, high
