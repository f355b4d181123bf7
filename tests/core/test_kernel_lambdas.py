"""Gradients of ranking measures agree with their twin, do not depend on the number of threads, and
refuse arrays that do not fit.
"""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from idealrank import _kernel as kernel
from idealrank.training import LambdaObjective
from tests.conftest import examples
from tests.twins import lambdas_twin as twin

SWAPS = ("discounted", "even", "precision", "first", "cascade")


def drawn(seed: int, swap: str, sizes: list[int]) -> dict[str, Any]:
    """Arrays of a data set with ties of scores and of gains."""
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    gains = rng.integers(0, 4, n).astype(float)
    weights = (
        1 / np.log2(np.arange(2, 2 + rng.integers(1, 9)))
        if swap in ("discounted", "even")
        else 1 / np.arange(1, rng.integers(2, 12))
    )
    return {
        "gains": gains / 5 if swap == "cascade" else gains,
        "scores": rng.integers(-3, 4, n) * rng.choice([0.3, 25.0]),
        "offsets": np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        "weights": np.ascontiguousarray(weights),
        "scale": rng.choice([0.0, 0.4, 1.0], len(sizes)),
    }


def gradients(
    data: dict[str, Any], dtype: Any = np.float64, **options: Any
) -> tuple[np.ndarray, np.ndarray]:
    slope, bend = np.full(data["gains"].size, 99, dtype), np.full(data["gains"].size, 99, dtype)
    kernel.lambda_gradients(**data, gradients=slope, hessians=bend, **options)
    return slope, bend


@pytest.mark.parametrize("swap", SWAPS)
@given(
    sizes=st.lists(st.integers(0, 9), min_size=1, max_size=4),
    seed=st.integers(0, 2**32 - 1),
    truncation=st.integers(0, 5),
    sigma=st.sampled_from([0.5, 1.0, 40.0]),
    damped=st.booleans(),
    weighed=st.booleans(),
)
@settings(max_examples=examples(60), deadline=None)
def test_gradients_agree_with_the_twin(
    swap: str,
    sizes: list[int],
    seed: int,
    truncation: int,
    sigma: float,
    damped: bool,
    weighed: bool,
) -> None:
    data = drawn(seed, swap, sizes)
    rng = np.random.default_rng(seed)
    factors = {name: rng.uniform(0.5, 2, sum(sizes)) for name in ("up", "down")} if weighed else {}
    options = {"swap": swap, "truncation": truncation, "sigma": sigma, "damped": damped}
    found = gradients(data | factors, **options)
    expected = twin.gradients(
        **{name: array.tolist() for name, array in (data | factors).items()}, **options
    )
    # Swaps are closed forms here and differences of two values there; the kernel's exponential is
    # within 1e-12.
    for here, there in zip(found, expected, strict=True):
        np.testing.assert_allclose(here, there, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("swap", SWAPS)
def test_the_bits_do_not_depend_on_the_number_of_threads(swap: str) -> None:
    data = drawn(7, swap, [41, 0, 300, 1, 77] * 60)
    one = gradients(data, swap=swap, damped=True, threads=1)
    for threads in (2, 5):
        for here, there in zip(
            one, gradients(data, swap=swap, damped=True, threads=threads), strict=True
        ):
            assert here.tobytes() == there.tobytes()


def test_single_precision_is_double_precision_rounded() -> None:
    data = drawn(3, "discounted", [30, 20])
    double, single = (
        gradients(data, dtype, swap="discounted", damped=True) for dtype in (np.float64, np.float32)
    )
    assert [array.astype(np.float32).tolist() for array in double] == [
        array.tolist() for array in single
    ]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scores": np.zeros(2)}, "same length"),
        ({"scale": np.ones(3)}, "one entry more than scale"),
        ({"offsets": np.array([0, 2])}, "run from 0"),
        ({"offsets": np.array([0, 9, 3]), "scale": np.ones(2)}, "must not fall"),
        ({"offsets": np.array([0, 2, 1, 3]), "scale": np.ones(3)}, "must not fall"),
        ({"truncation": -1}, "truncation"),
        ({"threads": -1}, "threads"),
        ({"swap": "best"}, "swap must be one of"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changed: dict[str, Any], message: str) -> None:
    data = drawn(1, "discounted", [3])
    options = {"swap": "discounted"} | {
        name: value for name, value in changed.items() if name not in data
    }
    with pytest.raises(ValueError, match=message):
        gradients(
            data | {name: value for name, value in changed.items() if name in data}, **options
        )


def test_results_of_other_types_are_refused() -> None:
    with pytest.raises(TypeError, match="float32 or float64"):
        gradients(drawn(1, "discounted", [3]), np.int32, swap="discounted")


@pytest.mark.parametrize("damped", [False, True])
def test_scores_as_far_apart_as_doubles_go_have_finite_gradients(damped: bool) -> None:
    lists = LambdaObjective(gain="linear", damped=damped).prepare([1, 0, 2], [3])
    found = [
        lists.gradients(np.array([-1.0, 1.0, 0.0]) * size, dtype="float64")
        for size in (1e6, 1.7e308)
    ]
    assert all(np.isfinite(array).all() for pair in found for array in pair)
    if not damped:  # the logistic function has reached its ends in both
        np.testing.assert_array_equal(found[0], found[1])
