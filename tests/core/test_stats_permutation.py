"""The sign-flip test against the enumeration of every sign vector, and its interval against the
test of every shift.
"""

import tracemalloc
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealrank as ir
from idealrank.stats import Design, permutation_test, tails
from idealrank.stats.sign_flips import AllFlips, Flips
from idealrank.stats.tails import nth_largest
from tests.conftest import examples

TENTHS = st.integers(-10, 10).map(lambda tenths: tenths / 10)


def enumerated_p(totals: np.ndarray, alternative: str = "two-sided") -> float:
    """The definition: the share of all sign vectors whose total is as extreme."""
    signs = np.array(list(product([1.0, -1.0], repeat=totals.size)))
    flipped, observed, tied = signs @ totals, totals.sum(), 1e-12 * np.abs(totals).sum()
    if alternative == "two-sided":
        return float((np.abs(flipped) >= abs(observed) - tied).mean())
    sign = 1 if alternative == "greater" else -1
    return float((sign * flipped >= sign * observed - tied).mean())


def p_of(differences: Any, **options: Any) -> Any:
    differences = np.asarray(differences, float)
    return permutation_test(np.zeros_like(differences), differences, **options)


@given(
    st.lists(TENTHS, min_size=1, max_size=9),
    st.sampled_from(["two-sided", "greater", "less"]),
    st.sampled_from([0.0, 0.1, -0.25]),
)
@settings(max_examples=examples(60), deadline=None)
def test_the_exact_p_value_is_that_of_all_sign_vectors(
    differences: list[float], alternative: str, null: float
) -> None:
    test = p_of(differences, alternative=alternative, null=null)
    assert test.p == pytest.approx(
        enumerated_p(np.array(differences) - null, alternative), abs=1e-14
    )
    assert test.exact
    assert test.difference == pytest.approx(np.mean(differences), abs=1e-15)


@given(
    st.lists(TENTHS, min_size=1, max_size=8),
    st.sampled_from(["two-sided", "greater", "less"]),
    st.sampled_from([0.5, 0.8, 0.95]),
    st.data(),
)
@settings(max_examples=examples(60), deadline=None)
def test_the_interval_holds_the_shifts_that_are_not_rejected(
    differences: list[float], alternative: str, level: float, data: Any
) -> None:
    """On a grid of hundredths off the jumps, with clusters and weights, by enumeration at every
    shift.
    """
    values = np.array(differences)
    n = values.size
    weights = data.draw(st.none() | st.lists(st.integers(1, 4), min_size=n, max_size=n))
    clusters = data.draw(st.none() | st.lists(st.integers(0, 4), min_size=n, max_size=n))
    design = Design.of(n, weights=weights, clusters=clusters)
    test = p_of(values, alternative=alternative, level=level, design=design)
    if not values.any():
        assert test.interval == (0, 0) if alternative == "two-sided" else test.p == 1
        return
    for shift in np.arange(-1.3, 1.3, 0.05) + 0.00123:
        p = enumerated_p(design.unit_totals(values - shift), alternative)
        assert (test.low <= shift <= test.high) == (p > 1 - level + 1e-9), (shift, p, test.interval)


@given(
    st.lists(TENTHS, min_size=21, max_size=40),
    st.sampled_from(["two-sided", "greater", "less"]),
    st.sampled_from([0.0, 0.1]),
)
@settings(max_examples=examples(25), deadline=None)
def test_interval_and_p_value_never_contradict_each_other(
    differences: list[float], alternative: str, null: float
) -> None:
    """Tenths tie often, so p and level meet; drawn, enumerated, and anything between."""
    for level in (0.9, 0.95, 0.5):
        test = p_of(
            differences, alternative=alternative, null=null, level=level, n_resamples=199, rng=3
        )
        assert (test.low <= null <= test.high) == (test.p > round(1 - level, 12))


