"""Objectives of LambdaMART: their gradients are derivatives, their weights are changes of the
measure, and mistakes are refused.
"""

from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.training import LambdaLists, LambdaObjective

SCORES = np.array([0.3, -0.2, 0.9, 0.1, 0.9, -1.0, 0.45])
LABELS = np.array([2, 0, 1, 3, 0, 1, 4])


def pair_weights(lists: LambdaLists) -> dict[tuple[int, int], float]:
    """By pair of rows its weight, read from the gradients of lists in which no other pair is
    weighed.
    """
    n = lists.gains.size
    found = {}
    for i in range(n):
        for j in range(i + 1, n):
            up = np.zeros(n)
            up[[i, j]] = 1.0
            down = up.copy()
            alone = LambdaLists(
                objective=lists.objective,
                gains=lists.gains,
                offsets=lists.offsets,
                weights=lists.weights,
                scale=lists.scale,
                up=up,
                down=down,
            )
            slope, _ = alone.gradients(SCORES, dtype="float64")
            wrong = 1 / (1 + np.exp(abs(SCORES[i] - SCORES[j])))
            right_order = (SCORES[i] - SCORES[j]) * (lists.gains[i] - lists.gains[j]) >= 0
            found[i, j] = abs(slope[i]) / (wrong if right_order else 1 - wrong)
    return found


@pytest.mark.parametrize(
    ("objective", "measure"),
    [
        ({"gain": "exp2", "cutoff": 3, "beyond": "zero"}, "nDCG(gain=exp2)@3"),
        (
            {"gain": {1: 5, 2: 6, 3: 6, 4: 9}, "discount": "zipf(0.5)"},
            "nDCG(gain={1:5,2:6,3:6,4:9},discount=zipf(0.5))",
        ),
        ({"measure": "AP"}, "AP"),
        ({"measure": "AP", "cutoff": 4, "rel": 2}, "AP(rel=2)@4"),
        ({"measure": "RR", "rel": 3}, "RR(rel=3)"),
        ({"measure": "ERR", "cutoff": 5}, "ERR@5"),
    ],
)
def test_a_pair_weighs_as_much_as_swapping_it_changes_the_measure(
    objective: dict[str, Any], measure: str
) -> None:
    lists = LambdaObjective(**objective, truncation=7, damped=False).prepare(LABELS)
    order = np.argsort(-SCORES, kind="stable")
    for (i, j), weight in pair_weights(lists).items():
        if lists.gains[i] == lists.gains[j]:
            assert weight == 0
            continue
        places = np.empty(7)
        places[order] = -np.arange(7.0)
        before = ir.evaluate(LABELS, places, measure)[measure][0]
        places[[i, j]] = places[[j, i]]
        change = abs(before - ir.evaluate(LABELS, places, measure)[measure][0])
        # two closed forms in double precision
        assert weight == pytest.approx(change, abs=1e-10), (i, j)


def frozen_loss(
    lists: LambdaLists, weights: dict[tuple[int, int], float], scores: np.ndarray
) -> float:
    total = 0.0
    for (i, j), weight in weights.items():
        high, low = (i, j) if lists.gains[i] > lists.gains[j] else (j, i)
        total += weight * np.log1p(np.exp(-(scores[high] - scores[low])))
    return total


@pytest.mark.parametrize("measure", ["nDCG", "AP", "RR", "ERR", "pairs"])
def test_gradients_and_hessians_are_the_derivatives_of_the_loss_with_fixed_weights(
    measure: Any,
) -> None:
    lists = LambdaObjective(measure=measure, damped=False).prepare(LABELS)
    weights = pair_weights(lists)
    slope, bend = lists.gradients(SCORES, dtype="float64")
    for row in range(7):
        step = np.zeros(7)
        step[row] = 1e-4
        above, here, below = (
            frozen_loss(lists, weights, SCORES + sign * step) for sign in (1, 0, -1)
        )
        # Central differences: their own error is of the order of the squared step.
        assert slope[row] == pytest.approx((above - below) / 2e-4, abs=1e-7)
        assert bend[row] == pytest.approx((above - 2 * here + below) / 1e-8, abs=1e-5)


