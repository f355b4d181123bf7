"""Intervals of propensities by bootstrap over queries: none where the log shows no variation
between queries.
"""

import warnings

import numpy as np
import pytest

from idealrank.clicks import (
    PBM,
    Sessions,
    harvested_propensities,
    logged_dcg,
    propensities,
    simulate,
    trust_propensities,
)
from idealrank.clicks.cell_counts import CellCounts
from idealrank.clicks.query_bootstrap import linking_queries
from idealrank.errors import IdealrankWarning, InputError

ONE_QUERY = "no interval at {} of {} ranks, such as rank {}: only one query links"


def one_query(seed: int = 1) -> Sessions:
    return simulate(
        np.random.default_rng(seed).beta(1, 1, (1, 10)),
        5000,
        ranks=5,
        policy="random",
        rng=seed + 9,
    )


def test_one_query_has_no_trust_bias_and_no_interval() -> None:
    for seed in range(5):
        with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(5, 5, 5)):
            trust = trust_propensities(one_query(seed), rng=seed)
        assert not trust.has_trust_bias
        assert len(trust.cautions) == 1
        assert np.isnan(trust.slope_intervals).all()
        assert np.isnan(trust.offset_intervals).all()
        assert np.isfinite(trust.slope).all()


def test_one_query_has_no_interval_of_propensities() -> None:
    log = one_query()
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(5, 5, 5)):
        estimated = propensities(log)
    assert np.isnan(estimated.intervals).all()
    assert [caution for caution in estimated.cautions if "only one query" in caution]
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(5, 5, 5)):
        assert np.isnan(PBM().fit(log).propensity_intervals(n_resamples=5)).all()


@pytest.mark.parametrize("method", ["all-pairs", "pivot"])
def test_one_query_has_no_interval_of_harvested_propensities(method: str) -> None:
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(5, 5, 5)):
        harvest = harvested_propensities(one_query(), method=method)  # type: ignore[arg-type]
    assert np.isnan(harvest.intervals).all()
    assert np.isfinite(harvest.relative).all()


def lists_of(orders: dict[str, list[str]], repeats: int, seed: int) -> Sessions:
    """Lists of each query in each of its orders, whose documents have clicks at rates of their
    own.
    """
    rng = np.random.default_rng(seed)
    rates = {query: dict(zip("abcde", rng.uniform(0.1, 0.9, 5), strict=True)) for query in orders}
    queries = [query for query, shown in orders.items() for _ in shown] * repeats
    documents = [list(order) for shown in orders.values() for order in shown] * repeats
    seen = [
        [rates[query][document] for document in order]
        for query, order in zip(queries, documents, strict=True)
    ]
    return Sessions.from_arrays(
        queries, documents, rng.random((len(queries), len(documents[0]))) < seen
    )


def test_a_rank_that_one_of_several_queries_compares_has_no_interval() -> None:
    orders = {f"q{number}": ["abc", "bac"] for number in range(8)} | {"q8": ["abc", "cab", "bca"]}
    log = lists_of(orders, 40, 3)
    for method in ("all-pairs", "pivot"):
        with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(1, 3, 3)):
            harvest = harvested_propensities(log, method=method)  # type: ignore[arg-type]
        assert np.isnan(harvest.intervals[:, 0]).tolist() == [False, False, True]
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(1, 3, 3)):
        assert np.isnan(PBM().fit(log).propensity_intervals(n_resamples=20)[:, 0]).tolist() == [
            False,
            False,
            True,
        ]


def test_pivot_needs_two_queries_with_documents_at_the_first_rank() -> None:
    """Other queries compare the third rank with the second alone, which pivot does not use."""
    orders = {f"q{number}": ["abc", "bac"] for number in range(4)} | {
        f"r{number}": ["abc", "acb"] for number in range(4)
    }
    log = lists_of(orders | {"one": ["abc", "cba"]}, 40, 5)
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(1, 3, 3)):
        assert np.isnan(harvested_propensities(log, method="pivot").intervals[2]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error", IdealrankWarning)
        assert np.isfinite(harvested_propensities(log).intervals).all()


def test_a_rank_that_one_query_links_through_another_rank_has_no_interval() -> None:
    """Many queries compare the second rank with the third, but one query alone compares either with
    the first.
    """
    log = lists_of(
        {f"q{number}": ["abc", "acb"] for number in range(6)} | {"one": ["abc", "bac"]}, 40, 5
    )
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(3, 3, 3)):
        assert np.isnan(harvested_propensities(log).intervals).all()
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(3, 3, 3)):
        assert np.isnan(PBM().fit(log).propensity_intervals(n_resamples=20)).all()


