"""Slices, weights and clusters of queries, for anything a user may hold: a file, a dataframe, a
mapping, a pandas Series.
"""

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from idealrank._lazy import annotation
from idealrank.data.interchange import by_query, is_frame
from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.query_files import QueryFiles, read_categories, read_clusters, read_traffic
from idealrank.measures.measure import Measure

if TYPE_CHECKING:
    from idealrank.analysis.comparison.slice_differences import SliceMeans
else:
    SliceMeans = annotation("idealrank.analysis.comparison.slice_differences", "SliceMeans")

QueryValues: TypeAlias = Any
"""A path, a dataframe, a mapping of query to value, or a pandas Series indexed by query."""


def slices_of(given: QueryValues) -> "Mapping[str, Any] | None":
    """Slices by query; ``traffic:PATH`` makes head, torso and tail of a file of traffic."""
    return _held(
        given,
        "slices",
        lambda path: QueryFiles(slices_text=path).read().categories,
        read_categories,
    )


def slice_means(
    evaluation: Evaluation,
    categories: QueryValues,
    *,
    level: float = 0.95,
    weights: QueryValues = None,
    clusters: QueryValues = None,
) -> "SliceMeans":
    """Means on slices of anything that `slices_of` takes, and weights and clusters likewise; the
    function of `Evaluation.by`.
    """
    from idealrank.analysis.comparison.slice_differences import slice_means as means_on_slices  # noqa: PLC0415  (few commands have slices)

    if weights is not None:
        refuse_unweighted(evaluation.measures)
    return means_on_slices(
        evaluation,
        slices_of(categories) or {},
        level=level,
        weights=weights_of(weights),
        clusters=clusters_of(clusters),
    )


def refuse_unweighted(measures: Iterable[Measure]) -> None:
    """Refuse measures whose aggregate has no weights."""
    words = {"sum": "a sum over queries", "geometric": "a geometric mean", "text": "a text"}
    for measure in measures:
        if measure.aggregate != "mean":
            raise OptionError(
                f"{measure}: found {words[measure.aggregate]} with weights of queries, "
                f"expected measures that are averaged"
            )


def interval_cautions(
    evaluations: Iterable[Evaluation],
    weights: Mapping[str, float] | None = None,
    clusters: Mapping[str, object] | None = None,
) -> tuple[str, ...]:
    """Describe what limits the intervals of these evaluations under weights of queries, each
    once.
    """
    from idealrank.analysis.comparison.query_table import (  # noqa: PLC0415  (SciPy, for those who ask)
        design_by_query,
        weights_cautions,
    )

    designs = (design_by_query(list(one.queries), weights, clusters) for one in evaluations)
    return tuple(dict.fromkeys(caution for one in designs for caution in weights_cautions(one)))


def weights_of(given: QueryValues) -> "Mapping[str, float] | None":
    """Weights by query."""
    return _held(given, "weights", _weights, _weights)


def clusters_of(given: QueryValues) -> "Mapping[str, object] | None":
    """Clusters by query."""
    return _held(given, "clusters", read_clusters, read_clusters)


def _weights(table: Any) -> dict[str, float]:
    return read_traffic(table, zeros="refused")


def _held(
    given: QueryValues, what: str, of_path: Callable[[str], Any], of_frame: Callable[[Any], Any]
) -> "Mapping[str, Any] | None":
    if given is None:
        return None
    if isinstance(given, (str, PathLike)):
        return cast(Mapping[str, Any], of_path(str(given)))
    return (
        cast(Mapping[str, Any], of_frame(given))
        if is_frame(given) and not isinstance(given, Mapping)
        else by_query(given, what)
    )
