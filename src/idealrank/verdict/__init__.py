"""What follows from evaluations: whether one run is better than another."""

from idealrank.verdict.comparing import compare
from idealrank.verdict.comparison import Comparison, Difference, Method, Pair
from idealrank.verdict.table import with_companions

__all__ = ["Comparison", "Difference", "Method", "Pair", "compare", "with_companions"]
