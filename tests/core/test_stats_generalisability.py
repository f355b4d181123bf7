"""Variance components and reliability against Brennan's book, Urbano's R package and statsmodels;
swaps and discriminative power.
"""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from idealrank.errors import InputError, OptionError
from idealrank.stats import (
    Design,
    discriminative_power,
    paired_t,
    queries_for_reliability,
    reliability,
    swap_rates,
    tukey_hsd,
    variance_components,
)
from idealrank.stats.generalisability import from_mean_squares

# Brennan (2001), Generalizability Theory, synthetic data set 4 (Table 3.2): 10 persons by 12
# ratings, which are 3 tasks by 4 raters.
BRENNAN = np.array(
    [
        [5, 6, 5, 5, 5, 3, 4, 5, 6, 7, 3, 3],
        [9, 3, 7, 7, 7, 5, 5, 5, 7, 7, 5, 2],
        [3, 4, 3, 3, 5, 3, 3, 5, 6, 5, 1, 6],
        [7, 5, 5, 3, 3, 1, 4, 3, 5, 3, 3, 5],
        [9, 2, 9, 7, 7, 7, 3, 7, 2, 7, 5, 3],
        [3, 4, 3, 5, 3, 3, 6, 3, 4, 5, 1, 2],
        [7, 3, 7, 7, 7, 5, 5, 7, 5, 5, 5, 4],
        [5, 8, 5, 7, 7, 5, 5, 4, 3, 2, 1, 1],
        [9, 9, 8, 8, 6, 6, 6, 5, 5, 8, 1, 1],
        [4, 4, 4, 3, 3, 5, 6, 5, 5, 7, 1, 1],
    ],
    float,
)
CROSSED = BRENNAN.T  # items as queries, persons as systems
NESTED = BRENNAN.reshape(10, 3, 4)  # persons as queries, tasks as systems, raters in tasks as seeds

# TREC-3 ad hoc, the better 30 of 40 systems: mean squares as the manual of the R package gt4ireval
# 1.1 prints them.
TREC3 = from_mean_squares(50, 30, 0.15074, 0.85296, 0.010152)


# --- components -----------------------------------------------------------------------------------


def test_components_of_queries_by_systems_are_those_of_the_book() -> None:
    found = variance_components(CROSSED)
    # Table 6.2, page 182
    assert found.mean_squares == pytest.approx((10.2963, 11.6273, 2.7872), abs=5e-5)
    assert (found.systems, found.queries, found.interaction) == pytest.approx(
        (0.6258, 0.8840, 2.7872), abs=5e-5
    )
    # statsmodels 0.15.0, MixedLM with vc_formula, REML, the same on a complete table to the six
    # digits of its search; tests/parity/record_stats.py
    assert found.systems == pytest.approx(0.6257576360800589, rel=2e-6)
    assert found.queries == pytest.approx(0.8840066243232778, rel=2e-6)
    assert found.interaction == pytest.approx(2.7872053980498284, rel=2e-6)


def test_components_with_seeds_in_systems_are_those_of_the_book() -> None:
    found = variance_components(NESTED)
    # Table 3.2: persons 0.4731, tasks 0.3252, raters in tasks 0.6475, persons x tasks 0.5596,
    # residual 2.3802
    assert found.queries == pytest.approx(0.4731, abs=5e-5)
    assert found.systems == pytest.approx(0.3252, abs=5e-5)
    assert found.seeds == pytest.approx(0.6475, abs=5e-5)
    assert found.interaction == pytest.approx(0.5596, abs=5e-5)
    assert found.residual == pytest.approx(2.3802, abs=5e-5)
    # statsmodels 0.15.0, as above
    assert found.systems == pytest.approx(0.3251542215034797, rel=2e-6)
    assert found.seeds == pytest.approx(0.6475309320813516, rel=2e-6)
    assert found.residual == pytest.approx(2.380246858325761, rel=2e-6)
    assert found.truncated == ()


