"""Labels until `compare` has a verdict: the estimate of the library against replays with the true
grades.

Data       Collections of `judged_pools`: queries of which everything is known, and a pool that
decides what is judged. Replay     Where the verdict is "too few judgments", documents are labelled
with their true grades in the order of `idealrank judge next
           --until compare`, as it was before the first label. The verdict is looked at after 1, 2,
           3, ... labels, from 10 on after every tenth part more.
Ratio      The estimate made before the first label, over the number of labels until there is a
verdict. Stops      With ``--stops``, collections without a true difference: how often a difference
is found where the verdict is looked at after
           each sheet, of the estimated number of documents, of 20, or of all. With every document
           labelled, 5 % are expected.
Time       About ten minutes of one core.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from judged_pools import POOLS, WORLDS, Bank, bank, judged_by, places_of
from models import at_least_1, progress_line

import idealrank as ir
from idealrank.data.types import BoolArray, IntArray
from idealrank.judging import next_labels

TOO_FEW, BANK = "too few judgments", 1500
BETTER = (0.0, 0.1, 0.25)  # how much better B sees relevance
CHOSEN = ("A 10", "A 12, B 4", "A 4, B 4", "2 others, 10", "1 other, 10")
Grades = dict[str, dict[str, int]]
Lists = dict[str, list[str]]


@dataclass(frozen=True, kw_only=True)
class Replay:
    """One collection: the estimate, the number of labels until the verdict, and the verdict."""

    estimate: int
    needed: int
    verdict: str

    @property
    def ratio(self) -> float:
        return self.estimate / self.needed


def lists_of(drawn: Bank, run: int) -> Lists:
    """First ten documents of a run."""
    places = enumerate(places_of(drawn, run).tolist())
    return {f"q{query}": [f"d{query}-{at}" for at in row] for query, row in places}


def grades_of(drawn: Bank, judged: BoolArray) -> Grades:
    """Judgments of the pool."""
    return {
        f"q{query}": {
            f"d{query}-{at}": int(drawn.grades[query, at]) for at in np.flatnonzero(judged[query])
        }
        for query in range(len(judged))
    }


def true_grade(drawn: Bank, query: str, document: str) -> int:
    return int(drawn.grades[int(query[1:]), int(document.split("-")[1])])


def row_of(grades: Grades, a: Lists, b: Lists, measure: str) -> Any:
    """Verdict of `compare` on both runs."""
    return ir.compare(grades, a, b, measures=measure, test="t", labels_are="pooled")[measure]


def looked_at(most: int) -> Iterator[int]:
    """Numbers of labels after which the verdict is looked at."""
    number = 1
    while number < most:
        yield number
        number = max(number + 1, number + number // 10)
    yield most


def replay(drawn: Bank, judged: BoolArray, measure: str) -> Replay | None:
    """Label one collection; None where there are enough judgments from the start."""
    grades, a, b = grades_of(drawn, judged), lists_of(drawn, 0), lists_of(drawn, 1)
    row = row_of(grades, a, b, measure)
    if row.verdict != TOO_FEW or row.tipping.labels_needed is None:
        return None
    order = next_labels(grades, a, b, measure, until=row, budget=10**6, max_grade=3).labels
    done, verdict = 0, row.verdict
    for number in looked_at(len(order)):
        for label in order[done:number]:
            grade = true_grade(drawn, label.query, label.document)
            grades[label.query][label.document] = grade
        done = number
        verdict = row_of(grades, a, b, measure).verdict
        if verdict != TOO_FEW:
            break
    return Replay(estimate=row.tipping.labels_needed, needed=done, verdict=verdict)


def replays(
    drawn: Bank, judged: BoolArray, measure: str, *, queries: int, times: int, seed: int
) -> Iterator[Replay]:
    """Replay collections of so many queries, as far as their verdict is withheld."""
    rng = np.random.default_rng(seed)
    for _ in range(times):
        rows = rng.choice(len(judged), queries, replace=False)
        found = replay(part_of(drawn, rows), judged[rows], measure)
        if found is not None:
            yield found


def stopped(drawn: Bank, judged: BoolArray, measure: str, budget: int | None) -> tuple[str, int]:
    """Label sheets until the verdict; the verdict, and the number of labels. None: sheets as long
    as the estimate.
    """
    grades, a, b = grades_of(drawn, judged), lists_of(drawn, 0), lists_of(drawn, 1)
    given = 0
    while True:
        row = row_of(grades, a, b, measure)
        sheet = next_labels(grades, a, b, measure, until=row, budget=budget, max_grade=3)
        if not sheet.labels:
            return row.verdict, given
        for label in sheet.labels:
            grade = true_grade(drawn, label.query, label.document)
            grades[label.query][label.document] = grade
        given += len(sheet.labels)


def stops(measure: str, times: int) -> Iterator[str]:
    """Lines of the table of stops: pools, worlds and collections of 50 queries without a true
    difference.
    """
    yield "| pool | sheets | collections | a difference found | labels |"
    yield "|---|---|---|---|---|"
    banks = [
        bank(world, BANK // 2, np.random.default_rng(11)).mirrored() for world in WORLDS.values()
    ]
    for pool in CHOSEN[:2]:
        for name, budget in (("estimate", None), ("20", 20), ("all", 10**6)):
            rng, ends = np.random.default_rng(5), []
            for drawn in banks:
                judged = judged_by(drawn, POOLS[pool])
                for _ in range(times):
                    rows = rng.choice(len(judged), 50, replace=False)
                    ends.append(stopped(part_of(drawn, rows), judged[rows], measure, budget))
            decided = sum(verdict in ("better", "worse") for verdict, _ in ends)
            labels = np.mean([given for _, given in ends])
            yield f"| {pool} | {name} | {len(ends)} | {decided} | {labels:.0f} |"


def part_of(drawn: Bank, rows: IntArray) -> Bank:
    """Some of the queries."""
    return Bank(drawn.grades[rows], drawn.ranks[rows], drawn.scores[rows], drawn.best[rows])


def line(name: str, found: Sequence[Replay]) -> str:
    """One line of the table."""
    ratios = np.array([one.ratio for one in found])
    low, middle, high = np.quantile(ratios, (0.1, 0.5, 0.9))
    two, three = (np.mean((ratios >= 1 / most) & (ratios <= most)) for most in (2, 3))
    return (
        f"| {name} | {len(found)} | {low:.2f} | {middle:.2f} | {high:.2f} | {two:.0%} | "
        f"{three:.0%} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=at_least_1, default=4, help="collections of each cell")
    parser.add_argument("--measures", nargs="+", default=["P@10", "nDCG@10", "RR@10"])
    parser.add_argument("--stops", action="store_true", help="the table of stops instead")
    wanted = parser.parse_args()
    if wanted.stops:
        for measure in wanted.measures:
            print(measure, *stops(measure, wanted.times), sep="\n")
        return
    cells = [(world, better) for world in WORLDS for better in BETTER]
    found: dict[tuple[str, str], list[Replay]] = {}
    show = progress_line("worlds")
    for number, (world, better) in enumerate(cells, 1):
        rng = np.random.default_rng(number)
        seen_b = tuple(seen * (1 + better) for seen in WORLDS[world].seen)
        drawn = bank(WORLDS[world], BANK, rng, seen_b=seen_b)
        for pool in CHOSEN:
            judged = judged_by(drawn, POOLS[pool])
            for measure in wanted.measures:
                for queries in (50, 150):
                    made = replays(
                        drawn, judged, measure, queries=queries, times=wanted.times, seed=number
                    )
                    found.setdefault((measure, pool), []).extend(made)
        if show is not None:
            show(number, len(cells))
    print("| measure, pool | withheld | 10 % | median | 90 % | within 2 | within 3 |")
    print("|---|---|---|---|---|---|---|")
    for measure in wanted.measures:
        of_pools = {pool: found[measure, pool] for pool in CHOSEN if found[measure, pool]}
        print(line(measure, [one for part in of_pools.values() for one in part]))
        for pool, part in of_pools.items():
            print(line(f"{measure}, {pool}", part))


if __name__ == "__main__":
    main()
