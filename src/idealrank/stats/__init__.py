"""Confidence in a mean, or in a difference of two means over the same queries: intervals, tests,
corrections, power.

Everything here is of plain arrays (queries, measures) and knows nothing of runs or files.
Randomness comes in as `rng` alone.
"""

from idealrank._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
