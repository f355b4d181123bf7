# The one list of public names: type checkers read it, and `_lazy.public_names` loads a name when it
# is first asked for.

from idealrank.theory.distinguishability import Distinguishability as Distinguishability
from idealrank.theory.distinguishability import distinguish as distinguish
from idealrank.theory.distinguishability import distinguish_many as distinguish_many
from idealrank.theory.estimation.estimates import Implied as Implied
from idealrank.theory.estimation.estimates import YbarEstimate as YbarEstimate
from idealrank.theory.estimation.estimates import estimate_ybar as estimate_ybar
from idealrank.theory.estimation.rising import MonotoneCheck as MonotoneCheck
from idealrank.theory.estimation.sample import canonical_scores as canonical_scores
from idealrank.theory.expectation import DefinitionGap as DefinitionGap
from idealrank.theory.expectation import Expansion as Expansion
from idealrank.theory.expectation import definition_gap as definition_gap
from idealrank.theory.expectation import expansion as expansion
from idealrank.theory.expectation import pseudo_expectation as pseudo_expectation
from idealrank.theory.feasible import EvidenceRow as EvidenceRow
from idealrank.theory.feasible import Feasibility as Feasibility
from idealrank.theory.feasible import feasibility as feasibility
from idealrank.theory.growth import GrowingValues as GrowingValues
from idealrank.theory.growth import RankedCollection as RankedCollection
from idealrank.theory.growth import growing_ndcg as growing_ndcg
from idealrank.theory.growth import paper_rankers as paper_rankers
from idealrank.theory.growth import read_rankers as read_rankers
from idealrank.theory.limits import Limit as Limit
from idealrank.theory.limits import limit as limit
from idealrank.theory.relevance import RelevanceModel as RelevanceModel
from idealrank.theory.simulation import simulate as simulate
from idealrank.theory.simulation import simulate_many as simulate_many
