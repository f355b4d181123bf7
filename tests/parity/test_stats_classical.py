"""Classical tests against SciPy, on columns with and without zeros and ties; designs and
equivalence against statsmodels, recorded.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import stats as peer

from idealrank.stats import (
    Design,
    difference_interval,
    equivalence,
    mann_whitney,
    non_inferiority,
    paired_t,
    sign_test,
    unpaired_permutation,
    welch_t,
    wilcoxon,
)
from idealrank.stats.design import linear_mean

ALTERNATIVES = ("two-sided", "greater", "less")
# Both sum the same ranks and squares; what differs is the order of the sums.
CLOSE = 1e-12


def values(n: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Two systems on n queries and 4 measures: "smooth" without ties, "graded" in quarters with
    many zeros, "shifted" one-sided.
    """
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


@pytest.mark.spread(12)
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
        expected = peer.wilcoxon(
            differences, zero_method="pratt", alternative=alternative, method=method
        )
        statistic = found.statistic[column]
        positive = (
            statistic
            if alternative != "two-sided"
            else min(statistic, (n * (n + 1) - zeros_sum(differences)) / 2 - statistic)
        )
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


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_a", "n_b"), [(5, 8), (40, 9), (60, 200)])
def test_welch(n_a: int, n_b: int, kind: str, alternative: str) -> None:
    a, b = values(n_a, kind)[0], values(n_b, kind)[1]
    found = welch_t(a, b, alternative=alternative, level=0.9)
    expected = peer.ttest_ind(b, a, equal_var=False, alternative=alternative)
    bounds = expected.confidence_interval(0.9)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-11)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.low == pytest.approx(bounds.low, abs=CLOSE)
    assert found.high == pytest.approx(bounds.high, abs=CLOSE)


@pytest.mark.spread(9)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_a", "n_b"), [(5, 8), (40, 9), (60, 200)])
def test_mann_whitney(n_a: int, n_b: int, kind: str, alternative: str) -> None:
    a, b = values(n_a, kind)[0], values(n_b, kind)[1]
    found = mann_whitney(a, b, alternative=alternative)
    for column in range(4):
        expected = peer.mannwhitneyu(b[:, column], a[:, column], alternative=alternative)
        assert found.statistic[column] == expected.statistic
        assert found.p[column] == pytest.approx(expected.pvalue, rel=1e-9)


def mean_difference(x: np.ndarray, y: np.ndarray, axis: int) -> np.ndarray:
    return np.mean(x, axis=axis) - np.mean(y, axis=axis)


@pytest.mark.spread(3)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("kind", ["smooth", "graded"])
def test_unpaired_permutations(kind: str, alternative: str) -> None:
    """All 924 exchanges of 6 and 6: the same p; of 40 and 30, random ones: within Monte Carlo
    error.
    """
    a, b = values(6, kind)[0], values(12, kind)[1][6:]
    found = unpaired_permutation(a, b, alternative=alternative)
    expected = peer.permutation_test(
        (b, a),
        mean_difference,
        alternative=alternative,
        n_resamples=np.inf,
        axis=0,
        vectorized=True,
    )
    assert found.p == pytest.approx(expected.pvalue, rel=1e-12)
    a, b = values(40, kind)[0], values(30, kind)[1]
    found = unpaired_permutation(a, b, alternative=alternative, n_resamples=4999, rng=1)
    expected = peer.permutation_test(
        (b, a),
        mean_difference,
        alternative=alternative,
        n_resamples=4999,
        axis=0,
        vectorized=True,
        rng=2,
    )
    assert found.p == pytest.approx(expected.pvalue, abs=5 * (0.5 / 4999) ** 0.5)


RECORD = json.loads(
    (Path(__file__).parent / "statsmodels_recorded.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("named", ["weights", "clusters", "weights and clusters"])
def test_errors_under_designs_are_those_of_statsmodels(named: str) -> None:
    data = RECORD["data"]
    design = Design.of(24, **{part: data[part] for part in named.split(" and ")})
    found = linear_mean(np.subtract(data["b"], data["a"])[:, None], design)
    mean, error = RECORD["errors"][named]
    assert found.mean == pytest.approx(mean, abs=1e-15)
    assert found.se == pytest.approx(error, rel=1e-12)
    if design.weights is None:  # for the others, see `tests/cli/test_evaluate_weights.py`
        interval = difference_interval(data["a"], data["b"], design=design)
        assert interval.width / 2 / peer.t.ppf(0.975, design.n_units - 1) == pytest.approx(
            error, rel=1e-12
        )


@pytest.mark.parametrize("margin", [0.01, 0.05])
def test_equivalence_is_that_of_statsmodels(margin: float) -> None:
    data = RECORD["data"]
    p, p_low, _ = RECORD["tost"][str(margin)]
    found = equivalence(data["a"], data["b"], margin)
    assert found.p == pytest.approx(p, rel=1e-10)
    assert found.shown == (p < 0.05)
    assert non_inferiority(data["a"], data["b"], margin).p == pytest.approx(p_low, rel=1e-10)
