"""What bands are made of: intervals of a share, and how many independent documents the data are
worth.
"""

import numpy as np
import pytest
from scipy import stats

from idealrank.theory import RelevanceModel, canonical_scores, estimate_ybar
from idealrank.theory.estimation.bands import (
    PlacedDocuments,
    _between_queries,
    effective_size,
    wilson,
)
from idealrank.theory.estimation.estimates import interval_of
from idealrank.theory.estimation.sample import Sample


@pytest.mark.parametrize("queries", [2, 5, 40])
def test_wilson_of_a_few_queries_has_students_quantile(queries: int) -> None:
    """Its ends are where the share is as far off as the quantile allows: (share - p)^2 = t^2 p (1 -
    p) / n.
    """
    share, size, quantile = 0.3, 50.0, stats.t.ppf(0.975, queries - 1)
    low, high = wilson(np.array([share]), np.array([size]), 0.95, queries)

    for end in (low[0], high[0]):
        assert (share - end) ** 2 == pytest.approx(quantile**2 * end * (1 - end) / size, rel=1e-12)
    assert low[0] < share < high[0]


def test_queries_that_agree_by_luck_are_worth_no_more_than_their_documents() -> None:
    """Ten queries, half of the documents of each relevant but for one query: less variance than
    chance has.
    """
    relevant = np.tile(np.arange(10) % 2 == 0, 10)
    relevant[0] = False
    documents = PlacedDocuments(
        score=np.zeros(100), relevant=relevant, query=np.repeat(np.arange(10), 10), n_queries=10
    )

    found = effective_size(
        documents, np.zeros(100, np.int64), np.ones((1, 1)), np.array([relevant.mean()])
    )

    assert found == pytest.approx(100, rel=1e-12)


def test_where_all_documents_agree_as_much_is_lost_to_queries_as_elsewhere() -> None:
    """Below, a query is all relevant or not at all, so 40 of them are worth 39; above, all
    documents are relevant.
    """
    code = np.tile(np.repeat([0, 1], 10), 40)
    query = np.repeat(np.arange(40), 20)
    relevant = (code == 1) | (query % 4 == 0)

    found = effective_size(
        PlacedDocuments(score=np.zeros(800), relevant=relevant, query=query, n_queries=40),
        code,
        np.eye(2),
        np.array([0.25, 1.0]),
    )

    assert found == pytest.approx([39, 39], rel=1e-12)


@pytest.mark.parametrize("held", [1, 1000, 1 << 16])
def test_blocks_of_queries_change_no_bit(monkeypatch: pytest.MonkeyPatch, held: int) -> None:
    """Each sum is that of a loop from the first cell to the last, and from the first query to the
    last.
    """
    rng = np.random.default_rng(3)
    query, code, relevant = (
        rng.integers(0, 300, 5000),
        rng.integers(0, 40, 5000),
        rng.random(5000) < 0.3,
    )
    hits, count = np.zeros((300, 40)), np.zeros((300, 40))
    np.add.at(hits, (query, code), relevant)
    np.add.at(count, (query, code), 1)
    documents, own = (
        PlacedDocuments(score=np.zeros(5000), relevant=relevant, query=query, n_queries=300),
        hits.sum(axis=0) / count.sum(axis=0),
    )
    near = np.maximum(0.3 - abs(np.linspace(0, 1, 101)[:, None] - np.linspace(0, 1, 40)), 0)
    monkeypatch.setattr("idealrank.theory.estimation.bands._HELD", held)

    for weights, given, share in (
        (near, near, near @ own / near.sum(axis=1)),
        (np.eye(40), np.eye(40), own),
        (np.eye(40), None, own),
    ):
        of_hits, of_all = (
            np.cumsum(table[:, None] * weights, axis=2)[:, :, -1] for table in (hits, count)
        )
        squares = np.cumsum((of_hits - of_all * share) ** 2, axis=0)[-1]
        assert np.array_equal(_between_queries(documents, code, given, share), squares * 300 / 299)


def test_shares_of_a_cell_each_have_the_worth_of_weights_of_one() -> None:
    rng = np.random.default_rng(4)
    code, relevant = rng.integers(0, 7, 400), rng.random(400) < 0.3
    share = np.bincount(code, weights=relevant) / np.bincount(code)
    for queries in (1, 2, 50):
        documents = PlacedDocuments(
            score=np.zeros(400),
            relevant=relevant,
            query=np.arange(400) % queries,
            n_queries=queries,
        )
        assert np.array_equal(
            effective_size(documents, code, None, share),
            effective_size(documents, code, np.eye(7), share),
        )


def test_a_band_is_wider_where_ybar_is_steep() -> None:
    """The place of a document is uncertain by s (1 - s) / n, which the slope of ybar turns into
    uncertainty of its chance.
    """
    rng = np.random.default_rng(2)
    scores = rng.random(4000)
    labels = rng.random(4000) < np.clip(10 * (scores - 0.45), 0.01, 0.99)
    found = estimate_ybar(labels, scores, method="binned", bins=20)
    steep = 9  # from 0.45 to 0.5
    share, slope = found.value[steep], (found.value[steep + 1] - found.value[steep - 1]) / 0.1

    spread = share * (1 - share)
    size = spread / (spread / 200 + slope**2 * 0.475 * 0.525 / 4000)

    assert (found.low[steep], found.high[steep]) == pytest.approx(
        np.ravel(wilson(share, size, 0.95)), rel=1e-12
    )
    plain = wilson(share, np.float64(200.0), 0.95)
    assert found.high[steep] - found.low[steep] > 1.2 * (plain[1] - plain[0])


def test_samples_without_a_relevant_document_are_drawn_anew() -> None:
    """Of four documents with one relevant, a third of the samples have none."""
    found = estimate_ybar([1, 0, 0, 0], [4, 3, 2, 1], method="binned", bins=1).pseudo_expectation(
        100, resamples=100, rng=0
    )
    assert 0 < found.low <= found.value <= found.high <= 1


def test_the_interval_of_what_is_implied_leaves_half_of_the_rest_at_either_end() -> None:
    """Of the values 0, 0.001, ..., 1 the middle 90 % lie between 0.05 and 0.95."""
    models = [RelevanceModel.of(lambda s, p=p: p + 0 * s) for p in np.linspace(0, 1, 1001)]
    low, high = interval_of(lambda model: np.array([model.at_top]), models, 0.9)
    assert (low[0], high[0]) == pytest.approx((0.05, 0.95), abs=1e-9)


def test_documents_that_are_drawn_again_have_canonical_scores_anew() -> None:
    """(rank from the bottom - 1/2) / n with mid-ranks, whichever documents come."""
    scores = np.arange(30.0)
    for cells in Sample.of(np.arange(30) % 2, scores, 1.0).resampled(np.random.default_rng(1), 5):
        drawn = np.repeat(np.arange(cells.count.size), cells.count.astype(int))
        assert cells.score == pytest.approx(np.unique(canonical_scores(drawn)), abs=1e-12)
