"""Ratings of units by raters, joined by their ids, checked and coded once: the input of every
agreement coefficient.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from idealrank.data.alignment import check_choice
from idealrank.data.assessors import AssessorQrels
from idealrank.data.qrels import Qrels
from idealrank.data.types import BoolArray, FloatArray, IntArray, decode_id, table_columns
from idealrank.errors import InputError, OptionError

Weights: TypeAlias = Literal["linear", "quadratic", "ordinal"]

_MANY = 4096  # categories at most: a table of them has 16 million cells


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
        table = grade_array("ratings", ratings)
        if table.ndim != 2 or table.shape[1] < 2:
            raise InputError(
                f"ratings: found shape {table.shape}, expected (units, raters) with at least 2 "
                "raters"
            )
        present = ~np.isnan(table)
        if not (present.sum(axis=1) >= 2).any():
            raise InputError(
                "ratings: found no unit with two ratings, expected at least one; agreement is "
                "about units that two raters rated"
            )
        scale = categories_of(table[present], categories)
        codes = np.searchsorted(scale, table)
        codes[~present] = -1
        unknown = present & (scale[np.minimum(codes, scale.size - 1)] != table)
        if unknown.any():
            unit, rater = np.argwhere(unknown)[0].tolist()
            expected = "a finite number"
            if categories is not None:
                texts = ", ".join(f"{category:g}" for category in scale)
                expected = f"one of the categories {texts}"
            raise InputError(
                f"ratings, unit {unit}, rater {rater}: found {table[unit, rater]:g}, expected "
                f"{expected}"
            )
        return cls(codes.astype(np.int64), scale)

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
        n_categories = self.categories.size
        counts = np.zeros(self.n_units * n_categories, np.int64)
        first_cell = np.arange(self.n_units) * n_categories
        for codes in self.codes.T:
            rated = codes >= 0
            counts += np.bincount(first_cell[rated] + codes[rated], minlength=counts.size)
        return counts.reshape(self.n_units, n_categories).astype(np.float64)


def grade_array(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return grades as a float array."""
    try:
        return np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{name}: found what is no number ({error}), expected grades, NaN where there is none"
        ) from None


def finite_grades(name: str, values: npt.ArrayLike) -> FloatArray:
    """Return grades as a float array, NaN where there is none; refuse infinite ones."""
    grades = grade_array(name, values)
    if np.isinf(grades).any():
        raise InputError(f"{name}: found inf, expected finite grades and NaN where there is none")
    return grades


def check_confidence(confidence: float) -> None:
    """Refuse a confidence level outside (0, 1)."""
    if not 0 < confidence < 1:
        raise OptionError(
            f"confidence={confidence}: expected a number between 0 and 1, such as 0.95"
        )


def categories_of(
    values: FloatArray, declared: "Sequence[float] | FloatArray | None"
) -> FloatArray:
    """Return rising categories: the declared ones, or the values that occur."""
    if declared is None:
        categories = np.unique(values)
        categories = categories[np.isfinite(categories)]
    else:
        try:
            grades = np.asarray(declared, np.float64)
        except (TypeError, ValueError) as error:
            raise OptionError(
                f"categories: found what is no number ({error}), expected the grades of the scale"
            ) from None
        categories = np.unique(grades)
        if not categories.size:
            raise OptionError("categories: found none, expected the grades of the scale")
        if grades.ndim != 1 or categories.size != grades.size or not np.isfinite(grades).all():
            raise OptionError(
                "categories: found a category twice or one that is no finite number, expected each "
                "grade of the scale once"
            )
    if categories.size > _MANY:
        raise InputError(
            f"ratings: found {categories.size:,} distinct grades, expected at most {_MANY:,}; "
            "agreement is about grades, not about scores"
        )
    return categories


