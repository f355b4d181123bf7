"""Recall of an approximate index for paths, mappings and dataframes."""

from collections.abc import Iterable
from dataclasses import replace

from idealrank.analysis.recall import IndexRecall, losses_of, recall_of_runs
from idealrank.api.evaluation import AnyTable, evaluate, to_runs
from idealrank.conventions import Convention
from idealrank.measures.parse import MeasureLike


def index_recall(
    exact: AnyTable,
    approximate: AnyTable,
    cutoffs: "int | Iterable[int]" = 10,
    *,
    qrels: AnyTable = None,
    measures: "MeasureLike | Iterable[MeasureLike]" = "nDCG@10",
    convention: "Convention | str" = "standard",
    level: float = 0.95,
    threads: int = 0,
) -> IndexRecall:
    """Measure the cost of an approximate index: documents of an exact search that it misses, and
    quality lost with them.

    Recall at k is the number of documents that the first k of both lists share, divided by k; if
    the exact list is shorter, by its length. Documents with the score of rank k belong to the first
    k.

    Parameters
    ----------
    exact, approximate : path, mapping, dataframe or Run
        Run of an exhaustive search, and run of the index, on the same queries.
    cutoffs : int or iterable of int
        Ranks that are compared.
    qrels : path, mapping, dataframe or Qrels, optional
        Judgments; with them the loss of each measure is computed.
    measures : measure or iterable of them
        Measures of the loss.
    convention : str or Convention
        Convention of the evaluation.
    level : float
        Confidence level.
    threads : int
        Number of threads; 0 uses all cores.

    Returns
    -------
    IndexRecall
        Recall per query, with means, intervals, the low tail, and the queries that lose most.

    Raises
    ------
    InputError
        A file cannot be read, or the runs have no query in common.
    OptionError
        A cutoff, measure or convention is invalid.

    Examples
    --------
    >>> flat = {"p": ["a", "b"], "q": ["a", "b"]}
    >>> hnsw = {"p": ["a", "b"], "q": ["b", "c"]}
    >>> index_recall(flat, hnsw, 2).summary(2).interval.estimate
    0.75
    """
    exact_run, indexed_run = to_runs((exact, approximate), unnamed=("exact", "approximate"))
    cutoff_list = cutoffs if isinstance(cutoffs, Iterable) else [cutoffs]
    recall = recall_of_runs(exact_run, indexed_run, cutoff_list, level=level, threads=threads)
    if qrels is None:
        return recall
    exact_evaluation, indexed_evaluation = (
        evaluate(qrels, run, measures, convention, threads=threads) for run in recall.runs
    )
    evaluations = exact_evaluation, indexed_evaluation
    return replace(recall, losses=losses_of(*evaluations, level), evaluations=evaluations)
