"""The exact interval of a share against SciPy's test of a binomial share, and results in order on
any number of threads.
"""

import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import stats

from idealrank.stats import sign_test
from idealrank.stats.intervals import clopper_pearson, exact_bounds
from idealrank.stats.randomness import each_in_order, in_order


@pytest.mark.parametrize("size", [1, 7, 400])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_bounds_of_a_share_are_scipys_wherever_they_are_used(size: int, level: float) -> None:
    hits = np.unique([0, 1, size // 3, size - 1, size])
    low, high = exact_bounds(hits, size - hits, (1 - level) / 2)
    for place, count in enumerate(hits.tolist()):
        expected = stats.binomtest(count, size).proportion_ci(level)
        # SciPy looks for a root to 2e-12
        assert (low[place], high[place]) == pytest.approx((expected.low, expected.high), abs=1e-11)
        signs = np.where(np.arange(size) < count, 1.0, -1.0)
        found = sign_test(np.zeros(size), signs, level=level)
        assert (found.low, found.high) == (low[place], high[place])
    of_theory = clopper_pearson(hits / size, np.full(hits.size, float(size)), level)
    assert np.abs(np.array(of_theory) - [low, high]).max() < 1e-14


def test_nothing_counted_says_nothing() -> None:
    low, high = exact_bounds(np.array([0]), np.array([0]), 0.025)
    assert (low.tolist(), high.tolist()) == ([0.0], [1.0])


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_order_whatever_finishes_first(threads: int) -> None:
    def one(number: int) -> int:
        time.sleep(0.002 * (5 - number % 5))
        return number

    assert list(in_order(one, 20, threads)) == list(range(20))


def test_items_are_made_on_the_way_in_the_thread_that_asks() -> None:
    made: list[int] = []

    def items() -> Iterator[int]:
        for number in range(50):
            assert threading.current_thread() is threading.main_thread()
            made.append(number)
            yield number

    results = each_in_order(lambda number: number, items(), 3)
    assert next(results) == 0
    assert len(made) <= 6
    results.close()  # type: ignore[attr-defined]
    assert len(made) <= 6


def test_an_error_of_one_item_is_raised_and_stops_the_rest() -> None:
    seen: list[int] = []

    def one(number: int) -> int:
        seen.append(number)
        if number == 2:
            raise ValueError("the third")
        return number

    with pytest.raises(ValueError, match="the third"):
        list(in_order(one, 100, 2))
    assert len(seen) < 20