def test_the_ends_of_a_drawn_interval_are_where_its_test_turns() -> None:
    """The same draws at a null just inside and just outside an end."""
    differences = np.random.default_rng(5).normal(0.1, 0.3, size=60)
    test = p_of(differences, n_resamples=5000, rng=8)
    for end, outwards in ((test.low, -1e-9), (test.high, 1e-9)):
        assert p_of(differences, null=end - outwards, n_resamples=5000, rng=8).p > 0.05
        assert p_of(differences, null=end + outwards, n_resamples=5000, rng=8).p <= 0.05
        assert p_of(differences, null=end, n_resamples=5000, rng=8).p > 0.05


def test_p_of_draws_is_within_binomial_error_of_the_exact_one() -> None:
    """24 queries by brute force over 2^24 subset sums; four standard errors, and never 0."""
    differences = np.random.default_rng(2).normal(0.12, 0.3, size=24)
    halves = [np.array([0.0]), np.array([0.0])]
    for at, value in enumerate(differences):
        halves[at % 2] = np.concatenate([halves[at % 2], halves[at % 2] + value])
    left, right = np.sort(halves[0]), np.sort(halves[1])
    exact = 2 * np.searchsorted(right, -left + 1e-12, side="right").sum() / 2**24
    test = p_of(differences, n_resamples=40_000, rng=1)
    assert not test.exact
    assert abs(test.p - exact) < 4 * np.sqrt(exact * (1 - exact) / 40_000)
    assert p_of(np.ones(40), n_resamples=99, rng=1).p == 1 / 100


def test_few_nonzero_among_many_queries_are_enumerated() -> None:
    """P is exact; the interval, in which the zeros move too, is that of all 2^21 sign vectors
    within the error of its draws.
    """
    differences = np.zeros((21, 3))
    differences[:4, 0], differences[7, 1], differences[:10, 2] = (
        [0.4, 0.3, -0.1, 0.2],
        0.5,
        np.arange(1, 11) / 10,
    )
    test = p_of(differences, rng=4)
    assert test.exact.all()
    assert test.n_resamples.tolist() == [16, 2, 1024]
    for column in range(3):
        values = differences[:, column]
        assert test.p[column] == enumerated_p(values[values != 0])
        sums = np.zeros((1, 2))
        for value in values:
            sums = np.concatenate([sums, sums + np.array([value, 1])])
        with np.errstate(invalid="ignore", divide="ignore"):
            lowest = np.fmin(
                sums[:, 0] / sums[:, 1], (values.sum() - sums[:, 0]) / (21 - sums[:, 1])
            )
        rank = np.searchsorted(np.sort(lowest), test.low[column] + 1e-9) / lowest.size
        assert (lowest < test.low[column] - 1e-9).mean() <= 0.05 + 0.003
        assert rank > 0.05 - 0.003
    # One query alone decides nothing: its sign is one of two.
    assert (test.p[1], test.low[1]) == (1, 0)


def test_identical_runs_and_all_zeros_but_one() -> None:
    same = np.random.default_rng(0).random((30, 2))
    test = permutation_test(same, same, rng=1)
    assert test.difference.tolist() == test.low.tolist() == test.high.tolist() == [0, 0]
    assert (test.p.tolist(), test.n_nonzero.tolist(), test.exact.tolist()) == (
        [1, 1],
        [0, 0],
        [True, True],
    )
    one = p_of([0.0] * 50 + [0.3], rng=1)
    assert (one.p, one.n_nonzero, one.n_resamples) == (1, 1, 2)
    assert permutation_test([0.4], [0.4]).interval == (0, 0)
    # Not worse by more than a margin: identical runs are the clearest case.
    assert (
        p_of(np.zeros(30), alternative="greater", null=-0.01, n_resamples=999, rng=1).p == 1 / 1000
    )


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("null", [0.0, -0.25])
def test_a_column_that_is_the_same_is_what_it_is_beside_one_that_differs_a_little(
    alternative: Any, null: float
) -> None:
    a = np.random.default_rng(1).random((30, 1))
    tiny = a.copy()
    tiny[3] += 1e-9

    same, almost = (
        permutation_test(a, b + null, alternative=alternative, null=null, rng=1) for b in (a, tiny)
    )

    assert same.p.tolist() == [1.0]
    assert almost.p.tolist() == [0.5 if alternative == "greater" else 1.0]
    assert (same.low[0], same.high[0]) == pytest.approx((almost.low[0], almost.high[0]), abs=1e-8)


