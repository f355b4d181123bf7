"""Rounding decides nothing: tests of k/10 and of whole numbers k agree, and a spread of rounding
errors is none.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats as peer

import idealrank as ir
from idealrank.analysis.comparison.slice_differences import slices
from idealrank.reports.views.comparison.columns import Line, Shown, difference_columns
from idealrank.stats import (
    Design,
    difference_interval,
    effect_sizes,
    equivalence,
    flip_detectable,
    mann_whitney,
    non_inferiority,
    paired_t,
    permutation_test,
    pilot,
    reliability,
    replicated_difference,
    sign_test,
    variance_components,
    welch_t,
    wilcoxon,
)
from idealrank.stats.comparison import Plan, compare_columns, needed_by, visible_by
from idealrank.stats.design import linear_mean
from idealrank.stats.intervals import ResampledUnits
from idealrank.stats.paired_tests import SignedRanks
from idealrank.stats.tolerance import ranks_within
from tests.conftest import examples

ALTERNATIVES = ("two-sided", "greater", "less")


def wilcoxon_of_whole(differences: np.ndarray, alternative: str) -> float:
    """SciPy's p of whole numbers, where ties are ties."""
    if not differences.any():
        return 1.0
    tied = np.unique(np.abs(differences)).size < differences.size or 0 in differences
    method = "asymptotic" if tied or differences.size > 50 else "exact"
    return float(
        peer.wilcoxon(
            differences, zero_method="pratt", alternative=alternative, method=method
        ).pvalue
    )


