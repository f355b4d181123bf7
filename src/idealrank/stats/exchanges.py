"""Exchanges of queries between two systems: every one of them or random ones, and the shifts at which each overtakes the data."""

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.stats.randomness import RandomLike, generator_of, threads_of, whole_number
from idealrank.stats.threads import in_order

_ITEMS = 1 << 18  # labels drawn in a block
_TIE = 1e-12  # of the largest value: shifts as near to 0 as this are 0


@dataclass(frozen=True, eq=False)
class Relabelled:
    """The shift of b at which the difference under each exchange equals that of the data, sorted.

    An exchange has at least the difference of the data, less a shift, where the shift is no less than its own; so counts of shifts
    below and above 0 are p values, and order statistics bound the difference.

    Parameters
    ----------
    shifts : float64 array, shape (exchanges other than none, m)
        Sorted in each column.
    listed : bool
        Whether these are all exchanges.

    Examples
    --------
    >>> found = relabelled(np.array([[0.0], [1.0]]), np.array([[2.0], [3.0]]), 1000, None, None)
    >>> found.total, found.test("greater", 0.8)[0].round(4)
    (6, array([0.1667]))
    """

    shifts: FloatArray
    listed: bool

    @property
    def total(self) -> int:
        """Exchanges, with the one that changes nothing."""
        return len(self.shifts) + 1

    def test(self, alternative: str, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The p value, low and high bound of each column; infinite where there are too few exchanges for the level."""
        greater = ((self.shifts <= 0).sum(axis=0) + 1) / self.total
        less = ((self.shifts >= 0).sum(axis=0) + 1) / self.total
        outside = (1 - level) / (2 if alternative == "two-sided" else 1)
        p = {"two-sided": np.minimum(1, 2 * np.minimum(greater, less)), "greater": greater, "less": less}[alternative]
        place = math.floor(outside * self.total + 1e-9)
        if not place:
            endless = np.full(p.shape, np.inf)
            return p, -endless, endless
        return p, self.shifts[place - 1], self.shifts[-place]


def relabelled(a: FloatArray, b: FloatArray, n_resamples: int, rng: RandomLike, threads: int | None) -> Relabelled:
    """Exchanges between columns a, shape (n_a, m), and b, shape (n_b, m): all if no more than `n_resamples`, else random ones.

    Each block of random exchanges has a child generator of its own, and sums run in one order: the same bits for any threads.

    Examples
    --------
    >>> relabelled(np.zeros((20, 1)), np.ones((20, 1)), 500, 1, None).shifts.shape
    (500, 1)
    """
    n_a, n_b = len(a), len(b)
    draws = whole_number("n_resamples", n_resamples)
    listed = math.comb(n_a + n_b, n_b) <= draws
    pooled = np.concatenate((a, b))
    centre = pooled.mean(axis=0)
    rows = np.ascontiguousarray((pooled - centre).T)
    observed = rows[:, n_a:].mean(axis=1) - rows[:, :n_a].mean(axis=1)
    if listed:
        blocks = [_every(n_a, n_b)]
        shifts = _shifts(blocks[0], rows, n_a, observed)
    else:
        shifts = _drawn(rows, n_a, observed, draws, (generator_of(rng), threads_of(threads)))
    shifts[np.abs(shifts) <= _TIE * np.abs(pooled).max(axis=0)] = 0.0
    shifts.sort(axis=0)
    return Relabelled(shifts, listed)


def _every(n_a: int, n_b: int) -> FloatArray:
    """Labels of all exchanges but none: 1 for b, shape (exchanges, n_a + n_b)."""
    chosen = np.array(list(combinations(range(n_a + n_b - 1, -1, -1), n_b)))[1:]
    labels = np.zeros((len(chosen), n_a + n_b))
    np.put_along_axis(labels, chosen, 1.0, axis=1)
    return labels


def _drawn(rows: FloatArray, n_a: int, observed: FloatArray, draws: int, means: tuple[np.random.Generator, int]) -> FloatArray:
    rng, threads = means
    size = max(1, _ITEMS // rows.shape[1])
    firsts = range(0, draws, size)
    seeds = rng.bit_generator.seed_seq.spawn(len(firsts))  # type: ignore[attr-defined]
    plain = np.repeat([0.0, 1.0], [n_a, rows.shape[1] - n_a])
    shifts = np.empty((draws, len(rows)))

    def block(number: int) -> None:
        first, last = firsts[number], min(firsts[number] + size, draws)
        labels = np.random.default_rng(seeds[number]).permuted(np.tile(plain, (last - first, 1)), axis=1)
        shifts[first:last] = _shifts(labels, rows, n_a, observed)

    for _ in in_order(block, len(firsts), threads):
        pass
    return shifts


def _shifts(labels: FloatArray, rows: FloatArray, n_a: int, observed: FloatArray) -> FloatArray:
    """Where ``difference under labels - shift c = observed - shift``, c the difference of the shares of b's queries under the labels."""
    n_b = labels.shape[1] - n_a
    # Columns are centred, so the sum of what b loses is what a gains.
    differences = np.einsum("dn,mn->dm", labels, rows) * (1 / n_a + 1 / n_b)
    kept = labels[:, n_a:].sum(axis=1)
    slope = kept / n_b - (n_b - kept) / n_a
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (observed - differences) / (1 - slope)[:, None]
    return np.where((kept == n_b)[:, None], 0.0, found)
