"""Search for the convention behind a number, for paths, mappings, dataframes and arrays."""

from inspect import isfunction
from os import PathLike
from typing import Any

from idealrank.analysis.reconciliation import (
    DifferenceSplit,
    Reconciliation,
    reconcile_lists,
    split_lists_difference,
)
from idealrank.analysis.reconciliation import reconcile as reconcile_run
from idealrank.analysis.reconciliation import split_difference as split_run_difference
from idealrank.api.evaluation import AnyTable, is_array, to_qrels, to_run
from idealrank.conventions import Convention
from idealrank.data.lists import Lists
from idealrank.evaluation.sweep import JudgmentsSource
from idealrank.measures.parse import MeasureLike


def reconcile(
    qrels: AnyTable,
    run: AnyTable,
    value: "str | float",
    measure: MeasureLike = "nDCG@10",
    convention: "Convention | str" = "standard",
    **layout: Any,
) -> Reconciliation:
    """Find the conventions under which a run has a stated value, nearest first, with their
    differences from the current one.

    Parameters
    ----------
    qrels, run : path, mapping, dataframe, Qrels or Run, or arrays of labels and scores
        As for `evaluate`.
    value : str or float
        The stated value. In a text the digits count: ``"0.50"`` matches values that round, or
        truncate, to 0.50.
    measure : Measure or str
        Measure of the stated value.
    convention : Convention or str
        The current convention.
    **layout
        For arrays: group, offsets, qid, mask, padding; see `Lists.from_arrays`.

    Examples
    --------
    >>> reconcile({"q": {"a": 3, "b": 2, "c": 1}}, {"q": ["b", "a"]}, "0.8340", "nDCG@10").matches[
    ...     0
    ... ].conventions[0]
    'xgboost-minus'
    """
    if is_array(qrels) and is_array(run):
        return reconcile_lists(Lists.from_arrays(qrels, run, **layout), value, measure, convention)
    return reconcile_run(
        judgments_source(qrels), to_run(run, judgments=qrels), value, measure, convention
    )


def split_difference(
    qrels: AnyTable,
    run: AnyTable,
    measure: MeasureLike,
    a: "Convention | str",
    b: "Convention | str",
    **layout: Any,
) -> DifferenceSplit:
    """Split the difference between the values of two conventions by switch.

    Parameters
    ----------
    qrels, run, measure, **layout
        As for `reconcile`.
    a, b : Convention or str
        The two conventions.

    Examples
    --------
    >>> split = split_difference(
    ...     {"q": {"a": 3, "b": 2}}, {"q": ["b"]}, "nDCG@10", "standard", "standard,gain=exp2"
    ... )
    >>> [part.switches for part in split.parts]
    [('gain',)]
    """
    if is_array(qrels) and is_array(run):
        return split_lists_difference(Lists.from_arrays(qrels, run, **layout), measure, a, b)
    return split_run_difference(
        judgments_source(qrels), to_run(run, judgments=qrels), measure, a, b
    )


def judgments_source(qrels: AnyTable) -> JudgmentsSource:
    """Return judgments; of a path, a function that reads it under each policy for documents that
    are judged twice.
    """
    if isinstance(qrels, (str, PathLike)):
        return lambda policy: to_qrels(qrels, duplicates=policy)
    return qrels if isfunction(qrels) else to_qrels(qrels)
