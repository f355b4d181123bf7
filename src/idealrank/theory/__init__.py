"""Theory of NDCG on growing lists: limits, and discounts and cutoffs that distinguish two rankers (Wang et al. 2013, COLT).

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

from idealrank._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
