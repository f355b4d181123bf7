"""Power from the differences seen: against Student's t, binomial probabilities, and sign flips of
simulated differences.
"""

import math

import numpy as np
import pytest
from scipy import stats as peer

from idealrank.analysis.comparison.families import Hypothesis, corrected
from idealrank.analysis.comparison.query_table import QueryTable
from idealrank.stats import permutation_test, simultaneous
from idealrank.stats.comparison import Plan, compare_columns, smallest_visible, visible_by
from idealrank.stats.design import Design
from idealrank.stats.paired_tests import sign_test, wilcoxon
from idealrank.stats.seen_changes import Criterion, SeenChanges, fewest_changed

TWO_SIDED = Criterion(0.025, 0.8)


def normal_sizes(n: int) -> np.ndarray:
    """Differences at the quantiles of a normal law, so that no sample is lucky."""
    return 0.1 * peer.norm.ppf((np.arange(n) + 0.5) / n)


@pytest.mark.parametrize(("n", "within"), [(50, 0.04), (200, 0.015), (1000, 0.005)])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_normal_differences_of_all_queries_need_what_the_t_test_needs(
    n: int, within: float, alpha: float
) -> None:
    changes = SeenChanges.of(normal_sizes(n), units=n)
    expected = smallest_visible(0.1, n, n - 1, alpha, 0.8)
    for df in (None, n - 1):
        assert changes.detectable(
            Criterion(alpha / 2, 0.8, df, by_signs=df is None)
        ) == pytest.approx(expected, rel=within)


def binomial_power(n: int, gains: float) -> float:
    """Exact power of the two-sided sign test of n queries that all differ by one size."""
    counts = np.arange(n + 1)
    p = np.minimum(
        1, 2 * np.minimum(peer.binom.cdf(counts, n, 0.5), peer.binom.sf(counts - 1, n, 0.5))
    )
    return float(peer.binom.pmf(counts, n, gains)[p <= 0.05].sum())


def test_differences_of_one_size_need_what_binomial_probabilities_say() -> None:
    """Power on a grid moves in steps of up to 0.07, so that only its mean over many numbers of
    queries is the nominal one.
    """
    found = []
    for n in range(40, 120):
        changes = SeenChanges.of(np.where(np.arange(n) % 2, 0.25, -0.25), units=n)
        size = changes.detectable(TWO_SIDED) / changes.allowance
        assert changes.grid == pytest.approx(0.25)
        found.append(binomial_power(n, (1 + size / 0.25) / 2))
    assert np.mean(found) == pytest.approx(0.8, abs=0.01)
    assert max(abs(np.array(found) - 0.8)) < 0.07


def drawn(changes: SeenChanges, mean: float, null: float, columns: int) -> np.ndarray:
    """Differences of the law that the power is of, by an independent search of the tilt."""
    from scipy.optimize import brentq

    values = np.concatenate([changes.sizes, -changes.sizes])
    share = changes.differ / changes.units

    def chances(tilt: float) -> np.ndarray:
        grown = np.exp(tilt * (values - values.max() * np.sign(tilt)))
        return grown / grown.sum()

    tilt = brentq(lambda at: share * (chances(at) @ values) - mean, -500, 500)
    rng = np.random.default_rng(5)
    shape = (changes.units, columns)
    return rng.choice(values, p=chances(tilt), size=shape) * (rng.random(shape) < share) - null


STRUCTURES = {
    "all queries, normal": normal_sizes(40),
    "a fifth, normal": np.concatenate([normal_sizes(30), np.zeros(120)]),
    "a fifth, of one size": np.concatenate([np.full(30, 0.5), np.zeros(120)]),
    "tenths": np.round(10 * 1.2 * normal_sizes(60)) / 10,
    "one large, many small": np.concatenate([[0.97], 0.3 * normal_sizes(107), np.zeros(12)]),
    "moves of one rank": np.concatenate([1 / np.arange(1, 25) - 1 / np.arange(2, 26), np.zeros(6)]),
}


@pytest.mark.spread(1)
@pytest.mark.parametrize("null", [0.0, 0.02])
@pytest.mark.parametrize("name", STRUCTURES)
def test_sign_flips_of_changes_like_those_seen_find_the_difference_as_often_as_stated(
    name: str, null: float
) -> None:
    """With a null there is one side; 1,200 comparisons have a standard error of 0.012, and the
    expansion errs by about as much.
    """
    seen = STRUCTURES[name]
    changes = SeenChanges.of(seen, units=seen.size)
    alpha = 0.05 if null else 0.025
    beyond = changes.detectable(Criterion(alpha, 0.8, null=null))
    mean = (beyond + null) / changes.allowance
    differences = drawn(changes, mean, null, 1200)
    side = "greater" if null else "two-sided"
    # More than 20 differ in nearly all columns: fewer are listed, which is slow and changes
    # nothing.
    p = permutation_test(
        np.zeros_like(differences), differences, n_resamples=999, rng=1, alternative=side
    ).p
    assert np.mean(np.asarray(p) <= 0.05) == pytest.approx(0.8, abs=0.05)


@pytest.mark.spread(1)
@pytest.mark.parametrize(("test", "function"), [("wilcoxon", wilcoxon), ("sign", sign_test)])
def test_ranks_and_signs_find_their_detectable_difference_as_often_as_stated(
    test: str, function: object
) -> None:
    seen = np.concatenate([normal_sizes(60), np.zeros(20)])
    row = compare_columns(np.zeros((80, 1)), seen[:, None], Design.of(80), Plan(test=test))[0]
    stated = visible_by(row, Plan(test=test), 0.05).size / row.changes.allowance
    differences = drawn(row.changes, stated, 0.0, 3000)
    p = function(np.zeros_like(differences), differences).p
    assert np.mean(np.asarray(p) <= 0.05) == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize("name", STRUCTURES)
