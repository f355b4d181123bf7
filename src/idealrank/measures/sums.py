"""Sums over lists: gain x weight, running sums and products, and sums that no float64 can hold.

The weight of a rank depends on no document found. Sums are over hits, or fast over arrays of lists
of one length with every item judged: rows are worked on a block at a time, so that what is computed
from a block stays in the cache, and the ranks of a row are summed one after another. All sums have
the bits of a plain loop, whatever other queries there are. A sum beyond float64 is an error, never
infinity or NaN.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any, Self, TypeAlias, TypeVar, cast

import numpy as np

from idealrank.data.judged import Hits, Judged, Rectangle, TieMembers
from idealrank.data.segments import sizes_of, starts_of
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.measures.cutoffs import Cutoff
from idealrank.measures.discounts import Discount, RankDiscount
from idealrank.measures.measure import Measure, PerQuery
from idealrank.measures.parse import parse_measure
from idealrank.measures.ranks import hit_weights, tie_weights

# Lists of a block: its columns, with twenty members of ties in each list, fit the second-level
# cache.
_BLOCK = 4096
_FEW = 64  # rows that are summed along their ranks
_PAIRWISE = 128  # numbers that NumPy adds without splitting them

GainFunction: TypeAlias = Callable[[FloatArray], FloatArray]


def sum_rows(grades: FloatArray, gain: GainFunction, weights: FloatArray) -> FloatArray:
    """Sum of gain x weight along each row."""
    sums = np.zeros(grades.shape[0])
    for first in range(0, grades.shape[0], _BLOCK):
        rows = slice(first, first + _BLOCK)
        _add_ranks(sums[rows], gain(grades[rows, : weights.size]), weights)
    return sums


def sum_tied_rows(
    grades: FloatArray,
    ties: TieMembers,
    gain: GainFunction,
    weights: FloatArray,
    tied_weights: Callable[[Hits, FloatArray], FloatArray],
) -> FloatArray:
    """Sum of gain x weight along each row, where members of ties have weights of their own."""
    sums = np.zeros(grades.shape[0])
    starts = np.searchsorted(ties.query, np.arange(0, grades.shape[0] + _BLOCK, _BLOCK))
    for block, first in enumerate(range(0, grades.shape[0], _BLOCK)):
        rows = slice(first, first + _BLOCK)
        total = sums[rows]
        members = ties.part(slice(starts[block], starts[block + 1]))
        row = members.query - first
        untied = _without(gain(grades[rows, : weights.size]), row, members.rank)
        _add_ranks(total, untied, weights)
        gains = gain(members.grade)
        terms = gains * tied_weights(members, gains)
        total += np.bincount(row, weights=terms, minlength=total.size)
    return sums


def _add_ranks(total: FloatArray, gains: FloatArray, weights: FloatArray) -> None:
    """Add gain x weight to the totals, which are 0, rank after rank."""
    # For few lists, a step of Python for each rank would take longer than the sum.
    if gains.shape[0] < _FEW and gains.shape[1] and weights.size:
        # cumsum adds one after another, too: the same bits
        total += np.cumsum(gains[:, : weights.size] * weights, axis=1)[:, -1]
        return
    # With a row for each rank, every addition takes numbers that lie together.
    for terms in np.multiply(gains[:, : weights.size].T, weights[:, np.newaxis], order="C"):
        total += terms


def _without(gains: FloatArray, row: IntArray, rank: IntArray) -> FloatArray:
    """The gains, 0 for tied documents, which are counted by their groups. The last column takes the
    zeros of ranks beyond the width.
    """
    width = gains.shape[1]
    others = np.empty((gains.shape[0], width + 1))
    others[:, :width] = gains
    others.reshape(-1)[row * (width + 1) + np.minimum(rank, width + 1) - 1] = 0.0
    return others


def summed_width(n: int, needed: int) -> int:
    """Return how many of n numbers NumPy must add up for the same bits, if zeros follow the first
    `needed`.

    `numpy.sum` splits more than 128 numbers in two halves, the first of a multiple of eight.
    """
    while n > _PAIRWISE:
        half = n // 2 - n // 2 % 8
        if half < needed:
            break
        n = half
    return n


def weighted_gains(
    judged: Judged,
    gain: Callable[[FloatArray], FloatArray],
    discount: RankDiscount,
    cutoff: Cutoff | None,
) -> FloatArray:
    """Sum of gain x discount over the ranks of each query, shape (n_queries,); of the expected
    discount where ties are averaged.
    """
    rectangle = judged.rectangle
    if rectangle is None or not is_deep_enough(judged, cutoff):
        gains = gain(judged.hits.grade)
        hit_terms = gains * hit_weights(judged, judged.hits, gains, discount, cutoff)
        return judged.sum_by_query(judged.hits.query, hit_terms)
    width = rectangle.grades.shape[1]
    deepest = min(width, cutoff) if isinstance(cutoff, int) else width
    rank = np.arange(1, deepest + 1)
    weights = discount.at(rank, rank)
    return sum_rectangle(
        judged=judged,
        rectangle=rectangle,
        gain=gain,
        weights=weights,
        discount=discount,
        cutoff=cutoff,
    )


def sum_rectangle(
    judged: Judged,
    rectangle: Rectangle,
    gain: GainFunction,
    weights: FloatArray,
    discount: Discount,
    cutoff: Cutoff | None,
) -> FloatArray:
    """Sum of gain x weight over the rows of a rectangle of lists, ties weighed as the convention
    says.
    """
    if rectangle.ties is None or judged.ties == "input":
        return sum_rows(rectangle.grades, gain, weights)

    def weigh(members: Hits, gains: FloatArray) -> FloatArray:
        if judged.ties == "expected":
            return tie_weights(judged, members, discount, cutoff)
        return hit_weights(judged, members, gains, discount, cutoff)

    return sum_tied_rows(rectangle.grades, rectangle.ties, gain, weights, weigh)


def is_deep_enough(judged: Judged, cutoff: Cutoff | None) -> bool:
    """Return whether the rectangle of some lists holds every rank within the cutoff."""
    if judged.rectangle is None:
        return False
    if judged.depth == 0:
        return cutoff is None or isinstance(cutoff, int)
    return isinstance(cutoff, int) and cutoff <= max(judged.rectangle.grades.shape[1], judged.depth)


def running_sums(query: IntArray, values: FloatArray) -> FloatArray:
    """Sum of the values of each query up to and with each place.

    Lists are laid beside each other by their length to the next power of two, so that the memory is
    at most twice that of the values.
    """
    return _running(query, values, np.add)


def running_products(query: IntArray, values: FloatArray) -> FloatArray:
    """Product of the values of each query up to and with each place, as `running_sums`."""
    return _running(query, values, np.multiply)


def sums_before(query: IntArray, values: FloatArray) -> FloatArray:
    """Sum of the values of each query before each place."""
    sums = np.concatenate(([0.0], running_sums(query, values)))[: values.size]
    sums[starts_of(query)] = 0.0
    return sums


def spread(sizes: IntArray) -> tuple[IntArray, IntArray]:
    """The group of each place, and the number of the place in it from 1 on, for groups of these
    sizes.
    """
    group = np.repeat(np.arange(sizes.size), sizes)
    return group, np.arange(1, group.size + 1) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _running(query: IntArray, values: FloatArray, step: np.ufunc) -> FloatArray:
    sums = np.empty(values.size)
    starts = starts_of(query)
    sizes = sizes_of(starts, query.size)
    widths = np.frexp(sizes - 0.5)[1]  # the power of two that holds so many
    for width in np.unique(widths).tolist():
        chosen = widths == width
        place = np.arange(1 << max(width, 0))
        rows = starts[chosen][:, np.newaxis] + place
        inside = place < sizes[chosen][:, np.newaxis]
        block = np.where(inside, values[np.minimum(rows, values.size - 1)], 0.0)
        sums[rows[inside]] = step.accumulate(block, axis=1)[inside]
    return sums


Compute = TypeVar("Compute", bound=Callable[..., PerQuery])


def too_large(measure: Measure) -> InputError:
    """The error for sums beyond float64."""
    return InputError(
        f"{shown(measure)}: a sum of gains is larger than a number can be (1.8e308); use smaller "
        "grades, or a table of gains"
    )


def finite_sums(measure: Measure, sums: FloatArray) -> FloatArray:
    """The sums, where all of them are numbers."""
    if not np.isfinite(sums).all():
        raise too_large(measure)
    return sums


def refuse_overflow(compute: Compute) -> Compute:
    """Let `compute` of a measure raise `too_large` where any product or running sum on its way is
    beyond float64.
    """

    @wraps(compute)
    def refusing(self: Measure, judged: Judged) -> PerQuery:
        try:
            with np.errstate(over="raise"):
                return compute(self, judged)
        except FloatingPointError:
            raise too_large(self) from None

    return cast("Compute", refusing)


_GEOMETRIC_FLOOR = 0.00001  # trec_eval's
_SOME = 1 << 16  # numbers of Python's own made at a time


class Means(dict[str, float]):
    """Aggregate of each measure by its text; also found by the measure itself or any of its
    spellings.
    """

    @classmethod
    def of(cls, measures: Sequence[Measure], values: FloatArray, scored: BoolArray) -> Self:
        """Aggregate the columns of `values` over the queries that are scored."""
        means = {}
        for column, measure in enumerate(measures):
            means[str(measure)] = aggregate(measure, values[:, column], scored[:, column])
        return cls(means)

    def __missing__(self, key: object) -> float:
        text = self._text(key)
        if text is None:
            raise KeyError(f"{key}: not evaluated, only {', '.join(self)}")
        return dict.__getitem__(self, text)

    def __contains__(self, key: object) -> bool:
        return self._text(key) is not None

    def get(self, key: Any, default: Any = None) -> Any:
        """The aggregate of a measure, by itself or any of its spellings, or the default."""
        text = self._text(key)
        return default if text is None else dict.__getitem__(self, text)

    @staticmethod
    def _spelled(key: Any) -> str:
        """The text of a measure, from any spelling."""
        return str(parse_measure(key))

    def _text(self, key: object) -> str | None:
        """The key under which a measure stands here; None where it does not."""
        try:
            text = key if dict.__contains__(self, key) else self._spelled(key)
        except OptionError:
            return None
        return str(text) if dict.__contains__(self, text) else None


def values_by_query(
    queries: Iterable[str], measures: Iterable[Measure], values: FloatArray, scored: BoolArray
) -> dict[str, dict[str, float | None]]:
    """Return ``{query: {measure: value}}``; None if the query does not count."""
    texts = [str(measure) for measure in measures]
    by_query: dict[str, dict[str, float | None]] = {}
    for query, row, counts in zip(queries, values.tolist(), scored.tolist(), strict=True):
        cells = zip(texts, row, counts, strict=True)
        by_query[query] = {text: value if counted else None for text, value, counted in cells}
    return by_query


def aggregate(measure: Measure, values: FloatArray, scored: BoolArray) -> float:
    """One number for a measure over the queries that count; NaN where none does.

    The mean, the sum for counts, or the geometric mean, in which a value below 0.00001 counts as
    that, as in trec_eval. Summed exactly, so the order of the queries does not matter.
    """
    counted = values if scored.all() else values[scored]
    if measure.aggregate == "sum":
        return _sum(counted)
    if measure.aggregate == "geometric" and counted.size:
        logs = (math.log(max(value, _GEOMETRIC_FLOOR)) for value in _numbers(counted))
        return math.exp(math.fsum(logs) / counted.size)
    return _sum(counted) / counted.size if counted.size else math.nan


def _sum(values: FloatArray) -> float:
    try:
        return math.fsum(_numbers(values))
    except OverflowError:
        raise InputError(
            "the sum of the values of all queries is larger than a number can be (1.8e308); use "
            "smaller grades"
        ) from None


def _numbers(values: FloatArray) -> Iterator[float]:
    """Yield Python's own numbers, some at a time: each takes four times the memory."""
    for begin in range(0, values.size, _SOME):
        yield from values[begin : begin + _SOME].tolist()
