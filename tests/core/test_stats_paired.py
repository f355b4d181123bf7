"""Paired tests: inversions, degenerate samples, designs, and effect sizes."""

import numpy as np
import pytest

import idealrank as ir
from idealrank.stats import Design, effect_sizes, paired_t, sign_test, wilcoxon
from idealrank.stats.paired_tests import null_distribution, walsh_averages

TESTS = (paired_t, wilcoxon, sign_test)


@pytest.mark.spread(3)
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("n", [6, 12, pytest.param(60, marks=pytest.mark.slow)])
def test_p_and_interval_never_contradict_each_other(test, n: int, alternative: str) -> None:
    """The interval of level 1 - alpha leaves the null out where p <= alpha, and nowhere else."""
    rng = np.random.default_rng(n)
    a = rng.random((n, 150))
    b = a + rng.normal(0.12 / np.sqrt(n), 0.1, (n, 150)) * rng.choice([-1, 1], 150)
    found = test(a, b, alternative=alternative, level=0.9)
    outside = (found.low > found.null) | (found.high < found.null)
    assert (outside == (found.p <= 0.1)).all()
    assert 3 < outside.sum() < 147


@pytest.mark.parametrize("test", TESTS)
def test_b_worse_mirrors_b_better(test) -> None:
    rng = np.random.default_rng(2)
    a, b = rng.random((2, 20, 3))
    there, back = test(a, b), test(b, a)
    assert there.p == pytest.approx(back.p, rel=1e-12)
    assert test(a, b, alternative="less").p == pytest.approx(
        test(b, a, alternative="greater").p, rel=1e-12
    )
    assert there.low - there.null == pytest.approx(back.null - back.high, abs=1e-12)
    assert (there.wins == back.losses).all()
    assert there.effect == pytest.approx(-back.effect, abs=1e-12)


@pytest.mark.parametrize("test", TESTS)
def test_identical_systems(test) -> None:
    """Difference 0 and p 1, for any alternative."""
    values = [0.5, 0.0, 1.0]
    for alternative in ("two-sided", "greater", "less"):
        found = test(values, values, alternative=alternative)
        assert (found.difference, found.effect, found.wins, found.ties, found.losses) == (
            0,
            0,
            0,
            3,
            0,
        )
        assert found.p == 1
    same = paired_t(values, values)
    assert (same.p, same.low, same.high, same.note) == (1, 0, 0, "all values are equal")


def test_one_query_and_equal_differences() -> None:
    lonely = paired_t([0.1], [0.5])
    assert (lonely.p, lonely.low, lonely.high, lonely.note) == (
        1,
        -np.inf,
        np.inf,
        "one unit alone shows no variance",
    )
    assert np.isnan(lonely.effect)
    steady = paired_t([0.0, 0.0, 0.0], [0.5, 0.5, 0.5])
    assert (steady.p, steady.statistic, steady.low, steady.high, steady.effect) == (
        0,
        np.inf,
        0.5,
        0.5,
        np.inf,
    )
    assert wilcoxon([0.1], [0.5]).p == 1
    assert (wilcoxon([0.1], [0.5]).low, sign_test([0.1], [0.5]).p) == (-np.inf, 1)


def test_signed_ranks_by_all_sign_vectors() -> None:
    """p of ranks 1 to 8 by counting the 256 sign vectors."""
    differences = np.array([0.1, -0.2, 0.3, 0.4, 0.5, -0.6, 0.7, 0.8])
    signs = (np.arange(256)[:, None] >> np.arange(8)) & 1
    sums = signs @ np.arange(1, 9)
    found = wilcoxon(np.zeros(8), differences)
    assert found.statistic == 28
    assert found.p == 2 * (sums >= 28).mean()
    assert null_distribution(8) == pytest.approx(
        [(sums <= total).mean() for total in range(37)], abs=0
    )


