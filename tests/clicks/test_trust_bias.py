"""Affine propensities under trust bias: the truth of simulated logs, covariances written out, and
differences that survive.
"""

import math
import warnings

import numpy as np
import pytest

from idealrank.clicks import (
    PBM,
    Sessions,
    TrustPropensities,
    logged_dcg,
    logged_dcg_difference,
    simulate,
    trust_propensities,
)
from idealrank.errors import IdealrankWarning, InputError

SEEN, NOISE = 1 / np.arange(1, 5), 0.3 / np.arange(1, 5)
SLOPES, OFFSETS = SEEN * (1 - NOISE), SEEN * NOISE  # of the click rate over the attractiveness
SLOPE = SLOPES / SLOPES[0]
OFFSET = OFFSETS - SLOPE * OFFSETS[0]


def truth(seed: int, queries: int = 60) -> np.ndarray:
    return np.random.default_rng(seed).beta(1, 2, (queries, 7))


def log_of(attractive: np.ndarray, n: int, seed: int, *, model: str = "trust") -> Sessions:
    return simulate(attractive, n, ranks=4, model=model, noise=0.3, policy="random", rng=seed)  # type: ignore[arg-type]


def test_lines_of_a_simulated_log_are_recovered() -> None:
    trust = trust_propensities(log_of(truth(1), 60_000, 2), n_resamples=100)
    assert trust.slope == pytest.approx(SLOPE, abs=0.05)
    assert trust.offset == pytest.approx(OFFSET, abs=0.03)
    assert trust.has_trust_bias
    assert not trust.cautions


def test_without_trust_bias_slopes_are_propensities() -> None:
    trust = trust_propensities(log_of(truth(1), 60_000, 3, model="pbm"), n_resamples=100)
    assert trust.slope == pytest.approx(SEEN, abs=0.04)
    assert trust.offset == pytest.approx(np.zeros(4), abs=0.02)
    assert not trust.has_trust_bias


@pytest.mark.parametrize("repetitions", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_intervals_hold_the_lines(repetitions: int) -> None:
    held = np.zeros((2, 4))
    for repetition in range(repetitions):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IdealrankWarning)  # of a weak log now and then
            trust = trust_propensities(
                log_of(truth(repetition, 100), 8000, repetition), n_resamples=100, rng=repetition
            )
        held[0] += (trust.slope_intervals[:, 0] <= SLOPE) & (trust.slope_intervals[:, 1] >= SLOPE)
        held[1] += (trust.offset_intervals[:, 0] <= OFFSET) & (
            trust.offset_intervals[:, 1] >= OFFSET
        )
    # an interval that holds for all ranks together holds at each of them in at least 95 %, within
    # four errors of the count
    assert (held[:, 1:] >= 0.95 * repetitions - 4 * math.sqrt(0.95 * 0.05 * repetitions)).all()


def test_few_logs_without_trust_bias_have_some() -> None:
    """With an interval of 95 % for each of nine ranks, half of such logs did."""
    n_biased = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        attractive = rng.beta(2, 6, (133, 14))
        log = simulate(attractive, 6000, ranks=10, scores=2 * attractive, rng=rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IdealrankWarning)
            n_biased += trust_propensities(log, n_resamples=200, rng=rng).has_trust_bias
    assert n_biased <= 8  # 5 % of 40, and four errors of the count


def test_slopes_are_covariances_written_out() -> None:
    log = log_of(truth(4, 5), 900, 5)
    trust = trust_propensities(log, n_resamples=0)
    for rank in range(1, 4):
        rows = []
        for pair in range(len(log.documents)):
            clicks = [log.clicks[:, place][log.pair[:, place] == pair] for place in range(4)]
            rest = np.concatenate(
                [rate for place, rate in enumerate(clicks) if place not in (0, rank)]
            )
            if clicks[0].size and clicks[rank].size and rest.size:
                weight = 1 / (1 / clicks[0].size + 1 / clicks[rank].size + 1 / rest.size)
                rows.append((weight, clicks[0].mean(), clicks[rank].mean(), rest.mean()))
        weight, first, own, rest = np.array(rows).T
        cov = [
            np.average((rates - np.average(rates, weights=weight)) * rest, weights=weight)
            for rates in (first, own)
        ]
        assert trust.slope[rank] == pytest.approx(cov[1] / cov[0], rel=1e-9)
        means = [np.average(rates, weights=weight) for rates in (first, own)]
        assert trust.offset[rank] == pytest.approx(
            means[1] - trust.slope[rank] * means[0], rel=1e-9
        )
        assert trust.n_pairs[rank] == len(rows)


def test_affine_corrections_order_rankers_where_propensities_do_not() -> None:
    """The old ranker shows its favourites at the top, where they get mistaken clicks; true users
    prefer the other ranker.
    """
    attractive = np.array([[0.30, 0.34, 0.1, 0.1]])
    log = simulate(
        attractive,
        80_000,
        ranks=4,
        model="trust",
        noise=0.5,
        propensity=np.ones(4),
        policy="plackett-luce",
        scores=[[2.5, 0.0, 0.0, 0.0]],
        rng=3,
    )
    favourite, better = {"0": list("0123")}, {"0": list("1023")}
    noise = 0.5 / np.arange(1, 5)
    plain = logged_dcg_difference(log, favourite, better, np.ones(4))
    corrected = logged_dcg_difference(log, favourite, better, 1 - noise, offset=noise)
    assert plain.dcg.interval[1] < 0 < corrected.dcg.interval[0]
    gain = (0.34 - 0.30) * (1 - 1 / math.log2(3))
    assert abs(corrected.dcg.value - gain) < 4 * corrected.dcg.standard_error
    assert math.isnan(corrected.ndcg.value)
    assert "NDCG none" in str(corrected.a)
    # what clicks determine, relative to the first rank, changes the difference by a factor above 0
    slope, offset = (1 - noise) / (1 - noise[0]), noise - noise[0] * (1 - noise) / (1 - noise[0])
    relative = logged_dcg_difference(log, favourite, better, slope, offset=offset)
    assert relative.dcg.value == pytest.approx(corrected.dcg.value * (1 - noise[0]), rel=1e-9)


def test_a_model_without_trust_finds_other_propensities() -> None:
    log = log_of(truth(1), 60_000, 2)
    with pytest.warns(IdealrankWarning, match="standard errors from the method all-pairs"):
        wrong = PBM().fit(log).relative_propensity
    assert (np.abs(wrong - SEEN)[1:] > 0.03).all()


def test_logs_that_cannot_tell_are_refused_or_named() -> None:
    with pytest.raises(InputError, match="found 2 ranks, expected at least 3"):
        trust_propensities(simulate([[0.5, 0.3]], 100, ranks=2, policy="random"))
    with pytest.raises(InputError, match="no document at the first rank and at two others"):
        trust_propensities(simulate([[0.5, 0.3, 0.2]], 100, ranks=3, policy="fixed"))
    alike = simulate(np.full((20, 4), 0.3), 4000, ranks=4, policy="random", rng=2)
    with pytest.warns(IdealrankWarning, match="differ too little in attractiveness"):
        trust = trust_propensities(alike)
    assert isinstance(trust, TrustPropensities)
    assert len(trust.cautions) == 3
    log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["b", "a"]], [[1, 0], [0, 1]])
    with pytest.raises(InputError, match="offset: found"):
        logged_dcg(log, {"q": ["a", "b"]}, [1.0, 0.5], offset=[0.1])