def test_the_loss_of_linear_ndcg_bounds_it_and_is_convex() -> None:
    """At discount n - rank, 1 - nDCG is a sum over misordered pairs, and log2(1 + e^-x) is at least
    1 where x is negative.
    """
    lists = LambdaObjective(gain="linear", discount="linear").prepare(LABELS)
    assert lists.objective.swap == "even"
    assert not lists.objective.is_damped
    assert lists.objective.levels is None
    ideal = ir.evaluate(LABELS, LABELS, ir.DCG(discount="linear"))["DCG(discount=linear)"][0]
    assert lists.scale[0] == pytest.approx(1 / ideal, rel=1e-15)
    weights = {
        (i, j): abs(LABELS[i] - LABELS[j]) / ideal for i in range(7) for j in range(i + 1, 7)
    }
    measure = "nDCG(discount=linear)"
    for seed in range(5):
        scores = np.random.default_rng(seed).normal(size=7) * 3
        value = ir.evaluate(LABELS, scores, measure)[measure][0]
        wrong = sum(
            w
            for (i, j), w in weights.items()
            if (scores[i] - scores[j]) * (LABELS[i] - LABELS[j]) < 0
        )
        assert 1 - value == pytest.approx(wrong, abs=1e-12)
        assert frozen_loss(lists, weights, scores) / np.log(2) >= 1 - value
    assert (lists.gradients(SCORES, dtype="float64")[1] > 0).all()


def test_rows_are_weighed_and_queries_without_a_relevant_document_do_not_move() -> None:
    lists = LambdaObjective().prepare([1, 0, 0, 0, 2, 0], [2, 2, 2])
    plain, curve = lists.gradients(np.zeros(6), dtype="float64")
    assert plain[2:4].tolist() == [0, 0]
    assert (curve[[0, 1, 4, 5]] > 0).all()
    weighed, _ = lists.gradients(np.zeros(6), weights=[3, 3, 1, 1, 0, 0], dtype="float64")
    assert weighed.tolist() == (plain * [3, 3, 1, 1, 0, 0]).tolist()


def test_propensities_weigh_the_pairs_of_a_clicked_document() -> None:
    lists = LambdaObjective(measure="pairs", gain="linear", damped=False)
    plain = lists.prepare([1, 0, 0]).gradients(np.zeros(3), dtype="float64")[0]
    weighed = lists.prepare([1, 0, 0], up=1 / np.array([0.25, 0.5, 1.0])).gradients(
        np.zeros(3), dtype="float64"
    )[0]
    assert weighed.tolist() == (4 * plain).tolist()


def test_training_looks_a_little_below_the_cutoff() -> None:
    assert LambdaObjective(cutoff=10).levels == 13
    assert LambdaObjective(cutoff=10, truncation=30).levels == 30
    assert LambdaObjective().levels is None
    assert LambdaObjective(measure="AP", cutoff=10).levels is None
    assert (
        str(LambdaObjective(gain="linear", cutoff=5)) == "lambda nDCG(gain=linear,discount=log2)@5"
    )
    assert str(LambdaObjective(measure="ERR", cutoff=20)) == "lambda ERR@20"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "MAP"}, "measure='MAP'"),
        ({"beyond": "cut"}, "beyond='cut'"),
        ({"cutoff": 0}, "cutoff=0"),
        ({"truncation": 2.5}, "truncation=2.5"),
        ({"sigma": 0}, "sigma=0"),
        ({"sigma": "1"}, "sigma='1'"),
        ({"measure": ["AP"]}, "expected one of nDCG, AP"),
        ({"cutoff": True}, "cutoff=True"),
        ({"truncation": "10"}, "truncation='10'"),
        ({"cutoff": float("inf")}, "cutoff=inf"),
        ({"damped": "no"}, "damped='no': expected true or false"),
        ({"rel": "a"}, "rel='a': expected a grade"),
        ({"max_rel": float("nan")}, "max_rel=nan"),
        ({"gain": "cubic"}, "gain='?cubic"),
    ],
)
def test_impossible_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ir.OptionError, match=message):
        LambdaObjective(**options)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"labels": [1, 0], "group": [3]},
            "group: the sizes sum to 3, expected the number of rows, 2",
        ),
        ({"labels": [1, 0], "group": [2], "offsets": [0, 2]}, "found group and offsets"),
        ({"labels": [1, np.nan]}, "labels: found nan at row 1"),
        ({"labels": [1, 0], "up": [1.0]}, "up: found 1 entries"),
    ],
)
def test_lists_that_do_not_fit_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ir.InputError, match=message):
        LambdaObjective().prepare(**arguments)


def test_grades_above_the_scale_of_err_are_refused() -> None:
    with pytest.raises(ir.InputError, match="max_rel"):
        LambdaObjective(measure="ERR", max_rel=3).prepare([4, 0])


def test_scores_that_are_not_finite_are_refused() -> None:
    with pytest.raises(ir.InputError, match="scores: found inf at row 1"):
        LambdaObjective().prepare([1, 0]).gradients([0.0, np.inf])
