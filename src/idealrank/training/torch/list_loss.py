"""A loss over lists of documents: the mask, any batch shape, half precision, and the mean over
lists.
"""

from abc import ABC, abstractmethod
from typing import Any, Literal, get_args

from idealrank.errors import OptionError, shown
from idealrank.training.torch.tensors import Batch, torch

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
            return torch.where(counted, values, values.new_tensor(float("nan"))).reshape(
                scores.shape[:-1]
            )
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
