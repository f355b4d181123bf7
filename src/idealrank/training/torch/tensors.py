"""PyTorch, and lists of documents as its tensors."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from idealrank._lazy import load_extra
from idealrank.errors import InputError

if TYPE_CHECKING:
    import torch  # pyright: ignore[reportMissingImports]
else:
    torch = load_extra("torch", "training with PyTorch", "torch")

# a score of padding where an order or a softmax is asked for; finite, so that no gradient becomes 0
# * inf
LOWEST = -1e30


@dataclass(frozen=True)
class Batch:
    """Lists of documents, padded to one width."""

    scores: "torch.Tensor"
    labels: "torch.Tensor"
    mask: "torch.Tensor"

    @classmethod
    def of(cls, scores: Any, labels: Any, mask: Any = None) -> "Batch":
        """Lists from tensors of any batch shape, in float32 or wider."""
        _check(scores, labels, mask)
        width = scores.shape[-1]
        kept = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.to(scores.device)
        wide = scores if scores.dtype in {torch.float32, torch.float64} else scores.float()
        grades = labels.to(device=wide.device, dtype=wide.dtype)
        zero = wide.new_zeros(())
        # `where`, not a product: padding may hold NaN or infinities, and its gradient is 0 all the
        # same.
        return cls(
            *(
                part.reshape(-1, width)
                for part in (torch.where(kept, wide, zero), torch.where(kept, grades, zero), kept)
            )
        )

    @property
    def lengths(self) -> "torch.Tensor":
        """Documents of each list."""
        return self.mask.sum(-1)

    def with_scores(self, scores: "torch.Tensor") -> "Batch":
        """Lists with other scores of the same shape."""
        return Batch(scores, self.labels, self.mask)

    def part(self, first: int, last: int) -> "Batch":
        """Lists from `first` to before `last`."""
        return Batch(self.scores[first:last], self.labels[first:last], self.mask[first:last])

    def ranks(self) -> "torch.Tensor":
        """Rank of each document by descending score, from 1; equal scores keep their order, and
        padding follows all documents.
        """
        lowered = torch.where(
            self.mask, self.scores.detach(), self.scores.new_tensor(-float("inf"))
        )
        order = lowered.argsort(dim=-1, descending=True, stable=True)
        places = torch.arange(1, order.shape[-1] + 1, device=order.device).expand_as(order)
        return torch.empty_like(order).scatter_(-1, order, places)


def _check(scores: Any, labels: Any, mask: Any) -> None:
    for name, given in (("scores", scores), ("labels", labels)):
        if not isinstance(given, torch.Tensor) or given.dim() == 0:
            raise InputError(
                f"{name}: found {_kind(given)}, expected a tensor whose last dimension is the "
                f"documents of a list"
            )
    if not scores.is_floating_point():
        raise InputError(
            f"scores: found {scores.dtype}, expected a floating type, which has gradients"
        )
    if labels.shape != scores.shape:
        raise InputError(
            f"labels: found shape {tuple(labels.shape)}, expected {tuple(scores.shape)}, the "
            f"shape of scores"
        )
    if mask is not None and (
        not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool or mask.shape != scores.shape
    ):
        raise InputError(
            f"mask: found {_kind(mask)}, expected a bool tensor of shape "
            f"{tuple(scores.shape)}, True for documents"
        )


def _kind(given: Any) -> str:
    if isinstance(given, torch.Tensor):
        return f"a tensor of {given.dtype} and shape {tuple(given.shape)}"
    return type(given).__name__


def wide(scores: "torch.Tensor") -> "torch.Tensor":
    """Scores in float64, where the device has it: sums over a thousand documents of large terms
    that cancel need it.
    """
    return scores.float() if scores.device.type == "mps" else scores.double()


__all__ = ["LOWEST", "Batch", "torch", "wide"]
