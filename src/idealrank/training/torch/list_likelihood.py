"""Losses that are likelihoods of a whole list: ListNet, softmax, ListMLE and p-ListMLE."""

from typing import Any, Literal

from idealrank.training.torch.tensors import LOWEST, Batch, ListLoss, choice, positive, torch, wide


def log_shares(scores: "torch.Tensor", mask: "torch.Tensor") -> "torch.Tensor":
    """Logarithm of the softmax over the documents of a list, 0 for padding."""
    shares = torch.log_softmax(torch.where(mask, scores, scores.new_tensor(LOWEST)), dim=-1)
    return torch.where(mask, shares, torch.zeros_like(shares))


class ListNetLoss(ListLoss):
    """Cross entropy between the softmax of the labels and that of the scores.

    ``- sum over j of softmax(labels / label_temperature)_j log softmax(scores / temperature)_j``,
    the top-one form of the paper.

    Parameters
    ----------
    temperature, label_temperature : float
        In units of the scores and of the labels.
    **options
        ``reduction``, as for all losses.

    References
    ----------
    Cao, Qin, Liu, Tsai and Li (2007), Learning to rank: from pairwise approach to listwise
    approach. ICML: top one probability.

    Examples
    --------
    >>> ListNetLoss()(torch.tensor([[2.0, 0.0]]), torch.tensor([[1, 0]]))
    tensor(0.6648)
    """

    def __init__(
        self, *, temperature: float = 1.0, label_temperature: float = 1.0, **options: Any
    ) -> None:
        super().__init__(**options)
        self.temperature = positive("temperature", temperature)
        self.label_temperature = positive("label_temperature", label_temperature)

    def values(self, batch: Batch) -> "tuple[torch.Tensor, torch.Tensor]":
        """Cross entropy of each list."""
        label_shares = torch.where(
            batch.mask,
            log_shares(batch.labels / self.label_temperature, batch.mask).exp(),
            torch.zeros_like(batch.scores),
        )
        score_shares = log_shares(batch.scores / self.temperature, batch.mask)
        entropy = -(label_shares * score_shares).sum(-1)
        return entropy, batch.mask.any(-1)


class SoftmaxLoss(ListLoss):
    """Cross entropy between the labels, as shares of their sum, and the softmax of the scores.

    ``- sum over j of y_j / sum(y) log softmax(scores / temperature)_j``. With one relevant
    document, ``exp(-loss)`` is at most its reciprocal rank (at temperature 1 and below). A list
    without a label above 0 has no such loss, and is in no mean.

    Parameters
    ----------
    temperature : float
        In units of the scores.
    labels : {"share", "raw"}
        With ``raw``, labels are not divided by their sum, and lists with larger labels weigh more.
    **options
        ``reduction``, as for all losses.

    References
    ----------
    Bruch, Wang, Bendersky and Najork (2019), An analysis of the softmax cross entropy loss for
    learning-to-rank with binary relevance. ICTIR: the loss, and its bound on mean reciprocal rank.

    Examples
    --------
    >>> SoftmaxLoss()(torch.tensor([[0.0, 0.0]]), torch.tensor([[3, 0]]))
    tensor(0.6931)
    """

    def __init__(
        self, *, temperature: float = 1.0, labels: Literal["share", "raw"] = "share", **options: Any
    ) -> None:
        super().__init__(**options)
        self.temperature = positive("temperature", temperature)
        self.labels = choice("labels", labels, ("share", "raw"))

    def values(self, batch: Batch) -> "tuple[torch.Tensor, torch.Tensor]":
        """Cross entropy of each list."""
        total = batch.labels.sum(-1)
        relevant = total > 0
        divisor = torch.ones_like(total)
        if self.labels == "share":
            divisor = torch.where(relevant, total, divisor)
        shares = log_shares(batch.scores / self.temperature, batch.mask)
        return -(batch.labels * shares).sum(-1) / divisor, relevant


