"""Means of one run on slices of the queries, with intervals."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from idealrank._lazy import printed
from idealrank.analysis.comparison.query_table import design_by_query
from idealrank.analysis.comparison.slice_membership import Categories, Membership
from idealrank.analysis.comparison.standings import RunMean, intervals_under
from idealrank.data.interchange import finite, frame_of
from idealrank.evaluation.evaluate import Evaluation


@dataclass(frozen=True, kw_only=True)
class SliceMeans:
    """Means of one run on slices of the queries; made by `Evaluation.by`.

    Attributes
    ----------
    run : str
        Name of the run.
    slices : mapping of str to mapping of str to RunMean
        By slice and measure: the mean over the slice's queries, its interval and the number of
        queries that count. The interval is NaN for a measure that is not averaged.
    queries : mapping of str to int
        Number of evaluated queries of each slice.
    counts : mapping of str to int
        Queries in no slice, queries in several, and categories of queries that are not evaluated.
    level : float
        Confidence level of each interval alone.

    Examples
    --------
    >>> import idealrank as ir
    >>> run = ir.evaluate(
    ...     {q: {"x": 1} for q in "abc"}, {"a": ["x"], "b": ["y", "x"], "c": ["x"]}, "RR"
    ... )
    >>> found = run.by({"a": "short", "b": "short", "c": "long"})
    >>> found["short"]["RR"].mean, found.queries
    (0.75, {'long': 1, 'short': 2})
    """

    run: str
    slices: Mapping[str, Mapping[str, RunMean]]
    queries: Mapping[str, int]
    counts: Mapping[str, int] = field(default_factory=dict)
    level: float = 0.95

    __str__ = printed

    def __getitem__(self, name: str) -> Mapping[str, RunMean]:
        """Means of one slice, by measure."""
        return self.slices[name]

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record; None for what has no number."""

        def record(mean: RunMean) -> Any:
            low, high = mean.interval
            return finite({"mean": mean.mean, "low": low, "high": high, "n": mean.n})

        slices = {}
        for name, means in self.slices.items():
            records = {measure: record(mean) for measure, mean in means.items()}
            slices[name] = {"queries": self.queries[name], "means": records}
        return {"run": self.run, "level": self.level, "slices": slices, **self.counts}

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return a dataframe with a row for each slice and measure: slice, measure, mean, low,
        high, n.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}
            Any eager dataframe library that narwhals supports and that is installed.
        """
        titles = ("slice", "measure", "mean", "low", "high", "n")
        columns: dict[str, list[Any]] = {title: [] for title in titles}
        for name, means in self.slices.items():
            for measure, mean in means.items():
                low, high = mean.interval
                row = (name, measure, mean.mean, low, high, mean.n)
                for title, cell in zip(titles, row, strict=True):
                    columns[title].append(cell)
        return frame_of(columns, backend)


def slice_means(
    evaluation: Evaluation,
    categories: Categories,
    *,
    level: float = 0.95,
    weights: Mapping[str, float] | None = None,
    clusters: Mapping[str, object] | None = None,
) -> SliceMeans:
    """Compute the means of one evaluation on each slice of its queries, with Student intervals.

    Weights and clusters are as for `intervals`; measures that are not averaged have none.
    """
    queries = list(evaluation.queries)
    membership = Membership.of(queries, categories)
    slices = {}
    sizes = {}
    for name, within in membership.within.items():
        part = evaluation.on([queries[place] for place in np.flatnonzero(within).tolist()])
        design = design_by_query(list(part.queries), weights, clusters)
        averaged = intervals_under(design, part, level)
        means = part.mean()
        scored = part.scored.sum(axis=0).tolist()
        others = {
            text: RunMean(means[text], (math.nan, math.nan), n)
            for text, n in zip(means, scored, strict=True)
        }
        slices[name] = {text: averaged.get(text, other) for text, other in others.items()}
        sizes[name] = len(part.queries)
    return SliceMeans(
        run=evaluation.name, slices=slices, queries=sizes, counts=membership.counts(), level=level
    )
