"""Sides of a gate: runs whose values are averaged by query, such as repeats of one engine."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.comparison.query_table import QueryTable
from idealrank.evaluation.evaluate import Evaluation


@dataclass(frozen=True, kw_only=True)
class Opposed:
    """Two sides of a gate: runs now and before, the values of each side averaged by query."""

    # now, before: Repeats, or several accepted commits; the first of each stands for its side where
    # documents are looked at
    now: tuple[Evaluation, ...]
    before: tuple[Evaluation, ...]
    name: str  # Name of the side before


def evaluations_of(given: Sequence[Evaluation], sides: Iterable[Opposed]) -> list[Evaluation]:
    """List the run and its baselines, then the other evaluations of the sides, each once."""
    known = set(map(id, given))
    further = {
        id(one): one for side in sides for one in (*side.now, *side.before) if id(one) not in known
    }
    return [*given, *further.values()]


def names_of_every(evaluations: Sequence[Evaluation], sides: Sequence[Opposed]) -> tuple[str, ...]:
    """Name each evaluation: the first one of a side before has the name of the side."""
    of_sides = {id(side.before[0]): side.name for side in reversed(sides)}
    return distinct([of_sides.get(id(one), one.name) for one in evaluations])


def missing_of(
    evaluation: Evaluation, sides: Sequence[Opposed], names: Sequence[str]
) -> dict[str, int]:
    """Judged queries without an answer, by name of the run and of each side before."""
    evaluations = (evaluation, *(side.before[0] for side in sides))
    return {name: one.coverage.missing for name, one in zip(names, evaluations, strict=True)}


class Opponents(NamedTuple):
    """Tables of the two sides of a check, and the evaluations that stand for them."""

    name: str
    before: QueryTable
    now: QueryTable
    places: tuple[int, int]  # of the first evaluation before and now


def opponents_of(
    sides: Sequence[Opposed],
    names: Sequence[str],
    evaluations: Sequence[Evaluation],
    tables: Sequence[QueryTable],
) -> tuple[Opponents, ...]:
    """Average both sides of each check; each evaluation has a table, and each side a name."""
    place_of = {id(one): place for place, one in enumerate(evaluations)}
    found = []
    for side, name in zip(sides, names, strict=True):
        before, now = ([place_of[id(one)] for one in runs] for runs in (side.before, side.now))
        mean_before, mean_now = (
            mean_table([tables[place] for place in places]) for places in (before, now)
        )
        found.append(
            Opponents(name=name, before=mean_before, now=mean_now, places=(before[0], now[0]))
        )
    return tuple(found)


def mean_table(tables: Sequence[QueryTable]) -> QueryTable:
    """Mean by query; a query counts where it counts in every run."""
    if len(tables) == 1:
        return tables[0]
    counted = np.logical_and.reduce([table.counted for table in tables])
    total = tables[0].values.copy()
    for table in tables[1:]:
        total += table.values
    return tables[0]._replace(
        values=np.where(counted, total / len(tables), np.nan), counted=counted
    )
