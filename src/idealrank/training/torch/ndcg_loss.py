"""NDCG of a convention over tensors: gains, discounts and ideals, as `evaluate` has them."""

from abc import abstractmethod
from typing import Any

import numpy as np

from idealrank.conventions import Convention
from idealrank.errors import InputError
from idealrank.training.torch.list_loss import ListLoss, Reduction, count
from idealrank.training.torch.tensors import Batch, torch


class NDCGRules:
    """Gains, discounts and ideals of a convention, over tensors."""

    def __init__(
        self,
        *,
        cutoff: int | None = None,
        gain: Any = None,
        discount: Any = None,
        no_relevant: str | None = None,
        convention: "Convention | str" = "standard",
    ) -> None:
        switches = {"gain": gain, "discount": discount, "no_relevant": no_relevant}
        found = Convention.of(
            convention, **{name: value for name, value in switches.items() if value is not None}
        )
        self.cutoff = cutoff if cutoff is None else count("cutoff", cutoff)
        self.convention = found.name
        self._rules = found.rules

    def gains(self, batch: Batch) -> "torch.Tensor":
        """Gain of each document, 0 for padding, shape (lists, width)."""
        labels, gain = batch.labels, self._rules.gain
        if bool((labels < 0).any()):
            raise InputError(
                f"labels: found {float(labels.min()):g}, expected 0 or more; padding is said "
                f"by mask, not by a label"
            )
        if gain.text == "linear":
            return labels
        gained = (
            torch.exp2(labels) - 1
            if gain.text == "exp2"
            else _like(gain(labels.cpu().double().numpy()), labels)
        )
        return torch.where(batch.mask, gained, torch.zeros_like(gained))

    def weights(self, batch: Batch, *, cut: bool = True) -> "torch.Tensor":
        """Discount of each rank, shape (1 or lists, width); 0 below the cutoff, if it is cut."""
        width = batch.mask.shape[-1]
        ranks = np.arange(1, width + 1)[None]
        lengths = (
            batch.lengths.cpu().numpy()[:, None]
            if self._rules.discount.by_length
            else np.full((1, 1), width)
        )
        found = _like(self._rules.discount.at(*np.broadcast_arrays(ranks, lengths)), batch.labels)
        if cut and self.cutoff is not None:
            found[:, self.cutoff :] = 0
        return found

    def weights_at(
        self, batch: Batch, ranks: "torch.Tensor", table: "torch.Tensor"
    ) -> "torch.Tensor":
        """Discount of smooth ranks, by its formula or linear between the whole ranks of `table`;
        shape of `ranks`.
        """
        text = self._rules.discount.text
        if text == "log2":
            return 1 / torch.log2(1 + ranks)
        if text == "linear":
            return (batch.lengths[:, None] - ranks).clamp(min=0)
        below = ranks.detach().floor().clamp(1, max(1, table.shape[-1] - 1)).long()
        pair = [
            table.expand(ranks.shape[0], -1).gather(
                -1, (below - 1 + step).clamp(max=table.shape[-1] - 1)
            )
            for step in (0, 1)
        ]
        return pair[0] + (ranks - below) * (pair[1] - pair[0])

    def discounted(
        self, batch: Batch, ranks: "torch.Tensor", table: "torch.Tensor", cutoff_temperature: float
    ) -> "torch.Tensor":
        """Discount of smooth ranks, less below the cutoff."""
        weights = self.weights_at(batch, ranks, table)
        return (
            weights
            if self.cutoff is None
            else weights * torch.sigmoid((self.cutoff + 0.5 - ranks) / cutoff_temperature)
        )

    def ideal(self, gains: "torch.Tensor", weights: "torch.Tensor") -> "torch.Tensor":
        """DCG of the best order, shape (lists,)."""
        return (gains.sort(dim=-1, descending=True).values * weights).sum(-1)


class NDCGLoss(ListLoss, NDCGRules):
    """Base of the losses that are 1 - NDCG with a smooth order.

    Parameters
    ----------
    cutoff : int, optional
        The 10 of nDCG@10; default all ranks.
    gain, discount, no_relevant : optional
        Switches of the convention to change, as for `idealrank.ndcg`. A list without relevant
        documents has the loss 1 (``zero``) or 0 (``one``), or is in no mean (``left-out``,
        ``nan``); it has no gradient.
    convention : str or Convention
        Default ``"standard"``: linear gain, 1/log2(rank + 1), value 0 for a list without relevant
        documents.
    reduction : {"mean", "sum", "none"}
        As for all losses.
    """

    def __init__(
        self,
        *,
        cutoff: int | None = None,
        gain: Any = None,
        discount: Any = None,
        no_relevant: str | None = None,
        convention: "Convention | str" = "standard",
        reduction: Reduction = "mean",
    ) -> None:
        ListLoss.__init__(self, reduction=reduction)
        NDCGRules.__init__(
            self,
            cutoff=cutoff,
            gain=gain,
            discount=discount,
            no_relevant=no_relevant,
            convention=convention,
        )

    def values(self, batch: Batch) -> "tuple[torch.Tensor, torch.Tensor]":
        """1 - NDCG of each list."""
        gains = self.gains(batch)
        weights = self.weights(batch)
        ideal = self.ideal(gains, weights)
        relevant = ideal > 0
        value = self.dcg(batch, gains, weights) / torch.where(
            relevant, ideal, torch.ones_like(ideal)
        )
        without = 0.0 if self._rules.no_relevant == "one" else 1.0
        counted = (
            relevant
            if self._rules.no_relevant in {"left-out", "nan"}
            else torch.ones_like(relevant)
        )
        return torch.where(relevant, 1 - value, torch.full_like(value, without)), counted

    @abstractmethod
    def dcg(self, batch: Batch, gains: "torch.Tensor", weights: "torch.Tensor") -> "torch.Tensor":
        """Smooth DCG of each list, from gains of documents and weights of ranks."""


def _like(values: Any, like: "torch.Tensor") -> "torch.Tensor":
    return torch.as_tensor(np.asarray(values, dtype=np.float64)).to(
        device=like.device, dtype=like.dtype
    )
