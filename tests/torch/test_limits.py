"""The losses against the measures of idealrank: limits as the temperature falls, bounds, and
weights that are differences.
"""

from functools import partial
from itertools import combinations

import numpy as np
import pytest
import torch

import idealrank as ir
from idealrank.training import torch as losses
from idealrank.training.torch.tensors import Batch
from tests.torch.cases import lists

pytestmark = pytest.mark.peers

CONVENTIONS = ["standard", "lightgbm", "sklearn"]
COLD = 1e-4
# The share that a reciprocal swap sends the wrong way falls with the temperature, not with its
# exponential.
TOLERANCE = {"bitonic network": 0.02}


def smooth(name: str, temperature: float, **options: object) -> torch.nn.Module:
    """A loss that is 1 - NDCG with a smooth order."""
    makers = {
        "approx": losses.ApproxNDCGLoss,
        "neural": losses.NeuralNDCGLoss,
        "pirank": losses.PiRankLoss,
        "fast soft ranks": losses.FastSoftRankNDCGLoss,
        "network": partial(losses.DiffNDCGLoss, swap="logistic"),
        "bitonic network": partial(losses.DiffNDCGLoss, network="bitonic", swap="reciprocal"),
    }
    return makers[name](temperature=temperature, reduction="none", **options)


SMOOTH = ["approx", "neural", "pirank", "fast soft ranks", "network", "bitonic network"]


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("cutoff", [None, 3])
def test_a_smooth_ndcg_tends_to_that_of_the_convention(
    name: str, convention: str, cutoff: int | None
) -> None:
    scores, labels = lists(10, (20, 8))
    labels[0] = 0  # what becomes of it is for the convention to say
    wanted = 1 - ir.ndcg(labels, scores, cutoff, convention=convention)
    distances = []
    for temperature in (1.0, 0.1, COLD):
        found = smooth(name, temperature, convention=convention, cutoff=cutoff)(
            scores, labels
        ).numpy()
        distances.append(np.abs(found - wanted).max())
    assert distances[-1] < TOLERANCE.get(name, 1e-6)
    assert distances[-1] < min(distances[:-1])


@pytest.mark.parametrize("discount", ["zipf(0.5)", "linear", "[1, 0.5, 0.25]", "geometric(2)"])
@pytest.mark.parametrize("name", SMOOTH)
def test_any_discount_of_the_conventions_is_the_limit(name: str, discount: str) -> None:
    scores, labels = lists(11)
    wanted = 1 - ir.ndcg(labels, scores, discount=discount, gain={0: 0, 1: 1, 2: 5, 3: 7, 4: 8})
    found = smooth(name, COLD, discount=discount, gain={0: 0, 1: 1, 2: 5, 3: 7, 4: 8})(
        scores, labels
    )
    assert found.numpy() == pytest.approx(wanted, abs=TOLERANCE.get(name, 1e-6))


@pytest.mark.parametrize("name", SMOOTH)
def test_a_mean_of_losses_is_the_mean_that_evaluate_reports(name: str) -> None:
    scores, labels = lists(12, (9, 6))
    ids = [f"d{i}" for i in range(6)]
    qrels = {f"q{q}": dict(zip(ids, ys, strict=True)) for q, ys in enumerate(labels.tolist())}
    run = {f"q{q}": dict(zip(ids, s, strict=True)) for q, s in enumerate(scores.tolist())}
    reported = ir.evaluate(qrels, run, "nDCG@3").mean()["nDCG@3"]
    loss = smooth(name, COLD, cutoff=3)
    loss.reduction = "mean"
    assert 1 - float(loss(scores, labels)) == pytest.approx(reported, abs=TOLERANCE.get(name, 1e-6))


def test_merging_keeps_the_top_and_so_the_limit() -> None:
    scores, labels = lists(19, (20, 31))
    wanted = 1 - ir.ndcg(labels, scores, 3)
    assert losses.PiRankLoss(temperature=COLD, cutoff=3, branching=6, reduction="none")(
        scores, labels
    ).numpy() == pytest.approx(wanted)


def test_soft_spearman_tends_to_spearman() -> None:
    scores, labels = lists(17)
    wanted = [1 - ir.spearman(ys, s) for ys, s in zip(labels, scores, strict=True)]
    assert losses.SoftSpearmanLoss(temperature=COLD, reduction="none")(
        scores, labels
    ).tolist() == pytest.approx(wanted, abs=1e-9)


