"""When judgments do not carry a verdict: wrong signs and power of the rule of `compare`, and of its rivals.

Data       See `judged_pools`: everything is known, a pool decides what is judged. Queries are drawn with replacement from 8,000, so
           that the true difference is known exactly; the true difference is that with all documents judged.
Gains      An unjudged document that one run alone returns would add, if relevant, u = g(rank) weight(rank) / ideal: g is the mean gain of
           the judged relevant documents at that rank, both runs together. One that both return would add g (weight in B - weight in A) /
           ideal, g the mean over its two ranks. Ranks with under 20 documents join the ranks above.
Rates      Of a run whose unjudged documents count: the share relevant among its judged documents at those ranks, weighted by u, (i) of
           all, (ii) of those that the other run does not return. Limits are Wilson's; the upper one is the smaller of (i) and (ii), the
           lower one is that of (ii), 0 where (ii) has under 20 documents. Both are made of all queries and of those in which the run has
           unjudged documents of its own; the more cautious ones count.
Rules      A verdict stands if the mean difference is significant, with the same sign, at each of a few points (share of the losing
           run's unjudged documents that are relevant, that of the winning run's, that of those both return). A set of such points is
           convex, so that a verdict that stands at some points stands between them, too.
Tests      Paired t, two-sided, alpha 0.05.
Wrong      A verdict against the sign of the true difference; where that is 0, any verdict.
Library    `compare` decides one pair at a time, by `idealrank.analysis.comparison.tipping`: too slow for the pairs drawn here. The
           rule below works on arrays; `tests/unit/test_experiment_reach.py` holds both to the same verdicts, rates and limits.
Time       About six minutes of one core.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from judged_pools import CUTOFF, MEASURES, POOLS, WORLDS, Bank, Sample, bank, hidden, judged_by, sample
from models import at_least_1, progress_line
from scipy.special import stdtrit

from idealrank.data.types import BoolArray, FloatArray, IntArray

ALPHA, LEAST, QUERIES, BATCH = 0.05, 20, (50, 250), 100_000
_COUNTED = ("relevant", "judged", "alone", "alone_relevant")
Z = {"84 %": 1.0, "90 %": 1.2815515655446004, "95 %": 1.6448536269514722}

# How much better B sees relevance than the other systems, a true difference of about 0.05 and of 0.015.
TRUTHS = {"equal": 0.0, "better": 0.1, "a little better": 0.035}
# A sees one kind of relevant document well, B all kinds alike: A is better at the top, B further down, the means are equal.
CROSSING = {
    "some relevant": ((0, 0.6, 2.4, 2.4), (0, 1.66, 1.66, 1.66)),
    "few relevant": ((0, 1.2, 3.2, 3.2), (0, 2.05, 2.05, 2.05)),
    "many relevant": ((0, 0.5, 2.4, 2.4), (0, 1.73, 1.73, 1.73)),
    "some relevant, far apart": ((0, 0.2, 3.0, 3.0), (0, 1.93, 1.93, 1.93)),
}


class Rates(NamedTuple):
    """Of one run in each replicate; limits are 0 where nothing of it is unjudged."""

    point: FloatArray
    upper: FloatArray
    lower: FloatArray
    among_judged: FloatArray
    among_alone: FloatArray
    n_alone: FloatArray


class Point(NamedTuple):
    """Shares relevant among unjudged documents."""

    loser: FloatArray
    winner: FloatArray
    both: FloatArray


Corner = Callable[[Rates, Rates], Point]


def nothing(loser: Rates, _winner: Rates) -> Point:
    zero = 0 * loser.point
    return Point(zero, zero, zero)


def worst(loser: Rates, _winner: Rates) -> Point:
    return Point(1 + 0 * loser.point, 0 * loser.point, 0 * loser.point)


def against(loser: Rates, _winner: Rates) -> Point:
    """The losing run at its upper limit, the winning run at 0."""
    return Point(loser.upper, 0 * loser.point, 0 * loser.point)


def one_share(loser: Rates, winner: Rates) -> Point:
    """Both runs at the higher of their upper limits."""
    share = np.maximum(loser.upper, winner.upper)
    return Point(share, share, share)


def own_limits(loser: Rates, winner: Rates) -> Point:
    """The losing run at its upper limit, the winning run at its lower one."""
    return Point(loser.upper, winner.lower, 0 * loser.point)


def own_rates(loser: Rates, winner: Rates) -> Point:
    return Point(loser.point, winner.point, 0 * loser.point)


# The level of the limits, and where the verdict has to stand besides as judged.
RULES: dict[str, tuple[str, tuple[Corner, ...]]] = {
    "as judged": ("90 %", ()),
    "worst case": ("90 %", (worst,)),
    "limit against 0": ("90 %", (against,)),
    "one share": ("90 %", (one_share,)),
    "own rates": ("90 %", (own_rates,)),
    "own limits": ("90 %", (own_limits,)),
    "both, 84 %": ("84 %", (one_share, own_limits)),
    "both, 90 %": ("90 %", (one_share, own_limits)),
    "both, 95 %": ("95 %", (one_share, own_limits)),
}
CHOSEN = "both, 90 %"


class Names(NamedTuple):
    """What a cell is of."""

    kind: str
    world: str
    measure: str
    truth: str
    pool: str


@dataclass(frozen=True)
class Cell:
    """Shares of wrong and of right verdicts by rule; right is None where the runs are equal."""

    kind: str
    world: str
    measure: str
    truth: str
    pool: str
    queries: int
    difference: float
    as_judged: float
    unjudged_a: float
    unjudged_b: float
    relevant: dict[str, float]
    wrong: dict[str, float]
    right: dict[str, float | None]


def joined(counts: FloatArray, least: int = LEAST) -> IntArray:
    """Groups of neighbouring ranks from the top with at least so many documents; what is left joins the last group.

    Counts have the shape (replicates, 10), groups too: numbers from 0.
    """
    groups = np.zeros(counts.shape, int)
    now, held = np.zeros(len(counts), int), np.zeros(len(counts))
    for rank in range(counts.shape[1]):
        groups[:, rank] = now
        held = held + counts[:, rank]
        full = held >= least
        now, held = now + full, np.where(full, 0, held)
    return np.minimum(groups, np.maximum(now - 1, 0)[:, None])


def by_group(groups: IntArray, values: FloatArray) -> FloatArray:
    """Sums by group, shape (replicates, 10)."""
    at = (groups + CUTOFF * np.arange(len(groups))[:, None]).ravel()
    return np.bincount(at, values.ravel(), groups.size).reshape(groups.shape)


def wilson(share: FloatArray, n: FloatArray, z: float) -> FloatArray:
    """Limit of a share: the upper one for z > 0. Without any document 1, or 0."""
    n = np.maximum(n, 1e-9)
    centre, half = share + z * z / (2 * n), abs(z) * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return np.clip((centre + np.sign(z) * half) / (1 + z * z / n), 0, 1)


def rate(relevant: FloatArray, judged: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Share relevant, weighted by rank, and the number of documents it is worth: 1 / sum of (weight of a group)^2 / (its documents)."""
    groups = joined(judged)
    found, seen, weight = (by_group(groups, values) for values in (relevant, judged, weights))
    share = (weight * np.divide(found, seen, out=np.zeros_like(found), where=seen > 0)).sum(axis=1)
    spread = np.where(weight > 0, weight**2 / np.maximum(seen, 1e-9), 0).sum(axis=1)
    return share, np.divide(1, spread, out=np.zeros_like(spread), where=spread > 0)


