"""Where the value of one query comes from: rank by rank, with the ideal beside it, and what would raise it most."""

from idealrank.explanation.explained import Explanation, IdealDocument, Missing, RankedDocument, Swap, explain
from idealrank.explanation.judged_hits import JudgedHits, hit_depth, hits_of, judged_hits

__all__ = [
    "Explanation",
    "IdealDocument",
    "JudgedHits",
    "Missing",
    "RankedDocument",
    "Swap",
    "explain",
    "hit_depth",
    "hits_of",
    "judged_hits",
]
