"""Error rates of `idealrank measures choose`: how often it tells equal settings apart, and how
often it finds a difference that exists.

A setting's values are a run's mean, noise that all settings share, and noise of its own. For the
first table all settings see the same means: whenever one is told from the best, that is a mistake,
and at level 0.95 five of 100 are allowed. For the second one setting sees runs twice as far apart
as the others do: the share of these that are told from it is what the size of the sets of queries
decides.

Usage: ``python experiments/choice_of_size.py`` (some minutes; ``--collections 20`` for a first
look).
"""

import argparse
from collections.abc import Sequence

import numpy as np

from idealrank.analysis.tuning.measurement import usual_size
from idealrank.data.types import FloatArray
from idealrank.stats.discrimination import swap_spread, swap_table

SETTINGS = 20
ALIKE = ((30, 5), (50, 5), (100, 5), (200, 5), (50, 2), (50, 10))  # queries, runs
UNLIKE = ((50, 3), (50, 6), (200, 3), (200, 6))
SHARES = (0.5, 0.25, 0.1)


def values_of(generator: np.random.Generator, queries: int, runs: int, settings: int) -> FloatArray:
    """Noise alone, half of it shared by all settings; shape (queries, runs, settings)."""
    shared, own = (generator.normal(0, 0.1, (queries, runs, count)) for count in (1, settings))
    return np.asarray(shared + own, np.float64)


def told_apart(
    values: FloatArray, size: int, generator: np.random.Generator
) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Which settings are told from the best."""
    rates = swap_table(values, size=size, rng=generator).rates
    margins = swap_spread(values, size=size, rng=generator).margins
    best = int(rates.argmin())
    return np.asarray(rates - rates[best] > margins[best], np.bool_)


def mistakes(queries: int, runs: int, collections: int, generator: np.random.Generator) -> float:
    """Share of the collections in which a setting that is like all others is told from the best."""
    found = 0
    for _ in range(collections):
        values = values_of(generator, queries, runs, SETTINGS) + generator.normal(
            0, 0.05, (runs, 1)
        )
        found += bool(told_apart(values, usual_size(queries), generator).any())
    return found / collections


def power(
    queries: int, runs: int, share: float, collections: int, generator: np.random.Generator
) -> float:
    """Share of the worse settings that are told from the one that sees twice as much."""
    found = 0.0
    for _ in range(collections):
        values = values_of(generator, queries, runs, 6)
        means = np.linspace(-0.12, 0.12, runs)
        values += means[:, None] * np.array([1.0, *[0.5] * 5])
        found += float(told_apart(values, max(int(queries * share), 1), generator)[1:].mean())
    return found / collections


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument(
        "--collections",
        type=int,
        default=200,
        help="simulated collections for each number, default 200",
    )
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    generator = np.random.default_rng(options.seed)
    print(
        f"settings that are alike, {SETTINGS} of them: one told from the best in so many of "
        f"100 collections"
    )
    for queries, runs in ALIKE:
        print(
            f"{queries:4} queries, {runs:2} runs  "
            f"{100 * mistakes(queries, runs, options.collections, generator):5.1f}",
            flush=True,
        )
    print(
        "a setting that sees runs twice as far apart as five others: share of these told from "
        "it, by the size of the sets"
    )
    for queries, runs in UNLIKE:
        found = [
            power(queries, runs, share, options.collections // 2, generator) for share in SHARES
        ]
        shares = "  ".join(
            f"n * {share:g}: {told:.2f}" for share, told in zip(SHARES, found, strict=True)
        )
        print(f"{queries:4} queries, {runs:2} runs  {shares}", flush=True)


if __name__ == "__main__":
    main()
