"""What follows from values and judgments together: whether one run is better than another, and where their difference comes from."""

from idealrank.verdict.attribution import Attribution, attribute
from idealrank.verdict.changes import DocumentChange, Move, QueryChange
from idealrank.verdict.chosen import Choice, Choosing, Setting, Theory
from idealrank.verdict.comparing import compare
from idealrank.verdict.comparison import Comparison, Difference, Method, Pair
from idealrank.verdict.gated import Check, Contract, Gated, Kept, Policy, QueryDrop
from idealrank.verdict.gating import gate
from idealrank.verdict.groups import Groups, RunMean
from idealrank.verdict.judgedness import with_companions
from idealrank.verdict.means import intervals
from idealrank.verdict.rankings import Rankings
from idealrank.verdict.robustness import Robustness, Variant
from idealrank.verdict.seeds import compare_systems
from idealrank.verdict.sliced import Slice, Slices
from idealrank.verdict.slices import slices
from idealrank.verdict.traffic import traffic_thirds
from idealrank.verdict.trained import SystemComparison, SystemDifference
from idealrank.verdict.varying import Way, robust, robust_lists

__all__ = [
    "Attribution",
    "Check",
    "Choice",
    "Choosing",
    "Comparison",
    "Contract",
    "Difference",
    "DocumentChange",
    "Gated",
    "Groups",
    "Kept",
    "Method",
    "Move",
    "Pair",
    "Policy",
    "QueryChange",
    "QueryDrop",
    "Rankings",
    "Robustness",
    "RunMean",
    "Setting",
    "Slice",
    "Slices",
    "SystemComparison",
    "SystemDifference",
    "Theory",
    "Variant",
    "Way",
    "attribute",
    "compare",
    "compare_systems",
    "gate",
    "intervals",
    "robust",
    "robust_lists",
    "slices",
    "traffic_thirds",
    "with_companions",
]
