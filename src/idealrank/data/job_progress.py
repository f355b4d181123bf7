"""How far a long job of the kernel is, and the means to stop it; for those layers that do not know the kernel."""

from idealrank._kernel import Progress

__all__ = ["Progress"]
