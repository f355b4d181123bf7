"""Values of the losses: as their definitions have them, whatever the padding, the shape of the
batch and the type of the scores.
"""

import pytest
import torch

from idealrank.errors import IdealrankError
from idealrank.training import torch as losses
from tests.torch.cases import LOSSES, lists, padded

pytestmark = pytest.mark.peers
NAMES = sorted(LOSSES)


def per_list(name: str) -> torch.nn.Module:
    """The loss with a value for each list."""
    loss = LOSSES[name][0]
    loss.reduction = "none"
    return loss


@pytest.mark.parametrize("name", NAMES)
def test_a_loss_is_what_its_paper_defines(name: str) -> None:
    scores, labels = lists()
    wanted = [
        LOSSES[name][1](s, [float(y) for y in ys])
        for s, ys in zip(scores.tolist(), labels.tolist(), strict=True)
    ]
    # Sinkhorn's products and sums over pairs in another order: a few units in the last place.
    assert per_list(name)(scores, labels).tolist() == pytest.approx(wanted, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("filling", [float("nan"), float("inf"), 0.0])
def test_padding_does_not_matter(name: str, filling: float) -> None:
    scores, labels = lists(1)
    wide, grades, mask = padded(scores, labels, filling)
    wide.requires_grad_()
    loss = per_list(name)
    found = loss(wide, grades, mask)
    found.sum().backward()

    assert torch.allclose(found, loss(scores, labels), rtol=1e-10)
    assert wide.grad[~mask].eq(0).all()
    assert wide.grad.isfinite().all()


@pytest.mark.parametrize("name", NAMES)
def test_any_batch_shape_is_taken(name: str) -> None:
    scores, labels = lists(2, (2, 3, 5))
    loss = per_list(name)
    assert loss(scores, labels).shape == (2, 3)
    assert torch.allclose(loss(scores, labels)[1, 2], loss(scores[1, 2], labels[1, 2]))
    assert loss(scores[:0], labels[:0]).shape == (0, 3)


@pytest.mark.parametrize("name", NAMES)
def test_a_list_of_one_or_no_document_has_a_finite_gradient(name: str) -> None:
    scores, labels = lists(3, (3, 4))
    mask = torch.tensor([[True] * 4, [True, False, False, False], [False] * 4])
    scores.requires_grad_()
    loss = LOSSES[name][0]
    loss.reduction = "mean"
    value = loss(scores, labels, mask)
    value.backward()
    assert value.isfinite()
    assert scores.grad.isfinite().all()
    assert scores.grad[2].eq(0).all()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_is_computed_in_single(name: str, kind: torch.dtype) -> None:
    scores, labels = lists(4, dtype=kind)
    scores = (30 * scores).requires_grad_()  # differences whose exponential float16 does not hold
    loss = LOSSES[name][0]
    loss.reduction = "mean"
    with torch.autocast("cpu", dtype=torch.bfloat16):
        value = loss(scores, labels)
    value.backward()

    exact = loss(scores.detach().double(), labels)
    assert value.dtype == torch.float32
    assert scores.grad.dtype == kind
    assert scores.grad.isfinite().all()
    # float32 holds seven digits; softmax exponents reach a thousand
    assert float(value.detach()) == pytest.approx(float(exact), rel=1e-4)


@pytest.mark.parametrize(
    "name", [name for name in NAMES if hasattr(LOSSES[name][0], "pairs_at_once")]
)
def test_the_value_does_not_depend_on_how_many_pairs_are_held(name: str) -> None:
    scores, labels = lists(5)
    loss = per_list(name)
    values = []
    for loss.pairs_at_once in (1, 60, 1 << 22):
        held = scores.clone().requires_grad_()
        value = loss(held, labels)
        value.sum().backward()
        values.append((value.detach(), held.grad))
    for value, gradient in values[1:]:
        assert torch.allclose(value, values[0][0], rtol=1e-12)
        assert torch.allclose(gradient, values[0][1], rtol=1e-9, atol=1e-12)


def test_lists_that_do_not_count_are_in_no_mean() -> None:
    scores, labels = torch.tensor([[1.0, 2.0], [1.0, 2.0]]), torch.tensor([[1, 0], [0, 0]])
    both = losses.ApproxNDCGLoss(no_relevant="left-out")
    assert both(scores, labels) == both(scores[:1], labels[:1])
    assert losses.ApproxNDCGLoss(no_relevant="left-out", reduction="none")(
        scores, labels
    ).isnan().tolist() == [False, True]
    assert losses.ApproxNDCGLoss(reduction="none")(scores, labels)[1] == 1
    assert losses.ApproxNDCGLoss(no_relevant="one", reduction="none")(scores, labels)[1] == 0


def test_pair_mean_divides_by_the_pairs_of_the_batch() -> None:
    scores, labels = lists(6)
    pairs = sum(int((ys[:, None] > ys).sum()) for ys in labels)
    by_pair = losses.LambdaLoss("none", reduction="pair-mean")(scores, labels)
    assert float(by_pair) == pytest.approx(
        float(losses.LambdaLoss("none", reduction="sum")(scores, labels)) / pairs
    )


WRONG = {
    "labels of another shape": lambda: losses.ListNetLoss()(torch.zeros(2, 3), torch.zeros(3)),
    "mask of numbers": lambda: losses.ListNetLoss()(torch.zeros(2), torch.zeros(2), torch.ones(2)),
    "whole scores": lambda: losses.ListNetLoss()(torch.tensor([1, 2]), torch.zeros(2)),
    "a list": lambda: losses.ListNetLoss()([1.0, 2.0], torch.zeros(2)),
    "a label for padding": lambda: losses.ApproxNDCGLoss()(torch.zeros(2), torch.tensor([1, -1])),
    "temperature 0": lambda: losses.ApproxNDCGLoss(temperature=0),
    "cutoff 0": lambda: losses.ApproxNDCGLoss(cutoff=0),
    "unknown weighting": lambda: losses.LambdaLoss("ndcg"),
    "unknown reduction": lambda: losses.ListMLELoss(reduction="average"),
    "unknown convention": lambda: losses.ApproxNDCGLoss(convention="trec"),
    "branching below twice the cutoff": lambda: losses.PiRankLoss(cutoff=10, branching=16),
    "cutoff of a whole list": lambda: losses.LinearNDCGLoss(cutoff=10),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_argument_is_refused_with_what_is_expected(case: str) -> None:
    with pytest.raises(IdealrankError, match="expected"):
        WRONG[case]()
