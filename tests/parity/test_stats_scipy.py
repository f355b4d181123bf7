"""Statistics against SciPy's."""

import numpy as np
import pytest
from scipy import stats

from idealrank.stats import permutation_test


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("n", [2, 7, 12])
def test_exact_sign_flips(alternative: str, n: int) -> None:
    """All the digits of scipy.stats.permutation_test, which lists the sign vectors of few
    queries.
    """
    generator = np.random.default_rng(n)
    a, b = generator.random((2, n))
    theirs = stats.permutation_test(
        (b - a,),
        lambda values, axis: values.mean(axis=axis),
        permutation_type="samples",
        alternative=alternative,
        vectorized=True,
    )
    assert permutation_test(a, b, alternative=alternative).p == pytest.approx(
        theirs.pvalue, abs=1e-14
    )


def test_drawn_sign_flips() -> None:
    """Other draws of the same test: within four standard errors of the difference of two binomial
    shares.
    """
    generator = np.random.default_rng(4)
    a = generator.random((60, 3))
    b = a + generator.normal([0.0, 0.03, 0.08], 0.2, size=(60, 3))
    theirs = stats.permutation_test(
        (b - a,),
        lambda values, axis: values.mean(axis=axis),
        permutation_type="samples",
        n_resamples=9999,
        vectorized=True,
        rng=1,
    )
    ours = permutation_test(a, b, rng=1).p
    assert (
        np.abs(ours - theirs.pvalue)
        < 4 * np.sqrt(theirs.pvalue * (1 - theirs.pvalue) * (1 / 9999 + 1 / 100_000)) + 1e-4
    ).all()


def test_many_queries_agree_with_the_t_test() -> None:
    """The two meet as queries grow: with 2,000 normal differences both ends within 2 % of the half
    width.
    """
    differences = np.random.default_rng(5).normal(0.01, 0.2, size=2000)
    theirs = stats.ttest_1samp(differences, 0)
    interval = theirs.confidence_interval()
    ours = permutation_test(np.zeros(2000), differences, rng=1)
    half = (interval.high - interval.low) / 2
    assert np.abs(np.subtract(ours.interval, interval)).max() < 0.02 * half
    assert ours.p == pytest.approx(theirs.pvalue, abs=0.005)