def test_the_stochastic_form_is_the_mean_over_noisy_orders() -> None:
    scores, labels = lists(18, (4, 5))
    drawn = losses.NeuralNDCGLoss(
        temperature=COLD,
        samples=4000,
        sinkhorn=2,
        generator=torch.Generator().manual_seed(1),
        reduction="none",
    )
    noise = torch.distributions.Gumbel(torch.tensor(0.0, dtype=torch.float64), 1.0).sample(
        (4000, 4, 5)
    )
    wanted = np.mean([1 - ir.ndcg(labels, scores + one) for one in noise], axis=0)
    # Two means of 4,000 values each, whose deviation is at most 1/2: four standard errors of the
    # difference.
    assert drawn(scores, labels).numpy() == pytest.approx(wanted, abs=4 * 0.5 * (2 / 4000) ** 0.5)


def test_the_loss_of_linear_ndcg_tends_to_it_ties_included() -> None:
    scores, labels = lists(13)
    # ties, which the measure takes in every order, and the sigmoid as half wrong
    scores = scores.round()
    wanted = 1 - ir.ndcg(labels, scores, discount="linear")
    found = losses.LinearNDCGLoss(temperature=COLD, reduction="none")(scores, labels)
    assert found.numpy() == pytest.approx(wanted, abs=1e-9)
    for step in ("logistic", "hinge"):
        assert (
            losses.LinearNDCGLoss(step=step, reduction="none")(scores, labels).numpy()
            >= wanted - 1e-9
        ).all()


@pytest.mark.parametrize("cutoff", [None, 2])
def test_the_weight_of_lambdarank_is_the_change_of_ndcg_by_a_swap(cutoff: int | None) -> None:
    scores, labels = lists(14, (5,))
    before = ir.ndcg(labels, scores, cutoff)[0]
    loss = losses.LambdaLoss("lambdarank", cutoff=cutoff, below_cutoff="zero", reduction="sum")
    for i, j in combinations(range(5), 2):
        if labels[i] != labels[j]:
            swapped = scores.clone()
            swapped[[i, j]] = scores[[j, i]]
            change = abs(ir.ndcg(labels, swapped, cutoff)[0] - before)
            assert pair_weight(loss, scores, labels, i, j) == pytest.approx(change, abs=1e-12)


def pair_weight(
    loss: losses.LambdaLoss, scores: torch.Tensor, labels: torch.Tensor, i: int, j: int
) -> float:
    batch = Batch.of(scores, labels)
    return float(loss._weights(batch, batch.ranks())(i, i + 1)[0, 0, j])


def test_ndcg_loss2_is_above_the_loss_of_ndcg() -> None:
    scores, labels = lists(15, (200, 8))
    lost = 1 - ir.ndcg(labels, scores)
    assert (
        losses.LambdaLoss("ndcg-loss2", reduction="none")(scores, labels).numpy() >= lost - 1e-12
    ).all()


def test_the_softmax_loss_is_above_the_logarithm_of_the_rank() -> None:
    scores, labels = lists(16, (200, 8))
    labels = (labels == labels.max(-1, keepdim=True).values).long()
    labels[(labels.cumsum(-1) > 1)] = 0  # one relevant document
    ids = [f"d{i}" for i in range(8)]
    qrels = {f"q{q}": dict(zip(ids, ys, strict=True)) for q, ys in enumerate(labels.tolist())}
    run = {f"q{q}": dict(zip(ids, s, strict=True)) for q, s in enumerate(scores.tolist())}
    evaluation = ir.evaluate(qrels, run, "RR")
    found = losses.SoftmaxLoss(reduction="none")(scores, labels)
    by_query = dict(zip(evaluation.queries, evaluation.values[:, 0], strict=True))
    assert all(float(torch.exp(-found[q])) <= by_query[f"q{q}"] + 1e-12 for q in range(200))


@pytest.mark.parametrize("name", ["ListMLE", "p-ListMLE", "ListNet", "RankNet", "logistic"])
def test_the_other_losses_vanish_where_every_pair_is_far_in_the_right_order(name: str) -> None:
    makers = {
        "ListMLE": losses.ListMLELoss(),
        "p-ListMLE": losses.PListMLELoss(),
        "ListNet": losses.ListNetLoss(label_temperature=1e-3),
        "RankNet": losses.RankNetLoss(),
        "logistic": losses.PairwiseLogisticLoss(),
    }
    labels = torch.tensor([[3, 0, 2, 1]])
    assert ir.ndcg(labels, labels)[0] == 1
    assert float(makers[name](100.0 * labels, labels)) < 1e-6
