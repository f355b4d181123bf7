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


def evaluations_of(listed: Sequence[Evaluation], sides: Iterable[Opposed]) -> list[Evaluation]:
    """List the run and its baselines, then the other evaluations of the sides, each once."""
    # By identity: two evaluations of equal values are two runs.
    known = set(map(id, listed))
    further: dict[int, Evaluation] = {}
    for side in sides:
        for evaluation in (*side.now, *side.before):
            if id(evaluation) not in known:
                further[id(evaluation)] = evaluation
    return [*listed, *further.values()]


def names_of_every(evaluations: Sequence[Evaluation], sides: Sequence[Opposed]) -> tuple[str, ...]:
    """Name each evaluation: the first one of a side before has the name of the side."""
    of_sides = {id(side.before[0]): side.name for side in reversed(sides)}
    return distinct([of_sides.get(id(evaluation), evaluation.name) for evaluation in evaluations])


def missing_of(
    evaluation: Evaluation, sides: Sequence[Opposed], names: Sequence[str]
) -> dict[str, int]:
    """Judged queries without an answer, by name of the run and of each side before."""
    evaluations = (evaluation, *(side.before[0] for side in sides))
    return {
        name: first_of_side.coverage.missing
        for name, first_of_side in zip(names, evaluations, strict=True)
    }


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
    place_of = {id(evaluation): place for place, evaluation in enumerate(evaluations)}
    opponents = []
    for side, name in zip(sides, names, strict=True):
        before, now = (
            [place_of[id(evaluation)] for evaluation in runs] for runs in (side.before, side.now)
        )
        opponents.append(
            Opponents(
                name=name,
                before=mean_table([tables[place] for place in before]),
                now=mean_table([tables[place] for place in now]),
                places=(before[0], now[0]),
            )
        )
    return tuple(opponents)


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
