"""Values beside allRank 1.4.3, whose lists are padded with labels of -1."""

import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
import torch

from idealrank.training import torch as losses
from tests.torch.cases import lists

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]


def single(seed: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Lists of up to seven documents in float32, as allRank has them, with the mask of the first
    few.
    """
    scores, labels = lists(seed, (5, 7), torch.float32)
    return scores, labels, torch.arange(7) < torch.tensor([[7], [5], [2], [6], [7]])


def peer(name: str) -> Callable[..., Any]:
    """A loss of allRank. Its modules for data and models want a torchvision and a cloud client of
    2021; the losses want a constant and a device of them."""
    loading = types.ModuleType("allrank.data.dataset_loading")
    loading.PADDED_Y_VALUE = -1  # type: ignore[attr-defined]
    devices = types.ModuleType("allrank.models.model_utils")
    devices.get_torch_device = lambda: torch.device("cpu")  # type: ignore[attr-defined]
    sys.modules.setdefault("allrank.data.dataset_loading", loading)
    sys.modules.setdefault("allrank.models.model_utils", devices)
    from allrank.models import losses as theirs

    return getattr(theirs, name)


def called(name: str, **options: object) -> float:
    scores, labels, mask = single(21)
    return float(peer(name)(scores.clone(), torch.where(mask, labels, -1).float(), **options))


SAME = {
    "listNet": losses.ListNetLoss(),
    "neuralNDCG": losses.NeuralNDCGLoss(gain="exp2", sinkhorn=50),
    "neuralNDCG@3": losses.NeuralNDCGLoss(gain="exp2", sinkhorn=50, cutoff=3),
    "neuralNDCG_transposed": losses.NeuralNDCGLoss(gain="exp2", sinkhorn=50),
    "rankNet": losses.RankNetLoss(reduction="pair-mean"),
    **{
        f"lambdaLoss {scheme}": losses.LambdaLoss(weighting, gain="exp2", reduction="sum")
        for scheme, weighting in {
            "ndcgLoss1_scheme": "ndcg-loss1",
            "ndcgLoss2_scheme": "ndcg-loss2",
            "lambdaRank_scheme": "lambdarank",
            "ndcgLoss2PP_scheme": "ndcg-loss2++",
            "rankNet_scheme": "none",
        }.items()
    },
}


@pytest.mark.parametrize("name", SAME)
def test_the_value_is_that_of_allrank(name: str) -> None:
    scores, labels, mask = single(21)
    function, _, scheme = name.replace("@3", "").partition(" ")
    options = (
        {"weighing_scheme": scheme, "reduction": "sum"}
        if scheme
        else {"k": 3}
        if "@3" in name
        else {}
    )
    found = float(SAME[name](scores, labels, mask))
    # Neural NDCG is returned with a minus there, and not taken from 1.
    wanted = (
        1 + called(function, **options) if "neuralNDCG" in name else called(function, **options)
    )
    # float32, and Sinkhorn's steps stop at a tolerance there
    assert found == pytest.approx(wanted, rel=1e-4)


def test_list_mle_is_that_of_allrank_where_no_labels_are_equal() -> None:
    scores, _, _ = single(22)
    labels = torch.stack(
        [torch.randperm(7, generator=torch.Generator().manual_seed(seed)) for seed in range(5)]
    )
    assert float(losses.ListMLELoss()(scores, labels)) == pytest.approx(
        float(peer("listMLE")(scores.clone(), labels.float())), rel=1e-5
    )
