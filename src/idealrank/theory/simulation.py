"""NDCG of random samples that grow: what the limits and the pseudo-expectation are checked against."""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.discounts import DiscountLike
from idealrank.measures.gains import GainLike
from idealrank.stats.randomness import RandomLike, generator_of, whole_number
from idealrank.theory.relevance import ModelLike, RelevanceModel, values_of
from idealrank.theory.sampling import ProgressCall, SampleBlock, block_size, run_blocks, thinned
from idealrank.theory.weighting import CutoffLike, Levels, Pair, ndcg_of, stretches, tables_of, weighings

Sizes: TypeAlias = "int | Sequence[int] | IntArray"

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

    A list has n documents with canonical scores uniform on [0, 1], in the order of their scores; each is relevant with probability ybar of
    its score. With several n, one sample is one growing list: its first n_1 documents, its first n_2, ...

    Parameters
    ----------
    ybar : callable, mapping or RelevanceModel
        Probability of relevance at each canonical score, or one function for each grade; see `RelevanceModel.of`.
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
        In [0, 1]. NaN if a list has no relevant document, since its NDCG is 0/0. The share of such lists is (1 - p)^n, and a mean over the
        others is conditional on relevance; replacing NaN by 0 or 1 would bias it.

    Raises
    ------
    InputError
        `ybar` has values outside [0, 1].
    OptionError
        An option has an invalid value; the message names it.

    Notes
    -----
    The scores are drawn in order: sums of standard exponentials over their total are the depths u = 1 - s, then ``y = rng.random(n) <
    ybar(1 - u)``. The first sample comes from `rng` itself. Smaller sizes are random subsets of larger ones, as the first documents of a
    random order are.

    References
    ----------
    Wang et al. (2013), A theoretical analysis of NDCG type ranking measures, COLT, section 2 and Lemma 3.

    Examples
    --------
    >>> import numpy as np
    >>> from idealrank.theory import simulate
    >>> simulate(lambda s: 0.1 + 0.8 * s, 1000, 3, rng=123).round(6)
    array([0.941298, 0.960366, 0.956626])
    >>> simulate(lambda s: 0.1 + 0.8 * s, [10, 100], 3, cutoff="sqrt(n)", rng=123).shape
    (3, 2)
    """
    many = simulate_many(ybar, n, samples, [(discount, cutoff)], rng=rng, points=points, gain=gain, threads=threads, progress=progress)
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
    distinct, where = np.unique(sizes, return_inverse=True)
    samples = whole_number("samples", samples)
    pairs = weighings(measures)
    tables = [tables_of(pairs, size) for size in distinct.tolist()]
    gains = np.array([0.0, *reversed(model.gains)])
    values = np.empty((samples, distinct.size, len(pairs)))

    def work(block: SampleBlock) -> None:
        for at, levels in enumerate(_growing(model, distinct, block)):
            values[block.first : block.last, at] = ndcg_of(levels, gains, tables[at])

    run_blocks(work, samples, block_size(int(distinct[-1])), generator_of(rng), threads=threads, progress=progress)
    return values[:, 0] if np.ndim(n) == 0 else values[:, where.reshape(-1)]


def sizes_of(n: Sizes) -> IntArray:
    """List lengths, shape (n_sizes,), in the order given.

    Raises
    ------
    OptionError
        There is none, or one is no whole number from 1 to 10^9.

    Examples
    --------
    >>> sizes_of(10), sizes_of([10, 100])
    (array([10]), array([ 10, 100]))
    """
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
            f"n={size:,}: expected at most {_LONGEST:,} documents, for simulated lists stand in memory; "
            "pseudo_expectation has the mean of longer ones"
        )
    return size


def _growing(model: RelevanceModel, sizes: IntArray, block: SampleBlock) -> list[Levels]:
    """Levels in ranked order for each size, rising: shapes (n_lists, size)."""
    whole = drawn_levels(model, int(sizes[-1]), block.last - block.first, block.streams.main)
    grown = [np.empty((whole.shape[0], size), np.uint8) for size in sizes[:-1].tolist()]
    for row in range(whole.shape[0]):
        larger = whole[row]
        for part in reversed(grown):
            larger = part[row] = np.compress(thinned(larger.size, part.shape[1], block.streams.side), larger)
    return [*grown, whole]


def drawn_levels(model: RelevanceModel, n: int, samples: int, rng: np.random.Generator) -> Levels:
    """Levels of relevance in ranked order, shape (samples, n)."""
    steps, chances = np.empty((samples, n + 1)), np.empty((samples, n))
    for row in range(samples):  # one list after another, so that the first do not depend on how many there are
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
    levels, reached, flat = np.zeros(scores.shape, np.uint8), np.zeros(1), scores.reshape(-1)
    for chance in model.chances:
        reached = reached + values_of(chance, flat).reshape(scores.shape)
        levels += chances < reached
    return levels
