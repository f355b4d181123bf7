"""Sorting networks whose swaps are soft, and the NDCG of what they sort."""

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple, get_args

from idealrank.training.torch.ndcg_loss import NDCGLoss
from idealrank.training.torch.tensors import (
    PAIRS_AT_ONCE,
    Batch,
    choice,
    count,
    list_sums,
    positive,
    torch,
)

Network = Literal["odd-even", "bitonic"]
Swap = Literal["logistic", "cauchy", "reciprocal"]


class _Layer(NamedTuple):
    tops: list[int]  # place that gets the larger of each pair
    bottoms: list[int]  # place that gets the smaller
    longer_than: int  # length of a list above which the list has the layer


_SWAPS: dict[str, Callable[["torch.Tensor"], "torch.Tensor"]] = {
    "logistic": torch.sigmoid,
    "cauchy": lambda apart: torch.atan(apart) / torch.pi + 0.5,
    "reciprocal": lambda apart: apart / (1 + 2 * apart.abs()) + 0.5,
}


def layers(network: Network, width: int) -> Iterator[_Layer]:
    """Layers of a network that sorts in descending order.

    ``odd-even`` has `width` layers of neighbours; ``bitonic`` has log2(width) (log2(width) + 1) /
    2, for a power of two.
    """
    if network == "odd-even":
        for step in range(width):
            tops = list(range(step % 2, width - 1, 2))
            yield _Layer(tops, [top + 1 for top in tops], step)
        return
    size = 2
    while size <= width:
        stride = size // 2
        while stride:
            tops = []
            bottoms = []
            for place in range(width):
                if place & stride:  # the second of its pair
                    continue
                top = place
                bottom = place | stride
                if place & size:  # every other block rises, so that two blocks make a bitonic list
                    top, bottom = bottom, top
                tops.append(top)
                bottoms.append(bottom)
            yield _Layer(tops, bottoms, size // 2)
            stride //= 2
        size *= 2


def soft_sort(
    scores: "torch.Tensor",
    carried: "torch.Tensor",
    mask: "torch.Tensor",
    network: Network,
    swap: Swap,
    temperature: float,
) -> "tuple[torch.Tensor, torch.Tensor]":
    """Scores, sorted softly in descending order, and what they carry, mixed in the same way.

    Petersen, Borgelt, Kuehne and Deussen (2021), Differentiable sorting networks for scalable
    sorting and ranking supervision.
    """
    width = scores.shape[-1]
    # documents, then padding: where it stood must not matter
    order = mask.long().argsort(dim=-1, descending=True, stable=True)
    # shape (lists, width, 2): the score at [..., 0], and what it carries at [..., 1]
    cells = torch.stack((scores, carried), -1).gather(1, order[..., None].expand(-1, -1, 2))
    length = mask.sum(-1, keepdim=True)
    padded_width = 1 << max(0, width - 1).bit_length() if network == "bitonic" else width
    cells = torch.nn.functional.pad(cells, (0, 0, 0, padded_width - width))
    place = torch.arange(padded_width, device=mask.device)
    real = place < length
    for tops, bottoms, longer_than in layers(network, padded_width):
        upper = cells[:, tops]
        lower = cells[:, bottoms]
        is_upper = real[:, tops]
        is_lower = real[:, bottoms]
        # share of the upper document that stays; a document goes above padding, whatever its score
        share = _SWAPS[swap]((upper[..., 0] - lower[..., 0]) / temperature)
        beside_padding = torch.where(is_lower & ~is_upper, 0.0, 1.0).to(share.dtype)
        share = torch.where(is_upper & is_lower, share, beside_padding)
        share = torch.where(length > longer_than, share, torch.ones_like(share))[..., None]
        new_upper = share * upper + (1 - share) * lower
        new_lower = (1 - share) * upper + share * lower
        # the pairs and the places without one, each back where it was
        unpaired = sorted(set(range(padded_width)) - {*tops, *bottoms})
        back = torch.tensor([*tops, *bottoms, *unpaired], device=mask.device).argsort()
        cells = torch.cat((new_upper, new_lower, cells[:, unpaired]), 1)[:, back]
        sorted_real = torch.cat((is_upper | is_lower, is_upper & is_lower, real[:, unpaired]), 1)
        real = torch.where(length > longer_than, sorted_real[:, back], real)
    return cells[:, :width, 0], cells[:, :width, 1]


class DiffNDCGLoss(NDCGLoss):
    """1 - NDCG of the gains that a differentiable sorting network sorts: the loss of DRPO.

    ``DCG = sum over ranks i of discount(i) (P gain)_i``, where P is the product of the network's
    soft swaps. As the temperature falls, the value tends to 1 - NDCG of the convention, for lists
    without tied scores. The paper trains language models on the ranking of their answers with it;
    `RankPolicyScores` gives the scores.

    Parameters
    ----------
    temperature : float
        Of the swaps, in units of the scores.
    network : {"odd-even", "bitonic"}
        The first has as many layers as documents, the second about log2(documents)**2 / 2: for long
        lists.
    swap : {"cauchy", "logistic", "reciprocal"}
        Share that stays in order, as a function of the difference. The first and the last are
        monotonic in the scores.
    pairs_at_once : int
        Pairs of documents in memory at a time; at least one list is.
    **options
        ``cutoff``, ``gain``, ``discount``, ``no_relevant``, ``convention`` and ``reduction``, as
        for `NDCGLoss`.

    References
    ----------
    Zhou, Wang and Yu (2024), Optimizing preference alignment with differentiable NDCG ranking.
    arXiv:2410.18127: diffNDCG.

    Examples
    --------
    >>> scores, labels = torch.tensor([[3.0, 2.0, 1.0]]), torch.tensor([[0, 2, 1]])
    >>> (
    ...     DiffNDCGLoss(temperature=1e-6)(scores, labels),
    ...     DiffNDCGLoss(temperature=1.0, network="bitonic")(scores, labels),
    ... )
    (tensor(0.3303), tensor(0.2290))
    """

    def __init__(
        self,
        *,
        temperature: float = 1.0,
        network: Network = "odd-even",
        swap: Swap = "cauchy",
        pairs_at_once: int = PAIRS_AT_ONCE,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.temperature = positive("temperature", temperature)
        self.network: Network = choice("network", network, get_args(Network))
        self.swap: Swap = choice("swap", swap, get_args(Swap))
        self.pairs_at_once = count("pairs_at_once", pairs_at_once)

    def dcg(self, batch: Batch, gains: "torch.Tensor", weights: "torch.Tensor") -> "torch.Tensor":
        """Sum of discounts by sorted gains."""
        discounts = weights.expand_as(gains)

        def terms(part: Batch, first: int, last: int) -> "torch.Tensor":
            _, sorted_gains = soft_sort(
                part.scores,
                gains[first:last],
                part.mask,
                network=self.network,
                swap=self.swap,
                temperature=self.temperature,
            )
            return (discounts[first:last] * sorted_gains).sum(-1)

        return list_sums(batch, terms, self.pairs_at_once // max(1, gains.shape[-1] ** 2))
