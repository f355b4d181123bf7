"""Power of the paired t test and of the sign flips, against statsmodels, R's PowerTOST and
simulation; the half-width rule; swap rates.
"""

import math
import subprocess
import sys

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from idealrank.errors import InputError, OptionError
from idealrank.stats import (
    Design,
    detectable,
    flip_detectable,
    flip_power,
    flip_queries_needed,
    half_width,
    pilot,
    queries_for_half_width,
    queries_needed,
    t_power,
)
from idealrank.stats.power import _both_beyond

# statsmodels 0.15.0: TTestPower().power(d, n, alpha), two-sided and with alternative="larger"
POWERS = [
    (10, 0.5, 0.05, 0.2931756065140767, 0.4272898267711782),
    (50, 0.4, 0.05, 0.7917871892678123, 0.8737242239874115),
    (200, 0.1, 0.01, 0.12035800467030237, 0.1783338869223846),
    (25, 1.2, 0.05, 0.9999237282980663, 0.9999852324772868),
    (1000, 0.05, 0.1, 0.47480244449385306, 0.6175060376091825),
]
# TTestPower().solve_power(d, None, alpha, power), two-sided and one-sided: fractions of a query
SIZES = [
    (0.5, 0.8, 0.05, 33.36713118431779, 26.137503817059283),
    (0.2, 0.9, 0.05, 264.6136854232749, 215.45620472199016),
    (0.05, 0.8, 0.01, 4674.905066214966, 4017.117708037627),
    (1.5, 0.8, 0.05, 5.686142097745736, 4.440254127285652),
]
# The effect by TTestPower().solve_power(None, n, alpha, power)
EFFECTS = [
    (25, 0.8, 0.05, 0.5840261396263716),
    (50, 0.8, 0.05, 0.4041829997377859),
    (1000, 0.9, 0.01, 0.12218407215770721),
]

PILOT = np.array([0.0] * 40 + [0.1, 0.2, -0.1, 0.3, 0.05, -0.05, 0.2, 0.1, -0.2, 0.1])


# --- the paired t test ----------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d", "alpha", "two_sided", "one_sided"), POWERS)
def test_power_is_that_of_statsmodels(
    n: int, d: float, alpha: float, two_sided: float, one_sided: float
) -> None:
    assert t_power(n, d * 0.3, 0.3, alpha=alpha) == pytest.approx(two_sided, rel=1e-9)
    # Non-inferiority by a margin is the one-sided test of effect + margin.
    beside = {"alpha": alpha, "purpose": "non-inferiority", "margin": 0.1}
    assert t_power(n, d * 0.3 - 0.1, 0.3, **beside) == pytest.approx(one_sided, rel=1e-9)


@pytest.mark.parametrize(("d", "power", "alpha", "two_sided", "one_sided"), SIZES)
def test_queries_needed_are_those_of_statsmodels_rounded_up(
    d: float, power: float, alpha: float, two_sided: float, one_sided: float
) -> None:
    assert (
        queries_needed(d, 1.0, power=power, alpha=alpha)
        == queries_needed(-d, 1.0, power=power, alpha=alpha)
        == math.ceil(two_sided)
    )
    assert queries_needed(
        0.0, 1.0, power=power, alpha=alpha, purpose="non-inferiority", margin=d
    ) == math.ceil(one_sided)


@pytest.mark.parametrize(("n", "power", "alpha", "effect"), EFFECTS)
def test_the_detectable_effect_is_that_of_statsmodels(
    n: int, power: float, alpha: float, effect: float
) -> None:
    # statsmodels stops its search at about six digits; the power at what we find is right to
    # twelve.
    found = detectable(n, 1.0, power=power, alpha=alpha)
    assert found == pytest.approx(effect, rel=2e-6)
    assert t_power(n, found, 1.0, alpha=alpha) == pytest.approx(power, abs=1e-11)
    assert detectable(n, np.array([0.0, 0.2]), power=power, alpha=alpha) == pytest.approx(
        [0, 0.2 * found], rel=1e-12
    )


@pytest.mark.parametrize(("cv", "subjects", "power"), [(0.2, 20, 0.8346802), (0.3, 40, 0.8158453)])
def test_equivalence_has_the_power_of_powertost(cv: float, subjects: int, power: float) -> None:
    # R, PowerTOST: sampleN.TOST(CV=cv, theta0=0.95, design="2x2"), limits log(0.8) and log(1.25),
    # subjects - 2 degrees of freedom. Its documents print the first; SciPy's quadrature over the
    # standard deviation says both.
    error = math.sqrt(math.log(1 + cv**2) * 2 / subjects)
    degrees, margin, effect = subjects - 2, math.log(1.25), math.log(0.95)
    found = _both_beyond(
        stats.t.isf(0.05, degrees), degrees, (margin + effect) / error, (margin - effect) / error
    )
    assert found == pytest.approx(power, abs=6e-8)
    reach, low, high = (
        stats.t.isf(0.05, degrees),
        (margin + effect) / error,
        (margin - effect) / error,
    )

    def shown(deviation: float) -> float:
        inside = stats.norm.cdf(high - reach * deviation) - stats.norm.cdf(reach * deviation - low)
        return (
            max(inside, 0.0)
            * stats.chi.pdf(deviation * math.sqrt(degrees), degrees)
            * math.sqrt(degrees)
        )

    largest = (low + high) / (2 * reach)  # beyond it nothing is shown
    assert found == pytest.approx(
        quad(shown, 0.0, largest, points=[1.0], epsabs=1e-13)[0], abs=1e-9
    )


