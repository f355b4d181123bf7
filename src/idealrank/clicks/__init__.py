"""Click logs: models of clicks, propensities, and values of rankers that were never shown, from the
log of another.

Everything here takes plain arrays, and reads no file; `idealrank clicks` and `idealrank.inputs`
read logs for it.
"""

from idealrank._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
