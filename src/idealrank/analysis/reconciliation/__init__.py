"""From a number to the convention behind it, and from two conventions to what each of their
switches is worth.

`Search` finds the conventions that give a stated number; `Splitter` splits the difference of two
conventions among the switches in which they differ.
"""

from idealrank.analysis.reconciliation.difference import (
    ConventionChange,
    DifferenceSplit,
    QueryPart,
    SplitPart,
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
]