def test_too_few_queries_have_no_end() -> None:
    test = p_of([0.1, 0.2, 0.3, 0.4])
    assert (test.p, test.interval) == (0.125, (-np.inf, np.inf))
    assert p_of(np.ones(40), n_resamples=18, rng=1).interval == (-np.inf, np.inf)
    assert "[-inf, +inf]" in str(test)


def test_sums_that_differ_in_the_last_bits_are_tied() -> None:
    """0.1 + 0.2 is not 0.3 in floating point: without a tolerance the sign vectors -0.1 -0.2 +0.3
    would miss the tie.
    """
    differences = np.array([0.1, 0.2, -0.3, 0.1, 0.2, -0.3])
    assert differences.sum() != 0
    assert p_of(differences).p == 1
    assert p_of(differences * 1e-200).p == 1
    assert p_of([0.1, 0.2, 0.3, 1.0]).p == 2 / 16
    assert p_of([0.3, -0.1, -0.2, 0.7]).p == enumerated_p(np.array([3.0, -1, -2, 7]))


@pytest.mark.parametrize("shape", [(30,), (300, 3)])
def test_any_number_of_threads_gives_the_same_bits(shape: tuple[int, ...]) -> None:
    differences = np.random.default_rng(3).normal(0.01, 0.3, size=shape)
    one, two, five = (
        p_of(differences, n_resamples=30_000, rng=9, threads=threads) for threads in (1, 2, 5)
    )
    for other in (two, five):
        for name in ("difference", "p", "low", "high"):
            assert np.array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.slow
def test_memory_hardly_grows_with_the_draws() -> None:
    """Beyond two million values in all they are no longer kept: sixteen times the draws take at
    most half as much again.
    """
    differences = np.random.default_rng(3).normal(0.01, 0.3, size=(40, 40))
    peaks = []
    for draws in (30_000, 480_000):
        tracemalloc.start()
        p_of(differences, n_resamples=draws, rng=9, threads=1)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0], peaks


def test_columns_do_not_depend_on_each_other() -> None:
    differences = np.random.default_rng(3).normal(0.01, 0.3, size=(80, 40))
    together = p_of(differences, n_resamples=3000, rng=9)
    alone = p_of(differences[:, 35], n_resamples=3000, rng=9)
    assert (alone.p, alone.interval) == (together.p[35], (together.low[35], together.high[35]))


def test_weights_and_clusters_of_draws_are_those_of_repeated_queries() -> None:
    """A cluster flips as one query with their sum; a weight of 2 is a cluster of the query
    twice.
    """
    generator = np.random.default_rng(6)
    values, counts = generator.normal(0.1, 0.3, size=30), generator.integers(1, 4, size=30)
    weighted = p_of(values, design=Design.of(30, weights=counts), n_resamples=4000, rng=2)
    repeated = np.repeat(values, counts)
    clustered = p_of(
        repeated,
        design=Design.of(repeated.size, clusters=np.repeat(np.arange(30), counts)),
        n_resamples=4000,
        rng=2,
    )
    assert weighted.p == clustered.p
    assert (weighted.low, weighted.high) == pytest.approx(
        (clustered.low, clustered.high), abs=1e-12
    )
    assert weighted.difference == pytest.approx(np.average(values, weights=counts), abs=1e-15)
    assert (clustered.n_units, "in 30 clusters" in str(clustered)) == (30, True)


def test_p_is_uniform_where_there_is_no_difference() -> None:
    """600 experiments with skewed, symmetric-under-the-null differences; three standard errors."""
    generator = np.random.default_rng(7)
    sizes = generator.exponential(size=(90, 600)) * (generator.random((90, 600)) < 0.5)
    p = p_of(sizes * generator.choice([-1, 1], size=sizes.shape), n_resamples=999, rng=8).p
    for alpha in (0.01, 0.05, 0.2, 0.5):
        assert abs((p <= alpha).mean() - alpha) < 3 * np.sqrt(alpha * (1 - alpha) / 600)


