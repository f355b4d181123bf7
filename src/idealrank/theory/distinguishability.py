"""Stability of a measure's order of two rankers as lists grow."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from idealrank.data.frames import frame_of
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.measures.discounts import DiscountLike
from idealrank.measures.gains import GainLike
from idealrank.stats.intervals import clopper_pearson
from idealrank.stats.randomness import RandomLike, generator_of, whole_number
from idealrank.theory.rivals import ModelRivals, Rivals, ScoreRivals, Signs
from idealrank.theory.sampling import ProgressCall, SampleBlock, run_blocks
from idealrank.theory.simulation import Sizes, sizes_of
from idealrank.theory.weighting import CutoffLike, Pair, tables_of, weighings

_SMALLEST, _LARGEST, _A_DECADE = 100, 100_000, 8  # default sizes of models
_FIRST_OF_SCORES = 10

Column = Literal["a_better", "b_better", "constant", "a_always", "b_always"]
_COLUMNS: tuple[Column, ...] = ("a_better", "b_better", "constant", "a_always", "b_always")


@dataclass(frozen=True, eq=False)
class Distinguishability:
    """Rates at which a measure ranks a above b at each list length, and at which this order holds from that length on.

    "From that length on" refers to the lengths examined, up to `largest`, and to nothing beyond.

    Attributes
    ----------
    measure : str
        Text of the measure.
    names : tuple of str
        Names of a and b.
    source : {"models", "scores"}
        Whether new documents were drawn from models, or the first documents of random orders were taken from real scores.
    sizes : int64 array, shape (m,)
        List lengths, rising.
    runs : int
        Number of growing lists drawn.
    level : float
        Confidence level of the intervals.
    counts : dict of str to int64 array, shape (m,)
        Number of runs in which a was better at a length (``a_better``), in which b was (``b_better``), and in which this held at that
        length and every larger one examined (``a_always``, ``b_always``); ``constant`` is the sum of the last two. A run with equal values
        counts for neither.

    Examples
    --------
    >>> from idealrank.theory import distinguish
    >>> table = distinguish(lambda s: 0.1 + 0.8 * s, lambda s: 0.5, sizes=[10, 100, 1000], runs=50, rng=1)
    >>> table.largest, table.share("a_better").tolist(), table.last_decade.tolist()
    (1000, [0.82, 1.0, 1.0], [False, True, True])
    """

    measure: str
    names: tuple[str, str]
    source: Literal["models", "scores"]
    sizes: IntArray
    runs: int
    level: float
    counts: dict[Column, IntArray]

    @property
    def largest(self) -> int:
        """Longest list examined."""
        return int(self.sizes[-1])

    @property
    def last_decade(self) -> BoolArray:
        """Lengths of at least a tenth of the largest: stability from there on was observed over one decade at most."""
        mask: BoolArray = self.sizes * 10 >= self.largest
        return mask

    def share(self, column: Column) -> FloatArray:
        """Estimated probability, shape (m,)."""
        share: FloatArray = self.counts[column] / self.runs
        return share

    def interval(self, column: Column) -> FloatArray:
        """Clopper-Pearson interval of that probability, shape (m, 2): the Monte Carlo error of a finite number of runs.

        Examples
        --------
        >>> from idealrank.theory import distinguish
        >>> distinguish(lambda s: s, lambda s: 0.5, sizes=[1000], runs=50, rng=1).interval("a_better").round(3).tolist()
        [[0.929, 1.0]]
        """
        return np.stack(clopper_pearson(self.share(column), np.full(self.sizes.size, float(self.runs)), self.level), axis=1)

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a dataframe with a row for each length: probabilities, intervals, and whether it is in the last decade.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}
            Any eager dataframe library that narwhals supports and that is installed.

        Examples
        --------
        >>> from idealrank.theory import distinguish
        >>> distinguish(lambda s: s, lambda s: 0.5, sizes=[10], runs=9, rng=1).to_frame("polars").columns[:4]
        ['size', 'a_better', 'a_better_low', 'a_better_high']
        """
        columns: dict[str, Any] = {"size": self.sizes}
        for name in _COLUMNS:
            ends = self.interval(name)
            columns |= {name: self.share(name), f"{name}_low": ends[:, 0], f"{name}_high": ends[:, 1]}
        columns["last_decade"] = self.last_decade
        return frame_of(columns, backend)

    def __str__(self) -> str:
        a, b = self.names
        lists = "lists of fresh documents" if self.source == "models" else "random orders of the documents"
        lines = [
            f"{self.measure}, {a} against {b}: {self.runs} growing {lists}",
            f"{'N':>11}  {f'P({a} > {b})':>24}  {'P(one sign from N on)':>24}",
        ]
        better, constant = self._cells("a_better"), self._cells("constant")
        for size, first, second, late in zip(self.sizes.tolist(), better, constant, self.last_decade, strict=True):
            lines.append(f"{size:>11,}  {first:>24}  {second:>24}{' *' if late else ''}")
        return "\n".join((*lines, *self._notes()))

    def _cells(self, column: Column) -> list[str]:
        return [f"{p:.3f} [{low:.3f}, {high:.3f}]" for p, (low, high) in zip(self.share(column), self.interval(column), strict=True)]

    def _notes(self) -> list[str]:
        a, b = self.names
        notes = ["* watched over one decade at most: a sign that stays so briefly may be mere persistence"]
        if (early := np.flatnonzero(~self.last_decade)).size:
            at = int(early[-1])
            always = f"{a} ahead in {self.share('a_always')[at]:.3f}, {b} in {self.share('b_always')[at]:.3f}"
            notes.append(
                f"From N = {self.sizes[at]:,} to {self.largest:,} the sign stayed in {self._cells('constant')[at]} of the runs: {always}."
            )
        if self.source == "scores":
            notes.append(
                "The lists of all runs have the more documents in common the longer they are; lists of all documents are one list."
            )
        notes.append(f"Nothing is said about lists longer than {self.largest:,}.")
        return notes


