"""Families of tests against the enumeration of every sign vector, and their intervals against their
p values.
"""

import tracemalloc
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealrank as ir
from idealrank.stats import Design, max_t, permutation_test, simultaneous
from tests.conftest import examples

ALTERNATIVES = ("two-sided", "greater", "less")


def slow_statistics(
    tenths: np.ndarray,
    counted: np.ndarray,
    design: Design,
    signs: Any,
    null: float,
    alternative: str,
) -> list[float]:
    """``sum t_i / sqrt(sum t_i^2)`` of each test, a query at a time; -inf where nothing differs."""
    found = []
    for column in range(tenths.shape[1]):
        totals = [0.0] * design.n_units
        for query in np.flatnonzero(counted[:, column]):
            unit = query if design.clusters is None else design.clusters[query]
            weight = 1.0 if design.weights is None else design.weights[query]
            totals[unit] += weight * (tenths[query, column] / 10 - null)
        totals = [0.0 if abs(total) < 1e-9 else total for total in totals]
        if not any(totals):
            found.append(-np.inf)
            continue
        value = sum(sign * total for sign, total in zip(signs, totals, strict=True)) / np.sqrt(
            sum(total**2 for total in totals)
        )
        found.append({"two-sided": abs(value), "greater": value, "less": -value}[alternative])
    return found


def slow_p(
    tenths: np.ndarray, counted: np.ndarray, design: Design, null: float, alternative: str
) -> list[float]:
    """Shares of all sign vectors whose largest statistic reaches that of a test."""
    asked = (null, alternative)
    observed = slow_statistics(tenths, counted, design, [1] * design.n_units, *asked)
    largest = np.array(
        [
            max(slow_statistics(tenths, counted, design, signs, *asked))
            for signs in product([1, -1], repeat=design.n_units)
        ]
    )
    return [float((largest >= statistic - 1e-9).mean()) for statistic in observed]


@st.composite
def families(draw: Any, *, queries: int, tests: int = 4) -> tuple[np.ndarray, np.ndarray, Design]:
    """Tenths, what counts, and a design."""
    n, count = draw(st.integers(1, queries)), draw(st.integers(1, tests))
    row = st.lists(st.integers(-6, 6), min_size=count, max_size=count)
    tenths = np.array(draw(st.lists(row, min_size=n, max_size=n)))
    counted = np.array(
        draw(
            st.lists(
                st.lists(st.booleans(), min_size=count, max_size=count), min_size=n, max_size=n
            )
        )
    )
    counted[draw(st.integers(0, n - 1)), ~counted.any(axis=0)] = True
    weights = draw(st.none() | st.lists(st.sampled_from([1, 2, 3, 40]), min_size=n, max_size=n))
    clusters = draw(st.none() | st.lists(st.integers(0, 4), min_size=n, max_size=n))
    return tenths, counted, Design.of(n, weights=weights, clusters=clusters)


@given(families(queries=6), st.sampled_from(ALTERNATIVES), st.sampled_from([0.0, 0.1, -0.25]))
@settings(max_examples=examples(80), deadline=None)
def test_exact_p_values_are_those_of_all_sign_vectors(
    family: Any, alternative: Any, null: float
) -> None:
    tenths, counted, design = family
    differences = np.where(counted, tenths / 10, np.nan)
    found = simultaneous(
        differences, counted=counted, alternative=alternative, null=null, design=design
    )
    assert found.exact
    assert found.p == pytest.approx(slow_p(tenths, counted, design, null, alternative), abs=1e-14)
    weights = np.ones(design.n) if design.weights is None else design.weights
    means = [
        np.average(tenths[rows, column] / 10, weights=weights[rows])
        for column, rows in enumerate(counted.T)
    ]
    assert found.difference == pytest.approx(means, abs=1e-14)


@pytest.mark.slow
@given(
    families(queries=40),
    st.sampled_from(ALTERNATIVES),
    st.sampled_from([0.0, 0.1, -0.3]),
    st.sampled_from([0.3, 0.5, 0.8, 0.95]),
)
@settings(max_examples=examples(300), deadline=None)
def test_an_interval_excludes_the_null_if_and_only_if_p_is_at_most_alpha(
    family: Any, alternative: Any, null: float, level: float
) -> None:
    """Tenths tie often, weights of 1 to 40 leave accepted shifts that are no interval, and draws
    are few.
    """
    tenths, counted, design = family
    asked: dict[str, Any] = {
        "alternative": alternative,
        "null": null,
        "level": level,
        "n_resamples": 199,
        "rng": 3,
    }
    found = simultaneous(tenths / 10, counted=counted, design=design, **asked)
    assert (found.differs == (found.p <= round(1 - level, 12))).all()
    assert (found.low <= found.high).all()
    assert not np.isnan([found.low, found.high]).any()
    assert alternative != "greater" or (found.high == np.inf).all()
    assert alternative != "less" or (found.low == -np.inf).all()


