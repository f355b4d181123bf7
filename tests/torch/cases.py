"""The losses that tests go through, by name, and random lists."""

from collections.abc import Callable

import torch

from idealrank.training import torch as losses
from tests.torch import twins

T = 0.7  # a temperature at which everything is soft

# By name: the loss, and its value of one list of scores and labels by its twin.
LOSSES: dict[str, tuple[torch.nn.Module, Callable[..., float]]] = {
    "ApproxNDCG": (losses.ApproxNDCGLoss(temperature=T), lambda s, y: twins.approx_ndcg(s, y, T)),
    "ApproxNDCG@3": (
        losses.ApproxNDCGLoss(temperature=T, cutoff=3),
        lambda s, y: twins.approx_ndcg(s, y, T, 3),
    ),
    "NeuralNDCG": (
        losses.NeuralNDCGLoss(temperature=T, sinkhorn=20),
        lambda s, y: twins.sorted_ndcg(s, y, T, 20),
    ),
    "NeuralNDCG@3": (
        losses.NeuralNDCGLoss(temperature=T, sinkhorn=20, cutoff=3),
        lambda s, y: twins.sorted_ndcg(s, y, T, 20, 3),
    ),
    "NeuralNDCG unscaled": (
        losses.NeuralNDCGLoss(temperature=T, sinkhorn=0),
        lambda s, y: twins.sorted_ndcg(s, y, T, 0),
    ),
    "PiRank@3": (
        losses.PiRankLoss(temperature=T, cutoff=3),
        lambda s, y: twins.sorted_ndcg(s, y, T, 0, 3),
    ),
    **{
        f"{weighting}{at}": (
            losses.LambdaLoss(weighting, cutoff=cutoff),
            lambda s, y, weighting=weighting, cutoff=cutoff: twins.lambda_loss(
                s, y, weighting, cutoff
            ),
        )
        for weighting in ("none", "ndcg-loss1", "ndcg-loss2", "lambdarank", "ndcg-loss2++")
        for at, cutoff in (("", None), ("@2", 2))
    },
    "RankNet": (losses.RankNetLoss(), twins.rank_net),
    "RankNet with ties": (
        losses.RankNetLoss(ties="half"),
        lambda s, y: twins.rank_net(s, y, "half"),
    ),
    "pairwise logistic": (
        losses.PairwiseLogisticLoss(weights="label-difference"),
        twins.pairwise_logistic,
    ),
    "linear NDCG": (losses.LinearNDCGLoss(temperature=T), lambda s, y: twins.linear_ndcg(s, y, T)),
    "ListNet": (losses.ListNetLoss(), twins.list_net),
    "softmax": (losses.SoftmaxLoss(), twins.softmax_loss),
    "ListMLE": (losses.ListMLELoss(), twins.list_mle),
    "fast soft ranks": (
        losses.FastSoftRankNDCGLoss(temperature=3 * T),
        lambda s, y: twins.fast_soft_rank_ndcg(s, y, 3 * T),
    ),
    "fast soft ranks@3": (
        losses.FastSoftRankNDCGLoss(temperature=3 * T, cutoff=3),
        lambda s, y: twins.fast_soft_rank_ndcg(s, y, 3 * T, 3),
    ),
    "soft Spearman": (
        losses.SoftSpearmanLoss(temperature=3 * T),
        lambda s, y: twins.soft_spearman(s, y, 3 * T),
    ),
    "DiffNDCG": (
        losses.DiffNDCGLoss(temperature=T, swap="logistic"),
        lambda s, y: twins.network_ndcg(s, y, T),
    ),
    "p-ListMLE": (losses.PListMLELoss(), lambda s, y: twins.list_mle(s, y, positioned=True)),
}


def lists(
    seed: int = 0, shape: tuple[int, ...] = (6, 7), dtype: torch.dtype = torch.float64
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores without ties, and labels from 0 to 3, of which each list has one above 0."""
    drawn = torch.Generator().manual_seed(seed)
    scores = 2 * torch.randn(shape, generator=drawn, dtype=torch.float64)
    labels = torch.randint(0, 4, shape, generator=drawn)
    labels[..., 0] += 1
    return scores.to(dtype), labels


def padded(
    scores: torch.Tensor, labels: torch.Tensor, filling: float = float("nan")
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Pad lists before, between and after the documents, with values that must not change the
    loss.
    """
    places = torch.tensor([1, 2, 4, 5, 6, 7, 9][: scores.shape[-1]])
    shape = (*scores.shape[:-1], 11)
    wide, grades, mask = (
        torch.full(shape, filling, dtype=scores.dtype),
        torch.full(shape, 99),
        torch.zeros(shape, dtype=torch.bool),
    )
    wide[..., places], grades[..., places], mask[..., places] = scores.detach(), labels, True
    return wide, grades, mask
