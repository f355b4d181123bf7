"""Losses over pairs of documents: RankNet, pairwise logistic, the pairwise loss that linear NDCG
is, and the LambdaLoss family, whose weights come from the ranks of the moment.
"""

import math
from abc import abstractmethod
from typing import Any, Literal, get_args

from idealrank.errors import OptionError
from idealrank.training.torch.ndcg_loss import NDCGLoss, NDCGRules
from idealrank.training.torch.tensors import (
    PAIRS_AT_ONCE,
    Batch,
    ListLoss,
    choice,
    count,
    positive,
    row_sums,
    torch,
)

Log = Literal["natural", "binary"]
PairReduction = Literal["mean", "sum", "none", "pair-mean"]


class PairLoss(ListLoss):
    """Base of the losses that are sums over pairs of documents of a list.

    Parameters
    ----------
    reduction : {"mean", "sum", "none", "pair-mean"}
        Of the sums of the lists, as for all losses; or their total by the number of pairs in the
        batch.
    pairs_at_once : int
        Pairs of documents in memory at a time.
    """

    def __init__(
        self, *, reduction: PairReduction = "mean", pairs_at_once: int = PAIRS_AT_ONCE
    ) -> None:
        choice("reduction", reduction, get_args(PairReduction))
        super().__init__(reduction="sum" if reduction == "pair-mean" else reduction)
        self.reduction = reduction
        self.pairs_at_once = count("pairs_at_once", pairs_at_once)

    def values(self, batch: Batch) -> "tuple[torch.Tensor, torch.Tensor]":
        """Sum over the pairs of each list."""
        terms, pairs = self.terms_and_pairs(batch)
        value = row_sums(batch.scores, terms, self.pairs_at_once)
        if self.reduction == "pair-mean":
            with torch.no_grad():

                def counts(_: "torch.Tensor", first: int, last: int) -> "torch.Tensor":
                    count_of_rows: torch.Tensor = pairs(first, last).sum((1, 2)).to(value.dtype)
                    return count_of_rows

                n_pairs = row_sums(batch.scores, counts, self.pairs_at_once)
            value = value / n_pairs.sum().clamp(min=1)
        return value, torch.ones_like(value, dtype=torch.bool)

    @abstractmethod
    def terms_and_pairs(self, batch: Batch) -> tuple[Any, Any]:
        """Terms of a range of rows, for `row_sums`; and weights of its pairs (first, last), 0 for a
        pair that does not count.
        """


def above(batch: Batch, first: int, last: int) -> "torch.Tensor":
    """True where the document of the row has the larger label of two, shape (lists, last - first,
    width).
    """
    better = batch.labels[:, first:last, None] > batch.labels[:, None, :]
    return better & batch.mask[:, first:last, None] & batch.mask[:, None, :]


def differences(scores: "torch.Tensor", first: int, last: int) -> "torch.Tensor":
    """Score of the row's document minus that of the column's, shape (lists, last - first,
    width).
    """
    return scores[:, first:last, None] - scores[:, None, :]