@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_walsh_averages_by_making_them_all(n: int) -> None:
    differences = np.random.default_rng(n).normal(size=n)
    first, second = np.triu_indices(n)
    every = np.sort((differences[first] + differences[second]) / 2)
    assert walsh_averages(differences, np.arange(every.size)) == pytest.approx(every, abs=1e-15)
    assert wilcoxon(np.zeros(n), differences).estimate == pytest.approx(np.median(every), abs=1e-15)
    whole = np.round(differences)
    every = np.sort((whole[first] + whole[second]) / 2)
    assert walsh_averages(whole, np.arange(every.size)).tolist() == every.tolist()


def test_t_under_a_design_is_t_of_what_was_drawn() -> None:
    """Clusters of one size: the t test of their means. Weights that are equal: none."""
    rng = np.random.default_rng(4)
    a, b = rng.random((2, 30))
    clustered = paired_t(a, b, design=Design.of(30, clusters=np.arange(30) // 3))
    of_means = paired_t(a.reshape(10, 3).mean(axis=1), b.reshape(10, 3).mean(axis=1))
    assert (clustered.p, clustered.low) == pytest.approx((of_means.p, of_means.low), rel=1e-12)
    weighted = paired_t(a, b, design=Design.of(30, weights=np.full(30, 7)))
    assert weighted.p == pytest.approx(paired_t(a, b).p, rel=1e-12)


@pytest.mark.parametrize("test", [wilcoxon, sign_test])
def test_a_design_that_ranks_cannot_honour_is_refused(test) -> None:
    with pytest.raises(
        ir.OptionError, match="cannot honour the weights and clusters of the design; use paired_t"
    ):
        test([0.1, 0.2], [0.2, 0.3], design=Design.of(2, weights=[1, 2], clusters=[1, 2]))
    assert test([0.1, 0.2], [0.2, 0.3], design=Design.of(2)).n == 2
    with pytest.raises(ir.OptionError, match="alternative='up'"):
        test([0.1], [0.2], alternative="up")
    with pytest.raises(ir.InputError, match="b, query 0: value nan"):
        test([0.1], [np.nan])


def test_notes_and_text() -> None:
    found = wilcoxon(np.zeros((4, 2)), np.array([[1, 1], [2, 2], [3, 0], [-4, 3]]))
    assert (
        found.note == "normal approximation in column 1; zeros or ties, so no interval in column 1"
    )
    assert np.isnan(found.low).tolist() == [False, True]
    assert sign_test([[0, 0], [0, 0]], [[0, 1], [1, 1]]).note == "ties left out: 1, 0"
    text = str(sign_test([0.0, 0.0], [0.0, 1.0]))
    assert text.splitlines()[0] == (
        "b - a = 0.5, p = 1; share of wins among the queries that differ 1 [0.025, 1]; d_z "
        "0.707; better on 1, equal on 1, worse on 0"
    )
    assert (
        text.splitlines()[1]
        == "(two-sided sign test with 95 % interval, 2 queries; ties left out: 1)"
    )


def test_effect_sizes_by_their_definitions() -> None:
    rng = np.random.default_rng(9)
    a, b = np.round(rng.random((2, 25, 2)), 1)
    sizes = effect_sizes(a, b)
    differences = b - a
    assert sizes.d_z == pytest.approx(
        differences.mean(axis=0) / differences.std(axis=0, ddof=1), rel=1e-12
    )
    mean_sd = (a.std(axis=0, ddof=1) + b.std(axis=0, ddof=1)) / 2
    assert sizes.g_av == pytest.approx(
        differences.mean(axis=0) / mean_sd * (1 - 3 / (4 * 50 - 9)), rel=1e-12
    )
    assert sizes.common_language == pytest.approx(((b > a) + (b == a) / 2).mean(axis=0), abs=1e-15)
    assert sizes.unchanged == pytest.approx((b == a).mean(axis=0), abs=1e-15)
    assert (sizes.wins + sizes.ties + sizes.losses == 25).all()
    weighted = effect_sizes([0.0, 0.0], [0.0, 1.0], design=Design.of(2, weights=[3, 1]))
    assert (weighted.difference, weighted.unchanged, weighted.common_language, weighted.wins) == (
        0.25,
        0.75,
        0.625,
        1,
    )
