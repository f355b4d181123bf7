"""What follows from values and judgments together: whether one run is better than another, and where their difference comes from."""

from idealrank.verdict.attribution import Attribution, attribute
from idealrank.verdict.changes import DocumentChange, Move, QueryChange
from idealrank.verdict.comparing import compare
from idealrank.verdict.comparison import Comparison, Difference, Method, Pair
from idealrank.verdict.groups import Groups, RunMean
from idealrank.verdict.slices import Slice, Slices, slices, traffic_thirds
from idealrank.verdict.table import with_companions

__all__ = [
    "Attribution",
    "Comparison",
    "Difference",
    "DocumentChange",
    "Groups",
    "Method",
    "Move",
    "Pair",
    "QueryChange",
    "RunMean",
    "Slice",
    "Slices",
    "attribute",
    "compare",
    "slices",
    "traffic_thirds",
    "with_companions",
]
