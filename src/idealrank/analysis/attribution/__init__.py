"""Where the difference of two runs comes from: queries, documents, rank moves."""

from idealrank.analysis.attribution.attribution import Attribution, DocumentChange, Move, QueryChange, attribute, can_be_attributed

__all__ = [
    "Attribution",
    "DocumentChange",
    "Move",
    "QueryChange",
    "attribute",
    "can_be_attributed",
]
