"""Overlap of two runs for paths, mappings, dataframes and arrays."""

from collections.abc import Iterable

from idealrank.api.evaluation import AnyTable, to_run
from idealrank.evaluation.overlap import DEFAULT_PAIR_MEASURES, Overlap
from idealrank.evaluation.overlap import overlap as overlap_runs
from idealrank.io.provenance import input_files
from idealrank.measures.parse import MeasureLike

overlap_read = overlap_runs
"""`overlap` for runs that are read already."""


def overlap(
    run_a: AnyTable,
    run_b: AnyTable,
    measures: "MeasureLike | Iterable[MeasureLike]" = DEFAULT_PAIR_MEASURES,
    *,
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
        Measures of two runs, or their texts: ``"RBO(p=0.9)"``, ``"overlap@10"``, ``"Jaccard@10"``, ``"tau"``, ``"tauAP"``, ``"wtau"``.
    ties : {"shared", "docid", "docid-ascending", "input", "expected"}
        Treatment of equal scores in a list: documents share a rank (tau becomes tau-b); are ordered by document id (descending as in
        trec_eval, or ascending) or by input order; or every order is equally likely and the value is the mean over all orders.
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
    >>> found = overlap({"q": ["a", "b", "c"]}, {"q": ["b", "a", "d"]}, ["RBO(p=0.9)", "overlap@3", "tau"])
    >>> {measure: round(value, 4) for measure, value in found.mean().items()}
    {'RBO(p=0.9)': 0.63, 'overlap@3': 0.6667, 'tau': -1.0}
    """
    first, second = to_run(run_a, name="A"), to_run(run_b, name="B")
    inputs = input_files((*first.paths, *second.paths))
    return overlap_runs(first, second, measures, ties=ties, duplicates=duplicates, threads=threads, inputs=inputs)
