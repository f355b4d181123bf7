"""Judgments: agreement of assessors, grades aggregated from several, and estimates that correct a model's grades by human ones.

Everything here takes qrels, runs, mappings or plain arrays, and reads no file; `idealrank judge` and `idealrank.api` read files for it.
"""

from idealrank._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
