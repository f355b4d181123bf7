"""Random sign flips whose sums are kept, so that families of tests on the same queries add each
column up once.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.stats.randomness import RandomLike, in_order
from idealrank.stats.sign_flips import DRAWS, Flips, Part

Result = TypeVar("Result")

_MOST_COLUMNS, _MOST_DRAWS = 32, 1 << 17  # 32 MB of sums


class SharedFlips:
    """A seed of flips, for tests that flip the same units: in the place of a seed it gives the same
    numbers.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._flips: KeptFlips | None = None

    def of(self, n_units: int) -> "KeptFlips":
        """Return the flips of so many units, and let flips of another number go."""
        if self._flips is None or self._flips.n_units != n_units:
            self._flips = KeptFlips(n_units, self._seed)
        return self._flips


def flips_of(n_units: int, rng: "RandomLike | SharedFlips") -> Flips:
    """Flips by a seed or generator, or shared ones."""
    return rng.of(n_units) if isinstance(rng, SharedFlips) else Flips(n_units, rng)


class KeptFlips(Flips):
    """Flips that remember the sums of each column; many columns or draws are summed anew, as by
    `Flips`.
    """

    def __init__(self, n_units: int, rng: RandomLike = None) -> None:
        super().__init__(n_units, rng)
        self._kept: dict[bytes, FloatArray] = {}

    def keep(self, columns: FloatArray, n_draws: int, *, threads: int | None = None) -> None:
        """Sum columns together, which takes less time than one after another, and keep the sums;
        too many are left to their tests.
        """
        if columns.shape[1] <= _MOST_COLUMNS and n_draws <= _MOST_DRAWS:
            self._sums_of(columns, n_draws, threads)

    def map(
        self,
        columns: FloatArray,
        n_draws: int,
        work: Callable[[FloatArray], Result],
        *,
        threads: int | None = None,
    ) -> Iterator[Result]:
        """See `Flips.map`."""
        if columns.shape[1] > _MOST_COLUMNS or n_draws > _MOST_DRAWS:
            return super().map(columns, n_draws, work, threads=threads)
        return self._by_block(columns, n_draws, work, threads)

    def map_parts(
        self,
        columns: FloatArray,
        n_draws: int,
        work: Callable[[Iterator[Part]], Result],
        *,
        threads: int | None = None,
    ) -> Iterator[Result]:
        """See `Flips.map_parts`."""
        if columns.shape[1] > _MOST_COLUMNS or n_draws > _MOST_DRAWS:
            return super().map_parts(columns, n_draws, work, threads=threads)
        part = slice(0, _MOST_COLUMNS)
        return self._by_block(columns, n_draws, lambda sums: work(iter([(part, sums)])), threads)

    def _by_block(
        self,
        columns: FloatArray,
        n_draws: int,
        work: Callable[[FloatArray], Result],
        threads: int | None,
    ) -> Iterator[Result]:
        kept = self._sums_of(columns, n_draws, threads)

        def one(block: int) -> Result:
            rows = slice(block * DRAWS, min((block + 1) * DRAWS, n_draws))
            return work(np.stack([sums[rows] for sums in kept], axis=1))

        return in_order(one, -(-n_draws // DRAWS), threads)

    def _sums_of(self, columns: FloatArray, n_draws: int, threads: int | None) -> list[FloatArray]:
        """The sums of each column, made where they are not kept."""
        keys = [column.tobytes() for column in np.asarray(columns, np.float64).T]
        new = [
            place
            for place, key in enumerate(keys)
            if key not in self._kept or self._kept[key].size < n_draws
        ]
        if new:
            if len(self._kept) + len(new) > _MOST_COLUMNS:
                self._kept = {key: self._kept[key] for key in keys if key in self._kept}
            blocks = list(
                super().map(
                    np.ascontiguousarray(columns[:, new]),
                    n_draws,
                    lambda sums: sums.T.copy(),
                    threads=threads,
                )
            )
            self._kept |= {
                keys[place]: np.concatenate([block[at] for block in blocks])
                for at, place in enumerate(new)
            }
        return [self._kept[key] for key in keys]
