"""Where the difference of two runs comes from: queries, documents, rank moves."""

from idealrank._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
