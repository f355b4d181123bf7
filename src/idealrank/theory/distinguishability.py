"""Stability of a measure's order of two rankers as lists grow: which of them has the larger DCG at
each size of the same list.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.data.interchange import frame_of
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.measures.discounts import DiscountLike
from idealrank.measures.gains import GainLike, make_gain
from idealrank.stats.intervals import clopper_pearson
from idealrank.stats.randomness import RandomLike, generator_of, whole_number
from idealrank.theory.relevance import Chance, ModelLike, RelevanceModel, values_of
from idealrank.theory.simulation import (
    CutoffLike,
    Levels,
    Pair,
    ProgressCall,
    SampleBlock,
    Sizes,
    WeightTable,
    gains_of,
    run_blocks,
    sizes_of,
    tables_of,
    weighings,
)

# Of the difference between a and b: 1, 0 or -1.
Signs: TypeAlias = npt.NDArray[np.int8]

# Cells of the inverse distribution functions; each has its exact mass, and only the inside of a
# cell is approximate
_CELLS = 1 << 14
_ROUNDING = 1e-14  # relative: DCGs that are closer differ by how they were summed
_SAME_SHARE = 1e-6  # by which the shares of a grade under two models may differ


class Rivals(Protocol):
    """Two rankers and the documents they rank."""

    @property
    def documents(self) -> int | None: ...  # None where there is no end of them
    def signs(
        self, sizes: IntArray, tables: Sequence[Sequence[WeightTable]], rng: np.random.Generator
    ) -> Signs: ...


def sign_of(a: float, b: float) -> int:
    """1 where a is the larger, -1 where b is, 0 where rounding alone tells them apart."""
    if abs(a - b) <= _ROUNDING * max(abs(a), abs(b)):
        return 0
    return 1 if a > b else -1


@dataclass(frozen=True, kw_only=True)
class ModelRivals:
    """Two models of relevance with one share of each grade; the scores are independent given the
    relevance of a document.
    """

    gains: FloatArray  # of each level, rising from 0
    shares: FloatArray  # of each level
    a: "_ScoreLaws"
    b: "_ScoreLaws"

    documents: None = None

    @classmethod
    def of(
        cls, a: ModelLike, b: ModelLike, points: Iterable[float], gain: GainLike
    ) -> "ModelRivals":
        """Prepare two models, which must give each grade the same share."""
        first, second = (RelevanceModel.of(model, points=points, gain=gain) for model in (a, b))
        if first.gains != second.gains:
            raise InputError(
                f"a has gains {first.gains} and b {second.gains}; expected the same, since both "
                "rank the same documents"
            )
        gaps = np.abs(np.subtract(first.reached, second.reached))
        if gaps.max() > _SAME_SHARE:
            grade = int(gaps.argmax())
            raise InputError(
                f"P(Y >= {first.gains[grade]:g}) is {first.reached[grade]:.9g} under a and "
                f"{second.reached[grade]:.9g} under b; expected the same, since both rank the same "
                "documents: the mean of ybar over [0, 1] is the share of relevant documents"
            )
        at_least = np.array([*first.reached[::-1], 0.0])  # P(Y >= y) of the gains, rising
        shares = np.concatenate(([1.0 - at_least[0]], at_least[:-1] - at_least[1:]))
        return cls(
            gains=np.array([0.0, *first.gains[::-1]]),
            shares=shares / shares.sum(),
            a=_ScoreLaws.of(first),
            b=_ScoreLaws.of(second),
        )

    def signs(
        self, sizes: IntArray, tables: Sequence[Sequence[WeightTable]], rng: np.random.Generator
    ) -> Signs:
        """Return the signs of one growing list: shape (n_sizes, n_measures)."""
        # The longest list is drawn first, and each shorter one from the next longer.
        counts = [rng.multinomial(int(sizes[-1]), self.shares)]
        for size in sizes[-2::-1].tolist():
            counts.append(rng.multivariate_hypergeometric(counts[-1], size))
        arrived = np.array(counts[::-1])
        values_a = self._grown(self.a, arrived, tables, rng)
        values_b = self._grown(self.b, arrived, tables, rng)
        signs = []
        for row_a, row_b in zip(values_a, values_b, strict=True):
            signs.append([sign_of(a, b) for a, b in zip(row_a, row_b, strict=True)])
        return np.array(signs, np.int8)

    def _grown(
        self,
        laws: "_ScoreLaws",
        arrived: IntArray,
        tables: Sequence[Sequence[WeightTable]],
        rng: np.random.Generator,
    ) -> list[list[float]]:
        """DCG of one ranker at each size; `arrived` has how many documents of each level are there
        by then.
        """
        levels = laws.ranked(arrived[-1], rng)
        since = np.empty(levels.size, np.int64)  # the first size at which a document is there
        for level, count in enumerate(np.diff(arrived, axis=0, prepend=0).T):
            since[levels == level] = rng.permutation(np.repeat(np.arange(count.size), count))
        rows = []
        for size in range(len(tables) - 1, -1, -1):
            there = since <= size
            # much faster than levels[there]
            levels = np.compress(there, levels)
            since = np.compress(there, since)
            rows.append(dcgs(gains_of(levels, self.gains), tables[size]))
        return rows[::-1]


@dataclass(frozen=True)
class _ScoreLaws:
    """Distribution function of a ranker's score at each level, the lowest first, on a grid."""

    grid: FloatArray
    distributions: tuple[FloatArray, ...]

    @classmethod
    def of(cls, model: RelevanceModel) -> "_ScoreLaws":
        grid = _grid(model)
        return cls(grid, _distributions(model, grid))

    def ranked(self, counts: IntArray, rng: np.random.Generator) -> Levels:
        """Levels in the order of the ranker, of so many documents of each."""
        # Running sums of exponentials over their total are uniforms in rising order, so the scores
        # of each level are sorted already, and a stable sort merges them.
        scores = []
        for count, distribution in zip(counts.tolist(), self.distributions, strict=True):
            steps = np.cumsum(rng.standard_exponential(count + 1))
            scores.append(np.interp(steps[:-1] / steps[-1], distribution, self.grid))
        order = np.argsort(np.concatenate(scores), kind="stable")
        return np.repeat(np.arange(counts.size, dtype=np.uint8), counts)[order[::-1]]


