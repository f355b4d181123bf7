"""Skewed differences: false verdicts of sign flips, and how often they are flagged, in comparisons,
gates and slices.

Worlds     Differences of mean 0: normal; 80 % zero; binary; ties as of P@10; 1 in 50 is +-0.9; 5 %
lose 0.38 and the others gain 0.02;
           2 % gain 0.72 and 18 % lose 0.08; 1 % loses 0.9 and the others gain 0.009. The measure
           has the range 1.
Tests      compare: two-sided; gate: a drop, one-sided; slices: ten random tenths of the queries,
two-sided, corrected by Bonferroni's
           method. Alpha 0.05, sign flips of 2,999 draws.
Rule       A verdict has no flag if there are 200 queries and n >= 25 g^2 (Cochran), with the
skewness g of the differences, or if
           `unseen_loss_p` finds it, too. A verdict on a slice has none if n >= 25 g^2, with the g
           of all of at least 200 queries.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from models import at_least_1
from sign_flips import tails

from idealrank.data.types import BoolArray, FloatArray
from idealrank.stats import skewness
from idealrank.stats.effects import queries_for_skew
from idealrank.stats.unseen_losses import error_rate_known

ALPHA, SLICES = 0.05, 10
QUERIES = (10, 25, 50, 100, 200, 250)
RANGE = 1.0

# A test of the table: of both directions, of a drop alone, or of ten slices.
COMPARE, GATE, SLICED = "compare", "gate", "10 slices"

Draw = Callable[[np.random.Generator, tuple[int, int]], FloatArray]
WORLDS: dict[str, tuple[Draw, bool]] = {
    "normal": (lambda rng, size: rng.normal(0, 0.1, size), True),
    "80% zero": (
        lambda rng, size: np.where(rng.random(size) < 0.2, rng.uniform(-0.5, 0.5, size), 0.0),
        True,
    ),
    "binary": (lambda rng, size: rng.choice([-1.0, 1.0, 0.0], size, p=[0.1, 0.1, 0.8]), True),
    "ties of P@10": (
        lambda rng, size: rng.choice(
            [-0.2, -0.1, 0.0, 0.1, 0.2], size, p=[0.05, 0.2, 0.5, 0.2, 0.05]
        ),
        True,
    ),
    "1 in 50 is +-0.9": (
        lambda rng, size: rng.choice([-0.9, 0.9, -0.02, 0.02], size, p=[0.01, 0.01, 0.49, 0.49]),
        True,
    ),
    "5% lose 0.38": (lambda rng, size: np.where(rng.random(size) < 0.05, -0.38, 0.02), False),
    "2% gain 0.72, 18% lose 0.08": (
        lambda rng, size: rng.choice([0.72, -0.08, 0.0], size, p=[0.02, 0.18, 0.8]),
        False,
    ),
    "1% lose 0.9": (lambda rng, size: np.where(rng.random(size) < 0.01, -0.9, 0.009 / 0.99), False),
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """Shares of samples: with a false verdict, with one that is not flagged, and flagged among the
    verdicts.
    """

    world: str
    symmetric: bool
    test: str
    queries: int
    false: float
    silent: float
    flagged: float


def whole(name: str, queries: int, arguments: argparse.Namespace) -> list[Row]:
    """One comparison a sample, and one gate on the same queries."""
    draw, _ = WORLDS[name]
    rng = np.random.default_rng((arguments.seed, list(WORLDS).index(name), queries))
    differences = draw(rng, (queries, arguments.samples))
    found = tails(differences, rng)
    turned = differences * np.sign(differences.mean(axis=0))
    verdicts = {
        COMPARE: (found.both[0] <= ALPHA, turned, ALPHA / 2),
        GATE: (found.less[0] <= ALPHA, -differences, ALPHA),
    }
    rows = []
    for test, (verdict, claimed, alpha) in verdicts.items():
        flagged = np.zeros_like(verdict)
        for sample in np.flatnonzero(verdict).tolist():
            flagged[sample] = not error_rate_known(claimed[:, sample], RANGE, alpha)
        rows.append(_row((name, test, queries), verdict, flagged))
    return rows


def sliced(name: str, queries: int, arguments: argparse.Namespace) -> Row:
    """Ten slices a sample: any false verdict, and any that is not flagged by the skewness of all
    queries.
    """
    draw, _ = WORLDS[name]
    rng = np.random.default_rng((arguments.seed, 50 + list(WORLDS).index(name), queries))
    samples, size = max(1, arguments.samples // 4), queries // SLICES
    differences = draw(rng, (queries, samples))
    parts = differences.reshape(SLICES, size, samples)
    verdict = np.stack([tails(part, rng).both[0] <= ALPHA / SLICES for part in parts]).any(axis=0)
    flagged = np.array(
        [size < queries_for_skew(skewness(column), queries) for column in differences.T]
    )
    return _row((name, SLICED, queries), verdict, flagged)


def _row(about: tuple[str, str, int], verdict: BoolArray, flagged: BoolArray) -> Row:
    name, test, queries = about
    of_verdicts = float(flagged[verdict].mean()) if verdict.any() else 0.0
    return Row(
        world=name,
        symmetric=WORLDS[name][1],
        test=test,
        queries=queries,
        false=float(verdict.mean()),
        silent=float((verdict & ~flagged).mean()),
        flagged=of_verdicts,
    )


def lines_of(rows: Sequence[Row]) -> list[str]:
    """The table as Markdown."""
    lines = [
        "| differences | test | queries | false verdicts | not flagged | flagged of these |",
        "|---|---|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {row.world} | {row.test} | {row.queries} | {row.false:.3f} | {row.silent:.3f} | "
        f"{row.flagged:.2f} |"
        for row in rows
    ]
    return lines


def rows_of(arguments: argparse.Namespace) -> list[Row]:
    """Every world, whole and in slices."""
    rows = [
        row for name in WORLDS for queries in QUERIES for row in whole(name, queries, arguments)
    ]
    return rows + [
        sliced(name, queries, arguments) for name in WORLDS for queries in (100, 250, 1000)
    ]


def main(asked: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--samples",
        type=at_least_1,
        default=2000,
        help="samples of each row; a quarter for slices (default 2000)",
    )
    parser.add_argument(
        "--seed", type=int, default=31, help="the same seed, the same numbers (default 31)"
    )
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
    arguments = parser.parse_args(asked)
    rows = rows_of(arguments)
    print(
        json.dumps([asdict(row) for row in rows], indent=1)
        if arguments.format == "json"
        else "\n".join(lines_of(rows))
    )


if __name__ == "__main__":
    main()
