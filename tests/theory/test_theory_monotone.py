"""The test of a rising ybar, and the bounds that it allows."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import isotonic_regression

from idealrank.theory import estimate_ybar
from idealrank.theory.estimation.bands import PlacedDocuments, monotone_bounds
from idealrank.theory.estimation.rising import check_monotone, level_probabilities


def listed(relevant: np.ndarray) -> PlacedDocuments:
    """One query, in order of canonical scores."""
    n = relevant.size
    return PlacedDocuments(
        score=(np.arange(n) + 0.5) / n, relevant=relevant, query=np.zeros(n, np.int64), n_queries=1
    )


@pytest.mark.parametrize("blocks", [2, 5, 10])
def test_level_probabilities(blocks: int) -> None:
    """Counted on random normals with SciPy's isotonic regression; and their closed form for all
    levels, 1/k!.
    """
    rng = np.random.default_rng(blocks)
    counts = np.zeros(blocks)
    for row in rng.standard_normal((4000, blocks)):
        counts[np.unique(isotonic_regression(row).x).size - 1] += 1
    expected = np.array(level_probabilities(blocks))
    assert expected.sum() == pytest.approx(1, abs=1e-14)
    assert expected[-1] == pytest.approx(1 / math.factorial(blocks))
    assert np.abs(counts / 4000 - expected).max() < 5 * np.sqrt(0.25 / 4000)


def test_the_p_value_of_two_and_of_three_blocks_by_hand() -> None:
    """Shares as Anscombe's arcsines, variance 1/n; the distance from rising ones is a chi square
    with the chances 1/2, or 1/3 and 1/2.
    """
    angle = [2 * math.asin(math.sqrt((hits + 0.375) / 20.75)) for hits in (14, 9, 5)]
    relevant = np.concatenate([np.arange(20) < hits for hits in (14, 9, 5)])
    two = 20 * (angle[0] - angle[1]) ** 2 / 2
    three = 20 * sum((each - sum(angle) / 3) ** 2 for each in angle)
    assert check_monotone(listed(relevant[:40])).p == pytest.approx(
        stats.chi2.sf(two, 1) / 2, rel=1e-9
    )
    assert check_monotone(listed(relevant)).p == pytest.approx(
        stats.chi2.sf(three, 2) / 3 + stats.chi2.sf(three, 1) / 2, rel=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize("queries", [1, 50])
def test_a_constant_ybar_is_refused_as_often_as_stated(queries: int) -> None:
    """600 samples: the p values lie about uniform, but for those at 1; 5 sigma at 0.1."""
    rng = np.random.default_rng(1)
    query = np.arange(1000) % queries
    place = (np.arange(1000) // queries + 0.5) / (1000 // queries)
    p = np.array(
        [
            check_monotone(
                PlacedDocuments(
                    score=place, relevant=rng.random(1000) < 0.3, query=query, n_queries=queries
                )
            ).p
            for _ in range(600)
        ]
    )
    assert (p < 0.1).mean() == pytest.approx(0.1, abs=5 * np.sqrt(0.09 / 600))


def test_rising_and_falling_ybar() -> None:
    rng = np.random.default_rng(2)
    s = (np.arange(2000) + 0.5) / 2000
    rising = check_monotone(listed(rng.random(2000) < 0.1 + 0.8 * s))
    falling = check_monotone(listed(rng.random(2000) < 0.9 - 0.8 * s))
    dip = check_monotone(listed(rng.random(2000) < np.where((s > 0.4) & (s < 0.6), 0.2, 0.5)))
    assert (rising.contradicted, falling.contradicted, dip.contradicted) == (False, True, True)
    assert dip.falls is not None
    assert dip.falls[0] < 0.4 < dip.falls[1]
    assert "contradicted (p = " in str(dip)
    assert "falls most between" in str(dip)


def test_too_few_documents_are_not_tested() -> None:
    found = estimate_ybar([0, 1, 0, 1], [1, 2, 3, 4], method="binned", bins=2).check
    assert math.isnan(found.p)
    assert not found.contradicted
    assert str(found) == "rising ybar not tested: too few documents"


def test_bounds_are_those_of_the_documents_beside() -> None:
    """Clopper and Pearson's ends, from SciPy, for the documents within the width below, and
    above.
    """
    relevant = np.random.default_rng(3).random(200) < 0.5
    low, high = monotone_bounds(listed(relevant), 0.1, 0.95)
    place = (np.arange(200) + 0.5) / 200
    for knot in (20, 55, 100):
        at = knot / 100
        below, above = (place >= at - 0.1) & (place <= at), (place >= at) & (place <= at + 0.1)
        expected = stats.binomtest(int(relevant[below].sum()), int(below.sum())).proportion_ci(0.95)
        assert low[knot] == pytest.approx(expected.low, abs=1e-12)
        if knot < 100:
            expected = stats.binomtest(int(relevant[above].sum()), int(above.sum())).proportion_ci(
                0.95
            )
            assert high[knot] == pytest.approx(expected.high, abs=1e-12)
    assert (low[0], high[100]) == (0.0, 1.0)
