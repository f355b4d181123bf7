"""Weights and clusters by the id of a query, as the design of a comparison."""

from collections.abc import Mapping, Sequence
from typing import Any

from idealrank.data.frames import by_query
from idealrank.data.types import BoolArray
from idealrank.errors import InputError
from idealrank.stats.design import Design


def design_by_query(queries: Sequence[str], weights: Mapping[str, float] | None, clusters: Mapping[str, object] | None) -> Design:
    """The design of these queries.

    Raises
    ------
    InputError
        A query has no weight, or no cluster.

    Examples
    --------
    >>> design_by_query(["p", "q"], {"p": 3, "q": 1, "r": 5}, None).weights.tolist()
    [1.5, 0.5]
    """

    def of_each(name: str, given: Mapping[str, Any] | None) -> list[Any] | None:
        if given is None:
            return None
        given = by_query(given, name)
        missing = [query for query in queries if query not in given]
        if missing:
            raise InputError(
                f"{name}: found nothing for query {missing[0]!r} ({len(missing)} of {len(queries)} queries); expected one for each query"
            )
        return [given[query] for query in queries]

    labels = of_each("clusters", clusters)
    return Design.of(len(queries), weights=of_each("weights", weights), clusters=None if labels is None else list(map(str, labels)))


def restricted(design: Design, kept: BoolArray) -> Design:
    """The design of some of its queries.

    Examples
    --------
    >>> import numpy as np
    >>> restricted(Design.of(3), np.array([True, False, True])).n
    2
    """
    if kept.all():
        return design
    weights = None if design.weights is None else design.weights[kept]
    clusters = None if design.clusters is None else design.clusters[kept]
    return Design.of(int(kept.sum()), weights=weights, clusters=clusters)
