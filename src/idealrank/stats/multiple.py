"""p values of several tests at once, made larger so that few of them, or none, are small by chance."""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError

Correction: TypeAlias = Literal["holm", "bh", "by"]


def adjust(p: Any, method: Correction = "holm") -> FloatArray:
    """Adjust the p values of one family of tests, for comparison with the level itself.

    All values of `p` form one family, whatever its shape. With p_(1) <= ... <= p_(m):

    * ``holm``: max over j <= i of ``(m - j + 1) p_(j)``. The probability of at least one false positive is at most the level, under any
      dependence. The default.
    * ``bh`` (Benjamini and Hochberg): min over j >= i of ``m p_(j) / j``. The expected share of false positives among the positives is
      at most the level if the tests are independent or positively dependent.
    * ``by`` (Benjamini and Yekutieli): ``bh`` times 1 + 1/2 + ... + 1/m; the same guarantee under any dependence.

    Parameters
    ----------
    p : array of float, any shape
        In [0, 1].
    method : {"holm", "bh", "by"}
        Correction method.

    Returns
    -------
    float64 array, the shape of `p`
        In [0, 1], never below `p`, and in the same order.

    Raises
    ------
    InputError
        A p value is NaN or outside [0, 1]: the size of a family with a missing value is unknown.
    OptionError
        The method is unknown.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6, 65-70.
    Benjamini and Hochberg (1995), Controlling the false discovery rate. JRSS B 57, 289-300.
    Benjamini and Yekutieli (2001), The control of the false discovery rate under dependency. Annals of Statistics 29, Theorem 1.3.

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    >>> adjust([0.01, 0.04, 0.03], "bh")
    array([0.03, 0.04, 0.04])
    """
    if method not in _METHODS:
        raise OptionError(f"correction {method!r}: expected one of {', '.join(_METHODS)}")
    given = np.asarray(p, np.float64)
    wrong = ~((given >= 0) & (given <= 1))
    if wrong.any():
        at = int(np.flatnonzero(wrong.reshape(-1))[0])
        raise InputError(f"p value {given.reshape(-1)[at]} at {at}: expected numbers in [0, 1]; leave out tests that were not made")
    flat = given.reshape(-1)
    order = np.argsort(flat, kind="stable")
    adjusted = np.empty_like(flat)
    adjusted[order] = np.minimum(_METHODS[method](flat[order]), 1.0)
    # Rounding of m p / j can fall below p by a unit in the last place.
    return np.maximum(adjusted, flat).reshape(given.shape)


def _holm(rising: FloatArray) -> FloatArray:
    return np.maximum.accumulate(rising * np.arange(rising.size, 0, -1))


def _hochberg(rising: FloatArray) -> FloatArray:
    scaled = rising * (rising.size / np.arange(1, rising.size + 1))
    return np.minimum.accumulate(scaled[::-1])[::-1]


def _yekutieli(rising: FloatArray) -> FloatArray:
    return np.asarray(_hochberg(rising) * (1 / np.arange(1, rising.size + 1)).sum())


_METHODS: dict[str, Callable[[FloatArray], FloatArray]] = {"holm": _holm, "bh": _hochberg, "by": _yekutieli}
