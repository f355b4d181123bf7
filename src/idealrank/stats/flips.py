"""Random sign flips: the sum over the flipped units, for many columns under the same signs, a block of draws at a time.

A draw flips each unit (a query, or a cluster of them) with probability one half. With S the flipped units, ``T* = T - 2 sum_S`` is
the total under the flipped signs: the sum over S is all that a test needs, and the means over S are what its inversion needs.

Eight units share a byte of random bits and a table of their 256 subset sums, so a draw costs one row of a table for every eight
units. Columns hold whole numbers (`whole.as_whole`): sums are exact, whatever the order.
"""

from collections.abc import Callable, Iterator
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from idealrank import _kernel
from idealrank.data.types import FloatArray
from idealrank.stats.randomness import RandomLike, generator_of
from idealrank.stats.threads import in_order

Result = TypeVar("Result")
Part: TypeAlias = tuple[slice, FloatArray]

DRAWS = 2048  # of a block, whatever is asked: the first draws do not depend on how many follow
_COLUMNS = 32  # summed at a time: a block of them stays in the cache
MOST_UNITS = 20  # of an enumeration: a million sign vectors


class Flips:
    """Units that each draw flips.

    Parameters
    ----------
    n_units : int
        Units, at least 1.
    rng : Generator, seed or None
        One child of it for each block of draws. A generator is advanced.

    Examples
    --------
    >>> flips = Flips(4, rng=1)
    >>> sums = np.concatenate(list(flips.map(np.array([[1.0], [2.0], [4.0], [8.0]]), 1000, np.copy)))
    >>> sums.shape, np.unique(sums).tolist() == list(range(16))
    ((1000, 1), True)
    """

    def __init__(self, n_units: int, rng: RandomLike = None) -> None:
        self.n_units = n_units
        sequence = generator_of(rng).bit_generator.seed_seq.spawn(1)[0]  # type: ignore[attr-defined]
        self._entropy, self._key = sequence.entropy, sequence.spawn_key

    def map(
        self, columns: FloatArray, n_draws: int, work: Callable[[FloatArray], Result], *, threads: int | None = None
    ) -> Iterator[Result]:
        """Apply `work` to each block of subset sums, in the order of the draws.

        Asking again gives the same draws again: nothing needs to be kept for a second look.

        Parameters
        ----------
        columns : float64 array, shape (n_units, columns)
            Whole numbers whose absolute values sum to less than 2^53 in each column.
        n_draws : int
            Draws, from the first.
        work : callable
            Called on threads with the sums over the flipped units, float64 (draws, columns); it may change them.
        threads : int, optional
            Number of threads; None or 0 uses all cores.

        Yields
        ------
        what `work` returned
        """
        columns = np.ascontiguousarray(columns, np.float64)

        def one(block: int) -> Result:
            return work(self._sums(columns, block)[: n_draws - block * DRAWS])

        return in_order(one, -(-n_draws // DRAWS), threads)

    def map_parts(
        self, columns: FloatArray, n_draws: int, work: Callable[[Iterator[Part]], Result], *, threads: int | None = None
    ) -> Iterator[Result]:
        """Like `map`, for so many columns that their sums should never exist all at once.

        Parameters
        ----------
        columns, n_draws, threads
            As in `map`.
        work : callable
            Called on threads with an iterator over parts of the columns: the slice of columns and their sums, float64 (draws, columns
            of the part), which it may change. The parts of one call share their draws.

        Yields
        ------
        what `work` returned

        Examples
        --------
        >>> flips = Flips(3, rng=1)
        >>> columns = np.arange(120.0).reshape(3, 40)
        >>> [block] = flips.map_parts(columns, 10, lambda parts: [(part.start, sums.shape) for part, sums in parts])
        >>> block
        [(0, (10, 32)), (32, (10, 8))]
        """
        columns = np.ascontiguousarray(columns, np.float64)

        def one(block: int) -> Result:
            kept = n_draws - block * DRAWS
            return work((part, sums[:kept]) for part, sums in self._parts(columns, block))

        return in_order(one, -(-n_draws // DRAWS), threads)

    def _sums(self, columns: FloatArray, block: int) -> FloatArray:
        width = columns.shape[1]
        if width <= _COLUMNS:
            return next(self._parts(columns, block))[1]
        sums = np.empty((DRAWS, width))
        for part, of_part in self._parts(columns, block):
            sums[:, part] = of_part
        return sums

    def _parts(self, columns: FloatArray, block: int) -> Iterator[Part]:
        flipped = self._bytes(block)
        for first in range(0, columns.shape[1], _COLUMNS):
            part = slice(first, first + _COLUMNS)
            some = np.ascontiguousarray(columns[:, part])
            sums = np.empty((DRAWS, some.shape[1]))
            _kernel.sum_subsets(some, flipped, sums)
            yield part, sums

    def _bytes(self, block: int) -> npt.NDArray[np.uint8]:
        """Random bits, a byte for each eight units and draw: shape (groups, DRAWS)."""
        child = np.random.SeedSequence(self._entropy, spawn_key=(*self._key, block))
        groups = -(-self.n_units // 8)
        raw = np.random.PCG64(child).random_raw(groups * DRAWS // 8)
        return raw.astype("<u8", copy=False).view(np.uint8).reshape(groups, DRAWS)


class AllFlips(Flips):
    """Every sign vector once: 2^n_units draws, for at most 20 units.

    The order is scattered, so that the first draws look like any others.

    Examples
    --------
    >>> every = AllFlips(2)
    >>> np.sort(np.concatenate(list(every.map(np.array([[1.0], [2.0]]), every.n_draws, np.copy))), axis=0).ravel()
    array([0., 1., 2., 3.])
    """

    def __init__(self, n_units: int) -> None:
        self.n_units = n_units
        self.n_draws = 1 << n_units

    def _bytes(self, block: int) -> npt.NDArray[np.uint8]:
        scatter = int(0.6180339887498949 * self.n_draws) | 1  # odd: every number once
        draws = np.arange(block * DRAWS, (block + 1) * DRAWS) * scatter % self.n_draws
        groups = -(-self.n_units // 8)
        return np.stack([(draws >> 8 * group & 255).astype(np.uint8) for group in range(groups)])
