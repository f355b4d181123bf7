"""Simulated NDCG: the same as the measure's own on the same lists, the same for any number of
threads, and unbiased.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.errors import InputError, OptionError
from idealrank.theory import RelevanceModel, pseudo_expectation, simulate, simulate_many
from idealrank.theory.simulation import drawn_levels, thinned

PAIRS = [
    ("log2", None),
    ("zipf(0.5)", "0.2n"),
    ("geometric(2)", None),
    ("linear", "sqrt(n)"),
    ("jarvelin(3)", 10),
    ([3.0, 1.0], None),
]


def lin(s: Any) -> Any:
    return 0.1 + 0.8 * s


GRADED = {1: lambda s: 0.2 + 0.2 * s, 2: lambda s: 0.05 + 0.35 * s**2}


@pytest.mark.parametrize("ybar", [lin, GRADED])
@pytest.mark.parametrize("gain", ["linear", "exp2"])
def test_values_are_those_of_the_measure_on_the_same_lists(ybar: Any, gain: str) -> None:
    found = simulate_many(ybar, 300, 5, PAIRS, rng=7, gain=gain)
    # grades, for they are 0, 1, 2
    levels = drawn_levels(RelevanceModel.of(ybar), 300, 5, np.random.default_rng(7))
    for column, (discount, cutoff) in enumerate(PAIRS):
        for row in range(5):
            expected = ir.ndcg(
                levels[row], -np.arange(300.0), cutoff, discount=discount, gain=gain
            )[0]
            assert found[row, column] == pytest.approx(expected, rel=1e-13, abs=0)


def test_functions_with_one_name_are_two_discounts() -> None:
    discounts: list[Callable[..., Any]] = [lambda rank: 1.0 / rank, lambda rank: 1.0 / rank**0.5]
    found = simulate_many(lin, 50, 4, [(discount, None) for discount in discounts], rng=3)
    assert np.allclose(
        found,
        simulate_many(lin, 50, 4, [("reciprocal", None), ("zipf(0.5)", None)], rng=3),
        rtol=1e-13,
        atol=0,
    )


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
    assert np.array_equal(
        simulate(lin, n, 3000, rng=5)[:7], simulate(lin, n, 7, rng=5), equal_nan=True
    )


def test_each_measure_has_the_values_it_has_alone() -> None:
    many = simulate_many(lin, [10, 100], 20, PAIRS, rng=9)
    assert many.shape == (20, 2, len(PAIRS))
    for column, (discount, cutoff) in enumerate(PAIRS):
        assert np.array_equal(
            many[..., column],
            simulate(lin, [10, 100], 20, discount=discount, cutoff=cutoff, rng=9),
            equal_nan=True,
        )


def test_sizes_stand_in_the_order_asked_for() -> None:
    assert np.array_equal(
        simulate(lin, [100, 10, 100], 8, rng=2)[:, [1, 0]],
        simulate(lin, [10, 100], 8, rng=2),
        equal_nan=True,
    )


@pytest.mark.slow
def test_smaller_sizes_are_distributed_as_lists_of_their_own() -> None:
    alone, nested = simulate(lin, 50, 4000, rng=1), simulate(lin, [50, 120, 300], 4000, rng=2)[:, 0]
    error = np.hypot(alone.std(), nested.std()) / np.sqrt(4000)
    assert abs(alone.mean() - nested.mean()) < 5 * error
    # 5 sigma of a standard deviation of 4000 is 5/sqrt(8000) = 0.056
    assert nested.std() == pytest.approx(alone.std(), rel=0.08)


def test_nested_sizes_share_documents() -> None:
    small, large = simulate(lin, [900, 1000], 400, rng=3).T
    # independent lists would give 0 with a standard error of 0.05
    assert np.corrcoef(small, large)[0, 1] > 0.8


def test_every_subset_is_as_likely() -> None:
    rng = np.random.default_rng(0)
    for keep in (2, 3):  # both ways: choosing what stays and what goes
        kept = np.array([thinned(5, keep, rng) for _ in range(5000)])
        assert (kept.sum(axis=1) == keep).all()
        subsets = np.unique(kept, axis=0, return_counts=True)[1]
        assert subsets.size == 10
        # chi-squared with 9 degrees of freedom: 1e-5 beyond 39
        assert ((subsets - 500) ** 2 / 500).sum() < 40


def test_lists_without_a_relevant_document_are_undefined() -> None:
    values = simulate(lambda s: 0.5, 3, 4000, rng=6)
    assert np.isnan(values).mean() == pytest.approx(0.125, abs=5 * np.sqrt(0.125 * 0.875 / 4000))
    # its only weight is 0
    assert np.isnan(simulate(lambda s: 1.0, 1, 2, discount="linear", rng=6)).all()


def test_progress_counts_samples_in_the_thread_of_the_caller() -> None:
    seen: list[tuple[int, int]] = []
    simulate(
        lin, 50_000, 9, rng=1, threads=2, progress=lambda done, total: seen.append((done, total))
    )
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
        (
            {"n": [10, 1e10]},
            "n=10,000,000,000: expected at most 1,000,000,000 documents.*pseudo_expectation",
        ),
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
    with pytest.raises(InputError, match="expected probabilities"):
        simulate(lambda s: 2 * s, 10, 2)


# --- numbers recomputed from Wang et al. (2013) by another program --------------------------------


def test_the_sample_of_seed_123() -> None:
    """A thousand documents of ybar = 0.1 + 0.8 s, drawn by the scheme of the notes and valued by
    another program.
    """
    recorded = {
        ("log2", None): 0.94129826510391,
        ("zipf(0.5)", None): 0.8657084319129654,
        ("reciprocal", None): 0.7596955281522383,
        ("geometric(2)", None): 0.7577476501020328,
        ("log2", "0.2n"): 0.8055845191980905,
        ("log2", 10): 0.5582604437617528,
        ("log2", "sqrt(n)"): 0.7331180691851977,
    }
    found = simulate_many(lin, 1000, 1, recorded, rng=123)[0]
    assert found == pytest.approx(list(recorded.values()), abs=1e-12)


@pytest.mark.parametrize(
    ("ybar", "measure", "pseudo", "corrected"),
    [
        (lin, ("log2", None), 0.9654113196560834, 0.9653346484334252),
        (lin, ("zipf(0.8)", None), 0.8763689889745777, 0.8769462173953018),
        (lin, ("reciprocal", None), 0.8793256377378509, 0.8806378248132397),
    ],
)
def test_means_are_the_corrected_pseudo_expectation(
    ybar: Any, measure: Any, pseudo: float, corrected: float
) -> None:
    """At n = 10,000: within five standard errors, and a tenth of what the correction is for what it
    leaves out.
    """
    values = simulate_many(ybar, 10_000, 300, [measure], rng=8)[:, 0]
    assert abs(values.mean() - corrected) < 5 * np.hypot(
        values.std() / np.sqrt(300), 0.1 * (pseudo - corrected)
    )


def test_each_grade_is_as_frequent_as_the_model_says() -> None:
    """R_1 = 1/6 and R_2 = 7/15; and the mean of graded lists is N*."""
    levels = drawn_levels(RelevanceModel.of(GRADED), 100_000, 2, np.random.default_rng(4))
    assert [(levels >= level).mean() for level in (1, 2)] == pytest.approx(
        [7 / 15, 1 / 6], abs=5 * 0.5 / np.sqrt(200_000)
    )
    values = simulate(GRADED, 10_000, 100, discount="zipf(0.5)", gain="exp2", rng=4)
    expected = pseudo_expectation(GRADED, 10_000, "zipf(0.5)", gain="exp2")
    assert values.mean() == pytest.approx(expected, abs=5 * values.std() / 10)


@pytest.mark.parametrize(("ybar", "at_top"), [(lin, 0.9), (lambda s: 0.5, 0.5)])
def test_two_to_the_minus_r_stays_a_coin(ybar: Any, at_top: float) -> None:
    """Theorem 10: the deviation tends to sqrt(ybar(1) (1 - ybar(1)) / 3), not to 0, since the sum
    of 4^-r is 1/3.
    """
    for n in (300, 3000):
        values = simulate(ybar, n, 1500, discount="geometric(2)", rng=n)
        assert values.std() == pytest.approx(np.sqrt(at_top * (1 - at_top) / 3), rel=0.15)


def test_a_whole_float_is_a_length_as_for_the_pseudo_expectation() -> None:
    assert simulate(lin, 1e2, 3, rng=1).tolist() == simulate(lin, 100, 3, rng=1).tolist()
    assert simulate(lin, [1e1, np.float64(100)], 3, rng=1).shape == (3, 2)
