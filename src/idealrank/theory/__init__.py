"""Theory of NDCG on growing lists: limits, and discounts and cutoffs that distinguish two rankers
(Wang et al. 2013, COLT).

The theory is about more and more documents under one query. Measures of many queries under short
lists are what the rest of the package is for.

Where to look, each line built on those above it:

* the model: `relevance` (a ranker as chances by canonical score; `expressions` reads one from
  text), `decay` (discounts and cutoffs as families), `quadrature` (integrals)
* in closed form: `discount_sums`, `limits` (which theorem, the limit, how fast), `expectation` (the
  mean at any length, and Lemmas 21 and 22), `feasible` (verdicts)
* by drawing lists: `simulation` (NDCG of many ranked lists), `distinguishability` (two rankers of
  one growing list)
* from data: `estimation` (`sample` the documents, `smoothing` the curves, `bands` how sure they
  are, `estimates` the estimators and what follows), `growth` (NDCG of real lists as they grow)
"""

from idealrank._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
