"""Scores of answers of a language model, for losses that rank them."""

from typing import Any

from idealrank.errors import OptionError
from idealrank.training.torch.tensors import Batch, count, torch


class RankPolicyScores(torch.nn.Module):
    """Scores of answers from their log probabilities, with a margin by preferred rank.

    ``score = log p(answer | prompt) / length + rank_margin q - adaptive_margin V(q)``, where q is
    the answer's rank by preference, 1 for the best, and V(q) a moving average of ``log p / length``
    at that rank. Both margins work against the better answers, which have to be ahead by more than
    the margin before a ranking loss is content. The average is updated in training mode alone, and
    saved with the module; rank by ``log p / length`` itself to evaluate.

    Parameters
    ----------
    rank_margin : float
        Margin between neighbours, 0 or more.
    adaptive_margin : float
        Share of the moving average, 0 or more.
    momentum : float
        Share of the old average that an update keeps, from 0 to below 1.
    answers : int
        The largest number of answers to a prompt.

    References
    ----------
    Zhou, Wang and Yu (2024), Optimizing preference alignment with differentiable NDCG ranking.
    arXiv:2410.18127: Adaptive Rank Policy Score. The signs are the same as in the authors' code,
    whose average also holds the rank margin, and is not corrected for its start at 0.

    Examples
    --------
    >>> policy = RankPolicyScores(rank_margin=0.5, adaptive_margin=0.0)
    >>> policy(torch.tensor([[-6.0, -8.0]]), torch.tensor([[3, 2]]), torch.tensor([[1.0, 0.0]]))
    tensor([[-1.5000, -3.0000]])
    """

    def __init__(
        self,
        *,
        rank_margin: float = 0.2,
        adaptive_margin: float = 0.1,
        momentum: float = 0.9,
        answers: int = 64,
    ) -> None:
        super().__init__()
        for name, value in (("rank_margin", rank_margin), ("adaptive_margin", adaptive_margin)):
            if value < 0:
                raise OptionError(
                    f"{name}={value}: expected 0 or more; a margin works against the better answer"
                )
        if not 0 <= momentum < 1:
            raise OptionError(f"momentum={momentum}: expected a number from 0 to below 1")
        self.rank_margin = float(rank_margin)
        self.adaptive_margin = float(adaptive_margin)
        self.momentum = float(momentum)
        self.register_buffer("averages", torch.zeros(count("answers", answers)))
        self.register_buffer("updates", torch.zeros(answers))

    def forward(
        self,
        log_probs: "torch.Tensor",
        lengths: "torch.Tensor",
        preferences: "torch.Tensor",
        mask: Any = None,
    ) -> "torch.Tensor":
        """Scores, shape of `log_probs`.

        Parameters
        ----------
        log_probs : tensor, shape (..., answers)
            Sum of the log probabilities of an answer's tokens.
        lengths : tensor, same shape
            Number of these tokens.
        preferences : tensor, same shape
            Rewards or grades; larger is better, and equal ones rank as they come.
        mask : bool tensor, same shape, optional
            True for answers, False for padding.
        """
        rated = Batch.of(preferences.to(log_probs.dtype), preferences, mask)
        mean = Batch.of(log_probs, lengths, mask)
        per_token = mean.scores / mean.labels.clamp(min=1)
        if per_token.shape[-1] > self.averages.shape[0]:
            raise OptionError(
                f"answers={self.averages.shape[0]}: found {per_token.shape[-1]} answers to a "
                f"prompt, expected no more"
            )
        rank = rated.ranks()
        if self.training:
            self._update(per_token.detach(), rank, rated.mask)
        margin = (
            self.rank_margin * rank.to(per_token.dtype)
            - self.adaptive_margin * self._unbiased().to(per_token.dtype)[rank - 1]
        )
        scores = torch.where(mean.mask, per_token + margin, torch.zeros_like(per_token))
        return scores.reshape(log_probs.shape)

    def _update(
        self, per_token: "torch.Tensor", rank: "torch.Tensor", mask: "torch.Tensor"
    ) -> None:
        total = torch.zeros_like(self.averages)
        number = torch.zeros_like(self.averages)
        total.index_add_(0, rank[mask] - 1, per_token[mask].to(total.dtype))
        number.index_add_(0, rank[mask] - 1, torch.ones_like(per_token[mask]).to(total.dtype))
        has_answers = number > 0
        moved = self.momentum * self.averages + (1 - self.momentum) * total / number.clamp(min=1)
        self.averages.copy_(torch.where(has_answers, moved, self.averages))
        self.updates.add_(has_answers)

    def _unbiased(self) -> "torch.Tensor":
        """The averages without their start at 0."""
        # after n updates, momentum**n of an average is still its start
        weight = 1 - self.momentum**self.updates
        return torch.where(
            weight > 0, self.averages / weight.clamp(min=1e-12), torch.zeros_like(self.averages)
        )

    def extra_repr(self) -> str:
        """Options of the scores."""
        return (
            f"rank_margin={self.rank_margin}, adaptive_margin={self.adaptive_margin}, "
            f"momentum={self.momentum}"
        )
