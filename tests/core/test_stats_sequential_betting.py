"""The sequential test of a sign: errors over every order of small populations, against a slow twin,
and its answers at the ends.
"""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idealrank.errors import InputError, OptionError
from idealrank.stats.sequential_betting import _BETS, sequential_sign

POPULATIONS = (
    (0.5, 0.5, -0.25, -0.25, -0.25, -0.25),
    (1, -1, 1, -1, 1, -1, 0),
    (0.9, -0.3, -0.3, -0.3),
    (0.1, 0.1, 0.1, 0.1, 0.1, -0.5),
    (-0.9, 0.8),
    (0.7, -0.7, 0.3, -0.3, 0.0, 0.0),
    (0.0, 0.0, 0.0),
)


@pytest.mark.parametrize("population", POPULATIONS)
@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.8])
def test_over_every_order_a_mean_not_above_0_is_called_positive_in_at_most_half_of_alpha(
    population: tuple[float, ...], alpha: float
) -> None:
    n = len(population)
    signs = [
        sequential_sign(order, [-1] * n, [1] * n, alpha).sign for order in permutations(population)
    ]
    assert signs.count(1) / len(signs) <= alpha / 2
    if math.fsum(population) == 0:
        assert signs.count(-1) / len(signs) <= alpha / 2


def _twin(values: list[float], low: list[float], alpha: float) -> "int | None":
    """Number of draws after which a mean above 0 is certain or the mean stake is large enough; one
    bet after the other.
    """
    n, stakes = len(low), [1.0] * len(_BETS)
    for place, value in enumerate(values):
        centre = -math.fsum(values[:place]) / (n - place)
        room = centre - min(low[place:])
        if room > 1e-9:
            stakes = [
                stake * (1 + bet * (value - centre) / room)
                for stake, bet in zip(stakes, _BETS.tolist(), strict=True)
            ]
        if (
            math.fsum(values[: place + 1]) + math.fsum(low[place + 1 :]) > 1e-9
            or math.fsum(stakes) / len(stakes) >= 2 / alpha
        ):
            return place + 1
    return None


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=25), st.sampled_from([0.05, 0.3]))
def test_the_stop_is_that_of_the_twin(values: list[float], alpha: float) -> None:
    n = len(values)
    found = sequential_sign(values, [-1] * n, [1] * n, alpha)
    above, below = (
        _twin(values, [-1.0] * n, alpha),
        _twin([-value for value in values], [-1.0] * n, alpha),
    )
    assert found.stopped_at == min((one for one in (above, below) if one is not None), default=None)


def test_the_sign_of_a_whole_population_is_certain() -> None:
    found = sequential_sign([0.2, -0.1, -0.1, 0.001], [-1] * 4, [1] * 4, 0.05)
    assert (found.sign, found.stopped_at) == (1, 4)
    assert sequential_sign([0.2, -0.2], [-1] * 2, [1] * 2, 0.05).sign == 0


def test_bounds_of_single_items_settle_what_the_lowest_of_all_does_not() -> None:
    assert sequential_sign([0.5], [-1, -0.1, -0.1], [1, 1, 1], 0.05).stopped_at == 1
    assert sequential_sign([0.5], [-1, -1, -1], [1, 1, 1], 0.05).stopped_at is None


def test_a_smaller_alpha_never_stops_earlier() -> None:
    values = np.random.default_rng(3).normal(0.2, 0.4, 60).clip(-1, 1)
    stops = [
        sequential_sign(values, [-1] * 60, [1] * 60, alpha).stopped_at or 61
        for alpha in (0.3, 0.1, 0.01, 0.001)
    ]
    assert stops == sorted(stops)
    assert stops[0] < 40


def test_wrong_input_is_refused() -> None:
    with pytest.raises(OptionError, match=r"alpha: found 1\.5, expected a number between 0 and 1"):
        sequential_sign([0], [-1], [1], 1.5)
    with pytest.raises(InputError, match="value 0: found 2, expected a number from -1 to 1"):
        sequential_sign([2], [-1], [1], 0.05)
    with pytest.raises(InputError, match="expected bounds of every item"):
        sequential_sign([0, 0], [-1], [1], 0.05)