def test_units_needed_for_a_detectable_difference_are_those_that_detect_it(name: str) -> None:
    seen = STRUCTURES[name]
    changes = SeenChanges.of(seen, units=seen.size)
    size = changes.detectable(TWO_SIDED)
    assert changes.units_needed(size, TWO_SIDED, near=seen.size) in (seen.size, seen.size + 1)
    half = changes.units_needed(size / 2, TWO_SIDED, near=4 * seen.size)
    assert 2 * seen.size < half < 7 * seen.size


def test_no_mean_of_such_changes_is_beyond_their_reach() -> None:
    changes = SeenChanges.of(np.concatenate([np.full(12, 0.5), np.zeros(88)]), units=100)
    assert changes.reach == pytest.approx(0.06)
    assert changes.detectable(TWO_SIDED) <= changes.reach
    assert changes.detectable(Criterion(0.00025, 0.8)) == math.inf
    # the smallest of their means is far above
    assert math.isnan(changes.detectable(Criterion(0.025, 0.8, null=-0.2)))


def test_the_order_and_signs_of_differences_do_not_matter() -> None:
    seen = np.random.default_rng(1).normal(0, 0.1, 40)
    sizes = [
        SeenChanges.of(part, units=40).detectable(TWO_SIDED)
        for part in (seen, -seen, np.abs(seen), seen[::-1])
    ]
    assert sizes == pytest.approx([sizes[0]] * 4, rel=1e-9)


@pytest.mark.parametrize(
    ("scores", "grid"),
    [([0.1, 0.3, 0.2, 0.7], 0.1), ([1 / 2, 1 / 3, 1 / 6], 1 / 6), ([0.1, 0.2718, 0.31415926], 0.0)],
)
def test_a_grid_is_the_common_divisor_of_the_sizes(scores: list[float], grid: float) -> None:
    found = SeenChanges.of(np.array(scores), units=9).grid
    assert found == pytest.approx(grid, rel=1e-6, abs=1e-12)


def test_gains_and_losses_of_a_cluster_that_cancel_are_no_change() -> None:
    seen = np.tile([0.1, 0.2, -0.3], 20)  # which sums to 2.8e-17
    clusters = Design.of(60, clusters=np.arange(60) // 3)
    row = compare_columns(np.zeros((60, 1)), seen[:, None], clusters, Plan(n_resamples=99))[0]
    assert (row.wins, row.losses, row.changes.differ) == (40, 20, 0)
    assert visible_by(row, Plan(), 0.05).reason == "no query differs"


def test_clusters_are_found_as_often_as_stated() -> None:
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(25), 4)
    design = Design.of(100, clusters=labels)

    def differences(columns: int) -> np.ndarray:
        return 0.7 * rng.normal(size=(25, columns))[labels] + 0.7 * rng.normal(size=(100, columns))

    seen = differences(200)
    rows = compare_columns(np.zeros_like(seen), seen, design, Plan(n_resamples=99))
    stated = np.median([visible_by(row, Plan(), 0.05).size for row in rows])
    later = differences(1000) + stated
    p = permutation_test(np.zeros_like(later), later, design=design, n_resamples=999, rng=1).p
    assert np.mean(np.asarray(p) <= 0.05) == pytest.approx(0.8, abs=0.045)


@pytest.mark.parametrize(("alpha", "fewest"), [(0.05, 12), (0.025, 12), (0.005, 18), (0.001, 23)])
def test_stricter_levels_need_more_queries_that_differ(alpha: float, fewest: int) -> None:
    assert fewest_changed(alpha) == fewest
    plan = Plan(level=1 - alpha, alternative="greater")
    reasons = {}
    for differ in (fewest - 1, fewest):
        changes = np.zeros((5 * differ, 1))
        changes[:differ, 0] = np.arange(1, differ + 1)
        [row] = compare_columns(np.zeros_like(changes), changes, Design.of(len(changes)), plan)
        reasons[differ] = visible_by(row, plan, alpha).reason
    assert reasons == {
        fewest - 1: f"{fewest - 1} queries differ, fewer than {fewest}",
        fewest: None,
    }


def test_a_family_states_the_difference_beyond_its_own_critical_value() -> None:
    """Changes of a fifth of the queries have heavy tails: at the t tail of max-T, signs alone would
    promise too much.
    """
    rng = np.random.default_rng(3)
    differences = rng.normal(0, 0.1, (150, 5)) * (rng.random((150, 5)) < 0.2)
    first, second = (
        QueryTable(values, np.ones(values.shape, np.bool_))
        for values in (np.zeros_like(differences), differences)
    )
    hypotheses = [Hypothesis(first, second, column, np.ones(150, np.bool_)) for column in range(5)]
    plan = Plan(n_resamples=9999)

    one = corrected(hypotheses, Design.of(150), plan)[0]

    stated = visible_by(one.found, plan, one.alpha).size
    alone = one.found.changes.detectable(Criterion(one.alpha / 2, 0.8))
    critical = float(simultaneous(differences, n_resamples=9999, rng=plan.rng).critical_t[0])
    assert one.found.in_max_t
    assert one.critical == pytest.approx(critical)
    assert 1.01 * alone < stated < 1.1 * alone
