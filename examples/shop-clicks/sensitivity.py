"""Interleaving against A/B tests in the simulated shop: lists that each needs to find the same
difference.

``python examples/shop-clicks/sensitivity.py`` prints a table. Chances of clicks are exact; the
mixed lists are drawn.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from shop import EXAMINED, QUERIES, RANKS, Shop

from idealrank.clicks import interleave, lists_needed, users_needed

# how readily users click, as a factor of each chance; a third of the users each
MOODS = (0.3, 1.0, 1.7)
PURCHASE = 0.05  # chance that a click ends in a purchase


@dataclass(frozen=True)
class Sizes:
    """Lists that three tests need, with 80 % power at 95 % confidence, if they are read once."""

    share: float
    interleaved: int
    clicks: int
    purchases: int


def chances(shop: Shop, query: int, documents: Sequence[int], mood: float) -> np.ndarray:
    """Chance of a click at each rank."""
    return np.minimum(
        shop.attractiveness[query, documents] * EXAMINED[: len(documents)] * mood, 1.0
    )


def preference_of(clicked: np.ndarray, is_b: np.ndarray) -> tuple[float, float]:
    """Chances that A and B get more clicks: the distribution of the difference, rank by rank."""
    difference = np.zeros(2 * clicked.size + 1)
    difference[clicked.size] = 1.0
    for chance, of_b in zip(clicked.tolist(), is_b.tolist(), strict=True):
        difference = (1 - chance) * difference + chance * np.roll(difference, 1 if of_b else -1)
    return float(difference[: clicked.size].sum()), float(difference[clicked.size + 1 :].sum())


def mixed_lists(
    old: list[list[int]], new: list[list[int]], draws: int, seed: int
) -> Iterator[tuple[int, list[int], np.ndarray]]:
    """Query, documents and teams of team-draft lists."""
    rng = np.random.default_rng(seed)
    for query in range(QUERIES):
        for _ in range(draws):
            found = interleave(
                list(map(str, old[query])), list(map(str, new[query])), length=RANKS, rng=rng
            )
            yield (
                query,
                [int(one) for one in found.documents],
                np.array([team == "B" for team in found.teams]),
            )


def sizes(shop: Shop, moods: Sequence[float], *, draws: int = 60, seed: int = 1) -> Sizes:
    """Sizes of the three tests; in the A/B tests each user has one list."""
    old, new = (
        [[int(one) for one in np.argsort(-row)] for row in scores]
        for scores in (shop.old, shop.new)
    )
    wins = np.mean(
        [
            preference_of(chances(shop, query, documents, mood), is_b)
            for query, documents, is_b in mixed_lists(old, new, draws, seed)
            for mood in moods
        ],
        axis=0,
    )
    share = float(wins[1] / wins.sum())
    rows = [
        [
            chances(shop, query, of[query][:RANKS], mood)
            for query in range(QUERIES)
            for mood in moods
        ]
        for of in (old, new)
    ]
    means, seconds = (
        np.array(
            [[[row.sum(), row.sum() ** 2 + (row * (1 - row)).sum()] for row in of] for of in rows]
        )
        .mean(axis=1)
        .T
    )
    bought = 1 - np.array([[np.prod(1 - PURCHASE * row) for row in of] for of in rows]).mean(axis=1)
    sds = np.sqrt([(seconds - means**2).mean(), (bought * (1 - bought)).mean()])
    return Sizes(
        share,
        lists_needed(share, ties=float(1 - wins.sum()), looks="once"),
        users_needed(float(sds[0]), float(means[1] - means[0]), looks="once"),
        users_needed(float(sds[1]), float(bought[1] - bought[0]), looks="once"),
    )


def between(shop: Shop, step: float) -> Shop:
    """The shop with a new ranker that goes so far from the old one to the new one."""
    return Shop(shop.attractiveness, shop.old, shop.old + step * (shop.new - shop.old))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    shop = Shop.of(asked.seed)
    print(
        f"{'lists needed':32} {'B wins':>7} {'interleaved':>12} {'A/B, clicks':>18} "
        f"{'A/B, purchases':>20}"
    )
    for step, size in ((1.0, "large step"), (0.5, "half of it"), (0.25, "a quarter")):
        for moods, users in (((1.0,), "users alike"), (MOODS, "users differ")):
            found = sizes(between(shop, step), moods, seed=asked.seed)
            ratios = [
                f"{one:,} ({one / found.interleaved:.0f} x)"
                for one in (found.clicks, found.purchases)
            ]
            print(
                f"{f'{size}, {users}':32} {found.share:7.3f} {found.interleaved:12,} "
                f"{ratios[0]:>18} {ratios[1]:>20}"
            )


if __name__ == "__main__":
    main()
