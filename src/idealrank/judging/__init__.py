"""Judgments: what unjudged documents could change, agreement of assessors, aggregated grades, and a
model's grades corrected by human ones.

Everything here takes qrels, runs, mappings or plain arrays, and reads no file; `idealrank judge`
and `idealrank.inputs` read files for it.
"""

from idealrank._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
