"""Intervals of the parameters of click models: by counts, by the information of the likelihood, or
by a bootstrap over sessions.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from idealrank.clicks.arguments import check_confidence, replicates_of
from idealrank.clicks.cascade_models import (
    DBN,
    DCM,
    SDBN,
    Cascade,
    FittedCascade,
)
from idealrank.clicks.examination_models import FittedPBM, FittedUBM
from idealrank.clicks.fitted_model import FittedModel
from idealrank.clicks.partitioned_fits import ClickModel
from idealrank.clicks.profile_likelihood import compared_with_first, log_errors
from idealrank.clicks.reading_fits import CountedSessions, ReadingFit, fit_reading
from idealrank.clicks.sessions import Sessions
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.stats.intervals import clopper_pearson
from idealrank.stats.randomness import RandomLike, generator_of

# Models whose parameters are shares of known counts; another needs intervals of its own.
_COUNTED = (
    Cascade,
    DCM,
    SDBN,
)
_MOST_SITUATIONS = 2000  # of a table of 32 MB, which is inverted row by row

_SHORT = (
    "intervals of attractiveness and satisfaction are too short: in simulated logs with 180 "
    "impressions a pair, 95 % intervals held the truth in 90 % (attractiveness) and 88 % "
    "(satisfaction), and fewer impressions lower both"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class ParameterIntervals:
    """A fitted click model with intervals of its parameters.

    Attributes
    ----------
    fitted : FittedModel
        The model.
    attractiveness : float64 array, shape (pairs, 2)
        Of each pair; of PBM and UBM, of its click rate at the first rank, which is attractiveness
        times the examination there: clicks determine no more. NaN where the log says nothing.
    examination : float64 array, shape (ranks, 2) of PBM, (ranks, ranks + 1, 2) of UBM, or None
        Relative to the first rank. NaN where it cannot be compared with the first rank, or had no
        click.
    satisfaction : float64 array, shape (pairs, 2), or None
        Of SDBN and DBN; NaN for pairs without a click.
    continuation : float64 array, shape (ranks, 2), or None
        Of `continuation_after_click`, of DCM and DBN; NaN at ranks without a click.
    method : str
        Origin of the intervals.
    cautions : tuple of str
        Reasons not to trust the intervals.

    Examples
    --------
    >>> from idealrank.clicks import Cascade
    >>> log = Sessions.from_arrays(["q"] * 4, [["a"]] * 4, [[1], [0], [1], [1]])
    >>> parameter_intervals(Cascade(), log).attractiveness.round(2).tolist()
    [[0.19, 0.99]]
    """

    fitted: FittedModel
    attractiveness: FloatArray
    examination: FloatArray | None
    satisfaction: FloatArray | None
    continuation: FloatArray | None
    method: str
    cautions: tuple[str, ...] = ()


def parameter_intervals(
    model: ClickModel,
    sessions: Sessions,
    *,
    n_resamples: int = 200,
    rng: RandomLike = 0,
    confidence: float = 0.95,
) -> ParameterIntervals:
    """Fit a click model, and compute intervals of its parameters.

    Parameters of Cascade, DCM and SDBN are shares, with intervals of Clopper and Pearson. PBM and
    UBM have normal intervals of logarithms, by the observed information of the likelihood in all
    parameters. DBN has percentile intervals of a bootstrap over sessions.

    Parameters
    ----------
    model : PBM, UBM, Cascade, DCM, SDBN or DBN
        A model.
    sessions : Sessions
        The log.
    n_resamples : int
        Replicates of the bootstrap; other models need none.
    rng : seed or Generator
        Random numbers of the bootstrap.
    confidence : float
        Confidence level.

    Raises
    ------
    InputError
        Lists are so long that PBM or UBM have more than 2,000 situations of examination.
    OptionError
        An option is outside its range.

    Warns
    -----
    IdealrankWarning
        By `fit`: the model has not converged, or parameters are not identified.

    Notes
    -----
    All intervals assume the model. The estimates of DCM and SDBN take results below the last click
    as not examined, as their papers do. If users read on without a click, these estimates do not
    converge to the truth: attractiveness is too large, continuation too small and satisfaction too
    large, and intervals miss them in large logs. DBN estimates the same parameters by maximum
    likelihood.

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26(4). Richards (1961), A method of maximum-likelihood
    estimation, JRSS B 23, for the information that is left when other parameters are estimated.
    Efron and Tibshirani (1993), An introduction to the bootstrap, chapter 13.

    Examples
    --------
    >>> from idealrank.clicks import PBM, simulate
    >>> log = simulate(
    ...     np.random.default_rng(1).beta(2, 3, (20, 6)), 20_000, ranks=3, policy="random", rng=2
    ... )
    >>> low, high = parameter_intervals(PBM(400), log).examination.T
    >>> bool((low <= [1, 1 / 2, 1 / 3]).all() and (high >= [1, 1 / 2, 1 / 3]).all())
    True
    """
    level = check_confidence(confidence)
    if not isinstance(model, ClickModel):
        raise OptionError(f"model={shown(repr(model))}: expected a click model, such as PBM()")
    fitted = model.fit(sessions)
    if isinstance(fitted, FittedPBM | FittedUBM):
        return _by_information(fitted, level)
    if isinstance(model, DBN):
        return _by_bootstrap(
            fitted=fitted,
            model=model,
            sessions=sessions,
            replicates=replicates_of(n_resamples, least=1, width=2 * len(sessions.documents)),
            rng=rng,
            confidence=level,
        )
    if isinstance(model, _COUNTED):
        return _by_counts(fitted, model, sessions, level)
    raise TypeError(
        f"{type(model).__name__}: found no intervals, expected it in _COUNTED of {__name__} if its "
        "parameters are shares of counts, else a function for it in parameter_intervals"
    )


def _by_counts(
    fitted: FittedCascade, model: Cascade | DCM | SDBN, sessions: Sessions, confidence: float
) -> ParameterIntervals:
    """Intervals of shares: each parameter is one, of known counts."""
    n_pairs = len(sessions.documents)
    clicks_of_pair = np.bincount(sessions.pair[sessions.clicks], minlength=n_pairs).astype(
        np.float64
    )
    clicks_of_rank = sessions.clicks.sum(axis=0).astype(np.float64)
    attractive = _share_intervals(
        fitted.attractiveness_values, fitted.impressions.astype(np.float64), confidence
    )
    satisfied = onward = None
    if isinstance(model, SDBN):
        satisfied = _share_intervals(fitted.satisfaction, clicks_of_pair, confidence)
    if isinstance(model, DCM):
        onward = _share_intervals(fitted.continuation_after_click, clicks_of_rank, confidence)
    return ParameterIntervals(
        fitted=fitted,
        attractiveness=attractive,
        examination=None,
        satisfaction=satisfied,
        continuation=onward,
        method="Clopper and Pearson",
    )


def _share_intervals(share: FloatArray, size: FloatArray, confidence: float) -> FloatArray:
    """Shape (shares, 2); NaN for a share of nothing."""
    low, high = clopper_pearson(share, np.maximum(size, 1), confidence)
    intervals: FloatArray = np.where(size[:, None] > 0, np.column_stack([low, high]), np.nan)
    return intervals


def _by_bootstrap(
    fitted: FittedCascade,
    model: DBN,
    sessions: Sessions,
    replicates: int,
    rng: RandomLike,
    confidence: float,
) -> ParameterIntervals:
    """Percentiles of models fitted to sessions drawn with replacement."""
    generator = generator_of(rng)
    attractive = []
    satisfied = []
    onward = []
    counted = CountedSessions.of(sessions)
    initial = ReadingFit(
        attractive=fitted.attractiveness_values,
        satisfied=fitted.satisfaction,
        goes_on=fitted.continuation,
    )
    for _ in range(replicates):
        drawn = counted.drawn(generator)
        fit = fit_reading([drawn], model.iterations, model.start, initial=initial)
        impressions, clicked = drawn.counts()
        attractive.append(np.where(impressions > 0, fit.attractive, np.nan))
        satisfied.append(np.where(clicked > 0, fit.satisfied, np.nan))
        onward.append(fit.goes_on)

    levels = [(1 - confidence) / 2, (1 + confidence) / 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # pairs that no replicate has are NaN
        attractiveness = np.nanquantile(attractive, levels, axis=0).T
        satisfaction = np.nanquantile(satisfied, levels, axis=0).T
    goes_on = np.tile(np.quantile(onward, levels), (sessions.n_ranks, 1))
    cautions = (*fitted.cautions, _SHORT)
    return ParameterIntervals(
        fitted=fitted,
        attractiveness=attractiveness,
        examination=None,
        satisfaction=satisfaction,
        continuation=goes_on,
        method="bootstrap over sessions",
        cautions=cautions,
    )


def _by_information(fitted: FittedPBM | FittedUBM, confidence: float) -> ParameterIntervals:
    """Normal intervals of logarithms: a click rate is a product, so that its logarithm is a sum."""
    cells = fitted.cells
    table = fitted.propensity if isinstance(fitted, FittedPBM) else fitted.examination
    examined = table.reshape(-1)
    compared = compared_with_first(cells, examined)
    reach = float(ndtri((1 + confidence) / 2))
    pair_errors = np.full(cells.n_pairs, np.nan)
    situation_errors = np.full(cells.n_situations, np.nan)
    if compared.size > _MOST_SITUATIONS:
        raise InputError(
            f"sessions: found {compared.size:,} situations of examination, expected at most "
            f"{_MOST_SITUATIONS:,} for intervals: their table grows with the square; cut the lists"
        )
    if compared.size:
        pair_errors, situation_errors[compared] = log_errors(
            cells, fitted.attractiveness_values, examined, compared
        )

    def around(values: FloatArray, errors: FloatArray) -> FloatArray:
        return np.column_stack([values * np.exp(-reach * errors), values * np.exp(reach * errors)])

    with np.errstate(divide="ignore", invalid="ignore"):
        rates = around(fitted.attractiveness_values * examined[0], pair_errors)
        relative = around(examined / examined[0], situation_errors)
    return ParameterIntervals(
        fitted=fitted,
        attractiveness=np.minimum(rates, 1.0),
        examination=relative.reshape((*table.shape, 2)),
        satisfaction=None,
        continuation=None,
        method="normal on logarithms, by observed information",
        cautions=fitted.cautions,
    )
