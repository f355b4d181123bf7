"""Overlap of runs, and recall of an approximate index, for runs in any form."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.recall import IndexRecall, losses_of, recall_of_runs
from idealrank.conventions import Convention
from idealrank.data.interchange import is_frame
from idealrank.data.run import Run
from idealrank.data.run_pairs import PairRules
from idealrank.errors import InputError
from idealrank.evaluation.overlap import (
    DEFAULT_MATRIX_MEASURES,
    DEFAULT_PAIR_MEASURES,
    Overlap,
    OverlapMatrix,
    overlap_matrix_of,
    overlap_of,
)
from idealrank.inputs.evaluation import AnyTable, evaluate, to_runs
from idealrank.inputs.judged_runs import several_runs
from idealrank.io.sources import input_files
from idealrank.measures.parse import MeasureLike

__all__ = ["index_recall", "overlap", "overlap_matrix", "overlap_matrix_of", "overlap_of"]


def overlap(
    run_a: AnyTable,
    run_b: AnyTable,
    measures: "MeasureLike | Iterable[MeasureLike]" = DEFAULT_PAIR_MEASURES,
    *,
    names: Sequence[str] | None = None,
    ties: str = "shared",
    duplicates: str = "error",
    threads: int = 0,
) -> Overlap:
    """Measure the similarity of two runs, query by query, without judgments.

    Parameters
    ----------
    run_a, run_b : path, mapping, dataframe or Run
        As for `evaluate`.
    measures : measure or iterable of them
        Measures of two runs, or their texts: ``"RBO(p=0.9)"``, ``"overlap@10"``, ``"Jaccard@10"``,
        ``"tau"``, ``"tauAP"``, ``"wtau"``.
    names : sequence of str, optional
        Names of the runs. Default: the name of each `Run`, else the file name without extensions,
        else "A" and "B".
    ties : {"shared", "docid", "docid-ascending", "input", "expected"}
        Treatment of equal scores in a list: documents share a rank (tau becomes tau-b); are ordered
        by document id (descending as in trec_eval, or ascending) or by input order; or every order
        is equally likely and the value is the mean over all orders.
    duplicates : {"error", "first", "last", "best"}
        Treatment of a document that a run lists twice for a query.
    threads : int
        Number of threads; 0 uses all cores. Values do not depend on it.

    Returns
    -------
    Overlap
        Values per query, means, and the queries that only one run answers.

    Raises
    ------
    InputError
        The runs cannot be read, or have no query in common.
    OptionError
        A measure or an option is unknown.

    Examples
    --------
    >>> found = overlap(
    ...     {"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, ["RBO(p=0.9)", "overlap@3", "tau"]
    ... )
    >>> {measure: round(value, 4) for measure, value in found.mean().items()}
    {'RBO(p=0.9)': 0.63, 'overlap@3': 0.6667, 'tau': -1.0}
    """
    if isinstance(measures, Mapping | Run) or is_frame(measures):
        raise InputError(
            "found a third run, expected two; overlap_matrix([run_a, run_b, ...]) compares every "
            "two of several"
        )
    first, second = to_runs((run_a, run_b), names)
    inputs = input_files((*first.paths, *second.paths))
    rules = PairRules(ties=ties, duplicates=duplicates, threads=threads)
    return overlap_of((first, second), measures, rules, inputs)


def overlap_matrix(
    runs: Iterable[AnyTable],
    measures: "MeasureLike | Iterable[MeasureLike]" = DEFAULT_MATRIX_MEASURES,
    *,
    names: Sequence[str] | None = None,
    ties: str = "shared",
    duplicates: str = "error",
    threads: int = 0,
) -> OverlapMatrix:
    """Measure the similarity of every two of several runs, without judgments.

    Parameters
    ----------
    runs : iterable of path, mapping, dataframe or Run
        Two or more runs.
    measures : measure or iterable of them
        As for `overlap`. Default: RBO(p=0.9) and overlap@10.
    names : sequence of str, optional
        Names of the runs. Default: the name of each `Run`, else the file name without extensions,
        else "A" and "B" for two runs, "run 1", "run 2", ... for more.
    ties, duplicates, threads
        As for `overlap`.

    Returns
    -------
    OverlapMatrix
        A matrix of means by measure, and the `Overlap` of each pair. Each mean is taken over the
        queries that both runs answer.

    Raises
    ------
    InputError
        There are fewer than two runs, a run cannot be read, or two runs have no query in common.
    OptionError
        A measure or an option is unknown.

    Examples
    --------
    >>> found = overlap_matrix(
    ...     [{"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, {"q": ["x", "b", "z"]}],
    ...     "overlap@3",
    ...     names=["A", "B", "C"],
    ... )
    >>> found["overlap@3"].round(3).tolist()
    [[1.0, 0.667, 0.333], [0.667, 1.0, 0.333], [0.333, 0.333, 1.0]]
    """
    tables = several_runs(runs, 'overlap_matrix(["bm25.run", "neural.run"])')
    if len(tables) < 2:
        raise InputError(f"runs: found {len(tables)}, expected two or more")
    read_runs = to_runs(tables, names)
    inputs = input_files([path for run in read_runs for path in run.paths])
    run_names = distinct([run.name for run in read_runs])
    runs_by_name = dict(zip(run_names, read_runs, strict=True))
    rules = PairRules(ties=ties, duplicates=duplicates, threads=threads)
    return overlap_matrix_of(runs_by_name, measures, rules, inputs=inputs)


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
    rules = PairRules(threads=threads)
    recall = recall_of_runs((exact_run, indexed_run), cutoff_list, rules, level)
    if qrels is None:
        return recall
    exact_evaluation, indexed_evaluation = (
        evaluate(qrels, run, measures, convention, threads=threads) for run in recall.runs
    )
    return replace(
        recall,
        losses=losses_of(exact_evaluation, indexed_evaluation, level),
        evaluations=(exact_evaluation, indexed_evaluation),
    )
