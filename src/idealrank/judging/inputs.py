"""Judgments, judges and nuggets for paths, mappings and dataframes."""

from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from idealrank.data.run import Run, name_of
from idealrank.data.types import FloatArray, decode_id
from idealrank.errors import InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import AnyTable, to_qrels, to_run
from idealrank.io.complaints import Notes, Tell
from idealrank.io.formats.preferences import read_assessors
from idealrank.io.sources import input_files
from idealrank.judging import JudgeCheck, LabelTable, check_judge
from idealrank.judging.aggregation import lower_median, majority_vote
from idealrank.judging.files.nugget_files import read_answers, read_nuggets
from idealrank.judging.judges import refuse_few_annotators
from idealrank.judging.nuggets import DEFAULT_SCORES, AssignedAnswers, nugget_scores


def read_labels(
    source: "AnyTable | Mapping[str, AnyTable]",
    *,
    labels: Mapping[str, float] | None = None,
    tell: Tell | None = None,
) -> LabelTable:
    """Read the grades of several raters, joined by query and document."""
    if isinstance(source, Mapping):
        return LabelTable.of(
            {name: to_qrels(grades, labels=labels, tell=tell) for name, grades in source.items()}
        )
    return LabelTable.of(read_assessors(source, labels=labels, tell=tell))


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
    """Compare several judges with one human."""
    if not judges:
        raise InputError("judges: found none, expected at least one")
    reference = to_qrels(human)
    systems: dict[str, Run] = {name: to_run(run, name=name) for name, run in (runs or {}).items()}
    return [
        check_judge(reference, to_qrels(grades), systems, name=name, **options)
        for name, grades in judges.items()
    ]


def evaluate_answers(
    path: str | PathLike[str],
    scores: Sequence[str] = DEFAULT_SCORES,
    *,
    nuggets: str | PathLike[str] | None = None,
    tell: Tell | None = None,
) -> list[Evaluation]:
    r"""Score answers by the nuggets that they contain, as the tool nuggetizer assigned them.

    Parameters
    ----------
    path : path
        JSON lines, one for each answer: ``{"qid": ..., "run_id": ..., "nuggets": [{"text": ...,
        "importance": "vital" or "okay", "assignment": "support", "partial_support" or
        "not_support"}]}``. An assignment that ``failed`` counts as not supported.
    scores : sequence of str
        Any of V_strict, V, A_strict, A, W_strict, W; see `NuggetScore`.
    nuggets : path, optional
        The nuggets of every query, in the same layout without assignments. Queries without an
        answer then count 0; without it, only queries with an answer count, as in the script of the
        tool.
    tell : callable, optional
        Callback for messages; without it they are warnings.

    Returns
    -------
    list of Evaluation
        One for each ``run_id``, for `compare`, `intervals`, stores and reports. The name is the
        ``run_id``, or the name of the file.

    Raises
    ------
    InputError
        The file cannot be opened, has no answer, or has other nuggets than `nuggets`.
    FileFormatError
        A record cannot be used.
    OptionError
        A score is unknown.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "answers.jsonl")
    >>> _ = path.write_text(
    ...     '{"qid": "q1", "nuggets": [{"text": "x", "importance": "vital", "assignment": "partial_support"}]}'
    ... )
    >>> evaluate_answers(path)[0].mean()
    {'V_strict': 0.0, 'V': 0.5, 'A_strict': 0.0, 'A': 0.5}
    """  # noqa: E501
    chosen = nugget_scores(scores)
    notes = Notes(tell)
    text = fspath(path)
    listed = None if nuggets is None else read_nuggets(fspath(nuggets), notes)
    evaluations = []
    for system in read_answers(text, notes):
        name_of_file = "stdin" if text == "-" else name_of(text)
        answers = AssignedAnswers(system.name or name_of_file, system.answers)
        if listed is not None:
            answers = answers.completed(listed)
        paths = [text] if nuggets is None else [fspath(nuggets), text]
        evaluations.append(answers.evaluated(chosen, inputs=input_files(paths), path=text))
    return evaluations
