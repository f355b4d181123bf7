"""Progress and cancellation of a long kernel job, for packages that do not import the kernel."""

from idealrank._kernel import Progress

__all__ = ["Progress"]
