"""Propensities from several logged rankers: known truth of simulated logs, rates written out, and
logs that cannot tell.
"""

from collections import defaultdict

import numpy as np
import pytest

from idealrank.clicks import HarvestedPropensities, Sessions, harvested_propensities, simulate
from idealrank.errors import IdealrankWarning, InputError, OptionError

SEEN = np.array([1.0, 0.7, 0.45, 0.3, 0.2])


def shop(n: int, n_queries: int, seed: int, rankers: int = 3) -> Sessions:
    """Sessions of rankers that are drawn at random; each of them sorts by relevance with noise of
    its own.
    """
    rng = np.random.default_rng(seed)
    relevance = rng.beta(1, 2, (n_queries, 8))
    orders = np.argsort(-(relevance[None] + rng.normal(0, 0.4, (rankers, n_queries, 8))), axis=2)[
        :, :, :5
    ]
    ranker, query = (
        rng.choice(rankers, n, p=[0.5, 0.3, 0.2][:rankers]),
        rng.integers(0, n_queries, n),
    )
    shown = orders[ranker, query]
    clicks = rng.random((n, 5)) < relevance[query[:, None], shown] * SEEN
    return Sessions.from_arrays(query, shown, clicks)


@pytest.mark.parametrize("method", ["all-pairs", "pivot"])
def test_known_propensities_are_recovered(method: str) -> None:
    harvest = harvested_propensities(shop(30_000, 400, 1), method=method, n_resamples=0)  # type: ignore[arg-type]
    assert harvest.relative == pytest.approx(SEEN, abs=0.05)


@pytest.mark.parametrize("method", ["all-pairs", "pivot"])
def test_swaps_with_the_first_rank_give_the_known_propensities(method: str) -> None:
    """One ranker, whose first document changes places with another at random (Joachims, Swaminathan
    and Schnabel 2017, section 5).
    """
    log = simulate(
        np.random.default_rng(4).beta(2, 2, (50, 5)),
        40_000,
        ranks=5,
        propensity=SEEN,
        policy="swap",
        rng=5,
    )
    harvest = harvested_propensities(log, method=method, n_resamples=0)  # type: ignore[arg-type]
    assert harvest.relative == pytest.approx(SEEN, abs=0.05)


def test_queries_that_come_a_few_times_are_enough() -> None:
    """Each query of this log comes three times, and each ranker has another share of the sessions
    and another quality.
    """
    harvest = harvested_propensities(shop(40_000, 13_000, 2), n_resamples=0)
    assert harvest.relative == pytest.approx(SEEN, abs=0.06)


@pytest.mark.parametrize("repetitions", [20, pytest.param(300, marks=pytest.mark.slow)])
def test_intervals_hold_the_known_propensities(repetitions: int) -> None:
    held = np.zeros(5)
    for repetition in range(repetitions):
        harvest = harvested_propensities(
            shop(2000, 80, repetition), method="pivot", n_resamples=50, rng=repetition
        )
        held += (harvest.intervals[:, 0] <= SEEN) & (harvest.intervals[:, 1] >= SEEN)
    # a bootstrap over 80 queries is somewhat short: 91 to 95 of 100 intervals hold the truth; four
    # errors of the count below 90
    assert (held[1:] >= 0.9 * repetitions - 4 * np.sqrt(0.9 * 0.1 * repetitions)).all()


def test_pivot_is_the_ratio_of_rates_written_out() -> None:
    log = shop(500, 10, 3)
    cells: dict[tuple[int, int], list[float]] = defaultdict(list)
    for pairs, clicks in zip(log.pair.tolist(), log.clicks.tolist(), strict=True):
        for place, (pair, click) in enumerate(zip(pairs, clicks, strict=True)):
            cells[pair, place].append(float(click))
    harvest = harvested_propensities(log, method="pivot", n_resamples=0)
    for rank in range(1, 5):
        both = [pair for pair, place in cells if place == 0 and (pair, rank) in cells]
        rates = [0.0, 0.0]
        for pair in both:
            counts = [len(cells[pair, 0]), len(cells[pair, rank])]
            weight = counts[0] * counts[1] / sum(counts)
            for number, place in enumerate((0, rank)):
                rates[number] += weight * sum(cells[pair, place]) / counts[number]
        assert harvest.relative[rank] == pytest.approx(rates[1] / rates[0], rel=1e-12)
        assert harvest.interventions[0, rank] == harvest.interventions[rank, 0] == len(both)


def test_all_pairs_of_two_ranks_is_the_ratio_of_their_rates() -> None:
    log = Sessions.from_arrays(
        ["q"] * 40,
        [["a", "b"]] * 20 + [["b", "a"]] * 20,
        [[1, 0]] * 10 + [[0, 0]] * 10 + [[1, 1]] * 4 + [[0, 0]] * 16,
    )
    assert harvested_propensities(log, n_resamples=0).relative[1] == pytest.approx(4 / 14, rel=1e-4)


