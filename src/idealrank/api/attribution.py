"""Why two runs differ, for anything a user may hold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from idealrank._lazy import annotation
from idealrank.analysis.attribution import can_be_attributed
from idealrank.api.comparison import primary_measure, sources_of
from idealrank.api.evaluation import AnyTable, to_qrels, to_runs
from idealrank.conventions import Convention
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.parse import DEFAULT_MEASURES, MeasureLike

if TYPE_CHECKING:
    from idealrank.analysis.attribution import Attribution
else:
    Attribution = annotation("idealrank.analysis.attribution", "Attribution")

__all__ = ["attribute", "can_be_attributed"]

_FORM = "why(qrels, run_a, run_b)"


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
    if isinstance(qrels, Evaluation) or isinstance(run_a, Evaluation):
        judgments, runs = sources_of(_FORM, (qrels, run_a), convention=convention)
        measure = primary_measure((qrels, run_a), run_b if measure is None else measure)
        convention = qrels.convention
    elif run_b is None:
        raise OptionError(f"run_b: found none, expected {_FORM}")
    else:
        judgments, runs = qrels, [run_a, run_b]
    first, second = to_runs(runs, names, judgments=judgments)
    measure = DEFAULT_MEASURES[0] if measure is None else measure
    convention = "standard" if convention is None else convention
    from idealrank.analysis.attribution import attribute as attribute_runs  # noqa: PLC0415  (a comparison asks for the other name alone)

    return attribute_runs(
        to_qrels(judgments),
        first,
        second,
        measure,
        convention,
        labels_from=labels_from,
        threads=threads,
    )


why = attribute
"""`attribute` under the name of its command."""
