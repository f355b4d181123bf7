"""What two or three queries could have seen beside many other tests."""

import math

import pytest
from scipy import integrate, stats

from idealrank.stats.comparison import smallest_visible


@pytest.mark.spread(3)
@pytest.mark.parametrize(("n", "alpha"), [(2, 1e-4), (2, 2e-6), (2, 1e-9), (3, 1e-7)])
@pytest.mark.parametrize("power", [0.2, 0.8])
def test_what_few_queries_see_at_strict_levels_is_the_power_integrated(n: int, alpha: float, power: float) -> None:
    shift = smallest_visible(1.0, n, n - 1, alpha, power) * math.sqrt(n)
    critical = stats.t.isf(alpha / 2, n - 1)

    def density(spread: float) -> float:
        return float(stats.norm.cdf(shift - critical * spread) * stats.chi.pdf(spread * math.sqrt(n - 1), n - 1) * math.sqrt(n - 1))

    found = integrate.quad(density, 0, 2 * shift / critical, points=[shift / critical], limit=500)[0]
    assert found == pytest.approx(power, abs=1e-4)
