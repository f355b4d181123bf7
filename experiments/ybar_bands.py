"""How often bands around an estimated ybar hold the truth, and intervals of the NDCG that it
implies.

    python experiments/ybar_bands.py [--runs 200] [--sizes 500 5000] [--models LIN ...] [--methods
    kernel ...] [--implied]

Scores are drawn at random, labels from a known ybar; the estimate sees labels and ranks. Each line
gives, for one size, model and method, the share of true values within the band: the mean over a
grid of 100 canonical scores, the worst of them, that at the top, and the mean width of the band.
With --implied, for several discounts, the share of intervals that hold N* of the true ybar at n =
100,000, and the mean error of the estimated N*.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.theory import YbarEstimate, estimate_ybar, pseudo_expectation
from idealrank.theory.estimation.estimates import Method

METHODS: tuple[Method, ...] = ("kernel", "binned", "isotonic")
GRID = (np.arange(100) + 0.5) / 100
LONG = 100_000
DISCOUNTS = (
    ("log2", None),
    ("log2", "0.2n"),
    ("zipf(0.5)", None),
    ("zipf(0.8)", None),
    ("zipf(1)", None),
)


@dataclass(frozen=True)
class Truth:
    """A ybar, and where it jumps."""

    ybar: Callable[[FloatArray], FloatArray]
    points: tuple[float, ...] = ()


MODELS = {
    "LIN": Truth(lambda s: 0.1 + 0.8 * s),
    "POW": Truth(lambda s: s**2),
    "LOGI": Truth(lambda s: 1 / (1 + np.exp(5 - 8 * s))),
    "STEP": Truth(lambda s: np.where(s < 0.7, 0.1, 0.8), (0.7,)),
    "TOP": Truth(lambda s: 0.02 + 0.88 * s**20),  # few relevant documents, nearly all near the top
}


@dataclass(frozen=True)
class Coverage:
    """What came of many estimates of one truth."""

    mean: float
    worst: float
    top: float
    width: float


def drawn(truth: Truth, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Labels and scores of n documents."""
    scores = rng.random(n)
    return (rng.random(n) < truth.ybar(scores)).astype(np.float64), scores


def coverage(truth: Truth, n: int, method: Method, runs: int, rng: np.random.Generator) -> Coverage:
    """How often the band holds the truth, at each point of the grid."""
    expected = truth.ybar(GRID)
    held, width = np.zeros(GRID.size), 0.0
    for _ in range(runs):
        low, high = estimate_ybar(*drawn(truth, n, rng), method=method).band(GRID)
        held += (low <= expected) & (expected <= high)
        width += float((high - low).mean())
    return Coverage(held.mean() / runs, held.min() / runs, held[-1] / runs, width / runs)


def implied(
    truth: Truth, n: int, method: Method, runs: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """For each discount, how often the interval of N* holds that of the truth, and the mean
    error.
    """
    expected = np.array(
        [pseudo_expectation(truth.ybar, LONG, *pair, points=truth.points) for pair in DISCOUNTS]
    )
    held, error = np.zeros(len(DISCOUNTS)), np.zeros(len(DISCOUNTS))
    for _ in range(runs):
        labels, scores = drawn(truth, n, rng)
        found = intervals(estimate_ybar(labels, scores, method=method), rng)
        held += (found[:, 1] <= expected) & (expected <= found[:, 2])
        error += found[:, 0] - expected
    return held / runs, error / runs


def intervals(estimate: YbarEstimate, rng: np.random.Generator) -> FloatArray:
    """Value, low and high for each discount, shape (n_discounts, 3)."""
    found = [estimate.pseudo_expectation(LONG, *pair, resamples=100, rng=rng) for pair in DISCOUNTS]
    return np.array([(each.value, each.low, each.high) for each in found])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 5000])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--implied", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    heads = (
        [f"{name}{'@' + cut if cut else ''}" for name, cut in DISCOUNTS]
        if options.implied
        else ["mean", "worst", "top", "width"]
    )
    print(
        f"{'n':>6} {'model':<5} {'method':<9}"
        + "".join(f"{head:>16}" if options.implied else f"{head:>8}" for head in heads)
    )
    for n in options.sizes:
        for name, truth in ((name, MODELS[name]) for name in options.models):
            for method in options.methods:
                line = f"{n:>6} {name:<5} {method:<9}"
                if options.implied:
                    held, error = implied(truth, n, method, options.runs, rng)
                    cells = [f"{a:>8.2f} {b:>+7.4f}" for a, b in zip(held, error, strict=True)]
                else:
                    found = coverage(truth, n, method, options.runs, rng)
                    cells = [
                        f"{value:>8.3f}"
                        for value in (found.mean, found.worst, found.top, found.width)
                    ]
                print(line + "".join(cells), flush=True)


if __name__ == "__main__":
    main()