def limits(sums: dict[str, FloatArray], weights: FloatArray, z: float) -> tuple[FloatArray, ...]:
    """The two shares, the documents that the second is worth, and the limits that both together give."""
    among_judged, n_judged = rate(sums["relevant"], sums["judged"], weights)
    among_alone, n_alone = rate(sums["alone_relevant"], sums["alone"], weights)
    lower = np.where(n_alone >= LEAST, wilson(among_alone, n_alone, -z), 0)
    return among_judged, among_alone, n_alone, lower, np.minimum(wilson(among_judged, n_judged, z), wilson(among_alone, n_alone, z))


class Columns:
    """What a sample adds up, gathered once: float32 arrays of shape (queries, 10) by name and run."""

    def __init__(self, of: Sample) -> None:
        self.of = of
        self.runs = []
        self.concerned: list[tuple[BoolArray, BoolArray]] = []  # queries with unjudged documents of the run's own, and of both
        for run, side in enumerate(of.sides):
            found = side.gains > 0
            missing, scale = ~side.judged, of.scale[:, None]
            shift = (side.other_weight - of.weights) * (1 if run == 0 else -1)
            columns = {
                "relevant": side.judged & found, "gain": np.where(side.judged, side.gains, 0), "judged": side.judged,
                "alone": side.judged & side.alone, "alone_relevant": side.judged & side.alone & found,
                "adds": np.where(missing & side.alone, of.weights, 0) * scale,
                "shared": np.where(missing & ~side.alone, of.weights, 0) * scale,
                "shift": np.where(missing & ~side.alone, shift, 0) * scale / 2,
            }  # fmt: skip
            self.runs.append({name: column.astype(np.float32) for name, column in columns.items()})
            self.concerned.append(tuple((missing & only).any(axis=1) for only in (side.alone, ~side.alone)))


