"""Policies of a convention for grades, unjudged documents and missing queries; and the sorted
grades of each query for its ideal.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from idealrank import _kernel
from idealrank.data.alignment import Alignment
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import BoolArray, FloatArray, IntArray, decode_id
from idealrank.errors import InputError


class Graded(NamedTuple):
    """Grades after the convention's policies."""

    grades: FloatArray  # shape (n,): the grades to measure with
    removed: BoolArray | None  # shape (n,): documents that vanish from every list
    truncated: int  # How many grades were cut to whole numbers


def apply_grade_policies(
    grades: FloatArray, alignment: Alignment, locate: Callable[[int], str]
) -> Graded:
    """Apply `Alignment.grades` and `Alignment.negative`."""
    truncated = 0
    if alignment.grades == "truncated":
        whole = np.trunc(grades)
        truncated = int(np.count_nonzero(whole != grades))
        grades = whole if truncated else grades
    elif alignment.grades == "minimum" and (grades < 1).any():
        grades = np.where(grades < 1, 0.0, grades)
    negative = grades < 0
    removed: BoolArray | None = None
    if negative.any():
        if alignment.negative == "error":
            row = int(np.flatnonzero(negative)[0])
            raise InputError(
                f"{locate(row)}: found grade {grades[row]:g} ({np.count_nonzero(negative)} "
                "negative grades in all), expected 0 or more; negative=zero counts them as not "
                "relevant, negative=kept keeps them",
                switch="negative=zero",
            )
        if alignment.negative == "zero":
            grades = np.where(negative, 0.0, grades)
        elif alignment.negative == "removed":
            removed = negative
        elif alignment.negative == "padding" and (grades == -1).any():
            removed = grades == -1
    return Graded(grades, removed, truncated)


class IdealGrades(NamedTuple):
    """The grades an ideal ranking would show, query after query, best first."""

    offsets: IntArray  # shape (n_queries + 1,): where each query's grades begin
    # query, rank: shape (n,): query code and rank in the ideal list (1 is the top) of each grade
    query: IntArray
    rank: IntArray
    grade: FloatArray  # shape (n,): falling inside each query

    @property
    def sizes(self) -> IntArray:
        """Number of grades per query, shape (n_queries,)."""
        return np.diff(self.offsets)


def sort_by_query(query: IntArray, values: FloatArray, n_queries: int) -> FloatArray:
    """Values sorted falling inside each query; `query` must not fall.

    Whole numbers of a small range, which grades nearly always are, are packed with their query into
    one integer key and sorted at once; that is several times faster than sorting twice.
    """
    if values.size == 0:
        return values
    top = float(values.max())
    bottom = float(values.min())
    if (
        top - bottom < 2**20
        and n_queries < 2**40
        and abs(top) < 2**52
        and bool((np.floor(values) == values).all())
    ):
        # In place: a new array of this size costs more in page faults than the arithmetic on it.
        key = np.empty(values.size, np.int64)
        np.subtract(top, values, out=key, casting="unsafe")
        key |= query << 20
        key.sort()
        key &= 2**20 - 1
        falling: FloatArray = np.subtract(top, key, dtype=np.float64)
        return falling
    sorted_values: FloatArray = values[np.lexsort((-values, query))]
    return sorted_values


def ideal_grades(query: IntArray, grade: FloatArray, n_queries: int) -> IdealGrades:
    """Group and sort grades for the ideal."""
    sizes = np.bincount(query, minlength=n_queries)
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    rank = np.arange(1, query.size + 1) - np.repeat(offsets[:-1], sizes)
    return IdealGrades(
        offsets=offsets, query=query, rank=rank, grade=sort_by_query(query, grade, n_queries)
    )


def name_row(qrels: Qrels, row: int) -> str:
    """A row of the judgments, for an error message."""
    query = int(np.searchsorted(qrels.offsets, row, side="right")) - 1
    document = decode_id(qrels.table.document_id(row))
    return (
        f"{qrels.paths[0] if qrels.paths else qrels.name}: query {qrels.queries[query]!r}, "
        f"document {document!r}"
    )


def refuse_unjudged(
    qrels: Qrels,
    run: Run,
    alignment: Alignment,
    aligned: _kernel.Aligned,
    *,
    within: int | None = None,
) -> None:
    """Raise where a returned document (down to the rank `within`) has no judgment and the policy is
    ``unjudged=error``.
    """
    if alignment.unjudged != "error":
        return
    last = (
        aligned.n_queries if alignment.without_judgments == "evaluated" else aligned.n_qrels_queries
    )
    first = aligned.first_unjudged[:last]
    unjudged = np.flatnonzero((first > 0) if within is None else (first > 0) & (first <= within))
    if unjudged.size:
        query = int(unjudged[0])
        name = (
            qrels.queries[query]
            if query < qrels.n_queries
            else decode_id(aligned.run_only_ids()[query - qrels.n_queries])
        )
        raise InputError(
            f"run {run.name!r}, query {name!r}: the document at rank "
            f"{aligned.first_unjudged[query]} is unjudged ({unjudged.size} queries have such "
            "documents), expected all judged; unjudged=not-relevant or unjudged=skipped allows it",
            switch="unjudged=not-relevant",
        )


def queries_that_count(
    qrels: Qrels, run: Run, alignment: Alignment, aligned: _kernel.Aligned
) -> IntArray | None:
    """Codes of the queries kept under the policies for missing queries and queries without
    judgments; None when all are.
    """
    missing = np.flatnonzero(~aligned.in_run[: qrels.n_queries])
    if alignment.missing == "error" and missing.size:
        ids = [repr(qrels.queries[int(query)]) for query in missing[:5]]
        examples = ", ".join([*ids, *(["..."] if missing.size > 5 else [])])
        raise InputError(
            f"run {run.name!r} does not answer {missing.size} of {qrels.n_queries} judged queries "
            f"({examples}), expected all; missing=zero counts them as 0, missing=left-out leaves "
            "them out",
            switch="missing=zero",
        )
    last = (
        aligned.n_queries if alignment.without_judgments == "evaluated" else aligned.n_qrels_queries
    )
    if alignment.missing == "left-out" and missing.size:
        return np.flatnonzero(aligned.in_run[:last])
    return None if last == aligned.n_queries else np.arange(last)
