"""Results that stay: a folder with an SQLite file and value files, in which every number is found
again with what made it.
"""

from idealrank._lazy import public_names

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
