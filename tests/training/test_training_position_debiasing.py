"""Unbiased LambdaMART: estimates of position bias by plain loops, and mistakes in its options."""

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

from idealrank.errors import IdealrankError
from idealrank.training import LambdaObjective, UnbiasedObjective
from idealrank.training.boosting import RoundGradients

GROUP = [3, 1, 4, 2]
LABELS = np.array([0, 1, 0, 1, 1, 0, 0, 1, 0, 0])
POSITIONS = np.array([1, 2, 3, 1, 2, 1, 4, 3, 1, 2])
SCORES = np.array([0.3, -0.2, 0.9, 0.1, 0.8, -1.0, 0.45, 0.2, 0.0, 1.0])


def naive_ratios(
    clicked: dict[int, float], unclicked: dict[int, float], *, even: bool, power: float
) -> tuple[Any, Any]:
    """The estimates after a round, from those before it."""
    sums: tuple[dict[int, float], dict[int, float]] = ({}, {})
    start = 0
    for size in GROUP:
        rows = range(start, start + size)
        start += size
        order = sorted(rows, key=lambda row: -SCORES[row])
        n_clicks = sum(LABELS[row] for row in rows)
        ideal = 1.0 if even else sum(1 / math.log2(rank + 2) for rank in range(n_clicks)) or 1.0
        for i in rows:
            for j in rows:
                if LABELS[i] > LABELS[j]:
                    weight = (
                        1.0
                        if even
                        else abs(
                            1 / math.log2(order.index(i) + 2) - 1 / math.log2(order.index(j) + 2)
                        )
                        / ideal
                    )
                    loss = weight * math.log(1 + math.exp(SCORES[j] - SCORES[i]))
                    k, at = POSITIONS[i], POSITIONS[j]
                    sums[0][k] = sums[0].get(k, 0.0) + loss / unclicked[at]
                    sums[1][at] = sums[1].get(at, 0.0) + loss / clicked[k]
    found = tuple(
        {k: (one[k] / one[1]) ** power if 1 in one and k in one else 1.0 for k in range(1, 5)}
        for one in sums
    )
    return found[0], found[1]


@pytest.mark.parametrize(
    ("objective", "even"),
    [
        (LambdaObjective(gain="linear"), False),
        (LambdaObjective(measure="pairs", gain="linear"), True),
    ],
)
def test_estimates_are_ratios_of_losses(objective: LambdaObjective, *, even: bool) -> None:
    labels, positions = LABELS.copy(), POSITIONS.copy()
    lists = UnbiasedObjective(objective=objective, regularisation=0.5).prepare(
        labels, GROUP, positions=positions
    )
    clicked, unclicked = (dict.fromkeys(range(1, 5), 1.0) for _ in range(2))
    for _ in range(3):
        up = np.array([1 / clicked[k] for k in POSITIONS])
        down = np.array([1 / unclicked[k] for k in POSITIONS])
        wanted = objective.prepare(labels, GROUP, up=up, down=down).gradients(SCORES)
        found = lists.gradients(SCORES)
        assert all((one == other).all() for one, other in zip(found, wanted, strict=True))
        clicked, unclicked = naive_ratios(clicked, unclicked, even=even, power=1 / 1.5)
        # Sums in another order: the last digits.
        assert lists.clicked == pytest.approx([clicked[k] for k in range(1, 5)], rel=1e-12)
        assert lists.unclicked == pytest.approx([unclicked[k] for k in range(1, 5)], rel=1e-12)


def test_pairs_of_many_lists_are_found_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = UnbiasedObjective().prepare(LABELS, GROUP, positions=POSITIONS)
    monkeypatch.setattr("idealrank.training.position_debiasing._BLOCK", 5)
    parts = UnbiasedObjective().prepare(LABELS, GROUP, positions=POSITIONS)
    assert (parts.higher == whole.higher).all()
    assert (parts.lower == whole.lower).all()


def test_the_bias_of_unclicked_documents_may_be_left_out() -> None:
    lists = UnbiasedObjective(bias="clicked").prepare(LABELS, GROUP, positions=POSITIONS)
    both = UnbiasedObjective().prepare(LABELS, GROUP, positions=POSITIONS)
    lists.gradients(SCORES)
    both.gradients(SCORES)
    assert (lists.unclicked == 1).all()
    assert (lists.clicked == both.clicked).all()


def test_lists_without_a_pair_keep_their_estimates() -> None:
    lists = UnbiasedObjective().prepare([0, 0, 1], [2, 1], positions=[1, 2, 1])
    lists.gradients([0.0, 1.0, 2.0])
    assert lists.clicked.tolist() == lists.unclicked.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "AP", "positions": POSITIONS}, "expected nDCG or pairs"),
        (
            {"positions": POSITIONS, "regularisation": -1.0},
            "regularisation=-1.0: expected a number of 0 or more",
        ),
        ({"regularisation": 1.0}, "expected only with positions"),
        ({"positions": POSITIONS, "propensity": 1 / POSITIONS}, "expected one of them"),
        ({"propensity": 0 * POSITIONS}, "expected above 0"),
    ],
)
def test_options_for_clicks_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(IdealrankError, match=message):
        RoundGradients.of(options)


@pytest.mark.parametrize("positions", [POSITIONS[:-1], POSITIONS - 1, POSITIONS + 0.5])
def test_a_position_is_a_rank_of_each_row(positions: Any) -> None:
    with pytest.raises(
        IdealrankError,
        match=r"positions: found .*(expected one per row, 10|expected whole numbers from 1, the "
        r"top)",
    ):
        UnbiasedObjective().prepare(LABELS, GROUP, positions=positions)


def test_an_objective_of_lightgbm_keeps_its_lists_when_it_is_copied_and_drops_them_when_it_is_pickled() -> (  # noqa: E501
    None
):
    from idealrank.training.lightgbm import objective

    found = objective(positions=POSITIONS, api="sklearn")
    copy.deepcopy({"objective": found})["objective"](LABELS, SCORES, None, np.array(GROUP))
    assert found.lists.clicked.size == 4
    assert pickle.loads(pickle.dumps(found)).lists is None


def test_propensities_multiply_pairs_by_the_inverse_of_the_clicked_row() -> None:
    from idealrank.training.lightgbm import objective

    weighted = objective(propensity=1 / POSITIONS, damped=False, api="sklearn")(
        LABELS, SCORES, None, np.array(GROUP)
    )
    wanted = LambdaObjective(damped=False).prepare(LABELS, GROUP, up=POSITIONS).gradients(SCORES)
    assert all((one == other).all() for one, other in zip(weighted, wanted, strict=True))
