"""Margins and rare losses: how often equivalence or a strict gate passes a true loss of the margin,
and how often an equal run.

Worlds     Differences of queries whose true mean is minus the margin: normal; 80 % zero; 5 % lose
0.4; 2 % lose 0.9 and the others hardly
           move; binary; ties as of P@10. Equal runs: no difference at all, 20 % of the queries
           change, all change; true mean 0.
Rules      The sign-flip test alone; with at least 3 L / margin queries (rule of three); and the
rule of `compare` and strict gates: the
           sign-flip test and `unseen_loss_p`, with the largest loss L of 1, or of the world.
Tests      One-sided, alpha 0.05, sign flips of 2,999 draws.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np
from models import at_least_1
from sign_flips import tails

from idealrank.data.types import FloatArray
from idealrank.stats import queries_without_loss, unseen_loss_p

ALPHA = 0.05
QUERIES = (10, 25, 50, 250)
EQUAL_QUERIES = (50, 100, 300, 1000)
MARGINS = (0.01, 0.02, 0.05, 0.1)
_STEPS = np.arange(-9, 10) / 10  # differences of P@10
_WEIGHTS = np.exp(-0.5 * ((_STEPS + 0.03) / 0.12) ** 2)
TIES = _WEIGHTS / _WEIGHTS.sum()

Draw = Callable[[np.random.Generator, tuple[int, int]], FloatArray]


class World(NamedTuple):
    """Law of the differences, the margin, which is its true loss, and the largest loss of a
    query.
    """

    draw: Draw
    margin: float
    largest: float


def _rare(share: float, loss: float, noise: float = 0.0) -> Draw:
    def draw(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
        return np.where(rng.random(size) < share, -loss, rng.normal(0, noise, size))

    return draw


def _zeros(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    return np.where(rng.random(size) < 0.2, rng.uniform(-0.65, 0.35, size), 0.0)


def _binary(rng: np.random.Generator, size: tuple[int, int]) -> FloatArray:
    return rng.choice([-1.0, 1.0, 0.0], size, p=[0.15, 0.05, 0.8])


WORLDS = {
    "normal": World(lambda rng, size: rng.normal(-0.05, 0.1, size), 0.05, 0.7),
    "80% zero": World(_zeros, 0.03, 0.65),
    "5% lose 0.4": World(_rare(0.05, 0.4), 0.02, 0.4),
    "2% lose 0.9": World(_rare(0.02, 0.9, 0.002), 0.018, 0.9),
    "binary": World(_binary, 0.1, 1.0),
    "ties of P@10": World(
        lambda rng, size: rng.choice(_STEPS, size, p=TIES), -float(TIES @ _STEPS), 0.9
    ),
}
EQUAL: dict[str, Draw] = {
    "no difference": lambda _rng, size: np.zeros(size),
    "20% change, sd 0.1": lambda rng, size: np.where(
        rng.random(size) < 0.2, rng.normal(0, 0.1, size), 0.0
    ),
    "all change, sd 0.05": lambda rng, size: rng.normal(0, 0.05, size),
}


@dataclass(frozen=True, kw_only=True)
class Level:
    """Shares of samples that pass at a true loss of the margin, by rule."""

    world: str
    margin: float
    queries: int
    flips: float
    three: float
    whole: float
    own: float


@dataclass(frozen=True, kw_only=True)
class Power:
    """Shares of samples of equal runs that pass, by margin, with the largest loss of 1 and of 0.3,
    and by sign flips alone.
    """

    world: str
    queries: int
    margin: float
    flips: float
    whole: float
    third: float


def passes(
    differences: FloatArray, margin: float, largest: float, tested: FloatArray
) -> FloatArray:
    """Mark the samples, the columns, that pass the sign-flip test and `unseen_loss_p`."""
    found = np.zeros(differences.shape[1], np.bool_)
    for column in np.flatnonzero(tested <= ALPHA).tolist():
        found[column] = unseen_loss_p(differences[:, column], margin, largest) <= ALPHA
    return found


def levels(arguments: argparse.Namespace) -> list[Level]:
    """Every world at its margin."""
    rows = []
    for place, (name, world) in enumerate(WORLDS.items()):
        for queries in QUERIES:
            rng = np.random.default_rng((arguments.seed, place, queries))
            differences = world.draw(rng, (queries, arguments.samples))
            tested = tails(differences, rng, (-world.margin,)).greater[0]
            rows.append(
                Level(
                    world=name,
                    margin=round(world.margin, 4),
                    queries=queries,
                    flips=float((tested <= ALPHA).mean()),
                    three=float(
                        (
                            (tested <= ALPHA) & (queries >= queries_without_loss(world.margin, 1.0))
                        ).mean()
                    ),
                    whole=float(passes(differences, world.margin, 1.0, tested).mean()),
                    own=float(passes(differences, world.margin, world.largest, tested).mean()),
                )
            )
    return rows


def powers(arguments: argparse.Namespace) -> list[Power]:
    """Equal runs at every margin."""
    rows = []
    for place, (name, draw) in enumerate(EQUAL.items()):
        for queries in EQUAL_QUERIES:
            rng = np.random.default_rng((arguments.seed, 100 + place, queries))
            differences = np.clip(draw(rng, (queries, arguments.equal)), -0.3, 1.0)
            tested = tails(differences, rng, [-margin for margin in MARGINS]).greater
            for margin, p in zip(MARGINS, tested, strict=True):
                shares = [
                    float(passes(differences, margin, largest, p).mean()) for largest in (1.0, 0.3)
                ]
                flips = float((p <= ALPHA).mean())
                rows.append(
                    Power(
                        world=name,
                        queries=queries,
                        margin=margin,
                        flips=flips,
                        whole=shares[0],
                        third=shares[1],
                    )
                )
    return rows


def lined(head: Sequence[str], body: Sequence[Sequence[str]], words: int) -> list[str]:
    """A Markdown table; the first columns have words, the others numbers."""
    rule = "|" + "|".join(["---"] * words + ["---:"] * (len(head) - words)) + "|"
    return [f"| {' | '.join(head)} |", rule, *(f"| {' | '.join(line)} |" for line in body)]


def level_lines(rows: Sequence[Level], samples: int) -> list[str]:
    """The table of levels."""
    head = [
        "world",
        "margin",
        "queries",
        "sign flips",
        "3 L / margin, L = 1",
        "rule, L = 1",
        "rule, L of the world",
    ]
    body = [
        [
            row.world,
            f"{row.margin:g}",
            f"{row.queries}",
            *(f"{one:.3f}" for one in (row.flips, row.three, row.whole, row.own)),
        ]
        for row in rows
    ]
    error = (ALPHA * (1 - ALPHA) / samples) ** 0.5
    return [
        "**passes at a true loss of the margin**",
        "",
        *lined(head, body, 1),
        "",
        f"{samples:,} samples a row: standard error {error:.3f} of 0.05.",
    ]


def power_lines(rows: Sequence[Power], samples: int) -> list[str]:
    """The table of power."""
    head = ["equal runs", "queries", "margin", "sign flips", "rule, L = 1", "rule, L = 0.3"]
    body = [
        [
            row.world,
            f"{row.queries:,}",
            f"{row.margin:g}",
            *(f"{one:.2f}" for one in (row.flips, row.whole, row.third)),
        ]
        for row in rows
    ]
    return [
        "**passes of equal runs**",
        "",
        *lined(head, body, 1),
        "",
        f"{samples:,} samples a row: standard error at most {0.5 / samples**0.5:.2f}.",
    ]


def main(asked: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--samples",
        type=at_least_1,
        default=2000,
        help="samples of each row of levels (default 2000)",
    )
    parser.add_argument(
        "--equal",
        type=at_least_1,
        default=300,
        help="samples of each row of equal runs (default 300)",
    )
    parser.add_argument(
        "--seed", type=int, default=49, help="the same seed, the same numbers (default 49)"
    )
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
    arguments = parser.parse_args(asked)
    found = {"levels": levels(arguments), "powers": powers(arguments)}
    if arguments.format == "json":
        print(
            json.dumps(
                {name: [asdict(row) for row in rows] for name, rows in found.items()}, indent=1
            )
        )
        return
    print(
        "\n".join(
            [
                *level_lines(found["levels"], arguments.samples),
                "",
                *power_lines(found["powers"], arguments.equal),
            ]
        )
    )


if __name__ == "__main__":
    main()
