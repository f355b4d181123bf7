"""Where the difference of two runs comes from: queries, documents, rank moves."""

from idealrank.analysis.attribution.attribution import Attribution, attribute
from idealrank.analysis.attribution.moves import DocumentChange, Move, QueryChange

__all__ = [
    "Attribution",
    "DocumentChange",
    "Move",
    "QueryChange",
    "attribute",
]
