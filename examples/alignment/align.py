"""Align a toy language model with preferences: DRPO on a model of six words, in a few seconds on
one core.

A model of word pairs answers two prompts. A reward prefers answers with many good words. Each step
ranks eight answers to each prompt by their likelihood, as DRPO does (Zhou, Wang and Yu 2024), with
`RankPolicyScores` and `DiffNDCGLoss`.
"""

import torch

import idealrank as ir
from idealrank.integrations.torch import DiffNDCGLoss, RankPolicyScores

WORDS = ["good", "kind", "clear", "bad", "rude", "vague"]
GOOD, PROMPTS, ANSWERS, LONGEST = 3, 2, 8, 6


class Bigrams(torch.nn.Module):
    """Probability of the next word given the last one; the first word follows the prompt."""

    def __init__(self) -> None:
        super().__init__()
        self.after = torch.nn.Embedding(len(WORDS) + PROMPTS, len(WORDS))

    def log_probs(
        self, prompts: torch.Tensor, answers: torch.Tensor, lengths: torch.Tensor
    ) -> torch.Tensor:
        """Log probability of each answer, shape (prompts, answers)."""
        before = torch.cat(
            (
                prompts[:, None, None].expand(-1, answers.shape[1], 1) + len(WORDS),
                answers[..., :-1],
            ),
            -1,
        )
        chosen = self.after(before).log_softmax(-1).gather(-1, answers[..., None]).squeeze(-1)
        return (chosen * (torch.arange(LONGEST) < lengths[..., None])).sum(-1)


def sampled(drawn: torch.Generator) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Random answers to each prompt, their lengths, and grades from 0 to 3 by their share of good
    words.
    """
    answers = torch.randint(len(WORDS), (PROMPTS, ANSWERS, LONGEST), generator=drawn)
    lengths = torch.randint(2, LONGEST + 1, (PROMPTS, ANSWERS), generator=drawn)
    within = torch.arange(LONGEST) < lengths[..., None]
    share = ((answers < GOOD) & within).sum(-1) / lengths
    return answers, lengths, (3 * share).round()


def ranking(model: Bigrams, drawn: torch.Generator) -> float:
    """nDCG of 200 batches of new answers, ranked by log probability per word."""
    values = []
    for _ in range(200):
        answers, lengths, grades = sampled(drawn)
        with torch.no_grad():
            scores = model.log_probs(torch.arange(PROMPTS), answers, lengths) / lengths
        values.append(ir.ndcg(grades, scores, gain="exp2").mean())
    return sum(values) / len(values)


def main() -> None:
    torch.manual_seed(0)
    drawn = torch.Generator().manual_seed(1)
    model, policy, loss = (
        Bigrams(),
        RankPolicyScores(rank_margin=0.05),
        DiffNDCGLoss(temperature=0.5, gain="exp2"),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    before = ranking(model, torch.Generator().manual_seed(2))
    for _ in range(200):
        answers, lengths, grades = sampled(drawn)
        scores = policy(model.log_probs(torch.arange(PROMPTS), answers, lengths), lengths, grades)
        optimizer.zero_grad()
        loss(scores, grades).backward()
        optimizer.step()
    good = model.after.weight.softmax(-1)[:, :GOOD].sum(-1).mean()
    print(
        f"nDCG of new answers: {before:.2f} before, "
        f"{ranking(model, torch.Generator().manual_seed(2)):.2f} after"
    )
    print(f"probability that the next word is good: {float(good.detach()):.2f}")


if __name__ == "__main__":
    main()
