"""Why the tests of a comparison are what they are by default: what each test, and each common
habit, does where the truth is known.

alarms     Two systems with equal means: how often each paired test calls one of them better. power
A true difference of two standard errors: how often each finds it. zeros      Wilcoxon's test with
most differences 0: ranks that count the zeros (Pratt), or not (Wilcoxon), or shared to both sides.
weights    Queries of very unequal weight: sign flips, and t with Kish's degrees of freedom. pairing
Tests that know that both systems ran on the same queries, and tests that do not. missing    A run
without results for some queries: zero in the union, left out of its own mean, or left out of both.
families   Ten runs against a baseline by three measures: no correction, Holm, Benjamini and
Hochberg, max-T. pairs      All pairs of twenty runs: no correction, Holm, the randomised HSD. looks
Testing again and again, trying seeds, and choosing the side after the fact. draws      How many
random sign flips, and how often another seed would decide otherwise. level      What 0.95 and 0.8
cost in queries.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from models import at_least_1, progress_line
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata
from sign_flips import tails
from simulated_changes import KINDS, Changes, lopsided
from which_family import (
    draws_table,
    families_table,
    level_table,
    looks_table,
    missing_table,
    pairs_table,
)

from idealrank.data.types import BoolArray, FloatArray
from idealrank.stats import Design, detectable, mann_whitney, paired_t, sign_test, welch_t
from idealrank.stats.paired_tests import SignedRanks

ALPHA = 0.05
BATCH = 500
DRAWS = 1999
QUERIES = (25, 50, 200, 1000)
UNPAIRED_QUERIES = (50, 200, 1000)
WEIGHTED_QUERIES = (50, 250)


class Table(NamedTuple):
    """What is printed of a section."""

    section: str
    head: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    note: str = ""


Draw = Callable[[int, int, np.random.Generator, float], FloatArray]


def symmetric(queries: int, sets: int, rng: np.random.Generator, errors: float) -> FloatArray:
    """All queries differ, up or down alike, but for a shift of so many standard errors."""
    found = np.where(rng.random((queries, sets)) < 0.5, 1, -1) * rng.beta(1, 6, (queries, sets))
    # E d^2 of Beta(1, 6) is 1/28
    return np.asarray(found - errors * (1 / 28) ** 0.5 / queries**0.5)


def skewed(queries: int, sets: int, rng: np.random.Generator, _errors: float) -> FloatArray:
    """Few large gains and many small losses, of mean 0, in every query."""
    return lopsided((queries, sets), rng, 1.0)


def rarely_skewed(queries: int, sets: int, rng: np.random.Generator, _errors: float) -> FloatArray:
    """The same in a fifth of the queries, the others equal."""
    return lopsided((queries, sets), rng, 0.2)


def of_kind(name: str) -> Draw:
    """Differences by a kind of change, with a drop of so many standard errors of the harmless
    change.
    """

    def drawn(queries: int, sets: int, rng: np.random.Generator, errors: float) -> FloatArray:
        changes = Changes(KINDS[name], queries, sets, rng, 1)
        drop = errors * float(changes.base.differences.std()) / queries**0.5
        return changes.dropped(min(drop, 0.999 * changes.loss)).differences[..., 0]

    return drawn


NULLS: dict[str, Draw] = {
    "symmetric": symmetric,
    "80 % equal": of_kind("small change"),
    "real rankings": of_kind("real rankings"),
    "skewed": skewed,
    "80 % equal, skewed": rarely_skewed,
}
TRUE: dict[str, Draw] = {
    "all shifted": symmetric,
    "80 % equal": of_kind("small change"),
    "re-training": of_kind("re-training"),
    "real rankings": of_kind("real rankings"),
}


def bootstrap(differences: FloatArray, rng: np.random.Generator) -> tuple[BoolArray, BoolArray]:
    """Whether 0 is outside the percentile interval; and whether the bootstrap around 0 (shift
    method) has p <= alpha.
    """
    queries = len(differences)
    counts = rng.multinomial(queries, np.full(queries, 1 / queries), DRAWS).astype(np.float64)
    means, mean = counts @ differences / queries, differences.mean(axis=0)
    slack = 1e-12 * np.abs(differences).mean(axis=0)
    low, high = (means <= slack).sum(axis=0), (means >= -slack).sum(axis=0)
    percentile = np.minimum(low, high) + 1 <= ALPHA / 2 * (DRAWS + 1)
    shifted = (np.abs(means - mean) >= np.abs(mean) - slack).sum(axis=0) + 1 <= ALPHA * (DRAWS + 1)
    return percentile, shifted


def decided(differences: FloatArray, rng: np.random.Generator) -> dict[str, BoolArray]:
    """Which columns each paired test calls different, two-sided at 0.05."""
    zeros = np.zeros_like(differences)
    percentile, shifted = bootstrap(differences, rng)
    return {
        "permutation": tails(differences, rng).both[0] <= ALPHA,
        "t": paired_t(zeros, differences).p <= ALPHA,
        "Wilcoxon": SignedRanks.of(differences).p("two-sided") <= ALPHA,
        "sign": sign_test(zeros, differences).p <= ALPHA,
        "bootstrap, percentile": percentile,
        "bootstrap, shifted": shifted,
    }


def shares(
    draw: Callable[[int, np.random.Generator], dict[str, BoolArray]],
    name: str,
    key: Sequence[int],
    sets: int,
) -> dict[str, float]:
    """Mean of what `draw` decides over all sets, a batch at a time."""
    found: dict[str, list[BoolArray]] = {}
    show = progress_line(name) or (lambda _done, _all: None)
    for first in range(0, sets, BATCH):
        rng = np.random.default_rng((*key, first))
        for label, column in draw(min(BATCH, sets - first), rng).items():
            found.setdefault(label, []).append(column)
        show(min(first + BATCH, sets), sets)
    return {label: float(np.concatenate(parts).mean()) for label, parts in found.items()}


def _of_tests(
    section: str, laws: dict[str, Draw], errors: float, asked: argparse.Namespace
) -> Table:
    rows = []
    for at, (law, draw) in enumerate(laws.items()):
        for queries in QUERIES:

            def one(
                sets: int, rng: np.random.Generator, draw: Draw = draw, queries: int = queries
            ) -> dict[str, BoolArray]:
                return decided(draw(queries, sets, rng, errors), rng)

            found = shares(
                one,
                f"{section}: {law}, {queries} queries",
                (asked.seed, len(section), at, queries),
                asked.runs,
            )
            rows.append((law, queries, *found.values()))
    return Table(section, ("data", "queries", *found), rows)


def alarms_table(asked: argparse.Namespace) -> Table:
    """Type I error."""
    return _of_tests("alarms", NULLS, 0.0, asked)


def power_table(asked: argparse.Namespace) -> Table:
    """Power at two standard errors."""
    return _of_tests("power", TRUE, 2.0, asked)


def zipf(queries: int) -> FloatArray:
    """The r-th most frequent query counts 1/r."""
    return 1.0 / np.arange(1, queries + 1)


def lognormal(queries: int) -> FloatArray:
    """Quantiles in the middle of equal steps; the logarithm has a standard deviation of 2."""
    return np.asarray(np.exp(2 * ndtri((np.arange(queries) + 0.5) / queries)))


def pareto(queries: int) -> FloatArray:
    """Quantiles likewise, of the law with the exponent 1.1, whose variance is infinite."""
    return np.asarray((1 - (np.arange(queries) + 0.5) / queries) ** (-1 / 1.1))


WEIGHTS = {"1/rank": zipf, "lognormal": lognormal, "Pareto": pareto}


def weighted_decisions(
    differences: FloatArray, design: Design, rng: np.random.Generator
) -> dict[str, BoolArray]:
    """Mark the columns that each test calls different, two-sided at 0.05, under weights."""
    weights = np.ones(design.n) if design.weights is None else design.weights
    zeros = np.zeros_like(differences)
    return {
        "permutation": tails(weights[:, None] * differences, rng).both[0] <= ALPHA,
        "t": paired_t(zeros, differences, design=design).p <= ALPHA,
    }


def weights_table(asked: argparse.Namespace) -> Table:
    """Type I error, and power at two standard errors of the weighted mean."""
    rows: list[tuple[Any, ...]] = []
    for law in ("all shifted", "80 % equal"):
        for at, (name, weights_of) in enumerate(WEIGHTS.items()):
            for queries in WEIGHTED_QUERIES:
                design = Design.of(queries, weights=weights_of(queries))
                found = _of_weights(law, design, (asked.seed, 9, at), asked.runs)
                worth = round(design.effective_units, 1)
                rows.append((law, name, queries, f"{worth:.1f}", *found))
    titles = [f"{test}, {what}" for what in ("alarms", "power") for test in ("permutation", "t")]
    return Table("weights", ("data", "weights", "queries", "worth", *titles), rows)


def _of_weights(law: str, design: Design, key: Sequence[int], runs: int) -> list[float]:
    """Alarms of each test, then power."""
    found: list[float] = []
    for errors in (0.0, 2.0):
        # Laws shift by standard errors of a plain mean, and a weighted one has larger ones.
        shift = errors * (design.n / design.effective_units) ** 0.5

        def one(sets: int, rng: np.random.Generator, shift: float = shift) -> dict[str, BoolArray]:
            return weighted_decisions(TRUE[law](design.n, sets, rng, shift), design, rng)

        label = f"weights: {law}, {design.n} queries"
        found += shares(one, label, (*key, design.n, len(law), int(errors)), runs).values()
    return found


def signed_rank_p(differences: FloatArray, zeros: str) -> FloatArray:
    """Two-sided p of Wilcoxon's test by the normal approximation, with zeros treated as Pratt,
    Wilcoxon, or a split would.
    """
    sizes = np.abs(differences)
    if zeros == "pratt":
        return SignedRanks.of(differences).p("two-sided")
    if zeros == "wilcoxon":  # rank the others alone: zeros last
        ranks = np.where(
            differences != 0, rankdata(np.where(sizes > 0, sizes, np.inf), axis=0), 0.0
        )
        half = np.zeros(differences.shape[1])
    else:
        every = rankdata(sizes, axis=0)
        ranks, half = (
            np.where(differences != 0, every, 0.0),
            np.where(differences == 0, every, 0.0).sum(axis=0) / 2,
        )
    total = (ranks * (differences > 0)).sum(axis=0) + half
    # As SciPy has it, the split keeps the variance of all ranks.
    spread = np.sqrt(
        ((ranks**2).sum(axis=0) + (_zero_squares(sizes) if zeros == "split" else 0)) / 4
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        z = (total - half - ranks.sum(axis=0) / 2) / spread
    return np.where(spread > 0, 2 * ndtr(-np.abs(np.nan_to_num(z))), 1.0)


def _zero_squares(sizes: FloatArray) -> FloatArray:
    return np.asarray((np.where(sizes == 0, rankdata(sizes, axis=0), 0.0) ** 2).sum(axis=0))


def zeros_table(asked: argparse.Namespace) -> Table:
    """Three ways with zero differences."""
    rows: list[tuple[Any, ...]] = []
    for errors, what in ((0.0, "alarms"), (2.0, "power")):
        for queries in QUERIES:

            def one(
                sets: int, rng: np.random.Generator, queries: int = queries, errors: float = errors
            ) -> dict[str, BoolArray]:
                differences = TRUE["80 % equal"](queries, sets, rng, errors)
                return {
                    way: signed_rank_p(differences, way) <= ALPHA
                    for way in ("pratt", "wilcoxon", "split")
                }

            rows.append(
                (
                    what,
                    queries,
                    *shares(
                        one,
                        f"zeros: {queries} queries",
                        (asked.seed, 7, queries, int(errors)),
                        asked.runs,
                    ).values(),
                )
            )
    return Table("zeros", ("80 % equal", "queries", "Pratt", "Wilcoxon", "split"), rows)


def pairing_table(asked: argparse.Namespace) -> Table:
    """Tests that know the pairs and tests that do not, on a re-training with the drop that 80 % of
    the paired t tests should find.
    """
    rows: list[tuple[Any, ...]] = []
    for queries in UNPAIRED_QUERIES:
        for drops, what in ((False, "no difference"), (True, "`detectable`")):

            def one(
                sets: int,
                rng: np.random.Generator,
                queries: int = queries,
                drops: bool = drops,  # noqa: FBT001
            ) -> dict[str, BoolArray]:
                base = Changes(KINDS["re-training"], queries, sets, rng, 1).base
                drop = float(detectable(queries, float(base.differences.std()))) if drops else 0.0
                a, b = base.before[..., 0], base.after[..., 0] - drop
                return {
                    "permutation": tails(b - a, rng).both[0] <= ALPHA,
                    "t": paired_t(a, b).p <= ALPHA,
                    "Welch": welch_t(a, b).p <= ALPHA,
                    "Mann-Whitney": mann_whitney(a, b).p <= ALPHA,
                }

            found = shares(
                one, f"pairing: {queries} queries", (asked.seed, 8, queries, int(drops)), asked.runs
            )
            rows.append((what, queries, *found.values()))
    changes = Changes(KINDS["re-training"], 20_000, 1, np.random.default_rng(asked.seed), 1).base
    times = (changes.before.var() + changes.after.var()) / changes.differences.var()
    return Table(
        "pairing",
        ("drop", "queries", *found),
        rows,
        f"Unpaired tests need {times:.0f} times the queries for the same power.",
    )


SECTIONS: dict[str, Callable[[argparse.Namespace], Any]] = {
    "alarms": alarms_table,
    "power": power_table,
    "zeros": zeros_table,
    "weights": weights_table,
    "pairing": pairing_table,
    "missing": missing_table,
    "families": families_table,
    "pairs": pairs_table,
    "looks": looks_table,
    "draws": draws_table,
    "level": level_table,
}


def shown(value: Any) -> str:
    """A share as 0.051, a count with its commas, words as they are."""
    return (
        f"{round(value, 3) + 0.0:.3f}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )


def lined(table: Table) -> list[str]:
    """As Markdown."""
    words = [
        all(isinstance(value, str) for value in column) for column in zip(*table.rows, strict=True)
    ]
    rule = "|".join("---" if word else "---:" for word in words)
    lines = [
        f"| {' | '.join(table.head)} |",
        f"|{rule}|",
        *(f"| {' | '.join(map(shown, row))} |" for row in table.rows),
    ]
    return [f"**{table.section}**", "", *lines, "", *([table.note, ""] if table.note else [])]


def main(asked: Sequence[str] | None = None) -> None:
    """Print the tables that are asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help=f"of {', '.join(SECTIONS)}; default all"
    )
    parser.add_argument(
        "--runs",
        type=at_least_1,
        default=4000,
        help="data sets for each number, where they are cheap (default 4000)",
    )
    parser.add_argument(
        "--many", type=at_least_1, default=800, help="data sets of many runs (default 800)"
    )
    parser.add_argument(
        "--seed", type=int, default=21, help="the same seed, the same numbers (default 21)"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="200 and 20 data sets: a look at the tables, not at the numbers",
    )
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
    arguments = parser.parse_args(asked)
    unknown = [name for name in arguments.sections if name not in SECTIONS]
    if unknown:
        parser.error(f"section {unknown[0]}: expected some of {', '.join(SECTIONS)}")
    if arguments.quick:
        arguments.runs, arguments.many = 200, 20
    tables = [Table(*SECTIONS[name](arguments)) for name in arguments.sections or SECTIONS]
    if arguments.format == "json":
        print(
            json.dumps(
                {
                    "runs": arguments.runs,
                    "many": arguments.many,
                    "tables": [table._asdict() for table in tables],
                },
                indent=1,
            )
        )
    else:
        print("\n".join(line for table in tables for line in lined(table)))


if __name__ == "__main__":
    main()