def _grid(model: RelevanceModel) -> FloatArray:
    return np.unique(np.concatenate((np.linspace(0.0, 1.0, _CELLS + 1), model.points)))


def _distributions(model: RelevanceModel, grid: FloatArray) -> tuple[FloatArray, ...]:
    """Distribution function of the score at each level on a grid: that of gain 0 first, then as the
    gains rise.
    """
    chances: list[Callable[[FloatArray], FloatArray]] = [
        partial(values_of, chance) for chance in model.chances[::-1]
    ]
    chances.insert(0, lambda score: 1.0 - _total(model.chances, score))
    return tuple(_distribution(chance, grid) for chance in chances)


def _total(chances: Sequence[Chance], score: FloatArray) -> FloatArray:
    total = np.zeros(score.shape)
    for chance in chances:
        total += values_of(chance, score)
    return total


def _distribution(chance: Callable[[FloatArray], FloatArray], grid: FloatArray) -> FloatArray:
    nodes, weights = np.polynomial.legendre.leggauss(4)
    half = np.diff(grid) / 2
    middle = (grid[1:] + grid[:-1]) / 2
    scores = middle[:, None] + half[:, None] * nodes
    values = np.maximum(chance(scores.reshape(-1)), 0.0).reshape(-1, nodes.size)
    below = np.concatenate(([0.0], np.cumsum((values * weights).sum(axis=1) * half)))
    return below / below[-1] if below[-1] > 0 else grid  # a level that never occurs


def dcgs(gains: FloatArray, tables: Sequence[WeightTable]) -> list[float]:
    """DCG of one list under each table."""
    return [float((gains[: table.weights.size] * table.weights).sum()) for table in tables]


@dataclass(frozen=True)
class ScoreRivals:
    """Two columns of scores and the labels of the documents, whose lists are the first documents of
    random orders.
    """

    orders: tuple["_Order", "_Order"]
    documents: int

    @classmethod
    def of(cls, a: Any, b: Any, labels: Any, gain: GainLike) -> "ScoreRivals":
        """Rank the documents of arrays, shape (n,), by either column of scores."""
        label, first, second = (
            _column(name, values) for name, values in (("labels", labels), ("a", a), ("b", b))
        )
        if not label.size == first.size == second.size:
            raise InputError(
                f"found {label.size} labels and scores of {first.size} and {second.size} "
                f"documents; expected one length"
            )
        gains = np.asarray(make_gain(gain)(label), np.float64)
        if (gains < 0).any():
            raise InputError(f"labels: a gain is {gains.min():g}; expected gains of 0 or more")
        if not label.size or gains.min() == gains.max():
            content = "no document"
            if label.size:
                content = f"all {label.size} documents have gain {gains[0]:g}"
            raise InputError(
                f"labels: {content}; expected some relevant and some that are not, else every "
                "order has the same value"
            )
        return cls((_Order.of(first, gains), _Order.of(second, gains)), label.size)

    def signs(
        self, sizes: IntArray, tables: Sequence[Sequence[WeightTable]], rng: np.random.Generator
    ) -> Signs:
        """Return the signs of one random order of the documents: shape (n_sizes, n_measures)."""
        arrival = rng.permutation(self.documents)
        signs = np.zeros((sizes.size, len(tables[0])), np.int8)
        order_a, order_b = self.orders
        for row, size in enumerate(sizes.tolist()):
            values_a = order_a.dcgs(arrival, size, tables[row])
            values_b = order_b.dcgs(arrival, size, tables[row])
            signs[row] = [sign_of(a, b) for a, b in zip(values_a, values_b, strict=True)]
        return signs


