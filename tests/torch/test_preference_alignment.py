"""Scores of answers for preference alignment: by plain loops, with the signs of the authors' code
of DRPO.
"""

import pytest
import torch

from idealrank.errors import IdealrankError
from idealrank.training import torch as losses

pytestmark = pytest.mark.peers

LOG_PROBS = torch.tensor([[-6.0, -8.0, -3.0], [-2.0, -9.0, -4.0]], dtype=torch.float64)
LENGTHS = torch.tensor([[3, 2, 1], [2, 3, 4]])
REWARDS = torch.tensor([[0.1, 0.9, 0.5], [3.0, 1.0, 2.0]])


def naive_scores(
    averages: list[float],
    weights: list[float],
    rank_margin: float,
    adaptive: float,
    momentum: float,
) -> list[list[float]]:
    """Update the averages, by rank, and score: a margin adds to the worse answers, and takes their
    usual score from the better ones.
    """
    means = (LOG_PROBS / LENGTHS).tolist()
    ranks = [[sum(other > own for other in row) for own in row] for row in REWARDS.tolist()]
    for rank in range(3):
        found = [
            mean
            for row, order in zip(means, ranks, strict=True)
            for mean, at in zip(row, order, strict=True)
            if at == rank
        ]
        averages[rank] = momentum * averages[rank] + (1 - momentum) * sum(found) / len(found)
        weights[rank] = momentum * weights[rank] + (1 - momentum)
    return [
        [
            mean + rank_margin * (at + 1) - adaptive * averages[at] / weights[at]
            for mean, at in zip(row, order, strict=True)
        ]
        for row, order in zip(means, ranks, strict=True)
    ]


def test_scores_have_their_margins_and_follow_the_averages() -> None:
    policy = losses.RankPolicyScores(rank_margin=0.3, adaptive_margin=0.5, momentum=0.9).double()
    averages, weights = [0.0] * 3, [0.0] * 3
    for _ in range(3):
        wanted = naive_scores(averages, weights, 0.3, 0.5, 0.9)
        assert torch.allclose(
            policy(LOG_PROBS, LENGTHS, REWARDS),
            torch.tensor(wanted, dtype=torch.float64),
            rtol=1e-12,
        )


def test_both_margins_work_against_the_better_answer() -> None:
    equal, lengths = torch.full((1, 2), -4.0), torch.ones(1, 2)
    rewards = torch.tensor([[1.0, 0.0]])
    better, worse = losses.RankPolicyScores(rank_margin=0.5, adaptive_margin=0.0)(
        equal, lengths, rewards
    )[0]
    assert worse - better == pytest.approx(0.5)
    policy = losses.RankPolicyScores(rank_margin=0.0, adaptive_margin=1.0)
    # the better answer has had the higher score
    policy(torch.tensor([[-1.0, -5.0]]), lengths, rewards)
    policy.eval()
    better, worse = policy(equal, lengths, rewards)[0]
    assert worse - better == pytest.approx(4.0)


def test_evaluation_leaves_the_averages_alone_and_padding_has_no_score() -> None:
    policy = losses.RankPolicyScores().eval()
    mask = torch.tensor([[True, True, False]] * 2)
    scores = policy(LOG_PROBS, LENGTHS, REWARDS, mask)
    assert (policy.averages == 0).all()
    assert (scores[:, 2] == 0).all()


def test_mistakes_are_refused() -> None:
    for options in (
        {"rank_margin": -1.0},
        {"adaptive_margin": -0.1},
        {"momentum": 1.0},
        {"answers": 0},
    ):
        with pytest.raises(IdealrankError, match="expected"):
            losses.RankPolicyScores(**options)
    with pytest.raises(IdealrankError, match="found 3 answers to a prompt"):
        losses.RankPolicyScores(answers=2)(LOG_PROBS, LENGTHS, REWARDS)
