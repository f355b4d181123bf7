"""Simulated NDCG: the same as the measure's own on the same lists, the same for any number of threads, and unbiased."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.errors import InputError, OptionError
from idealrank.theory import RelevanceModel, simulate, simulate_many
from idealrank.theory.sampling import thinned
from idealrank.theory.simulation import drawn_levels

PAIRS = [("log2", None), ("zipf(0.5)", "0.2n"), ("geometric(2)", None), ("linear", "sqrt(n)"), ("jarvelin(3)", 10), ([3.0, 1.0], None)]


def lin(s: Any) -> Any:
    return 0.1 + 0.8 * s


GRADED = {1: lambda s: 0.2 + 0.2 * s, 2: lambda s: 0.05 + 0.35 * s**2}


@pytest.mark.parametrize("ybar", [lin, GRADED])
@pytest.mark.parametrize("gain", ["linear", "exp2"])
def test_values_are_those_of_the_measure_on_the_same_lists(ybar: Any, gain: str) -> None:
    found = simulate_many(ybar, 300, 5, PAIRS, rng=7, gain=gain)
    levels = drawn_levels(RelevanceModel.of(ybar), 300, 5, np.random.default_rng(7))  # grades, for they are 0, 1, 2
    for column, (discount, cutoff) in enumerate(PAIRS):
        for row in range(5):
            expected = ir.ndcg(levels[row], -np.arange(300.0), cutoff, discount=discount, gain=gain)[0]
            assert found[row, column] == pytest.approx(expected, rel=1e-13, abs=0)


def test_functions_with_one_name_are_two_discounts() -> None:
    discounts: list[Callable[..., Any]] = [lambda rank: 1.0 / rank, lambda rank: 1.0 / rank**0.5]
    found = simulate_many(lin, 50, 4, [(discount, None) for discount in discounts], rng=3)
    assert np.allclose(found, simulate_many(lin, 50, 4, [("reciprocal", None), ("zipf(0.5)", None)], rng=3), rtol=1e-13, atol=0)


@pytest.mark.parametrize("n", [700, [20, 700, 90], 200_000])
def test_threads_do_not_change_a_bit(n: int | list[int]) -> None:
    samples = 400 if n != 200_000 else 6
    first, *others = (simulate(lin, n, samples, rng=11, threads=threads) for threads in (1, 2, 5))
    assert all(np.array_equal(first, other, equal_nan=True) for other in others)


def test_a_seed_and_its_generator_give_the_same_and_a_generator_goes_on() -> None:
    rng = np.random.default_rng(4)
    first, second = simulate(lin, 100, 3, rng=rng), simulate(lin, 100, 3, rng=rng)
    assert np.array_equal(first, simulate(lin, 100, 3, rng=4))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize("n", [100, [10, 100]])
def test_the_first_samples_do_not_depend_on_how_many_there_are(n: int | list[int]) -> None:
    assert np.array_equal(simulate(lin, n, 3000, rng=5)[:7], simulate(lin, n, 7, rng=5), equal_nan=True)


def test_each_measure_has_the_values_it_has_alone() -> None:
    many = simulate_many(lin, [10, 100], 20, PAIRS, rng=9)
    assert many.shape == (20, 2, len(PAIRS))
    for column, (discount, cutoff) in enumerate(PAIRS):
        assert np.array_equal(many[..., column], simulate(lin, [10, 100], 20, discount=discount, cutoff=cutoff, rng=9), equal_nan=True)


def test_sizes_stand_in_the_order_asked_for() -> None:
    assert np.array_equal(simulate(lin, [100, 10, 100], 8, rng=2)[:, [1, 0]], simulate(lin, [10, 100], 8, rng=2), equal_nan=True)


def test_smaller_sizes_are_distributed_as_lists_of_their_own() -> None:
    alone, nested = simulate(lin, 50, 4000, rng=1), simulate(lin, [50, 120, 300], 4000, rng=2)[:, 0]
    error = np.hypot(alone.std(), nested.std()) / np.sqrt(4000)
    assert abs(alone.mean() - nested.mean()) < 5 * error
    assert nested.std() == pytest.approx(alone.std(), rel=0.08)  # 5 sigma of a standard deviation of 4000 is 5/sqrt(8000) = 0.056


def test_nested_sizes_share_documents() -> None:
    small, large = simulate(lin, [900, 1000], 400, rng=3).T
    assert np.corrcoef(small, large)[0, 1] > 0.8  # independent lists would give 0 with a standard error of 0.05


def test_every_subset_is_as_likely() -> None:
    rng = np.random.default_rng(0)
    for keep in (2, 3):  # both ways: choosing what stays and what goes
        kept = np.array([thinned(5, keep, rng) for _ in range(5000)])
        assert (kept.sum(axis=1) == keep).all()
        subsets = np.unique(kept, axis=0, return_counts=True)[1]
        assert subsets.size == 10
        assert ((subsets - 500) ** 2 / 500).sum() < 40  # chi-squared with 9 degrees of freedom: 1e-5 beyond 39


def test_lists_without_a_relevant_document_are_undefined() -> None:
    values = simulate(lambda s: 0.5, 3, 4000, rng=6)
    assert np.isnan(values).mean() == pytest.approx(0.125, abs=5 * np.sqrt(0.125 * 0.875 / 4000))
    assert np.isnan(simulate(lambda s: 1.0, 1, 2, discount="linear", rng=6)).all()  # its only weight is 0


def test_progress_counts_samples_in_the_thread_of_the_caller() -> None:
    seen: list[tuple[int, int]] = []
    simulate(lin, 50_000, 9, rng=1, threads=2, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(2, 9), (4, 9), (6, 9), (8, 9), (9, 9)]

    def refuse(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(lin, 50_000, 9, rng=1, threads=2, progress=refuse)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"n": 0}, "n=0"),
        ({"n": 2.5}, "n=2.5"),
        ({"n": []}, r"n=\[\]"),
        ({"n": [10, -1]}, "n=-1"),
        ({"n": True}, "n=True"),
        ({"samples": 0}, "samples=0"),
        ({"samples": "many"}, "samples='many'"),
        ({"threads": -1}, "threads=-1"),
        ({"rng": "seed"}, "rng='seed'"),
        ({"rng": -1}, "rng=-1"),
        ({"discount": "log3"}, "discount=log3"),
        ({"cutoff": 0}, "cutoff 0"),
    ],
)
def test_impossible_options_are_named(change: dict[str, Any], named: str) -> None:
    options: dict[str, Any] = {"ybar": lin, "n": 10, "samples": 2, **change}
    with pytest.raises(OptionError, match=named):
        simulate(options.pop("ybar"), options.pop("n"), options.pop("samples"), **options)


@pytest.mark.parametrize("measures", [[], ["nDCG"], [("log2",)], [3]])
def test_measures_are_pairs(measures: Sequence[Any]) -> None:
    with pytest.raises(OptionError, match="expected"):
        simulate_many(lin, 10, 2, measures)


def test_what_is_no_chance_is_refused() -> None:
    with pytest.raises(InputError, match="expected chances"):
        simulate(lambda s: 2 * s, 10, 2)
