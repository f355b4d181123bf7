"""What an interval of a difference covers when systems are trained several times, and the seeds are
left out.

Where      Comparisons of trained rankers in papers: the mean over a few seeds, or a single seed,
and a paired test over the queries. Claimed    That a 95 % interval over queries holds the
difference of the two systems in 95 of 100 experiments. Found      It holds the difference of the
trained copies. That of the systems, which anybody who trains them again will see, it holds
           less often the more queries there are: queries shrink the interval, and not the variance
           of training.
Shown by   Two systems whose true difference is 0. A value is system + query + query of the system
(sd 0.12) + seed of the system +
           residual (sd 0.08); seeds have a sd of 0.01, as nDCG@10 of fine-tuned rankers often has.
           Share of 95 % intervals that hold 0:

    one copy     the paired t interval of the first copies
    means        the paired t interval of the means over seeds
    pooled       the t interval of all queries x seeds as if independent
    both         `replicated_difference`, which counts seeds and queries
    width        mean width of the last over that of `means`

The second table is about few copies. One t interval with Satterthwaite's degrees of freedom for the
sum of all variances covers too little there: if the few copies happen to agree, their variance is
too small, and the degrees of freedom of the whole are too many at the same time.

    one t        share of these intervals that hold 0
    replicated   share for `replicated_difference`
    width        median width of the latter over that of known variances (1.96 standard errors)
    power        share of experiments that find the difference that `compare_systems` states in the
                 median, by a shift of all queries; none for fewer than five copies

A design says how the copies of a and b differ:

    one alike    k copies of a, one of b, trained alike (`single="alike"`)
    both         k copies of each
    spread x4    k copies of each; the seeds of b have a sd of 0.04
    against 10   k copies of a, 10 of b
    few vary     k copies of a, whose seeds have a sd of 0.04, and 10 of b

The third table has systems that differ, and whose copies differ, on some of the queries only. The
true difference is set to the median of the statements; *former* is what a t test would find if all
queries shifted.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import stats

from idealrank.analysis.systems import detectable_between
from idealrank.data.types import FloatArray
from idealrank.stats import replicated_difference
from idealrank.stats.comparison import smallest_visible

SIZES = (
    (50, 2),
    (50, 5),
    (200, 2),
    (200, 3),
    (200, 5),
    (1000, 2),
    (1000, 3),
    (1000, 5),
    (1000, 10),
)
QUERY, SEED, RESIDUAL = 0.12, 0.01, 0.08
TRIALS = 2000
FEW_TRIALS = 4000
FEW_QUERIES, FEW_SEEDS = (50, 400), (2, 3, 5, 10)
STATEMENTS = 500  # experiments behind a median of statements
ALPHA, POWER = 0.05, 0.8
CHANGING, CHANGED_QUERIES, CHANGED_SEEDS = (1.0, 0.2), (50, 100, 200), (5, 10)


def drawn(n_queries, n_seeds, rng, seed=SEED):
    """Values of the two systems, each (queries, seeds)."""
    return of_systems(n_queries, ((n_seeds, seed), (n_seeds, seed)), rng)


def of_systems(
    n_queries: int, systems: Sequence[tuple[int, float]], rng: np.random.Generator
) -> tuple[FloatArray, ...]:
    """Values of systems, each (queries, seeds), by their numbers of seeds and the seeds' sd."""
    difficulty = 0.5 + rng.normal(0, 0.2, (n_queries, 1))

    def system(n_seeds: int, spread: float) -> FloatArray:
        own = rng.normal(0, QUERY / 2**0.5, (n_queries, 1))
        training = rng.normal(0, spread, n_seeds)
        return difficulty + own + training + rng.normal(0, RESIDUAL, (n_queries, n_seeds))

    return tuple(system(*one) for one in systems)


def holds_zero(differences):
    """True if the t interval of the mean of independent differences holds 0."""
    flat = differences.reshape(-1)
    return abs(flat.mean()) <= stats.t.isf(0.025, flat.size - 1) * flat.std(ddof=1) / flat.size**0.5


def coverage(n_queries, n_seeds, *, trials=TRIALS, rng=None, seed=SEED):
    """Shares of intervals that hold the true difference: one copy, means, pooled, both; and the
    last one's mean relative width.
    """
    generator = np.random.default_rng(rng)
    held, widths = np.zeros(4), 0.0
    for _ in range(trials):
        a, b = drawn(n_queries, n_seeds, generator, seed)
        found = replicated_difference(a, b)
        means = b.mean(axis=1) - a.mean(axis=1)
        held += [
            holds_zero(b[:, 0] - a[:, 0]),
            holds_zero(means),
            holds_zero(b - a),
            found.low <= 0 <= found.high,
        ]
        widths += (found.high - found.low) / (
            2 * stats.t.isf(0.025, n_queries - 1) * found.query_error
        )
    return (*(held / trials), widths / trials)


