"""Soft ranks as projections onto the permutahedron, and the losses that rest on them."""

from typing import Any

from idealrank.training.torch.ndcg_loss import NDCGLoss
from idealrank.training.torch.tensors import (
    LOWEST,
    PAIRS_AT_ONCE,
    Batch,
    ListLoss,
    count,
    positive,
    torch,
    wide,
)


class FallingFit(torch.autograd.Function):
    """The closest sequence that does not rise, in least squares; its gradient is the mean over each
    level run.
    """

    @staticmethod
    def forward(ctx: Any, values: "torch.Tensor", rows: int) -> "torch.Tensor":
        """``fit_i = min over j <= i of max over k >= i of the mean of values j to k``, a few j at a
        time.
        """
        width = values.shape[-1]
        running = torch.nn.functional.pad(values.cumsum(-1), (1, 0))
        place = torch.arange(width, device=values.device)
        fit = torch.full_like(values, float("inf"))
        for first in range(0, width, rows):
            # rows are the starts j, columns the ends k; a pair with k < j is none
            j = place[first : first + rows, None]
            sums = running[:, None, 1:] - running[:, :-1][:, first : first + rows, None]
            means = sums / (place + 1 - j).clamp(min=1)
            means = torch.where(place >= j, means, means.new_tensor(-float("inf")))
            highest = means.flip(-1).cummax(-1).values.flip(-1)
            bounds = torch.where(place >= j, highest, highest.new_tensor(float("inf")))
            fit = torch.minimum(fit, bounds.amin(1))
        changes = fit.long()
        if width:
            changes = torch.nn.functional.pad((fit[:, 1:] != fit[:, :-1]).long(), (1, 0))
        ctx.save_for_backward(changes.cumsum(-1))
        return fit

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, upstream: "torch.Tensor") -> tuple["torch.Tensor", None]:
        """Mean of the gradient over each run of equal values."""
        (run,) = ctx.saved_tensors
        total = torch.zeros_like(upstream).scatter_add(-1, run, upstream)
        size = torch.zeros_like(upstream).scatter_add(-1, run, torch.ones_like(upstream))
        return (total / size.clamp(min=1)).gather(-1, run), None


