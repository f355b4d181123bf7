"""Integrals of functions that are smooth but for a few kinks: Gauss-Legendre panels, halved where
two steps do not agree.
"""

from collections.abc import Callable, Iterable
from functools import cache

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import InputError

_NODES = 24  # exact for polynomials up to degree 47
_MOST_HALVINGS = 64  # a jump that nobody named is found to the last bit by then
_MOST_PANELS = 16384  # of more, the function is rough everywhere


@cache
def _rule() -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    return nodes.astype(np.float64), weights.astype(np.float64)


def integrate(
    function: Callable[[FloatArray], FloatArray],
    low: float,
    high: float,
    *,
    points: Iterable[float] = (),
    tolerance: float = 1e-13,
) -> float:
    """Integral of a vectorised function from `low` to `high`."""
    edges = np.array([low, *sorted({float(point) for point in points if low < point < high}), high])
    left = edges[:-1]
    right = edges[1:]
    whole, _ = _panels(function, left, right)
    settled = 0.0  # integral over the panels that are done
    settled_size = 0.0  # and of the absolute values
    total = 0.0
    before = 0.0
    for _ in range(_MOST_HALVINGS):
        # Each panel is halved; those whose halves agree with the whole are done.
        middle = (left + right) / 2
        begins = np.concatenate((left, middle))
        ends = np.concatenate((middle, right))
        halves, sizes = _panels(function, begins, ends)
        summed = halves[: left.size] + halves[left.size :]
        before = total
        total = settled + float(summed.sum())
        # Written so that NaN never counts as settled.
        size = max(settled_size + float(sizes.sum()), 1.0)
        rough = ~(np.abs(summed - whole) <= tolerance * size)
        if not rough.any():
            return total
        again = np.concatenate((rough, rough))
        settled = settled + float(summed[~rough].sum())
        settled_size = settled_size + float(sizes[~again].sum())
        left = begins[again]
        right = ends[again]
        whole = halves[again]
        if left.size > _MOST_PANELS:
            break
    raise InputError(
        f"the integral from {low:g} to {high:g} does not settle near {left[0]:g}: {total:.15g}, "
        f"{before:.15g} before; expected a function that is smooth between its kinks",
        hint="name the kinks in points=[...]",
        command_hint="choose a smoother ybar",
    )


def _panels(
    function: Callable[[FloatArray], FloatArray], left: FloatArray, right: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Integral over each panel, and over its absolute values."""
    nodes, weights = _rule()
    half = (right - left) / 2
    middle = (right + left) / 2
    arguments = (middle[:, None] + half[:, None] * nodes).reshape(-1)
    values = np.asarray(function(arguments), np.float64).reshape(half.size, nodes.size)
    return (values * weights).sum(axis=1) * half, (np.abs(values) * weights).sum(axis=1) * half
