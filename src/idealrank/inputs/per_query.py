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
    from idealrank.analysis.comparison.slice_means import SliceMeans
else:
    SliceMeans = annotation("idealrank.analysis.comparison.slice_means", "SliceMeans")

QueryValues: TypeAlias = Any
"""A path, a dataframe, a mapping of query to value, or a pandas Series indexed by query."""


def slices_of(values: QueryValues) -> "Mapping[str, Any] | None":
    """Return slices by query; ``traffic:PATH`` makes head, torso and tail of a file of traffic."""
    return _by_query(
        values,
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
    """Compute means on slices, with weights and clusters, in any form that `slices_of` takes; the
    function of `Evaluation.by`.
    """
    from idealrank.analysis.comparison.slice_means import slice_means as means_on_slices  # noqa: PLC0415  (few commands have slices)

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
                f"{measure}: found {words[measure.aggregate]} with weights of queries, expected "
                "measures that are averaged"
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

    designs = (
        design_by_query(list(evaluation.queries), weights, clusters) for evaluation in evaluations
    )
    return tuple(
        dict.fromkeys(caution for design in designs for caution in weights_cautions(design))
    )


def weights_of(values: QueryValues) -> "Mapping[str, float] | None":
    """Return weights by query."""
    return _by_query(values, "weights", _weights, _weights)


def clusters_of(values: QueryValues) -> "Mapping[str, object] | None":
    """Return clusters by query."""
    return _by_query(values, "clusters", read_clusters, read_clusters)


def _weights(table: Any) -> dict[str, float]:
    return read_traffic(table, zeros="refused")


def _by_query(
    values: QueryValues, what: str, of_path: Callable[[str], Any], of_frame: Callable[[Any], Any]
) -> "Mapping[str, Any] | None":
    if values is None:
        return None
    if isinstance(values, (str, PathLike)):
        return cast(Mapping[str, Any], of_path(str(values)))
    if is_frame(values) and not isinstance(values, Mapping):
        return cast(Mapping[str, Any], of_frame(values))
    return by_query(values, what)
