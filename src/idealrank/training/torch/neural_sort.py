"""NeuralSort: a softmax for each rank in place of an order, with the losses that rest on it."""

from typing import Any, Literal, get_args

from idealrank.errors import OptionError, shown
from idealrank.training.torch.ndcg_loss import NDCGLoss
from idealrank.training.torch.tensors import (
    LOWEST,
    PAIRS_AT_ONCE,
    Batch,
    choice,
    count,
    list_sums,
    positive,
    row_sums,
    torch,
    wide,
)

_TINY = 1e-20  # keeps a division by an empty row or column finite


def distances(scores: "torch.Tensor", mask: "torch.Tensor") -> "torch.Tensor":
    """Sum of the distances from each score to all others of its list, shape (..., width); by one
    sort, not by pairs.
    """
    # With s_(1) <= ... <= s_(n), the distances from s_(k) sum to s_(k) (2k - n) plus the total
    # less twice the sum up to k.
    length = mask.sum(-1, keepdim=True)
    # padding last
    sorted_, order = torch.where(mask, scores, scores.new_tensor(-LOWEST)).sort(dim=-1)
    real = torch.arange(scores.shape[-1], device=scores.device) < length
    sorted_ = torch.where(real, sorted_, torch.zeros_like(sorted_))
    below = torch.arange(scores.shape[-1], device=scores.device)
    running = sorted_.cumsum(-1)
    total = running[..., -1:]
    summed = sorted_ * (2 * below + 2 - length) + total - 2 * running
    return torch.zeros_like(scores).scatter(
        -1, order, torch.where(real, summed, torch.zeros_like(summed))
    )


def neural_sort(
    scores: "torch.Tensor",
    mask: "torch.Tensor",
    temperature: float,
    first: int = 0,
    last: int | None = None,
) -> "torch.Tensor":
    """Share of each document in each rank, descending by score.

    Grover, Wang, Zweig and Ermon (2019), Stochastic optimization of sorting networks via continuous
    relaxations. ICLR: NeuralSort, the relaxed permutation matrix.
    """
    length = mask.sum(-1)[..., None, None]
    end = scores.shape[-1] if last is None else last
    rank = torch.arange(1 + first, 1 + end, device=scores.device)[:, None]
    # shifts cancel; small numbers keep their digits
    centre = (scores.sum(-1) / mask.sum(-1).clamp(min=1)).detach()
    centred = scores - centre[..., None]
    distance_sums = distances(centred, mask)[..., None, :]
    exponent = ((length + 1 - 2 * rank) * centred[..., None, :] - distance_sums) / temperature
    masked = torch.where(mask[..., None, :], exponent, exponent.new_tensor(LOWEST))
    share = torch.softmax(masked, dim=-1)
    return torch.where((rank <= length) & mask[..., None, :], share, torch.zeros_like(share))


