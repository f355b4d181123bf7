"""Classical tests against SciPy, on columns of differences with and without zeros and ties."""

import numpy as np
import pytest
from scipy import stats as peer

from idealrank.stats import paired_t, sign_test, wilcoxon

ALTERNATIVES = ("two-sided", "greater", "less")
# Both sum the same ranks and squares; what differs is the order of the sums.
CLOSE = 1e-12


def values(n: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Two systems on n queries and 4 measures: "smooth" without ties, "graded" in quarters with many zeros, "shifted" one-sided."""
    rng = np.random.default_rng((n, len(kind)))
    a = rng.beta(0.7, 1.2, (n, 4))
    b = a + rng.normal(0.02, 0.1, (n, 4))
    if kind == "graded":
        a, b = (np.round(4 * part) / 4 for part in (a, b))
    return a, b + 0.4 if kind == "shifted" else b


KINDS = ("smooth", "graded", "shifted")


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5, 50, 51, 400])
def test_paired_t(n: int, kind: str, alternative: str) -> None:
    a, b = values(n, kind)
    b[0] = a[0] + 0.25  # never all zeros
    found = paired_t(a, b, alternative=alternative, level=0.9)
    expected = peer.ttest_rel(b, a, alternative=alternative)
    bounds = expected.confidence_interval(0.9)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-10, abs=1e-300)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.low == pytest.approx(bounds.low, abs=CLOSE)
    assert found.high == pytest.approx(bounds.high, abs=CLOSE)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5, 50, 51, 400])
def test_wilcoxon(n: int, kind: str, alternative: str) -> None:
    a, b = values(n, kind)
    found = wilcoxon(a, b, alternative=alternative)
    for column in range(4):
        differences = b[:, column] - a[:, column]
        tied = np.unique(np.abs(differences)).size < n or (differences == 0).any()
        method = "asymptotic" if tied or n > 50 else "exact"
        expected = peer.wilcoxon(differences, zero_method="pratt", alternative=alternative, method=method)
        statistic = found.statistic[column]
        positive = statistic if alternative != "two-sided" else min(statistic, (n * (n + 1) - zeros_sum(differences)) / 2 - statistic)
        assert positive == pytest.approx(expected.statistic, abs=1e-9)
        assert found.p[column] == pytest.approx(expected.pvalue, rel=1e-9)


def zeros_sum(differences: np.ndarray) -> float:
    """Twice the sum of the ranks of the zeros."""
    zeros = int((differences == 0).sum())
    return zeros * (zeros + 1)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5, 50, 400])
def test_signs(n: int, kind: str, alternative: str) -> None:
    a, b = values(n, kind)
    found = sign_test(a, b, alternative=alternative, level=0.9)
    for column in range(4):
        differences = b[:, column] - a[:, column]
        wins, untied = int((differences > 0).sum()), int((differences != 0).sum())
        expected = peer.binomtest(wins, untied, alternative=alternative)
        bounds = expected.proportion_ci(0.9, method="exact")
        assert found.p[column] == pytest.approx(expected.pvalue, rel=1e-10)
        assert (found.estimate[column], found.low[column], found.high[column]) == pytest.approx(
            (expected.statistic, bounds.low, bounds.high), abs=CLOSE
        )
