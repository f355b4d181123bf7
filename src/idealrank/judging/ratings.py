"""Ratings of units by raters, checked and coded once: what every agreement coefficient is computed
from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError

Weights: TypeAlias = Literal["linear", "quadratic", "ordinal"]

_MANY = 4096  # categories; tables have this number squared of cells


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings as category codes."""

    # shape (units, raters): place of each rating among the categories; -1 where the rater did not
    # rate the unit
    codes: IntArray
    categories: FloatArray  # shape (categories,): rising

    @classmethod
    def of(
        cls, ratings: npt.ArrayLike, categories: "Sequence[float] | FloatArray | None" = None
    ) -> "Ratings":
        """Code an array of ratings."""
        given = grade_array("ratings", ratings)
        if given.ndim != 2 or given.shape[1] < 2:
            raise InputError(
                f"ratings: found shape {given.shape}, expected (units, raters) with at least "
                f"2 raters"
            )
        present = ~np.isnan(given)
        if not (present.sum(axis=1) >= 2).any():
            raise InputError(
                "ratings: found no unit with two ratings, expected at least one; agreement is "
                "about units that two raters rated"
            )
        known = categories_of(given[present], categories)
        codes = np.searchsorted(known, given)
        codes[~present] = -1
        unknown = present & (known[np.minimum(codes, known.size - 1)] != given)
        if unknown.any():
            unit, rater = (int(place[0]) for place in np.nonzero(unknown))
            expected = (
                "a finite number"
                if categories is None
                else f"one of the categories {', '.join(f'{one:g}' for one in known)}"
            )
            raise InputError(
                f"ratings, unit {unit}, rater {rater}: found {given[unit, rater]:g}, expected "
                f"{expected}"
            )
        return cls(codes.astype(np.int64), known)

    @property
    def n_units(self) -> int:
        """Number of units, rated or not."""
        return int(self.codes.shape[0])

    @property
    def n_raters(self) -> int:
        """Number of raters."""
        return int(self.codes.shape[1])

    @cached_property
    def counts(self) -> FloatArray:
        """Number of raters that put each unit in each category, shape (units, categories)."""
        n_units, n_categories = self.n_units, self.categories.size
        found = np.zeros(n_units * n_categories, np.int64)
        places = np.arange(n_units) * n_categories
        for column in self.codes.T:
            rated = column >= 0
            found += np.bincount(places[rated] + column[rated], minlength=found.size)
        return found.reshape(n_units, n_categories).astype(np.float64)


def grade_array(name: str, given: npt.ArrayLike) -> FloatArray:
    """Grades as a float array."""
    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}: found what is no number ({error}), expected grades, NaN where there is none"
        ) from None


def finite_grades(name: str, given: npt.ArrayLike) -> FloatArray:
    """Grades as a float array, NaN where there is none."""
    found = grade_array(name, given)
    if np.isinf(found).any():
        raise InputError(f"{name}: found inf, expected finite grades and NaN where there is none")
    return found


def check_confidence(confidence: float) -> None:
    """Refuse a confidence level outside (0, 1)."""
    if not 0 < confidence < 1:
        raise OptionError(
            f"confidence={confidence}: expected a number between 0 and 1, such as 0.95"
        )


def categories_of(
    values: FloatArray, declared: "Sequence[float] | FloatArray | None"
) -> FloatArray:
    """Rising categories: those declared, or those that occur."""
    if declared is None:
        known = np.unique(values)
        known = known[np.isfinite(known)]
    else:
        try:
            given = np.asarray(declared, np.float64)
        except (TypeError, ValueError) as error:
            raise OptionError(
                f"categories: found what is no number ({error}), expected the grades of the scale"
            ) from None
        known = np.unique(given)
        if not known.size:
            raise OptionError("categories: found none, expected the grades of the scale")
        if given.ndim != 1 or known.size != given.size or not np.isfinite(given).all():
            raise OptionError(
                "categories: found a category twice or one that is no finite number, expected "
                "each grade of the scale once"
            )
    if known.size > _MANY:
        raise InputError(
            f"ratings: found {known.size:,} distinct grades, expected at most {_MANY:,}; "
            f"agreement is about grades, not about scores"
        )
    return known


def weight_matrix(categories: FloatArray, weights: "Weights | None") -> FloatArray:
    """Weight of each pair of categories: 1 for equal ones, falling to 0 for the farthest.

    Gwet (2014), Handbook of Inter-Rater Reliability, 4th edition, section 3.5.
    """
    size = categories.size
    if weights is None or size < 2:
        return np.eye(size)
    if weights == "ordinal":
        apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        return np.asarray(1 - apart * (apart + 1) / (size * (size - 1)))
    distance = np.abs(np.subtract.outer(categories, categories)) / (categories[-1] - categories[0])
    return np.asarray(1 - (distance if weights == "linear" else distance**2))


def cluster_codes(clusters: Any, n_units: int) -> IntArray:
    """Cluster of each unit as a code; each unit its own cluster where none are given."""
    if clusters is None:
        return np.arange(n_units)
    labels = np.asarray(clusters)
    if labels.shape != (n_units,):
        raise InputError(
            f"clusters: found shape {labels.shape}, expected one label for each of the "
            f"{n_units} units"
        )
    return label_codes(labels)


def label_codes(labels: "np.ndarray[Any, Any]", name: str = "clusters") -> IntArray:
    """Labels, of clusters or batches, as codes in their order."""
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise InputError(
            f"{name}, unit {int(np.argmax(np.isnan(labels)))}: found no label, expected one "
            f"for each unit"
        )
    try:
        return np.asarray(np.unique(labels, return_inverse=True)[1].reshape(-1), np.int64)
    except TypeError as error:
        raise InputError(
            f"{name}: found labels without an order ({error}), expected labels of one kind, "
            f"such as text"
        ) from None
