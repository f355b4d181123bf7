"""What a gate on pull requests does in a year: false alarms, drops caught, and what slips through
step by step.

Data       See `simulated_changes`: a small change touches 20 % of the queries, a re-training 80 %,
each a little; and the demo's real
           rankings with 20 % of the lists reordered. Three measures. Without a drop a change helps
           as much as it harms. Lopsided changes gain much on few queries and lose little on many,
           or the other way round; their mean is 0.
Rules      The two thresholds people write by hand; the gate as it is by default, for one measure;
with two companions that may close it,
           too; for comparison, any of three measures without a correction; with a tolerance; and
           strict, with a margin.
Tests      Sign flips, one-sided, alpha 0.05, of 2,999 draws; exact where at most 12 queries differ.
Erosion    50 changes, one after the other, each with a true drop of 0.002, or with none. What the
gate blocks is not merged.
"""

import argparse
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from gate_erosion import erosion
from models import at_least_1, progress_line
from sign_flips import DRAWS, holm, tails, together
from simulated_changes import KINDS, MEASURES, Changes, Kind, lopsided

from idealrank.data.types import BoolArray, FloatArray
from idealrank.stats import paired_t
from idealrank.stats.seen_changes import FEWEST_CHANGED, Criterion, SeenChanges

ALPHA, A_YEAR = 0.05, 1250
BATCH = 500
QUERIES = (50, 200, 1000)
DROPS = (0.0, 0.005, 0.01, 0.02, 0.05)
NULLS = (0.0, -0.01, -0.02)
NONE = slice(0, 0)


@dataclass(frozen=True)
class Row:
    """How often a rule blocks changes with each true drop; `share[0]` is of harmless ones."""

    data: str
    queries: int
    rule: str
    share: tuple[float, ...]


@dataclass(frozen=True)
class Seen:
    """The drop that the gate says it detects, of harmless changes (median), and the drops that it
    does detect.

    Attributes
    ----------
    promised : float
        Median of `detectable` over harmless changes for which the gate states it.
    alike, caught : float
        Share of drops of that size it catches: where every query falls by as much, and where some
        of those touched lose everything.
    actual : float
        The drop of the latter kind that it catches in 80 % of cases.
    """

    data: str
    queries: int
    promised: float
    alike: float
    caught: float
    actual: float


@dataclass(frozen=True)
class Lopsided:
    """How often harmless changes are blocked that gain much on few queries, or lose much on few, by
    the gate and by a t test.
    """

    law: str
    touched: float
    queries: int
    gate: float
    t: float


@dataclass(frozen=True)
class Strict:
    """How often a strict gate for three measures passes, by how it treats their p values."""

    case: str
    queries: int
    passes: dict[str, float]


class Tested(NamedTuple):
    """One-sided p values that the mean is below, or above, each null, shape (nulls, changes,
    measures); and those of the companions, all measures but the first: below 0, corrected together,
    shape (changes, measures - 1).
    """

    less: FloatArray
    greater: FloatArray
    also: FloatArray


def by_mean(limit: float) -> Callable[[FloatArray, Tested], BoolArray]:
    """Block a mean that drops by more than a limit in the first measure, whatever chance does."""
    return lambda differences, _found: differences[..., 0].mean(axis=0) < -limit - 1e-12


# What blocks a change, by its differences, shape (queries, changes, measures).
RULES: dict[str, Callable[[FloatArray, Tested], BoolArray]] = {
    "mean drops at all": by_mean(0.0),
    "mean drops by 0.01": by_mean(0.01),
    "gate, 1 measure": lambda _differences, found: found.less[0, :, 0] <= ALPHA,
    "gate, --also 2 more": lambda _differences, found: (
        (found.less[0, :, 0] <= ALPHA) | (found.also <= ALPHA).any(axis=1)
    ),
    "gate, 3, uncorrected": lambda _differences, found: (found.less[0] <= ALPHA).any(axis=1),
    "gate, tolerance 0.01": lambda _differences, found: found.less[1, :, 0] <= ALPHA,
    "strict, margin 0.01": lambda _differences, found: found.greater[1, :, 0] > ALPHA,
    "strict, margin 0.02": lambda _differences, found: found.greater[2, :, 0] > ALPHA,
    "strict 0.02, 3 measures": lambda _differences, found: (found.greater[2] > ALPHA).any(axis=1),
}

