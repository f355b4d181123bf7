"""ybar from data: the chance of relevance along a list, how sure it is, and what it implies for
NDCG of longer lists.

The estimators smooth the labels of a sample; their settings have defaults, and a kernel looks as
far as cross-validation says.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.measures.cutoffs import RelativeCutoff
from idealrank.measures.discounts import DiscountLike
from idealrank.measures.gains import GainLike
from idealrank.stats.randomness import RandomLike, generator_of
from idealrank.theory.decay import decay_of, growth_of
from idealrank.theory.estimation.bands import effective_size, monotone_bounds, wilson
from idealrank.theory.estimation.rising import MonotoneCheck, check_monotone
from idealrank.theory.estimation.sample import Sample
from idealrank.theory.estimation.smoothing import (
    GRID,
    LEAST_WEIGHT,
    Binned,
    Cells,
    Curves,
    Isotonic,
    Kernel,
    Smoother,
    along,
    near,
    place_of,
    step_of,
)
from idealrank.theory.expectation import pseudo_expectation
from idealrank.theory.limits import limit
from idealrank.theory.relevance import Chance, RelevanceModel

_CELLS = 256  # places of the documents when a bandwidth is chosen
_NARROWEST = 1 / (GRID - 1)  # bandwidth: a step of the grid
# The bandwidth that predicts best has a bias as large as its noise; a band needs less bias than
# that.
_SHRINK = 0.7
_SHARES = (2.0, 1.4, 1.0, 0.7, 0.5, 0.35, 0.25)  # of the widest bandwidth, tried one by one


def chosen_bandwidth(sample: Sample) -> float:
    """Return 0.7 of the bandwidth, among several, that predicts each document best from the others;
    at most 0.6 n^-1/4.

    Fan and Gijbels (1996), Local Polynomial Modelling and Its Applications, section 4.10.
    """
    cells = near(sample.cells, _CELLS)
    widest = min(0.6 * sample.n**-0.25, _WIDEST)
    wide_enough = [share for share in _SHARES if widest * share >= _NARROWEST]
    width = _NARROWEST
    if wide_enough:  # of equal errors, the first and widest counts
        best = min(wide_enough, key=lambda share: _error(cells, widest * share / _SHRINK))
        width = max(min(best, 1.0) * widest, _NARROWEST)
    while width < 1 and not _reaches_all(cells, width):
        width = min(1.25 * width, 1.0)
    return width


def _reaches_all(cells: Cells, width: float) -> bool:
    """Return whether two cells or more are within the bandwidth of each place of the grid."""
    totals = _totals(Kernel(width).weights(cells), cells.count)
    return bool((totals > LEAST_WEIGHT).all())


def _totals(weights: FloatArray, counts: FloatArray) -> FloatArray:
    """The weighted sum over the cells at each place."""
    return np.asarray(np.einsum("pc,c->p", weights, counts))


def _error(cells: Cells, bandwidth: float) -> float:
    """Sum of squared errors when each document is predicted from the others; infinite where they do
    not suffice.
    """
    weights = Kernel(bandwidth).weights(cells, cells.score)
    total = _totals(weights, cells.count)
    hits = cells.reached[-1]
    if not (total > LEAST_WEIGHT).all():
        return math.inf
    weight_of_itself = np.diag(weights) / total
    share = _totals(weights, hits) / total
    if not (weight_of_itself < 1 - LEAST_WEIGHT).all():
        return math.inf
    squares = hits * (1 - share) ** 2 + (cells.count - hits) * share**2
    # Without the document itself, its error is larger by the factor 1 / (1 - its own weight).
    return float((squares / (1 - weight_of_itself) ** 2).sum())


Method: TypeAlias = Literal["binned", "kernel", "isotonic"]

_MOST_BINS = 500
_WIDEST = 0.25  # share of the list that smooths a place, to either side


@dataclass(frozen=True, kw_only=True)
class SmoothingMethod:
    """A smoother, and what its band is made of."""

    smoother: Smoother
    text: str
    score: FloatArray  # where the estimate is listed
    code: IntArray  # cell of each document, for the band
    weights: FloatArray | None  # of each cell at each score; None where each score has one cell
    width: float = 0.0  # of the neighbourhood that bounds a rising function; 0 for other methods


def method_of(
    sample: Sample, method: str, bins: "int | Sequence[float] | None", bandwidth: float | None
) -> SmoothingMethod:
    """A method with its settings."""
    if method not in {"binned", "kernel", "isotonic"}:
        raise OptionError(f"method={method!r}: expected binned, kernel or isotonic")
    if bins is not None and method != "binned":
        raise OptionError(
            f"bins={bins!r}: only the binned method has bins, found method={method!r}"
        )
    if bandwidth is not None and method != "kernel":
        raise OptionError(
            f"bandwidth={bandwidth!r}: only the kernel method has a bandwidth, found "
            f"method={method!r}"
        )
    if method == "binned":
        return _binned(sample, bins)
    if method == "kernel":
        return _kernel(sample, bandwidth)
    width = min(sample.n ** (-1 / 3), _WIDEST)
    return SmoothingMethod(
        smoother=Isotonic(width / 2),
        text="isotonic",
        score=np.linspace(0.0, 1.0, GRID),
        code=np.zeros(0, np.int64),
        weights=None,
        width=width,
    )


def _binned(sample: Sample, bins: "int | Sequence[float] | None") -> SmoothingMethod:
    edges = _most_bins(sample) if bins is None else _edges(bins)
    code = step_of(edges, sample.score)
    empty = np.flatnonzero(np.bincount(code, minlength=edges.size - 1) == 0)
    if empty.size:
        first = int(empty[0])
        raise InputError(
            f"bins: no document has a canonical score from {edges[first]:g} to "
            f"{edges[first + 1]:g}; the shortest of the lists has {sample.shortest} documents; "
            "take fewer or wider bins"
        )
    text = f"binned ({edges.size - 1} bins)"
    return SmoothingMethod(
        smoother=Binned(tuple(edges.tolist())),
        text=text,
        score=(edges[1:] + edges[:-1]) / 2,
        code=code,
        weights=None,
    )


def _most_bins(sample: Sample) -> FloatArray:
    """Return as many equal bins as the square root of n, or as leave none empty."""
    places = sample.cells.score
    count = max(1, min(round(math.sqrt(sample.n)), places.size, _MOST_BINS))
    while count > 1 and np.unique(step_of(np.linspace(0, 1, count + 1), places)).size < count:
        count -= 1
    return np.linspace(0.0, 1.0, count + 1)


def _edges(bins: "int | Sequence[float]") -> FloatArray:
    if isinstance(bins, (int, np.integer)):
        if isinstance(bins, bool) or bins < 1:
            raise OptionError(f"bins={bins!r}: expected a number from 1 on, or edges from 0 to 1")
        return np.linspace(0.0, 1.0, int(bins) + 1)
    edges = np.asarray(bins, np.float64)
    if (
        edges.ndim != 1
        or edges.size < 2
        or edges[0] != 0
        or edges[-1] != 1
        or not (np.diff(edges) > 0).all()
    ):
        raise OptionError(
            f"bins={list(bins)}: expected rising edges from 0 to 1, as [0, 0.5, 0.8, 1]"
        )
    return edges


def _kernel(sample: Sample, bandwidth: float | None) -> SmoothingMethod:
    width = chosen_bandwidth(sample) if bandwidth is None else float(bandwidth)
    if not 0 < width <= 1:
        raise OptionError(
            f"bandwidth={bandwidth!r}: expected a share of the list, above 0 and at most 1"
        )
    kernel = Kernel(width)
    cells = near(sample.cells)
    weights = kernel.weights(cells)
    thin = np.flatnonzero(~(_totals(weights, cells.count) > LEAST_WEIGHT))
    if thin.size:
        raise InputError(
            f"bandwidth={width:g}: fewer than two canonical scores lie within it of "
            f"{thin[0] / (GRID - 1):g}; take a wider one, or bins"
        )
    place = place_of(sample.score)
    cell_of_place = np.cumsum(np.bincount(place) > 0) - 1  # `near` drops empty places
    return SmoothingMethod(
        smoother=kernel,
        text=f"kernel (bandwidth {width:.3g})",
        score=np.linspace(0.0, 1.0, GRID),
        code=cell_of_place[place],
        weights=weights,
    )


@dataclass(frozen=True, kw_only=True)
class Implied:
    """Implied NDCG of an estimate.

    Parameters
    ----------
    value : float
        NDCG implied by the estimate.
    low, high : float
        Percentile interval of the resampled estimates.
    level : float
        Confidence level of the interval, if the estimate is unbiased.
    n : int or None
        Length of the list; None for the limit.
    discount, cutoff : str
        Texts of discount and cutoff.
    drawn : str
        ``"documents"`` or ``"queries"``: the units resampled.
    resamples : int
        Number of samples.
    theorem : str
        For a limit, the theorem that states it.

    Examples
    --------
    >>> print(
    ...     Implied(
    ...         value=0.97,
    ...         low=0.96,
    ...         high=0.98,
    ...         level=0.95,
    ...         n=10**6,
    ...         discount="log2",
    ...         cutoff="",
    ...         drawn="documents",
    ...         resamples=500,
    ...     )
    ... )
    nDCG(discount=log2) of a list of 1,000,000: 0.9700 [0.9600, 0.9800] (95 %, 500 samples of documents)
    """  # noqa: E501

    value: float
    low: float
    high: float
    level: float
    n: int | None
    discount: str
    cutoff: str
    drawn: str
    resamples: int
    theorem: str = ""

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        where = f"in the limit ({self.theorem})" if self.n is None else f"of a list of {self.n:,}"
        interval = f"{self.value:.4f} [{self.low:.4f}, {self.high:.4f}]"
        samples = f"({100 * self.level:g} %, {self.resamples} samples of {self.drawn})"
        return f"nDCG(discount={self.discount}){self.cutoff} {where}: {interval} {samples}"


def interval_of(
    compute: Callable[[RelevanceModel], FloatArray], models: Iterable[RelevanceModel], level: float
) -> tuple[FloatArray, FloatArray]:
    """Ends between which the middle `level` of the values of these models lie."""
    values = np.stack([compute(model) for model in models])
    tail = (1 - level) / 2
    return np.quantile(values, tail, axis=0), np.quantile(values, 1 - tail, axis=0)


CutoffLike: TypeAlias = int | str | RelativeCutoff | None


@dataclass(frozen=True, kw_only=True, eq=False)
class YbarEstimate:
    """Estimate of ybar: call it with canonical scores, or pass it to `limit`, `pseudo_expectation`
    and `simulate`.

    Parameters
    ----------
    score : float64 array, shape (m,)
        Canonical scores at which the estimate is listed: middles of bins, or a grid.
    value, low, high : float64 array, shape (m,)
        The estimate at these scores, and its pointwise band.
    points : tuple of float
        Jumps or kinks of the estimate, for the functions that take `points`.
    method : str
        ``"binned"``, ``"kernel"`` or ``"isotonic"``, with its setting.
    n, n_queries : int
        Number of documents and queries.
    level : float
        Nominal coverage of the band at each score.
    check : MonotoneCheck
        Test of whether the labels contradict a rising ybar; check it before using an isotonic
        estimate.
    grades : tuple of float
        Falling; (1.0,) for binary relevance.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> scores = rng.random(2000)
    >>> found = estimate_ybar(rng.random(2000) < 0.1 + 0.8 * scores, scores)
    >>> found([0.1, 0.9]).round(2), [end.round(2) for end in found.band([0.1, 0.9])]
    (array([0.2 , 0.82]), [array([0.15, 0.77]), array([0.25, 0.86])])
    >>> print(found)
    ybar of 2,000 documents of 1 query, kernel (bandwidth 0.0897)
      0.065 [0.017, 0.218] at s = 0, 0.568 [0.509, 0.624] at s = 0.5, 0.781 [0.631, 0.881] at s = 1 (95 %)
      rising ybar not contradicted (p = 1, 10 blocks)
    >>> for implied in found.pseudo_expectation([2000, 10**6], resamples=100, rng=1):
    ...     print(implied)
    nDCG(discount=log2) of a list of 2,000: 0.9511 [0.9421, 0.9588] (95 %, 100 samples of documents)
    nDCG(discount=log2) of a list of 1,000,000: 0.9757 [0.9726, 0.9788] (95 %, 100 samples of documents)
    """  # noqa: E501

    score: FloatArray
    value: FloatArray
    low: FloatArray
    high: FloatArray
    points: tuple[float, ...]
    method: str
    n: int
    n_queries: int
    level: float
    check: MonotoneCheck
    grades: tuple[float, ...]
    _curves: Curves = field(repr=False)
    _smoother: Smoother = field(repr=False)
    _sample: Sample = field(repr=False)

    def __str__(self) -> str:
        """Return the basis of the estimate, and the curve with its band at the bottom, the middle
        and the top.
        """
        curve = ", ".join(self._at(score) for score in (0.0, 0.5, 1.0))
        queries = f"{self.n_queries:,} quer{'y' if self.n_queries == 1 else 'ies'}"
        return (
            f"ybar of {self.n:,} documents of {queries}, {self.method}\n  {curve} "
            f"({100 * self.level:g} %)\n  {self.check}"
        )

    def _at(self, score: float) -> str:
        low, high = self.band(score)
        return f"{self(score):.3f} [{low:.3f}, {high:.3f}] at s = {score:g}"

    def __call__(self, score: Any) -> FloatArray:
        """The estimate at canonical scores, shape of `score`; beyond 0 and 1 as at the ends."""
        return self._curves.at(len(self.grades) - 1, np.asarray(score, np.float64))

    def band(self, score: Any) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper end of the band at canonical scores, each in the shape of
        `score`.
        """
        places = np.asarray(score, np.float64)
        if self.method.startswith("isotonic"):
            # Of a rising function a bound from below holds at all higher scores too, one from above
            # at all lower.
            below = np.floor(places * (GRID - 1) + 1e-9)
            above = np.ceil(places * (GRID - 1) - 1e-9)
            return self.low[_clipped(below)], self.high[_clipped(above)]
        ends_at = partial(along, self._curves.kind, self._curves.knots, score=places)
        return ends_at(self.low), ends_at(self.high)

    @property
    def ybar(self) -> "Chance | Mapping[float, Chance]":
        """Function for the theory functions; for graded relevance, one for each grade."""
        return self if len(self.grades) == 1 else _by_grade(self._curves, self.grades)

    def limit(
        self,
        discount: DiscountLike = "log2",
        cutoff: CutoffLike = None,
        *,
        gain: GainLike = "linear",
        resamples: int = 500,
        rng: RandomLike = None,
    ) -> Implied:
        """Return the limit of NDCG for this ranker, with an interval; see `limit`.

        If the limit is ybar(1), the very top, the estimate has the bias of its last bin, and the
        interval does not cover it.

        Parameters
        ----------
        discount, cutoff, gain
            As for `limit`.
        resamples : int, optional
            Number of resamples, of queries if there are several, otherwise of documents.
        rng : Generator, seed or None
            Random generator or seed of the samples.

        Examples
        --------
        >>> found = estimate_ybar(
        ...     [0, 0, 1, 0, 1, 1, 0, 1], [1, 2, 3, 4, 5, 6, 7, 8], method="binned", bins=2
        ... )
        >>> round(found.limit("zipf(0.5)", rng=0).value, 6)
        0.853553
        """

        def compute(model: RelevanceModel) -> FloatArray:
            return np.array([limit(model, discount=discount, cutoff=cutoff).value])

        stated = limit(self._model(gain), discount=discount, cutoff=cutoff)
        return self._implied(
            compute=compute,
            sizes=[None],
            options=(discount, cutoff, gain),
            resamples=resamples,
            rng=rng,
            theorem=stated.theorem,
        )[0]

    @overload
    def pseudo_expectation(
        self,
        n: int,
        discount: DiscountLike = ...,
        cutoff: CutoffLike = ...,
        *,
        gain: GainLike = ...,
        resamples: int = ...,
        rng: RandomLike = ...,
    ) -> Implied: ...
    @overload
    def pseudo_expectation(
        self,
        n: Sequence[int] | IntArray,
        discount: DiscountLike = ...,
        cutoff: CutoffLike = ...,
        *,
        gain: GainLike = ...,
        resamples: int = ...,
        rng: RandomLike = ...,
    ) -> tuple[Implied, ...]: ...
    def pseudo_expectation(
        self,
        n: int | Sequence[int] | IntArray,
        discount: DiscountLike = "log2",
        cutoff: CutoffLike = None,
        *,
        gain: GainLike = "linear",
        resamples: int = 500,
        rng: RandomLike = None,
    ) -> "Implied | tuple[Implied, ...]":
        """Return the mean NDCG of this ranker on a list of n documents of the same kind, with an
        interval.

        This is N*, see `pseudo_expectation`. The interval is for the mean over such lists; a single
        list varies around it.

        For 40 samples of 500 documents each, 95 % intervals at n = 100,000 contained the true mean
        in 0.90 to 1.00 of cases under log2 and 0.80 to 0.97 under zipf(0.5), for the kernel and
        five ybar; under zipf(1), which depends on the very top, in 0.75 to 0.90. Isotonic
        estimates, and bins where ybar is steep at the top, are worse (``experiments/ybar_bands.py
        --implied``).

        Parameters
        ----------
        n : int, or sequence of int
            Length of the list; several give a tuple.
        discount, cutoff, gain
            As for `pseudo_expectation`.
        resamples : int, optional
            Number of resamples, of queries if there are several, otherwise of documents.
        rng : Generator, seed or None
            Random generator or seed of the samples.

        Examples
        --------
        >>> found = estimate_ybar(
        ...     [0, 0, 1, 0, 1, 1, 0, 1], [1, 2, 3, 4, 5, 6, 7, 8], method="binned", bins=2
        ... )
        >>> [round(each.value, 4) for each in found.pseudo_expectation([100, 10**6], rng=0)]
        [0.9072, 0.9725]
        """
        sizes = [int(size) for size in n] if isinstance(n, (Sequence, np.ndarray)) else [n]

        def compute(model: RelevanceModel) -> FloatArray:
            return pseudo_expectation(model, sizes, discount, cutoff)

        implied = self._implied(compute, sizes, (discount, cutoff, gain), resamples, rng)
        return implied if isinstance(n, (Sequence, np.ndarray)) else implied[0]

    def _model(self, gain: GainLike) -> RelevanceModel:
        return RelevanceModel.of(self.ybar, points=self.points, gain=gain)

    def _implied(
        self,
        compute: Any,
        sizes: Sequence[int | None],
        options: tuple[DiscountLike, CutoffLike, GainLike],
        resamples: int,
        rng: RandomLike,
        theorem: str = "",
    ) -> tuple[Implied, ...]:
        if isinstance(resamples, bool) or resamples < 2:
            raise OptionError(
                f"resamples={resamples}: expected 2 or more; some hundreds for an interval"
            )
        discount, cutoff, gain = options
        value = compute(self._model(gain))
        models = self._refitted(gain, resamples, generator_of(rng))
        low, high = interval_of(compute, models, self.level)
        drawn = "queries" if self.n_queries > 1 else "documents"
        return tuple(
            Implied(
                value=float(value[number]),
                low=float(low[number]),
                high=float(high[number]),
                level=self.level,
                n=size,
                discount=decay_of(discount).text,
                cutoff=growth_of(cutoff).text,
                drawn=drawn,
                resamples=resamples,
                theorem=theorem,
            )
            for number, size in enumerate(sizes)
        )

    def _refitted(
        self, gain: GainLike, times: int, rng: np.random.Generator
    ) -> Iterator[RelevanceModel]:
        """Models of samples drawn again; a sample without relevant documents has no NDCG and is
        drawn anew.
        """
        n_models = 0
        while n_models < times:
            for cells in self._sample.resampled(rng, times - n_models):
                if cells.reached.sum() > 0:
                    curves = self._smoother.fit(cells)
                    chances = _by_grade(curves, self.grades)
                    yield RelevanceModel.of(chances, points=curves.points, gain=gain)
                    n_models += 1