def test_all_pairs_use_what_pivot_does_not_see() -> None:
    """Errors of all pairs are smaller over many logs, since ranks are also compared with ranks
    other than the first.
    """
    errors = np.zeros(2)
    for seed in range(12):
        log = shop(1500, 60, seed)
        for number, method in enumerate(("all-pairs", "pivot")):
            errors[number] += (
                (harvested_propensities(log, method=method, n_resamples=0).relative - SEEN) ** 2
            ).sum()  # type: ignore[arg-type]
    assert errors[0] < errors[1]


def three_ranks(orders: list[list[str]]) -> HarvestedPropensities:
    rows = [order for order in orders for _ in range(4)]
    log = Sessions.from_arrays(
        ["q"] * len(rows), rows, [[1, 0, 1], [1, 1, 0], [0, 1, 0], [1, 0, 0]] * len(orders)
    )
    return harvested_propensities(log, n_resamples=0)


def test_ranks_without_a_link_have_no_propensity() -> None:
    with pytest.warns(IdealrankWarning, match="links rank 3 with the first"):
        harvest = three_ranks([["a", "b", "c"], ["b", "a", "c"]])
    assert np.isnan(harvest.relative).tolist() == [False, False, True]
    with pytest.raises(InputError, match="found no document at two ranks"):
        three_ranks([["a", "b", "c"], ["a", "b", "c"]])


def test_options_that_are_none_are_refused() -> None:
    for options, message in [
        ({"method": "swap"}, "method"),
        ({"confidence": 1}, "confidence=1"),
        ({"n_resamples": -1}, "n_resamples"),
    ]:
        with pytest.raises(OptionError, match=message):
            harvested_propensities(shop(20, 2, 1), **options)  # type: ignore[arg-type]


def test_the_estimate_is_the_maximum_of_the_likelihood_to_the_last_digits() -> None:
    """At the maximum, the score of each rank is 0, with the relevance of each pair of ranks solved
    by halving.
    """
    log = shop(4000, 60, 7)
    relative = harvested_propensities(log, n_resamples=0).relative
    hits, misses = weighted_counts(log)
    score = np.zeros(relative.size)
    for rank, other in np.argwhere(np.triu(hits + misses, 1) > 0).tolist():
        sides = [(rank, other), (other, rank)]
        low, high = 0.0, 1 / max(relative[rank], relative[other])
        for _ in range(200):
            middle = (low + high) / 2
            gain = sum(
                hits[a, b] - misses[a, b] * relative[a] * middle / (1 - relative[a] * middle)
                for a, b in sides
            )
            low, high = (middle, high) if gain > 0 else (low, middle)
        for a, b in sides:
            score[a] += hits[a, b] - misses[a, b] * relative[a] * low / (1 - relative[a] * low)
    assert np.abs(score).max() < 1e-9 * hits.sum()


def weighted_counts(log: Sessions) -> tuple[np.ndarray, np.ndarray]:
    """Weighted clicks and other impressions at each rank, of documents that stood at another,
    document by document.
    """
    shown, clicked = (np.zeros((len(log.documents), log.n_ranks)) for _ in range(2))
    for pairs, clicks in zip(log.pair, log.clicks, strict=True):
        for rank, (pair, click) in enumerate(zip(pairs, clicks, strict=True)):
            shown[pair, rank] += 1
            clicked[pair, rank] += click
    hits, misses = (np.zeros((log.n_ranks, log.n_ranks)) for _ in range(2))
    for n, k in zip(shown, clicked, strict=True):
        for a in range(log.n_ranks):
            for b in range(log.n_ranks):
                if a != b and n[a] and n[b]:
                    weight = n[b] / (n[a] + n[b])
                    hits[a, b] += k[a] * weight
                    misses[a, b] += (n[a] - k[a]) * weight
    return hits, misses


def test_a_first_rank_without_a_click_compares_no_rank() -> None:
    log = Sessions.from_arrays(["q"] * 4, [["a", "b"], ["b", "a"]] * 2, [[0, 1]] * 4)
    with pytest.warns(IdealrankWarning, match="rank 1 has no click"):
        assert np.isnan(harvested_propensities(log, n_resamples=0).relative[1])


def test_pairs_that_were_always_clicked_stay_at_the_bound() -> None:
    log = Sessions.from_arrays(["q"] * 4, [["a", "b"], ["b", "a"]] * 2, [[1, 1]] * 4)
    assert harvested_propensities(log, n_resamples=0).relative == pytest.approx([1, 1], abs=1e-4)