class ListMLELoss(ListLoss):
    """Negative log likelihood of the order by label, under the Plackett-Luce model of the scores.

    ``sum over ranks i of log(sum over j >= i of exp(s_j)) - s_i``, the documents in the wanted
    order.

    Parameters
    ----------
    temperature : float
        In units of the scores.
    order : {"labels", "input"}
        The wanted order: by descending label, or as the documents come.
    ties : {"input", "random"}
        Order of documents with equal labels: as they come, or drawn anew each time.
    generator : torch.Generator, optional
        Of the drawn orders, on the device of the scores; default PyTorch's own.
    **options
        ``reduction``, as for all losses.

    References
    ----------
    Xia, Liu, Wang, Zhang and Li (2008), Listwise approach to learning to rank: theory and
    algorithm. ICML: likelihood loss.

    Examples
    --------
    >>> ListMLELoss()(torch.tensor([[0.0, 0.0, 0.0]]), torch.tensor([[2, 1, 0]]))
    tensor(1.7918)
    """

    def __init__(
        self,
        *,
        temperature: float = 1.0,
        order: Literal["labels", "input"] = "labels",
        ties: Literal["input", "random"] = "input",
        generator: "torch.Generator | None" = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.temperature = positive("temperature", temperature)
        self.order = choice("order", order, ("labels", "input"))
        self.ties = choice("ties", ties, ("input", "random"))
        self._generator = generator

    def values(self, batch: Batch) -> "tuple[torch.Tensor, torch.Tensor]":
        """Negative log likelihood of each list."""
        order = self._target_order(batch)
        mask = batch.mask.gather(-1, order)
        scores = torch.where(
            mask, batch.scores.gather(-1, order) / self.temperature, batch.scores.new_tensor(LOWEST)
        )
        # of each rank, over the documents from it to the end
        log_sums = scores.flip(-1).logcumsumexp(-1).flip(-1)
        lost = torch.where(mask, log_sums - scores, torch.zeros_like(scores))
        return (self.rank_weights(mask).to(lost.dtype) * lost).sum(-1), batch.mask.any(-1)

    def rank_weights(self, mask: "torch.Tensor") -> "torch.Tensor":
        """Weight of each rank, shape (lists, width); padding comes last."""
        return mask

    def _target_order(self, batch: Batch) -> "torch.Tensor":
        labels = batch.labels if self.order == "labels" else torch.zeros_like(batch.labels)
        keys = torch.where(batch.mask, labels, labels.new_tensor(-float("inf")))
        if self.ties == "input" or self.order == "input":
            return keys.argsort(dim=-1, descending=True, stable=True)
        # A stable sort of shuffled documents leaves equal labels in random order.
        drawn = torch.rand(keys.shape, generator=self._generator, device=keys.device)
        shuffled = drawn.argsort(dim=-1)
        order = keys.gather(-1, shuffled).argsort(dim=-1, descending=True, stable=True)
        return shuffled.gather(-1, order)


class PListMLELoss(ListMLELoss):
    """ListMLE with larger weights at the top.

    ``sum over ranks i of w_i (log(sum over j >= i of exp(s_j)) - s_i)``, with ``w_i`` in proportion
    to ``2**(n - i) - 1`` in a list of n documents. The weights of a list add up to 1: undivided, as
    in the paper, they pass the largest float32 at 129 documents. A list of one document has no
    weight.

    Parameters
    ----------
    **options
        As for `ListMLELoss`.

    References
    ----------
    Lan, Zhu, Guo, Niu and Cheng (2014), Position-aware ListMLE: a sequential learning process for
    ranking. UAI: p-ListMLE and its weights of positions.

    Examples
    --------
    >>> PListMLELoss()(torch.tensor([[0.0, 0.0, 0.0]]), torch.tensor([[2, 1, 0]]))
    tensor(0.9972)
    """

    def rank_weights(self, mask: "torch.Tensor") -> "torch.Tensor":
        """Weight of each rank."""
        length = wide(mask.sum(-1, keepdim=True))
        rank = torch.arange(1, mask.shape[-1] + 1, device=mask.device)
        # 2**(n - rank) - 1, divided by 2**(n - 1), so that no list is too long for it
        weight = torch.where(
            mask,
            torch.exp2(1 - rank.to(length.dtype)) - torch.exp2(1 - length),
            length.new_zeros(()),
        )
        return weight / weight.sum(-1, keepdim=True).clamp(min=torch.finfo(weight.dtype).tiny)