def ndcg_like(whole: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each number as a sum of ten gains in random order, over one ideal: the sums round
    differently.
    """
    parts = rng.multinomial(whole, np.full(10, 0.1))
    return np.array([sum(rng.permutation(row / 1000).tolist()) for row in parts]) / 7.383


def test_differences_equal_but_for_rounding_are_tied() -> None:
    """In whole tenths, SciPy says 0.4801; by rounding errors alone it was 0.566."""
    a, b = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], [0.2, 0.3, 0.4, 0.5, 0.6, 0.5, 0.6, 0.7]
    assert wilcoxon(a, b).p == pytest.approx(
        peer.wilcoxon([1, 1, 1, 1, 1, -1, -1, -1], method="asymptotic").pvalue, rel=1e-12
    )
    assert round(wilcoxon(a, b).p, 3) == 0.48
    assert wilcoxon(a, b).note == "normal approximation; zeros or ties, so no interval"


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=60),
    st.sampled_from([10, 3, 7, 1000]),
    st.sampled_from(ALTERNATIVES),
)
@settings(max_examples=examples(150), deadline=None)
@example([(1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 5), (7, 6), (8, 7)], 10, "two-sided")
def test_tests_of_quotients_are_those_of_whole_numbers(
    pairs: list[tuple[int, int]], by: int, alternative: Any
) -> None:
    whole_a, whole_b = np.array(pairs).T
    a, b = whole_a / by, whole_b / by
    for test in (wilcoxon, sign_test, mann_whitney):
        fractions, whole = (
            test(a, b, alternative=alternative),
            test(whole_a, whole_b, alternative=alternative),
        )
        assert fractions.p == pytest.approx(whole.p, rel=1e-12)
        assert fractions.statistic == whole.statistic
    assert wilcoxon(a, b, alternative=alternative).p == pytest.approx(
        wilcoxon_of_whole(whole_b - whole_a, alternative), rel=1e-9
    )
    exact = permutation_test(a, b, alternative=alternative, n_resamples=999, rng=1)
    assert (
        exact.p
        == permutation_test(whole_a, whole_b, alternative=alternative, n_resamples=999, rng=1).p
    )
    found, in_whole = (
        paired_t(a, b, alternative=alternative),
        paired_t(whole_a, whole_b, alternative=alternative),
    )
    assert (found.wins, found.ties, found.losses) == (in_whole.wins, in_whole.ties, in_whole.losses)
    assert found.p == pytest.approx(in_whole.p, rel=1e-6, abs=1e-9)
    assert found.effect == pytest.approx(in_whole.effect, rel=1e-9, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("queries", [8, 50, 200])
def test_signed_ranks_of_sums_in_any_order(queries: int, alternative: Any) -> None:
    rng = np.random.default_rng(queries)
    whole_a = rng.integers(0, 7384, queries)
    whole_b = np.clip(whole_a + rng.choice([-600, -300, 0, 0, 300, 600, 900], queries), 0, 7383)
    a, b = ndcg_like(whole_a, rng), ndcg_like(whole_b, rng)
    # they did round differently
    assert np.unique(np.abs(b - a)).size > np.unique(np.abs(whole_b - whole_a)).size
    expected = wilcoxon_of_whole(whole_b - whole_a, alternative)
    found = wilcoxon(a, b, alternative=alternative)
    assert found.p == pytest.approx(expected, rel=1e-9)
    assert (found.wins, found.ties) == (
        int((whole_b > whole_a).sum()),
        int((whole_b == whole_a).sum()),
    )
    one = compare_columns(a[:, None], b[:, None], Design.of(queries), Plan(test="wilcoxon"))[0]
    assert one.p == pytest.approx(wilcoxon_of_whole(whole_b - whole_a, "two-sided"), rel=1e-9)
    ranks = SignedRanks.of((whole_b - whole_a)[:, None].astype(float))
    assert one.lean == float((ranks.positive - ranks.mean)[0])


def test_ties_by_steps_within_rounding() -> None:
    """A chain of steps within rounding is one tie, in any order; a step beyond it is none."""
    values = np.array([[0.0], [0.8], [1.6], [3.0], [3.9], [9.0]])
    ranks, tied = ranks_within(values, np.array([1.0]))
    assert ranks.ravel().tolist() == [2, 2, 2, 4.5, 4.5, 6]
    assert tied.tolist() == [True]
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(6)
        assert ranks_within(values[order], np.array([1.0]))[0].tolist() == ranks[order].tolist()
    assert not ranks_within(values, np.array([0.7]))[1].any()


@pytest.mark.slow
def test_a_wilcoxon_interval_excludes_0_where_p_says_so() -> None:
    """Differences that are near each other, some within rounding."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        values = rng.choice([0.1, 0.2, 0.3], 12)
        a, b = (
            values,
            values + rng.normal(0.01, 0.02, 12) * rng.choice([1, 1e-13], 12, p=[0.97, 0.03]),
        )
        found = wilcoxon(a, b, level=0.9)
        assert np.isnan(found.low) or ((found.low > 0) | (found.high < 0)) == (found.p <= 0.1)


# --- spreads --------------------------------------------------------------------------------------

STEADY_A = np.arange(1, 10) / 10
STEADY_B = STEADY_A + 0.1  # differences of 0.1, but for rounding


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize(
    "design", [None, Design.of(9, weights=range(1, 10)), Design.of(9, clusters=np.arange(9) // 3)]
)
def test_a_constant_difference_has_no_spread(
    sign: int, scale: float, design: Design | None
) -> None:
    a, b = sorted((STEADY_A * scale, STEADY_B * scale), key=lambda side: sign * side[0])
    assert np.ptp(b - a) > 0
    sizes = effect_sizes(a, b, design=design)
    assert sizes.d_z == sign * np.inf
    assert f"d_z {'-' * (sign < 0)}inf" in str(sizes)
    found = paired_t(a, b, design=design)
    assert (found.p, found.statistic, found.effect, found.note) == (
        0,
        sign * np.inf,
        sign * np.inf,
        "all values are equal",
    )
    assert found.low == found.high == found.difference
    for method in ("t", "bca", "studentised", "percentile"):
        interval = difference_interval(a, b, method=method, rng=1, n_resamples=199, design=design)
        assert interval.low == interval.high == interval.estimate
    one = compare_columns(a[:, None], b[:, None], design or Design.of(9), Plan(test="t"))[0]
    assert (one.effect, one.sd, one.spread, one.p) == (sign * np.inf, 0, 0, 0)
    assert np.isnan(visible_by(one, Plan(test="t"), 0.05).size)
    assert needed_by(one, Plan(test="t"), 0.05) is None


def test_a_small_constant_difference_of_large_values_has_no_spread() -> None:
    """Rounding is of the values, not of their difference."""
    a = np.array([0.1, 0.3, 0.7, 0.9, 0.4]) * 1e4
    b = a + 1e-4
    assert np.ptp(b - a) > 1e-12 * 1e-4
    assert effect_sizes(a, b).d_z == paired_t(a, b).effect == np.inf
    assert compare_columns(a[:, None], b[:, None], Design.of(5), Plan())[0].effect == np.inf


def test_a_spread_beyond_rounding_counts() -> None:
    a, b = np.zeros(5), np.array([1, 1, 1, 1, 1 + 1e-10])
    assert effect_sizes(a, b).d_z == pytest.approx(1 / np.std(b, ddof=1), rel=1e-6)
    assert paired_t(a, b).statistic < np.inf


def test_values_equal_but_for_rounding_have_no_spread() -> None:
    """A side of 0.3, written in two ways: g_av is over the other's deviation alone; two such sides
    have none.
    """
    a, b = np.array([0.3, 0.1 + 0.2, 0.3, 0.3]), np.array([0.5, 0.4, 0.5, 0.4])
    assert a[0] != a[1]
    assert effect_sizes(a, b).g_av == pytest.approx(
        (b - a).mean() / (b.std(ddof=1) / 2) * (1 - 3 / 23), rel=1e-12
    )
    assert effect_sizes(a, a[::-1] + 0.1).g_av == np.inf
    same = effect_sizes(a, a[::-1])
    assert (same.difference, same.d_z, same.g_av, same.ties) == (0, 0, 0, 4)
    apart = welch_t(a, a[::-1] + 0.1)
    assert (apart.p, apart.statistic, apart.effect, apart.low) == (0, np.inf, np.inf, apart.high)
    equal = welch_t(a, [0.1 + 0.2, 0.3, 0.3])
    assert (equal.p, equal.statistic, equal.effect) == (1, 0, 0)


def test_clusters_whose_sums_cancel_but_for_rounding_show_no_difference() -> None:
    """0.1 + 0.2 - 0.3 in every cluster: nothing varies and nothing differs."""
    differences = np.tile([0.1, 0.2, -0.3], 4)
    found = paired_t(
        np.zeros(12), differences, design=Design.of(12, clusters=np.repeat(np.arange(4), 3))
    )
    assert (found.difference, found.p, found.statistic) == (0, 1, 0)


def test_a_constant_loss_of_the_margin_is_not_within_it() -> None:
    """The difference is the margin, so neither claim is shown, whichever way it rounds."""
    for a, b in ((STEADY_B, STEADY_A), (STEADY_A + 0.3, STEADY_A + 0.2)):
        for found in (non_inferiority(a, b, 0.1), equivalence(a, b, 0.1)):
            assert not found.shown
            assert found.p == 0.5
        assert non_inferiority(a, b, 0.11).shown


def test_plans_of_a_constant_difference_have_no_spread() -> None:
    differences = STEADY_B - STEADY_A
    assert (pilot(differences).sd, pilot(differences).low) == (0, 0)
    with pytest.raises(ValueError, match="no improvement to draw from"):
        flip_detectable(differences, 100, trials=20, n_resamples=99, rng=1)
    replicated = replicated_difference(
        np.stack([STEADY_A] * 2, axis=1), np.stack([STEADY_B] * 2, axis=1)
    )
    assert (replicated.standard_error, replicated.p, replicated.low) == (0, 0, replicated.high)


def test_variance_components_of_rounding_are_none() -> None:
    """Systems that differ by the same amount on every query, and systems of equal means."""
    steady = variance_components(
        np.array([[0.1], [0.2], [0.3], [0.7], [0.9]]) + np.array([0.0, 0.1, 0.2])
    )
    assert (steady.interaction, steady.mean_squares[2]) == (0, 0)
    with pytest.raises(ir.InputError, match="do not vary unlike each other"):
        reliability(steady)
    equal = variance_components([[0.1, 0.2], [0.2, 0.1], [0.1 + 0.2, 0.3]])
    assert equal.mean_squares[0] == 0
    assert reliability(equal).dependability_interval == (0, 0)
    trained = variance_components(
        np.repeat(np.array([[0.1, 0.4], [0.3, 0.6], [0.7, 1.0]])[:, :, None], 2, axis=2)
    )
    assert (trained.interaction, trained.seeds, trained.residual) == (0, 0, 0)


def test_studentised_draws_that_show_the_mean_have_no_distance_from_it() -> None:
    """Draws of 0.1 + 0.2 alone lie at the mean 0.3 and do not vary: infinitely far from it by
    rounding, they would open a side.
    """
    values = np.array([[0.3], [0.1 + 0.2], [0.2], [0.4]])
    units = ResampledUnits.of(values, Design.of(4), linear_mean(values, Design.of(4)))
    counts = np.array([[4.0, 0, 0, 0], [0, 4, 0, 0], [2, 2, 0, 0], [0, 0, 4, 0]])
    assert units.studentised(counts).ravel().tolist() == [0, 0, 0, -np.inf]


def test_an_infinite_effect_is_printed_and_is_null_in_json() -> None:
    queries = [f"q{number}" for number in range(1, 10)]
    one, two = (dict(zip(queries, values.tolist(), strict=True)) for values in (STEADY_A, STEADY_B))
    found = slices(one, two, dict.fromkeys(queries, "all"))
    row = found["all"]
    assert row.effect == np.inf
    assert "+inf" in [
        column.beside(Line(row, 1)).text
        for column in difference_columns("pair", Shown(2, 2, 0.05), 0.95)
    ]
    assert found.as_dict()["slices"]["all"]["effect"] is None
