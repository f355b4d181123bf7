"""Correlations of two orders: SciPy live, and the numbers of the R package ircor's own tests."""

import json
from collections.abc import Callable

import numpy as np
import pytest

from idealrank.measures.correlation import (
    overlap_sums,
    pair_counts,
    tau_ap,
    tau_ap_direction,
    tau_b,
    weighted_tau,
)
from tests.conftest import shared_file

Column = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def ircor(function: str, x: Column, y: Column) -> float:
    """A function of ircor on scores; the higher stands nearer to the top."""
    query = np.zeros(x.size, np.int64)
    counts = pair_counts(query, x, y, 1)
    found = {
        "tau": lambda: tau_b(counts),
        "tau_b": lambda: tau_b(counts),
        "tau_a": lambda: (counts.concordant - counts.discordant) / counts.total,
        "tauAP": lambda: tau_ap(query, -y, -x, 1),
        "tauAP_a": lambda: tau_ap(query, -y, -x, 1),
        "tauAP_b": lambda: (
            (tau_ap_direction(query, -x, -y, 1) + tau_ap_direction(query, -y, -x, 1)) / 2
        ),
    }
    return float(found[function.split(maxsplit=1)[0]]()[0])


def test_ircor() -> None:
    """Eleven values, to the four decimals that its tests print."""
    table = json.loads(
        shared_file("data", "peer-cases", "rank_correlation_ircor.json").read_text(encoding="utf-8")
    )
    assert len(table["cases"]) == 11
    for case in table["cases"]:
        columns = table["sets"][case["set"]]
        x, y = np.array(columns[case["x"]]), np.array(columns[case["y"]])
        assert ircor(case["fn"], x, y) == pytest.approx(case["expected"], abs=case["tol"]), case


@pytest.mark.parametrize("levels", [3, 12, 1000])
def test_scipy(levels: int) -> None:
    """Kendall's tau-b and weighted tau with many, some and no ties, several queries at once, some
    of one item or none.
    """
    from scipy import stats

    rng = np.random.default_rng(levels)
    for _ in range(40):
        query = np.sort(rng.integers(0, 6, 50))
        first, second = rng.integers(0, levels, 50), rng.integers(0, levels, 50)
        ours = tau_b(pair_counts(query, first, second, 7)), weighted_tau(query, first, second, 7)
        for code in range(7):
            one, two = first[query == code], second[query == code]
            theirs = (np.nan, np.nan)
            if one.size > 1:
                theirs = (
                    stats.kendalltau(one, two).statistic,
                    stats.weightedtau(-one, -two).statistic,
                )
            assert [values[code] for values in ours] == pytest.approx(
                theirs, abs=1e-12, nan_ok=True
            )


def naive_tau_ap(rank: Column, reference: Column) -> float:
    """The definition, for an order without ties."""
    order = np.argsort(rank)
    terms = [
        sum(
            1.0
            if reference[j] < reference[order[i]]
            else 0.5
            if reference[j] == reference[order[i]]
            else 0.0
            for j in order[:i]
        )
        / i
        for i in range(1, rank.size)
    ]
    return 2 * sum(terms) / (rank.size - 1) - 1


def test_tau_ap_of_ties_is_the_mean_over_their_orders() -> None:
    """Every order of the ties of the first list, tried one by one."""
    from itertools import permutations

    rng = np.random.default_rng(1)
    for _ in range(20):
        rank, reference = rng.integers(0, 3, 6), rng.integers(0, 4, 6)
        orders = {
            tuple(order)
            for order in permutations(range(6))
            if (np.diff(rank[list(order)]) >= 0).all()
        }
        values = [naive_tau_ap(np.argsort(order).astype(float), reference) for order in orders]
        assert tau_ap(np.zeros(6, np.int64), rank, reference, 1)[0] == pytest.approx(
            np.mean(values), abs=1e-12
        )


def naive_overlap(one: list[int], two: list[int], depth: int, p: float) -> float:
    """Set by set."""
    return sum(p ** (i - 1) * len(set(one[:i]) & set(two[:i])) / i for i in range(1, depth + 1))


def test_overlap_sums_are_those_of_sets() -> None:
    """Random lists of unlike lengths that share some items."""
    rng = np.random.default_rng(2)
    for p in (0.5, 0.9, 0.98):
        one, two = (rng.permutation(30)[:size].tolist() for size in (20, 12))
        deeper = np.array(
            [max(one.index(item), two.index(item)) + 1 for item in set(one) & set(two)]
        )
        for depth in (1, 5, 12, 20):
            found = overlap_sums(np.zeros(deeper.size, np.int64), deeper, np.array([depth]), p)[0]
            assert found == pytest.approx(naive_overlap(one, two, depth, p), abs=1e-12)


@pytest.mark.parametrize("function", [tau_ap, tau_ap_direction, weighted_tau])
def test_queries_without_items_have_no_value(function: Callable[..., Column]) -> None:
    """No item, or one."""
    empty = np.zeros(0, np.int64)
    assert np.isnan(function(empty, empty, empty, 2)).all()
    assert np.isnan(function(np.array([1]), np.array([1]), np.array([1]), 2)).all()
