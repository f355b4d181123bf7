"""Where the value of one query comes from, for anything a user may hold."""

from typing import cast

from idealrank.analysis.explanation import Explanation
from idealrank.analysis.explanation import explain as explain_query
from idealrank.api.comparison import primary_measure, sources_of
from idealrank.api.evaluation import AnyTable, to_qrels, to_run
from idealrank.conventions import Convention
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.parse import DEFAULT_MEASURES, MeasureLike

_FORM = "explain(qrels, run, query_id)"


def explain(
    qrels: AnyTable,
    run: AnyTable,
    query_id: "str | int | None" = None,
    measure: "MeasureLike | None" = None,
    convention: "Convention | str | None" = None,
    *,
    name: str | None = None,
) -> Explanation:
    """Explain the value of one query, rank by rank.

    Parameters
    ----------
    qrels, run : path, mapping, dataframe, Qrels or Run
        As for `evaluate`. Or an evaluation that keeps its judgments and run (``evaluate(...,
        keep_unjudged=True)``), then the query id and the measure: ``explain(evaluation, "q1",
        "nDCG@10")``.
    query_id : str or int
        Query id; integers match ids as elsewhere.
    measure : Measure or str, optional
        nDCG, DCG, AP, RR, P or R. Default: nDCG@10; of an evaluation, its first measure.
    convention : Convention or str, optional
        Convention of alignment and measure; an evaluation has its own.
    name : str, optional
        Name of the run. Default: as for `evaluate`.

    Returns
    -------
    Explanation
        Ranked documents with grade, gain, discount and contribution, the ideal list, and the change
        that would raise the value most.

    Examples
    --------
    >>> found = explain({"q": {"a": 3, "b": 1}}, {"q": ["b", "x", "a"]}, "q", "nDCG@10")
    >>> round(found.value, 4), found.rows[2].document, found.rows[2].contribution.__class__.__name__
    (0.6885, 'a', 'float')
    """
    if isinstance(qrels, Evaluation):
        third = cast("MeasureLike | None", query_id)  # the measure, unless it is given by name
        query_id, measure = run, third if measure is None else measure
        judgments, (held,) = sources_of(_FORM, [qrels], convention=convention)
        measure, convention = primary_measure([qrels], measure), qrels.convention
    else:
        judgments, held = qrels, to_run(run, name=name, judgments=qrels)
    if query_id is None:
        raise OptionError(f"query_id: found none, expected {_FORM}")
    named = held if name is None else held.renamed(name)
    measure = DEFAULT_MEASURES[0] if measure is None else measure
    convention = "standard" if convention is None else convention
    return explain_query(to_qrels(judgments), named, str(query_id), measure, convention)
