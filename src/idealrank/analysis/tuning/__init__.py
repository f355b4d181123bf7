"""Choice of the discount and cutoff that best distinguish given runs."""

from idealrank.analysis.tuning.settings import Choice, Choosing, Setting, Theory

__all__ = [
    "Choice",
    "Choosing",
    "Setting",
    "Theory",
]
