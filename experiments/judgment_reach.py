"""When judgments do not carry a verdict: wrong signs and power of the rule of `compare`, and of its
rivals.

Data       See `judged_pools`: everything is known, and a pool decides what is judged. Queries are
drawn with replacement from 8,000, so
           that the true difference is known exactly; the true difference is that with all documents
           judged.
Gains      An unjudged document that one run alone returns would add, if relevant, u = g(rank)
weight(rank) / ideal: g is the mean gain of
           the judged relevant documents at that rank, both runs together. One that both return
           would add g (weight in B - weight in A) / ideal, g the mean over its two ranks. Ranks
           with under 20 documents join the ranks above. RR@10 is its expected value, with each
           unjudged document relevant independently of the others.
Rates      Of a run whose unjudged documents count: the share relevant among its judged documents at
those ranks, weighted by u (RR@10:
           by what each would add alone), (i) of all, (ii) of those that the other run does not
           return. Limits are Wilson's, of 90 %. They are made of all queries and of those in which
           the run has unjudged documents of its own; the more cautious ones count.
Gaps       Unjudged documents of a run's own above a deeper judged one of its own, and judged ones
there: their ratio is the odds of a gap,
           which the depth of a pool cannot explain. Documents that both runs return have such odds,
           too.
Limits     The lower one is that of (ii), 0 where (ii) has under 20 documents. Its odds are
multiplied by the fourth root of (odds of a gap
           among shared documents / among own ones), if that is below 1: pools that miss own
           documents may miss other kinds of them. The upper one is the smaller of the limits of (i)
           and (ii). If the odds of a gap are larger than among shared documents and than among own
           documents of the other run, both by more than chance (90 %), the excess may be new
           documents, which no assessor could have judged: their part takes the larger limit.
Declared   With every relevant document labelled and a known share f of the others, unlabelled
documents are not relevant up to the
           upper limit (90 %) of their number: zeros (1 - f) / f. The excess takes the larger limit;
           the lower limit is 0.
Rules      A verdict stands if the mean difference is significant, with the same sign, at each of a
few points (share of the losing
           run's unjudged documents that are relevant, that of the winning run's, that of those both
           return). A set of such points is convex for sums over documents, so that a verdict that
           stands at some points stands between them, too.
Positive   Labels that name relevant documents alone have no rates. The verdict is that of the test,
but for labels of one side: one run
           returns at least 99 % of the labelled documents, and the other does not. Queries without
           a label do not count.
Tests      Paired t, two-sided, alpha 0.05. Wrong      A verdict against the sign of the true
difference; where that is 0, any verdict. Library    `compare` decides one pair at a time, by
`idealrank.analysis.comparison.tipping`: too slow for the pairs drawn here. The
           rule below works on arrays; `tests/scripts/test_experiment_reach.py` holds both to
           the same verdicts, rates and limits.
Choice     The fourth root and the test of gaps were chosen on seeds 101 to 606; the tables are of
seed 33. Time       About six minutes of one core.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from judged_pools import (
    CUTOFF,
    POOLS,
    SOURCES,
    WORLDS,
    Bank,
    Sample,
    at_random,
    bank,
    fresh,
    hidden,
    judged_by,
    named,
    sample,
    sampled,
)
from judged_rates import LEAST, Gaps, Shares, by_group, excess, joined, kept_odds, unexplained
from judgment_tables import ALPHA, BEFORE, CHOSEN, MISSING_TRUTHS, PLAIN, REPORTED, tables
from models import at_least_1, progress_line
from scipy.sparse import csr_array
from scipy.special import stdtrit

from idealrank.data.types import BoolArray, FloatArray, IntArray

QUERIES, BATCH = (50, 250), 100_000
_COUNTED = ("relevant", "judged", "alone", "alone_relevant")
KEPT_NEGATIVES = 0.3
NEARLY_ALL = 0.99  # labels of one side

# How much better B sees relevance than the other systems, a true difference of about 0.05 and of
# 0.015.
TRUTHS = {"equal": 0.0, "better": 0.1, "a little better": 0.035}
# A sees one kind of relevant document well, B all kinds alike: A is better at the top, B further
# down, the means are equal.
CROSSING = {
    "some relevant": ((0, 0.6, 2.4, 2.4), (0, 1.66, 1.66, 1.66)),
    "few relevant": ((0, 1.2, 3.2, 3.2), (0, 2.05, 2.05, 2.05)),
    "many relevant": ((0, 0.5, 2.4, 2.4), (0, 1.73, 1.73, 1.73)),
    "some relevant, far apart": ((0, 0.2, 3.0, 3.0), (0, 1.93, 1.93, 1.93)),
}


class Rates(NamedTuple):
    """Of one run in each replicate; limits are 0 where nothing of it is unjudged."""

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
    zero = 0 * loser.upper
    return Point(zero, zero, zero)


def worst(loser: Rates, _winner: Rates) -> Point:
    return Point(1 + 0 * loser.upper, 0 * loser.upper, 0 * loser.upper)


def against(loser: Rates, _winner: Rates) -> Point:
    """The losing run at its upper limit, the winning run at 0."""
    return Point(loser.upper, 0 * loser.upper, 0 * loser.upper)


def one_share(loser: Rates, winner: Rates) -> Point:
    """Both runs at the higher of their upper limits."""
    share = np.maximum(loser.upper, winner.upper)
    return Point(share, share, share)


def own_limits(loser: Rates, winner: Rates) -> Point:
    """The losing run at its upper limit, the winning run at its lower one."""
    return Point(loser.upper, winner.lower, 0 * loser.upper)


# Which limits a rule takes, and where the verdict has to stand besides as judged. "old rule" was
# that of earlier versions.
RULES: dict[str, tuple[str, tuple[Corner, ...]]] = {
    "as judged": ("smaller", ()),
    "worst case": ("smaller", (worst,)),
    "limit against 0": ("smaller", (against,)),
    "one share": ("smaller", (one_share,)),
    "own limits": ("smaller", (own_limits,)),
    "old rule": ("smaller", (one_share, own_limits)),
    "rule": ("by gaps", (one_share, own_limits)),
}


UNDECLARED, DECLARED = "30% of negatives", "30% of negatives, declared"


class Names(NamedTuple):
    """Settings of a cell."""

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


class Columns:
    """Sums of a sample, gathered once: by name and run, arrays of shape (queries, 10)."""

    def __init__(self, of: Sample, declared: float | None = None) -> None:
        self.of, self.declared = of, declared
        self.counted: list[list[str]] = []
        self.matrix: list[FloatArray] = []
        self.values: list[dict[str, FloatArray]] = []
        for run, side in enumerate(of.sides):
            found, alone = side.gains > 0, side.judged & side.alone
            own, shared, scale = (
                ~side.judged & side.alone,
                ~side.judged & ~side.alone,
                of.scale[:, None],
            )
            weights = of.weights
            if not of.linear:  # what a document would add to RR if it alone were relevant
                weights = np.maximum(
                    of.weights - (side.gains * side.judged * of.weights).max(axis=1, keepdims=True),
                    0,
                )
            followed = np.zeros_like(alone)
            followed[:, :-1] = np.logical_or.accumulate(alone[:, ::-1], axis=1)[:, -2::-1]
            shift = (side.other_weight - of.weights) * (1 if run == 0 else -1)
            counted = {
                "relevant": side.judged & found,
                "gain": np.where(side.judged, side.gains, 0),
                "judged": side.judged,
                "alone": alone,
                "alone_relevant": alone & found,
                "own": own,
                "gaps": own & followed,
                "filled": alone & followed,
                "both": shared,
                "both_judged": side.judged & ~side.alone,
                "adds": np.where(own, weights, 0) * scale,
                "shared": np.where(shared, weights, 0) * scale,
            }
            values = {"adds": counted["adds"], "shift": np.where(shared, shift, 0) * scale / 2}
            if not of.linear:
                values = {"found": side.judged & found, "own": own, "unjudged": ~side.judged}
            # The same of queries with unjudged documents of the run's own, and with any.
            concerned = {
                "own": own.any(axis=1, keepdims=True),
                "any": (own | shared).any(axis=1, keepdims=True),
            }
            parts = {
                f"{name} of {which}": counted[name] & rows
                for which, rows in concerned.items()
                for name in _COUNTED
            }
            self.counted.append(list(counted) + list(parts))
            self.matrix.append(
                np.concatenate([*counted.values(), *parts.values()], axis=1, dtype=float)
            )
            self.values.append(
                {name: np.asarray(column, np.float32) for name, column in values.items()}
            )

    def summed(self, run: int, times: Any) -> dict[str, FloatArray]:
        """Sums over the queries of each replicate, given how often each was drawn."""
        sums = times @ self.matrix[run]
        return dict(
            zip(self.counted[run], np.split(sums, len(self.counted[run]), axis=1), strict=True)
        )


def significant(differences: FloatArray) -> IntArray:
    """1 or -1 where the mean of a row is significant, else 0."""
    queries = differences.shape[1]
    mean, error = differences.mean(axis=1), differences.std(axis=1, ddof=1) / queries**0.5
    critical = float(stdtrit(queries - 1, 1 - ALPHA / 2))
    return np.where(np.abs(mean) > critical * np.maximum(error, 1e-12), np.sign(mean), 0).astype(
        int
    )


class Replicates:
    """Draws of queries, with what follows for each: (replicates,) and (replicates, queries)
    arrays.
    """

    def __init__(self, columns: Columns, drawn: IntArray) -> None:
        self.difference, self.linear, self.declared = (
            columns.of.difference[drawn],
            columns.of.linear,
            columns.declared,
        )
        starts = np.arange(0, drawn.size + 1, drawn.shape[1])
        times = csr_array(
            (np.ones(drawn.size), drawn.ravel(), starts),
            shape=(len(drawn), len(columns.of.difference)),
        )
        self._sums = [columns.summed(run, times) for run in (0, 1)]
        self._there = [self._of_concerned(sums) for sums in self._sums]
        found, gain = (self._sums[0][name] + self._sums[1][name] for name in ("relevant", "gain"))
        groups = joined(found)
        pooled, seen = (
            np.take_along_axis(by_group(groups, values), groups, 1) for values in (gain, found)
        )
        self.gain = np.divide(pooled, seen, out=np.ones_like(pooled), where=seen > 0)
        if self.linear:
            self.adds = [
                np.einsum("rqk,rk->rq", run["adds"][drawn], self.gain) for run in columns.values
            ]
            self.shift = np.einsum(
                "rqk,rk->rq",
                (columns.values[0]["shift"] + columns.values[1]["shift"])[drawn],
                self.gain,
            )
        else:
            self._lists = [
                {name: column[drawn] for name, column in run.items()} for run in columns.values
            ]
            self._as_judged = [self._reciprocal(run, np.zeros(len(drawn)), "own") for run in (0, 1)]

    @staticmethod
    def _of_concerned(sums: dict[str, FloatArray]) -> dict[str, FloatArray]:
        """Sums over the queries that have unjudged documents of the run's own; where these add
        nothing, over those with any.
        """
        any_own = sums["adds"].sum(axis=1, keepdims=True) > 0
        there = {
            name: np.where(any_own, sums[f"{name} of own"], sums[f"{name} of any"])
            for name in _COUNTED
        }
        return there | {"own": sums["own"]}

    def gaps(self, run: int) -> tuple[Gaps, Gaps]:
        """Of the run's own documents above a deeper judged one, and of those that both runs
        return.
        """
        own, shared = (
            [self._sums[run][name].sum(axis=1) for name in names]
            for names in (("gaps", "filled"), ("both", "both_judged"))
        )
        return Gaps(*own), Gaps(*shared)

    def rates(self, run: int, kind: str = "by gaps") -> Rates:
        """Relevant share of this run's judged documents, with limits."""
        sums = self._sums[run]
        own = sums["adds"] * self.gain
        weights = np.where(own.sum(axis=1, keepdims=True) > 0, own, sums["shared"] * self.gain)
        total = weights.sum(axis=1, keepdims=True)
        weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        parts = [(part, Shares.of(part, weights)) for part in (sums, self._there[run])]
        shares = parts[0][1]
        if kind == "smaller":
            uppers, lowers = (
                [getattr(one, name) for _, one in parts] for name in ("smaller", "lower")
            )
        elif self.declared is not None:
            uppers = [unexplained(part, weights, self.declared) * one.larger for part, one in parts]
            lowers = [np.zeros(len(total))]
        else:
            gaps, shared = self.gaps(run)
            more = excess(gaps, (shared, self.gaps(1 - run)[0]))
            part = np.divide(
                more[:, None] * sums["alone"],
                sums["own"],
                out=np.zeros_like(weights),
                where=sums["own"] > 0,
            )
            new, kept = (weights * np.minimum(part, 1)).sum(axis=1), kept_odds(gaps, shared)
            uppers = [new * one.larger + (1 - new) * one.smaller for _, one in parts]
            lowers = [one.lower * kept / (1 - one.lower * (1 - kept)) for _, one in parts]
        upper, lower = np.max(uppers, axis=0), np.min(lowers, axis=0)
        any_unjudged = total[:, 0] > 0
        limits = (np.where(any_unjudged, values, 0) for values in (upper, lower))
        return Rates(*limits, shares.among_judged, shares.among_alone, shares.n_alone)

    def moved(
        self, share_a: FloatArray, share_b: FloatArray, both: FloatArray, rows: Any = slice(None)
    ) -> FloatArray:
        """Change of each query's difference in some replicates; `both` of shared documents is 0, or
        the share of both runs.
        """
        if self.linear:
            added_a, added_b = (added[rows] for added in self.adds)
            return (
                share_b[:, None] * added_b
                - share_a[:, None] * added_a
                + both[:, None] * self.shift[rows]
            )
        kind = "unjudged" if both.any() else "own"
        of_a, of_b = (
            self._reciprocal(run, share, kind, rows) for run, share in ((0, share_a), (1, share_b))
        )
        return (of_b - self._as_judged[1][rows]) - (of_a - self._as_judged[0][rows])

    def _reciprocal(
        self, run: int, share: FloatArray, kind: str, rows: Any = slice(None)
    ) -> FloatArray:
        """Expected reciprocal rank if a share of unjudged documents is relevant."""
        lists = {name: self._lists[run][name][rows] for name in ("found", kind)}
        chance = lists["found"] + lists[kind] * share[:, None, None].astype(np.float32)
        before = np.cumprod(1 - chance[:, :, :-1], axis=2)
        first = chance / np.arange(1, CUTOFF + 1, dtype=np.float32)
        return first[:, :, 0].astype(float) + (first[:, :, 1:] * before).sum(axis=2)

    def stands(self, verdict: IntArray, corner: Corner, rates: tuple[Rates, Rates]) -> BoolArray:
        """Where the verdict as judged is significant, with its sign, at a point."""
        kept = np.zeros(len(verdict), bool)
        for sign, loser in ((1, 0), (-1, 1)):
            rows = np.flatnonzero(verdict == sign)
            if rows.size:
                point = corner(
                    *(
                        Rates(*(column[rows] for column in one))
                        for one in (rates[loser], rates[1 - loser])
                    )
                )
                shares = (point.loser, point.winner) if loser == 0 else (point.winner, point.loser)
                kept[rows] = (
                    significant(self.difference[rows] + self.moved(*shares, point.both, rows))
                    == sign
                )
        return kept

    def verdicts(self) -> dict[str, IntArray]:
        """By rule: 1 better, -1 worse, 0 anything else."""
        naive = significant(self.difference)
        rates = {
            kind: (self.rates(0, kind), self.rates(1, kind)) for kind in ("smaller", "by gaps")
        }
        held: dict[tuple[str, Corner], BoolArray] = {}
        verdicts = {}
        for rule, (kind, corners) in RULES.items():
            kept = np.ones(len(naive), bool)
            for corner in corners:
                if (kind, corner) not in held:
                    held[kind, corner] = self.stands(naive, corner, rates[kind])
                kept &= held[kind, corner]
            verdicts[rule] = np.where(kept, naive, 0)
        return verdicts


