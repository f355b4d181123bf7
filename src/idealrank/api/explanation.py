"""Where the value of one query comes from, for anything a user may hold."""

from idealrank.analysis.explanation import Explanation
from idealrank.analysis.explanation import explain as explain_query
from idealrank.api.evaluation import AnyTable, to_qrels, to_run
from idealrank.conventions import Convention
from idealrank.measures.parse import MeasureLike


def explain(
    qrels: AnyTable, run: AnyTable, query_id: "str | int", measure: MeasureLike = "nDCG@10", convention: "Convention | str" = "standard"
) -> Explanation:
    """Explain the value of one query, rank by rank.

    Parameters
    ----------
    qrels, run : path, mapping, dataframe, Qrels or Run
        As for `evaluate`.
    query_id : str or int
        Query id; integers match ids as elsewhere.
    measure : Measure or str
        nDCG, DCG, AP, RR, P or R.
    convention : Convention or str
        Convention of alignment and measure.

    Returns
    -------
    Explanation
        Ranked documents with grade, gain, discount and contribution, the ideal list, and the change that would raise the value most.

    Examples
    --------
    >>> found = explain({"q": {"a": 3, "b": 1}}, {"q": ["b", "x", "a"]}, "q", "nDCG@10")
    >>> round(found.value, 4), found.rows[2].document, found.rows[2].contribution.__class__.__name__
    (0.6885, 'a', 'float')
    """
    return explain_query(to_qrels(qrels), to_run(run), str(query_id), measure, convention)
