"""Similarity of the rankings of two runs, as plain numbers beside the difference of their
values.
"""

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
        """Of the two runs."""
        ...

    @property
    def queries(self) -> Sequence[str]:
        """Those that both answer."""
        ...

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Of two runs."""
        ...

    @property
    def values(self) -> FloatArray:
        """Shape (n_queries, n_measures)."""
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
    found: "Overlapping | Iterable[Overlapping] | None",
    names: Sequence[str],
    queries: Sequence[str],
) -> dict[tuple[str, str], Rankings]:
    """Index similarities by pair of run names, in both orders unless the measure is asymmetric."""
    if found is None:
        return {}
    each = found if isinstance(found, Iterable) else [found]
    compared = set(queries)
    by_names: dict[tuple[str, str], Rankings] = {}
    turned: dict[tuple[str, str], Rankings] = {}
    for one in each:
        a, b = one.names
        for name in (a, b):
            if names.count(name) != 1:
                what = f"{names.count(name)} runs of the name" if name in names else "the run"
                raise OptionError(
                    f"rankings: found {what} {name!r}, expected those compared: "
                    f"{', '.join(names)}; give runs their names"
                )
        rows = np.array([query in compared for query in one.queries], np.bool_)
        columns = (
            (measure, one.values[rows, i], one.scored[rows, i])
            for i, measure in enumerate(one.measures)
        )
        means = {
            str(measure): aggregate(measure, values, scored) for measure, values, scored in columns
        }
        depths = _depths(one.measures, one.lengths[rows])
        by_names[a, b] = Rankings(int(rows.sum()), means, depths)
        both_ways = {
            str(measure): means[str(measure)]
            for measure in one.measures
            if getattr(measure, "symmetric", True)
        }
        turned[b, a] = Rankings(
            int(rows.sum()), both_ways, {text: depths[text] for text in both_ways if text in depths}
        )
    return turned | by_names


def _depths(measures: Iterable[Measure], lengths: IntArray) -> dict[str, tuple[int, int]]:
    """Fewest and most ranks that each measure looks at; empty where there is no query."""
    longer = lengths.max(axis=1) if len(lengths) else np.zeros(0, np.int64)
    looked = (
        {
            str(measure): np.minimum(resolve_cutoff(measure.cutoff, longer), longer)
            for measure in measures
        }
        if longer.size
        else {}
    )
    return {text: (int(ranks.min()), int(ranks.max())) for text, ranks in looked.items()}
