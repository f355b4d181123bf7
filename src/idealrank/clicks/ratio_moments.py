"""Ratios of two sums over the units of a log, with the moments that give their errors; moments of
parts of the log add up.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

from idealrank.clicks.arguments import label_column
from idealrank.clicks.weighted_rows import ListMean, label_codes
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError


@dataclass(frozen=True, kw_only=True, eq=False)
class RatioMoments:
    """Ratios ``sum(above) / sum(below)`` over units, which are rows or clusters of rows, with
    moments of the residuals.

    The residual of a unit is ``above - ratio * below``.
    """

    n_units: int
    # below, ratio: shape (ratios,): sums of the denominators, and the ratios; 0 where the
    # denominator is 0
    below: FloatArray
    ratio: FloatArray
    # residuals, crossed, squares: shape (ratios, ratios): sums over units of products: residual
    # with residual, residual with denominator, denominator with denominator
    residuals: FloatArray
    crossed: FloatArray
    squares: FloatArray

    @classmethod
    def of(
        cls, above: Sequence[FloatArray], below: Sequence[FloatArray], codes: IntArray | None
    ) -> Self:
        """Sum rows; `codes` are the units of the rows, or None if each is one."""
        sums = np.array([float(column.sum()) for column in below])
        totals = zip(above, sums.tolist(), strict=True)
        ratio = np.array([_ratio(float(column.sum()), total) for column, total in totals])
        gaps = [
            above_column - share * below_column if share else above_column
            for above_column, share, below_column in zip(above, ratio.tolist(), below, strict=True)
        ]
        n_units = int(above[0].size) if codes is None else int(codes.max(initial=-1)) + 1
        residuals, units = (
            _by_unit(cls._measured(columns), codes, n_units) for columns in (gaps, below)
        )
        return cls(
            n_units=n_units,
            below=sums,
            ratio=ratio,
            residuals=_products(residuals, residuals),
            crossed=_products(residuals, units),
            squares=_products(units, units),
        )

    @staticmethod
    def _measured(columns: Sequence[FloatArray]) -> Sequence[FloatArray]:
        """Columns of which moments are kept, from one a ratio."""
        return columns

    def plus(self, other: Self) -> Self:
        """Moments over the units of both."""
        below = self.below + other.below
        ratio = self.ratio + (other.ratio - self.ratio) * np.divide(
            other.below, below, out=np.zeros(below.size), where=below != 0
        )
        ours, theirs = self._about(ratio), other._about(ratio)
        return type(self)(
            n_units=self.n_units + other.n_units,
            below=below,
            ratio=ratio,
            residuals=ours.residuals + theirs.residuals,
            crossed=ours.crossed + theirs.crossed,
            squares=ours.squares + theirs.squares,
        )

    def _about(self, ratio: FloatArray) -> Self:
        """Moments of the residuals of other ratios."""
        gap = ratio - self.ratio
        crossed = self.crossed - self._moved(gap, self.squares)
        residuals = (
            self.residuals - self._moved(gap, self.crossed.T) - self._moved(gap, crossed.T).T
        )
        return replace(self, ratio=ratio, residuals=residuals, crossed=crossed)

    @staticmethod
    def _moved(gap: FloatArray, products: FloatArray) -> FloatArray:
        """Products of the changes of residuals, from products of denominators: a residual changes
        by a gap times its denominator.
        """
        moved: FloatArray = gap[:, None] * products
        return moved

    @property
    def values(self) -> FloatArray:
        """Quantities that are weighed by their worth."""
        return self.ratio

    def _shares(self, worth: FloatArray) -> FloatArray:
        """Weight of each residual in the sum of the values times their worth."""
        return np.divide(worth, self.below, out=np.zeros(self.below.size), where=self.below != 0)

    def error(self, worth: FloatArray) -> float:
        """Standard error of the sum of the values times their worth."""
        share = self._shares(worth)
        spread = float((share[:, None] * self.residuals * share).sum())
        return math.sqrt(max(spread, 0.0) * self.n_units / (self.n_units - 1))

    def mean(self, worth: FloatArray, level: float) -> ListMean:
        """Sum of the values times their worth, with its normal interval."""
        value, error = float((self.values * worth).sum()), self.error(worth)
        reach = error * float(ndtri((1 + level) / 2))
        return ListMean(value, error, (value - reach, value + reach))


def _ratio(above: float, below: float) -> float:
    return above / below if below else 0.0


def _by_unit(
    columns: Sequence[FloatArray], codes: IntArray | None, n_units: int
) -> Sequence[FloatArray]:
    if codes is None:
        return columns
    return [np.asarray(np.bincount(codes, column, n_units), np.float64) for column in columns]


def _products(columns: Sequence[FloatArray], others: Sequence[FloatArray]) -> FloatArray:
    """Sums of the products of each column with each other one, in the order of NumPy, not of BLAS,
    which depends on the processor.
    """

    def sums(column: FloatArray) -> list[float]:
        return [float((column * other).sum()) for other in others]

    return np.array([sums(column) for column in columns])


def codes_of_part(clusters: "Sequence[Any] | npt.ArrayLike | None", n: int) -> IntArray | None:
    """Number the clusters of a part of a log, which may have one or none; None without clusters."""
    if clusters is None:
        return None
    return label_codes(label_column("clusters", clusters, n), "clusters")


def require_units(n: int, n_units: int, name: str, of: str, *, clustered: bool) -> None:
    """Refuse a whole log with fewer rows or clusters than an error needs, as the estimators of one
    machine do.
    """
    if n < 2:
        raise InputError(
            f"{name}: found {n} {of} in all parts, expected at least 2; one shows no variation"
        )
    if clustered and n_units < 2:
        raise InputError(
            "clusters: found one cluster in all parts, expected at least 2; one cluster shows no "
            "variation"
        )