# When a strict gate for several measures passes.
PASSES: dict[str, Callable[[FloatArray], BoolArray]] = {
    "every p <= alpha": lambda p: (p <= ALPHA).all(axis=1),
    "Holm": lambda p: (holm(p) <= ALPHA).all(axis=1),
    "Bonferroni": lambda p: (p.shape[1] * p <= ALPHA).all(axis=1),
    "one p <= alpha": lambda p: (p <= ALPHA).any(axis=1),
}


def tested(differences: FloatArray, rng: np.random.Generator, nulls: Sequence[float]) -> Tested:
    """p values of differences of shape (queries, changes, measures)."""
    found = tails(differences.reshape(len(differences), -1), rng, nulls)
    shape = (len(nulls), *differences.shape[1:])
    companions = differences[..., 1:]
    also = (
        together(companions, rng.spawn(1)[0]) if companions.size else np.ones(companions.shape[1:])
    )
    return Tested(found.less.reshape(shape), found.greater.reshape(shape), also)


def batches(
    kind: Kind, name: str, queries: int, arguments: argparse.Namespace
) -> Iterator[tuple[Changes, np.random.Generator]]:
    """Changes a batch at a time."""
    show = progress_line(f"{name}, {queries} queries") or (lambda _done, _runs: None)
    for first in range(0, arguments.runs, BATCH):
        rng = np.random.default_rng((arguments.seed, list(KINDS).index(name), queries, first))
        yield Changes(kind, queries, min(BATCH, arguments.runs - first), rng), rng
        show(min(first + BATCH, arguments.runs), arguments.runs)


def rows_of(name: str, queries: int, arguments: argparse.Namespace) -> tuple[list[Row], Seen]:
    """Every rule on one kind of change."""
    blocked: dict[str, list[list[BoolArray]]] = {rule: [[] for _ in DROPS] for rule in RULES}
    drops: list[float] = []
    curve: list[tuple[Changes, int]] = []
    for changes, rng in batches(KINDS[name], name, queries, arguments):
        signs = int(rng.integers(1 << 32))
        for at, drop in enumerate(DROPS):
            differences = changes.dropped(drop).differences
            found = tested(differences, np.random.default_rng(signs), NULLS)
            for rule, decide in RULES.items():
                blocked[rule][at].append(decide(differences, found))
        drops += [stated(one) for one in changes.base.differences[..., 0].T]
        if len(curve) < 2:  # enough for one share
            curve.append((changes, signs))
    rows = [
        Row(name, queries, rule, tuple(float(np.concatenate(part).mean()) for part in parts))
        for rule, parts in blocked.items()
    ]
    promised = float(np.nanmedian(drops))
    alike = np.mean(
        [_share_caught(changes.base.differences - promised, signs) for changes, signs in curve]
    )
    return rows, Seen(
        name, queries, promised, float(alike), _caught(curve, promised), _four_in_five(curve)
    )


def stated(differences: FloatArray) -> float:
    """The drop that a gate states, from harmless changes; NaN where it states none."""
    changes = SeenChanges.of(differences, units=differences.size)
    return (
        changes.detectable(Criterion(ALPHA, 0.8)) if changes.differ >= FEWEST_CHANGED else math.nan
    )


def _share_caught(differences: FloatArray, signs: int) -> float:
    """By the gate for one measure."""
    return float(
        (
            tested(differences[..., :1], np.random.default_rng(signs), (0.0,)).less[0, :, 0]
            <= ALPHA
        ).mean()
    )