@dataclass(frozen=True)
class _Order:
    """Documents by falling score, their gains, and a number for each score; None if all differ."""

    documents: IntArray
    gains: FloatArray
    groups: IntArray | None

    @classmethod
    def of(cls, scores: FloatArray, gains: FloatArray) -> "_Order":
        documents = np.argsort(-scores, kind="stable")
        changes = np.diff(scores[documents]) != 0
        groups = None if changes.all() else np.concatenate(([0], np.cumsum(changes)))
        return cls(documents=documents, gains=gains[documents], groups=groups)

    def dcgs(self, arrival: IntArray, size: int, tables: Sequence[WeightTable]) -> list[float]:
        """DCG of the first documents to arrive; tied ones weigh the mean of their ranks, as over
        all their orders.
        """
        has_arrived = arrival[self.documents] < size
        gains = np.compress(has_arrived, self.gains)
        if self.groups is None:
            return dcgs(gains, tables)
        groups = np.compress(has_arrived, self.groups)
        ends = np.append(np.flatnonzero(np.diff(groups)) + 1, size)
        starts = np.concatenate(([0], ends[:-1]))
        totals = np.add.reduceat(gains, starts)
        values = []
        for table in tables:
            sums = table.sums[np.minimum(np.concatenate(([0], ends)), table.weights.size)]
            values.append(float((totals * np.diff(sums) / (ends - starts)).sum()))
        return values


def _column(name: str, values: Any) -> FloatArray:
    try:
        column = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        column = np.empty((0, 0))
    if column.ndim != 1:
        raise InputError(
            f"{name}: expected numbers in one row, one for each document; without labels, a and b "
            "are models of relevance"
        )
    if not np.isfinite(column).all():
        document = int(np.flatnonzero(~np.isfinite(column))[0])
        raise InputError(f"{name}[{document}] is {column[document]}; expected finite numbers")
    return column


_SMALLEST, _LARGEST = 100, 100_000  # default sizes of models
_A_DECADE = 8  # default sizes for each power of 10
_FIRST_OF_SCORES = 10  # default first size of scores

Column = Literal["a_better", "b_better", "constant", "a_always", "b_always"]
_COLUMNS: tuple[Column, ...] = ("a_better", "b_better", "constant", "a_always", "b_always")


