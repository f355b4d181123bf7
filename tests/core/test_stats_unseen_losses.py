"""Rare large losses: p values and bounds against the binomial law, closed sums of exponentials and
drawn Dirichlet weights.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from idealrank.errors import InputError, OptionError
from idealrank.stats import (
    Design,
    equivalence,
    non_inferiority,
    queries_without_loss,
    unseen_loss_bound,
    unseen_loss_p,
)


@given(n=st.integers(1, 400), share=st.floats(0, 1), margin=st.floats(0.001, 0.89))
def test_queries_that_lose_all_or_nothing_have_the_binomial_p(
    n: int, share: float, margin: float
) -> None:
    losses = round(share * n)
    differences = np.zeros(n)
    differences[:losses] = -0.9
    expected = stats.binom.cdf(losses, n, margin / 0.9)
    assert unseen_loss_p(differences, margin, 0.9) == pytest.approx(expected, rel=1e-8, abs=1e-12)


@given(
    parts=st.lists(st.integers(-19, 20), min_size=1, max_size=6, unique=True),
    margin=st.integers(1, 19),
)
def test_distinct_differences_have_the_closed_sum_of_exponentials(
    parts: list[int], margin: int
) -> None:
    # P(sum c_j E_j > 0) is the sum over c_j > 0 of prod c_j / (c_j - c_k) (Feller, volume 2, I.13).
    factors = [Fraction(part + margin) for part in parts] + [Fraction(margin - 20)]
    factors = [factor for factor in factors if factor]
    if len(set(factors)) < len(factors):
        return
    above = Fraction(0)
    for factor in factors:
        if factor > 0:
            product = Fraction(1)
            for other in factors:
                if other != factor:
                    product *= factor / (factor - other)
            above += product
    p = unseen_loss_p(np.array(parts) / 20, margin / 20, 1.0)
    assert p == pytest.approx(float(1 - above), rel=1e-8, abs=1e-12)


def test_it_is_the_share_of_dirichlet_weights() -> None:
    rng = np.random.default_rng(1)
    differences = rng.normal(0, 0.1, 40)
    weights = rng.dirichlet(np.ones(41), 200_000)
    drawn = np.mean(weights @ np.append(differences, -1.0) <= -0.04)
    assert unseen_loss_p(differences, 0.04, 1.0) == pytest.approx(drawn, abs=4 * 0.5 / 200_000**0.5)


def test_equal_runs_need_the_queries_of_the_rule_of_three() -> None:
    for margin, largest in [(0.01, 1.0), (0.05, 1.0), (0.02, 0.3)]:
        needed = queries_without_loss(margin, largest)
        assert needed == pytest.approx(3 * largest / margin, rel=0.04)
        assert unseen_loss_p(np.zeros(needed), margin, largest) <= 0.05
        assert unseen_loss_p(np.zeros(needed - 1), margin, largest) > 0.05


def test_many_queries_have_nearly_the_p_of_the_t_test() -> None:
    differences = np.random.default_rng(2).normal(0, 0.1, 20_000)
    t = stats.ttest_1samp(differences, -0.0008, alternative="greater").pvalue
    assert t < unseen_loss_p(differences, 0.0008, 1.0) < 1.25 * t


@given(
    differences=st.lists(st.floats(-0.5, 1), min_size=1, max_size=20),
    alpha=st.floats(0.001, 0.5),
)
def test_the_bound_is_where_p_is_alpha(differences: list[float], alpha: float) -> None:
    values = np.array(differences)
    bound = unseen_loss_bound(values, 0.5, alpha=alpha)
    assert -0.5 <= bound <= values.mean() + 1e-9
    if -0.499 < bound < -0.001:
        assert unseen_loss_p(values, -bound, 0.5) == pytest.approx(alpha, abs=1e-6)


def test_clusters_are_the_units_and_the_heaviest_one_is_the_unseen_one() -> None:
    clustered = Design.of(40, clusters=np.repeat(np.arange(10), 4))
    assert unseen_loss_p(np.zeros(40), 0.1, 1.0, design=clustered) == pytest.approx(0.9**10)
    weighted = Design.of(3, weights=[2, 1, 1])
    # Each unit of weight w has the factor 0.1 w, the unseen one 0.9 of the largest weight.
    expected = np.prod([1 / (1 + 0.1 * w / (0.9 * 2)) for w in (2, 1, 1)])
    assert unseen_loss_p(np.zeros(3), 0.1, 1.0, design=weighted) == pytest.approx(expected)


def test_margin_tests_take_the_larger_p_value() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(0.5, 0.02, (2, 80))
    for test, sides in ((non_inferiority, [b - a]), (equivalence, [b - a, a - b])):
        plain, guarded = test(a, b, 0.03), test(a, b, 0.03, largest_loss=1.0)
        assert guarded.p == max(plain.p, *(unseen_loss_p(side, 0.03, 1.0) for side in sides))
        assert (plain.shown, guarded.shown) == (True, False)
        assert test(a, b, 0.05, largest_loss=1.0).shown


def test_what_a_largest_loss_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match=r"found a loss of 0.5 of query 1"):
        unseen_loss_p(np.array([0.0, -0.5]), 0.1, 0.3)
    with pytest.raises(OptionError, match=r"margin=0.4: expected a loss of at least 0 and below"):
        unseen_loss_p(np.zeros(2), 0.4, 0.3)
    with pytest.raises(OptionError, match="expected a finite loss above 0"):
        unseen_loss_bound(np.zeros(2), float("inf"))
    with pytest.raises(InputError, match="expected a finite number for each"):
        unseen_loss_p(np.array([np.nan]), 0.1, 1.0)
    with pytest.raises(OptionError, match="finite largest loss above it"):
        queries_without_loss(0.1, 0.1)


@pytest.mark.parametrize(("share", "loss"), [(0.02, 0.9), (0.05, 0.4)])
def test_a_rare_loss_of_the_margin_is_ruled_out_at_the_level_at_most(
    share: float, loss: float
) -> None:
    # The t test passes such losses in .12 and .08 of samples.
    rng = np.random.default_rng(3)
    margin, passed, samples = share * loss, 0, 400
    for _ in range(samples):
        differences = np.where(rng.random(250) < share, -loss, 0.0)
        passed += unseen_loss_p(differences, margin, 1.0) <= 0.05
    assert passed / samples <= 0.05 + 3 * (0.05 * 0.95 / samples) ** 0.5