def test_ranks_in_a_circle_of_single_links_have_intervals() -> None:
    """Each two ranks are compared by a query of their own; no query is the only link of a rank."""
    log = lists_of({"q0": ["abc", "bac"], "q1": ["abc", "acb"], "q2": ["abc", "cba"]}, 40, 5)
    assert np.isfinite(harvested_propensities(log).intervals).all()


@pytest.mark.parametrize("seed", range(30))
def test_single_links_are_those_that_break_without_a_query(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shown = [rng.permutation(8)[: int(rng.integers(2, 8))] for _ in range(int(rng.integers(1, 14)))]
    documents = [[*map(str, order), *[None] * (8 - order.size)] for order in shown]
    clicks = [[rank < order.size and rng.random() < 0.5 for rank in range(8)] for order in shown]
    log = Sessions.from_arrays(rng.integers(0, 5, len(shown)), documents, clicks)
    cells = CellCounts.of(log, np.arange(log.n_ranks), log.n_ranks)

    def linked(left_out: int | None) -> set[int]:
        groups = [{0}]
        for pair in range(cells.n_pairs):
            own = cells.pair == pair
            if cells.clicked[own].any() and log.query_of_pair[pair] != left_out:
                ranks = set(cells.situation[own].tolist())
                met = [group for group in groups if group & ranks]
                groups = [group for group in groups if not group & ranks] + [ranks.union(*met)]
        return next(group for group in groups if 0 in group)

    counts = linking_queries(cells, log.query_of_pair)
    for rank in range(1, log.n_ranks):
        breaks = any(rank not in linked(query) for query in range(len(log.queries)))
        assert counts[rank] == (0 if rank not in linked(None) else 1 if breaks else 2)


def test_trust_bias_at_a_rank_of_one_query_is_not_found() -> None:
    orders = {f"q{number}": ["abcd", "bcad", "cabd"] for number in range(8)} | {
        "one": ["abcd", "dabc", "cdab", "bcda"]
    }
    with pytest.warns(IdealrankWarning, match=ONE_QUERY.format(1, 4, 4)):
        trust = trust_propensities(lists_of(orders, 60, 2))
    assert np.isnan(trust.offset_intervals[3]).all()
    assert np.isfinite(trust.slope[3])


def test_two_queries_have_intervals() -> None:
    log = simulate(
        np.random.default_rng(4).beta(1, 1, (2, 10)), 5000, ranks=3, policy="random", rng=5
    )
    assert np.isfinite(harvested_propensities(log).intervals).all()
    assert np.isfinite(PBM().fit(log).propensity_intervals(n_resamples=20)).all()


ONCE = Sessions.from_arrays(
    ["q0", "q1"], [["a", "c", "b"], ["c", "b", "a"]], [[1, 0, 1], [1, 0, 1]]
)
"""Two lists whose ranks share no document; the second rank has no click."""


def test_ranks_that_share_no_document_have_neither_propensity_nor_interval() -> None:
    with pytest.warns(IdealrankWarning, match="fall into 3 sets that share no document"):
        fitted = PBM().fit(ONCE)
    assert fitted.relative_propensity.tolist() == pytest.approx([1.0, np.nan, np.nan], nan_ok=True)
    assert np.isnan(fitted.propensity_intervals(n_resamples=20)).all()
    with pytest.warns(IdealrankWarning, match="fall into 3 sets that share no document"):
        estimated = propensities(ONCE)
    assert np.isnan(estimated.relative).tolist() == [False, True, True]
    assert np.isnan(estimated.intervals).all()


def test_a_log_without_a_click_has_neither_propensity_nor_interval() -> None:
    log = Sessions.from_arrays(["q"] * 4, [["a", "b"], ["b", "a"]] * 2, [[0, 0]] * 4)
    with pytest.warns(IdealrankWarning, match="no list has a click"):
        fitted = PBM().fit(log)
    assert np.isnan(fitted.relative_propensity).all()
    assert np.isnan(fitted.propensity_intervals(n_resamples=20)).all()
    with pytest.raises(InputError, match="clicks: found none in 4 lists"):
        trust_propensities(simulate(np.zeros((2, 4)), 4, ranks=3, policy="random"))


def test_a_rank_that_only_documents_without_a_click_link_has_no_propensity() -> None:
    orders = {f"q{number}": ["abcd", "bacd", "abdc", "ebcd", "abed"] for number in range(4)}
    log = lists_of(orders, 30, 6)
    names = np.array([document for _, document in log.documents])[log.pair]
    clicks = log.clicks & np.isin(names, ["a", "b"])
    clicks[:, 2:] = False
    with pytest.warns(
        IdealrankWarning, match=r"no clicked document links rank 3, 4 with the first"
    ):
        estimated = propensities(Sessions.from_arrays(log.query, log.pair, clicks), n_resamples=20)
    assert np.isnan(estimated.relative).tolist() == [False, False, True, True]
    assert np.isnan(estimated.intervals[:, 0]).tolist() == [False, False, True, True]
    assert "no clicked document links" in estimated.cautions[0]


def test_a_linked_rank_without_a_click_has_the_propensity_0_and_no_interval() -> None:
    log = lists_of({f"q{number}": ["ab", "ba"] for number in range(4)}, 30, 6)
    clicks = log.clicks.copy()
    clicks[:, 1] = False
    fitted = PBM().fit(Sessions.from_arrays(log.query, log.pair, clicks))
    assert fitted.relative_propensity.tolist() == [1.0, 0.0]
    assert np.isnan(fitted.propensity_intervals(n_resamples=20)[:, 0]).tolist() == [False, True]


def first_rank_unclicked() -> Sessions:
    log = lists_of({f"q{number}": ["abc", "cab", "bca"] for number in range(4)}, 30, 6)
    clicks = log.clicks.copy()
    clicks[:, 0] = False
    return Sessions.from_arrays(log.query, log.pair, clicks)


def test_a_first_rank_without_a_click_is_one_caution_of_every_method() -> None:
    log, text = first_rank_unclicked(), "rank 1 has no click"
    with pytest.warns(IdealrankWarning, match=text):
        estimated = propensities(log, n_resamples=20)
    assert np.isnan(estimated.relative).all()
    assert np.isnan(estimated.intervals).all()
    assert [caution[: len(text)] for caution in estimated.cautions] == [text]
    with pytest.warns(IdealrankWarning, match=text):
        harvested = harvested_propensities(log)
    assert np.isnan(harvested.relative).tolist() == [False, True, True]
    assert np.isnan(harvested.intervals).all()
    with pytest.warns(IdealrankWarning, match=text):
        lines = trust_propensities(log)
    assert [caution[: len(text)] for caution in lines.cautions] == [text]
    assert np.isnan(lines.slope[1:]).all()
    assert np.isnan(lines.offset_intervals).all()
    assert not lines.has_trust_bias


@pytest.mark.parametrize(
    ("unclicked", "message"), [(0, "no click at rank 1"), (1, "no click at rank 2")]
)
def test_a_model_with_a_rank_without_a_click_gives_no_dcg(unclicked: int, message: str) -> None:
    log = lists_of({f"q{number}": ["abc", "cab", "bca"] for number in range(4)}, 30, 6)
    clicks = log.clicks.copy()
    clicks[:, unclicked] = False
    log = Sessions.from_arrays(log.query, log.pair, clicks)
    with pytest.raises(
        InputError, match=f"propensity: found {message}, expected some at every rank"
    ):
        logged_dcg(log, {query: ["0"] for query in log.queries}, PBM().fit(log))
