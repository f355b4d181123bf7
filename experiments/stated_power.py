"""Test that a stated detectable difference is found as often as stated.

Structures  All queries shift; 20 % of the queries shift; 20 % of the queries gain or lose 1; 5 % of
            the queries lose 0.6, and nothing else changes; 40 % of the relevant documents move a
            rank, by RR. Unchanged queries differ by 0.
Stated      Differences without a true difference (of the fourth structure: 5 % lose) are drawn, and
            a comparison states what it detects with 80 % power, or states none.
Found       The true difference is set to the median of the stated values, or to the largest that
            the structure can have. The share of comparisons with p <= 0.05 is counted.
Former      The same for the rule that took a shift of all queries by the t test.
Limit       Sets in which exactly so many queries of five times as many differ: two-sided tests at
            0.05, and one-sided ones at 0.001, as of one commit in a series of 50.
Families    Five or ten tests corrected together by max-T: independent ones, or tests that share the
            difference of a query with the first one in 80 % of the queries. The first test has the
            true difference that the family states in the median; *alone* is its p without
            correction.
Plans       25 normal differences with a true mean of 0.1 standard deviations, undecided by the t
            test: the number of queries planned from the observed mean and standard deviation.
Tests       Two-sided sign flips of 2,999 draws; exact where at most 12 queries differ.
"""

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from gate_simulation import lined
from models import at_least_1
from sign_flips import DRAWS, tails

from idealrank.analysis.comparison.families import Hypothesis, corrected
from idealrank.analysis.comparison.query_table import QueryTable
from idealrank.data.types import FloatArray
from idealrank.stats import detectable, paired_t, queries_needed, simultaneous
from idealrank.stats.comparison import Plan, compare_columns, visible_by
from idealrank.stats.design import Design
from idealrank.stats.seen_changes import Criterion, SeenChanges

ALPHA, POWER = 0.05, 0.8
QUERIES = (15, 25, 50, 200)
LEVELS = {(0.05, 2): (6, 8, 10, 12, 15, 20), (0.001, 1): (16, 20, 23, 30)}
RARE = 0.05  # share of sets below which a statement has no row of its own

RANKS = np.arange(1, 10)
MOVES = 1 / RANKS - 1 / (RANKS + 1)
OFTEN = (1 / RANKS) / (1 / RANKS).sum()

FAMILY_QUERIES = (25, 50, 100)
FAMILY_STRUCTURES = ("all queries shift", "20 % change, these shift", "20 % change, by 1")

Shape = tuple[int, int]
Draw = Callable[[np.random.Generator, Shape, float], FloatArray]


class Structure(NamedTuple):
    """Differences of queries; `draw` takes a true difference up to `largest`, and `base` is
    seen.
    """

    draw: Draw
    largest: float
    base: float = 0.0


def _signs(rng: np.random.Generator, shape: Shape, mean: float) -> FloatArray:
    return np.where(rng.random(shape) < (1 + mean) / 2, 1.0, -1.0)


def _all(rng: np.random.Generator, shape: Shape, true: float) -> FloatArray:
    return rng.normal(true, 0.1, shape)


def _fifth(rng: np.random.Generator, shape: Shape, true: float) -> FloatArray:
    return rng.normal(true / 0.2, 0.1, shape) * (rng.random(shape) < 0.2)


def _ones(rng: np.random.Generator, shape: Shape, true: float) -> FloatArray:
    return _signs(rng, shape, true / 0.2) * (rng.random(shape) < 0.2)


def _losses(rng: np.random.Generator, shape: Shape, true: float) -> FloatArray:
    return np.where(rng.random(shape) < true / 0.6, -0.6, 0.0)


def _moves(rng: np.random.Generator, shape: Shape, true: float) -> FloatArray:
    mean = true / STRUCTURES["RR, moves of a rank"].largest
    moved = rng.choice(MOVES, p=OFTEN, size=shape) * _signs(rng, shape, mean)
    return np.asarray(moved * (rng.random(shape) < 0.4), np.float64)


STRUCTURES = {
    "all queries shift": Structure(_all, np.inf),
    "20 % change, these shift": Structure(_fifth, np.inf),
    "20 % change, by 1": Structure(_ones, 0.2),
    "5 % lose 0.6": Structure(_losses, 0.6, base=0.03),
    "RR, moves of a rank": Structure(_moves, 0.4 * float(MOVES @ OFTEN)),
}


@dataclass(frozen=True)
class Row:
    """A structure on so many queries: statements, their median, and what is found there."""

    structure: str
    queries: int
    stated: float
    size: float
    true: float
    found: float
    former: float
    found_former: float


@dataclass(frozen=True)
class Limit:
    """Share found if exactly so many queries differ: normal sizes, equal sizes, moves of a rank."""

    alpha: float
    sides: int
    differ: int
    found: tuple[float, ...]


class Kin(NamedTuple):
    """Tests of a family, and the share of queries on which they all have the difference of the
    first.
    """

    tests: int
    shared: float