class RankNetLoss(PairLoss):
    """Cross entropy of the better document of two.

    ``sum over pairs y_i > y_j of log(1 + exp(-sigma (s_i - s_j)))``. With ``ties="half"``, pairs of
    equal labels have the target 1/2, as in the paper, and pull their scores together; each of them
    adds ``log(1 + exp(-sigma d)) + sigma d / 2``.

    Parameters
    ----------
    sigma : float
        Scale of score differences.
    ties : {"ignore", "half"}
        Pairs of equal labels.
    log : {"natural", "binary"}
        Base of the logarithm, e or 2.
    **options
        ``reduction`` and ``pairs_at_once``, as for `PairLoss`.

    References
    ----------
    Burges et al. (2005), Learning to rank using gradient descent. ICML: cross entropy of pairs, and
    its target for ties.

    Examples
    --------
    >>> RankNetLoss()(torch.tensor([[0.0, 0.0, 5.0]]), torch.tensor([[1, 0, 0]]))
    tensor(5.6999)
    """

    def __init__(
        self,
        *,
        sigma: float = 1.0,
        ties: Literal["ignore", "half"] = "ignore",
        log: Log = "natural",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.sigma = positive("sigma", sigma)
        self.ties = choice("ties", ties, ("ignore", "half"))
        self.log = choice("log", log, get_args(Log))

    def terms_and_pairs(self, batch: Batch) -> tuple[Any, Any]:
        """Cross entropy of each pair."""
        scale = 1 / math.log(2) if self.log == "binary" else 1.0

        def pairs(first: int, last: int) -> "torch.Tensor":
            ordered = above(batch, first, last).to(batch.scores.dtype)
            if self.ties == "half":
                return ordered + self._tied(batch, first, last)
            return ordered

        def terms(scores: "torch.Tensor", first: int, last: int) -> "torch.Tensor":
            apart = self.sigma * differences(scores, first, last)
            total = torch.where(
                above(batch, first, last),
                torch.nn.functional.softplus(-apart),
                torch.zeros_like(apart),
            )
            if self.ties == "half":
                tied = torch.nn.functional.softplus(-apart) + apart / 2
                total = total + self._tied(batch, first, last) * tied
            return scale * total.sum((1, 2))

        return terms, pairs

    def _tied(self, batch: Batch, first: int, last: int) -> "torch.Tensor":
        """1/2 for a tied pair, which comes in two rows, so that it counts once."""
        same = batch.labels[:, first:last, None] == batch.labels[:, None, :]
        tied = same & batch.mask[:, first:last, None] & batch.mask[:, None, :]
        places = torch.arange(batch.mask.shape[-1], device=tied.device)
        is_pair = tied & (places[first:last, None] != places)
        return torch.where(is_pair, 0.5, 0.0).to(batch.scores.dtype)


class PairwiseLogisticLoss(PairLoss):
    """Logistic loss of the pairs with different labels, by the difference of the labels if asked
    for.

    ``sum over pairs y_i > y_j of w_ij log(1 + exp(-(s_i - s_j) / temperature))``, with ``w = 1`` or
    ``w = y_i - y_j``.

    Parameters
    ----------
    temperature : float
        In units of the scores.
    weights : {"one", "label-difference"}
        Weight of a pair; ``pair-mean`` divides by their sum.
    **options
        ``reduction`` and ``pairs_at_once``, as for `PairLoss`.

    References
    ----------
    Burges et al. (2005), Learning to rank using gradient descent. ICML; in the form of Rax and of
    TF-Ranking (Pasumarthi et al. 2019, KDD).

    Examples
    --------
    >>> PairwiseLogisticLoss(reduction="pair-mean")(
    ...     torch.tensor([[0.0, 0.0]]), torch.tensor([[1, 0]])
    ... )
    tensor(0.6931)
    """

    def __init__(
        self,
        *,
        temperature: float = 1.0,
        weights: Literal["one", "label-difference"] = "one",
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.temperature = positive("temperature", temperature)
        self.weights = choice("weights", weights, ("one", "label-difference"))

    def terms_and_pairs(self, batch: Batch) -> tuple[Any, Any]:
        """Logistic loss of each pair."""

        def pairs(first: int, last: int) -> "torch.Tensor":
            weight = above(batch, first, last).to(batch.scores.dtype)
            if self.weights == "one":
                return weight
            return weight * differences(batch.labels, first, last)

        def terms(scores: "torch.Tensor", first: int, last: int) -> "torch.Tensor":
            lost = torch.nn.functional.softplus(
                -differences(scores, first, last) / self.temperature
            )
            return (pairs(first, last) * lost).sum((1, 2))

        return terms, pairs


class LinearNDCGLoss(NDCGLoss):
    """1 - NDCG with the discount n - rank, which is a weighted pairwise loss exactly.

    ``ideal DCG - DCG = sum over pairs g_i > g_j of (g_i - g_j) [s_i < s_j]``, with 1/2 for equal
    scores; the step becomes

    * ``sigmoid``: ``1 / (1 + exp((s_i - s_j) / temperature))``, which tends to the step as the
      temperature falls, ties included,
    * ``logistic``: ``log2(1 + exp(-(s_i - s_j) / temperature))``, convex and never below the step,
    * ``hinge``: ``max(0, 1 - (s_i - s_j) / temperature)``, convex and never below the step.

    Parameters
    ----------
    temperature : float
        In units of the scores.
    step : {"sigmoid", "logistic", "hinge"}
        Function in place of the step.
    pairs_at_once : int
        Pairs of documents in memory at a time.
    **options
        ``gain``, ``no_relevant``, ``convention`` and ``reduction``, as for `NDCGLoss`. There is no
        cutoff: the identity holds for whole lists.

    References
    ----------
    Jin and Geng (2011), the pairwise loss of linear NDCG; ECML/PKDD Discovery Challenge 2010 for
    the discount.

    Examples
    --------
    >>> import idealrank as ir
    >>> labels, scores = torch.tensor([[0, 2, 1]]), torch.tensor([[3.0, 2.0, 2.0]])
    >>> (
    ...     1 - ir.ndcg(labels, scores, discount="linear"),
    ...     LinearNDCGLoss(temperature=0.01)(scores, labels),
    ... )
    (array([0.7]), tensor(0.7000))
    """

    def __init__(
        self,
        *,
        temperature: float = 1.0,
        step: Literal["sigmoid", "logistic", "hinge"] = "sigmoid",
        pairs_at_once: int = PAIRS_AT_ONCE,
        **options: Any,
    ) -> None:
        for fixed in {"cutoff", "discount"} & options.keys():
            raise OptionError(
                f"{fixed}={options[fixed]!r}: expected no {fixed}; the loss is of whole lists "
                f"under the discount n - rank"
            )
        super().__init__(discount="linear", **options)
        self.temperature = positive("temperature", temperature)
        self.step = choice("step", step, ("sigmoid", "logistic", "hinge"))
        self.pairs_at_once = count("pairs_at_once", pairs_at_once)

    def dcg(self, batch: Batch, gains: "torch.Tensor", weights: "torch.Tensor") -> "torch.Tensor":
        """Ideal DCG less the pairwise loss."""

        def terms(scores: "torch.Tensor", first: int, last: int) -> "torch.Tensor":
            gain_lead = differences(gains, first, last).clamp(min=0)
            are_documents = batch.mask[:, first:last, None] & batch.mask[:, None, :]
            wrong = self._wrong(differences(scores, first, last) / self.temperature)
            lost = torch.where(are_documents, gain_lead * wrong, torch.zeros_like(gain_lead))
            return lost.sum((1, 2))

        return self.ideal(gains, weights) - row_sums(batch.scores, terms, self.pairs_at_once)

    def _wrong(self, apart: "torch.Tensor") -> "torch.Tensor":
        # the smooth form of the step, of which the last two are never below it
        if self.step == "sigmoid":
            return torch.sigmoid(-apart)
        if self.step == "hinge":
            return (1 - apart).clamp(min=0)
        return torch.nn.functional.softplus(-apart) / math.log(2)


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

    def terms_and_pairs(self, batch: Batch) -> tuple[Any, Any]:
        """Weighted logistic loss of each pair."""
        ranks = batch.ranks()
        weight = self._weights(batch, ranks)
        log_of_base = math.log(2) if self.log == "binary" else 1.0

        def pairs(first: int, last: int) -> "torch.Tensor":
            if self.weighting == "ndcg-loss1":
                counted = batch.mask[:, first:last, None] & batch.mask[:, None, :]
            else:
                counted = above(batch, first, last)
            if self.cutoff is None:
                return counted
            return counted & (
                (ranks[:, first:last, None] <= self.cutoff) | (ranks[:, None, :] <= self.cutoff)
            )

        def terms(scores: "torch.Tensor", first: int, last: int) -> "torch.Tensor":
            lead = self.sigma * differences(scores, first, last)
            lost = torch.nn.functional.softplus(-lead) / log_of_base
            weighted = weight(first, last) * lost
            return torch.where(pairs(first, last), weighted, torch.zeros_like(lost)).sum((1, 2))

        return terms, pairs

    def _weights(self, batch: Batch, ranks: "torch.Tensor") -> Any:
        """Weight of the pairs of a range of rows, as a function (first, last)."""
        if self.weighting == "none":
            return lambda *_: 1.0
        gains = self._ndcg.gains(batch)
        table = self._ndcg.weights(batch, cut=False)
        ideal = self._ndcg.ideal(gains, self._ndcg.weights(batch))
        share = torch.where(
            ideal[:, None] > 0,
            gains / ideal.clamp(min=torch.finfo(gains.dtype).tiny)[:, None],
            torch.zeros_like(gains),
        )
        if self.weighting == "ndcg-loss1":
            return lambda first, last: (share * _at(table, ranks))[:, first:last, None]
        counted = table if self.below_cutoff == "discounted" else self._ndcg.weights(batch)
        discounts = _at(counted, ranks)
        # behind the last rank its discount goes on, so that the last fall is 0
        last_weight = float(table[:, -1:].min()) if table.numel() else 0.0
        following = torch.nn.functional.pad(table[:, 1:], (0, 1), value=last_weight)
        fall = torch.nn.functional.pad((table - following).abs(), (1, 0))  # by distance, from 0

        def weight(first: int, last: int) -> "torch.Tensor":
            gain_difference = differences(share, first, last).abs()
            discount_difference = differences(discounts, first, last).abs()
            if self.weighting == "lambdarank":
                return discount_difference * gain_difference
            distance = (ranks[:, first:last, None] - ranks[:, None, :]).abs()
            distance_fall = _at(fall, distance.flatten(1) + 1).reshape(distance.shape)
            if self.weighting == "ndcg-loss2":
                return distance_fall * gain_difference
            return (discount_difference + self.mu * distance_fall) * gain_difference

        return weight


def _at(table: "torch.Tensor", ranks: "torch.Tensor") -> "torch.Tensor":
    """Entries of a table, shape (1 or lists, width), at ranks from 1."""
    return table.expand(ranks.shape[0], -1).gather(-1, ranks - 1)