def _caught(curve: list[tuple[Changes, int]], drop: float) -> float:
    """Share of drops of this size that are caught."""
    return float(
        np.mean(
            [
                _share_caught(changes.dropped(min(drop, 0.999 * changes.loss)).differences, signs)
                for changes, signs in curve
            ]
        )
    )


def _four_in_five(curve: list[tuple[Changes, int]]) -> float:
    """The drop caught in 80 % of cases, by halving; infinite if even the largest is not."""
    low, high = 0.0, 0.999 * curve[0][0].loss
    if _caught(curve, high) < 0.8:
        return float("inf")
    for _ in range(8):
        middle = (low + high) / 2
        low, high = (low, middle) if _caught(curve, middle) >= 0.8 else (middle, high)
    return high


def strict_rows(arguments: argparse.Namespace) -> list[Strict]:
    """A strict gate with the margin 0.02 for three measures of re-trainings: false passes, and
    harmless changes let through.
    """
    cases = {
        "no measure drops": (0.0, NONE),
        "one of three drops by the margin": (0.02, slice(0, 1)),
        "all three drop by the margin": (0.02, slice(0, 3)),
    }
    rows = []
    for queries in arguments.queries:
        passed: dict[str, dict[str, list[BoolArray]]] = {
            case: {way: [] for way in PASSES} for case in cases
        }
        for changes, rng in batches(KINDS["re-training"], "re-training", queries, arguments):
            for case, (drop, measures) in cases.items():
                p = tested(changes.dropped(drop, measures).differences, rng, (-0.02,)).greater[0]
                for way, decide in PASSES.items():
                    passed[case][way].append(decide(p))
        rows += [
            Strict(
                case,
                queries,
                {way: float(np.concatenate(parts).mean()) for way, parts in ways.items()},
            )
            for case, ways in passed.items()
        ]
    return rows


def lopsided_rows(arguments: argparse.Namespace) -> Iterator[Lopsided]:
    """Harmless changes whose gains and losses are not alike; one measure."""
    for law, sign in (
        ("few large gains, many small losses", 1),
        ("few large losses, many small gains", -1),
    ):
        for touched in (0.2, 1.0):
            for queries in arguments.queries:
                rng = np.random.default_rng((arguments.seed, 3, queries, int(10 * touched)))
                blocked, by_t = [], []
                for first in range(0, arguments.runs, BATCH):
                    differences = sign * lopsided(
                        (queries, min(BATCH, arguments.runs - first)), rng, touched
                    )
                    blocked.append(tails(differences, rng).less[0] <= ALPHA)
                    by_t.append(
                        paired_t(np.zeros_like(differences), differences, alternative="less").p
                        <= ALPHA
                    )
                yield Lopsided(
                    law,
                    touched,
                    queries,
                    float(np.concatenate(blocked).mean()),
                    float(np.concatenate(by_t).mean()),
                )


def lined(head: Sequence[str], body: Sequence[Sequence[str]], words: int) -> list[str]:
    """A Markdown table; the first columns have words, the others numbers."""
    rule = "|" + "|".join(["---"] * words + ["---:"] * (len(head) - words)) + "|"
    return [f"| {' | '.join(head)} |", rule, *(f"| {' | '.join(line)} |" for line in body)]