def test_what_cannot_be_tested_is_refused() -> None:
    for a, b in (([0.1], [0.1, 0.2]), ([], []), ([[[0.1]]], [[[0.1]]])):
        with pytest.raises(ir.InputError, match="has shape"):
            permutation_test(a, b)
    with pytest.raises(ir.InputError, match=r"b, query 1, column 0: value nan"):
        permutation_test([[0.1], [0.2]], [[0.1], [np.nan]])
    with pytest.raises(ir.InputError, match="a design of 3 queries for values of 2"):
        permutation_test([0.1, 0.2], [0.1, 0.2], design=Design.of(3))
    with pytest.raises(ir.InputError, match="is beyond float64"):
        p_of([1e308, 1e308, 1e308])
    with pytest.raises(ir.InputError, match="is beyond float64"):
        permutation_test([-1e308], [1e308])
    for options, message in (
        ({"alternative": "bigger"}, "expected one of two-sided, greater, less"),
        ({"level": 95}, "between 0 and 1"),
        ({"null": np.inf}, "finite difference"),
        ({"n_resamples": 0}, "whole number from 1 on"),
        ({"rng": -1}, "expected a seed"),
    ):
        with pytest.raises(ir.OptionError, match=message):
            p_of(np.arange(30), **options)  # type: ignore[arg-type]


# --- what it is made of ---------------------------------------------------------------------------


def test_the_first_draws_do_not_depend_on_how_many_follow() -> None:
    columns = 2.0 ** np.arange(11)[:, None]
    few, many = (
        np.concatenate(list(Flips(11, 3).map(columns, size, np.copy))) for size in (100, 5000)
    )
    assert np.array_equal(few, many[:100])
    assert abs(np.bincount(many.ravel().astype(int), minlength=2048).mean() - 5000 / 2048) < 1e-9
    bits = (many.astype(int) >> np.arange(11)) & 1
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 4 * 0.5 / np.sqrt(5000)


@pytest.mark.parametrize("n_units", [1, 5, 9, 13])
def test_an_enumeration_has_every_sign_vector_once(n_units: int) -> None:
    every = AllFlips(n_units)
    sums = np.concatenate(
        list(every.map(2.0 ** np.arange(n_units)[:, None], every.n_draws, np.copy))
    )
    assert np.sort(sums.ravel()).tolist() == list(range(2**n_units))


@pytest.mark.spread(3)
@pytest.mark.parametrize("few", [0, 1 << 21])
@pytest.mark.parametrize("kind", ["continuous", "few values", "sorted", "infinite"])
def test_streamed_ranks_are_those_of_a_sort(
    kind: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sorted values make every first look misleading; it takes more looks, and stays right."""
    generator = np.random.default_rng(1)
    values = generator.normal(size=(60_000, 3))
    monkeypatch.setattr(tails, "FEW_VALUES", few)
    if kind == "few values":
        values = np.round(values)
    if kind == "sorted":
        values = np.stack([np.sort(values[:, 0]), -np.sort(values[:, 1]), values[:, 2]], axis=1)
    if kind == "infinite":
        values[:200, 0] = np.inf
    ordered = np.sort(values, axis=0)
    for rank in (1, 37, 3000, 59_000, 60_000):
        tail = nth_largest(
            lambda n, work: (work(values[i : min(i + 2048, n)]) for i in range(0, n, 2048)),
            rank,
            60_000,
            3,
        )
        assert tail.end.tolist() == ordered[-rank].tolist()
        assert tail.counted.tolist() == (values >= 0).sum(axis=0).tolist()


@pytest.mark.parametrize("base", [0.5, 0.9, 0.7, 0.3])
@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_rounding_is_no_evidence_against_the_null(base: float, alternative: Any) -> None:
    """Every difference is the null but for its last bit, as that of 0.4 and 0.5 is to 0.1."""
    found = permutation_test(
        np.full(8, base), np.full(8, round(base - 0.1, 3)), alternative=alternative, null=-0.1
    )

    assert found.p == 1
    assert found.low <= -0.1 <= found.high
