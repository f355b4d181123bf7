"""How often intervals of means and of paired differences hold the truth, and how wide they are, on
values like those of nDCG.

Data       A quarter of the queries have the value 0, a tenth 1, the others Beta(1.2, 1.8): skewed,
with many zeros. In pairs, 80 % of the
           queries have equal values in both systems. The others are

           no difference    two independent values of the same law: differences of either sign, mean
           0; better           65 % rise, 35 % fall, by Beta(1, 3): mean 0.2 (0.65 - 0.35) 0.25 =
           0.015; rare gains       85 % fall by up to 0.1, 15 % rise by 0.3 to 1: skewed, mean 0.2
           (0.15 0.65 - 0.85 0.05) = 0.011.

Asked      Of intervals of level 0.95: the share that hold the true mean, and the mean width of
those that end on both sides. Methods    t; percentile, basic, bca and studentised of 2,000
bootstrap draws; and the inverted sign-flip test, for differences.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from models import at_least_1, progress_line

from idealrank.data.types import FloatArray
from idealrank.stats import mean_interval, permutation_test

DRAWS = 2000
BATCH = 250  # runs that share their bootstrap draws
QUERIES = (25, 50, 200, 1000)
BOOTSTRAPS = ("percentile", "basic", "bca", "studentised")
METHODS = ("t", *BOOTSTRAPS, "permutation")
ZERO, ONE, BETA = 0.25, 0.1, (1.2, 1.8)
EQUAL, RISES, GAINS = 0.8, 0.65, 0.15


class Cell(NamedTuple):
    """What one method does on one kind of data."""

    data: str
    queries: int
    method: str
    coverage: float
    width: float
    unbounded: float


def like_ndcg(shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Values of one system."""
    kind = rng.random(shape)
    return np.where(kind < ZERO, 0.0, np.where(kind < ZERO + ONE, 1.0, rng.beta(*BETA, shape)))


