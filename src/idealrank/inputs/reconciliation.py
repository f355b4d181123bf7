"""Search for the convention behind a number, for paths, mappings, dataframes and arrays."""

from collections.abc import Mapping
from typing import Any

from idealrank.analysis.reconciliation.convention_search import Search
from idealrank.analysis.reconciliation.difference import DifferenceSplit, Splitter
from idealrank.analysis.reconciliation.result import Reconciliation, Stated
from idealrank.analysis.reconciliation.trials import Trials
from idealrank.conventions import Convention
from idealrank.inputs.evaluation import AnyTable, to_run
from idealrank.inputs.judged_runs import judgments_source, lists_of
from idealrank.measures.parse import MeasureLike, parse_run_measure


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
    form = "reconcile(qrels, run, value) or reconcile(labels, scores, value, group=...)"
    stated = Stated.parse(value)
    trials = _trials(qrels, run, layout, form)
    return Search(trials, stated, parse_run_measure(measure), Convention.of(convention)).run()


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
    form = (
        "split_difference(qrels, run, measure, a, b) or "
        "split_difference(labels, scores, measure, a, b, group=...)"
    )
    trials = _trials(qrels, run, layout, form)
    return Splitter(trials, parse_run_measure(measure), Convention.of(a), Convention.of(b)).split()


def _trials(qrels: AnyTable, run: AnyTable, layout: Mapping[str, Any], form: str) -> Trials:
    if lists := lists_of((qrels, run), layout, form):
        return Trials.of_lists(lists[0])
    return Trials.of_run(judgments_source(qrels), to_run(run, judgments=qrels))