class NeuralNDCGLoss(NDCGLoss):
    """1 - NDCG of the gains that NeuralSort sorts.

    ``DCG = sum over ranks i of discount(i) (scale(P) gain)_i``, where P is `neural_sort` and
    ``scale`` are Sinkhorn steps, which make every document as much as one rank. The transposed form
    of the paper is the same sum in another order. The stochastic form is the mean over orders drawn
    from the Plackett-Luce model of the scores, by Gumbel noise. As the temperature falls, the
    deterministic value tends to 1 - NDCG of the convention, for lists without tied scores.

    Parameters
    ----------
    temperature : float
        Of `neural_sort`, in units of the scores.
    sinkhorn : int
        Steps of scaling rows and columns; 0 for none.
    samples : int
        Orders drawn a list; 0 (default) for the deterministic form.
    noise : float
        Scale of the Gumbel noise; the paper's beta.
    generator : torch.Generator, optional
        Of the noise, on the device of the scores; default PyTorch's own.
    pairs_at_once : int
        Pairs of documents in memory at a time; at least one list is.
    **options
        ``cutoff``, ``gain``, ``discount``, ``no_relevant``, ``convention`` and ``reduction``, as
        for `NDCGLoss`.

    References
    ----------
    Pobrotyn and Bialobrzeski (2021), NeuralNDCG: direct optimisation of a ranking metric via
    differentiable relaxation of sorting. SIGIR eCom: both forms, deterministic and stochastic.

    Examples
    --------
    >>> labels, scores = torch.tensor([[0, 2, 1]]), torch.tensor([[3.0, 2.0, 1.0]])
    >>> (
    ...     NeuralNDCGLoss(temperature=0.01)(scores, labels),
    ...     NeuralNDCGLoss(temperature=1.0)(scores, labels),
    ... )
    (tensor(0.3303), tensor(0.2739))
    """

    def __init__(
        self,
        *,
        temperature: float = 1.0,
        sinkhorn: int = 30,
        samples: int = 0,
        noise: float = 1.0,
        generator: "torch.Generator | None" = None,
        pairs_at_once: int = PAIRS_AT_ONCE,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.temperature = positive("temperature", temperature)
        self.sinkhorn = count("sinkhorn", sinkhorn, 0)
        self.samples = count("samples", samples, 0)
        self.noise = positive("noise", noise)
        self.pairs_at_once = count("pairs_at_once", pairs_at_once)
        self._generator = generator

    def dcg(self, batch: Batch, gains: "torch.Tensor", weights: "torch.Tensor") -> "torch.Tensor":
        """Sum of discounts by sorted gains, over the drawn orders."""
        if not self.samples:
            return self._dcg(batch, gains, weights)
        lists, width = batch.scores.shape
        shape = (self.samples, lists, width)
        uniform = torch.rand(
            shape, generator=self._generator, device=batch.scores.device, dtype=batch.scores.dtype
        )
        # at 0 and at 1 the noise would be infinite; float32 holds both limits
        noise = -self.noise * torch.log(-torch.log(uniform.clamp(1e-20, 1 - 1e-7)))
        noisy = torch.where(batch.mask, batch.scores + noise, torch.zeros_like(noise)).reshape(
            -1, width
        )
        drawn = self._dcg(
            Batch(
                scores=noisy,
                labels=batch.labels.expand(shape).reshape(-1, width),
                mask=batch.mask.expand(shape).reshape(-1, width),
            ),
            gains.expand(shape).reshape(-1, width),
            weights.expand(shape).reshape(-1, width),
        )
        return drawn.reshape(self.samples, lists).mean(0)

    def _dcg(self, batch: Batch, gains: "torch.Tensor", weights: "torch.Tensor") -> "torch.Tensor":
        if not self.sinkhorn:
            return sorted_dcg(
                batch,
                gains,
                weights,
                temperature=self.temperature,
                cutoff=self.cutoff,
                pairs_at_once=self.pairs_at_once,
            )
        discounts = weights.expand_as(gains)

        def terms(part: Batch, first: int, last: int) -> "torch.Tensor":
            shares = neural_sort(wide(part.scores), part.mask, self.temperature)
            rows, columns = sinkhorn_scales(shares, part.mask, self.sinkhorn)
            sorted_gains = rows * torch.einsum(
                "lij,lj->li", shares, columns * gains[first:last].to(shares.dtype)
            )
            return (discounts[first:last] * sorted_gains).sum(-1).to(part.scores.dtype)

        return list_sums(batch, terms, self.pairs_at_once // max(1, gains.shape[-1] ** 2))


def sinkhorn_scales(
    shares: "torch.Tensor", mask: "torch.Tensor", steps: int
) -> "tuple[torch.Tensor, torch.Tensor]":
    """Factors of rows and columns, after which both add up to 1: products with vectors, so that the
    matrix is kept once, not once a step.
    """
    place = torch.arange(mask.shape[-1], device=mask.device)
    real = (place < mask.sum(-1, keepdim=True)).to(shares.dtype)
    columns = mask.to(shares.dtype)
    rows = real
    for _ in range(steps):
        columns = mask / (torch.einsum("lij,li->lj", shares, rows) + _TINY)
        rows = real / (torch.einsum("lij,lj->li", shares, columns) + _TINY)
    return rows, columns


def sorted_dcg(
    batch: Batch,
    gains: "torch.Tensor",
    weights: "torch.Tensor",
    temperature: float,
    cutoff: int | None,
    pairs_at_once: int,
) -> "torch.Tensor":
    """DCG of the gains as NeuralSort sorts them, a few ranks at a time, down to the cutoff; shape
    (lists,).
    """
    width = batch.mask.shape[-1]
    ranks = width if cutoff is None else min(cutoff, width)

    def terms(scores: "torch.Tensor", first: int, last: int) -> "torch.Tensor":
        last = min(last, ranks)
        if first >= last:
            return scores.new_zeros(scores.shape[0])
        shares = neural_sort(wide(scores), batch.mask, temperature, first, last)
        sorted_gains = torch.einsum("lij,lj->li", shares, gains.to(shares.dtype))
        return (weights[:, first:last] * sorted_gains).sum(-1).to(scores.dtype)

    return row_sums(batch.scores, terms, pairs_at_once)


class PiRankLoss(NDCGLoss):
    """1 - NDCG of the gains that NeuralSort sorts, without scaling; only the ranks above the cutoff
    are computed.

    With `branching` b, lists are sorted by merging: NeuralSort keeps the top ``cutoff`` of every b
    documents, with mixed scores and gains, and sorts these in turn, until one list is left. The
    cost falls from n times the cutoff to n times b. As the temperature falls, the value tends to 1
    - NDCG of the convention, for lists without tied scores.

    Parameters
    ----------
    temperature : float
        Of `neural_sort`, in units of the scores.
    branching : int, optional
        Documents sorted at once, at least twice the cutoff; default all of a list.
    sorting : {"soft", "straight-through"}
        With ``straight-through``, the value is that of the hard order, and the gradient of the soft
        one.
    pairs_at_once : int
        Pairs of documents in memory at a time, without `branching`.
    **options
        ``cutoff``, ``gain``, ``discount``, ``no_relevant``, ``convention`` and ``reduction``, as
        for `NDCGLoss`.

    References
    ----------
    Swezey, Grover, Charron and Ermon (2021), PiRank: scalable learning to rank via differentiable
    sorting. NeurIPS: the surrogate of NDCG, and sorting by merging.

    Examples
    --------
    >>> labels, scores = torch.tensor([[0, 2, 1]]), torch.tensor([[3.0, 2.0, 1.0]])
    >>> (
    ...     PiRankLoss(temperature=0.01)(scores, labels),
    ...     PiRankLoss(temperature=5.0, sorting="straight-through")(scores, labels),
    ... )
    (tensor(0.3303), tensor(0.3303))
    """

    def __init__(
        self,
        *,
        temperature: float = 1.0,
        branching: int | None = None,
        sorting: Literal["soft", "straight-through"] = "soft",
        pairs_at_once: int = PAIRS_AT_ONCE,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.temperature = positive("temperature", temperature)
        if branching is not None and (self.cutoff is None or branching < 2 * self.cutoff):
            raise OptionError(
                f"branching={shown(branching)}: found cutoff={self.cutoff}, expected a cutoff of "
                "at most half the branching"
            )
        self.branching = branching if branching is None else count("branching", branching, 2)
        self.sorting = choice("sorting", sorting, get_args(Literal["soft", "straight-through"]))
        self.pairs_at_once = count("pairs_at_once", pairs_at_once)

    def dcg(self, batch: Batch, gains: "torch.Tensor", weights: "torch.Tensor") -> "torch.Tensor":
        """Sum of discounts by sorted gains."""
        if self.branching is None or self.cutoff is None:  # one comes with the other
            soft = sorted_dcg(
                batch,
                gains,
                weights,
                temperature=self.temperature,
                cutoff=self.cutoff,
                pairs_at_once=self.pairs_at_once,
            )
        else:
            merged = _merged(
                wide(batch.scores),
                gains.to(wide(batch.scores).dtype),
                batch.mask,
                cutoff=self.cutoff,
                branching=self.branching,
                temperature=self.temperature,
            )
            soft = (weights[:, : merged.shape[-1]] * merged).sum(-1).to(batch.scores.dtype)
        if self.sorting == "soft":
            return soft
        ranks = batch.ranks()
        hard = (weights.expand_as(gains).gather(-1, ranks - 1) * gains).sum(-1)
        return soft + (hard - soft).detach()


def _merged(
    scores: "torch.Tensor",
    gains: "torch.Tensor",
    mask: "torch.Tensor",
    cutoff: int,
    branching: int,
    temperature: float,
) -> "torch.Tensor":
    """Sorted gains of the first ranks, shape (lists, at most cutoff)."""
    # A tournament: groups of `branching` documents are sorted, and the first ranks of each group
    # go on to the next round, until one group is left.
    while True:
        lists, width = scores.shape
        size = min(branching, max(width, 1))
        groups = -(-width // size)
        scores, gains, mask = (
            torch.nn.functional.pad(table, (0, groups * size - width)).reshape(lists * groups, size)
            for table in (scores, gains, mask)
        )
        shares = neural_sort(scores, mask, temperature, 0, min(cutoff, size))
        scores = torch.einsum("lij,lj->li", shares, scores)
        gains = torch.einsum("lij,lj->li", shares, gains)
        mask = torch.arange(scores.shape[-1], device=mask.device) < mask.sum(-1, keepdim=True)
        if groups == 1:
            return gains
        scores, gains, mask = (table.reshape(lists, -1) for table in (scores, gains, mask))
