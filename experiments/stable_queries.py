"""What 500 and 1,000 queries can tell, made of the rule that '500 to 1,000 queries are stable'.

The rule names a number of queries and no difference. What decides is the standard deviation of the
differences, query by query.

1  What n queries see, for a standard deviation of the differences from 0.05 to 0.4: the half width
of the 95 % interval, and the true
   difference that the two-sided t test at 0.05 detects with 80 % power. Formulas, no simulation.
2  Swaps: how often two sets of n queries each order two systems in opposite ways, although the true
difference is the same. Values like
   those of nDCG (a quarter 0, a tenth 1, the others skewed), simulated; beside it what the normal
   law says.
3  The rankers of the demo: sets of n queries drawn with replacement from its 60. BM25, MiniLM, and
two fusions of both: reciprocal ranks
   with equal weights, and with BM25 at two thirds.
"""

import argparse
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import stats

import idealrank as ir
from idealrank.data.types import FloatArray
from idealrank.stats import detectable, half_width, queries_needed

DEMO = Path(__file__).resolve().parents[1] / "examples" / "pydocs"
SDS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
SIZES = (50, 500, 1000, 10_000)
DIFFERENCES = (0.005, 0.01, 0.02)
ZERO, ONE, BETA = 0.25, 0.1, (1.2, 1.8)  # as in interval_coverage.py
# of the queries have another value in the second system, more where the standard deviation asks for
# it
CHANGED = 0.5
FUSED_FROM = 60  # the constant of reciprocal rank fusion
_AT_ONCE = 1 << 22


class Law(NamedTuple):
    """How the differences of two systems are made: of the queries, `changed` move by `scale`
    towards another value, most of them up.
    """

    changed: float
    scale: float
    up: float