class Replicates:
    """Draws of queries, with what follows for each: (replicates,) and (replicates, queries) arrays."""

    def __init__(self, columns: Columns, drawn: IntArray) -> None:
        self.difference = columns.of.difference[drawn]
        self.critical = float(stdtrit(drawn.shape[1] - 1, 1 - ALPHA / 2))
        runs = [{name: column[drawn] for name, column in run.items()} for run in columns.runs]
        sums = [{name: column.sum(axis=1, dtype=float) for name, column in run.items()} for run in runs]
        found, gain = (sums[0][name] + sums[1][name] for name in ("relevant", "gain"))
        groups = joined(found)
        pooled, seen = (np.take_along_axis(by_group(groups, values), groups, 1) for values in (gain, found))
        self.gain = np.divide(pooled, seen, out=np.ones_like(pooled), where=seen > 0)
        self.adds = [np.einsum("rqk,rk->rq", run["adds"], self.gain) for run in runs]
        self.shift = np.einsum("rqk,rk->rq", runs[0]["shift"] + runs[1]["shift"], self.gain)
        self._sums, self._there = sums, []
        for run, concerned in zip(runs, columns.concerned, strict=True):
            own, shared = (one[drawn] for one in concerned)
            there = np.where(own.any(axis=1, keepdims=True), own, shared).astype(np.float32)
            self._there.append({name: np.einsum("rqk,rq->rk", run[name], there).astype(float) for name in _COUNTED})

    def rates(self, run: int, z: float) -> Rates:
        """What of this run's judged documents was relevant, with limits."""
        sums = self._sums[run]
        own = sums["adds"] * self.gain
        weights = np.where(own.sum(axis=1, keepdims=True) > 0, own, sums["shared"] * self.gain)
        total = weights.sum(axis=1, keepdims=True)
        weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        among_judged, among_alone, n_alone, lower, upper = limits(sums, weights, z)
        *_, lower_there, upper_there = limits(self._there[run], weights, z)
        lower, upper = np.minimum(lower, lower_there), np.maximum(upper, upper_there)
        point = np.where(n_alone >= LEAST, among_alone, upper)
        any_unjudged = total[:, 0] > 0
        return Rates(*(np.where(any_unjudged, values, 0) for values in (point, upper, lower)), among_judged, among_alone, n_alone)

    def sign(self, differences: FloatArray) -> IntArray:
        """1 or -1 where the mean is significant, else 0."""
        mean, error = differences.mean(axis=1), differences.std(axis=1, ddof=1) / differences.shape[1] ** 0.5
        return np.where(np.abs(mean) > self.critical * np.maximum(error, 1e-12), np.sign(mean), 0).astype(int)

    def stands(self, verdict: IntArray, corner: Corner, rates: tuple[Rates, Rates]) -> BoolArray:
        """Where the verdict as judged is significant, with its sign, at a point."""
        kept = np.zeros(len(verdict), bool)
        for sign, loser in ((1, 0), (-1, 1)):
            asked = verdict == sign
            point = corner(rates[loser], rates[1 - loser])
            moved = sign * (point.winner[:, None] * self.adds[1 - loser] - point.loser[:, None] * self.adds[loser])
            kept |= asked & (self.sign(self.difference + moved + point.both[:, None] * self.shift) == sign)
        return kept

    def verdicts(self) -> dict[str, IntArray]:
        """By rule: 1 better, -1 worse, 0 anything else."""
        naive = self.sign(self.difference)
        rates = {level: (self.rates(0, z), self.rates(1, z)) for level, z in Z.items()}
        held: dict[tuple[str, Corner], BoolArray] = {}
        found = {}
        for rule, (level, corners) in RULES.items():
            kept = np.ones(len(naive), bool)
            for corner in corners:
                if (level, corner) not in held:
                    held[level, corner] = self.stands(naive, corner, rates[level])
                kept &= held[level, corner]
            found[rule] = np.where(kept, naive, 0)
        return found


