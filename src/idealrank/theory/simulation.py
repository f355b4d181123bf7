"""NDCG of random samples that grow: what the limits and the pseudo-expectation are checked against.

Samples are drawn in blocks, on any number of threads with the same result. A list is given by its
levels of relevance in ranked order; the weights of a discount and a cutoff are made once for a list
length.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import RelativeCutoff
from idealrank.measures.discounts import Discount, DiscountLike, make_discount
from idealrank.measures.gains import GainLike
from idealrank.stats.randomness import (
    RandomLike,
    each_in_order,
    generator_of,
    threads_of,
    whole_number,
)
from idealrank.theory.decay import Growth, growth_of
from idealrank.theory.relevance import ModelLike, RelevanceModel, values_of

CutoffLike: TypeAlias = int | str | RelativeCutoff | None
# A discount and a cutoff: an NDCG.
Pair: TypeAlias = tuple[DiscountLike, CutoffLike]
# Levels of relevance: 0 for gain 0, then 1 for the lowest gain up to q for the highest.
Levels: TypeAlias = npt.NDArray[np.uint8]

_STRETCH = 1 << 16  # ranks of a part, for any number of lists: sums must not depend on it


class WeightTable(NamedTuple):
    """Weights of ranks 1 to the cutoff, shape (k,), and their running sums from 0 on, shape (k +
    1,).
    """

    weights: FloatArray
    sums: FloatArray


@dataclass(frozen=True)
class Weighing:
    """A discount and a cutoff."""

    discount: Discount
    growth: Growth

    @classmethod
    def of(cls, pair: Pair) -> "Weighing":
        """Parse a discount and a cutoff, as measures know them."""
        try:
            discount, cutoff = pair
        except (TypeError, ValueError):
            raise OptionError(
                f'measure {pair!r}: expected a discount and a cutoff, as ("log2", None) or '
                f'("zipf(0.5)", "0.2n")'
            ) from None
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
    """Parse several pairs, at least one."""
    pairs = tuple(Weighing.of(pair) for pair in measures)
    if not pairs:
        raise OptionError("measures=[]: expected at least one pair of discount and cutoff")
    return pairs


def _table(weights: FloatArray) -> WeightTable:
    # Summed with more digits than are kept, so that an ideal of 10^6 ranks is as exact as one of
    # ten.
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
    # two functions may have one name
    return discount.text if not discount.by_length else f"{discount.text} {id(discount)}"


def ndcg_of(levels: Levels, gains: FloatArray, tables: Sequence[WeightTable]) -> FloatArray:
    """NDCG of lists, shape (n_lists, n_tables); NaN where the ideal is 0."""
    totals = np.zeros((len(tables), levels.shape[0]))
    for part in stretches(levels.shape[1]):
        part_gains = gains_of(levels[:, part], gains)
        for number, table in enumerate(tables):
            weights = table.weights[part]
            totals[number] += (part_gains[:, : weights.size] * weights).sum(axis=1)
    ideals = _ideals(levels, gains, tables)
    return np.divide(totals, ideals, out=np.full_like(totals, np.nan), where=ideals > 0).T


def gains_of(levels: Levels, gains: FloatArray) -> FloatArray:
    """Return the gain of each document, shape of `levels`."""
    return levels * gains[1] if gains.size == 2 else gains[levels]


def stretches(n: int) -> Iterator[slice]:
    """Ranks 1 to n in parts that stay in the processor's cache, which is faster for long lists."""
    return (slice(first, min(first + _STRETCH, n)) for first in range(0, n, _STRETCH))


def _ideals(levels: Levels, gains: FloatArray, tables: Sequence[WeightTable]) -> FloatArray:
    """Ideal DCG, shape (n_tables, n_lists): each level adds its gain beyond the next lower one to
    all ranks from it up.
    """
    totals = np.zeros((len(tables), levels.shape[0]))
    for level, step in enumerate(np.diff(gains).tolist(), start=1):
        reached: IntArray = np.count_nonzero(levels >= level, axis=1)
        for number, table in enumerate(tables):
            totals[number] += step * table.sums[np.minimum(reached, table.weights.size)]
    return totals


# Called with the samples done and the samples in all, in the thread of the caller.
ProgressCall: TypeAlias = Callable[[int, int], None]

_BLOCK = 1 << 17  # documents that are drawn at a time, or one sample if it is longer


class Streams(NamedTuple):
    """Two independent generators that belong to one block alone."""

    main: np.random.Generator
    side: np.random.Generator


class SampleBlock(NamedTuple):
    """Some samples, from the first to before the last, and their randomness."""

    first: int
    last: int
    streams: Streams


