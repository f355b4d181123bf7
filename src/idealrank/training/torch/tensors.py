"""PyTorch: lists of documents as its tensors, a loss over them, and sums over pairs a few rows of
the matrix at a time.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from idealrank._lazy import load_extra
from idealrank.errors import InputError, OptionError, shown

if TYPE_CHECKING:
    import torch  # pyright: ignore[reportMissingImports]
else:
    torch = load_extra("torch", "training with PyTorch", "torch")

# Score of padding in an order or a softmax; finite, so that no gradient becomes 0 * inf
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
        is_document = torch.ones_like(scores, dtype=torch.bool)
        if mask is not None:
            is_document = mask.to(scores.device)
        floats = scores if scores.dtype in {torch.float32, torch.float64} else scores.float()
        grades = labels.to(device=floats.device, dtype=floats.dtype)
        zero = floats.new_zeros(())
        # `where`, not a product: padding may hold NaN or infinities, and its gradient is 0 all the
        # same.
        return cls(
            scores=torch.where(is_document, floats, zero).reshape(-1, width),
            labels=torch.where(is_document, grades, zero).reshape(-1, width),
            mask=is_document.reshape(-1, width),
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
    for name, tensor in (("scores", scores), ("labels", labels)):
        if not isinstance(tensor, torch.Tensor) or tensor.dim() == 0:
            raise InputError(
                f"{name}: found {_kind(tensor)}, expected a tensor whose last dimension is the "
                f"documents of a list"
            )
    if not scores.is_floating_point():
        raise InputError(
            f"scores: found {scores.dtype}, expected a floating type, which has gradients"
        )
    if labels.shape != scores.shape:
        raise InputError(
            f"labels: found shape {tuple(labels.shape)}, expected {tuple(scores.shape)}, the shape "
            "of scores"
        )
    if mask is not None and (
        not isinstance(mask, torch.Tensor) or mask.dtype != torch.bool or mask.shape != scores.shape
    ):
        raise InputError(
            f"mask: found {_kind(mask)}, expected a bool tensor of shape {tuple(scores.shape)}, "
            "True for documents"
        )


def _kind(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"a tensor of {value.dtype} and shape {tuple(value.shape)}"
    return type(value).__name__


def wide(scores: "torch.Tensor") -> "torch.Tensor":
    """Scores in float64, where the device has it: sums over a thousand documents of large terms
    that cancel need it.
    """
    return scores.float() if scores.device.type == "mps" else scores.double()


__all__ = ["LOWEST", "Batch", "torch", "wide"]


Reduction = Literal["mean", "sum", "none"]

# 1 MB in float32, a few times over; larger blocks leave the cache and are slower
PAIRS_AT_ONCE = 1 << 18


class ListLoss(torch.nn.Module, ABC):
    """Base of the losses: called with scores, labels and a mask.

    Scores in float16 or bfloat16 are computed in float32, also under autocast, and their gradients
    come back in their own type. Padding may hold any number, NaN too: neither the value nor a
    gradient depends on it. A list without documents is in no mean.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}
        Mean over the lists that count, their sum, or a value a list, in the batch shape of the
        scores, NaN for a list that does not count.
    """

    def __init__(self, *, reduction: Reduction = "mean") -> None:
        super().__init__()
        self.reduction = choice("reduction", reduction, get_args(Reduction))

    def forward(
        self, scores: "torch.Tensor", labels: "torch.Tensor", mask: "torch.Tensor | None" = None
    ) -> "torch.Tensor":
        """The loss.

        Parameters
        ----------
        scores, labels : tensor, shape (..., documents)
            The last dimension is a list. Scores need a floating type; labels any type, a larger one
            being better.
        mask : bool tensor, same shape, optional
            True for documents, False for padding; default no padding.

        Returns
        -------
        tensor
            A scalar, or shape (...) for ``reduction="none"``; float32, or float64 for float64
            scores.

        Raises
        ------
        InputError
            A shape or a type is not as expected.
        """
        batch = Batch.of(scores, labels, mask)
        with torch.autocast(device_type=scores.device.type, enabled=False):
            values, counted = self.values(batch)
        counted = counted & batch.mask.any(-1)
        if self.reduction == "none":
            by_list = torch.where(counted, values, values.new_tensor(float("nan")))
            return by_list.reshape(scores.shape[:-1])
        total = torch.where(counted, values, values.new_zeros(())).sum()
        return total / counted.sum().clamp(min=1) if self.reduction == "mean" else total

    @abstractmethod
    def values(self, batch: Batch) -> "tuple[torch.Tensor, torch.Tensor]":
        """Value of each list, and whether it counts; both of shape (lists,)."""

    def extra_repr(self) -> str:
        """Options of the loss, as they were set."""
        return ", ".join(f"{name}={value!r}" for name, value in self.options().items())

    def options(self) -> dict[str, Any]:
        """Public options by name."""
        return {
            name: value
            for name, value in vars(self).items()
            if not name.startswith("_") and name != "training"
        }


def choice(name: str, value: Any, choices: tuple[Any, ...]) -> Any:
    """The value, if it is one of the choices."""
    if value not in choices:
        raise OptionError(f"{name}={shown(value)}: expected {' | '.join(map(str, choices))}")
    return value


def positive(name: str, value: float) -> float:
    """The value as a float, if it is above 0 and finite."""
    if not 0 < float(value) < float("inf"):
        raise OptionError(f"{name}={shown(value)}: expected a finite number above 0")
    return float(value)


def count(name: str, value: Any, least: int = 1) -> int:
    """The value, if it is a whole number of at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise OptionError(f"{name}={shown(value)}: expected a whole number of {least} or more")
    return value