def balanced(differences: FloatArray) -> FloatArray:
    """Chances of queries, as equal as can be, under which the mean difference is 0."""
    low, high = -50.0, 50.0
    for _ in range(80):
        tilt = (low + high) / 2
        chances = np.exp(tilt * (differences - differences.mean()))
        low, high = (tilt, high) if (chances * differences).sum() < 0 else (low, tilt)
    return chances / chances.sum()


def run_cell(of: Sample, queries: int, runs: int, seed: int, names: Names) -> Cell:
    """Draw replicates and count verdicts; equal runs have a mean difference of exactly 0."""
    zero = names.truth == "equal"
    chances = balanced(of.truth) if zero else np.full(len(of.truth), 1 / len(of.truth))
    upto = np.cumsum(chances)[:-1]
    columns, rng = Columns(of), np.random.default_rng((seed, queries, *"|".join(names).encode()))
    parts: dict[str, list[IntArray]] = {}
    step = max(1, BATCH // queries)
    for first in range(0, runs, step):
        drawn = np.searchsorted(upto, rng.random((min(step, runs - first), queries)))
        replicates = Replicates(columns, drawn)
        found = replicates.verdicts()
        found["all judged"] = replicates.sign(of.truth[drawn])
        for name, values in (("condensed, 10", of.condensed_short), ("condensed, 1,000", of.condensed)):
            found[name] = np.where(replicates.sign(values[drawn]) == found["as judged"], found["as judged"], 0)
        for rule, verdict in found.items():
            parts.setdefault(rule, []).append(verdict)
    verdicts = {rule: np.concatenate(part) for rule, part in parts.items()}
    difference = 0.0 if zero else float(of.truth.mean())
    sign = np.sign(difference)
    wrong = {rule: float(((v != 0) if zero else (v == -sign)).mean()) for rule, v in verdicts.items()}
    right = {rule: None if zero else float((v == sign).mean()) for rule, v in verdicts.items()}
    return Cell(
        *names, queries, difference, float((chances * of.difference).sum()),
        float(1 - of.a.judged.mean()), float(1 - of.b.judged.mean()), relevance(of), wrong, right,
    )  # fmt: skip


def relevance(of: Sample) -> dict[str, float]:
    """Shares relevant of B's documents that A does not return: of judged ones (of all, too), and of unjudged ones, at ranks with some."""
    found, judged, alone = of.b.gains > 0, of.b.judged, of.b.alone
    weights = (~judged & alone).sum(axis=0)
    if not weights.sum():
        return {}

    def share(among: BoolArray) -> float:
        seen = among.sum(axis=0)
        use = weights * (seen >= LEAST)
        return float(((found & among).sum(axis=0) / np.maximum(seen, 1) * use).sum() / use.sum()) if use.sum() else float("nan")

    return {"judged": share(judged), "judged, alone": share(judged & alone), "unjudged": share(~judged & alone)}


def asked_of(world: str, truth: str, arguments: argparse.Namespace) -> Bank:
    """The bank of a world and a truth; equal ones are mirrored, those that are worse are better ones swapped."""
    plain = truth.replace("worse", "better")
    rng = np.random.default_rng((arguments.seed, list(WORLDS).index(world), list(TRUTHS).index(plain)))
    seen = tuple(value * (1 + TRUTHS[plain]) for value in WORLDS[world].seen)
    drawn = bank(WORLDS[world], arguments.bank, rng, seen_b=seen)
    return drawn.mirrored() if truth == "equal" else drawn.swapped() if truth != plain else drawn


def cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """All cells: pools, crossing runs, and judgments that are missing for a reason."""
    for names, of in chain(_pooled(arguments), _crossing(arguments), _hidden(arguments)):
        for queries in arguments.queries:
            yield run_cell(of, queries, arguments.runs, arguments.seed, names)


def _pooled(arguments: argparse.Namespace) -> Iterator[tuple[Names, Sample]]:
    for world in WORLDS:
        for truth in ("equal", "better", "a little better", "worse", "a little worse"):
            drawn = asked_of(world, truth, arguments)
            measures = ("nDCG@10", "P@10") if world == "some relevant" else ("nDCG@10",)
            for pool, depths in POOLS.items():
                for measure in measures:
                    yield Names("pools", world, measure, truth, pool), sample(drawn, judged_by(drawn, depths), measure)


def _crossing(arguments: argparse.Namespace) -> Iterator[tuple[Names, Sample]]:
    for at, (world, (seen_a, seen_b)) in enumerate(CROSSING.items()):
        drawn = bank(WORLDS[world.partition(",")[0]], arguments.bank, np.random.default_rng((arguments.seed, 7, at)), seen_a, seen_b)
        for pool in ("A 10, B 10", "A 6, B 6", "A 4, B 4", "3 others, 10"):
            kind = "crossing, others" if "others" in pool else "crossing"
            for measure in ("nDCG@10, binary", "P@10"):
                yield Names(kind, world, measure, "equal", pool), sample(drawn, judged_by(drawn, POOLS[pool]), measure)


def _hidden(arguments: argparse.Namespace) -> Iterator[tuple[Names, Sample]]:
    drawn = asked_of("some relevant", "equal", arguments)
    for share in (0.1, 0.25, 0.5):
        judged = hidden(drawn, judged_by(drawn, POOLS["A 10, B 10"]), share, np.random.default_rng((arguments.seed, 8)))
        yield Names("hidden", "some relevant", "nDCG@10", "equal", f"{share:.0%} hidden"), sample(drawn, judged, "nDCG@10")


# Where both first tens are judged, a rule has nothing to doubt: what is left is the ideal, which lacks the documents that nobody judged.
GROUPS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "one side": lambda cell: cell["kind"] == "pools" and cell["pool"] in ("A 12, B 6", "A 12, B 4", "A 10"),
    "both sides": lambda cell: cell["kind"] == "pools" and cell["pool"] in ("A 6, B 6", "A 4, B 4"),
    "neither": lambda cell: cell["kind"] == "pools" and "other" in cell["pool"],
    "a relative of A": lambda cell: cell["kind"] == "pools" and "relative" in cell["pool"],
    "crossing, all judged": lambda cell: cell["kind"] == "crossing" and cell["pool"] == "A 10, B 10",
    "crossing, own pools": lambda cell: cell["kind"] == "crossing" and cell["pool"] != "A 10, B 10",
    "crossing, others' pools": lambda cell: cell["kind"] == "crossing, others",
    "hidden": lambda cell: cell["kind"] == "hidden",
}