def soft_ranks(
    batch: Batch, temperature: float, pairs_at_once: int = PAIRS_AT_ONCE
) -> "torch.Tensor":
    """Soft rank of each document, 1 for the largest score, shape (lists, width).

    Blondel, Teboul, Berthet and Djolonga (2020), Fast differentiable sorting and ranking. ICML:
    soft rank operator with quadratic regularisation.
    """
    goal = torch.where(
        batch.mask, -wide(batch.scores) / temperature, wide(batch.scores).new_tensor(LOWEST)
    )
    # the last rank first, and padding after all
    sorted_, order = goal.sort(dim=-1, descending=True, stable=True)
    length = batch.lengths[:, None]
    place = torch.arange(goal.shape[-1], device=goal.device)
    real = place < length
    # Below every document, padding falls on and on: it is level with nothing.
    padded = torch.where(real, sorted_ - (length - place), LOWEST * (1.0 + place).to(goal.dtype))
    fit = FallingFit.apply(padded, max(1, pairs_at_once // max(1, goal.numel())))
    ranks = torch.where(real, sorted_ - fit, torch.zeros_like(goal))
    return torch.zeros_like(goal).scatter(-1, order, ranks)


class FastSoftRankNDCGLoss(NDCGLoss):
    """1 - NDCG over the soft ranks of fast soft sorting.

    ``DCG = sum over documents of gain discount(soft rank)``, with the discount and the cutoff as in
    `ApproxNDCGLoss`. For lists without tied scores, the value is 1 - NDCG of the convention
    exactly, once no two scores are closer than the temperature (and, with a cutoff, as
    `cutoff_temperature` falls).

    Parameters
    ----------
    temperature : float
        In units of the scores; the paper's epsilon. Where all scores are further apart than it, the
        gradient is 0.
    cutoff_temperature : float, optional
        Of the soft cutoff, in ranks; default `temperature`.
    pairs_at_once : int
        Pairs of documents in memory at a time.
    **options
        ``cutoff``, ``gain``, ``discount``, ``no_relevant``, ``convention`` and ``reduction``, as
        for `NDCGLoss`.

    References
    ----------
    Blondel, Teboul, Berthet and Djolonga (2020), Fast differentiable sorting and ranking. ICML,
    experiments.

    Examples
    --------
    >>> scores, labels = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[0, 2, 1]])
    >>> (
    ...     FastSoftRankNDCGLoss(temperature=1.0)(scores, labels),
    ...     FastSoftRankNDCGLoss(temperature=4.0)(scores, labels),
    ... )
    (tensor(0.3303), tensor(0.2968))
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
        """Sum of gains by the discounts of soft ranks."""
        ranks = soft_ranks(batch, self.temperature, self.pairs_at_once).to(gains.dtype).clamp(min=1)
        table = self.weights(batch, cut=False)
        return (gains * self.discounted(batch, ranks, table, self.cutoff_temperature)).sum(-1)


class SoftSpearmanLoss(ListLoss):
    """1 - the correlation of soft ranks with the ranks of the labels.

    Equal labels have their mean rank. Once no two scores are closer than the temperature, the value
    is 1 - Spearman's correlation (`idealrank.spearman`). A list whose labels are all equal has no
    correlation, and is in no mean.

    Parameters
    ----------
    temperature : float
        In units of the scores; the paper's epsilon.
    pairs_at_once : int
        Pairs of documents in memory at a time.
    **options
        ``reduction``, as for all losses.

    References
    ----------
    Blondel, Teboul, Berthet and Djolonga (2020), Fast differentiable sorting and ranking. ICML:
    label ranking by Spearman's coefficient, as a correlation.

    Examples
    --------
    >>> import idealrank as ir
    >>> labels, scores = torch.tensor([[0, 2, 1, 1]]), torch.tensor([[3.0, 2.0, 1.0, 0.0]])
    >>> SoftSpearmanLoss(temperature=0.5)(scores, labels), 1 - ir.spearman(labels[0], scores[0])
    (tensor(1.3162), 1.316227766016838)
    """

    def __init__(
        self, *, temperature: float = 1.0, pairs_at_once: int = PAIRS_AT_ONCE, **options: Any
    ) -> None:
        super().__init__(**options)
        self.temperature = positive("temperature", temperature)
        self.pairs_at_once = count("pairs_at_once", pairs_at_once)

    def values(self, batch: Batch) -> "tuple[torch.Tensor, torch.Tensor]":
        """1 - correlation of each list."""
        label_ranks = _mean_ranks(batch)
        score_ranks = self._soft(batch)
        # ranks of either kind add up to n (n + 1) / 2
        centre = ((batch.lengths + 1) / 2).to(label_ranks.dtype)[:, None]
        nothing = torch.zeros_like(label_ranks)
        by_label = torch.where(batch.mask, label_ranks - centre, nothing)
        by_score = torch.where(batch.mask, score_ranks - centre, nothing)
        spread = (by_label * by_label).sum(-1)
        defined = spread > 0
        # Soft ranks that are all equal have the correlation 0: the smallest number keeps its
        # gradient finite.
        label_spread = torch.where(defined, spread, torch.ones_like(spread))
        norm = ((by_score * by_score).sum(-1) * label_spread + 1e-12).sqrt()
        return (1 - (by_score * by_label).sum(-1) / norm).to(batch.scores.dtype), defined

    def _soft(self, batch: Batch) -> "torch.Tensor":
        return soft_ranks(batch, self.temperature, self.pairs_at_once)


def _mean_ranks(batch: Batch) -> "torch.Tensor":
    """Ranks by descending label, equal labels at their mean rank; by the labels' own order, without
    pairs.
    """
    labels = wide(batch.labels)
    keys = torch.where(batch.mask, labels, labels.new_tensor(-float("inf")))
    rising = keys.sort(dim=-1).values.contiguous()
    above = keys.shape[-1] - torch.searchsorted(rising, keys.contiguous(), right=True)
    not_below = keys.shape[-1] - torch.searchsorted(rising, keys.contiguous())
    return (above + not_below + 1).to(labels.dtype) / 2
