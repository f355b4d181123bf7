"""The LambdaLoss family: pairwise logistic losses with weights from the ranks of the moment."""

import math
from typing import Any, Literal, get_args

from idealrank.training.torch.ndcg_loss import NDCGRules
from idealrank.training.torch.pair_losses import (
    Log,
    PairLoss,
    PairReduction,
    above,
    differences,
)
from idealrank.training.torch.tensors import Batch, choice, count, positive, torch

Weighting = Literal["ndcg-loss2++", "ndcg-loss2", "ndcg-loss1", "lambdarank", "none"]


class LambdaLoss(PairLoss):
    """Pairwise logistic loss with the weights of LambdaRank or LambdaLoss.

    ``sum over pairs y_i > y_j of w_ij log2(1 + exp(-sigma (s_i - s_j)))``, where G is gain / ideal
    DCG, d the discount, and the ranks r are by the scores, without gradient:

    * ``lambdarank``: ``w = |d(r_i) - d(r_j)| |G_i - G_j|``, the change of NDCG if the two documents
      change places,
    * ``ndcg-loss2``: ``w = |d(|r_i - r_j|) - d(|r_i - r_j| + 1)| |G_i - G_j|``,
    * ``ndcg-loss2++`` (default): the first plus ``mu`` times the second,
    * ``ndcg-loss1``: ``w = G_i d(r_i)`` over all pairs, equal labels and the document itself
      included,
    * ``none``: ``w = 1``.

    Parameters
    ----------
    weighting : str
        Weight of a pair.
    cutoff : int, optional
        Count only pairs with a document among the first `cutoff` ranks; the ideal is that of NDCG
        at the cutoff. Default all pairs.
    below_cutoff : {"discounted", "zero"}
        Discount of a rank below the cutoff, for ``lambdarank``: that of its rank, or 0, which makes
        a weight exactly the change of NDCG at the cutoff.
    mu : float
        Weight of ``ndcg-loss2`` in ``ndcg-loss2++``.
    sigma : float
        Scale of score differences.
    log : {"binary", "natural"}
        Base of the logarithm, 2 or e.
    gain, discount, convention
        As for `NDCGLoss`.
    **options
        ``reduction`` and ``pairs_at_once``, as for `PairLoss`.

    References
    ----------
    Wang, Li, Golbandi, Bendersky and Najork (2018), The LambdaLoss framework for ranking metric
    optimization. CIKM: NDCG-Loss1, NDCG-Loss2, NDCG-Loss2++, and truncation; Burges (2010), From
    RankNet to LambdaRank to LambdaMART, MSR-TR-2010-82: LambdaRank.

    Examples
    --------
    >>> scores, labels = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[0, 2, 1]])
    >>> LambdaLoss()(scores, labels), LambdaLoss("lambdarank", cutoff=1)(scores, labels)
    (tensor(8.6139), tensor(1.4664))
    """

    def __init__(
        self,
        weighting: Weighting = "ndcg-loss2++",
        *,
        cutoff: int | None = None,
        below_cutoff: Literal["discounted", "zero"] = "discounted",
        mu: float = 10.0,
        sigma: float = 1.0,
        log: Log = "binary",
        gain: Any = None,
        discount: Any = None,
        convention: Any = "standard",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.weighting = choice("weighting", weighting, get_args(Weighting))
        self.cutoff = cutoff if cutoff is None else count("cutoff", cutoff)
        self.below_cutoff = choice("below_cutoff", below_cutoff, ("discounted", "zero"))
        self.mu = positive("mu", mu)
        self.sigma = positive("sigma", sigma)
        self.log = choice("log", log, get_args(Log))
        self._ndcg = NDCGRules(cutoff=cutoff, gain=gain, discount=discount, convention=convention)
        self.convention = self._ndcg.convention

    def parts(self, batch: Batch) -> tuple[Any, Any]:
        """Weighted logistic loss of each pair."""
        ranks, scale = batch.ranks(), self.sigma
        weight = self._weights(batch, ranks)
        base = math.log(2) if self.log == "binary" else 1.0

        def pairs(first: int, last: int) -> "torch.Tensor":
            both = batch.mask[:, first:last, None] & batch.mask[:, None, :]
            kept = both if self.weighting == "ndcg-loss1" else above(batch, first, last)
            if self.cutoff is None:
                return kept
            return kept & (
                (ranks[:, first:last, None] <= self.cutoff) | (ranks[:, None, :] <= self.cutoff)
            )

        def terms(scores: "torch.Tensor", first: int, last: int) -> "torch.Tensor":
            lost = torch.nn.functional.softplus(-scale * differences(scores, first, last)) / base
            weighted = weight(first, last) * lost
            return torch.where(pairs(first, last), weighted, torch.zeros_like(lost)).sum((1, 2))

        return terms, pairs

    def _weights(self, batch: Batch, ranks: "torch.Tensor") -> Any:
        """Weight of the pairs of a range of rows, as a function (first, last)."""
        if self.weighting == "none":
            return lambda *_: 1.0
        gains, table = self._ndcg.gains(batch), self._ndcg.weights(batch, cut=False)
        ideal = self._ndcg.ideal(gains, self._ndcg.weights(batch))
        share = torch.where(
            ideal[:, None] > 0,
            gains / ideal.clamp(min=torch.finfo(gains.dtype).tiny)[:, None],
            torch.zeros_like(gains),
        )
        if self.weighting == "ndcg-loss1":
            return lambda first, last: (share * _at(table, ranks))[:, first:last, None]
        below = table if self.below_cutoff == "discounted" else self._ndcg.weights(batch)
        of_rank = _at(below, ranks)
        last_weight = float(table[:, -1:].min()) if table.numel() else 0.0
        following = torch.nn.functional.pad(table[:, 1:], (0, 1), value=last_weight)
        fall = torch.nn.functional.pad((table - following).abs(), (1, 0))  # by distance, from 0

        def weight(first: int, last: int) -> "torch.Tensor":
            lead = differences(share, first, last).abs()
            swapped = differences(of_rank, first, last).abs()
            if self.weighting == "lambdarank":
                return swapped * lead
            distance = (ranks[:, first:last, None] - ranks[:, None, :]).abs()
            steps = _at(fall, distance.flatten(1) + 1).reshape(distance.shape)
            if self.weighting == "ndcg-loss2":
                return steps * lead
            return (swapped + self.mu * steps) * lead

        return weight


def _at(table: "torch.Tensor", ranks: "torch.Tensor") -> "torch.Tensor":
    """Entries of a table, shape (1 or lists, width), at ranks from 1."""
    return table.expand(ranks.shape[0], -1).gather(-1, ranks - 1)


__all__ = ["LambdaLoss", "PairReduction", "Weighting"]
