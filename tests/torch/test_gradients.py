"""Gradients of the losses, by differences of their values in float64."""

import pytest
import torch

from tests.torch.cases import LOSSES, lists, padded

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("reduction", ["mean", "none"])
def test_the_gradient_is_that_of_the_value(name: str, reduction: str) -> None:
    scores, labels, mask = padded(*lists(7, (2, 6)), filling=0.0)
    loss = LOSSES[name][0]
    loss.reduction = reduction
    # Weights of LambdaLoss are constants of the ranks, which small steps do not change.
    assert torch.autograd.gradcheck(
        lambda s: loss(s, labels, mask), scores.requires_grad_(), atol=1e-6
    )


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_descending_the_gradient_lowers_the_loss(name: str) -> None:
    scores, labels = lists(8)
    loss = LOSSES[name][0]
    loss.reduction = "mean"
    scores.requires_grad_()
    before = loss(scores, labels)
    (gradient,) = torch.autograd.grad(before, scores)
    after = loss((scores - 1e-3 * gradient / gradient.norm()).detach(), labels)
    assert after < before


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_no_gradient_is_computed_where_none_is_asked_for(name: str) -> None:
    scores, labels = lists(9)
    assert not LOSSES[name][0](scores, labels).requires_grad
    with torch.no_grad():
        assert not LOSSES[name][0](scores.requires_grad_(), labels).requires_grad
