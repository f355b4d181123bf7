"""NDCG of a convention over tensors: gains, discounts and ideals, as `evaluate` has them; and
ApproxNDCG, whose ranks are sums of sigmoids.
"""

from abc import abstractmethod
from typing import Any

import numpy as np

from idealrank.conventions import Convention
from idealrank.errors import InputError
from idealrank.training.torch.tensors import (
    PAIRS_AT_ONCE,
    Batch,
    ListLoss,
    Reduction,
    count,
    positive,
    row_sums,
    torch,
)


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
        parsed = Convention.of(
            convention, **{name: value for name, value in switches.items() if value is not None}
        )
        self.cutoff = cutoff if cutoff is None else count("cutoff", cutoff)
        self.convention = parsed.name
        self._rules = parsed.rules

    def gains(self, batch: Batch) -> "torch.Tensor":
        """Gain of each document, 0 for padding, shape (lists, width)."""
        labels = batch.labels
        gain = self._rules.gain
        if bool((labels < 0).any()):
            raise InputError(
                f"labels: found {float(labels.min()):g}, expected 0 or more; padding is said by "
                "mask, not by a label"
            )
        if gain.text == "linear":
            return labels
        if gain.text == "exp2":
            gains = torch.exp2(labels) - 1
        else:
            gains = _like(gain(labels.cpu().double().numpy()), labels)
        return torch.where(batch.mask, gains, torch.zeros_like(gains))

    def weights(self, batch: Batch, *, cut: bool = True) -> "torch.Tensor":
        """Discount of each rank, shape (1 or lists, width); 0 below the cutoff, if it is cut."""
        width = batch.mask.shape[-1]
        ranks = np.arange(1, width + 1)[None]
        lengths = np.full((1, 1), width)
        if self._rules.discount.by_length:
            lengths = batch.lengths.cpu().numpy()[:, None]
        rank_table, length_table = np.broadcast_arrays(ranks, lengths)
        discounts = _like(self._rules.discount.at(rank_table, length_table), batch.labels)
        if cut and self.cutoff is not None:
            discounts[:, self.cutoff :] = 0
        return discounts

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
        by_list = table.expand(ranks.shape[0], -1)
        last = table.shape[-1] - 1
        at_rank = by_list.gather(-1, (below - 1).clamp(max=last))
        at_next = by_list.gather(-1, below.clamp(max=last))
        return at_rank + (ranks - below) * (at_next - at_rank)

    def discounted(
        self, batch: Batch, ranks: "torch.Tensor", table: "torch.Tensor", cutoff_temperature: float
    ) -> "torch.Tensor":
        """Discount of smooth ranks, less below the cutoff."""
        weights = self.weights_at(batch, ranks, table)
        if self.cutoff is None:
            return weights
        return weights * torch.sigmoid((self.cutoff + 0.5 - ranks) / cutoff_temperature)

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
        loss_without = 0.0 if self._rules.no_relevant == "one" else 1.0
        counted = torch.ones_like(relevant)
        if self._rules.no_relevant in {"left-out", "nan"}:
            counted = relevant
        return torch.where(relevant, 1 - value, torch.full_like(value, loss_without)), counted

    @abstractmethod
    def dcg(self, batch: Batch, gains: "torch.Tensor", weights: "torch.Tensor") -> "torch.Tensor":
        """Smooth DCG of each list, from gains of documents and weights of ranks."""


def _like(values: Any, like: "torch.Tensor") -> "torch.Tensor":
    return torch.as_tensor(np.asarray(values, dtype=np.float64)).to(
        device=like.device, dtype=like.dtype
    )


class ApproxNDCGLoss(NDCGLoss):
    """1 - NDCG over smooth ranks.

    ``rank(i) = 1 + sum over j != i of 1 / (1 + exp((s_i - s_j) / temperature))``, which the
    discount takes as it takes whole ranks (between ranks without a formula, it is linear). With a
    cutoff k, a document counts by ``1 / (1 + exp((rank - k - 1/2) / cutoff_temperature))``. As the
    temperatures fall, the value tends to 1 - NDCG of the convention, for lists without tied scores.

    Parameters
    ----------
    temperature : float
        Of the sigmoid, in units of the scores; the paper's 1 / alpha.
    cutoff_temperature : float, optional
        Of the soft cutoff, in ranks; default `temperature`.
    pairs_at_once : int
        Pairs of documents in memory at a time.
    **options
        ``cutoff``, ``gain``, ``discount``, ``no_relevant``, ``convention`` and ``reduction``, as
        for `NDCGLoss`.

    References
    ----------
    Qin, Liu and Li (2010), A general approximation framework for direct optimization of information
    retrieval measures. Information Retrieval 13(4): position function, truncation function and
    ApproxNDCG.

    Examples
    --------
    >>> import idealrank as ir
    >>> labels, scores = torch.tensor([[0, 2, 1]]), torch.tensor([[3.0, 2.0, 1.0]])
    >>> 1 - ir.ndcg(labels, scores)
    array([0.33032818])
    >>> (
    ...     ApproxNDCGLoss(temperature=0.01)(scores, labels),
    ...     ApproxNDCGLoss(temperature=1.0)(scores, labels),
    ... )
    (tensor(0.3303), tensor(0.3152))
    """

    def __init__(
        self,
        *,
        temperature: float = 1.0,
        cutoff_temperature: float | None = None,
        pairs_at_once: int = PAIRS_AT_ONCE,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.temperature = positive("temperature", temperature)
        self.cutoff_temperature = positive(
            "cutoff_temperature", temperature if cutoff_temperature is None else cutoff_temperature
        )
        self.pairs_at_once = count("pairs_at_once", pairs_at_once)

    def dcg(self, batch: Batch, gains: "torch.Tensor", weights: "torch.Tensor") -> "torch.Tensor":
        """Sum of gains by the discounts of smooth ranks."""
        table = self.weights(batch, cut=False)

        def terms(scores: "torch.Tensor", first: int, last: int) -> "torch.Tensor":
            above = torch.sigmoid(
                (scores[:, None, :] - scores[:, first:last, None]) / self.temperature
            )
            counted = torch.where(batch.mask[:, None, :], above, torch.zeros_like(above))
            ranks = 0.5 + counted.sum(-1)  # a document is above itself by 1/2
            discounts = self.discounted(batch, ranks, table, self.cutoff_temperature)
            return (gains[:, first:last] * discounts).sum(-1)

        return row_sums(batch.scores, terms, self.pairs_at_once)