def tables(found: dict[str, Any]) -> list[str]:
    """All of the answer as Markdown."""
    lines = []
    for name in KINDS:
        lines += [
            f"**{name}**",
            "",
            *_rule_lines([row for row in found["rules"] if row["data"] == name]),
            "",
        ]
    body = [
        [
            row["law"],
            f"{row['touched']:.0%}",
            f"{row['queries']:,}",
            f"{A_YEAR * row['gate']:.0f}",
            f"{A_YEAR * row['t']:.0f}",
        ]
        for row in found["lopsided"]
    ]
    lines += [
        "**lopsided: false alarms a year**",
        "",
        *lined(["change", "touches", "queries", "gate, 1 measure", "t test"], body, 1),
        "",
    ]
    lines += ["**detectable**", "", *_seen_lines(found["seen"]), ""]
    body = [
        [row["case"], f"{row['queries']:,}", *(f"{share:.1%}" for share in row["passes"].values())]
        for row in found["strict"]
    ]
    lines += [
        "**strict, three measures: passes**",
        "",
        *lined(["case", "queries", *PASSES], body, 1),
        "",
    ]
    lines += ["**erosion**", "", *_erosion_lines(found["erosion"]), ""]
    error = (0.05 * 0.95 / found["runs"]) ** 0.5
    lines.append(
        f"{found['runs']:,} changes a row: standard error {A_YEAR * error:.0f} of 62 false "
        f"alarms a year, at most "
        f"{0.5 / found['runs'] ** 0.5:.1%} of a share. A year has {A_YEAR:,} pull requests."
    )
    return lines


def _rule_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    head = ["queries", "rule", "false alarms a year", *(f"drop {drop:g}" for drop in DROPS[1:])]
    body = [
        [
            f"{row['queries']:,}",
            row["rule"],
            f"{A_YEAR * row['share'][0]:.0f}",
            *(f"{share:.0%}" for share in row["share"][1:]),
        ]
        for row in rows
    ]
    return lined(head, body, 2)


def _seen_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    head = [
        "data",
        "queries",
        "`detectable`",
        "caught, all fall alike",
        "caught, some fall to 0",
        "caught in 80 %",
    ]
    body = [
        [
            row["data"],
            f"{row['queries']:,}",
            f"{row['promised']:.4f}",
            f"{row['alike']:.0%}",
            f"{row['caught']:.0%}",
            f"{row['actual']:.4f}",
        ]
        for row in rows
    ]
    return lined(head, body, 1)


def _erosion_lines(rows: Sequence[dict[str, Any]]) -> list[str]:
    head = [
        "each change",
        "queries",
        "baselines",
        "lost after 50",
        "blocked of 50",
        "of the last 10",
    ]
    body = [
        [
            f"-{row['drop']:g}" if row["drop"] else "0",
            f"{row['queries']:,}",
            row["baselines"],
            f"{abs(row['lost']):.3f}",
            f"{row['blocked']:.1f}",
            f"{10 * row['late']:.1f}",
        ]
        for row in rows
    ]
    return lined(head, body, 3)


def main(asked: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=at_least_1, default=2000, help="changes for each row (default 2000)"
    )
    parser.add_argument(
        "--chains", type=at_least_1, default=300, help="sequences of 50 changes (default 300)"
    )
    parser.add_argument(
        "--queries",
        type=at_least_1,
        nargs="+",
        default=list(QUERIES),
        help="queries of the judged set",
    )
    parser.add_argument(
        "--seed", type=int, default=26, help="the same seed, the same numbers (default 26)"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="100 changes, 20 sequences: a look at the tables, not at the numbers",
    )
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
    arguments = parser.parse_args(asked)
    if arguments.quick:
        arguments.runs, arguments.chains = 100, 20
    pairs = [rows_of(name, queries, arguments) for name in KINDS for queries in arguments.queries]
    found: dict[str, Any] = {
        "runs": arguments.runs,
        "draws": DRAWS,
        "measures": MEASURES,
        "alpha": ALPHA,
        "a_year": A_YEAR,
        "drops": DROPS,
        "rules": [asdict(row) for rows, _ in pairs for row in rows],
        "lopsided": [asdict(row) for row in lopsided_rows(arguments)],
        "seen": [asdict(seen) for _, seen in pairs],
        "strict": [asdict(row) for row in strict_rows(arguments)],
        "erosion": [
            asdict(row)
            for queries in arguments.queries
            for row in erosion(queries, arguments.chains, arguments.seed)
        ],
    }
    print(json.dumps(found, indent=1) if arguments.format == "json" else "\n".join(tables(found)))


if __name__ == "__main__":
    main()
