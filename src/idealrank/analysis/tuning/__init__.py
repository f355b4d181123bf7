"""Which discount and cutoff tell one's own runs apart most surely."""

from idealrank.analysis.tuning.settings import Choice, Choosing, Setting, Theory

__all__ = [
    "Choice",
    "Choosing",
    "Setting",
    "Theory",
]