@pytest.mark.spread(5)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("seed", range(6))
def test_a_family_of_one_has_the_p_value_of_the_permutation_test(
    seed: int, alternative: Any
) -> None:
    """Exact and drawn; tenths, some of which cancel to 0 but for rounding."""
    generator = np.random.default_rng(seed)
    a, b = np.round(generator.random((2, 9 + 5 * seed)), 1)
    one = permutation_test(a, b, alternative=alternative, rng=seed, n_resamples=20_000)
    family = simultaneous(
        (b - a)[:, None],
        counted=np.ones((a.size, 1), bool),
        alternative=alternative,
        rng=seed,
        n_resamples=20_000,
    )
    assert family.exact == one.exact or one.n_nonzero > 14
    if family.exact == one.exact:
        assert family.p.tolist() == [one.p]
        assert family.difference.tolist() == pytest.approx([one.difference], abs=1e-15)


def test_sums_that_cancel_but_for_rounding_are_ties() -> None:
    """0.1 + 0.2 - 0.3 is 0, and every sign vector is as extreme."""
    differences = np.array([[0.1], [0.2], [-0.3]])
    assert simultaneous(differences).p.tolist() == [1]
    assert simultaneous(differences, alternative="greater").p.tolist() == [5 / 8]
    assert simultaneous(differences, alternative="less").p.tolist() == [5 / 8]


def test_tests_count_their_own_queries_under_shared_signs() -> None:
    """Four halves of one column under the draws of the whole; none may depend on what does not
    count.
    """
    generator = np.random.default_rng(4)
    differences = generator.normal(0.1, 0.3, size=(60, 4))
    counted = np.arange(60)[:, None] % 4 >= np.arange(4)
    found = simultaneous(
        np.where(counted, differences, np.nan), counted=counted, rng=1, n_resamples=3000
    )
    zeros = simultaneous(np.where(counted, differences, 0.0), rng=1, n_resamples=3000)
    # zeros change no statistic, only means and intervals
    assert found.p.tolist() == zeros.p.tolist()
    assert found.difference == pytest.approx(
        [differences[rows, at].mean() for at, rows in enumerate(counted.T)], abs=1e-14
    )
    units, statistics = counted.sum(axis=0), []
    for at, rows in enumerate(counted.T):
        mean, error = (
            differences[rows, at].mean(),
            differences[rows, at].std(ddof=1) / np.sqrt(units[at]),
        )
        reach = (mean - found.low[at]) / error
        assert found.high[at] == pytest.approx(mean + reach * error, abs=1e-9)
        assert reach >= found.critical_t[at] - 1e-9
        statistics.append(reach / np.sqrt((units[at] - 1 + reach**2) / units[at]))
        assert found.differs[at] == (abs(mean / error) > found.critical_t[at])
    # one critical value, with the degrees of freedom of each
    assert statistics == pytest.approx([statistics[0]] * 4, abs=1e-9)
    assert found.critical_t[0] == found.critical
    assert (np.diff(found.critical_t) > 0).all()  # fewer units need a larger t


@pytest.mark.parametrize(("alternative", "sign"), [("greater", 1), ("less", -1)])
def test_one_sided_ends_are_those_of_their_own_critical_value(alternative: Any, sign: int) -> None:
    differences = np.random.default_rng(6).normal(0.2 * sign, 0.4, size=(50, 3))
    found = simultaneous(
        differences, alternative=alternative, null=0.05 * sign, rng=2, n_resamples=5000
    )
    errors = differences.std(axis=0, ddof=1) / np.sqrt(50)
    reach = sign * (differences.mean(axis=0) - (found.low if sign > 0 else found.high)) / errors
    # one critical value for all, and at least that of p
    assert reach == pytest.approx(reach[0], abs=1e-9)
    assert (reach >= np.abs(found.critical_t) - 1e-9).all()
    two = simultaneous(differences, null=0.05 * sign, rng=2, n_resamples=5000)
    assert (found.critical_t < two.critical_t).all()
    assert (found.p <= two.p).all()


def test_tests_without_a_difference_neither_reject_nor_correct() -> None:
    differences = np.random.default_rng(1).normal(0.1, 0.2, size=(30, 2))
    with_empty = np.insert(differences, 1, 0.0, axis=1)
    for alternative, ends in (
        ("two-sided", (0, 0)),
        ("greater", (0, np.inf)),
        ("less", (-np.inf, 0)),
    ):
        asked: dict[str, Any] = {"alternative": alternative, "rng": 1, "n_resamples": 999}
        alone, found = simultaneous(differences, **asked), simultaneous(with_empty, **asked)
        assert (found.p[1], found.low[1], found.high[1]) == (1, *ends)
        assert found.p[[0, 2]].tolist() == alone.p.tolist()
        assert found.critical == alone.critical
    nothing = simultaneous(np.full((5, 2), 0.3), null=0.3)
    assert (nothing.p.tolist(), nothing.low.tolist(), nothing.high.tolist()) == (
        [1, 1],
        [0.3, 0.3],
        [0.3, 0.3],
    )


