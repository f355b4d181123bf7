"""Comparison of runs: difference, confidence, verdict, and reach of the judgments."""

from idealrank.analysis.comparison.companions import with_companions
from idealrank.analysis.comparison.differences import Comparison, Difference, Method, Pair
from idealrank.analysis.comparison.means_by_slice import SliceMeans
from idealrank.analysis.comparison.procedure import compare
from idealrank.analysis.comparison.ranking_overlaps import Rankings
from idealrank.analysis.comparison.slice_differences import Slice, Slices
from idealrank.analysis.comparison.slice_tests import slices
from idealrank.analysis.comparison.standings import Groups, RunMean, intervals
from idealrank.analysis.comparison.traffic import traffic_thirds

__all__ = [
    "Comparison",
    "Difference",
    "Groups",
    "Method",
    "Pair",
    "Rankings",
    "RunMean",
    "Slice",
    "SliceMeans",
    "Slices",
    "compare",
    "intervals",
    "slices",
    "traffic_thirds",
    "with_companions",
]
