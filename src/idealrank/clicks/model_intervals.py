"""Intervals of the parameters of click models: by counts, by the information of the likelihood, or by a bootstrap over sessions."""

import warnings
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.special import ndtri

from idealrank._warnings import warn
from idealrank.clicks.arguments import check_confidence, replicates_of
from idealrank.clicks.cascade_models import DBN, DCM, SDBN, Cascade, FittedCascade
from idealrank.clicks.examination_models import PBM, UBM, CellCounts, FittedPBM, FittedUBM, informative_sets
from idealrank.clicks.fitted_model import FittedModel
from idealrank.clicks.sessions import Sessions
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.stats.intervals import clopper_pearson
from idealrank.stats.randomness import RandomLike, generator_of

ClickModel: TypeAlias = PBM | UBM | Cascade | DCM | SDBN | DBN

_STEP = 0.25  # standard errors by which a step of Newton may move an examination that has converged
_LEAST = 1e-9
_MOST_SITUATIONS = 2000  # of a table of 32 MB, which is inverted row by row


@dataclass(frozen=True, eq=False)
class ParameterIntervals:
    """A fitted click model with intervals of its parameters.

    Attributes
    ----------
    fitted : FittedModel
        The model.
    attractiveness : float64 array, shape (pairs, 2)
        Of each pair; of PBM and UBM, of its click rate at the first rank, which is attractiveness times the examination there: clicks
        determine no more. NaN where the log says nothing.
    examination : float64 array, shape (ranks, 2) of PBM, (ranks, ranks + 1, 2) of UBM, or None
        Relative to the first rank. NaN where it cannot be compared with the first rank, or had no click.
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
    model: ClickModel, sessions: Sessions, *, n_resamples: int = 200, rng: RandomLike = 0, confidence: float = 0.95
) -> ParameterIntervals:
    """Fit a click model, and compute intervals of its parameters.

    Parameters of Cascade, DCM and SDBN are shares, with intervals of Clopper and Pearson. PBM and UBM have normal intervals of logarithms,
    by the observed information of the likelihood in all parameters. DBN has percentile intervals of a bootstrap over sessions.

    Parameters
    ----------
    model : PBM, UBM, Cascade, DCM, SDBN or DBN
        A model; PBM and UBM with enough iterations to converge.
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
        Expectation maximisation has not converged, or, by `fit`, parameters are not identified.

    Notes
    -----
    All intervals assume the model. The estimates of DCM and SDBN take results below the last click as not examined, as their papers do. If
    users read on without a click, these estimates do not converge to the truth: attractiveness is too large, continuation too small and
    satisfaction too large, and intervals miss them in large logs. DBN estimates the same parameters by maximum likelihood.

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26(4). Richards (1961), A method of maximum-likelihood estimation, JRSS B 23, for the information
    that is left when other parameters are estimated. Efron and Tibshirani (1993), An introduction to the bootstrap, chapter 13.

    Examples
    --------
    >>> from idealrank.clicks import simulate
    >>> log = simulate(np.random.default_rng(1).beta(2, 3, (20, 6)), 20_000, ranks=3, policy="random", rng=2)
    >>> low, high = parameter_intervals(PBM(400), log).examination.T
    >>> bool((low <= [1, 1 / 2, 1 / 3]).all() and (high >= [1, 1 / 2, 1 / 3]).all())
    True
    """
    level = check_confidence(confidence)
    if not isinstance(model, PBM | UBM | Cascade | DCM | SDBN | DBN):
        raise OptionError(f"model={shown(repr(model))}: expected a click model, such as PBM()")
    fitted = model.fit(sessions)
    if isinstance(fitted, FittedPBM | FittedUBM):
        return _by_information(fitted, model, level)  # type: ignore[arg-type]
    if isinstance(model, DBN):
        return _by_bootstrap(fitted, model, sessions, replicates_of(n_resamples, least=1, width=2 * len(sessions.documents)), rng, level)
    return _by_counts(fitted, model, sessions, level)


def _by_counts(fitted: FittedCascade, model: ClickModel, sessions: Sessions, confidence: float) -> ParameterIntervals:
    """Intervals of shares: each parameter is one, of known counts."""
    n_pairs = len(sessions.documents)
    of_pairs = np.bincount(sessions.pair[sessions.clicks], minlength=n_pairs).astype(np.float64)
    of_ranks = sessions.clicks.sum(axis=0).astype(np.float64)
    attractive = _share_intervals(fitted.attractiveness_values, fitted.impressions.astype(np.float64), confidence)
    satisfied = _share_intervals(fitted.satisfaction, of_pairs, confidence) if isinstance(model, SDBN) else None
    onward = _share_intervals(fitted.continuation_after_click, of_ranks, confidence) if isinstance(model, DCM) else None
    return ParameterIntervals(fitted, attractive, None, satisfied, onward, "Clopper and Pearson")


def _share_intervals(share: FloatArray, size: FloatArray, confidence: float) -> FloatArray:
    """Shape (shares, 2); NaN for a share of nothing."""
    low, high = clopper_pearson(share, np.maximum(size, 1), confidence)
    found: FloatArray = np.where(size[:, None] > 0, np.column_stack([low, high]), np.nan)
    return found


def _by_bootstrap(
    fitted: FittedCascade, model: DBN, sessions: Sessions, replicates: int, rng: RandomLike, confidence: float
) -> ParameterIntervals:
    """Percentiles of models fitted to sessions drawn with replacement."""
    generator, n_pairs = generator_of(rng), len(sessions.documents)
    attractive, satisfied, onward = [], [], []
    for _ in range(replicates):
        drawn = sessions.select(generator.integers(0, len(sessions), len(sessions)))
        one = model.fit(drawn)
        clicked = np.bincount(drawn.pair[drawn.clicks], minlength=n_pairs) > 0
        attractive.append(np.where(one.impressions > 0, one.attractiveness_values, np.nan))
        satisfied.append(np.where(clicked, one.satisfaction, np.nan))
        onward.append(one.continuation_after_click)
    ends = [(1 - confidence) / 2, (1 + confidence) / 2]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # pairs that no replicate has are NaN
        intervals = [np.nanquantile(each, ends, axis=0).T for each in (attractive, satisfied, onward)]
    return ParameterIntervals(fitted, intervals[0], None, intervals[1], intervals[2], "bootstrap over sessions")


def _by_information(fitted: "FittedPBM | FittedUBM", model: "PBM | UBM", confidence: float) -> ParameterIntervals:
    """Normal intervals of logarithms: a click rate is a product, so that its logarithm is a sum."""
    cells = fitted.cells
    examined = (fitted.propensity if isinstance(fitted, FittedPBM) else fitted.examination).reshape(-1)
    compared = _compared(cells, examined)
    reach = float(ndtri((1 + confidence) / 2))
    of_pairs, of_situations = np.full(cells.n_pairs, np.nan), np.full(cells.n_situations, np.nan)
    cautions: tuple[str, ...] = ()
    if compared.size > _MOST_SITUATIONS:
        raise InputError(
            f"sessions: found {compared.size:,} situations of examination, expected at most {_MOST_SITUATIONS:,} for intervals: their "
            "table grows with the square; cut the lists"
        )
    if compared.size:
        of_pairs, of_situations[compared], steps = _errors(cells, fitted.attractiveness_values, examined, compared)
        moved = largest_step(steps, of_situations[compared])
        if moved > _STEP:
            said = (
                f"expectation maximisation has not converged after {model.iterations:,} iterations: the maximum of the likelihood lies "
                f"{moved:.1f} standard errors away; raise the number of iterations"
            )
            cautions = (said,)
            warn(said)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate, relative = fitted.attractiveness_values * examined[0], examined / examined[0]
        ends = [np.column_stack([value * np.exp(-reach * error), value * np.exp(reach * error)]) for value, error in
                ((rate, of_pairs), (relative, of_situations))]  # fmt: skip
    shape = (*(fitted.propensity if isinstance(fitted, FittedPBM) else fitted.examination).shape, 2)
    return ParameterIntervals(
        fitted, np.minimum(ends[0], 1.0), ends[1].reshape(shape), None, None, "normal on logarithms, by observed information", cautions
    )


def largest_step(steps: FloatArray, errors: FloatArray) -> float:
    """Return the largest step of situations behind the first, in standard errors.

    Examples
    --------
    >>> largest_step(np.array([0.0, 0.1, -0.3]), np.array([0.0, 0.1, 0.2]))
    1.5
    """
    ratios = np.abs(steps[1:]) / np.where(errors[1:] > 0, errors[1:], np.nan)
    return float(np.round(np.max(ratios[np.isfinite(ratios)], initial=0.0), 12))


def steps_left(fitted: FittedPBM) -> FloatArray:
    """Return the step of Newton left in the logarithm of each relative propensity; NaN where none is known. Shape (ranks,).

    Examples
    --------
    >>> log = Sessions.from_arrays(["q"] * 4, [["a", "b"], ["b", "a"]] * 2, [[1, 0], [1, 1], [0, 0], [1, 0]])
    >>> bool(abs(steps_left(PBM(1000).fit(log))[1]) < 0.01)
    True
    """
    compared = _compared(fitted.cells, fitted.propensity)
    found = np.full(fitted.propensity.size, np.nan)
    if compared.size:
        found[compared] = _errors(fitted.cells, fitted.attractiveness_values, fitted.propensity, compared)[2]
    return found


def _compared(cells: CellCounts, examined: FloatArray) -> IntArray:
    """Situations in the set of the first rank that had a click, from the first rank on; none if it had no click."""
    sets = informative_sets(cells)
    had_click = (np.bincount(cells.situation, cells.clicked, cells.n_situations) > 0) & (examined > 0)
    if sets[0] < 0 or not had_click[0]:
        return np.zeros(0, np.int64)
    return np.flatnonzero((sets == sets[0]) & had_click)


def _errors(
    cells: CellCounts, attractive: FloatArray, examined: FloatArray, compared: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Standard errors of log click rates of pairs at the first rank and of log relative examination; its steps of Newton left."""
    place = np.full(cells.n_situations, -1, np.int64)
    place[compared] = np.arange(compared.size)
    had_click = np.bincount(cells.pair, cells.clicked, cells.n_pairs) > 0  # the maximum of the likelihood of others is 0
    used = (place[cells.situation] >= 0) & had_click[cells.pair]
    pair, situation, shown = cells.pair[used], place[cells.situation[used]], cells.shown[used]
    rate = attractive[pair] * examined[compared][situation]
    other, skipped = np.maximum(1 - rate, _LEAST), shown - cells.clicked[used]
    weight = skipped * rate / other**2
    of_pair = np.bincount(pair, weight, cells.n_pairs)
    inverse = np.divide(1.0, of_pair, out=np.zeros_like(of_pair), where=of_pair > 0)
    scaled = weight * inverse[pair]
    n, members = compared.size, [np.flatnonzero(situation == one) for one in range(compared.size)]
    # What the log tells of examination when attractiveness is estimated too: a Laplacian, whose null direction is the common factor.
    left = np.diag(np.bincount(situation, weight, n).astype(np.float64))
    for one, rows in enumerate(members):
        left[:, one] -= np.bincount(situation, weight * _spread(pair[rows], scaled[rows], cells.n_pairs)[pair], n)
    covariance = np.zeros_like(left)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # of a few impressions that were all clicked: no interval
        covariance[1:, 1:] = inverse_of(left[1:, 1:])
    score = cells.clicked[used] - skipped * rate / other
    free = attractive < 1 - _LEAST  # a pair at its bound stays there
    by_pair = np.where(free, np.bincount(pair, score, cells.n_pairs), 0.0)
    steps = (covariance * (np.bincount(situation, score, n) - np.bincount(situation, scaled * by_pair[pair], n))).sum(axis=1)
    errors = np.sqrt(np.where(np.diag(covariance) >= 0, np.diag(covariance), np.nan))
    joint = np.zeros(cells.n_pairs)  # of what the errors of examination add to each pair
    for one, rows in enumerate(members):
        own = np.bincount(pair, scaled * covariance[situation, one], cells.n_pairs)
        joint += _spread(pair[rows], scaled[rows], cells.n_pairs) * own
    return np.sqrt(np.where((of_pair > 0) & (joint >= 0), inverse + joint, np.nan)), errors, steps


def _spread(places: IntArray, values: FloatArray, size: int) -> FloatArray:
    found = np.zeros(size)
    found[places] = values
    return found


def inverse_of(matrix: FloatArray) -> FloatArray:
    """Invert a symmetric positive definite matrix by elimination, whose sums have one order on every processor.

    Examples
    --------
    >>> inverse_of(np.array([[2.0, 1.0], [1.0, 2.0]])).round(3).tolist()
    [[0.667, -0.333], [-0.333, 0.667]]
    """
    size = matrix.shape[0]
    work = np.hstack([matrix, np.eye(size)])
    for row in range(size):
        work[row] /= work[row, row]
        factors = work[:, row].copy()
        factors[row] = 0.0
        work -= factors[:, None] * work[row]
    return work[:, size:]