def test_components_are_unbiased_whatever_the_sizes() -> None:
    rng = np.random.default_rng(2)
    true = {"systems": 1.0, "queries": 2.0, "interaction": 0.5, "seeds": 0.3, "residual": 0.8}
    seen = []
    for _ in range(1500):
        effects = [
            rng.normal(0, math.sqrt(true[name]), shape)
            for name, shape in zip(
                true, ((1, 5, 1), (12, 1, 1), (12, 5, 1), (1, 5, 3), (12, 5, 3)), strict=True
            )
        ]
        found = variance_components(sum(effects))
        seen.append([getattr(found, name) for name in true])
    errors = np.std(seen, axis=0) / math.sqrt(len(seen))
    assert (np.abs(np.mean(seen, axis=0) - list(true.values())) < 5 * errors).all()


def test_an_estimate_below_zero_is_zero_and_is_named() -> None:
    found = variance_components([[0.1, 0.9], [0.9, 0.1], [0.5, 0.4]])
    assert found.systems == 0
    assert "systems" in found.truncated
    assert "estimates below 0: systems" in str(found)
    assert reliability(found).generalisability == 0
    assert queries_for_reliability(found).generalisability == math.inf


# --- reliability ----------------------------------------------------------------------------------


def test_reliability_and_its_intervals_are_those_of_the_book() -> None:
    found = reliability(variance_components(CROSSED), level=0.8)
    # Table 6.5, page 198
    assert found.generalisability == pytest.approx(0.729, abs=5e-4)
    assert found.generalisability_interval == pytest.approx((0.541, 0.876), abs=1e-3)
    assert found.dependability == pytest.approx(0.672, abs=5e-4)
    assert found.dependability_interval == pytest.approx((0.457, 0.845), abs=1e-3)
    # pingouin 0.7.0: ICC(C,k) and ICC(A,k) of persons as targets
    assert found.generalisability == pytest.approx(0.729300196206671, rel=1e-9)
    assert found.dependability == pytest.approx(0.6716357229976961, rel=1e-9)
    assert reliability(variance_components(CROSSED)).generalisability_interval == pytest.approx(
        (0.39, 0.92), abs=5e-3
    )


# gt4ireval 1.1, d.study(queries=...): E rho^2, its interval, Phi, its interval
D_STUDY = {
    20: (0.84707, 0.76971, 0.91208, 0.5952, 0.43864, 0.74647),
    50: (0.93265, 0.89311, 0.96287, 0.78613, 0.66141, 0.88039),
    100: (0.96515, 0.94354, 0.98109, 0.88026, 0.79621, 0.93639),
    200: (0.98227, 0.97095, 0.99045, 0.93632, 0.88654, 0.96715),
}


@pytest.mark.parametrize("queries", D_STUDY)
def test_a_d_study_of_trec3_prints_what_the_r_package_prints(queries: int) -> None:
    found = reliability(TREC3, queries)
    assert found.generalisability_interval is not None
    assert found.dependability_interval is not None
    numbers = (
        found.generalisability,
        *found.generalisability_interval,
        found.dependability,
        *found.dependability_interval,
    )
    # mean squares are printed to five digits
    assert numbers == pytest.approx(D_STUDY[queries], abs=2e-5)


# gt4ireval 1.1, d.study(stability=...): queries for E rho^2, from, to, and for Phi
STABILITY = {
    0.8: (15, 8, 24, 55, 28, 103),
    0.9: (33, 18, 54, 123, 62, 231),
    0.95: (69, 37, 114, 259, 130, 487),
    0.97: (117, 63, 194, 440, 220, 828),
}


@pytest.mark.parametrize("target", STABILITY)
def test_queries_for_a_reliability_are_those_of_the_r_package(target: float) -> None:
    found = queries_for_reliability(TREC3, target)
    assert found.generalisability_interval is not None
    assert found.dependability_interval is not None
    numbers = (
        found.generalisability,
        *found.generalisability_interval,
        found.dependability,
        *found.dependability_interval,
    )
    assert numbers == STABILITY[target]


def test_queries_for_a_reliability_are_the_fewest_that_reach_it() -> None:
    for components, seeds in ((TREC3, None), (variance_components(NESTED), 40)):
        found = queries_for_reliability(components, 0.85, n_seeds=seeds)
        for name in ("generalisability", "dependability"):
            needed = int(getattr(found, name))
            assert getattr(reliability(components, needed, n_seeds=seeds), name) >= 0.85
            assert getattr(reliability(components, needed - 1, n_seeds=seeds), name) < 0.85


