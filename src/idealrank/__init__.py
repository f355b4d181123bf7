"""Ranking evaluation that explains itself.

The public names are loaded when first used, so that ``import idealrank`` costs little more than
NumPy.
"""

from idealrank._lazy import public_names
from idealrank.version import __version__ as __version__

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