@dataclass(frozen=True, kw_only=True, eq=False)
class Distinguishability:
    """Rates at which a measure ranks a above b at each list length, and at which this order holds
    from that length on.

    "From that length on" refers to the lengths examined, up to `largest`, and to nothing beyond.

    Attributes
    ----------
    measure : str
        Text of the measure.
    names : tuple of str
        Names of a and b.
    source : {"models", "scores"}
        Whether new documents were drawn from models, or the first documents of random orders were
        taken from real scores.
    sizes : int64 array, shape (m,)
        List lengths, rising.
    runs : int
        Number of growing lists drawn.
    level : float
        Confidence level of the intervals.
    counts : dict of str to int64 array, shape (m,)
        Number of runs in which a was better at a length (``a_better``), in which b was
        (``b_better``), and in which this held at that length and every larger one examined
        (``a_always``, ``b_always``); ``constant`` is the sum of the last two. A run with equal
        values counts for neither.

    Examples
    --------
    >>> from idealrank.theory import distinguish
    >>> table = distinguish(
    ...     lambda s: 0.1 + 0.8 * s, lambda s: 0.5, sizes=[10, 100, 1000], runs=50, rng=1
    ... )
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
        """Lengths of at least a tenth of the largest: stability from there on was observed over one
        decade at most.
        """
        mask: BoolArray = self.sizes * 10 >= self.largest
        return mask

    def share(self, column: Column) -> FloatArray:
        """Estimated probability, shape (m,)."""
        share: FloatArray = self.counts[column] / self.runs
        return share

    def interval(self, column: Column) -> FloatArray:
        """Clopper-Pearson interval of that probability, shape (m, 2): the Monte Carlo error of a
        finite number of runs.

        Examples
        --------
        >>> from idealrank.theory import distinguish
        >>> distinguish(lambda s: s, lambda s: 0.5, sizes=[1000], runs=50, rng=1).interval(
        ...     "a_better"
        ... ).round(3).tolist()
        [[0.929, 1.0]]
        """
        runs = np.full(self.sizes.size, float(self.runs))
        return np.stack(clopper_pearson(self.share(column), runs, self.level), axis=1)

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a dataframe with a row for each length: probabilities, intervals, and whether it
        is in the last decade.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}
            Any eager dataframe library that narwhals supports and that is installed.

        Examples
        --------
        >>> from idealrank.theory import distinguish
        >>> distinguish(lambda s: s, lambda s: 0.5, sizes=[10], runs=9, rng=1).to_frame(
        ...     "polars"
        ... ).columns[:4]
        ['size', 'a_better', 'a_better_low', 'a_better_high']
        """
        columns: dict[str, Any] = {"size": self.sizes}
        for name in _COLUMNS:
            ends = self.interval(name)
            columns |= {
                name: self.share(name),
                f"{name}_low": ends[:, 0],
                f"{name}_high": ends[:, 1],
            }
        columns["last_decade"] = self.last_decade
        return frame_of(columns, backend)

    def __str__(self) -> str:
        a, b = self.names
        lists = "random orders of the documents"
        if self.source == "models":
            lists = "lists of fresh documents"
        lines = [
            f"{self.measure}, {a} against {b}: {self.runs} growing {lists}",
            f"{'N':>11}  {f'P({a} > {b})':>24}  {'P(one sign from N on)':>24}",
        ]
        better = self._cells("a_better")
        constant = self._cells("constant")
        for row, size in enumerate(self.sizes.tolist()):
            mark = " *" if self.last_decade[row] else ""
            lines.append(f"{size:>11,}  {better[row]:>24}  {constant[row]:>24}{mark}")
        return "\n".join((*lines, *self._notes()))

    def _cells(self, column: Column) -> list[str]:
        return [
            f"{p:.3f} [{low:.3f}, {high:.3f}]"
            for p, (low, high) in zip(self.share(column), self.interval(column), strict=True)
        ]

    def _notes(self) -> list[str]:
        a, b = self.names
        notes = ["* covers at most one factor of 10: a sign that stays so briefly may be chance"]
        early = np.flatnonzero(~self.last_decade)
        if early.size:
            row = int(early[-1])
            always = (
                f"{a} ahead in {self.share('a_always')[row]:.3f}, {b} in "
                f"{self.share('b_always')[row]:.3f}"
            )
            notes.append(
                f"From N = {self.sizes[row]:,} to {self.largest:,} the sign stayed in "
                f"{self._cells('constant')[row]} of the runs: {always}."
            )
        if self.source == "scores":
            notes.append(
                "The longer the lists, the more documents they share; lists of all documents are "
                "one list."
            )
        notes.append(f"The simulation does not cover lists longer than {self.largest:,}.")
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
    """Estimate how likely NDCG ranks one ranker above the other at each list length, and keeps this
    order on all longer lists.

    Parameters
    ----------
    a, b : callable, mapping or RelevanceModel; or arrays, shape (n,), with `labels`
        Without labels: two models of relevance with the same share of relevant documents, whose
        scores are independent given the relevance of a document. With labels: the scores that two
        rankers gave n documents.
    discount, cutoff
        As for `simulate`.
    sizes : sequence of int, optional
        List lengths; default eight per decade, for models from 100 to 100,000, for scores from 10
        to n. A sign that changes twice between two lengths is not seen, so few lengths make the
        order appear more stable.
    runs : int, optional
        Number of growing lists. Clopper-Pearson intervals of 200 runs are at most 0.14 wide.
    rng : Generator, seed or None
        Random generator or seed. Results do not depend on the number of threads.
    labels : array, shape (n,), optional
        Grades of the documents. Each run takes the documents in random order, and each list is its
        beginning: resampling without replacement from these n documents. The result shows how the
        verdict depends on which of them were drawn, not on other documents. The longest lists of
        all runs have nearly all documents in common, so their verdicts agree for any measure. Tied
        scores give the mean over all their orders.
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
        The models have different shares of relevant documents; scores and labels differ in length,
        are not finite, or all documents have the same gain.
    OptionError
        An option has an invalid value; the message names it.

    References
    ----------
    Wang et al. (2013), A theoretical analysis of NDCG type ranking measures, COLT, Definition 5
    (consistent distinguishability).

    Examples
    --------
    >>> from idealrank.theory import distinguish
    >>> print(
    ...     distinguish(
    ...         lambda s: 0.1 + 0.8 * s, lambda s: 0.5, sizes=[10, 100, 1000], runs=100, rng=1
    ...     )
    ... )
    nDCG, a against b: 100 growing lists of fresh documents
              N                  P(a > b)     P(one sign from N on)
             10      0.830 [0.742, 0.898]      0.830 [0.742, 0.898]
            100      1.000 [0.964, 1.000]      1.000 [0.964, 1.000] *
          1,000      1.000 [0.964, 1.000]      1.000 [0.964, 1.000] *
    * covers at most one factor of 10: a sign that stays so briefly may be chance
    From N = 10 to 1,000 the sign stayed in 0.830 [0.742, 0.898] of the runs: a ahead in 0.830, b in 0.000.
    The simulation does not cover lists longer than 1,000.
    """  # noqa: E501
    options: dict[str, Any] = {
        "sizes": sizes,
        "runs": runs,
        "rng": rng,
        "labels": labels,
        "points": points,
        "gain": gain,
        "names": names,
    }
    return distinguish_many(
        a, b, [(discount, cutoff)], **options, level=level, threads=threads, progress=progress
    )[0]


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
    >>> tables = distinguish_many(
    ...     lambda s: 0.1 + 0.8 * s, lambda s: 0.5, pairs, sizes=[100, 1000], runs=100, rng=1
    ... )
    >>> [float(table.share("a_better")[-1]) for table in tables]
    [1.0, 0.96]
    """
    pairs = weighings(measures)
    runs = whole_number("runs", runs)
    if not 0 < level < 1:
        raise OptionError(f"level={level}: expected a number between 0 and 1, as 0.95")
    if np.shape(names) != (2,):
        raise OptionError(f"names={names!r}: expected names of a and b, as ('a', 'b')")
    rivals = _rivals(a, b, labels, points, gain)
    checked = _checked_sizes(sizes, rivals.documents)
    tables = [tables_of(pairs, size) for size in checked.tolist()]
    signs = np.zeros((runs, checked.size, len(pairs)), np.int8)

    def work(block: SampleBlock) -> None:
        signs[block.first] = rivals.signs(checked, tables, block.streams.main)

    run_blocks(work, runs, 1, generator_of(rng), threads=threads, progress=progress)
    source: Literal["models", "scores"] = "models" if labels is None else "scores"
    return tuple(
        Distinguishability(
            measure=pair.text,
            names=(str(names[0]), str(names[1])),
            source=source,
            sizes=checked,
            runs=runs,
            level=level,
            counts=_counts(signs[:, :, number]),
        )
        for number, pair in enumerate(pairs)
    )


def _rivals(a: Any, b: Any, labels: Any, points: Iterable[float], gain: GainLike) -> Rivals:
    if labels is not None:
        return ScoreRivals.of(a, b, labels, gain)
    for name, model in (("a", a), ("b", b)):
        if isinstance(model, (np.ndarray, Sequence)):
            raise InputError(
                f"{name}: found scores without labels; expected labels=[...] with them, or two "
                "models of relevance"
            )
    return ModelRivals.of(a, b, points, gain)


def _checked_sizes(sizes: "Sizes | None", documents: int | None) -> IntArray:
    """Sizes, rising."""
    if sizes is None:
        first, last = _SMALLEST, _LARGEST
        if documents is not None:
            first = min(_FIRST_OF_SCORES, documents)
            last = documents
        steps = np.arange(0, np.log10(last / first), 1 / _A_DECADE)
        return np.unique(np.append(np.round(first * 10**steps).astype(np.int64), last))
    checked = np.unique(sizes_of(sizes))
    if documents is not None and checked[-1] > documents:
        raise OptionError(
            f"sizes: {checked[-1]:,} is more than the {documents:,} documents there are"
        )
    return checked


def _counts(signs: Signs) -> dict[Column, IntArray]:
    """Count signs of shape (runs, n_sizes)."""
    a_better = signs > 0
    b_better = signs < 0
    a_always = _always(a_better)
    b_always = _always(b_better)
    return {
        "a_better": a_better.sum(axis=0),
        "b_better": b_better.sum(axis=0),
        "a_always": a_always,
        "b_always": b_always,
        "constant": a_always + b_always,
    }


def _always(better: BoolArray) -> IntArray:
    """Number of runs in which a ranker is better from each size on."""
    from_here_on: BoolArray = np.logical_and.accumulate(better[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(from_here_on.sum(axis=0), np.int64)