def test_few_seeds_bound_reliability_whatever_the_queries() -> None:
    found = variance_components(NESTED)
    assert queries_for_reliability(found, 0.9, n_seeds=2).generalisability == math.inf
    most = found.systems / (found.systems + found.seeds / 2)
    assert reliability(found, 10**9, n_seeds=2).dependability == pytest.approx(most, rel=1e-6)
    assert "x 2 seeds" in str(reliability(found, 50, n_seeds=2))


@pytest.mark.slow
def test_intervals_of_reliability_cover() -> None:
    rng = np.random.default_rng(3)
    systems, queries, left = 0.1, 0.3, 0.5
    held = np.zeros(2)
    trials = 2000
    for _ in range(trials):
        table = (
            rng.normal(0, systems**0.5, 15)
            + rng.normal(0, queries**0.5, (30, 1))
            + rng.normal(0, left**0.5, (30, 15))
        )
        found = reliability(variance_components(table))
        intervals = (found.generalisability_interval, found.dependability_interval)
        true = (systems / (systems + left / 30), systems / (systems + (left + queries) / 30))
        held += [low <= value <= high for (low, high), value in zip(intervals, true, strict=True)]
    assert held / trials == pytest.approx(0.95, abs=0.02)


def test_tables_without_variance_or_shape_are_refused() -> None:
    with pytest.raises(InputError, match="no error to measure"):
        reliability(variance_components(np.ones((4, 3)) * [1.0, 2.0, 3.0]))
    with pytest.raises(InputError, match=r"shape \(3,\)"):
        variance_components([1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="1 seeds"):
        variance_components(np.ones((3, 3, 1)))
    with pytest.raises(OptionError, match="no seeds"):
        reliability(TREC3, n_seeds=3)


# --- swaps ----------------------------------------------------------------------------------------


def every_split(table: np.ndarray, size: int, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Comparisons and swaps over all ordered pairs of disjoint sets of queries, one by one."""
    comparisons, swaps = np.zeros(200), np.zeros(200)
    for chosen in itertools.combinations(range(len(table)), size):
        others = [query for query in range(len(table)) if query not in chosen]
        for rest in itertools.combinations(others, size):
            here, there = table[list(chosen)].mean(axis=0), table[list(rest)].mean(axis=0)
            for a, b in itertools.combinations(range(table.shape[1]), 2):
                place = int(abs(here[b] - here[a]) / width)
                comparisons[place] += 1
                swaps[place] += (here[b] - here[a]) * (there[b] - there[a]) < 0
    return comparisons, swaps


@pytest.mark.parametrize("size", [3, 2])
def test_swap_rates_are_those_of_all_splits(size: int) -> None:
    table = np.random.default_rng(6).random((7, 4))
    comparisons, swaps = every_split(table, size, 0.1)
    found = swap_rates(table, size=size, width=0.1, trials=4000, rng=1)
    bins = found.comparisons.size
    assert comparisons[bins:].sum() == 0
    assert found.comparisons.sum() == 4000 * 6
    assert found.comparisons / 24_000 == pytest.approx(
        comparisons[:bins] / comparisons.sum(), abs=0.02
    )
    assert found.rate == pytest.approx(
        swaps.sum() / comparisons.sum(), abs=5 * found.standard_error
    )
    full = comparisons[:bins] > 0
    assert (
        np.abs(found.rates - swaps[:bins] / comparisons[:bins])[full]
        < 5 * found.standard_errors[full] + 1e-3
    ).all()


def test_the_monte_carlo_error_is_the_spread_between_runs() -> None:
    table = np.random.default_rng(6).random((20, 5)) + np.linspace(0, 0.2, 5)
    runs = [swap_rates(table, trials=100, rng=seed) for seed in range(60)]
    spread = np.std([run.rate for run in runs], ddof=1)
    assert np.mean([run.standard_error for run in runs]) == pytest.approx(spread, rel=0.3)


def test_swap_rates_do_not_depend_on_threads_and_equal_runs_never_swap() -> None:
    table = np.random.default_rng(6).random((20, 5))
    alone, together = (swap_rates(table, trials=200, rng=3, threads=threads) for threads in (1, 3))
    assert alone.swaps.tolist() == together.swaps.tolist()
    same = swap_rates(np.repeat(table[:, :1], 3, axis=1), trials=50, rng=3)
    assert (same.rate, same.comparisons.tolist()) == (0, [150])


def test_a_difference_that_seldom_swaps_is_read_off_the_bins() -> None:
    table = np.random.default_rng(2).normal(0, 0.1, (60, 8)) + np.linspace(0, 0.12, 8)
    found = swap_rates(table, trials=300, rng=1)
    needed = found.difference_for(0.05)
    first = round(needed / found.width)
    assert 0 < needed < 0.12
    assert found.rates[first - 1] > 0.05
    assert np.nanmax(found.rates[first:]) <= 0.05
    assert found.difference_for(1e-9) >= needed


def test_swaps_need_two_disjoint_sets() -> None:
    with pytest.raises(OptionError, match="at most half of the 7"):
        swap_rates(np.zeros((7, 2)), size=4)


# --- discriminative power -------------------------------------------------------------------------


def test_discriminative_power_counts_the_pairs_of_scipy() -> None:
    table = np.random.default_rng(6).normal(0, 0.1, (40, 9)) + np.linspace(0, 0.1, 9)
    found = discriminative_power(table, test="t", alpha=0.01)
    p = [
        stats.ttest_rel(table[:, a], table[:, b]).pvalue
        for a, b in itertools.combinations(range(9), 2)
    ]
    assert (found.pairs, found.significant) == (36, sum(value <= 0.01 for value in p))
    together = discriminative_power(table)
    assert together.significant == int(tukey_hsd(table).differs.sum()) // 2
    assert together.share == together.significant / 36
    assert "of 36 pairs differ" in str(together)


def test_equal_runs_are_not_told_apart() -> None:
    column = np.random.default_rng(6).random((40, 1))
    for test in ("t", "hsd"):
        assert discriminative_power(np.repeat(column, 3, axis=1), test=test).significant == 0


# --- designs --------------------------------------------------------------------------------------


def test_swap_rates_honour_weights_and_clusters() -> None:
    """Repeated queries that are one cluster, or that are one query of their weight, are the table
    they were made of.
    """
    table = np.random.default_rng(6).random((20, 5))
    plain = swap_rates(table, trials=100, rng=3)
    repeats = np.repeat(np.arange(20), 3)
    clustered = swap_rates(
        table[repeats], trials=100, rng=3, design=Design.of(60, clusters=repeats)
    )
    assert (clustered.size, clustered.rate, clustered.comparisons.tolist()) == (
        10,
        plain.rate,
        plain.comparisons.tolist(),
    )
    uneven = np.repeat(np.arange(20), np.arange(20) % 4 + 1)
    together = swap_rates(
        table[uneven], trials=100, rng=3, design=Design.of(uneven.size, clusters=uneven)
    )
    weighted = swap_rates(
        table, trials=100, rng=3, design=Design.of(20, weights=np.arange(20) % 4 + 1.0)
    )
    assert weighted.rate == together.rate != plain.rate
    with pytest.raises(OptionError, match="at most half of the 20 clusters"):
        swap_rates(table[repeats], size=11, design=Design.of(60, clusters=repeats))


def test_both_sets_of_a_swap_keep_the_shares_of_strata() -> None:
    """One run is better in 12 of 20 queries, worse in the others, always by as much: halves of each
    stratum never disagree.
    """
    strata = np.repeat(["a", "b"], [12, 8])
    table = np.stack([np.zeros(20), np.where(strata == "a", 1.0, -1.0)], axis=1)
    kept = swap_rates(table, trials=200, rng=1, design=Design.of(20, strata=strata))
    # always 6 up and 4 down
    assert (kept.rate, kept.comparisons.nonzero()[0].tolist()) == (0, [20])
    assert swap_rates(table, trials=200, rng=1).rate > 0.1
    tenths = swap_rates(table, size=5, trials=200, rng=1, design=Design.of(20, strata=strata))
    assert tenths.comparisons.nonzero()[0].tolist() == [20]  # 3 up and 2 down


def test_discriminative_power_honours_a_design_or_says_what_does() -> None:
    table = np.random.default_rng(6).normal(0, 0.1, (60, 5)) + np.linspace(0, 0.1, 5)
    design = Design.of(60, clusters=np.arange(60) // 3, weights=np.arange(60) % 2 + 1.0)
    for test in ("t", "bootstrap"):
        found = discriminative_power(table, test=test, design=design, rng=1)
        p = [
            paired_t(table[:, a], table[:, b], design=design).p
            for a, b in itertools.combinations(range(5), 2)
        ]
        assert abs(found.significant - sum(value <= 0.05 for value in p)) <= (test == "bootstrap")
    for call in (
        lambda: discriminative_power(table, design=design),
        lambda: tukey_hsd(table, design=design),
    ):
        with pytest.raises(
            OptionError,
            match=r"cannot honour the weights and clusters of the design; use .*, which can",
        ):
            call()
    assert tukey_hsd(table, design=Design.of(60)).p.tolist() == tukey_hsd(table).p.tolist()


# --- Sakai's bootstrap ----------------------------------------------------------------------------


def sakai(
    change: np.ndarray, rng: np.random.Generator, draws: int, alpha: float
) -> tuple[float, float]:
    """The algorithms of the paper, one draw at a time: the achieved significance level, and the
    difference needed.
    """
    n = change.size
    observed = abs(change.mean() / (change.std(ddof=1) / n**0.5))
    shifted = change - change.mean()
    samples = [rng.choice(shifted, n) for _ in range(draws)]
    statistics = np.array(
        [abs(sample.mean() / (sample.std(ddof=1) / n**0.5)) for sample in samples]
    )
    place = np.argsort(-statistics, kind="stable")[math.ceil(alpha * draws) - 1]
    return float((statistics >= observed).mean()), float(abs(samples[place].mean()))


@pytest.mark.slow
def test_discriminative_power_by_bootstrap_is_that_of_the_paper() -> None:
    """Levels of all pairs decide as the plain algorithm does but for those within 4 Monte Carlo
    errors of 0.05; likewise the difference.
    """
    table = np.random.default_rng(8).beta(2, 2, (50, 6)) + np.linspace(0, 0.12, 6)
    found = discriminative_power(table, test="bootstrap", n_resamples=4000, rng=1)
    plain = [
        sakai(table[:, b] - table[:, a], np.random.default_rng(2), 4000, 0.05)
        for a, b in itertools.combinations(range(6), 2)
    ]
    levels = np.array([level for level, _ in plain])
    unsure = np.abs(levels - 0.05) < 4 * (0.05 / 4000) ** 0.5
    sure = int((levels < 0.05)[~unsure].sum())
    assert sure <= found.significant <= sure + int(unsure.sum())
    assert 3 < found.significant < 12
    assert found.difference_needed == pytest.approx(max(needed for _, needed in plain), rel=0.15)
    alone, together = (
        discriminative_power(table, test="bootstrap", rng=1, threads=threads) for threads in (1, 3)
    )
    assert alone == together


@pytest.mark.parametrize("test", ["t", "bootstrap"])
def test_a_pair_of_equally_good_runs_is_called_different_at_the_level(test: str) -> None:
    """600 pairs of 40 queries whose differences are skewed and a third of them 0: 0.05 of them,
    within 4 standard errors and 0.01.
    """
    rng = np.random.default_rng(11)
    found = [
        discriminative_power(equally_good(rng, 25), test=test, rng=rng).share for _ in range(2)
    ]
    assert np.mean(found) == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / 600) ** 0.5 * 1.4 + 0.01)


def equally_good(rng: np.random.Generator, runs: int) -> np.ndarray:
    """Runs of one law: difficulty and own part, with values at 0 and 1."""
    return np.clip(rng.normal(0.45, 0.3, (40, 1)) + rng.normal(0, 0.2, (40, runs)), 0, 1)


@pytest.mark.slow
def test_tukeys_hsd_calls_any_of_many_equal_runs_different_at_the_level() -> None:
    rng = np.random.default_rng(12)
    alarms = np.mean(
        [discriminative_power(equally_good(rng, 8)).significant > 0 for _ in range(300)]
    )
    assert alarms == pytest.approx(0.05, abs=4 * (0.05 * 0.95 / 300) ** 0.5)
