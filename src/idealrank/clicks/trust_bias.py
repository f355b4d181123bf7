"""Trust bias: users also click on documents that do not attract them, more often at the top;
propensities become affine.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from idealrank.clicks.arguments import check_confidence, replicates_of
from idealrank.clicks.cell_counts import FIRST_WITHOUT_CLICK
from idealrank.clicks.query_bootstrap import LEAST_QUERIES, one_query_cautions, query_draws
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, warn
from idealrank.stats.randomness import RandomLike, generator_of

_MOST_DRAW_COUNTS = 1 << 24  # counts of drawn queries that are held at once: 128 MB
# Standard errors of the covariance with the instrument, below which the slope is not to be trusted.
_LEAST_STRENGTH = 4.0


@dataclass(frozen=True, kw_only=True, eq=False)
class TrustPropensities:
    """Click rate of each rank as a line over the click rate that the same document has at the first
    rank.

    A document that is clicked with probability ``m`` at the first rank is clicked with ``slope * m
    + offset`` at another one. Without trust bias all offsets are 0, and slopes are the propensities
    of the position-based model, relative to the first rank.

    Attributes
    ----------
    slope : float64 array, shape (ranks,)
        The first is 1. NaN where no document tells the line.
    offset : float64 array, shape (ranks,)
        The first is 0. Below 0 where users trust the first rank more.
    slope_intervals, offset_intervals : float64 array, shape (ranks, 2)
        Intervals that hold for all ranks together, of the slopes and of the offsets: Fieller's, by
        bootstrap over queries. Infinite where the log bounds no line; NaN without replicates, and
        for a rank whose documents belong to a single query.
    n_pairs : int64 array, shape (ranks,)
        Pairs of query and document that stood at this rank, at the first, and at a third; on the
        first rank 0.
    n_sessions : int
        Lists.
    cautions : tuple of str
        Why the numbers cannot be trusted; empty where nothing was found.

    Examples
    --------
    >>> from idealrank.clicks import simulate
    >>> truth = np.random.default_rng(1).beta(1, 1, (40, 6))
    >>> log = simulate(truth, 20_000, ranks=3, model="trust", noise=0.3, policy="random", rng=2)
    >>> bool((trust_propensities(log).offset[1:] < -0.02).all())
    True
    """

    slope: FloatArray
    offset: FloatArray
    slope_intervals: FloatArray
    offset_intervals: FloatArray
    n_pairs: IntArray
    n_sessions: int
    cautions: tuple[str, ...] = ()

    @property
    def has_trust_bias(self) -> bool:
        """Return whether the interval of an offset excludes 0, at the level of all ranks
        together.
        """
        low, high = self.offset_intervals[1:].T
        return bool(((low > 0) | (high < 0)).any())


def trust_propensities(
    sessions: Sessions, *, n_resamples: int = 200, confidence: float = 0.95, rng: RandomLike = 0
) -> TrustPropensities:
    """Estimate affine propensities, which allow for trust bias, from a log in which documents
    change their ranks.

    The slope of a rank is a covariance divided by that of the first rank, both with the click rate
    of the same document at all other ranks: noise of clicks at different ranks is independent, so
    that few clicks a document are enough (instrumental variables). The offset follows from the
    means. Clicks alone determine no more than this: the attractiveness of documents is known up to
    a line, which changes no difference of two rankers by `logged_dcg` except by a factor.

    Parameters
    ----------
    sessions : Sessions
        A log with at least three ranks, in which documents change their ranks whatever their
        clicks: random or swapped results, or several rankers.
    n_resamples : int
        Replicates of the bootstrap over queries; 0 for none.
    confidence : float
        Confidence level of the intervals.
    rng : seed or Generator
        Random numbers of the bootstrap.

    Raises
    ------
    InputError
        Lists have fewer than three ranks, no list has a click, or no document stood at the first
        rank and two others.

    Warns
    -----
    IdealrankWarning
        The first rank has no click, or a rank shares too few documents with the others; its numbers
        are NaN, or not to be trusted. Or these documents belong to a single query; the interval is
        NaN.

    References
    ----------
    Agarwal, Wang, Li, Bendersky and Najork (2019), Addressing trust bias for unbiased
    learning-to-rank, WWW. Vardasbi, Oosterhuis and de Rijke (2020), When inverse propensity scoring
    does not work: affine corrections for unbiased learning to rank, CIKM, for the affine form. Wald
    (1940), for slopes by instruments. Fieller (1954), Some problems in interval estimation, JRSS B
    16, for ratios.

    Examples
    --------
    >>> from idealrank.clicks import simulate
    >>> log = simulate(
    ...     np.random.default_rng(1).beta(1, 1, (40, 6)), 20_000, ranks=3, policy="random", rng=2
    ... )
    >>> lines = trust_propensities(log)
    >>> bool((np.abs(lines.slope - [1, 1 / 2, 1 / 3]) < 0.1).all()), lines.has_trust_bias
    (True, False)
    """
    check_sessions(sessions)
    sessions.require_ranks()
    level = check_confidence(confidence)
    replicates = replicates_of(n_resamples, width=3 * sessions.n_ranks)
    if sessions.n_ranks < 3:
        raise InputError(
            f"sessions: found {sessions.n_ranks} ranks, expected at least 3; two ranks and noise "
            "cannot be told apart"
        )
    sessions.require_click()
    sums, n_pairs = _sums(sessions)
    if not n_pairs.any():
        raise InputError(
            "sessions: found no document at the first rank and at two others, expected some; log a "
            "third ranker, or swaps"
        )

    whole = _moments(sums.sum(axis=0)[None])  # one replicate, of the whole log
    slope, offset = (
        # NaN for ranks without any pair
        np.divide(top, whole.bottom, out=np.full_like(top, np.nan), where=whole.bottom != 0)
        for top in (whole.slope_top, whole.offset_top)
    )
    shape = (sessions.n_ranks, 2)
    slope_intervals = np.full(shape, np.nan)
    offset_intervals = np.full(shape, np.nan)
    strength = np.full(sessions.n_ranks, np.inf)
    n_linking = (sums[..., 0] > 0).sum(axis=0)
    n_linking[0] = n_linking.max()  # any rank is compared with the first
    first_has_click = bool(sessions.clicks[:, 0].any())
    if replicates and first_has_click and n_linking[0] >= LEAST_QUERIES:
        generator = generator_of(rng)
        n_queries = sums.shape[0]
        drawn = _moments(_drawn_sums(sums, replicates, generator, n_queries))
        compared = max(int((n_pairs > 0).sum()), 1)
        quantile = float(stdtrit(n_queries - 1, 1 - (1 - level) / (2 * compared)))  # Bonferroni
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # ranks without any pair are NaN
            slope_intervals, offset_intervals = (
                fieller(
                    top=top[0],
                    bottom=whole.bottom[0],
                    tops=drawn_tops,
                    bottoms=drawn.bottom,
                    quantile=quantile,
                )
                for top, drawn_tops in (
                    (whole.slope_top, drawn.slope_top),
                    (whole.offset_top, drawn.offset_top),
                )
            )
            strength = np.nanmean(drawn.bottom, axis=0) / np.nanstd(drawn.bottom, axis=0)
        slope_intervals[n_linking < LEAST_QUERIES] = np.nan
        offset_intervals[n_linking < LEAST_QUERIES] = np.nan

    cautions = tuple(_cautions(n_pairs, strength))
    if replicates:
        cautions += one_query_cautions(n_linking)
    if not first_has_click:
        cautions = (FIRST_WITHOUT_CLICK,)
    for caution in cautions:
        warn(caution)
    return TrustPropensities(
        slope=slope[0],
        offset=offset[0],
        slope_intervals=slope_intervals,
        offset_intervals=offset_intervals,
        n_pairs=n_pairs,
        n_sessions=len(sessions),
        cautions=cautions,
    )


def _drawn_sums(
    sums: FloatArray, replicates: int, rng: np.random.Generator, n_queries: int
) -> FloatArray:
    """Sums of queries drawn with replacement, replicate by replicate in blocks that memory
    holds.
    """
    drawn = np.empty((replicates, *sums.shape[1:]))
    step = max(1, _MOST_DRAW_COUNTS // n_queries)
    for start in range(0, replicates, step):
        rows = range(start, min(start + step, replicates))
        times = np.array(list(query_draws(rng, n_queries, len(rows))))
        drawn[start : rows.stop] = np.einsum("dq,q...->d...", times.astype(np.float64), sums)
    return drawn


def _cautions(n_pairs: IntArray, strength: FloatArray) -> list[str]:
    cautions = []
    for rank in range(1, n_pairs.size):
        if not n_pairs[rank]:
            cautions.append(
                f"no document stood at rank {rank + 1}, at the first and at a third: its line "
                "cannot be told"
            )
        elif not strength[rank] >= _LEAST_STRENGTH:
            cautions.append(
                f"documents at rank {rank + 1} differ too little in attractiveness, for their "
                "clicks, to tell its line"
            )
    return cautions


def _sums(sessions: Sessions) -> tuple[FloatArray, IntArray]:
    """Shape (queries, ranks, 6): weight, then weighted sums of click rates of pairs: at the first
    rank, at the rank, elsewhere, and of both products with elsewhere; and pairs by rank.
    """
    n_ranks = sessions.n_ranks
    n_pairs = len(sessions.documents)
    has_document = sessions.pair >= 0
    ranks = np.broadcast_to(np.arange(n_ranks), has_document.shape)[has_document]
    cells = sessions.pair[has_document] * n_ranks + ranks
    size = n_pairs * n_ranks
    shape = (n_pairs, n_ranks)
    shown = np.bincount(cells, minlength=size).reshape(shape).astype(np.float64)
    clicked = np.bincount(cells, sessions.clicks[has_document], size).reshape(shape)
    query = sessions.query_of_pair
    sums = np.zeros((len(sessions.queries), n_ranks, 6))
    pair_counts = np.zeros(n_ranks, np.int64)
    for rank in range(1, n_ranks):
        shown_elsewhere = shown.sum(axis=1) - shown[:, 0] - shown[:, rank]
        pairs = np.flatnonzero((shown[:, 0] > 0) & (shown[:, rank] > 0) & (shown_elsewhere > 0))
        first = clicked[pairs, 0] / shown[pairs, 0]
        at_rank = clicked[pairs, rank] / shown[pairs, rank]
        elsewhere = (
            clicked[pairs].sum(axis=1) - clicked[pairs, 0] - clicked[pairs, rank]
        ) / shown_elsewhere[pairs]
        # Inverse variance, up to a factor: the variance of each rate falls with its impressions.
        weight = 1 / (1 / shown[pairs, 0] + 1 / shown[pairs, rank] + 1 / shown_elsewhere[pairs])
        values = (
            np.ones(pairs.size),
            first,
            at_rank,
            elsewhere,
            first * elsewhere,
            at_rank * elsewhere,
        )
        for column, value in enumerate(values):
            sums[:, rank, column] = np.bincount(query[pairs], weight * value, sums.shape[0])
        pair_counts[rank] = pairs.size
    return sums, pair_counts


@dataclass(frozen=True, eq=False)
class _Moments:
    """Tops of slopes and offsets, and their bottom, the covariance of the first rank. Shapes
    (replicates, ranks).
    """

    slope_top: FloatArray
    offset_top: FloatArray
    bottom: FloatArray


def _moments(sums: FloatArray) -> _Moments:
    """Covariances with the rate at all other ranks, from sums as of `_sums`."""
    with np.errstate(divide="ignore", invalid="ignore"):  # ranks without any pair
        means = sums[..., 1:] / sums[..., :1]
    first, at_rank, elsewhere, first_elsewhere, rank_elsewhere = np.moveaxis(means, -1, 0)
    bottom = first_elsewhere - first * elsewhere
    slope_top = rank_elsewhere - at_rank * elsewhere
    offset_top = at_rank * bottom - slope_top * first
    # The line of the first rank has the slope 1 and the offset 0.
    bottom[:, 0] = 1.0
    slope_top[:, 0] = 1.0
    offset_top[:, 0] = 0.0
    return _Moments(slope_top, offset_top, bottom)


def fieller(
    *, top: FloatArray, bottom: FloatArray, tops: FloatArray, bottoms: FloatArray, quantile: float
) -> FloatArray:
    """Intervals of ratios, of all values at which top less value times bottom is not significant;
    `tops` and `bottoms` are the draws of a bootstrap.
    """
    n = tops.shape[0]
    top_deviations = tops - tops.mean(axis=0)
    bottom_deviations = bottoms - bottoms.mean(axis=0)

    def covariance(deviations: FloatArray, others: FloatArray) -> FloatArray:
        scaled: FloatArray = quantile**2 * (deviations * others).sum(axis=0) / max(n - 1, 1)
        return scaled

    top_variance = covariance(top_deviations, top_deviations)
    bottom_variance = covariance(bottom_deviations, bottom_deviations)
    joint_covariance = covariance(top_deviations, bottom_deviations)
    # The ends solve a quadratic equation in the ratio.
    square = bottom**2 - bottom_variance
    half = top * bottom - joint_covariance
    root = np.sqrt(np.maximum(half**2 - square * (top**2 - top_variance), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.column_stack([(half - root) / square, (half + root) / square])
    # Unless the square is above 0, the bottom may be 0, and the interval has no ends.
    bounded = np.where(square[:, None] > 0, ends, np.array([-np.inf, np.inf]))
    intervals: FloatArray = np.where(np.isnan(ends), np.nan, bounded)
    return intervals
