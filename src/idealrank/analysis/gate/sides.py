"""Sides of a gate: runs whose values are averaged by query, such as repeats of one engine."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.comparison.query_table import QueryTable
from idealrank.evaluation.evaluate import Evaluation


@dataclass(frozen=True, kw_only=True)
class Opposed:
    """Two sides of a gate: runs now and before, the values of each side averaged by query.

    Attributes
    ----------
    now, before : tuple of Evaluation
        Repeats, or several accepted commits; the first of each stands for its side where documents are looked at.
    name : str
        Name of the side before.
    """

    now: tuple[Evaluation, ...]
    before: tuple[Evaluation, ...]
    name: str


def once(evaluations: Iterable[Evaluation]) -> list[Evaluation]:
    """Each evaluation once, in the order of its first place."""
    return list({id(one): one for one in evaluations}.values())


def names_of_every(evaluations: Sequence[Evaluation], sides: Sequence[Opposed]) -> tuple[str, ...]:
    """Name each evaluation: the first one of a side before has the name of the side."""
    of_sides = {id(side.before[0]): side.name for side in reversed(sides)}
    return distinct([of_sides.get(id(one), one.name) for one in evaluations])


def missing_of(evaluation: Evaluation, sides: Sequence[Opposed], names: Sequence[str]) -> dict[str, int]:
    """Judged queries without an answer, by name of the run and of each side before."""
    evaluations = (evaluation, *(side.before[0] for side in sides))
    return {name: one.coverage.missing for name, one in zip(names, evaluations, strict=True)}


class Opponents(NamedTuple):
    """Tables of the two sides of a check, and the evaluations that stand for them."""

    name: str
    before: QueryTable
    now: QueryTable
    places: tuple[int, int]  # of the first evaluation before and now


def opponents_of(side: Opposed, name: str, tables: Sequence[QueryTable], place_of: Mapping[int, int]) -> Opponents:
    """Average both sides; `place_of` has the row in `tables` of each evaluation, by its identity."""
    before, now = ([place_of[id(one)] for one in runs] for runs in (side.before, side.now))
    return Opponents(
        name=name,
        before=mean_table([tables[place] for place in before]),
        now=mean_table([tables[place] for place in now]),
        places=(before[0], now[0]),
    )


def mean_table(tables: Sequence[QueryTable]) -> QueryTable:
    """Mean by query; a query counts where it counts in every run."""
    if len(tables) == 1:
        return tables[0]
    counted = np.logical_and.reduce([table.counted for table in tables])
    total = tables[0].values.copy()
    for table in tables[1:]:
        total += table.values
    return QueryTable(np.where(counted, total / len(tables), np.nan), counted)
