"""NDCG of lists that are levels of relevance in ranked order: one discount and cutoff, its weights made once for a list length."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import RelativeCutoff
from idealrank.measures.discounts import Discount, DiscountLike, make_discount
from idealrank.theory.decay import Growth, growth_of

CutoffLike: TypeAlias = "int | str | RelativeCutoff | None"
# A discount and a cutoff: an NDCG.
Pair: TypeAlias = "tuple[DiscountLike, CutoffLike]"
# Levels of relevance: 0 for gain 0, then 1 for the lowest gain up to q for the highest.
Levels: TypeAlias = npt.NDArray[np.uint8]

_STRETCH = 1 << 16  # whatever the number of lists: sums must not depend on it


class WeightTable(NamedTuple):
    """Weights of ranks 1 to the cutoff, shape (k,), and their running sums from 0 on, shape (k + 1,)."""

    weights: FloatArray
    sums: FloatArray


@dataclass(frozen=True)
class Weighing:
    """A discount and a cutoff.

    Examples
    --------
    >>> Weighing.of(("zipf(0.5)", "0.2n")).text
    'nDCG(discount=zipf(0.5))@0.2n'
    """

    discount: Discount
    growth: Growth

    @classmethod
    def of(cls, pair: Pair) -> "Weighing":
        """From a discount and a cutoff, as measures know them.

        Raises
        ------
        OptionError
            It is no such pair, or one of them is unknown.
        """
        try:
            discount, cutoff = pair
        except (TypeError, ValueError):
            raise OptionError(f'measure {pair!r}: expected a discount and a cutoff, as ("log2", None) or ("zipf(0.5)", "0.2n")') from None
        return cls(make_discount(discount), growth_of(cutoff))

    @property
    def text(self) -> str:
        """The measure, as measures are named."""
        options = "" if self.discount.text == "log2" else f"(discount={self.discount.text})"
        return f"nDCG{options}{self.growth.text}"

    def table(self, n: int) -> WeightTable:
        """Weights in a list of n."""
        rank = np.arange(1, self.growth.at(n) + 1)
        return _table(self.discount.at(rank, np.broadcast_to(np.int64(n), rank.shape)))


def weighings(measures: Iterable[Pair]) -> tuple[Weighing, ...]:
    """Several, at least one.

    Raises
    ------
    OptionError
        There is none, or one is no pair of a discount and a cutoff.
    """
    found = tuple(Weighing.of(pair) for pair in measures)
    if not found:
        raise OptionError("measures=[]: expected at least one pair of discount and cutoff")
    return found


def _table(weights: FloatArray) -> WeightTable:
    # Summed with more digits than are kept, so that an ideal of 10^6 ranks is as exact as one of ten.
    sums = np.zeros(weights.size + 1)
    sums[1:] = np.cumsum(weights, dtype=np.longdouble)
    return WeightTable(weights, sums)


def tables_of(measures: Sequence[Weighing], n: int) -> tuple[WeightTable, ...]:
    """The table of each measure in a list of n; measures of one discount share it."""
    longest: dict[str, WeightTable] = {}
    deepest_first = sorted(measures, key=lambda measure: -measure.growth.at(n))
    for measure in deepest_first:
        longest.setdefault(_key(measure), measure.table(n))
    shared = [(longest[_key(measure)], measure.growth.at(n)) for measure in measures]
    return tuple(WeightTable(table.weights[:k], table.sums[: k + 1]) for table, k in shared)


def _key(measure: Weighing) -> str:
    discount = measure.discount
    return discount.text if not discount.by_length else f"{discount.text} {id(discount)}"  # two functions may have one name


def ndcg_of(levels: Levels, gains: FloatArray, tables: Sequence[WeightTable]) -> FloatArray:
    """NDCG of lists, shape (n_lists, n_tables); NaN where the ideal is 0.

    Parameters
    ----------
    levels : uint8 array, shape (n_lists, n)
        Level of relevance at each rank.
    gains : float64 array, shape (q + 1,)
        What each level is worth, rising from 0.
    tables : sequence of WeightTable
        One for each measure, of lists of n.

    Examples
    --------
    >>> table = Weighing.of(("log2", None)).table(3)
    >>> ndcg_of(np.array([[1, 0, 0], [0, 0, 1]], np.uint8), np.array([0.0, 1.0]), [table])
    array([[1. ],
           [0.5]])
    """
    totals = np.zeros((len(tables), levels.shape[0]))
    for part in stretches(levels.shape[1]):
        worth = gains_of(levels[:, part], gains)
        for number, table in enumerate(tables):
            weights = table.weights[part]
            totals[number] += (worth[:, : weights.size] * weights).sum(axis=1)
    ideals = _ideals(levels, gains, tables)
    return np.divide(totals, ideals, out=np.full_like(totals, np.nan), where=ideals > 0).T


def gains_of(levels: Levels, gains: FloatArray) -> FloatArray:
    """Return the gain of each document, shape of `levels`.

    Examples
    --------
    >>> gains_of(np.array([0, 2], np.uint8), np.array([0.0, 1.0, 3.0]))
    array([0., 3.])
    """
    return levels * gains[1] if gains.size == 2 else gains[levels]


def stretches(n: int) -> Iterator[slice]:
    """Ranks 1 to n in parts that stay in the processor's cache, which is faster for long lists.

    Examples
    --------
    >>> list(stretches(100_000))
    [slice(0, 65536, None), slice(65536, 100000, None)]
    """
    return (slice(first, min(first + _STRETCH, n)) for first in range(0, n, _STRETCH))


def _ideals(levels: Levels, gains: FloatArray, tables: Sequence[WeightTable]) -> FloatArray:
    """Ideal DCG, shape (n_tables, n_lists): each level adds its gain beyond the next lower one to all ranks from it up."""
    totals = np.zeros((len(tables), levels.shape[0]))
    for level, step in enumerate(np.diff(gains).tolist(), start=1):
        reached: IntArray = np.count_nonzero(levels >= level, axis=1)
        for number, table in enumerate(tables):
            totals[number] += step * table.sums[np.minimum(reached, table.weights.size)]
    return totals
