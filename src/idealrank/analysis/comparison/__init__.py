"""Comparison of runs: difference, confidence, verdict, and reach of the judgments."""

from idealrank.analysis.comparison.comparisons import Comparison, Method, Pair
from idealrank.analysis.comparison.difference_rows import DifferenceRow
from idealrank.analysis.comparison.differences import Difference
from idealrank.analysis.comparison.procedure import compared
from idealrank.analysis.comparison.query_table import with_companions
from idealrank.analysis.comparison.rankings import Rankings
from idealrank.analysis.comparison.standings import Groups, RunMean, intervals
from idealrank.analysis.comparison.study import Study, StudyOptions

__all__ = [
    "Comparison",
    "Difference",
    "DifferenceRow",
    "Groups",
    "Method",
    "Pair",
    "Rankings",
    "RunMean",
    "Study",
    "StudyOptions",
    "compared",
    "intervals",
    "with_companions",
]