FAMILIES = {"5 independent": Kin(5, 0.0), "5 alike": Kin(5, 0.8), "10 independent": Kin(10, 0.0)}


@dataclass(frozen=True)
class FamilyRow:
    """A family on so many queries: statements, their median, and what the corrected test finds."""

    family: str
    structure: str
    queries: int
    stated: float
    size: float
    true: float
    found: float
    alone: float


@dataclass(frozen=True)
class Plans:
    """Plans from observed differences: their median, the number needed, and what is wrong."""

    needed: int
    median: float
    too_small: float
    wrong_sign: float


def plans_of(sets: int, seed: int) -> Plans:
    """Plan from what undecided comparisons observed."""
    rng = np.random.default_rng((seed, 61))
    differences = rng.normal(0.1, 1.0, (25, sets))
    undecided = differences[:, paired_t(np.zeros_like(differences), differences).p > ALPHA]
    observed = zip(
        undecided.mean(axis=0).tolist(), undecided.std(axis=0, ddof=1).tolist(), strict=True
    )
    planned = np.array([queries_needed(abs(mean), spread) for mean, spread in observed])
    needed = queries_needed(0.1, 1.0)
    wrong = float((undecided.mean(axis=0) < 0).mean())
    return Plans(needed, float(np.median(planned)), float((planned < needed).mean()), wrong)


def share_found(differences: FloatArray, rng: np.random.Generator) -> float:
    """Share of columns with a two-sided p up to alpha."""
    return float((tails(differences, rng).both <= ALPHA).mean())


def stated_sizes(differences: FloatArray) -> FloatArray:
    """Statement of `compare` on each column; not finite where it makes none."""
    plan = Plan(n_resamples=99)  # the number of draws only matters if p could not reach alpha
    rows = compare_columns(
        np.zeros_like(differences), differences, Design.of(len(differences)), plan
    )
    return np.array([visible_by(row, plan, ALPHA).size for row in rows])


def row_of(name: str, queries: int, arguments: argparse.Namespace) -> Row:
    """Statements on sets without a true difference, and sets with the difference stated."""
    structure = STRUCTURES[name]
    rng = np.random.default_rng((arguments.seed, list(STRUCTURES).index(name), queries))
    seen = structure.draw(rng, (queries, arguments.sets), structure.base)
    sizes = stated_sizes(seen)
    made = np.isfinite(sizes)
    spread = seen.std(axis=0, ddof=1)
    former = min(
        float(detectable(queries, float(np.median(spread[spread > 0])))), structure.largest
    )

    def found(true: float) -> float:
        return share_found(structure.draw(rng, (queries, arguments.comparisons), true), rng)

    size = float(np.median(sizes[made])) if made.mean() >= RARE else np.nan
    true = min(size, structure.largest)
    at_stated = found(true) if np.isfinite(size) else np.nan
    return Row(name, queries, float(made.mean()), size, true, at_stated, former, found(former))