def like_ndcg(shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Values of one system."""
    kind = rng.random(shape)
    return np.where(kind < ZERO, 0.0, np.where(kind < ZERO + ONE, 1.0, rng.beta(*BETA, shape)))


def moments() -> tuple[float, float]:
    """Mean absolute and mean squared difference of two independent values."""
    body, mean = 1 - ZERO - ONE, BETA[0] / sum(BETA)
    square = mean**2 + stats.beta(*BETA).var()
    variance = ONE + body * square - (ONE + body * mean) ** 2
    grid = np.linspace(0, 1, 200_001)
    below = stats.beta.cdf(grid, *BETA)
    of_body = 2 * np.trapezoid(below * (1 - below), grid)
    absolute = (
        2 * ZERO * ONE + 2 * ZERO * body * mean + 2 * ONE * body * (1 - mean) + body**2 * of_body
    )
    return float(absolute), float(2 * variance)


def law_of(difference: float, sd: float) -> Law:
    """The law with this mean and standard deviation of the differences."""
    absolute, square = moments()
    second = sd**2 + difference**2
    changed = max(CHANGED, second / square)
    scale = (second / (changed * square)) ** 0.5
    tilt = difference / (changed * scale * absolute)
    if changed > 1 or tilt > 1:
        raise ValueError(
            f"no such values have a mean difference of {difference} with a standard deviation "
            f"of {sd}"
        )
    return Law(changed, scale, (1 + tilt) / 2)


def differences(law: Law, shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Differences of two systems whose values both lie in [0, 1]."""
    size = law.scale * np.abs(like_ndcg(shape, rng) - like_ndcg(shape, rng))
    signed = np.where(rng.random(shape) < law.up, size, -size)
    return np.where(rng.random(shape) < law.changed, signed, 0.0)


def swap_share(law: Law, n: int, trials: int, rng: np.random.Generator) -> float:
    """Share of pairs of sets, each of n queries, whose means have opposite signs."""
    swapped, per = 0, max(1, _AT_ONCE // (2 * n))
    for first in range(0, trials, per):
        means = differences(law, (min(per, trials - first), 2, n), rng).mean(axis=2)
        swapped += int((means[:, 0] * means[:, 1] < 0).sum())
    return swapped / trials


def normal_swap(difference: float, sd: float, n: int) -> float:
    """The same where means are normal."""
    wrong = float(stats.norm.sf(difference * n**0.5 / sd))
    return 2 * wrong * (1 - wrong)


def demo_runs(measure: str = "nDCG@10") -> dict[str, FloatArray]:
    """The measure on every query of the demo, by run."""
    qrels = ir.read_qrels(str(DEMO / "qrels.txt"))
    runs = {name: ir.read_run(str(DEMO / f"{name}.run")) for name in ("bm25", "minilm")}
    fused = {"fused 1:1": (1.0, 1.0), "fused 2:1": (2.0, 1.0)}
    found = {name: ir.evaluate(qrels, run, measure)[measure] for name, run in runs.items()}
    for name, weights in fused.items():
        scores = {
            query: _fused([runs[run].ranking(query).documents for run in runs], weights)
            for query in qrels
        }
        found[name] = ir.evaluate(qrels, scores, measure)[measure]
    return {name: found[name] for name in ("bm25", "fused 2:1", "fused 1:1", "minilm")}


def _fused(rankings: Sequence[Sequence[str]], weights: Sequence[float]) -> dict[str, float]:
    scores: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        for rank, document in enumerate(ranking, 1):
            scores[document] = scores.get(document, 0.0) + weight / (FUSED_FROM + rank)
    return scores


class Drawn(NamedTuple):
    """Two runs on sets of n queries of the demo."""

    sd_of_means: float
    wrong: float
    swaps: float


def drawn(change: FloatArray, n: int, trials: int, rng: np.random.Generator) -> Drawn:
    """Spread of the mean difference, share of sets with the wrong sign, share of pairs of sets that
    disagree.
    """
    means = np.array([rng.choice(change, (2, n)).mean(axis=1) for _ in range(trials)])
    return Drawn(
        float(means.std()),
        float((means * change.mean() < 0).mean()),
        float((means[:, 0] * means[:, 1] < 0).mean()),
    )


def seen_lines() -> list[list[str]]:
    """Section 1."""
    rows = [
        [
            "sd",
            *(f"+- at {n:,}" for n in SIZES),
            *(f"seen by {n:,}" for n in SIZES),
            "needed for 0.01",
        ]
    ]
    for sd in SDS:
        widths, visible = ([f"{of(n, sd):.4f}" for n in SIZES] for of in (half_width, detectable))
        rows.append([f"{sd:.2f}", *widths, *visible, f"{queries_needed(0.01, sd):,}"])
    return rows


def swap_lines(trials: int, seed: int) -> list[list[str]]:
    """Section 2."""
    rows = [["sd", "difference", *(f"at {n:,} (normal)" for n in SIZES[:-1])]]
    for sd in (0.05, 0.1, 0.2, 0.4):
        for difference in DIFFERENCES:
            law = law_of(difference, sd)
            shares = [
                f"{swap_share(law, n, trials, np.random.default_rng((seed, n, len(rows)))):.3f} "
                f"({normal_swap(difference, sd, n):.3f})"
                for n in SIZES[:-1]
            ]
            rows.append([f"{sd:.2f}", f"{difference}", *shares])
    return rows


def demo_lines(trials: int, seed: int) -> list[list[str]]:
    """Section 3."""
    rows = [
        [
            "runs",
            "difference",
            "sd",
            *(f"{what} {n}" for n in (20, 50, 500) for what in ("sd of means", "wrong", "swaps")),
        ]
    ]
    values = demo_runs()
    pairs = [*pairwise(values), ("bm25", "minilm")]
    for a, b in pairs:
        change = values[b] - values[a]
        found = [drawn(change, n, trials, np.random.default_rng((seed, n))) for n in (20, 50, 500)]
        shown = [
            text
            for one in found
            for text in (f"{one.sd_of_means:.4f}", f"{one.wrong:.3f}", f"{one.swaps:.3f}")
        ]
        rows.append([f"{a}, {b}", f"{change.mean():+.4f}", f"{change.std(ddof=1):.3f}", *shown])
    return rows


def printed(rows: Sequence[Sequence[str]], form: str) -> str:
    """A table for reading, or for a page."""
    if form == "markdown":
        rule = ["---", *["---:"] * (len(rows[0]) - 1)]
        return "\n".join("| " + " | ".join(row) + " |" for row in [rows[0], rule, *rows[1:]])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Print the three tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--trials",
        type=int,
        default=10_000,
        help="simulated pairs of sets for each number (default %(default)s)",
    )
    parser.add_argument("--quick", action="store_true", help="200 trials: a look, in seconds")
    parser.add_argument(
        "--seed",
        type=int,
        default=500,
        help="the same seed, the same numbers (default %(default)s)",
    )
    parser.add_argument("--format", choices=["text", "markdown"], default="text")
    arguments = parser.parse_args(argv)
    trials = 200 if arguments.quick else arguments.trials
    of_demo = min(trials, 4000)
    sections = {
        "1  What n queries see: half width of the interval, and the difference detected with "
        "80 % power": seen_lines(),
        "2  Share of swaps between two sets of n queries": swap_lines(trials, arguments.seed),
        "3  Sets of n queries of the demo": demo_lines(of_demo, arguments.seed),
    }
    for title, rows in sections.items():
        print(f"{title}\n\n{printed(rows, arguments.format)}\n")
    errors = (0.5 / count**0.5 for count in (trials, of_demo))
    print(
        "Standard error of a share: at most {:.4f} in table 2, {:.4f} in table 3.".format(*errors)
    )


if __name__ == "__main__":
    main()
