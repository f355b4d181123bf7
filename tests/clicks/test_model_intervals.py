"""Identifiability of the user browsing model, and intervals of the parameters of click models."""

import math
import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binomtest

from idealrank.clicks import (
    DBN,
    DCM,
    PBM,
    SDBN,
    UBM,
    Cascade,
    FittedPBM,
    Sessions,
    harvested_propensities,
    model_intervals,
    parameter_intervals,
    propensities,
    simulate,
)
from idealrank.errors import IdealrankWarning, OptionError


def random_log(queries: int = 6, n: int = 3000) -> Sessions:
    truth = np.random.default_rng(1).beta(3, 3, (queries, 4))
    return simulate(truth, n, ranks=3, policy="random", rng=2)


def test_a_log_in_random_order_identifies_every_examination_of_a_ubm() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = UBM(20).fit(random_log())
    assert fitted.situation_sets.tolist() == [[0, -1, -1, -1], [0, 0, -1, -1], [0, 0, 0, -1]]


def test_a_ubm_names_situations_that_share_no_clicked_document() -> None:
    log = simulate(
        np.full((5, 3), 0.5),
        500,
        ranks=3,
        policy="fixed",
        scores=np.tile([3.0, 2, 1], (5, 1)),
        rng=1,
    )
    with pytest.warns(
        IdealrankWarning,
        match=r"into 3 sets that share no clicked document \(such as rank 2 without a click above; "
        r"66\.67%",
    ):
        fitted = UBM(5).fit(log)
    assert [sorted(set(row[row >= 0].tolist())) for row in fitted.situation_sets] == [[0], [1], [2]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        intervals = parameter_intervals(UBM(5), log).examination
    assert intervals is not None
    assert np.isnan(intervals[1:]).all()


def test_documents_that_were_never_clicked_join_no_situations() -> None:
    # c and d change places, but without a click both are taken as not attractive, whatever the
    # examination of their ranks
    shown = [["a", "b", "c", "d"], ["b", "a", "d", "c"], ["a", "b", "d", "c"], ["b", "a", "c", "d"]]
    log = Sessions.from_arrays(
        ["q"] * 4, shown, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
    )
    with pytest.warns(
        IdealrankWarning,
        match=r"4 situations of examination occurred with documents alone that were never clicked",
    ):
        fitted = UBM(5).fit(log)
    assert (fitted.situation_sets[2:] == -1).all()
    assert (
        fitted.situation_sets[0, 0],
        fitted.situation_sets[1, 0],
        fitted.situation_sets[1, 1],
    ) == (0, 0, 0)


def test_errors_by_information_are_those_of_the_whole_hessian() -> None:
    """All second derivatives of the log-likelihood in the logarithms of all parameters, by finite
    differences.
    """
    log = random_log(2, 2000)
    intervals = parameter_intervals(PBM(3000), log)
    fitted = intervals.fitted
    assert isinstance(fitted, FittedPBM)
    cells = fitted.cells
    n = cells.n_pairs

    def loss(values: np.ndarray) -> float:
        # log, with the first rank as reference
        rate = values[cells.pair] + np.append(0.0, values[n:])[cells.situation]
        return -float(
            (cells.clicked * rate + (cells.shown - cells.clicked) * np.log(-np.expm1(rate))).sum()
        )

    best = np.log(
        np.concatenate(
            [fitted.attractiveness_values * fitted.propensity[0], fitted.relative_propensity[1:]]
        )
    )
    assert minimize(loss, best, method="BFGS").fun == pytest.approx(loss(best), abs=1e-4)
    size, step = best.size, 1e-4
    moves = step * np.eye(size)
    hessian = np.array(
        [
            [
                (loss(best + a + b) - loss(best + a - b) - loss(best - a + b) + loss(best - a - b))
                / (4 * step**2)
                for b in moves
            ]
            for a in moves
        ]
    )
    errors = np.sqrt(np.diag(np.linalg.inv(hessian)))
    reach = 1.959963984540054 * errors
    assert intervals.examination is not None
    assert np.log(intervals.examination[1:, 1]) == pytest.approx(best[n:] + reach[n:], abs=1e-4)
    assert np.log(intervals.attractiveness[:, 0]) == pytest.approx(best[:n] - reach[:n], abs=1e-4)


@pytest.mark.parametrize("model", [PBM(1), UBM(1), DBN(1)])
def test_a_fit_that_stops_early_is_named_in_a_caution(model: PBM) -> None:
    with pytest.warns(
        IdealrankWarning, match="has not converged at 1 iterations; raise the number of iterations"
    ):
        intervals = parameter_intervals(model, random_log(), n_resamples=2)
    assert any("has not converged" in caution for caution in intervals.cautions)
    assert not intervals.fitted.converged


@pytest.mark.parametrize("model", [PBM(), UBM()])
def test_fits_converge_at_the_usual_number_of_steps(model: PBM) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        intervals = parameter_intervals(model, random_log())
    assert intervals.fitted.converged
    assert not intervals.cautions


def test_documents_with_few_clicks_are_named_in_a_caution() -> None:
    """One attractiveness is fitted to each of 24,000 pairs, of which half have a click."""
    log = simulate(
        np.random.default_rng(1).beta(2, 6, (2000, 12)), 20_000, ranks=5, policy="random", rng=2
    )
    with pytest.warns(IdealrankWarning, match="documents have too few clicks"):
        intervals = parameter_intervals(PBM(), log)
    assert intervals.cautions[0].endswith("prefer all-pairs")
    assert intervals.examination is not None
    assert intervals.examination[3, 0] > 1 / 4  # the truth
    assert harvested_propensities(log, n_resamples=0).relative == pytest.approx(
        1 / np.arange(1, 6), abs=0.03
    )


def test_shares_have_the_intervals_of_scipy() -> None:
    log = Sessions.from_arrays(
        ["q"] * 5, [["a", "b"]] * 5, [[1, 0], [0, 1], [0, 0], [0, 1], [1, 1]]
    )
    intervals = parameter_intervals(Cascade(), log)  # a: 2 of 5; b below no click: 2 of 3
    for row, (hits, size) in enumerate([(2, 5), (2, 3)]):
        expected = binomtest(hits, size).proportion_ci(0.95)
        assert intervals.attractiveness[row] == pytest.approx(
            (expected.low, expected.high), abs=1e-12
        )
    # of 2 clicks at the first rank, one is the last
    onward = parameter_intervals(DCM(), log).continuation
    assert onward is not None
    assert onward[0] == pytest.approx(tuple(binomtest(1, 2).proportion_ci(0.95)), abs=1e-12)
    satisfied = parameter_intervals(SDBN(), log).satisfaction  # b: of 3 clicks, 3 are the last
    assert satisfied is not None
    assert satisfied[1] == pytest.approx(tuple(binomtest(3, 3).proportion_ci(0.95)), abs=1e-12)


def test_a_bootstrap_holds_the_estimates_of_a_dbn() -> None:
    log = random_log(2, 400)
    intervals = parameter_intervals(DBN(), log, n_resamples=30, rng=1)
    assert intervals.continuation is not None
    assert intervals.satisfaction is not None
    assert "satisfaction are too short" in intervals.cautions[-1]
    low, high = intervals.continuation[0]
    assert low <= intervals.fitted.continuation <= high  # type: ignore[attr-defined]
    assert (
        (intervals.attractiveness[:, 0] <= intervals.fitted.attractiveness_values)
        & (intervals.fitted.attractiveness_values <= intervals.attractiveness[:, 1])
    ).mean() > 0.8


def test_a_first_rank_without_a_click_leaves_no_interval() -> None:
    log = Sessions.from_arrays(["q", "q"], [["a", "b"], ["b", "a"]], [[0, 1], [0, 0]])
    intervals = parameter_intervals(PBM(5), log)
    assert intervals.examination is not None
    assert np.isnan(intervals.examination).all()


@pytest.mark.parametrize("seed", range(8))
def test_small_logs_have_intervals_around_the_estimates_or_none(seed: int) -> None:
    rng = np.random.default_rng(seed)
    log = simulate(
        rng.beta(1, 1, (3, 3)), int(rng.integers(2, 30)), ranks=3, policy="random", rng=rng
    )
    for model in (
        PBM(30),
        UBM(30),
        Cascade(),
        DCM(),
        SDBN(),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", IdealrankWarning)
            fitted_intervals = parameter_intervals(model, log)
        for intervals in (
            fitted_intervals.attractiveness,
            fitted_intervals.examination,
            fitted_intervals.satisfaction,
            fitted_intervals.continuation,
        ):
            if intervals is not None:
                low, high = intervals[..., 0], intervals[..., 1]
                assert (np.isnan(low) == np.isnan(high)).all()
                assert (low <= high)[~np.isnan(low)].all()


def test_options_outside_their_range_are_refused() -> None:
    for options in ({"confidence": 1.0}, {"n_resamples": 0}):
        with pytest.raises(OptionError):
            parameter_intervals(DBN(), random_log(2, 50), **options)
    assert math.isfinite(parameter_intervals(Cascade(), random_log(2, 50)).attractiveness[0, 0])


def test_propensities_of_few_steps_have_the_same_caution() -> None:
    with pytest.warns(IdealrankWarning, match="has not converged at 1 iterations"):
        estimated = propensities(random_log(), iterations=1, n_resamples=20)
    assert "raise the number of iterations" in estimated.cautions[0]
    assert not propensities(random_log(), n_resamples=20).cautions


def test_a_model_without_intervals_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unlisted:
        fit = Cascade().fit

    monkeypatch.setattr(model_intervals, "ClickModel", Cascade | Unlisted)
    with pytest.raises(TypeError, match="Unlisted: found no intervals, expected it in _COUNTED"):
        parameter_intervals(Unlisted(), random_log())