def test_few_units_that_differ_among_many_are_enumerated() -> None:
    differences = np.zeros((200, 2))
    differences[:5, 0], differences[3:8, 1] = 0.1, [0.1, 0.2, 0.3, -0.1, 0.2]
    found = simultaneous(differences)
    assert (found.exact, found.n_resamples) == (True, 256)
    assert found.p.tolist() == simultaneous(differences[:8]).p.tolist()
    assert not simultaneous(differences, n_resamples=255, rng=1).exact


def test_neither_threads_nor_the_number_of_tests_change_a_bit() -> None:
    differences = np.random.default_rng(2).normal(0.05, 0.2, size=(70, 50))
    counted = np.random.default_rng(3).random((70, 50)) < 0.7
    runs = [
        simultaneous(differences, counted=counted, rng=5, n_resamples=5000, threads=threads)
        for threads in (1, 2, 5)
    ]
    for name in ("difference", "p", "low", "high", "critical_t"):
        assert all(
            np.array_equal(getattr(runs[0], name), getattr(other, name)) for other in runs[1:]
        )
    repeated = simultaneous(
        np.tile(differences, 3), counted=np.tile(counted, 3), rng=5, n_resamples=5000
    )
    assert repeated.p.tolist() == runs[0].p.tolist() * 3
    assert repeated.low.tolist() == runs[0].low.tolist() * 3


def test_max_t_is_the_family_of_its_differences() -> None:
    values = np.random.default_rng(7).random((40, 4, 2))
    found = max_t(values[:, 0], values[:, 1:], rng=1, n_resamples=500)
    family = simultaneous((values[:, 1:] - values[:, :1]).reshape(40, 6), rng=1, n_resamples=500)
    for name in ("difference", "p", "low", "high", "critical_t"):
        assert getattr(found, name).shape == (3, 2)
        assert getattr(found, name).ravel().tolist() == getattr(family, name).tolist()


def test_memory_does_not_hold_draws_of_all_tests() -> None:
    """A block of draws of 2,000 tests is 33 MB; a part of it half a megabyte."""
    differences = np.random.default_rng(2).normal(size=(30, 2000))
    tracemalloc.start()
    simultaneous(differences, rng=1, n_resamples=4096, threads=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 16e6


def test_texts_and_refusals() -> None:
    differences = np.random.default_rng(1).normal(0.5, 0.2, size=(30, 2))
    assert str(
        simultaneous(differences, rng=1, n_resamples=99, alternative="greater", level=0.9)
    ).startswith("2 differences over 30 queries: 2 significant, t from ")
    assert "t from -" in str(
        simultaneous(differences, rng=1, n_resamples=99, alternative="less", level=0.9)
    )
    with pytest.raises(ir.InputError, match=r"shape \(3,\), expected \(queries, tests\)"):
        simultaneous([1.0, 2.0, 3.0])
    with pytest.raises(
        ir.InputError, match=r"counted has shape \(1, 2\) of bool, expected \(30, 2\)"
    ):
        simultaneous(differences, counted=[[True, True]])
    with pytest.raises(ir.InputError, match="of int64, expected"):
        simultaneous(differences, counted=np.ones((30, 2), int))
    with pytest.raises(ir.InputError, match="test 1 counts no query"):
        simultaneous(differences, counted=np.arange(60).reshape(30, 2) % 2 == 0)
    with pytest.raises(ir.InputError, match="query 2, test 1: nan; expected finite"):
        simultaneous(np.where(np.arange(60).reshape(30, 2) == 5, np.nan, differences))
    with pytest.raises(ir.InputError, match="a design of 4 queries"):
        simultaneous(differences, design=Design.of(4))
    with pytest.raises(ir.OptionError, match="null=inf"):
        simultaneous(differences, null=np.inf)
    with pytest.raises(ir.OptionError, match="alternative='up'"):
        simultaneous(differences, alternative="up")  # type: ignore[arg-type]


@pytest.mark.parametrize(("alternative", "sign"), [("less", -1), ("greater", 1), ("two-sided", 1)])
def test_an_interval_that_ends_at_the_null_but_for_the_tolerance_of_ties_ends_there(
    alternative: Any, sign: int
) -> None:
    """Its end was 3e-13, and for its sake a report had 13 decimals."""
    differences = sign * np.array([[1.0, 1.0], [0.86, 1.0], *[[0.0, 0.0]] * 6])

    found = simultaneous(
        differences, alternative=alternative, level=0.8 if alternative != "two-sided" else 0.6
    )

    assert not found.differs.any()
    assert (found.high if alternative == "less" else found.low)[1] == 0.0
