"""What NDCG converges to as lists grow, and which discounts and cutoffs can tell two rankers apart (Wang et al. 2013, COLT).

The theory is about more and more documents under one query. Measures of many queries under short lists are what the rest of the
package is for.

Where to look, each line built on those above it:

* what there is to speak of: `relevance` (a ranker as chances by canonical score; `expressions` reads one from text), `decay` (discounts
  and cutoffs as families), `quadrature` (integrals)
* in closed form: `limits` (`statements` which theorem, `values` the number, `rates` how fast), `pseudo` (the mean at any length; `scaled`
  sums by the logarithm of n, `linear` the discount n - r), `expansions` and `gap` (Lemmas 22 and 21), `feasible` (verdicts;
  `evidence` for functions of the user's)
* by drawing lists: `weighing` (NDCG of many ranked lists), `sampling` (blocks and threads), `simulation`, `distinguishability` (`rivals`,
  two rankers of one growing list)
* from data: `canonical`, `estimates` (`sample` the documents, `ways` the settings, `smoothing` and `bandwidth` the curves, `bands` and
  `monotone` how sure they are, `implied` what follows for NDCG), `growing` (NDCG of real lists as they grow) and `rankers` (files of them)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from idealrank.theory.canonical import canonical_scores
    from idealrank.theory.distinguishability import Distinguishability, distinguish, distinguish_many
    from idealrank.theory.estimates import YbarEstimate, estimate_ybar
    from idealrank.theory.evidence import EvidenceRow
    from idealrank.theory.expansions import Expansion, expansion
    from idealrank.theory.feasible import Feasibility, feasibility
    from idealrank.theory.gap import DefinitionGap, definition_gap
    from idealrank.theory.growing import GrowingValues, growing_ndcg
    from idealrank.theory.implied import Implied
    from idealrank.theory.limits import Limit, limit
    from idealrank.theory.monotone import MonotoneCheck
    from idealrank.theory.pseudo import pseudo_expectation
    from idealrank.theory.rankers import RankedCollection, paper_rankers, read_rankers
    from idealrank.theory.relevance import RelevanceModel
    from idealrank.theory.simulation import simulate, simulate_many

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
