"""Intervals of propensities by bootstrap over queries: none where the log shows no variation between queries."""

import warnings

import numpy as np
import pytest

from idealrank.clicks import PBM, Sessions, harvested_propensities, propensities, simulate, trust_propensities
from idealrank.errors import IdealrankWarning

ONE_QUERY = "no interval at {} of {} ranks, such as rank {}: only one query compares"


def one_query(seed: int = 1) -> Sessions:
    return simulate(np.random.default_rng(seed).beta(1, 1, (1, 10)), 5000, ranks=5, policy="random", rng=seed + 9)


def test_one_query_has_no_trust_bias_and_no_interval() -> None:
    for seed in range(5):
        with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(5, 5, 1)):
            found = trust_propensities(one_query(seed), rng=seed)
        assert not found.has_trust_bias
        assert len(found.cautions) == 1
        assert np.isnan(found.slope_intervals).all()
        assert np.isnan(found.offset_intervals).all()
        assert np.isfinite(found.slope).all()


def test_one_query_has_no_interval_of_propensities() -> None:
    log = one_query()
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(5, 5, 1)):
        found = propensities(log)
    assert np.isnan(found.intervals).all()
    assert [caution for caution in found.cautions if "only one query" in caution]
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(5, 5, 1)):
        assert np.isnan(PBM().fit(log).propensity_intervals(n_resamples=5)).all()


@pytest.mark.parametrize("method", ["all-pairs", "pivot"])
def test_one_query_has_no_interval_of_harvested_propensities(method: str) -> None:
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(5, 5, 1)):
        found = harvested_propensities(one_query(), method=method)  # type: ignore[arg-type]
    assert np.isnan(found.intervals).all()
    assert np.isfinite(found.relative).all()


def lists_of(orders: dict[str, list[str]], repeats: int, seed: int) -> Sessions:
    """Lists of each query in each of its orders, whose documents have clicks at rates of their own."""
    rng = np.random.default_rng(seed)
    rates = {query: dict(zip("abcd", rng.uniform(0.1, 0.9, 4), strict=True)) for query in orders}
    queries = [query for query, shown in orders.items() for _ in shown] * repeats
    documents = [list(order) for shown in orders.values() for order in shown] * repeats
    seen = [[rates[query][document] for document in order] for query, order in zip(queries, documents, strict=True)]
    return Sessions.from_arrays(queries, documents, rng.random((len(queries), len(documents[0]))) < seen)


def test_a_rank_that_one_of_several_queries_compares_has_no_interval() -> None:
    orders = {f"q{number}": ["abc", "bac"] for number in range(8)} | {"q8": ["abc", "cab", "bca"]}
    log = lists_of(orders, 40, 3)
    for method in ("all-pairs", "pivot"):
        with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(1, 3, 3)):
            found = harvested_propensities(log, method=method)  # type: ignore[arg-type]
        assert np.isnan(found.intervals[:, 0]).tolist() == [False, False, True]
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(1, 3, 3)):
        assert np.isnan(PBM().fit(log).propensity_intervals(n_resamples=20)[:, 0]).tolist() == [False, False, True]


def test_pivot_needs_two_queries_with_documents_at_the_first_rank() -> None:
    """Other queries compare the third rank with the second alone, which pivot does not use."""
    orders = {f"q{number}": ["abc", "bac"] for number in range(4)} | {f"r{number}": ["abc", "acb"] for number in range(4)}
    log = lists_of(orders | {"one": ["abc", "cba"]}, 40, 5)
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(1, 3, 3)):
        assert np.isnan(harvested_propensities(log, method="pivot").intervals[2]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error", IdealrankWarning)
        assert np.isfinite(harvested_propensities(log).intervals).all()


def test_trust_bias_at_a_rank_of_one_query_is_not_found() -> None:
    orders = {f"q{number}": ["abcd", "bcad", "cabd"] for number in range(8)} | {"one": ["abcd", "dabc", "cdab", "bcda"]}
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(1, 4, 4)):
        found = trust_propensities(lists_of(orders, 60, 2))
    assert np.isnan(found.offset_intervals[3]).all()
    assert np.isfinite(found.slope[3])


def test_two_queries_have_intervals() -> None:
    log = simulate(np.random.default_rng(4).beta(1, 1, (2, 10)), 5000, ranks=3, policy="random", rng=5)
    assert np.isfinite(harvested_propensities(log).intervals).all()
    assert np.isfinite(PBM().fit(log).propensity_intervals(n_resamples=20)).all()
