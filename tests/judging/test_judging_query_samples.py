"""Samples of queries: unbiased over every random start, intervals that cover, and costs by hand."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import idealrank as ir
from idealrank.errors import InputError, OptionError
from idealrank.judging import LabelCost, label_budgets, sample_queries
from idealrank.judging.query_samples import inclusion_probabilities, systematic_draw
from idealrank.stats.power import half_width

TRAFFIC = {f"q{place:03}": 1000 / (place + 1) for place in range(120)}


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=12), st.data())
def test_probabilities_sum_to_the_number_drawn_and_go_with_size(
    sizes: list[float], data: Any
) -> None:
    n = data.draw(st.integers(1, len(sizes)))
    found = inclusion_probabilities(np.array(sizes), n)
    assert found.sum() == pytest.approx(n)
    assert ((found > 0) & (found <= 1 + 1e-12)).all()
    ratio = (found / np.array(sizes))[found < 1 - 1e-9]
    assert ratio == pytest.approx(np.full(ratio.size, ratio[0] if ratio.size else 1.0))


@given(st.lists(st.floats(0.1, 10), min_size=2, max_size=9), st.data())
def test_over_every_start_a_mean_is_exactly_that_of_the_traffic(
    sizes: list[float], data: Any
) -> None:
    """Between two starts at which the draw changes it is the same, so that the lengths of these
    stretches are its probabilities.
    """
    n = data.draw(st.integers(1, len(sizes)))
    volume, values = np.array(sizes), np.random.default_rng(1).random(len(sizes))
    probability = inclusion_probabilities(volume, n)
    order = np.array(data.draw(st.permutations(range(len(sizes)))))
    cuts = np.unique(np.concatenate(([0.0, 1.0], np.round(np.cumsum(probability[order]), 9) % 1)))
    mean, inclusion = 0.0, np.zeros(len(sizes))
    for begin, end in pairwise(cuts):
        if end - begin < 1e-8:
            continue
        picked = systematic_draw(probability, order, (begin + end) / 2)
        assert picked.sum() == n
        weight = volume[picked] / probability[picked]
        mean += (end - begin) * float((weight * values[picked]).sum() / volume.sum())
        inclusion += (end - begin) * picked
    assert inclusion == pytest.approx(probability, abs=1e-6)
    assert mean == pytest.approx(float((volume * values).sum() / volume.sum()), abs=1e-6)


def test_the_mean_is_unbiased_and_the_interval_covers_it() -> None:
    strata, take = {f"q{place:03}": "edge" for place in range(100, 120)}, {"edge": 8}
    values = {query: 0.5 + 0.4 * math.sin(place) for place, query in enumerate(TRAFFIC)}
    true = sum(TRAFFIC[query] * values[query] for query in TRAFFIC) / sum(TRAFFIC.values())
    means, covered, plain, widths, n_seeds = [], 0, [], [], 400
    for seed in range(n_seeds):
        sample = sample_queries(TRAFFIC, 40, strata=strata, take=take, seed=seed)
        seen = [values[query] for query in sample.query_ids]
        means.append(sample.mean(seen))
        plain.append(float(np.mean(seen)))
        interval = sample.interval(seen)
        assert interval.estimate == pytest.approx(means[-1])
        covered += interval.low <= true <= interval.high
        widths.append(interval.width)
    error = 4 * np.std(means) / math.sqrt(n_seeds)
    assert abs(np.mean(means) - true) < error
    assert abs(np.mean(plain) - true) > error  # without weights it is another mean
    assert covered / n_seeds >= 0.93
    # Queries that are taken for certain, and the finite number of the others, leave an interval
    # that is not too wide.
    assert np.mean(widths) == pytest.approx(2 * 1.96 * np.std(means), rel=0.1)


def test_a_sample_of_all_queries_has_no_error() -> None:
    sample = sample_queries(TRAFFIC, len(TRAFFIC))
    interval = sample.interval([place % 7 for place in range(len(TRAFFIC))])

    assert sample.sampling_effect == 0
    assert interval.low == interval.high == interval.estimate


def test_one_drawn_query_leaves_the_interval_open() -> None:
    sample = sample_queries({"a": 90.0, "b": 5.0, "c": 5.0}, 2, tail=0.5)
    interval = sample.interval([0.5, 0.9])

    assert sorted(sample.probability.tolist()) == [0.5, 1]
    assert (interval.low, interval.high) == (-math.inf, math.inf)


def test_weights_sum_to_the_traffic_and_strata_have_their_numbers() -> None:
    sample = sample_queries(
        TRAFFIC, 30, tail=0.4, strata={"q119": "new", "q118": "new"}, take={"new": 1}
    )
    assert sample.weight.sum() == pytest.approx(sum(TRAFFIC.values()))
    assert {one.name: one.n_sampled for one in sample.strata}["new"] == 1
    assert len(sample.query_ids) == len(set(sample.query_ids)) == 31
    assert sum(one.traffic_share for one in sample.strata) == pytest.approx(1)
    assert sample.design_effect >= 1


def test_a_seed_gives_the_same_sample_and_another_seed_another_one() -> None:
    assert sample_queries(TRAFFIC, 20).query_ids == sample_queries(TRAFFIC, 20).query_ids
    assert sample_queries(TRAFFIC, 20).query_ids != sample_queries(TRAFFIC, 20, seed=1).query_ids


def test_compare_takes_the_weights() -> None:
    sample = sample_queries({"p": 8.0, "q": 1.0, "r": 1.0, "s": 1.0, "t": 1.0}, 4, tail=0.75)
    qrels = {query: {"a": 1} for query in sample.query_ids}
    runs = [
        {query: ["a"] if query == "p" else ["b", "a"] for query in qrels},
        {query: ["b", "a"] if query == "p" else ["a"] for query in qrels},
    ]
    weights = dict(zip(sample.query_ids, sample.weight.tolist(), strict=True))
    found = ir.compare(qrels, *runs, measures=["RR"], weights=weights)
    values = [0.5 - 1 if query == "p" else 0.5 for query in sample.query_ids]
    assert found.pairs[0].measures["RR"].difference == pytest.approx(sample.mean(values))


def test_costs_are_those_by_hand() -> None:
    cost = LabelCost(documents=15, price=0.2, overhead=0.1, fixed=50, per_week=1000)
    plan = label_budgets([200], cost, sd=0.25, design_effect=1.44)[0]
    assert (plan.labels, plan.cost, plan.weeks) == (3300, 710.0, 3.3)
    assert plan.half_width == pytest.approx(1.2 * half_width(200, 0.25))
    assert cost.queries_for(710.0) == 200
    assert cost.queries_for(709.9) == 199
    assert cost.queries_for(49) == 0


def test_more_queries_cost_more_and_say_more() -> None:
    plans = label_budgets([50, 100, 400], LabelCost(), sd=0.3)
    assert [plan.cost for plan in plans] == sorted(plan.cost for plan in plans)
    widths = [plan.half_width or 0 for plan in plans]
    assert widths == sorted(widths, reverse=True)
    assert widths[1] / widths[2] == pytest.approx(2, abs=0.03)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"n": 0}, "n="),
        ({"tail": 1.5}, "tail"),
        ({"strata": {"zz": "new"}, "take": {"new": 1}}, "which has no traffic"),
        ({"strata": {"q001": "new"}}, "no number of queries to take"),
        ({"take": {"new": 1}}, "without a query"),
        (
            {"strata": {"q001": "tail"}, "take": {"tail": 1}},
            "head and tail are made from the traffic",
        ),
        ({"tail": 0.0, "n": 5}, "stratum 'tail'"),
        ({"traffic": {"a": 0.0}}, "traffic of query 'a'"),
        ({"traffic": {}}, "found no query"),
    ],
)
def test_impossible_samples_are_refused(options: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"traffic": TRAFFIC, "n": 20} | options
    with pytest.raises((InputError, OptionError), match=said):
        sample_queries(given.pop("traffic"), given.pop("n"), **given)


def test_values_of_another_length_are_refused() -> None:
    sample = sample_queries(TRAFFIC, 20)
    with pytest.raises(InputError, match="one for each of the 20 sampled queries"):
        sample.mean([1.0])
    with pytest.raises(OptionError, match="per_week"):
        LabelCost(per_week=0)
    with pytest.raises(OptionError, match="price"):
        LabelCost(price=0).queries_for(10)
