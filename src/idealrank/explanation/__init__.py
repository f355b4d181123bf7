"""Where the value of one query comes from: rank by rank, with the ideal beside it, and what would raise it most."""

from idealrank.explanation.explained import Exchange, Explanation, IdealDocument, Missing, RankedDocument, explain

__all__ = ["Exchange", "Explanation", "IdealDocument", "Missing", "RankedDocument", "explain"]
