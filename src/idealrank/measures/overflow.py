"""Sums of grades and gains that no float64 can hold: named, never passed on as infinity, as a 0 beside it, or as NaN."""

from collections.abc import Callable
from functools import wraps
from typing import TypeVar, cast

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray
from idealrank.errors import InputError, shown
from idealrank.measures.measure import Measure, PerQuery

Compute = TypeVar("Compute", bound=Callable[..., PerQuery])


def too_large(measure: Measure) -> InputError:
    """The error for sums beyond float64.

    Examples
    --------
    >>> from idealrank.measures.dcg import DCG
    >>> str(too_large(DCG())).partition(";")[0]
    'DCG: a sum of gains is larger than a number can be (1.8e308)'
    """
    return InputError(f"{shown(measure)}: a sum of gains is larger than a number can be (1.8e308); use smaller grades, or a table of gains")


def finite_sums(measure: Measure, sums: FloatArray) -> FloatArray:
    """The sums, where all of them are numbers.

    Raises
    ------
    InputError
        One of them is not.

    Examples
    --------
    >>> from idealrank.measures.dcg import DCG
    >>> finite_sums(DCG(), np.array([1.5]))
    array([1.5])
    """
    if not np.isfinite(sums).all():
        raise too_large(measure)
    return sums


def refuse_overflow(compute: Compute) -> Compute:
    """Let `compute` of a measure end in that error where any product or running sum on its way is beyond float64.

    Parameters
    ----------
    compute : callable
        Method of a measure.
    """

    @wraps(compute)
    def refusing(self: Measure, judged: Judged) -> PerQuery:
        try:
            with np.errstate(over="raise"):
                return compute(self, judged)
        except FloatingPointError:
            raise too_large(self) from None

    return cast("Compute", refusing)