def balanced(differences: FloatArray) -> FloatArray:
    """Chances of queries, as equal as can be, under which the mean difference is 0."""
    low, high = -50.0, 50.0
    for _ in range(80):
        tilt = (low + high) / 2
        chances = np.exp(tilt * (differences - differences.mean()))
        low, high = (tilt, high) if (chances * differences).sum() < 0 else (low, tilt)
    return chances / chances.sum()


def run_cell(
    of: Sample, queries: int, runs: int, seed: int, names: Names, *, declared: float | None = None
) -> Cell:
    """Draw replicates and count verdicts; equal runs have a mean difference of exactly 0."""
    zero = names.truth == "equal"
    chances = balanced(of.truth) if zero else np.full(len(of.truth), 1 / len(of.truth))
    upto = np.cumsum(chances)[:-1]
    columns, rng = Columns(of, declared), _generator(seed, queries, names)
    parts: dict[str, list[IntArray]] = {}
    step = max(1, BATCH // queries)
    for first in range(0, runs, step):
        drawn = np.searchsorted(upto, rng.random((min(step, runs - first), queries)))
        replicates = Replicates(columns, drawn)
        found = replicates.verdicts()
        found["all judged"] = significant(of.truth[drawn])
        for name, values in (
            ("condensed, 10", of.condensed_short),
            ("condensed, 1,000", of.condensed),
        ):
            found[name] = np.where(
                significant(values[drawn]) == found["as judged"], found["as judged"], 0
            )
        for rule, verdict in found.items():
            parts.setdefault(rule, []).append(verdict)
    difference = 0.0 if zero else float(of.truth.mean())
    return _counted(of, queries, names, difference, float((chances * of.difference).sum()), parts)


def run_named(of: Sample, held: IntArray, queries: int, runs: int, seed: int, names: Names) -> Cell:
    """Counts for labels that name relevant documents alone; `held` counts them by query, in A's ten
    and in B's, shape (queries, 3).

    Queries without a label are not drawn; the true difference is that over all queries.
    """
    labelled, rng = np.flatnonzero(held[:, 0]), _generator(seed, queries, names)
    difference = 0.0 if names.truth == "equal" else float(of.truth.mean())
    parts: dict[str, list[IntArray]] = {}
    step = max(1, BATCH // queries)
    for first in range(0, runs, step):
        drawn = labelled[rng.integers(0, labelled.size, (min(step, runs - first), queries))]
        verdicts = {
            "as judged": significant(of.difference[drawn]),
            "all judged": significant(of.truth[drawn]),
        }
        part = held[drawn].sum(axis=1)
        share = part[:, 1:] / part[:, :1]
        one_sided = (share.max(axis=1) >= NEARLY_ALL) & (share.min(axis=1) < NEARLY_ALL)
        verdicts[CHOSEN] = np.where(one_sided, 0, verdicts["as judged"])
        for rule, verdict in verdicts.items():
            parts.setdefault(rule, []).append(verdict)
    return _counted(of, queries, names, difference, float(of.difference[labelled].mean()), parts)


def _generator(seed: int, queries: int, names: Names) -> np.random.Generator:
    return np.random.default_rng((seed, queries, *"|".join(names).encode()))


def _counted(
    of: Sample,
    queries: int,
    names: Names,
    difference: float,
    as_judged: float,
    parts: dict[str, list[IntArray]],
) -> Cell:
    verdicts, sign = (
        {rule: np.concatenate(part) for rule, part in parts.items()},
        np.sign(difference),
    )
    wrong = {
        rule: float(((v != 0) if sign == 0 else (v == -sign)).mean())
        for rule, v in verdicts.items()
    }
    right = {rule: None if sign == 0 else float((v == sign).mean()) for rule, v in verdicts.items()}
    unjudged = (float(1 - side.judged.mean()) for side in of.sides)
    return Cell(*names, queries, difference, as_judged, *unjudged, relevance(of), wrong, right)


def relevance(of: Sample) -> dict[str, float]:
    """Shares relevant of B's documents that A does not return: of judged ones (of all, too), and of
    unjudged ones, at ranks with some.
    """
    found, judged, alone = of.b.gains > 0, of.b.judged, of.b.alone
    weights = (~judged & alone).sum(axis=0)
    if not weights.sum():
        return {}

    def share(among: BoolArray) -> float:
        seen = among.sum(axis=0)
        use = weights * (seen >= LEAST)
        return (
            float(((found & among).sum(axis=0) / np.maximum(seen, 1) * use).sum() / use.sum())
            if use.sum()
            else float("nan")
        )

    return {
        "judged": share(judged),
        "judged, alone": share(judged & alone),
        "unjudged": share(~judged & alone),
    }


def asked_of(world: str, truth: str, arguments: argparse.Namespace) -> Bank:
    """The bank of a world and a truth; equal ones are mirrored, those that are worse are better
    ones swapped.
    """
    plain = truth.replace("worse", "better")
    rng = np.random.default_rng(
        (arguments.seed, list(WORLDS).index(world), list(TRUTHS).index(plain))
    )
    seen = tuple(value * (1 + TRUTHS[plain]) for value in WORLDS[world].seen)
    drawn = bank(WORLDS[world], arguments.bank, rng, seen_b=seen)
    return drawn.mirrored() if truth == "equal" else drawn.swapped() if truth != plain else drawn


def cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """All cells: pools, judgments missing inside them, crossing runs, judgments missing for a
    reason, and positive labels alone.
    """
    for names, of in chain(
        _pooled(arguments), _missing(arguments), _crossing(arguments), _hidden(arguments)
    ):
        declared = KEPT_NEGATIVES if names.pool == DECLARED else None
        for queries in arguments.queries:
            yield run_cell(of, queries, arguments.runs, arguments.seed, names, declared=declared)
    for names, of, held in _positive(arguments):
        for queries in arguments.queries:
            yield run_named(of, held, queries, arguments.runs, arguments.seed, names)


def _pooled(arguments: argparse.Namespace) -> Iterator[tuple[Names, Sample]]:
    for world in WORLDS:
        for truth in ("equal", "better", "a little better", "worse"):
            drawn = asked_of(world, truth, arguments)
            for pool, depths in POOLS.items():
                judged = judged_by(drawn, depths)
                for measure in PLAIN if world == "some relevant" else PLAIN[:1]:
                    if measure != "RR@10" or (truth in MISSING_TRUTHS and pool in REPORTED):
                        yield (
                            Names("pools", world, measure, truth, pool),
                            sample(drawn, judged, measure),
                        )


def _missing(arguments: argparse.Namespace) -> Iterator[tuple[Names, Sample]]:
    """Both first tens are judged, but for new documents of B, for chance, or for documents that are
    not relevant.
    """
    for world in WORLDS:
        for truth in MISSING_TRUTHS if world == "some relevant" else MISSING_TRUTHS[:1]:
            drawn = asked_of(world, truth, arguments)
            for pool, of, judged in _thinned(
                drawn, (arguments.seed, 9, list(WORLDS).index(world), MISSING_TRUTHS.index(truth))
            ):
                for measure in PLAIN:
                    yield Names("missing", world, measure, truth, pool), sample(of, judged, measure)


def _thinned(drawn: Bank, seed: tuple[int, ...]) -> Iterator[tuple[str, Bank, BoolArray]]:
    rng, ten = np.random.default_rng(seed), judged_by(drawn, POOLS["A 10, B 10"])
    for share in (0.15, 0.4):
        with_new, new = fresh(drawn, share, rng)
        judged = judged_by(with_new, POOLS["A 10, B 10"]) & ~new
        yield f"{share:.0%} of B's new", with_new, judged
        if share < 0.4:
            yield f"{share:.0%} of B's new, 10% at random", with_new, at_random(judged, 0.1, rng)
    for share in (0.1, 0.4):
        yield f"{share:.0%} at random", drawn, at_random(ten, share, rng)
    kept = sampled(drawn, ten, KEPT_NEGATIVES, rng)
    for pool in (UNDECLARED, DECLARED):
        yield pool, drawn, kept


def _crossing(arguments: argparse.Namespace) -> Iterator[tuple[Names, Sample]]:
    for at, (world, (seen_a, seen_b)) in enumerate(CROSSING.items()):
        drawn = bank(
            WORLDS[world.partition(",")[0]],
            arguments.bank,
            np.random.default_rng((arguments.seed, 7, at)),
            seen_a,
            seen_b,
        )
        for pool in (
            "A 10, B 10",
            "A 6, B 6",
            "A 4, B 4",
            "1 other, 10",
            "2 others, 20",
            "3 others, 10",
        ):
            kind = "crossing, others" if "other" in pool else "crossing"
            for measure in ("nDCG@10, binary", "P@10"):
                yield (
                    Names(kind, world, measure, "equal", pool),
                    sample(drawn, judged_by(drawn, POOLS[pool]), measure),
                )


def _hidden(arguments: argparse.Namespace) -> Iterator[tuple[Names, Sample]]:
    drawn = asked_of("some relevant", "equal", arguments)
    for share in (0.1, 0.3, 0.5):
        judged = hidden(
            drawn,
            judged_by(drawn, POOLS["A 10, B 10"]),
            share,
            np.random.default_rng((arguments.seed, 8)),
        )
        for measure in PLAIN:
            yield (
                Names("hidden", "some relevant", measure, "equal", f"{share:.0%} hidden"),
                sample(drawn, judged, measure),
            )


def _positive(arguments: argparse.Namespace) -> Iterator[tuple[Names, Sample, IntArray]]:
    for truth in MISSING_TRUTHS:
        drawn = asked_of("some relevant", truth, arguments)
        for at, source in enumerate(SOURCES):
            rng = np.random.default_rng((arguments.seed, 10, MISSING_TRUTHS.index(truth), at))
            labels = named(drawn, source, rng, mirrored=truth == "equal")
            shown = [labels & (drawn.ranks[:, run] < CUTOFF) for run in (0, 1)]
            held = np.stack([part.sum(axis=1) for part in (labels, *shown)], axis=1)
            for measure in PLAIN:
                yield (
                    Names("positive labels", "some relevant", measure, truth, source),
                    sample(drawn, labels, measure),
                    held,
                )


def main(asked: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--runs", type=at_least_1, default=2000, help="replicates of each cell (default 2000)"
    )
    parser.add_argument(
        "--bank", type=at_least_1, default=8000, help="queries to draw from (default 8000)"
    )
    parser.add_argument(
        "--queries",
        type=at_least_1,
        nargs="+",
        default=list(QUERIES),
        help="queries of a judged set",
    )
    parser.add_argument(
        "--seed", type=int, default=33, help="the same seed, the same numbers (default 33)"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="40 replicates from 500 queries: a look at the tables, not at the numbers",
    )
    parser.add_argument("--format", choices=["markdown", "json"], default="markdown")
    arguments = parser.parse_args(asked)
    if arguments.quick:
        arguments.runs, arguments.bank = 40, 500
    show, rows = progress_line("cells") or (lambda _done, _runs: None), []
    for cell in cells(arguments):
        rows.append(asdict(cell))
        show(len(rows), len(rows))
    found: dict[str, Any] = {
        "runs": arguments.runs,
        "alpha": ALPHA,
        "before": BEFORE,
        "chosen": CHOSEN,
        "cells": rows,
    }
    print(json.dumps(found, indent=1) if arguments.format == "json" else "\n".join(tables(found)))


if __name__ == "__main__":
    main()
