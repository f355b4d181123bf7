"""Robustness of a verdict under other ways to compute the measure."""

from idealrank.analysis.robustness.multiverse import VariedComparison, robust_lists, robust_runs
from idealrank.analysis.robustness.robustness import Robustness, Variant

__all__ = [
    "Robustness",
    "Variant",
    "VariedComparison",
    "robust_lists",
    "robust_runs",
]