class Design(NamedTuple):
    """Copies of a and b, None for as many as the row has; how much their seeds vary."""

    copies: tuple[int | None, int | None]
    spreads: tuple[float, float] = (SEED, SEED)


DESIGNS = {
    "one alike": Design((None, 1)),
    "both": Design((None, None)),
    "spread x4": Design((None, None), (SEED, 4 * SEED)),
    "against 10": Design((None, 10)),
    "few vary": Design((None, 10), (4 * SEED, SEED)),
}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """Design, number of queries, and number of copies of the side that has few."""

    design: str
    n_queries: int
    n_seeds: int

    @property
    def systems(self) -> list[tuple[int, float]]:
        """Number of copies and spread of the seeds, of a and of b."""
        copies, spreads = DESIGNS[self.design]
        numbers = [self.n_seeds if number is None else number for number in copies]
        return list(zip(numbers, spreads, strict=True))

    @property
    def standard_error(self) -> float:
        """The true one of the difference."""
        training = sum((sd**2 + RESIDUAL**2 / self.n_queries) / k for k, sd in self.systems)
        return float((QUERY**2 / self.n_queries + training) ** 0.5)


class Covered(NamedTuple):
    """Shares of intervals that hold the true difference, median relative width, and power."""

    one_t: float
    replicated: float
    width: float
    power: float


def covered(cell: Cell, *, trials: int = FEW_TRIALS, rng: int | None = None) -> Covered:
    """Simulate a cell of the second table."""
    generator = np.random.default_rng(rng)
    single = "alike" if DESIGNS[cell.design].copies[1] == 1 else None
    held_by_one_t, found, sizes = 0, [], []
    for trial in range(trials):
        a, b = of_systems(cell.n_queries, cell.systems, generator)
        found.append(replicated_difference(a, b, single=single))
        held_by_one_t += abs(found[-1].difference) <= one_t(a, b)
        if trial < STATEMENTS:
            sizes.append(detectable_between(found[-1], (a, b), ALPHA).size)
    halves = np.array([(one.high - one.low) / 2 for one in found])
    differences = np.array([one.difference for one in found])
    size = float(np.median(sizes))
    return Covered(
        one_t=held_by_one_t / trials,
        replicated=float((np.abs(differences) <= halves).mean()),
        width=float(np.median(halves) / (1.96 * cell.standard_error)),
        power=float((differences + size > halves).mean()) if np.isfinite(size) else np.nan,
    )


class Changed(NamedTuple):
    """Statements on systems that differ on some queries: share of experiments, median, power; the
    former ones.
    """

    stated: float
    size: float
    power: float
    former: float
    former_power: float


def of_changed(
    n_queries: int, n_seeds: int, share: float, true: float, rng: np.random.Generator
) -> tuple[FloatArray, ...]:
    """Values of two systems, each (queries, seeds), which vary on a share of the queries alone."""
    changes = rng.random((n_queries, 1)) < share
    own = rng.normal(true / share, QUERY, (n_queries, 1))

    def system(base: FloatArray) -> FloatArray:
        training = rng.normal(0, SEED / share, n_seeds)
        return np.where(
            changes, base + training + rng.normal(0, RESIDUAL, (n_queries, n_seeds)), 0.0
        )

    return system(np.zeros((n_queries, 1))), system(own)


def changed(
    n_queries: int, n_seeds: int, share: float, *, trials: int = FEW_TRIALS, rng: int | None = None
) -> Changed:
    """Simulate a row of the third table."""
    generator = np.random.default_rng(rng)
    stated, former = [], []
    for _ in range(min(STATEMENTS, trials)):
        values = of_changed(n_queries, n_seeds, share, 0.0, generator)
        found = replicated_difference(*values)
        stated.append(detectable_between(found, values, ALPHA).size)
        former.append(
            smallest_visible(
                found.standard_error * n_queries**0.5, n_queries, found.df, ALPHA, POWER
            )
        )
    made = np.isfinite(stated)
    sizes = [
        float(np.median(np.array(stated)[made])) if made.any() else np.nan,
        float(np.median(former)),
    ]
    powers = [_share_found(n_queries, n_seeds, share, size, trials, generator) for size in sizes]
    return Changed(float(made.mean()), sizes[0], powers[0], sizes[1], powers[1])


def _share_found(
    n_queries: int, n_seeds: int, share: float, true: float, trials: int, rng: np.random.Generator
) -> float:
    if not np.isfinite(true):
        return np.nan
    found = [
        replicated_difference(*of_changed(n_queries, n_seeds, share, true, rng))
        for _ in range(trials)
    ]
    return float(np.mean([one.p <= ALPHA for one in found]))


