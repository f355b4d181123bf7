"""Content of a page: results, rankings, texts, curves and origins; and the pair of runs that a page
and its figures show first.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from idealrank.analysis.comparison import Comparison, Pair, RunMean
from idealrank.analysis.gate import Gated
from idealrank.analysis.robustness import Robustness
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure


@dataclass(frozen=True, kw_only=True)
class Listing:
    """The first documents of one run for one query, from the top, in the order of the
    convention.
    """

    # Ids; None where only the rank is known, as of an unjudged document in a store
    documents: tuple[str | None, ...]
    grades: tuple[float | None, ...]  # As judged; None if unjudged
    tied: tuple[bool, ...]  # Whether its score is that of a neighbour
    # What it contributes to the value by the first measure; None where contributions are not
    # offered
    added: tuple[float | None, ...]
    length: int  # Documents in the whole list
    # Documents with a grade above 0 further down: id, rank, grade, and contribution; None if
    # unknown
    below: tuple[tuple[str, int, float, float | None], ...] | None = None


@dataclass(frozen=True, kw_only=True)
class QueryLists:
    """One query: its listing in each run, and what an ideal list would show."""

    # In the order of the evaluations; None where the run does not answer the query
    runs: tuple[Listing | None, ...]
    # Judged documents with a grade above 0, the best first, as deep as the listings: those in no
    # listing were missed
    relevant: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class CutoffCurve:
    """Means of one measure at several cutoffs, a run each."""

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
    commit: str = ""  # Of the git repository it was made in; empty where there is none
    when: str = ""  # UTC, ISO 8601, to the second; empty if unknown
    store_ids: tuple[str, ...] = ()  # What `idealrank show` finds again; empty without a store


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """Everything one page shows."""

    # One per run, on the same measures, companions (`with_companions`) possibly among them
    evaluations: tuple[Evaluation, ...]
    measures: tuple[Measure, ...]  # Those asked for, the one that decides first
    # By measure and run: means with intervals
    means: Mapping[str, Mapping[str, RunMean]] = field(default_factory=dict)
    # Where runs were compared; `slices` of its differences are shown, too
    comparison: Comparison | None = None
    # Where a gate was asked; the comparison is then of its run with its baselines
    gated: Gated | None = None
    robustness: Robustness | None = None  # Of the leading pair by the first measure
    curves: tuple[CutoffCurve, ...] = ()  # Empty where cutoffs make no sense
    # Slices of each query, by query; empty without slices
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # By query: of as many queries as there is room for, the largest differences first
    lists: Mapping[str, QueryLists] = field(default_factory=dict)
    # query_texts, document_texts: By id
    query_texts: Mapping[str, str] = field(default_factory=dict)
    document_texts: Mapping[str, str] = field(default_factory=dict)
    made: Made = field(default_factory=Made)  # Where it all comes from
    # weighted, clustered: Whether queries have weights, and clusters
    weighted: bool = False
    clustered: bool = False
    # What limits the intervals of a page without a verdict; a comparison and a gate have their own
    cautions: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Of the runs, told apart as a comparison does."""
        return (
            self.comparison.names
            if self.comparison is not None
            else tuple(one.name for one in self.evaluations)
        )

    @property
    def queries(self) -> Sequence[str]:
        """Ids, in the order of the first evaluation."""
        return self.evaluations[0].queries


def leading_pairs(comparison: Comparison) -> tuple[Pair, ...]:
    """All pairs, the one that is shown first in front, in the direction in which it is shown: b is
    the better run.

    Of two runs it is the only pair, as given.
    """
    baseline = comparison.method.baseline
    if len(comparison.pairs) == 1 or (
        baseline is None and len(comparison.pairs) < math.comb(len(comparison.names), 2)
    ):
        return comparison.pairs
    order = [run for run in _by_mean(comparison) if run != baseline]
    best, other = order[0], baseline or order[1]
    found = next(pair for pair in comparison.pairs if {pair.a, pair.b} == {best, other})
    shown = found if found.b == best else found.reversed()
    return (shown, *(pair for pair in comparison.pairs if pair is not found))


def _by_mean(comparison: Comparison) -> list[str]:
    """Runs by the first measure, the best first; equal ones in the order in which they were
    given.
    """
    rows = [(pair, next(iter(pair.measures.values()))) for pair in comparison.pairs]
    means = {pair.a: row.mean_a for pair, row in rows} | {pair.b: row.mean_b for pair, row in rows}
    direction = rows[0][1].direction or 1
    goodness = {
        run: -math.inf if math.isnan(means[run]) else means[run] * direction
        for run in comparison.names
    }
    return sorted(comparison.names, key=lambda run: -goodness[run])