def limit_of(alpha: float, sides: int, differ: int, arguments: argparse.Namespace) -> Limit:
    """Sets of five times as many queries; p of the law that the sizes come from."""
    criterion = Criterion(alpha / sides, POWER)
    queries, found = 5 * differ, []
    rng = np.random.default_rng((arguments.seed, 99, differ))
    for name in ("20 % change, these shift", "20 % change, by 1", "RR, moves of a rank"):
        structure = STRUCTURES[name]
        share = 0.4 if name.startswith("RR") else 0.2
        drawn = structure.draw(rng, (500 * queries, 1), 0.0).ravel()
        changed = drawn[drawn != 0]
        columns = changed[: changed.size // differ * differ].reshape(differ, -1)
        units = round(differ / share)
        sizes = [
            SeenChanges.of(np.append(column, np.zeros(units - differ)), units=units).detectable(
                criterion
            )
            for column in columns.T
        ]
        true = min(float(np.median(sizes)), structure.largest)
        p = tails(structure.draw(rng, (units, arguments.comparisons), true), rng)
        found.append(float(((p.both if sides == 2 else p.greater) <= alpha).mean()))
    return Limit(alpha, sides, differ, tuple(found))


def family_of(
    kin: Kin, structure: Structure, queries: int, rng: np.random.Generator, true: float
) -> FloatArray:
    """Differences of one family, shape (queries, tests); the first test has the true difference."""
    first = structure.draw(rng, (queries, 1), true)
    others = structure.draw(rng, (queries, kin.tests - 1), 0.0)
    shared = rng.random(others.shape) < kin.shared
    return np.hstack([first, np.where(shared, first, others)])


def family_size(differences: FloatArray) -> float:
    """Statement of `compare` on the first test of a family; not finite where it makes none."""
    queries = len(differences)
    plan = Plan(n_resamples=DRAWS)
    first, second = (
        QueryTable(values, np.ones(values.shape, np.bool_))
        for values in (np.zeros_like(differences), differences)
    )
    within = np.ones(queries, np.bool_)
    hypotheses = [
        Hypothesis(first, second, column, within) for column in range(differences.shape[1])
    ]
    row = corrected(hypotheses, Design.of(queries), plan)[0]
    return visible_by(row.found, plan, row.alpha).size


def family_row(name: str, kind: str, queries: int, arguments: argparse.Namespace) -> FamilyRow:
    """Statements on families without a true difference, and families with the difference stated."""
    kin, structure = FAMILIES[name], STRUCTURES[kind]
    rng = np.random.default_rng(
        (arguments.seed, 71, list(FAMILIES).index(name), list(STRUCTURES).index(kind), queries)
    )
    sizes = np.array(
        [
            family_size(family_of(kin, structure, queries, rng, 0.0))
            for _ in range(-(-arguments.sets // 3))
        ]
    )
    made = np.isfinite(sizes)
    if made.mean() < RARE:
        return FamilyRow(name, kind, queries, float(made.mean()), *[np.nan] * 4)
    size = float(np.median(sizes[made]))
    true = min(size, structure.largest)
    drawn = [
        family_of(kin, structure, queries, rng, true) for _ in range(-(-arguments.comparisons // 3))
    ]
    together = [float(simultaneous(one, n_resamples=DRAWS, rng=rng).p[0]) for one in drawn]
    alone = share_found(np.hstack([one[:, :1] for one in drawn]), rng)
    return FamilyRow(
        name,
        kind,
        queries,
        float(made.mean()),
        size,
        true,
        float(np.mean(np.array(together) <= ALPHA)),
        alone,
    )


def tables(found: dict[str, Any]) -> list[str]:
    """All of the answer as Markdown."""
    head = ["differences", "queries", "stated in", "median", "true", "found", "former", "found"]
    body = [
        [
            row["structure"],
            f"{row['queries']}",
            f"{row['stated']:.0%}",
            *(
                f"{row[name]:.3f}" if row["size"] == row["size"] else "-"
                for name in ("size", "true")
            ),
            f"{row['found']:.3f}" if row["size"] == row["size"] else "none",
            f"{row['former']:.3f}",
            f"{row['found_former']:.3f}",
        ]
        for row in found["rows"]
    ]
    lines = ["**stated and found**", "", *lined(head, body, 1), ""]
    head = ["alpha", "sides", "queries that differ", "normal", "by 1", "moves of a rank"]
    body = [
        [
            f"{row['alpha']:g}",
            f"{row['sides']}",
            f"{row['differ']}",
            *(f"{share:.3f}" for share in row["found"]),
        ]
        for row in found["limits"]
    ]
    lines += ["**limit**", "", *lined(head, body, 0), ""]
    head = ["family", "differences", "queries", "stated in", "median", "true", "found", "alone"]
    body = [
        [
            row["family"],
            row["structure"],
            f"{row['queries']}",
            f"{row['stated']:.0%}",
            *(
                f"{row[name]:.3f}" if row["size"] == row["size"] else "-"
                for name in ("size", "true")
            ),
            *(
                f"{row[name]:.3f}" if row["size"] == row["size"] else "none"
                for name in ("found", "alone")
            ),
        ]
        for row in found["families"]
    ]
    lines += ["**families**", "", *lined(head, body, 2), ""]
    plans = found["plans"]
    lines += [
        "**plans**",
        "",
        f"{plans['needed']} queries are needed, {plans['median']:.0f} planned in the median; "
        f"{plans['too_small']:.0%} of the plans are too small, {plans['wrong_sign']:.0%} have "
        f"the wrong sign.",
        "",
    ]
    error = (POWER * (1 - POWER) / found["comparisons"]) ** 0.5
    return [
        *lines,
        f"{found['comparisons']:,} comparisons: standard error {error:.3f}; of families, a "
        f"third as many: {error * 3**0.5:.3f}.",
    ]


def main(asked: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--sets", type=at_least_1, default=600, help="sets for each median (default 600)"
    )
    parser.add_argument(
        "--comparisons",
        type=at_least_1,
        default=3000,
        help="comparisons for each share (default 3000)",
    )
    parser.add_argument(
        "--seed", type=int, default=9, help="the same seed, the same numbers (default 9)"
    )
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
    arguments = parser.parse_args(asked)
    found: dict[str, Any] = {
        "comparisons": arguments.comparisons,
        "rows": [
            asdict(row_of(name, queries, arguments)) for name in STRUCTURES for queries in QUERIES
        ],
        "families": [
            asdict(family_row(name, kind, queries, arguments))
            for name in FAMILIES
            for kind in FAMILY_STRUCTURES
            for queries in FAMILY_QUERIES
        ],
        "plans": asdict(plans_of(5 * arguments.sets, arguments.seed)),
        "limits": [
            asdict(limit_of(alpha, sides, differ, arguments))
            for (alpha, sides), numbers in LEVELS.items()
            for differ in numbers
        ],
    }
    print(json.dumps(found, indent=1) if arguments.format == "json" else "\n".join(tables(found)))


if __name__ == "__main__":
    main()