def block_size(documents: int) -> int:
    """Return the number of samples in a block; results depend on it, so it depends only on the
    number of documents.
    """
    return max(1, _BLOCK // documents)


def run_blocks(
    work: Callable[[SampleBlock], None],
    samples: int,
    size: int,
    rng: np.random.Generator,
    *,
    threads: int | None = None,
    progress: ProgressCall | None = None,
) -> None:
    """Call `work` for each block of `size` samples, on threads.

    The first block draws from `rng` itself, each later one from a child of its own: what is drawn
    does not depend on threads, nor the first samples on how many there are.
    """
    report = progress or _ignore

    def last_of(block: SampleBlock) -> int:
        work(block)
        return block.last

    # Blocks hold generators, which are made on the way: never all of them at once.
    workers = min(threads_of(threads), -(-samples // size))
    for done in each_in_order(last_of, _blocks(samples, size, rng), workers):
        report(done, samples)


def _ignore(_done: int, _samples: int) -> None:
    pass


def _blocks(samples: int, size: int, rng: np.random.Generator) -> Iterator[SampleBlock]:
    for first in range(0, samples, size):
        child = rng.spawn(1)[0]
        streams = Streams(child, child.spawn(1)[0]) if first else Streams(rng, child)
        yield SampleBlock(first, min(first + size, samples), streams)


def thinned(count: int, keep: int, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    """A mask of `count` that keeps a uniformly random subset of `keep`."""
    # Those kept or those left out are drawn, whichever are fewer.
    few = min(keep, count - keep)
    chosen: IntArray = rng.choice(count, few, replace=False, shuffle=False)
    mask = np.full(count, few < keep)
    mask[chosen] = few == keep
    return mask


Sizes: TypeAlias = int | Sequence[int] | IntArray

_LONGEST = 10**9  # a list of as many takes 10 GB and more


def simulate(
    ybar: ModelLike,
    n: Sizes,
    samples: int,
    *,
    discount: DiscountLike = "log2",
    cutoff: CutoffLike = None,
    rng: RandomLike = None,
    points: Iterable[float] = (),
    gain: GainLike = "linear",
    threads: int | None = None,
    progress: ProgressCall | None = None,
) -> FloatArray:
    """Simulate NDCG of random lists under a model of relevance.

    A list has n documents with canonical scores uniform on [0, 1], in the order of their scores;
    each is relevant with probability ybar of its score. With several n, one sample is one growing
    list: its first n_1 documents, its first n_2, ...

    Parameters
    ----------
    ybar : callable, mapping or RelevanceModel
        Probability of relevance at each canonical score, or one function for each grade; see
        `RelevanceModel.of`.
    n : int, or sequence of int
        Number of documents of a list, at least 1.
    samples : int
        Number of lists, at least 1.
    discount : str, sequence or callable, optional
        See `make_discount`.
    cutoff : int or str, optional
        ``10``, ``"0.2n"``, ``"sqrt(n)"``, ``"n^0.3"``; default the whole list.
    rng : Generator, seed or None
        Random generator or seed. Results do not depend on the number of threads.
    points : iterable of float, optional
        Kinks or jumps of ybar; not needed to draw samples.
    gain : str, mapping or callable, optional
        Gain of each grade, see `make_gain`.
    threads : int, optional
        Number of threads; None or 0 uses all cores.
    progress : callable, optional
        Progress callback, called as ``progress(samples_done, samples)`` in the caller's thread.

    Returns
    -------
    float64 array, shape (samples,), or (samples, len(n)) for a sequence
        In [0, 1]. NaN if a list has no relevant document, since its NDCG is 0/0. The share of such
        lists is (1 - p)^n, and a mean over the others is conditional on relevance; replacing NaN by
        0 or 1 would bias it.

    Raises
    ------
    InputError
        `ybar` has values outside [0, 1].
    OptionError
        An option has an invalid value; the message names it.

    Notes
    -----
    The scores are drawn in order: sums of standard exponentials over their total are the depths u =
    1 - s, then ``y = rng.random(n) < ybar(1 - u)``. The first sample comes from `rng` itself.
    Smaller sizes are random subsets of larger ones, as the first documents of a random order are.

    References
    ----------
    Wang et al. (2013), A theoretical analysis of NDCG type ranking measures, COLT, section 2 and
    Lemma 3.

    Examples
    --------
    >>> import numpy as np
    >>> from idealrank.theory import simulate
    >>> simulate(lambda s: 0.1 + 0.8 * s, 1000, 3, rng=123).round(6)
    array([0.941298, 0.960366, 0.956626])
    >>> simulate(lambda s: 0.1 + 0.8 * s, [10, 100], 3, cutoff="sqrt(n)", rng=123).shape
    (3, 2)
    """
    many = simulate_many(
        ybar,
        n,
        samples,
        [(discount, cutoff)],
        rng=rng,
        points=points,
        gain=gain,
        threads=threads,
        progress=progress,
    )
    return many[..., 0]


def simulate_many(
    ybar: ModelLike,
    n: Sizes,
    samples: int,
    measures: Iterable[Pair],
    *,
    rng: RandomLike = None,
    points: Iterable[float] = (),
    gain: GainLike = "linear",
    threads: int | None = None,
    progress: ProgressCall | None = None,
) -> FloatArray:
    """Simulate NDCG of random lists under several discounts and cutoffs, on the same lists.

    Parameters
    ----------
    ybar, n, samples, rng, points, gain, threads, progress
        As for `simulate`.
    measures : iterable of (discount, cutoff)
        Pairs of discount and cutoff, such as ``[("log2", None), ("zipf(0.5)", "0.2n")]``.

    Returns
    -------
    float64 array, shape (samples, n_measures), or (samples, len(n), n_measures) for a sequence
        As for `simulate`; each column has the values that `simulate` gives with the same seed.

    Raises
    ------
    InputError, OptionError
        As for `simulate`.

    Examples
    --------
    >>> import numpy as np
    >>> from idealrank.theory import simulate_many
    >>> simulate_many(lambda s: s**2, 1000, 2, [("log2", None), ("zipf(0.5)", "0.2n")], rng=1).shape
    (2, 2)
    """
    model = RelevanceModel.of(ybar, points=points, gain=gain)
    sizes = sizes_of(n)
    distinct, distinct_of_size = np.unique(sizes, return_inverse=True)
    samples = whole_number("samples", samples)
    pairs = weighings(measures)
    tables = [tables_of(pairs, size) for size in distinct.tolist()]
    gains = np.array([0.0, *reversed(model.gains)])
    values = np.empty((samples, distinct.size, len(pairs)))

    def work(block: SampleBlock) -> None:
        for size, levels in enumerate(_growing(model, distinct, block)):
            values[block.first : block.last, size] = ndcg_of(levels, gains, tables[size])

    run_blocks(
        work,
        samples,
        block_size(int(distinct[-1])),
        generator_of(rng),
        threads=threads,
        progress=progress,
    )
    return values[:, 0] if np.ndim(n) == 0 else values[:, distinct_of_size.reshape(-1)]


def sizes_of(n: Sizes) -> IntArray:
    """List lengths, shape (n_sizes,), in the order given."""
    if np.ndim(n) == 0:
        return np.array([_size_of(n)])
    listed = [_size_of(size) for size in cast("Sequence[int]", n)]
    if not listed or np.ndim(n) > 1:
        raise OptionError(f"n={n!r}: expected a whole number, or a sequence of at least one")
    return np.array(listed, np.int64)


def _size_of(n: Any) -> int:
    """One list length; 1e6 is one, as for `pseudo_expectation`."""
    whole: Any = int(n) if isinstance(n, float) and n.is_integer() else n
    size = whole_number("n", whole)
    if size > _LONGEST:
        raise OptionError(
            f"n={size:,}: expected at most {_LONGEST:,} documents, since simulated lists are held "
            "in memory; pseudo_expectation gives the mean of longer lists"
        )
    return size


def _growing(model: RelevanceModel, sizes: IntArray, block: SampleBlock) -> list[Levels]:
    """Levels in ranked order for each size, rising: shapes (n_lists, size)."""
    longest = drawn_levels(model, int(sizes[-1]), block.last - block.first, block.streams.main)
    shorter = [np.empty((longest.shape[0], size), np.uint8) for size in sizes[:-1].tolist()]
    # A shorter list is a random subset of the next longer one, in the same order.
    for row in range(longest.shape[0]):
        levels = longest[row]
        for lists in reversed(shorter):
            kept = thinned(levels.size, lists.shape[1], block.streams.side)
            levels = lists[row] = np.compress(kept, levels)
    return [*shorter, longest]


def drawn_levels(model: RelevanceModel, n: int, samples: int, rng: np.random.Generator) -> Levels:
    """Levels of relevance in ranked order, shape (samples, n)."""
    # The ordered values of n uniforms are running sums of n + 1 exponentials over their total:
    # no list is sorted.
    steps = np.empty((samples, n + 1))
    chances = np.empty((samples, n))
    # one list after another, so that the first do not depend on how many there are
    for row in range(samples):
        rng.standard_exponential(out=steps[row])
        rng.random(out=chances[row])
    for part in stretches(n + 1):
        if part.start:
            steps[:, part.start] += steps[:, part.start - 1]
        np.cumsum(steps[:, part], axis=1, out=steps[:, part])
    levels = np.empty((samples, n), np.uint8)
    for part in stretches(n):
        depths = steps[:, part][:, : chances[:, part].shape[1]] / steps[:, n:]
        levels[:, part] = _levels_at(model, 1.0 - depths, chances[:, part])
    return levels


def _levels_at(model: RelevanceModel, scores: FloatArray, chances: FloatArray) -> Levels:
    """Count the grades, from the highest down, that the draw reaches; shape of `scores`."""
    levels = np.zeros(scores.shape, np.uint8)
    reached = np.zeros(1)
    flat = scores.reshape(-1)
    for chance in model.chances:
        reached = reached + values_of(chance, flat).reshape(scores.shape)
        levels += chances < reached
    return levels
