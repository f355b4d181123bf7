"""Corrected estimates by a judge with errors that no label shows: weights, allowance, refusal, and
one weight for two runs.
"""

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.judging import correct
from idealrank.judging.correction import left_out_weights
from idealrank.judging.views.correction import (
    CorrectedValue,
    corrected_json,
    corrected_parts,
)


def test_a_judge_without_a_disagreement_is_refused() -> None:
    """25 human labels, all as the judge's: the interval had no width for the judge's errors, and
    said 22,999 labels.
    """
    human = [1] * 8 + [0] * 17
    found = correct(human, human, [1] * 5400 + [0] * 14600)

    assert (found.refused, found.n_disagreements, found.weight) == (True, 0, 0)
    assert (found.estimate, found.interval) == (found.human_estimate, found.human_interval)
    assert found.effective_labels == 25


def test_an_interval_allows_for_three_errors_in_n_that_were_not_seen() -> None:
    """The rule of three: without an error in n, up to 3 / n may be wrong with probability 95 %."""
    n = 100
    human = [1] * 30 + [0] * 70
    found = correct(human, human, [1] * 5400 + [0] * 14600, weight=1)
    reach = (found.interval[1] - found.interval[0]) / 2

    assert found.n_disagreements == 0
    assert 2.8 / n < reach < 3.2 / n
    assert (
        correct(human, human, [1] * 5400 + [0] * 14600, weight=1, largest_error=0.1).standard_error
        < found.standard_error / 2
    )
    # A cluster counts as one unit, however many it has.
    pairs = correct(
        human,
        human,
        human,
        weight=1,
        clusters=[place % 20 for place in range(2 * n)],
        largest_error=1,
    )
    assert pairs.standard_error > math.sqrt(2) / 20


def test_a_value_of_the_judge_is_worth_one_human_value_at_most() -> None:
    human = [0.0, 1.0] * 20
    found = correct(human, human, [0.5] * 60, weight=1, largest_error=0)

    assert found.effective_labels == 100
    assert found.worth == 1


def test_left_out_weights_are_the_optima_of_the_other_units() -> None:
    rng = np.random.default_rng(8)
    human, judge = rng.random(12), rng.random(12)
    expected = []
    for unit in range(12):
        covariance = np.cov(np.delete(human, unit), np.delete(judge, unit), ddof=0)
        expected.append(covariance[0, 1] / ((1 + 12 / 5) * covariance[1, 1] + 2 * 0.3**2 / 12))

    assert left_out_weights(human, judge, 5, 0.3) == pytest.approx(expected, abs=1e-12)


def test_clusters_of_equal_units_have_the_weights_of_one_unit_each() -> None:
    """Copies of a unit in its cluster tell nothing new, so that neither weight, interval nor
    allowance may change.
    """
    rng = np.random.default_rng(9)
    human, other = rng.random(10), rng.random(8)
    judge = np.clip(human + rng.normal(0, 0.2, 10), 0, 1)
    once = correct(human, judge, other)
    clusters = (np.repeat(np.arange(10), 3), np.repeat(np.arange(10, 18), 3))
    copied = correct(*(np.repeat(values, 3) for values in (human, judge, other)), clusters=clusters)

    assert 0 < once.weight == pytest.approx(copied.weight, abs=1e-12)
    assert (copied.estimate, copied.standard_error) == pytest.approx(
        (once.estimate, once.standard_error), abs=1e-12
    )
    assert (copied.n_disagreements, copied.largest_error) == (10, pytest.approx(once.largest_error))


def test_left_out_weights_leave_no_bias_and_tuned_ones_do() -> None:
    """Complete enumeration: all samples of 4 units of a population of 3, whose judge is wrong on
    every unit.
    """
    units = np.array([[0.0, 0.1], [0.3, 0.9], [1.0, 0.6]])
    samples = [np.array(sample) for sample in itertools.product(units, repeat=4)]

    def mean(tuning: Any) -> float:
        found = (
            correct(one[:, 0], one[:, 1], units[:, 1], tuning=tuning, largest_error=0.2)
            for one in samples
        )
        return float(np.mean([one.estimate for one in found]))

    truth = units[:, 0].mean()
    assert mean("left-out") == pytest.approx(truth, abs=1e-12)
    assert abs(mean("ppi++") - truth) > 0.001


def test_rare_human_values_are_marked() -> None:
    judge = list(np.linspace(0, 1, 25))
    assert correct([1] * 2 + [0] * 23, judge, judge).is_rare
    assert not correct([1] * 8 + [0] * 17, judge, judge).is_rare
    assert correct([0] * 25, judge, judge).is_rare


def test_a_run_whose_human_values_are_all_equal_has_a_warning_beside_another_run() -> None:
    """Its row has the weight of the difference, and an interval that says little; it is worth no
    number of human values.
    """
    rng = np.random.default_rng(33)
    judge = {
        f"q{n}": {"x": int(rng.random() < 0.1), "y": int(rng.random() < 0.5)} for n in range(300)
    }
    human = {
        query: {"x": 0, "y": of["y"] if n % 3 else 1 - of["y"]}
        for n, (query, of) in enumerate(list(judge.items())[:12])
    }
    a, b = ({query: [name] for query in judge} for name in "xy")

    found = ir.judging.correct_run(human, judge, b, "P@1", against=a)

    side = found.sides[0].found
    assert (side.n_uncommon, side.is_rare, side.human_error) == (0, True, 0.0)
    assert side.weight > 0
    assert math.isnan(side.effective_labels)
    rows = [CorrectedValue.of_run("m", one) for one in (*found.sides, found)]
    text = "\n".join(str(part) for part in corrected_parts(rows))
    assert "human values other than the most common one: 0 of 12" in " ".join(text.split())
    assert json.loads(corrected_json(rows))["corrected"][0]["effective_labels"] is None


def test_a_difference_and_its_sides_have_one_weight_and_add_up() -> None:
    """Each row had a weight of its own, so that a run with the higher value could lose the
    difference.
    """
    rng = np.random.default_rng(31)
    judge = {
        f"q{n}": {f"d{k}": int(rng.integers(0, 3)) for k in range(6)} | {"d9": 1} for n in range(60)
    }
    human = {
        query: {name: grade if rng.random() < 0.8 else 1 for name, grade in judge[query].items()}
        for query in list(judge)[:20]
    }
    a, b = ({query: list(rng.permutation(list(of))) for query, of in judge.items()} for _ in "ab")

    found = ir.judging.correct_run(human, judge, b, "nDCG@5", against=a)

    of_a, of_b = (side.found for side in found.sides)
    assert 0 < found.found.weight == of_a.weight == of_b.weight
    assert of_b.estimate - of_a.estimate == pytest.approx(found.found.estimate, abs=1e-12)
    assert ir.judging.correct_run(human, judge, b, "nDCG@5").sides == ()


def test_ndcg_by_documents_is_named_a_ratio_of_sums_which_is_not_the_mean_that_evaluate_gives() -> (
    None
):
    grades = {"q": {"a": 1, "b": 1, "c": 1, "d": 0}, "r": {"a": 1, "b": 0, "c": 0, "d": 0}}
    run = {"q": ["a", "b", "c"], "r": ["b", "c", "d"]}
    found = ir.judging.correct_documents(grades, grades, run, "nDCG@3", queries="fixed")
    mean = ir.evaluate(grades, run, "nDCG@3").mean()["nDCG@3"]

    assert found.target == "ratio of sums"
    assert mean == 0.5
    assert found.estimate > 0.6
    assert (
        ir.judging.correct_documents(grades, grades, run, "DCG@3", queries="fixed").target == "mean"
    )
