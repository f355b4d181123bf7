"""Content of a page: results, rankings, texts, curves and origins; and the pair of runs that a page
and its figures show first.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from idealrank._lazy import annotation
from idealrank.analysis.comparison import Comparison, Pair, RunMean
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure

if TYPE_CHECKING:
    from idealrank.analysis.gate import Gated
    from idealrank.analysis.robustness import Robustness
else:
    # A comparison without a page needs `leading_pairs` and neither of them.
    Gated = annotation("idealrank.analysis.gate", "Gated")
    Robustness = annotation("idealrank.analysis.robustness", "Robustness")


@dataclass(frozen=True, kw_only=True)
class Listing:
    """First documents of one run for one query, from the top, in the order of the convention."""

    # Ids; None if only the rank is known, as for an unjudged document in a store
    documents: tuple[str | None, ...]
    grades: tuple[float | None, ...]  # As judged; None if unjudged
    tied: tuple[bool, ...]  # Whether its score is that of a neighbour
    # Contribution to the value by the first measure; None where contributions are not offered
    added: tuple[float | None, ...]
    length: int  # Documents in the whole list
    # Documents with a grade above 0 further down: id, rank, grade, and contribution; None if
    # unknown
    below: tuple[tuple[str, int, float, float | None], ...] | None = None


@dataclass(frozen=True, kw_only=True)
class QueryLists:
    """One query: its listing in each run, and its relevant documents."""

    # In the order of the evaluations; None where the run does not answer the query
    runs: tuple[Listing | None, ...]
    # Judged documents with a grade above 0, the best first, as deep as the listings; a run missed
    # the documents that its listing lacks
    relevant: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class CutoffCurve:
    """Means of one measure at several cutoffs, for each run."""

    measure: str  # Text of the measure without its cutoff, as ``"nDCG"``
    cutoffs: tuple[int, ...]  # From the smallest
    means: Mapping[str, tuple[RunMean, ...]]  # By run, with intervals, in the order of the cutoffs


@dataclass(frozen=True, kw_only=True)
class Made:
    """Origin of a page, complete enough to repeat it."""

    # The command line, as it could be typed again; empty where a program made the page
    command: str = ""
    # Name of each file, without its folder, and its SHA-256 in hexadecimal digits
    inputs: tuple[tuple[str, str], ...] = ()
    commit: str = ""  # Commit of the git repository it was made in; empty without one
    when: str = ""  # UTC, ISO 8601, to the second; empty if unknown
    store_ids: tuple[str, ...] = ()  # Ids for `idealrank store show`; empty without a store


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """Everything one page shows."""

    # One per run, on the same measures, companions (`with_companions`) possibly among them
    evaluations: tuple[Evaluation, ...]
    measures: tuple[Measure, ...]  # The requested measures, the primary one first
    # By measure and run: means with intervals
    means: Mapping[str, Mapping[str, RunMean]] = field(default_factory=dict)
    # The comparison, if runs were compared; `slices` of its differences are shown, too
    comparison: Comparison | None = None
    # The gate, if one was requested; the comparison is then of its run with its baselines
    gated: "Gated | None" = None
    robustness: "Robustness | None" = None  # Robustness of the leading pair by the first measure
    curves: tuple[CutoffCurve, ...] = ()  # Empty where cutoffs make no sense
    # Slices of each query, by query; empty without slices
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # Lists by query, for as many queries as there is room for, the largest differences first
    lists: Mapping[str, QueryLists] = field(default_factory=dict)
    # query_texts, document_texts: By id
    query_texts: Mapping[str, str] = field(default_factory=dict)
    document_texts: Mapping[str, str] = field(default_factory=dict)
    made: Made = field(default_factory=Made)  # Where it all comes from
    # weighted, clustered: Whether queries have weights, and clusters
    weighted: bool = False
    clustered: bool = False
    # Limits of the intervals of a page without a verdict; a comparison and a gate have their own
    cautions: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the runs, distinguished as in a comparison."""
        if self.comparison is not None:
            return self.comparison.names
        return tuple(evaluation.name for evaluation in self.evaluations)

    @property
    def queries(self) -> Sequence[str]:
        """Ids, in the order of the first evaluation."""
        return self.evaluations[0].queries


def leading_pairs(comparison: Comparison) -> tuple[Pair, ...]:
    """Return all pairs; the one that is shown first comes first, turned so that b is the better
    run.

    The only pair of two runs stays as it is.
    """
    baseline = comparison.method.baseline
    every_pair = math.comb(len(comparison.names), 2)
    is_partial = baseline is None and len(comparison.pairs) < every_pair
    if len(comparison.pairs) == 1 or is_partial:
        return comparison.pairs
    order = [run for run in _by_mean(comparison) if run != baseline]
    best = order[0]
    other = baseline or order[1]
    leading = next(pair for pair in comparison.pairs if {pair.a, pair.b} == {best, other})
    shown = leading if leading.b == best else leading.reversed()
    return (shown, *(pair for pair in comparison.pairs if pair is not leading))


def _by_mean(comparison: Comparison) -> list[str]:
    """Return the runs by the first measure, the best first; equal ones keep their order."""
    rows = [(pair, next(iter(pair.measures.values()))) for pair in comparison.pairs]
    means = {pair.a: row.mean_a for pair, row in rows} | {pair.b: row.mean_b for pair, row in rows}
    _, first = rows[0]
    direction = first.direction or 1

    def goodness(run: str) -> float:
        return -math.inf if math.isnan(means[run]) else means[run] * direction

    return sorted(comparison.names, key=lambda run: -goodness(run))
