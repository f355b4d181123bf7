"""Memory of the losses in long lists: no tensor as large as the matrix of pairs is ever made."""

from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from tests.torch.cases import LOSSES, lists

pytestmark = pytest.mark.peers

LISTS, WIDTH, PAIRS = 8, 1000, 1 << 16
# One list at a time, whose matrix Sinkhorn's steps need.
WHOLE_LISTS = {"NeuralNDCG", "NeuralNDCG@3"}


class Largest(TorchDispatchMode):
    """Elements of the largest tensor that an operation stores; views and expanded tensors store
    none of their own.
    """

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for one in made if isinstance(made, tuple | list) else [made]:
            if isinstance(one, torch.Tensor):
                self.elements = max(
                    self.elements, one.untyped_storage().nbytes() // one.element_size()
                )
        return made


# DiffNDCG has as many layers as a list has documents: a thousand are too many steps for a test.
@pytest.mark.parametrize(
    ("name", "width"), [(name, 128 if name == "DiffNDCG" else WIDTH) for name in sorted(LOSSES)]
)
def test_no_tensor_is_as_large_as_the_pairs_of_the_batch(name: str, width: int) -> None:
    scores, labels = lists(30, (LISTS, width), torch.float32)
    scores.requires_grad_()
    loss = LOSSES[name][0]
    loss.reduction = "mean"
    held = getattr(loss, "pairs_at_once", PAIRS)
    with Largest() as largest:
        try:
            loss.pairs_at_once = PAIRS
            loss(scores, labels).backward()
        finally:
            loss.pairs_at_once = held
    assert scores.grad.isfinite().all()
    assert largest.elements <= (
        width * width if name in WHOLE_LISTS else min(PAIRS, LISTS * width**2 // 4) + LISTS * width
    )
