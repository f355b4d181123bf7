"""Gate: a decision about replacing baselines by a run."""

from idealrank.analysis.gate.checks import GateCase, decided
from idealrank.analysis.gate.contracts import Contract, KeptContract
from idealrank.analysis.gate.outcome import Check, Gated, Policy, QueryDrop

__all__ = [
    "Check",
    "Contract",
    "GateCase",
    "Gated",
    "KeptContract",
    "Policy",
    "QueryDrop",
    "decided",
]