def test_equivalence_has_the_power_it_has_in_simulation() -> None:
    rng = np.random.default_rng(5)
    draws = rng.normal(0.1, 1.0, (20_000, 40))
    reach = stats.t.isf(0.05, 39) * draws.std(axis=1, ddof=1) / math.sqrt(40)
    shown = ((draws.mean(axis=1) - reach > -0.5) & (draws.mean(axis=1) + reach < 0.5)).mean()
    found = t_power(40, 0.1, 1.0, purpose="equivalence", margin=0.5)
    assert abs(found - shown) < 5 * math.sqrt(found * (1 - found) / 20_000)


def test_plans_fit_each_other() -> None:
    for purpose, margin, effect in (
        ("difference", 0.0, 0.02),
        ("non-inferiority", 0.02, 0.005),
        ("equivalence", 0.03, -0.01),
    ):
        options = {"purpose": purpose, "margin": margin, "alpha": 0.05}
        n = queries_needed(effect, 0.1, power=0.9, **options)
        assert t_power(n, effect, 0.1, **options) >= 0.9 > t_power(n - 1, effect, 0.1, **options)
    least = detectable(300, 0.1, purpose="equivalence")
    assert queries_needed(0.0, 0.1, purpose="equivalence", margin=least * 1.0001) == 300


def test_many_queries_are_as_good_as_a_normal_law() -> None:
    assert queries_needed(1e-4, 0.1) == pytest.approx(
        ((1.959963984540054 + 0.8416212335729143) * 1000) ** 2, rel=1e-5
    )


def test_plans_that_no_number_of_queries_fulfils_are_refused() -> None:
    with pytest.raises(OptionError, match="no number of queries"):
        queries_needed(0.0, 0.1)
    with pytest.raises(OptionError, match="no number of queries"):
        queries_needed(-0.02, 0.1, purpose="non-inferiority", margin=0.02)
    with pytest.raises(OptionError, match="1e\\+12"):
        queries_needed(1e-9, 1.0)
    with pytest.raises(OptionError, match="margin"):
        t_power(10, 0.1, 0.1, margin=0.1)
    with pytest.raises(OptionError, match=r"margin=0\.0"):
        t_power(10, 0.1, 0.1, purpose="equivalence")
    with pytest.raises(OptionError, match=r"sd=0\.0"):
        t_power(10, 0.1, 0.0)
    with pytest.raises(OptionError, match="two-sided"):
        t_power(10, 0.1, 0.1, purpose="two-sided")  # type: ignore[arg-type]


# --- pilots ---------------------------------------------------------------------------------------


def test_a_pilot_has_the_sample_standard_deviation_and_its_interval() -> None:
    found = pilot(PILOT)
    assert (found.n, found.df, found.mean) == (50, 49, pytest.approx(PILOT.mean()))
    assert found.sd == pytest.approx(PILOT.std(ddof=1), rel=1e-12)
    # SciPy has no interval of a standard deviation; this is that of the chi-squared law.
    assert 49 * found.sd**2 / found.low**2 == pytest.approx(stats.chi2.ppf(0.975, 49))
    assert 49 * found.sd**2 / found.high**2 == pytest.approx(stats.chi2.ppf(0.025, 49))
    assert queries_needed(0.02, found) == queries_needed(0.02, found.sd)


def test_a_pilot_of_clusters_needs_as_many_more_queries() -> None:
    # Every query three times: the same information from three times as many.
    tripled = pilot(
        np.repeat(PILOT, 3), design=Design.of(150, clusters=np.repeat(np.arange(50), 3))
    )
    assert (tripled.n, tripled.df) == (150, 49)
    assert queries_needed(0.02, tripled) == pytest.approx(
        3 * queries_needed(0.02, pilot(PILOT)), abs=3
    )
    assert detectable(150, tripled) == pytest.approx(detectable(50, pilot(PILOT)), rel=1e-9)


# --- half-widths ----------------------------------------------------------------------------------


