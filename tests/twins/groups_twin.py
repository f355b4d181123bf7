"""`rank_groups` written slowly: sort with Python's own stable sort, look for equal neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

COLUMNS = (
    "hit_offsets",
    "grades",
    "ideal_grades",
    "length",
    "tied",
    "tie_query",
    "tie_rank",
    "tie_first",
    "tie_last",
    "tie_grade",
)


@dataclass
class TwinGroups:
    """The columns of the kernel's `Groups`, as lists."""

    n_queries: int
    width: int
    hit_offsets: list[int]
    grades: list[float]
    ideal_grades: list[float]
    length: list[int]
    tied: list[int]
    tie_query: list[int]
    tie_rank: list[int]
    tie_first: list[int]
    tie_last: list[int]
    tie_grade: list[float]


def ranked_rows(
    rows: list[int], compared: list[float], ties: Literal["input", "reversed"]
) -> list[int]:
    """Rows by score from high to low; equal scores in input order or in reversed input order."""
    first = rows if ties == "input" else rows[::-1]
    return sorted(first, key=lambda row: -compared[row])


def rank_groups_twin(
    labels: NDArray[Any],
    scores: NDArray[np.floating[Any]],
    offsets: NDArray[np.int64],
    *,
    ties: Literal["input", "reversed"] = "input",
    float32: bool = False,
    depth: int = 0,
    order: NDArray[np.int64] | None = None,
) -> TwinGroups:
    """What the kernel's `rank_groups` must give."""
    grades = [float(label) for label in labels.tolist()]
    with np.errstate(over="ignore"):
        compared = [
            float(score) for score in (scores.astype(np.float32) if float32 else scores).tolist()
        ]
    grouped = list(range(len(grades))) if order is None else order.tolist()
    twin = TwinGroups(len(offsets) - 1, 0, [0], [], [], [], [], [], [], [], [], [])
    for query, (begin, end) in enumerate(
        zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
    ):
        ranking = ranked_rows(grouped[begin:end], compared, ties)
        kept = min(len(ranking), depth) if depth else len(ranking)
        twin.length.append(len(ranking))
        twin.hit_offsets.append(twin.hit_offsets[-1] + kept)
        twin.grades += [grades[row] for row in ranking[:kept]]
        twin.ideal_grades += sorted((grades[row] for row in ranking), reverse=True)[:kept]
        twin.tied.append(add_ties(twin, query, ranking, compared, grades, depth))
    widths = {
        end - begin for begin, end in zip(twin.hit_offsets[:-1], twin.hit_offsets[1:], strict=True)
    }
    twin.width = widths.pop() if len(widths) == 1 else 0
    return twin


def add_ties(
    twin: TwinGroups,
    query: int,
    ranking: list[int],
    compared: list[float],
    grades: list[float],
    depth: int,
) -> int:
    """Append the members of this list's ties; the number of tied items, also beyond the depth."""
    tied, first = 0, 1
    for _, members in groupby(ranking, key=lambda row: compared[row]):
        tie = list(members)
        last = first + len(tie) - 1
        if last > first:
            tied += len(tie)
        if last > first and (depth == 0 or first <= depth):
            for rank, row in enumerate(tie, start=first):
                twin.tie_query.append(query)
                twin.tie_rank.append(rank)
                twin.tie_first.append(first)
                twin.tie_last.append(last)
                twin.tie_grade.append(grades[row])
        first = last + 1
    return tied
