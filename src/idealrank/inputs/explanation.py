"""Where the value of one query comes from, and the difference of two runs."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from idealrank._lazy import annotation, under_name
from idealrank.analysis.attribution import can_be_attributed
from idealrank.analysis.explanation import Explanation, explained
from idealrank.conventions import Convention
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.evaluation import AnyTable, to_qrels
from idealrank.inputs.judged_runs import JudgedRuns
from idealrank.measures.parse import MeasureLike, parse_run_measure

if TYPE_CHECKING:
    from idealrank.analysis.attribution import Attribution
else:
    Attribution = annotation("idealrank.analysis.attribution", "Attribution")

__all__ = ["attribute", "can_be_attributed", "explain", "why"]

_EXPLAIN = "explain(qrels, run, query_id) or explain(evaluation, query_id)"
_WHY = "why(qrels, run_a, run_b) or why(evaluation_a, evaluation_b)"


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
    tables: tuple[AnyTable, ...] = (qrels, run)
    if isinstance(qrels, Evaluation):
        third = cast("MeasureLike | None", query_id)  # the measure, unless it is given by name
        tables = (qrels,)
        query_id = run
        measure = third if measure is None else measure
    if query_id is None:
        raise OptionError(f"explain: found no query_id, expected {_EXPLAIN}")
    names = None if name is None else [name]
    given = JudgedRuns(
        form=_EXPLAIN, tables=tables, names=names, unnamed=["run"], convention=convention
    ).read(measure)
    return explained(
        to_qrels(given.judgments),
        given.runs[0],
        str(query_id),
        parse_run_measure(given.measure),
        Convention.of(given.convention),
    )


def attribute(
    qrels: AnyTable,
    run_a: AnyTable,
    run_b: AnyTable = None,
    measure: "MeasureLike | None" = None,
    convention: "Convention | str | None" = None,
    *,
    names: Sequence[str] | None = None,
    labels_from: str | None = None,
    threads: int = 0,
) -> "Attribution":
    """Split the difference of two runs into queries, documents and rank moves.

    Parameters
    ----------
    qrels, run_a, run_b : path, mapping, dataframe, Qrels or Run
        As for `evaluate`; every difference is b - a. Or two evaluations that keep their judgments
        and runs (``evaluate(..., keep_unjudged=True)``), and the measure as the third argument.
    measure : Measure or str, optional
        Default: nDCG@10; of evaluations, their first measure. The split is exact for DCG, NDCG, P,
        R and RBP. For others (AP, RR, ERR, ...) a document contributes the rise of the value when
        the list is extended to include it; `Attribution.split` says which.
    convention : Convention or str, optional
        Convention of alignment and measure; evaluations have theirs. A query that it excludes for
        either run is excluded for both.
    names : sequence of str, optional
        Names of the runs. Default: as for `compare`.
    labels_from : str, optional
        Name of the run whose results were labelled, for positive-only labels: they cannot decide
        between this run and another.
    threads : int
        Number of threads; 0 uses all cores. Values do not depend on it.

    Returns
    -------
    Attribution
        Queries and documents, the largest loss first, and the contributions of documents that
        entered, left and moved.

    Raises
    ------
    InputError
        A table cannot be read, or no query counts in both runs.
    OptionError
        The measure cannot be split by document.

    Examples
    --------
    >>> found = attribute({"q": {"a": 1, "b": 1}}, {"q": ["a", "b"]}, {"q": ["x", "a", "b"]}, "AP")
    >>> (
    ...     round(found.difference, 4),
    ...     [
    ...         (document.document, round(document.difference, 4))
    ...         for document in found.documents("q")
    ...     ],
    ... )
    (-0.4167, [('a', -0.25), ('b', -0.1667)])
    """
    given, measure = JudgedRuns.of_pair(
        _WHY, (qrels, run_a, run_b), measure, names=names, convention=convention
    )
    judgments, (first, second), measure, convention = given.read(measure)
    from idealrank.analysis.attribution import attributed  # noqa: PLC0415  (SciPy; `explain` needs it not)

    return attributed(
        to_qrels(judgments),
        (first, second),
        parse_run_measure(measure),
        Convention.of(convention),
        labels_from=labels_from,
        threads=threads,
    )


why = under_name(attribute, "why")
"""`attribute` under the name of its command."""
