"""Where a function crosses zero."""

from collections.abc import Callable
from typing import Any

from scipy.optimize import brentq


def root_between(function: Callable[[float], float], low: float, high: float, *, within: float = 2e-12, share: float = 1e-12) -> float:
    """The place between two where a function of opposite signs at these crosses zero, by Brent's method.

    Parameters
    ----------
    function : callable
        Of one number.
    low, high : float
        Where its signs differ.
    within, share : float, optional
        How near: absolute, and relative to the place.

    Examples
    --------
    >>> round(root_between(lambda x: x * x - 2, 0.0, 2.0), 12)
    1.414213562373
    """
    found: Any = brentq(function, low, high, xtol=within, rtol=share)  # type: ignore[arg-type,unused-ignore]
    return float(found)