def lined(head: Sequence[str], body: Sequence[Sequence[str]], words: int) -> list[str]:
    """A Markdown table; the first columns have words, the others numbers."""
    rule = "|" + "|".join(["---"] * words + ["---:"] * (len(head) - words)) + "|"
    return [f"| {' | '.join(head)} |", rule, *(f"| {' | '.join(line)} |" for line in body)]


def rivals(found: Sequence[dict[str, Any]]) -> list[str]:
    """Each rule: the largest share of wrong verdicts in each group of cells, and its power where judged alike (250 queries)."""
    names = [name for name in found[0]["wrong"] if name != "all judged"]
    most = max(cell["queries"] for cell in found)
    powered = {
        group: [c for c in found if GROUPS[group](c) and c["truth"] in ("better", "worse") and c["queries"] == most]
        for group in ("both sides", "neither")
    }
    body = []
    for rule in ("all judged", *names):
        line = [rule, *(f"{max((c['wrong'][rule] for c in found if holds(c)), default=float('nan')):.3f}" for holds in GROUPS.values())]
        line += [f"{np.mean([cell['right'][rule] for cell in part]):.2f}" for part in powered.values()]
        body.append(line)
    return lined(["rule", *GROUPS, *(f"power, {group}" for group in powered)], body, 1)


def pool_lines(found: Sequence[dict[str, Any]]) -> list[str]:
    """Each pool: the largest share of wrong verdicts over worlds, measures and truths, and the mean share of right ones."""
    cells_of = [cell for cell in found if cell["kind"] == "pools"]
    body = []
    for pool in dict.fromkeys(cell["pool"] for cell in cells_of):
        for queries in sorted({cell["queries"] for cell in cells_of}):
            part = [cell for cell in cells_of if (cell["pool"], cell["queries"]) == (pool, queries)]
            line = [pool, f"{queries:,}", *(f"{max(cell['wrong'][rule] for cell in part):.3f}" for rule in ("as judged", CHOSEN))]
            for truth, rules in (("better", ("all judged", "as judged", CHOSEN)), ("worse", ("as judged", CHOSEN))):
                right = [[cell["right"][rule] for rule in rules] for cell in part if cell["truth"] == truth]
                line += [f"{share:.2f}" for share in np.mean(right, axis=0)]
            body.append(line)
    head = ["pool", "queries", "wrong: as judged", "rule", "B better, found: all judged", "as judged", "rule"]
    return lined([*head, "B worse, found: as judged", "rule"], body, 1)


