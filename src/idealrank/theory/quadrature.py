"""Integrals of smooth functions with known kinks: Gauss-Legendre panels, halved until two steps agree."""

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import InputError

_NODES = 24  # exact for polynomials up to degree 47
_MOST_PANELS = 4096


@cache
def _rule() -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes.astype(np.float64), weights.astype(np.float64)


def integrate(
    function: Callable[[FloatArray], FloatArray], low: float, high: float, *, points: Iterable[float] = (), tolerance: float = 1e-13
) -> float:
    """Integral of a vectorised function from `low` to `high`.

    Parameters
    ----------
    function : callable
        float64 array, shape (m,), to float64 array, shape (m,); smooth between the points.
    low, high : float
        Ends; 0 where they are equal.
    points : iterable of float, optional
        Where the function has kinks or jumps; those outside the ends are ignored.
    tolerance : float, optional
        What two steps may differ by, absolute or relative to the sum of the panels' sizes.

    Raises
    ------
    InputError
        The panels do not settle: the function has kinks or singularities that `points` does not name.

    Examples
    --------
    >>> round(integrate(np.exp, 0.0, 1.0), 14) == round(np.e - 1, 14)
    True
    >>> round(integrate(lambda s: np.abs(s - 0.3), 0.0, 1.0, points=[0.3]), 12)
    0.29
    """
    edges = np.array([low, *sorted({float(point) for point in points if low < point < high}), high])
    total = before = np.nan
    while edges.size <= _MOST_PANELS:
        total, size = _panels(function, edges)
        if abs(total - before) <= tolerance * max(size, 1.0):
            return total
        before = total
        edges = np.sort(np.concatenate((edges, (edges[1:] + edges[:-1]) / 2)))
    raise InputError(
        f"the integral from {low:g} to {high:g} does not settle: {total:.15g} with {edges.size // 2} panels, {before:.15g} before; "
        "expected a function that is smooth between its kinks: name these in points=[...]"
    )


def _panels(function: Callable[[FloatArray], FloatArray], edges: FloatArray) -> tuple[float, float]:
    """Sum over panels, and the sum of their absolute sizes."""
    nodes, weights = _rule()
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    values = np.asarray(function((middle[:, None] + half[:, None] * nodes).reshape(-1)), np.float64).reshape(half.size, nodes.size)
    parts = (values * weights).sum(axis=1) * half
    return float(parts.sum()), float(np.abs(parts).sum())
