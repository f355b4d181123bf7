"""Propensities of a log with intervals, and how well the model behind them predicts clicks."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from idealrank.clicks.cell_counts import FIRST_WITHOUT_CLICK
from idealrank.clicks.click_grades import position_bias
from idealrank.clicks.examination_models import PBM, FittedPBM
from idealrank.clicks.query_bootstrap import linking_queries, one_query_cautions
from idealrank.clicks.sessions import Sessions, check_sessions
from idealrank.data.types import FloatArray
from idealrank.errors import warn
from idealrank.stats.randomness import RandomLike, generator_of


@dataclass(frozen=True, kw_only=True, eq=False)
class Propensities:
    """Propensity of each rank relative to the first, by the position-based model.

    Attributes
    ----------
    relative : float64 array, shape (ranks,)
        Estimates; the first is 1. NaN for ranks that no clicked document links with the first, and
        for all ranks if the first has no click.
    intervals : float64 array, shape (ranks, 2)
        Intervals of the logarithms, with standard errors by bootstrap over queries; NaN for a rank
        without a click, and for a rank that fewer than two queries link with the first.
    click_rates : float64 array, shape (ranks,)
        Share of lists with a click at each rank.
    perplexity : float64 array, shape (ranks,)
        Perplexity at each rank, on lists that the model has not seen.
    position_bias : float
        Rate of clicks at the first rank divided by that at the last, for the same documents.
    n_sessions, n_queries, n_components : int
        Lists, queries, and sets of ranks that share no document.
    cautions : tuple of str
        Reasons not to trust the estimates; empty where nothing was found.

    Examples
    --------
    >>> from idealrank.clicks import simulate
    >>> estimated = propensities(
    ...     simulate([[0.5, 0.3, 0.2]] * 5, 2000, ranks=3, policy="random"), n_resamples=20
    ... )
    >>> float(estimated.relative[0]), estimated.n_components
    (1.0, 1)
    """

    relative: FloatArray
    intervals: FloatArray
    click_rates: FloatArray
    perplexity: FloatArray
    position_bias: float
    n_sessions: int
    n_queries: int
    n_components: int
    cautions: tuple[str, ...] = ()


def propensities(
    sessions: Sessions,
    *,
    iterations: int = 500,
    n_resamples: int = 200,
    held_out: float = 0.2,
    rng: RandomLike = 0,
) -> Propensities:
    """Estimate propensities by the position-based model, with intervals and held-out perplexity.

    Parameters
    ----------
    sessions : Sessions
        The log.
    iterations : int
        Most steps of the fit, as of `PBM`.
    n_resamples : int
        Replicates of the bootstrap over queries.
    held_out : float
        Share of the lists on which perplexity is computed, by a model fitted to the others.
    rng : seed or Generator
        Random numbers.

    Raises
    ------
    InputError
        No list has a click.
    OptionError
        An option is outside its range.

    Warns
    -----
    IdealrankWarning
        By `PBM.fit`: the model has not converged, or ranks cannot be compared. Or the first rank
        has no click, no clicked document links a rank with the first, or only one query links a
        rank with the first.
    """
    check_sessions(sessions)
    sessions.require_click()
    generator = generator_of(rng)
    fitted = PBM(iterations).fit(sessions)
    unseen, seen = sessions.split(held_out, generator)
    perplexity = PBM(iterations).fit(seen).perplexity_by_rank(unseen)
    intervals = fitted.propensity_intervals(n_resamples=n_resamples, rng=generator)
    not_relative = tuple(_not_relative(fitted))
    for caution in not_relative:
        warn(caution)
    cautions = (
        *fitted.cautions,
        *not_relative,
        *one_query_cautions(linking_queries(fitted.cells, fitted.query_of_pair)),
    )
    return Propensities(
        relative=fitted.relative_propensity,
        intervals=intervals,
        click_rates=sessions.click_rates(),
        perplexity=perplexity,
        position_bias=position_bias(sessions),
        n_sessions=len(sessions),
        n_queries=len(sessions.queries),
        n_components=fitted.n_components,
        cautions=cautions,
    )


def _not_relative(fitted: FittedPBM) -> Iterator[str]:
    """Say which ranks cannot be compared with the first, unless the fit has said that they share no
    document.
    """
    lost = np.flatnonzero(np.isnan(fitted.relative_propensity)) + 1
    if not fitted.cells.clicked[fitted.cells.situation == 0].any():
        yield FIRST_WITHOUT_CLICK
    elif lost.size and fitted.n_components == 1:
        ranks = ", ".join(map(str, lost.tolist()))
        yield (
            f"no clicked document links rank {ranks} with the first: no propensity there; log some "
            "results in random or swapped order"
        )