def no_difference(shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Differences of which 80 % are 0, the others symmetric."""
    return np.where(rng.random(shape) < EQUAL, 0.0, like_ndcg(shape, rng) - like_ndcg(shape, rng))


def better(shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Differences of which 80 % are 0, the others more often up than down."""
    changed = np.where(rng.random(shape) < RISES, 1, -1) * rng.beta(1, 3, shape)
    return np.where(rng.random(shape) < EQUAL, 0.0, changed)


def rare_gains(shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Differences of which 80 % are 0, the others small losses and a few large gains."""
    changed = np.where(
        rng.random(shape) < GAINS, rng.uniform(0.3, 1, shape), rng.uniform(-0.1, 0, shape)
    )
    return np.where(rng.random(shape) < EQUAL, 0.0, changed)


# What is drawn, and its mean.
DATA: dict[str, tuple[Callable[[tuple[int, ...], np.random.Generator], FloatArray], float]] = {
    "mean": (like_ndcg, ONE + (1 - ZERO - ONE) * BETA[0] / sum(BETA)),
    "no difference": (no_difference, 0.0),
    "better": (better, (1 - EQUAL) * (2 * RISES - 1) / 4),
    "rare gains": (rare_gains, (1 - EQUAL) * (GAINS * 0.65 - (1 - GAINS) * 0.05)),
}


def bounds(
    method: str, values: FloatArray, rng: np.random.Generator, threads: int
) -> tuple[FloatArray, FloatArray]:
    """Low and high bounds of each column."""
    if method == "permutation":
        test = permutation_test(
            np.zeros_like(values), values, n_resamples=DRAWS, rng=rng, threads=threads
        )
        return test.low, test.high
    interval = mean_interval(values, method=method, n_resamples=DRAWS, rng=rng, threads=threads)  # type: ignore[arg-type]
    return interval.low, interval.high


def cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """All of the table, row by row."""
    for data, (draw, truth) in DATA.items():
        for queries in arguments.queries:
            methods = METHODS if data != "mean" else METHODS[:-1]
            found: dict[str, list[tuple[FloatArray, FloatArray]]] = {
                method: [] for method in methods
            }
            show = progress_line(f"{data}, {queries} queries") or (lambda _done, _runs: None)
            for first in range(0, arguments.runs, BATCH):
                rng = np.random.default_rng(
                    (arguments.seed, list(DATA).index(data), queries, first)
                )
                values = draw((queries, min(BATCH, arguments.runs - first)), rng)
                for method in methods:
                    found[method].append(bounds(method, values, rng, arguments.threads))
                show(min(first + BATCH, arguments.runs), arguments.runs)
            for method, parts in found.items():
                low, high = (np.concatenate(part) for part in zip(*parts, strict=True))
                yield cell(data, queries, method, (low, high, truth))


def cell(data: str, queries: int, method: str, found: tuple[FloatArray, FloatArray, float]) -> Cell:
    """Shares and mean width; bounds that miss the truth by rounding alone hold it."""
    low, high, truth = found
    held = (low <= truth + 1e-12) & (high >= truth - 1e-12)
    ends = np.isfinite(low) & np.isfinite(high)
    width = (high - low)[ends].mean() if ends.any() else np.inf
    return Cell(data, queries, method, float(held.mean()), float(width), float(1 - ends.mean()))


def table(rows: Sequence[Cell], separator: str) -> list[str]:
    """A line for each kind of data and number of queries: coverage and, in brackets, width in
    multiples of that of t.
    """
    lines = []
    for data, queries in dict.fromkeys((row.data, row.queries) for row in rows):
        here = {row.method: row for row in rows if (row.data, row.queries) == (data, queries)}
        shown = [
            f"{here[method].coverage:.3f} ({here[method].width / here['t'].width:.2f})"
            if method in here
            else ""
            for method in METHODS
        ]
        parts = [
            f"{data:13}",
            f"{queries:7,}",
            *(f"{text:>12}" for text in shown),
            f"{here['t'].width:7.3f}",
        ]
        lines.append(separator.join(parts))
    return lines


def report(rows: Sequence[Cell], arguments: argparse.Namespace) -> str:
    """The whole answer in the format that was asked for."""
    error = max((row.coverage * (1 - row.coverage) / arguments.runs) ** 0.5 for row in rows)
    if arguments.format == "json":
        facts: dict[str, Any] = {
            "runs": arguments.runs,
            "draws": DRAWS,
            "seed": arguments.seed,
            "level": 0.95,
            "error": error,
        }
        return json.dumps({**facts, "cells": [row._asdict() for row in rows]}, indent=1)
    head = ["data         ", "queries", *(f"{method:>12}" for method in METHODS), "t width"]
    lines = table(rows, " | " if arguments.format == "markdown" else "  ")
    if arguments.format == "markdown":
        rule = "|".join(["---", *["---:"] * (len(head) - 1)])
        lines = [f"| {line} |" for line in [" | ".join(head), *lines]]
        lines.insert(1, f"|{rule}|")
    else:
        lines.insert(0, "  ".join(head))
    unbounded = [
        f"{row.unbounded:.1%} of {row.data}, {row.queries} queries"
        for row in rows
        if row.method == "studentised" and row.unbounded
    ]
    notes = [
        f"Coverage, and in brackets the mean width over that of t; {arguments.runs:,} runs, "
        f"standard error at most {error:.2%}.",
        *(
            [f"Studentised intervals open on one side, not in its widths: {', '.join(unbounded)}."]
            if unbounded
            else []
        ),
    ]
    return "\n".join([*lines, "", *notes])


def main(asked: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=at_least_1, default=1000, help="data sets for each row (default 1000)"
    )
    parser.add_argument(
        "--queries", type=at_least_1, nargs="+", default=list(QUERIES), help="queries of a data set"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=20,
        help="the same seed, the same numbers, on any number of threads (default 20)",
    )
    parser.add_argument("--threads", type=int, default=0, help="0 uses all cores (default)")
    parser.add_argument("--format", choices=["text", "markdown", "json"], default="text")
    arguments = parser.parse_args(asked)
    print(report(list(cells(arguments)), arguments))


if __name__ == "__main__":
    main()
