"""Losses for PyTorch and a neural ranker; each name is loaded when it is first asked for."""

from idealrank.training import torch as losses

# The stub of the package has its public names alone, not these.
__getattr__, __dir__, __all__ = (
    vars(losses)[name] for name in ("__getattr__", "__dir__", "__all__")
)