Terms = Callable[["torch.Tensor", int, int], "torch.Tensor"]
ListTerms = Callable[[Batch, int, int], "torch.Tensor"]


class RowSums(torch.autograd.Function):
    """Sum over rows, whose gradient is added up in the forward pass."""

    @staticmethod
    def forward(ctx: Any, scores: "torch.Tensor", terms: Terms, rows: int) -> "torch.Tensor":
        """Sums of all rows, shape (lists,)."""
        needs_gradient = ctx.needs_input_grad[0]
        total = scores.new_zeros(scores.shape[0])
        gradient = torch.zeros_like(scores)
        for first in range(0, scores.shape[-1], rows):
            # a graph of these rows alone, which is freed before the next ones
            leaf = scores.detach().requires_grad_(needs_gradient)
            with torch.set_grad_enabled(needs_gradient):
                part = terms(leaf, first, min(first + rows, scores.shape[-1]))
                if part.requires_grad:
                    gradient += torch.autograd.grad(part.sum(), leaf)[0]
            total += part.detach()
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, upstream: "torch.Tensor") -> tuple["torch.Tensor", None, None]:
        """Gradient of the scores."""
        (gradient,) = ctx.saved_tensors
        return upstream[:, None] * gradient, None, None


def row_sums(scores: "torch.Tensor", terms: Terms, pairs_at_once: int) -> "torch.Tensor":
    """Sum of ``terms(scores, first, last)`` over ranges of rows, shape (lists,)."""
    rows = max(1, pairs_at_once // max(1, scores.numel()))
    summed: torch.Tensor = RowSums.apply(scores, terms, rows)
    return summed


def list_sums(batch: Batch, terms: ListTerms, lists_at_once: int) -> "torch.Tensor":
    """Values of lists that need all their pairs at once, a few lists at a time, shape (lists,)."""
    values = []
    for first in range(0, batch.scores.shape[0], max(1, lists_at_once)):
        part = batch.part(first, first + max(1, lists_at_once))
        all_pairs = part.scores.numel() * part.scores.shape[-1]
        values.append(row_sums(part.scores, partial(_part_terms, terms, part, first), all_pairs))
    return torch.cat(values) if values else batch.scores.sum(-1)


def _part_terms(
    terms: ListTerms, part: Batch, first: int, scores: "torch.Tensor", *_: int
) -> "torch.Tensor":
    # the range of rows is not used: it is all of them
    return terms(part.with_scores(scores), first, first + part.scores.shape[0])
