"""What NDCG converges to as lists grow, and which discounts and cutoffs can tell two rankers apart (Wang et al. 2013, COLT).

The theory is about more and more documents under one query. Measures of many queries under short lists are what the rest of the
package is for.
"""

from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {
    "DefinitionGap": "gap",
    "Distinguishability": "distinguishability",
    "EvidenceRow": "evidence",
    "Expansion": "expansions",
    "Feasibility": "feasible",
    "GrowingValues": "growing",
    "Implied": "implied",
    "Limit": "limits",
    "MonotoneCheck": "monotone",
    "RankedCollection": "rankers",
    "RelevanceModel": "relevance",
    "YbarEstimate": "estimates",
    "canonical_scores": "canonical",
    "definition_gap": "gap",
    "distinguish": "distinguishability",
    "distinguish_many": "distinguishability",
    "estimate_ybar": "estimates",
    "expansion": "expansions",
    "feasibility": "feasible",
    "growing_ndcg": "growing",
    "limit": "limits",
    "paper_rankers": "rankers",
    "pseudo_expectation": "pseudo",
    "read_rankers": "rankers",
    "simulate": "simulation",
    "simulate_many": "simulation",
}

__all__ = [
    "DefinitionGap",
    "Distinguishability",
    "EvidenceRow",
    "Expansion",
    "Feasibility",
    "GrowingValues",
    "Implied",
    "Limit",
    "MonotoneCheck",
    "RankedCollection",
    "RelevanceModel",
    "YbarEstimate",
    "canonical_scores",
    "definition_gap",
    "distinguish",
    "distinguish_many",
    "estimate_ybar",
    "expansion",
    "feasibility",
    "growing_ndcg",
    "limit",
    "paper_rankers",
    "pseudo_expectation",
    "read_rankers",
    "simulate",
    "simulate_many",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
