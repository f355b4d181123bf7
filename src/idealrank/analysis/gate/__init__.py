"""Whether a run may take the place of its baselines."""

from idealrank.analysis.gate.checks import gate
from idealrank.analysis.gate.outcome import Check, Contract, Gated, KeptContract, Policy, QueryDrop

__all__ = [
    "Check",
    "Contract",
    "Gated",
    "KeptContract",
    "Policy",
    "QueryDrop",
    "gate",
]
