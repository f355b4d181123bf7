"""Why two runs differ, for anything a user may hold."""

from idealrank.analysis.attribution import Attribution
from idealrank.analysis.attribution import attribute as attribute_runs
from idealrank.api.evaluation import AnyTable, to_qrels, to_run
from idealrank.conventions import Convention
from idealrank.measures.parse import MeasureLike


def attribute(
    qrels: AnyTable,
    run_a: AnyTable,
    run_b: AnyTable,
    measure: MeasureLike = "nDCG@10",
    convention: "Convention | str" = "standard",
    *,
    threads: int = 0,
) -> Attribution:
    """Split the difference of two runs into queries, documents and rank moves.

    Parameters
    ----------
    qrels, run_a, run_b : path, mapping, dataframe, Qrels or Run
        As for `evaluate`; every difference is b - a.
    measure : Measure or str
        The split is exact for DCG, NDCG, P, R and RBP. For others (AP, RR, ERR, ...) a document contributes the rise of the value when the
        list is extended to include it; `Attribution.split` says which.
    convention : Convention or str
        Convention of alignment and measure. A query that it excludes for either run is excluded for both.
    threads : int
        Number of threads; 0 uses all cores. Values do not depend on it.

    Returns
    -------
    Attribution
        Queries and documents, the largest loss first, and the contributions of documents that entered, left and moved.

    Raises
    ------
    InputError
        A table cannot be read, or no query counts in both runs.
    OptionError
        The measure cannot be split by document.

    Examples
    --------
    >>> found = attribute({"q": {"a": 1, "b": 1}}, {"q": ["a", "b"]}, {"q": ["x", "a", "b"]}, "AP")
    >>> round(found.difference, 4), [(document.document, round(document.difference, 4)) for document in found.documents("q")]
    (-0.4167, [('a', -0.25), ('b', -0.1667)])
    """
    first, second = to_run(run_a, name="A"), to_run(run_b, name="B")
    return attribute_runs(to_qrels(qrels), first, second, measure, convention, threads=threads)


why = attribute
"""`attribute` under the name of its command."""