def distinguish(
    a: Any,
    b: Any,
    *,
    discount: DiscountLike = "log2",
    cutoff: CutoffLike = None,
    sizes: "Sizes | None" = None,
    runs: int = 200,
    rng: RandomLike = None,
    labels: Any = None,
    points: Iterable[float] = (),
    gain: GainLike = "linear",
    names: tuple[str, str] = ("a", "b"),
    level: float = 0.95,
    threads: int | None = None,
    progress: ProgressCall | None = None,
) -> Distinguishability:
    """Estimate how likely NDCG ranks one ranker above the other at each list length, and keeps this order on all longer lists.

    Parameters
    ----------
    a, b : callable, mapping or RelevanceModel; or arrays, shape (n,), with `labels`
        Without labels: two models of relevance with the same share of relevant documents, whose scores are independent given the relevance
        of a document. With labels: the scores that two rankers gave n documents.
    discount, cutoff
        As for `simulate`.
    sizes : sequence of int, optional
        List lengths; default eight per decade, for models from 100 to 100,000, for scores from 10 to n. A sign that changes twice between
        two lengths is not seen, so few lengths make the order appear more stable.
    runs : int, optional
        Number of growing lists. Clopper-Pearson intervals of 200 runs are at most 0.14 wide.
    rng : Generator, seed or None
        Random generator or seed. Results do not depend on the number of threads.
    labels : array, shape (n,), optional
        Grades of the documents. Each run takes the documents in random order, and each list is its beginning: resampling without
        replacement from these n documents. The result shows how the verdict depends on which of them were drawn, not on other documents.
        The longest lists of all runs have nearly all documents in common, so their verdicts agree for any measure. Tied scores give the
        mean over all their orders.
    points, gain
        As for `simulate`, for both models.
    names : pair of str, optional
        Names of a and b.
    level : float, optional
        Confidence level of the Monte Carlo intervals.
    threads, progress
        As for `simulate`.

    Returns
    -------
    Distinguishability
        A row for each length; the lengths of the last decade are marked.

    Raises
    ------
    InputError
        The models have different shares of relevant documents; scores and labels differ in length, are not finite, or all documents have
        the same gain.
    OptionError
        An option has an invalid value; the message names it.

    References
    ----------
    Wang et al. (2013), A theoretical analysis of NDCG type ranking measures, COLT, Definition 5 (consistent distinguishability).

    Examples
    --------
    >>> from idealrank.theory import distinguish
    >>> print(distinguish(lambda s: 0.1 + 0.8 * s, lambda s: 0.5, sizes=[10, 100, 1000], runs=100, rng=1))
    nDCG, a against b: 100 growing lists of fresh documents
              N                  P(a > b)     P(one sign from N on)
             10      0.830 [0.742, 0.898]      0.830 [0.742, 0.898]
            100      1.000 [0.964, 1.000]      1.000 [0.964, 1.000] *
          1,000      1.000 [0.964, 1.000]      1.000 [0.964, 1.000] *
    * watched over one decade at most: a sign that stays so briefly may be mere persistence
    From N = 10 to 1,000 the sign stayed in 0.830 [0.742, 0.898] of the runs: a ahead in 0.830, b in 0.000.
    Nothing is said about lists longer than 1,000.
    """
    options: dict[str, Any] = {"sizes": sizes, "runs": runs, "rng": rng, "labels": labels, "points": points, "gain": gain, "names": names}
    return distinguish_many(a, b, [(discount, cutoff)], **options, level=level, threads=threads, progress=progress)[0]


