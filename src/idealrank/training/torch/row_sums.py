"""Sums over pairs of documents in flat memory: a few rows of the matrix of pairs at a time, each
with its gradient.
"""

from collections.abc import Callable
from typing import Any

from idealrank.training.torch.tensors import Batch, torch

Terms = Callable[["torch.Tensor", int, int], "torch.Tensor"]
ListTerms = Callable[[Batch, int, int], "torch.Tensor"]


class RowSums(torch.autograd.Function):
    """Sum over rows, whose gradient is added up in the forward pass."""

    @staticmethod
    def forward(ctx: Any, scores: "torch.Tensor", terms: Terms, rows: int) -> "torch.Tensor":
        """Sums of all rows, shape (lists,)."""
        needed = ctx.needs_input_grad[0]
        total, gradient = scores.new_zeros(scores.shape[0]), torch.zeros_like(scores)
        for first in range(0, scores.shape[-1], rows):
            held = scores.detach().requires_grad_(needed)
            with torch.set_grad_enabled(needed):
                part = terms(held, first, min(first + rows, scores.shape[-1]))
                if part.requires_grad:
                    gradient += torch.autograd.grad(part.sum(), held)[0]
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
        last = first + part.scores.shape[0]

        def of_part(
            scores: "torch.Tensor",
            *_: int,
            part: Batch = part,
            first: int = first,
            last: int = last,
        ) -> "torch.Tensor":
            return terms(part.with_scores(scores), first, last)

        values.append(row_sums(part.scores, of_part, part.scores.numel() * part.scores.shape[-1]))
    return torch.cat(values) if values else batch.scores.sum(-1)