def _clipped(place: FloatArray) -> IntArray:
    return np.clip(place, 0, GRID - 1).astype(np.int64)


def _by_grade(curves: Curves, grades: tuple[float, ...]) -> dict[float, Chance]:
    """The chance of each grade: of it or a higher one, less that of the next higher."""
    return {grade: partial(_chance, curves, place) for place, grade in enumerate(grades)}


def _chance(curves: Curves, place: int, score: FloatArray) -> FloatArray:
    reached = curves.at(place, score)
    return reached if place == 0 else reached - curves.at(place - 1, score)


def estimate_ybar(
    labels: Any,
    scores: Any,
    group: Any = None,
    *,
    offsets: Any = None,
    qid: Any = None,
    method: Method = "kernel",
    bins: "int | Sequence[float] | None" = None,
    bandwidth: float | None = None,
    rel: "float | Literal['graded']" = 1.0,
    level: float = 0.95,
) -> YbarEstimate:
    """Estimate the probability of relevance along the list of a ranker.

    Parameters
    ----------
    labels, scores : array-like, shape (n,) or (n_queries, width)
        As for `ndcg`; 2-D: one query per row.
    group, offsets, qid
        Grouping of items into lists, see `Lists.from_arrays`; default one query. Several queries
        are pooled, document by document.
    method : str, optional
        ``"kernel"``: local linear regression, for a ybar without jumps; ``"binned"``: the share of
        relevant documents in each bin; ``"isotonic"``: pool adjacent violators, which assumes that
        ybar rises; see `check` of the result.
    bins : int or sequence of float, optional
        Number of equal bins, or their edges from 0 to 1; default the square root of n, or as many
        as leave none empty.
    bandwidth : float, optional
        Bandwidth of the kernel to either side; default 0.7 times the bandwidth that predicts each
        document best from the others, at most 0.6 n^-1/4.
    rel : float or str, optional
        Lowest relevant grade, or ``"graded"`` for one probability per grade above 0; ybar is then
        the probability of any of them.
    level : float, optional
        Nominal coverage of the band at each score.

    Returns
    -------
    YbarEstimate

    Raises
    ------
    InputError
        NaN, lists that do not match, labels of one kind only, or a bin or neighbourhood without
        documents.
    OptionError
        An unknown option, or one that does not belong to the method.

    Notes
    -----
    The band is Wilson's interval for the effective number of documents at a score. For one query
    its documents are independent, and the uncertainty of a rank is included where ybar is steep;
    several queries are clusters (linearised variance, Student's t). The band of an isotonic
    estimate assumes only that ybar rises: the documents just below a score bound it from below,
    those just above from above, by Clopper and Pearson's limits.

    Coverage of 95 % bands for one query, on average over canonical scores and at the worst of them,
    for n = 500 and 5000 (``experiments/ybar_bands.py``, 200 samples each; three smooth ybar, a
    step, and one that falls steeply from the top)::

                   smooth, mean    worst       step, mean, worst       steep top, mean, worst    width, smooth
        kernel     0.95 to 0.96    0.87 0.89   0.96 0.97   0.53 0.44   0.96 0.97   0.90 0.93     0.19 0.07
        binned     0.95 to 0.96    0.71 0.85   0.94 0.96   0.28 0.53   0.92 0.95   0.33 0.81     0.31 0.18
        isotonic   1.00            0.99 0.98   0.98 0.97   0.89 0.94   0.99 0.98   0.98 0.95     0.31 0.15

    The kernel is the default: its bands are narrower with similar coverage. Next to a jump it is
    wrong, as bins are; there only an assumption such as a rising ybar helps.

    The bands do not include two effects. Lists of m documents locate a document only to within
    about the root of s (1 - s) / m: short lists give a blurred ybar, too low at a steep top. And a
    pool of unlike queries has an NDCG of its own, which is not the mean of theirs (off by 0.01 for
    the 40 queries of `paper_rankers`, 500 documents each, in random order).

    Examples
    --------
    >>> found = estimate_ybar(
    ...     [0, 0, 1, 0, 1, 1, 0, 1], [1, 2, 3, 4, 5, 6, 7, 8], method="binned", bins=2
    ... )
    >>> found.score, found.value
    (array([0.25, 0.75]), array([0.25, 0.75]))
    """  # noqa: E501
    if not 0 < level < 1:
        raise OptionError(f"level={level}: expected a share between 0 and 1, as 0.95")
    sample = Sample.of(labels, scores, rel, group=group, offsets=offsets, qid=qid)
    smoothing = method_of(sample, method, bins, bandwidth)
    curves = smoothing.smoother.fit(sample.cells)
    value = curves.at(len(sample.grades) - 1, smoothing.score)
    low, high = _band(sample, smoothing, value, level)
    return YbarEstimate(
        score=smoothing.score,
        value=value,
        low=low,
        high=high,
        points=curves.points,
        method=smoothing.text,
        n=sample.n,
        n_queries=sample.n_queries,
        level=level,
        check=check_monotone(sample.documents),
        grades=sample.grades,
        _curves=curves,
        _smoother=smoothing.smoother,
        _sample=sample,
    )


def _band(
    sample: Sample, smoothing: SmoothingMethod, value: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    documents = sample.documents
    if smoothing.width:
        low, high = monotone_bounds(documents, smoothing.width, level)
        return np.minimum(low, value), np.maximum(high, value)
    size = effective_size(documents, smoothing.code, smoothing.weights, value)
    if not documents.clustered:
        # A canonical score is itself uncertain by s (1 - s) / n, which counts where ybar is steep.
        # Differences between queries have it.
        spread = value * (1 - value)
        slope = np.gradient(value, smoothing.score) if value.size > 1 else np.zeros(1)
        variance = spread / size + slope**2 * smoothing.score * (1 - smoothing.score) / sample.n
        size = np.where(spread > 0, spread / np.where(variance > 0, variance, 1.0), size)
    return wilson(value, size, level, documents.n_queries)
