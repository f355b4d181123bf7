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
        The split is exact for DCG, NDCG, P, R and RBP. For others (AP, RR, ERR, ...) a document adds what the value rises when the list is
        known down to it; `Attribution.split` says which it is.
    convention : Convention or str
        How to align and how to measure. A query that it leaves out of either run is left out of both.
    threads : int
        0 uses all cores; the values are the same for any number.

    Returns
    -------
    Attribution
        Queries and documents, the worst change first, and what documents that entered, left and moved contribute.

    Raises
    ------
    InputError
        A table cannot be read, or no query counts in both runs.
    OptionError
        The measure cannot be split among documents.

    Examples
    --------
    >>> found = attribute({"q": {"a": 1, "b": 1}}, {"q": ["a", "b"]}, {"q": ["x", "a", "b"]}, "AP")
    >>> round(found.difference, 4), [(document.document, round(document.difference, 4)) for document in found.documents("q")]
    (-0.4167, [('a', -0.25), ('b', -0.1667)])
    """
    first, second = to_run(run_a, name="A"), to_run(run_b, name="B")
    return attribute_runs(to_qrels(qrels), first, second, measure, convention, threads=threads)
