"""Similarity of the rankings of two runs, as far as a comparison shows it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.measure import Measure
from idealrank.measures.sums import aggregate


class Overlapping(Protocol):
    """Result of `idealrank.overlap`, as far as a comparison uses it."""

    @property
    def names(self) -> tuple[str, str]:
        """Names of the two runs."""
        ...

    @property
    def queries(self) -> Sequence[str]:
        """Queries that both runs answer."""
        ...

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Measures of two runs."""
        ...

    @property
    def values(self) -> FloatArray:
        """Values, shape (n_queries, n_measures)."""
        ...

    @property
    def scored(self) -> BoolArray:
        """Mask of the values that count."""
        ...

    @property
    def lengths(self) -> IntArray:
        """Documents in each list, shape (n_queries, 2)."""
        ...


@dataclass(frozen=True)
class Rankings:
    """Similarity of two rankings.

    Attributes
    ----------
    queries : int
        Queries of the comparison that both runs answer.
    mean : mapping of str to float
        Over these queries, by the text of each measure of two runs: ``Same@10`` is the share of
        queries whose first ten results did not change.
    depths : mapping of str to tuple of int
        By the text of each measure: the fewest and the most ranks looked at over these queries. A
        query has the cutoff, or the length of its longer list where that is less.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels, one, two = {"q": {"x": 1}}, {"q": ["x", "y"]}, {"q": ["y", "x"]}
    >>> a, b = (
    ...     ir.evaluate(qrels, ir.Run(run, name=name), "RR")
    ...     for name, run in (("one", one), ("two", two))
    ... )
    >>> alike = ir.overlap(
    ...     ir.Run(one, name="one"), ir.Run(two, name="two"), ["Same@2", "overlap@2"]
    ... )
    >>> found = ir.compare(a, b, rankings=alike).pairs[0].rankings
    >>> found.queries, found.mean, found.depths["overlap@2"]
    (1, {'Same@2': 0.0, 'overlap@2': 1.0}, (2, 2))
    """

    queries: int
    mean: Mapping[str, float]
    depths: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record; None for a mean over no query."""
        return {
            "queries": self.queries,
            **{text: mean if np.isfinite(mean) else None for text, mean in self.mean.items()},
        }


def rankings_by_names(
    rankings: "Overlapping | Iterable[Overlapping] | None",
    names: Sequence[str],
    queries: Sequence[str],
) -> dict[tuple[str, str], Rankings]:
    """Index similarities by pair of run names, in both orders unless the measure is asymmetric."""
    if rankings is None:
        return {}
    overlaps = rankings if isinstance(rankings, Iterable) else [rankings]
    compared = set(queries)
    by_names: dict[tuple[str, str], Rankings] = {}
    by_names_reversed: dict[tuple[str, str], Rankings] = {}
    for overlap in overlaps:
        _refuse_overlap_of_others(overlap, names)
        a, b = overlap.names
        rows = np.array([query in compared for query in overlap.queries], np.bool_)
        n_queries = int(rows.sum())
        means = {}
        symmetric = []
        for column, measure in enumerate(overlap.measures):
            values = overlap.values[rows, column]
            scored = overlap.scored[rows, column]
            means[str(measure)] = aggregate(measure, values, scored)
            if getattr(measure, "symmetric", True):
                symmetric.append(str(measure))
        depths = _depths(overlap.measures, overlap.lengths[rows])
        by_names[a, b] = Rankings(n_queries, means, depths)
        by_names_reversed[b, a] = Rankings(
            n_queries,
            {text: means[text] for text in symmetric},
            {text: depths[text] for text in symmetric if text in depths},
        )
    return by_names_reversed | by_names


def _refuse_overlap_of_others(overlap: Any, names: Sequence[str]) -> None:
    """Refuse anything but the similarity of two of the runs compared."""
    if not hasattr(overlap, "names"):
        raise OptionError(f"rankings: found {type(overlap).__name__}, expected results of overlap")
    for name in overlap.names:
        if names.count(name) != 1:
            runs = f"{names.count(name)} runs of the name" if name in names else "the run"
            raise OptionError(
                f"rankings: found {runs} {name!r}, expected those compared: "
                f"{', '.join(names)}; give runs their names"
            )


def _depths(measures: Iterable[Measure], lengths: IntArray) -> dict[str, tuple[int, int]]:
    """Fewest and most ranks that each measure looks at; empty where there is no query."""
    longer = lengths.max(axis=1) if len(lengths) else np.zeros(0, np.int64)
    if not longer.size:
        return {}
    depths = {}
    for measure in measures:
        ranks = np.minimum(resolve_cutoff(measure.cutoff, longer), longer)
        depths[str(measure)] = int(ranks.min()), int(ranks.max())
    return depths
