"""Where the value of one query comes from: rank by rank, with the ideal beside it, and what would
raise it most.
"""

from idealrank.analysis.explanation.explanation import (
    Explanation,
    IdealDocument,
    Missing,
    RankedDocument,
    Swap,
    explained,
)

__all__ = [
    "Explanation",
    "IdealDocument",
    "Missing",
    "RankedDocument",
    "Swap",
    "explained",
]
