"""Judgments and judges for paths, mappings and dataframes."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from idealrank.api.evaluation import AnyTable, to_qrels, to_run
from idealrank.data.run import Run
from idealrank.data.types import FloatArray, decode_id
from idealrank.errors import InputError
from idealrank.io.formats.preferences import read_assessors
from idealrank.io.notes import Tell
from idealrank.judging import JudgeCheck, LabelTable, check_judge
from idealrank.judging.aggregation import lower_median, majority_vote
from idealrank.judging.judges import refuse_few_annotators


def read_labels(
    source: "AnyTable | Mapping[str, AnyTable]", *, tell: Tell | None = None
) -> LabelTable:
    """Read the grades of several raters, joined by query and document."""
    if isinstance(source, Mapping):
        return LabelTable.of({name: to_qrels(one, tell=tell) for name, one in source.items()})
    return LabelTable.of(read_assessors(source, tell=tell))


def read_annotators(path: str, *, tell: Tell | None = None) -> LabelTable:
    r"""Read the grades of the people for the alternative annotator test, from one file."""
    table = read_labels(path, tell=tell)
    refuse_few_annotators(path, table)
    return table


def queries_of_run(run: Run) -> set[str]:
    """Ids of the queries that a run answers."""
    return {decode_id(query) for query in run.in_memory().source.query_ids()}  # type: ignore[union-attr]


def combined_grades(
    ratings: npt.ArrayLike, how: Literal["median", "mean", "majority"] = "median"
) -> FloatArray:
    """Combine the grades that several raters, or repeated questions to one judge, gave to each
    unit.
    """
    if how == "mean":
        return np.asarray(np.nanmean(np.asarray(ratings, np.float64), axis=1))
    return lower_median(ratings) if how == "median" else majority_vote(ratings).grades


def check_judges(
    human: AnyTable,
    judges: Mapping[str, AnyTable],
    runs: "Mapping[str, AnyTable] | None" = None,
    **options: Any,
) -> list[JudgeCheck]:
    """Hold several judges against one human."""
    if not judges:
        raise InputError("judges: found none, expected at least one")
    reference = to_qrels(human)
    systems: dict[str, Run] = {name: to_run(one, name=name) for name, one in (runs or {}).items()}
    return [
        check_judge(reference, to_qrels(one), systems, name=name, **options)
        for name, one in judges.items()
    ]
