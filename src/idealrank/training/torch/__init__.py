"""Losses for PyTorch: modules called with scores, labels and a mask of what is no padding.

* input and reduction: `tensors`; NDCG under a convention, and ApproxNDCG: `ndcg_loss`
* smooth ranks and orders: `neural_sort`, `soft_ranks`, `sorting_networks`
* pairs: `pair_losses`; whole lists: `list_likelihood`
* users: `preference_alignment`, `cross_encoder`; `ranking_network`, the ranker of `idealrank train`

Each name is loaded when it is first asked for; PyTorch is the extra ``torch``.
"""

from idealrank._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