def distinguish_many(
    a: Any,
    b: Any,
    measures: Iterable[Pair],
    *,
    sizes: "Sizes | None" = None,
    runs: int = 200,
    rng: RandomLike = None,
    labels: Any = None,
    points: Iterable[float] = (),
    gain: GainLike = "linear",
    names: tuple[str, str] = ("a", "b"),
    level: float = 0.95,
    threads: int | None = None,
    progress: ProgressCall | None = None,
) -> tuple[Distinguishability, ...]:
    """Run `distinguish` for several discounts and cutoffs, on the same lists.

    Parameters
    ----------
    a, b, sizes, runs, rng, labels, points, gain, names, level, threads, progress
        As for `distinguish`.
    measures : iterable of (discount, cutoff)
        Pairs of discount and cutoff, such as ``[("log2", None), ("geometric(2)", None)]``.

    Returns
    -------
    tuple of Distinguishability
        One for each measure, in that order.

    Raises
    ------
    InputError, OptionError
        As for `distinguish`.

    Examples
    --------
    >>> from idealrank.theory import distinguish_many
    >>> pairs = [("log2", None), ("geometric(2)", None)]
    >>> tables = distinguish_many(lambda s: 0.1 + 0.8 * s, lambda s: 0.5, pairs, sizes=[100, 1000], runs=100, rng=1)
    >>> [float(table.share("a_better")[-1]) for table in tables]
    [1.0, 0.96]
    """
    pairs, runs = weighings(measures), whole_number("runs", runs)
    if not 0 < level < 1:
        raise OptionError(f"level={level}: expected a number between 0 and 1, as 0.95")
    if np.shape(names) != (2,):
        raise OptionError(f"names={names!r}: expected what a and b are called, as ('a', 'b')")
    rivals = _rivals(a, b, labels, points, gain)
    checked = _checked_sizes(sizes, rivals.documents)
    tables = [tables_of(pairs, size) for size in checked.tolist()]
    signs = np.zeros((runs, checked.size, len(pairs)), np.int8)

    def work(block: SampleBlock) -> None:
        signs[block.first] = rivals.signs(checked, tables, block.streams.main)

    run_blocks(work, runs, 1, generator_of(rng), threads=threads, progress=progress)
    source: Literal["models", "scores"] = "models" if labels is None else "scores"
    return tuple(
        Distinguishability(pair.text, (str(names[0]), str(names[1])), source, checked, runs, level, _counts(signs[:, :, at]))
        for at, pair in enumerate(pairs)
    )


def _rivals(a: Any, b: Any, labels: Any, points: Iterable[float], gain: GainLike) -> Rivals:
    if labels is not None:
        return ScoreRivals.of(a, b, labels, gain)
    for name, model in (("a", a), ("b", b)):
        if isinstance(model, (np.ndarray, Sequence)):
            raise InputError(f"{name}: found scores without labels; expected labels=[...] with them, or two models of relevance")
    return ModelRivals.of(a, b, points, gain)


def _checked_sizes(sizes: "Sizes | None", documents: int | None) -> IntArray:
    """Sizes, rising."""
    if sizes is None:
        first, last = (_SMALLEST, _LARGEST) if documents is None else (min(_FIRST_OF_SCORES, documents), documents)
        steps = np.arange(0, np.log10(last / first), 1 / _A_DECADE)
        return np.unique(np.append(np.round(first * 10**steps).astype(np.int64), last))
    checked = np.unique(sizes_of(sizes))
    if documents is not None and checked[-1] > documents:
        raise OptionError(f"sizes: {checked[-1]:,} is more than the {documents:,} documents there are")
    return checked


def _counts(signs: Signs) -> dict[Column, IntArray]:
    """From signs of shape (runs, n_sizes)."""
    above, below = signs > 0, signs < 0
    counts: dict[Column, IntArray] = {"a_better": above.sum(axis=0), "b_better": below.sum(axis=0)}
    counts["a_always"], counts["b_always"] = _always(above), _always(below)
    counts["constant"] = counts["a_always"] + counts["b_always"]
    return counts


def _always(there: BoolArray) -> IntArray:
    """In how many runs something is there from each size on."""
    from_here_on: BoolArray = np.logical_and.accumulate(there[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(from_here_on.sum(axis=0), np.int64)
