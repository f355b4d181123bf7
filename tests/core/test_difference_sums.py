"""Sums of partitions decide as all values at once do: beside the exact test, SciPy's bootstrap, and
themselves in other parts.
"""

import itertools

import numpy as np
import pytest
import scipy.stats

import idealrank as ir
from idealrank.stats import DifferenceSums, permutation_test

QUERIES = [f"q{n}" for n in range(80)]


def values(shift: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    a = rng.random(80)
    return a, a + rng.normal(shift, 0.2, 80)


@pytest.mark.parametrize("cuts", [[1, 2, 79], [40], [], [0, 80]])
def test_parts_in_any_order_have_the_sums_of_the_whole(cuts) -> None:
    a, b = values(0.05)
    whole = DifferenceSums.of(QUERIES, a, b, n_draws=2000)
    edges = [0, *cuts, 80]
    parts = [
        DifferenceSums.of(QUERIES[i:j], a[i:j], b[i:j], n_draws=2000)
        for i, j in itertools.pairwise(edges)
    ]
    for order in (parts, parts[::-1]):
        merged = order[0]
        for part in order[1:]:
            merged = merged.merge(part)
        assert merged.n == whole.n
        assert merged.difference == pytest.approx(whole.difference, abs=1e-12)
        for name in ("flipped", "weighted", "weights"):
            np.testing.assert_allclose(
                getattr(merged, name), getattr(whole, name), rtol=0, atol=1e-12
            )
        assert merged.p == whole.p
        assert merged.interval() == pytest.approx(whole.interval(), abs=1e-12)


def test_p_agrees_with_the_permutation_test() -> None:
    """Within four standard errors of 10,000 draws."""
    for shift in (0.0, 0.03, 0.05):
        a, b = values(shift)
        exact = permutation_test(a, b, n_resamples=200_000, rng=1).p
        assert (
            abs(DifferenceSums.of(QUERIES, a, b).p - exact)
            < 4 * np.sqrt(exact * (1 - exact) / 10_000) + 2e-4
        )


def test_the_poisson_interval_agrees_with_the_bootstrap() -> None:
    """SciPy's percentile bootstrap, to a twentieth of its width."""
    a, b = values(0.05)
    found = DifferenceSums.of(QUERIES, a, b).interval()
    exact = scipy.stats.bootstrap(
        (b - a,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    assert found == pytest.approx(tuple(exact), abs=(exact.high - exact.low) / 20)


def test_weights_are_poisson_with_mean_one_and_signs_fair() -> None:
    from idealrank.stats.difference_sums import _draws

    drawn = [_draws(query, 5000, 3) for query in QUERIES]
    counts = np.concatenate([one for _, one in drawn])
    signs = np.concatenate([one for one, _ in drawn])
    assert counts.mean() == pytest.approx(1, abs=0.01)
    assert counts.var() == pytest.approx(1, abs=0.02)
    assert np.mean(counts == 0) == pytest.approx(np.exp(-1), abs=0.005)
    assert set(signs) == {-1.0, 1.0}
    assert abs(signs.mean()) < 0.01
    assert abs(np.corrcoef(drawn[0][0], drawn[1][0])[0, 1]) < 0.06


def test_what_does_not_fit_is_refused() -> None:
    one = DifferenceSums.of(["q"], [0.1], [0.2], n_draws=10)
    with pytest.raises(ir.IncompatibleError, match=r"found seed and draws \(0, 10\) and \(1, 10\)"):
        one.merge(DifferenceSums.of(["r"], [0.1], [0.2], n_draws=10, seed=1))
    with pytest.raises(ir.InputError, match="query 'r': found no finite difference"):
        DifferenceSums.of(["q", "r"], [0.1, 0.2], [0.2, np.nan])
    with pytest.raises(ir.InputError, match="found 1 queries and values of shape"):
        DifferenceSums.of(["q"], [0.1, 0.2], [0.2, 0.3])
    with pytest.raises(ir.OptionError, match="n_draws=0"):
        DifferenceSums.of(["q"], [0.1], [0.2], n_draws=0)
    with pytest.raises(ir.OptionError, match="level=2"):
        one.interval(2)
