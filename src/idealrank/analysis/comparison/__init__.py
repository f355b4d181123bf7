"""Comparison of runs: difference, confidence, verdict, and reach of the judgments."""

from idealrank.analysis.comparison.comparisons import Comparison, Method, Pair
from idealrank.analysis.comparison.difference_rows import DifferenceRow
from idealrank.analysis.comparison.differences import Difference
from idealrank.analysis.comparison.procedure import compare
from idealrank.analysis.comparison.query_table import with_companions
from idealrank.analysis.comparison.ranking_overlaps import Rankings
from idealrank.analysis.comparison.standings import Groups, RunMean, intervals

__all__ = [
    "Comparison",
    "Difference",
    "DifferenceRow",
    "Groups",
    "Method",
    "Pair",
    "Rankings",
    "RunMean",
    "compare",
    "intervals",
    "with_companions",
]