def test_five_hundred_queries_are_stable_to_a_hundredth_only_for_some_spreads() -> None:
    # Closed form t sd / sqrt(n). The figures 0.0117 at 500 and 0.0084 at 1,000 belong to standard
    # deviations of 0.133 and 0.135; at 0.14 they are 0.0123 and 0.0087.
    assert half_width(500, 0.14) == pytest.approx(1.9647298 * 0.14 / math.sqrt(500), rel=1e-6)
    assert half_width(np.array([500, 1000]), 0.14) == pytest.approx([0.012301, 0.008688], abs=1e-6)
    assert half_width(500, 0.1332) == pytest.approx(0.0117, abs=5e-5)
    assert half_width(1000, 0.1353) == pytest.approx(0.0084, abs=5e-5)
    assert queries_for_half_width(0.01, 0.14) == 756
    assert half_width(756, 0.14) <= 0.01 < half_width(755, 0.14)


# --- sign flips -----------------------------------------------------------------------------------


def test_flips_of_normal_differences_have_the_power_of_t() -> None:
    normal = stats.norm.ppf((np.arange(4000) + 0.5) / 4000)
    found = flip_power(normal, 50, 0.4, alternative="shift", trials=1000, n_resamples=499, rng=2)
    assert abs(found.power - t_power(50, 0.4, 1.0)) < 4 * found.standard_error + 0.005
    none = flip_power(normal, 50, 0.0, trials=1000, n_resamples=499, rng=2)
    assert abs(none.power - 0.05) < 4 * math.sqrt(0.05 * 0.95 / 1000)


def test_power_of_flips_is_that_of_tests_made_one_by_one() -> None:
    rng = np.random.default_rng(9)
    trials = 150
    alarms = 0
    for _ in range(trials):
        drawn = rng.choice(PILOT, 60)
        done = stats.permutation_test(
            (drawn,), np.mean, permutation_type="samples", n_resamples=299, rng=rng
        )
        alarms += done.pvalue <= 0.05
    found = flip_power(PILOT, 60, trials=1000, rng=1)
    assert (
        abs(found.power - alarms / trials)
        < 4 * math.sqrt(found.power * (1 - found.power) * (1 / trials + 1 / 1000)) + 0.01
    )


def test_tilting_keeps_the_zeros_and_reaches_the_effect() -> None:
    found = flip_power(PILOT, 50, 0.04, trials=50, rng=1)
    assert found.effect == pytest.approx(0.04, abs=1e-12)
    with pytest.raises(OptionError, match=r"between -0\.2 and 0\.3"):
        flip_power(PILOT, 50, 0.5)
    assert flip_power(PILOT, 50, 0.5, alternative="shift", trials=50, rng=1).power == 1


def test_simulated_power_does_not_depend_on_threads() -> None:
    alone, together = (
        flip_power(PILOT, 30, 0.03, trials=333, rng=5, threads=threads) for threads in (1, 3)
    )
    assert alone == together


def test_queries_for_flips_have_the_power_that_was_asked_for() -> None:
    found = flip_queries_needed(PILOT, 0.03, trials=400, n_resamples=399, rng=3)
    assert abs(found.power - 0.8) < 0.08
    with pytest.raises(OptionError, match="effect of 0"):
        flip_queries_needed(np.array([-1.0, 1.0]))
    with pytest.raises(InputError, match="at least 2"):
        flip_queries_needed(np.array([1.0]))


def test_the_difference_flips_can_see_is_that_of_t_for_normal_differences() -> None:
    normal = stats.norm.ppf((np.arange(4000) + 0.5) / 4000)
    found = flip_detectable(normal, 60, alternative="shift", trials=600, n_resamples=399, rng=1)
    assert found.effect == pytest.approx(detectable(60, 1.0), rel=0.06)
    tilted = flip_detectable(PILOT, 60, trials=400, n_resamples=399, rng=1)
    assert abs(tilted.power - 0.8) < 0.08
    assert 0 < tilted.effect < PILOT.max()


def test_a_pilot_that_allows_no_visible_difference_is_refused() -> None:
    with pytest.raises(OptionError, match="expected more queries"):
        flip_detectable(PILOT, 5, trials=100, n_resamples=99, rng=1)
    with pytest.raises(OptionError, match="no improvement to draw from"):
        flip_detectable(-np.abs(PILOT), 50)


def test_flips_too_few_for_the_level_are_refused() -> None:
    with pytest.raises(OptionError, match="at least 99"):
        flip_power(PILOT, 50, alpha=0.01, n_resamples=98)
    assert flip_power(PILOT, 50, alpha=0.01, n_resamples=99, trials=50, rng=1).trials == 50


def test_the_commands_that_plan_and_compare_do_not_load_scipy_stats() -> None:
    """It takes a second, which is more than the work of most calls."""
    code = (
        "import sys, idealrank.stats.power, idealrank.stats.comparison, "
        "idealrank.stats.replicates; print('scipy.stats' in sys.modules)"
    )

    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert said.stdout == "False\n"