def one_t(a: FloatArray, b: FloatArray) -> float:
    """Half the width of a t interval whose degrees of freedom are Satterthwaite's for the whole."""
    n = len(a)
    several = [side for side in (a, b) if side.shape[1] > 1]
    # One copy beside several: its variance is that of the other side, times the number of copies.
    scale = 1 if len(several) == 2 else 1 + several[0].shape[1]
    by_query = (b.mean(axis=1) - a.mean(axis=1)).var(ddof=1) / n
    variance, spread = by_query, by_query**2 / (n - 1)
    for side in several:
        k = side.shape[1]
        rest = side - side.mean(axis=0) - side.mean(axis=1, keepdims=True) + side.mean()
        between = scale * side.mean(axis=0).var(ddof=1) / k
        within = scale * (rest**2).sum() / ((n - 1) * (k - 1) * n * k)
        if between > within:
            variance += between - within
            spread += between**2 / (k - 1) + within**2 / ((n - 1) * (k - 1))
    return float(stats.t.isf(0.025, variance**2 / spread) * variance**0.5)


def few_rows() -> Iterator[list[Cell]]:
    """The cells of each row of the second table: one for each number of queries."""
    for design, (copies, _) in DESIGNS.items():
        for n_seeds in FEW_SEEDS:
            if n_seeds not in copies:
                yield [Cell(design=design, n_queries=n, n_seeds=n_seeds) for n in FEW_QUERIES]


def left_out_table(trials: int, seed: int) -> None:
    """Print what intervals cover that leave the seeds out."""
    print(
        f"{'queries':>8} {'seeds':>6} {'one copy':>9} {'means':>7} {'pooled':>7} {'both':>7} "
        f"{'width':>7}"
    )
    for number, (n_queries, n_seeds) in enumerate(SIZES, seed):
        one, means, pooled, both, width = coverage(n_queries, n_seeds, trials=trials, rng=number)
        print(
            f"{n_queries:8} {n_seeds:6} {one:9.3f} {means:7.3f} {pooled:7.3f} {both:7.3f} "
            f"{width:7.2f}"
        )
    print(
        f"\nEach share has a standard error of at most {0.5 / trials**0.5:.3f} ({trials} "
        f"experiments a row)."
    )


def few_table(trials: int, seed: int) -> None:
    """Print what intervals of few copies cover, in Markdown."""
    titles = [
        f"{what}, {n}" for n in FEW_QUERIES for what in ("one t", "replicated", "width", "power")
    ]
    print(f"| design | copies | {' | '.join(titles)} |")
    print(f"|---|---:|{'---:|' * len(titles)}")
    number = seed
    for cells in few_rows():
        shown = []
        for cell in cells:
            found = covered(cell, trials=trials, rng=number)
            power = "none" if np.isnan(found.power) else f"{found.power:.2f}"
            shown += [f"{found.one_t:.3f}", f"{found.replicated:.3f}", f"{found.width:.2f}", power]
            number += 1
        print(f"| {cells[0].design} | {cells[0].n_seeds} | {' | '.join(shown)} |", flush=True)
    error = (0.95 * 0.05 / trials) ** 0.5
    print(f"\nA share of 0.95 has a standard error of {error:.4f} ({trials} experiments a cell).")


def changed_table(trials: int, seed: int) -> None:
    """Print what systems find that differ on some queries, in Markdown."""
    print(
        "| queries that change | queries | copies | stated in | median | found | former | found |"
    )
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    number = seed
    for share in CHANGING:
        for n_queries in CHANGED_QUERIES:
            for n_seeds in CHANGED_SEEDS:
                row = changed(n_queries, n_seeds, share, trials=trials, rng=number)
                cells = ["-" if np.isnan(value) else f"{value:.3f}" for value in row[1:]]
                print(
                    f"| {share:.0%} | {n_queries} | {n_seeds} | {row.stated:.0%} | "
                    f"{' | '.join(cells)} |",
                    flush=True,
                )
                number += 1
    error = (POWER * (1 - POWER) / trials) ** 0.5
    print(
        f"\nA share of {POWER:g} has a standard error of {error:.4f} ({trials} experiments a cell)."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--table", choices=["left-out", "few", "changed"], help="one table alone; all by default"
    )
    parser.add_argument(
        "--trials", type=int, help=f"experiments a row (default {TRIALS} and {FEW_TRIALS})"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="the same seed, the same numbers (default 0)"
    )
    asked = parser.parse_args(arguments)
    if asked.table in (None, "left-out"):
        left_out_table(asked.trials or TRIALS, asked.seed)
    if asked.table in (None, "few"):
        few_table(asked.trials or FEW_TRIALS, asked.seed)
    if asked.table in (None, "changed"):
        changed_table(asked.trials or FEW_TRIALS, asked.seed)


if __name__ == "__main__":
    main()