def cell_lines(part: Sequence[dict[str, Any]]) -> list[str]:
    """Wrong and right verdicts of single cells: with all judged, as judged, and by the rule."""
    shown = ("all judged", "as judged", CHOSEN)
    head = ["truth", "pool", "queries", "true", "as judged", "unjudged A", "B"]
    head += ["wrong: all judged", "as judged", "rule", "right: all judged", "as judged", "rule"]
    body = []
    for cell in part:
        right = [cell["right"][rule] for rule in shown]
        body.append([
            cell["truth"], cell["pool"], f"{cell['queries']:,}", f"{cell['difference']:+.3f}", f"{cell['as_judged']:+.3f}",
            f"{cell['unjudged_a']:.0%}", f"{cell['unjudged_b']:.0%}", *(f"{cell['wrong'][rule]:.3f}" for rule in shown),
            *("" if share is None else f"{share:.2f}" for share in right),
        ])  # fmt: skip
    return lined(head, body, 2)


def rate_lines(found: Sequence[dict[str, Any]]) -> list[str]:
    """How relevant unjudged documents are, against those judged at the same ranks."""
    body = []
    for cell in found:
        if cell["relevant"] and cell["kind"] == "pools" and cell["truth"] == "equal" and cell["queries"] == found[0]["queries"]:
            shares = cell["relevant"]
            ratio = shares["unjudged"] / shares["judged"] if shares["judged"] else float("nan")
            body.append([cell["world"], cell["measure"], cell["pool"], *(f"{share:.2f}" for share in shares.values()), f"{ratio:.2f}"])
    return lined(["world", "measure", "pool", "judged", "judged, alone", "unjudged, alone", "unjudged : judged"], body, 3)


def tables(found: dict[str, Any]) -> list[str]:
    """All of the answer as Markdown."""
    rows = found["cells"]
    lines = ["**rules**", "", *rivals(rows), "", "**pools**", "", *pool_lines(rows), ""]
    for kind in ("pools", "crossing", "crossing, others", "hidden"):
        for world in dict.fromkeys(cell["world"] for cell in rows if cell["kind"] == kind):
            for measure in MEASURES:
                part = [cell for cell in rows if (cell["kind"], cell["world"], cell["measure"]) == (kind, world, measure)]
                if part:
                    lines += [f"**{kind}: {world}, {measure}**", "", *cell_lines(part), ""]
    lines += ["**relevance**", "", *rate_lines(rows), ""]
    error = (ALPHA * (1 - ALPHA) / found["runs"]) ** 0.5
    lines.append(f"{found['runs']:,} replicates a cell: a share of {ALPHA} has a standard error of {error:.4f}.")
    return lines


def main(asked: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=at_least_1, default=2000, help="replicates of each cell (default 2000)")
    parser.add_argument("--bank", type=at_least_1, default=8000, help="queries to draw from (default 8000)")
    parser.add_argument("--queries", type=at_least_1, nargs="+", default=list(QUERIES), help="queries of a judged set")
    parser.add_argument("--seed", type=int, default=33, help="the same seed, the same numbers (default 33)")
    parser.add_argument("--quick", action="store_true", help="40 replicates from 500 queries: a look at the tables, not at the numbers")
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
    arguments = parser.parse_args(asked)
    if arguments.quick:
        arguments.runs, arguments.bank = 40, 500
    show, rows = progress_line("cells") or (lambda _done, _runs: None), []
    for cell in cells(arguments):
        rows.append(asdict(cell))
        show(len(rows), len(rows))
    found: dict[str, Any] = {"runs": arguments.runs, "alpha": ALPHA, "chosen": CHOSEN, "cells": rows}
    print(json.dumps(found, indent=1) if arguments.format == "json" else "\n".join(tables(found)))


if __name__ == "__main__":
    main()
