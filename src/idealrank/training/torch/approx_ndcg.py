"""ApproxNDCG: ranks as sums of sigmoids."""

from typing import Any

from idealrank.training.torch.list_loss import PAIRS_AT_ONCE, count, positive
from idealrank.training.torch.ndcg_loss import NDCGLoss
from idealrank.training.torch.row_sums import row_sums
from idealrank.training.torch.tensors import Batch, torch


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
            # itself is 1/2 of these
            ranks = 0.5 + torch.where(batch.mask[:, None, :], above, torch.zeros_like(above)).sum(
                -1
            )
            return (
                gains[:, first:last] * self.discounted(batch, ranks, table, self.cutoff_temperature)
            ).sum(-1)

        return row_sums(batch.scores, terms, self.pairs_at_once)
