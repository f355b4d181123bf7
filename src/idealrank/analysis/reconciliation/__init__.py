"""From a number to the convention behind it, and from two conventions to what each of their
switches is worth.

`reconcile` finds the conventions that give a stated number; `split_difference` shares the
difference of two conventions out among the switches in which they differ.
"""

from idealrank.analysis.reconciliation.convention_search import reconcile, reconcile_lists
from idealrank.analysis.reconciliation.difference import (
    ConventionChange,
    DifferenceSplit,
    QueryPart,
    SplitPart,
    split_difference,
    split_lists_difference,
)
from idealrank.analysis.reconciliation.result import (
    Match,
    QueryPair,
    Reconciliation,
    RefusedBy,
    Separation,
    SwitchDifference,
    Twins,
)

__all__ = [
    "ConventionChange",
    "DifferenceSplit",
    "Match",
    "QueryPair",
    "QueryPart",
    "Reconciliation",
    "RefusedBy",
    "Separation",
    "SplitPart",
    "SwitchDifference",
    "Twins",
    "reconcile",
    "reconcile_lists",
    "split_difference",
    "split_lists_difference",
]