def weight_matrix(categories: FloatArray, weights: "Weights | None") -> FloatArray:
    """Return the weight of each pair of categories: 1 for equal ones, falling to 0 for the
    farthest.

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
    """Return the cluster of each unit as a code; without clusters, each unit is its own."""
    if clusters is None:
        return np.arange(n_units)
    labels = np.asarray(clusters)
    if labels.shape != (n_units,):
        raise InputError(
            f"clusters: found shape {labels.shape}, expected one label for each of the {n_units} "
            "units"
        )
    return label_codes(labels)


def label_codes(labels: "np.ndarray[Any, Any]", name: str = "clusters") -> IntArray:
    """Return labels of clusters or batches as codes in their order."""
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise InputError(
            f"{name}, unit {int(np.argmax(np.isnan(labels)))}: found no label, expected one for "
            "each unit"
        )
    try:
        return np.asarray(np.unique(labels, return_inverse=True)[1].reshape(-1), np.int64)
    except TypeError as error:
        raise InputError(
            f"{name}: found labels without an order ({error}), expected labels of one kind, such "
            "as text"
        ) from None


OutsidePolicy: TypeAlias = Literal["error", "clip", "drop"]


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelTable:
    """Pairs of query and document with the grade of each rater.

    Attributes
    ----------
    queries, documents : tuple of str, one a pair
        Ids, in the order of the first rater; pairs that only later raters graded follow.
    raters : tuple of str
        Names.
    grades : float64 array, shape (pairs, raters)
        NaN where the rater did not grade the pair.
    outside : dict of str to int
        Number of grades outside the scale that were clipped or dropped, by rater.

    Examples
    --------
    >>> table = LabelTable.of({"ann": {"q": {"a": 2, "b": 0}}, "ben": {"q": {"b": 1, "c": 0}}})
    >>> table.documents, table.grades.tolist()
    (('a', 'b', 'c'), [[2.0, nan], [0.0, 1.0], [nan, 0.0]])
    """

    queries: tuple[str, ...]
    documents: tuple[str, ...]
    raters: tuple[str, ...]
    grades: FloatArray
    outside: Mapping[str, int]

    @classmethod
    def of(
        cls, judgments: "Mapping[str, Qrels | Mapping[str, Mapping[str, float]]] | AssessorQrels"
    ) -> "LabelTable":
        """Join the grades of several raters by query and document, whatever the order of their
        rows.

        Parameters
        ----------
        judgments : mapping of str to Qrels or to mapping, or AssessorQrels
            Grades by name of the rater.

        Raises
        ------
        InputError
            There is no rater.
        """
        if isinstance(judgments, AssessorQrels):
            return cls._joined({name: judgments.of(name) for name in judgments.assessors})
        return cls._joined(
            {
                name: grades if isinstance(grades, Qrels) else Qrels(grades, name=name)
                for name, grades in judgments.items()
            }
        )

    @classmethod
    def _joined(cls, judgments: Mapping[str, Qrels]) -> "LabelTable":
        if not judgments:
            raise InputError("judgments: found no rater, expected at least one")
        # a pair gets the next row where a rater is the first to grade it
        row_of: dict[tuple[bytes, bytes], int] = {}
        rows_and_grades: list[tuple[IntArray, FloatArray]] = []
        for qrels in judgments.values():
            queries, documents, grades = table_columns(qrels.table)
            pair_rows = [
                row_of.setdefault(pair, len(row_of))
                for pair in zip(queries, documents, strict=True)
            ]
            rows_and_grades.append((np.array(pair_rows, np.int64), grades))
        joined = np.full((len(row_of), len(judgments)), np.nan)
        for rater, (rows, grades) in enumerate(rows_and_grades):
            joined[rows, rater] = grades
        texts: dict[bytes, str] = {}  # one text for each query, not one for each pair
        return cls(
            queries=tuple(texts.setdefault(query, decode_id(query)) for query, _ in row_of),
            documents=tuple(decode_id(document) for _, document in row_of),
            raters=tuple(judgments),
            grades=joined,
            outside={},
        )

    @cached_property
    def query_codes(self) -> IntArray:
        """Query of each pair as a number, in order of first appearance."""
        numbers: dict[str, int] = {}
        return np.array(
            [numbers.setdefault(query, len(numbers)) for query in self.queries], np.int64
        )

    def in_scale(
        self, scale: "Sequence[float] | FloatArray", policy: OutsidePolicy = "error"
    ) -> "LabelTable":
        """Return the table with grades of the scale alone.

        Parameters
        ----------
        scale : sequence of float
            All grades of the scale.
        policy : {"error", "clip", "drop"}
            Refuse a grade outside the scale; replace one above or below all grades by the nearest;
            or leave the grade out. What is clipped or dropped is counted in `outside`.

        Raises
        ------
        InputError
            There is a grade outside the scale; for ``clip``, one between two grades.

        Examples
        --------
        >>> table = LabelTable.of({"model": {"q": {"a": 5, "b": 1}}}).in_scale([0, 1, 2, 3], "clip")
        >>> table.grades.tolist(), table.outside
        ([[3.0], [1.0]], {'model': 1})
        """
        check_choice("outside", policy, get_args(OutsidePolicy))
        allowed = np.unique(np.asarray(scale, np.float64))
        if not allowed.size:
            raise OptionError("scale: found no grade, expected at least one")
        if not np.isfinite(allowed).all():
            raise OptionError(
                f"scale: found {allowed[~np.isfinite(allowed)][0]:g}, expected finite grades"
            )
        outside = ~np.isnan(self.grades) & ~np.isin(self.grades, allowed)
        if not outside.any():
            return self
        grades = self.grades.copy()
        if policy == "drop":
            grades[outside] = np.nan
        elif policy == "clip":
            grades = np.clip(grades, allowed[0], allowed[-1])
        still_outside = ~np.isnan(grades) & ~np.isin(grades, allowed)
        if still_outside.any():
            raise self._outside_error(still_outside, allowed, policy)
        counts = {
            rater: int(n) for rater, n in zip(self.raters, outside.sum(axis=0), strict=True) if n
        }
        return replace(self, grades=grades, outside=counts)

    def _outside_error(
        self, outside: BoolArray, allowed: FloatArray, policy: OutsidePolicy
    ) -> InputError:
        """Name the first grade outside the scale, and how to go on."""
        pair, rater = np.argwhere(outside)[0].tolist()
        n = int(outside.sum())
        others = f", and {n - 1:,} more outside the scale" if n > 1 else ""
        hint = "declare the scale, or name a policy: outside='clip' or 'drop'"
        command = "declare the --scale, or name a policy: --outside clip or drop"
        if policy == "clip":
            hint = "drop them with outside='drop'"
            command = "drop them with --outside drop"
        return InputError(
            f"{self.raters[rater]}, query {self.queries[pair]!r}, document "
            f"{self.documents[pair]!r}: found grade {self.grades[pair, rater]:g}{others}, expected "
            f"one of {', '.join(f'{grade:g}' for grade in allowed)}",
            hint=hint,
            command_hint=command,
        )


def z_quantile(confidence: float) -> float:
    """Return the normal quantile of a two-sided interval."""
    return float(ndtri((1 + confidence) / 2))


def t_quantile(confidence: float, df: float) -> float:
    """Return Student's quantile of a two-sided interval; infinite without a degree of freedom."""
    return float(stdtrit(df, (1 + confidence) / 2)) if df > 0 else float("inf")
