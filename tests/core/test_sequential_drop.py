"""Sequential test of a drop: false alarms are at most as frequent as stated, under each of the
conditions that its docstring names.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest

from idealrank.errors import InputError, OptionError
from idealrank.stats import SequentialDrop


def _first_signal(test: SequentialDrop, rounds: Callable[[], np.ndarray], most: int) -> int | None:
    stakes = test.start
    for number in range(1, most + 1):
        stakes = test.step(stakes, rounds())
        if test.signals(stakes):
            return number
    return None


def _false_alarms(
    rounds: Callable[[np.random.Generator], np.ndarray],
    test: SequentialDrop,
    horizon: int,
    runs: int = 20,
) -> float:
    """Mean rounds to a false alarm, with runs cut at the horizon: a lower bound of it."""
    rng = np.random.default_rng(3)
    found = [_first_signal(test, lambda: rounds(rng), horizon) or horizon for _ in range(runs)]
    return float(np.mean(found))


# no drop on average, and much noise
POOL = np.concatenate([np.full(30, -0.5), np.full(30, 0.5), np.zeros(140)])
NULLS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "a random sample": lambda rng: rng.choice(POOL, 40, replace=False),
    "all queries": lambda _: POOL,
    "independent noise": lambda rng: rng.choice([-0.3, 0.3], 100),
    "skewed noise": lambda rng: np.where(rng.random(100) < 0.9, -0.05, 0.45),
}


@pytest.mark.parametrize("null", list(NULLS))
def test_false_alarms_are_at_least_as_far_apart_as_stated(null: str) -> None:
    test = SequentialDrop(20)
    found = _false_alarms(NULLS[null], test, horizon=200)
    assert found >= 20  # on average at least; these seeds give far more than the least


def test_a_product_is_no_more_than_one_on_average_without_a_drop() -> None:
    """The step of a single round from a stake of 1, by enumeration of all samples without
    replacement.
    """
    from itertools import combinations

    pool = [-0.9, 0.6, 0.1, -0.2, 0.3, 0.1]
    assert sum(pool) == pytest.approx(0, abs=1e-12)
    test = SequentialDrop(100)
    samples = [test.step(test.start, sample) for sample in combinations(pool, 3)]
    assert (np.exp(samples).mean(axis=0) <= 1 + 1e-12).all()


def test_a_drop_is_found_sooner_the_larger_it_is() -> None:
    rng = np.random.default_rng(1)
    test = SequentialDrop(1000, tolerance=0.002)

    def delay(drop: float) -> int:
        return _first_signal(test, lambda: rng.normal(-drop, 0.1, 200).clip(-1, 1), 500) or 500

    small, larger, large = delay(0.01), delay(0.02), delay(0.05)
    assert 500 > small >= larger >= large
    assert large <= 2


def test_a_drop_within_the_tolerance_is_none() -> None:
    assert (
        _first_signal(SequentialDrop(10, tolerance=0.02), lambda: np.full(200, -0.02), 300) is None
    )


def test_rounds_that_change_nothing_are_no_evidence() -> None:
    assert _first_signal(SequentialDrop(10), lambda: np.zeros(200), 300) is None


@pytest.mark.parametrize(
    "wrong",
    [(1.0, 0.0), (math.inf, 0.0), (math.nan, 0.0), (10.0, 1.0), (10.0, -1.0), (10.0, math.nan)],
)
def test_numbers_that_make_no_sense_are_refused(wrong: tuple[float, float]) -> None:
    with pytest.raises(OptionError, match="expected"):
        SequentialDrop(*wrong)


@pytest.mark.parametrize("wrong", [1.5, -1.5, math.nan])
def test_differences_outside_their_range_are_refused(wrong: float) -> None:
    test = SequentialDrop(10)
    with pytest.raises(InputError, match=r"outside \[-1, 1\]"):
        test.step(test.start, [wrong])
