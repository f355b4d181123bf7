"""Robustness of a verdict under other ways to compute the measure."""

from idealrank.analysis.robustness.multiverse import VariantTest, robust, robust_lists
from idealrank.analysis.robustness.robustness import Robustness, Variant

__all__ = [
    "Robustness",
    "Variant",
    "VariantTest",
    "robust",
    "robust_lists",
]
