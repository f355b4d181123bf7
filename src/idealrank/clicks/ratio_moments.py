"""Ratios of two sums over the units of a log, with their errors: from the rows of a whole log, or
from moments, which add up over parts of a log.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar

import numpy as np
from scipy.special import ndtri

from idealrank.clicks.arguments import real_number
from idealrank.clicks.weighted_rows import ListMean, error_of_blocks, normal_mean
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError
from idealrank.stats.intervals import side_of_interval

Columns: TypeAlias = tuple[Sequence[FloatArray], Sequence[FloatArray]]
"""Numerators and denominators of the ratios of one policy, by row."""


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
        totals_above = [float(column.sum()) for column in above]
        totals_below = [float(column.sum()) for column in below]
        ratios = [_ratio(*totals) for totals in zip(totals_above, totals_below, strict=True)]
        row_residuals = [
            above_column - ratio * below_column if ratio else above_column
            for above_column, ratio, below_column in zip(above, ratios, below, strict=True)
        ]
        n_units = int(above[0].size) if codes is None else int(codes.max(initial=-1)) + 1
        residuals = _by_unit(cls._measured(row_residuals), codes, n_units)
        denominators = _by_unit(cls._measured(below), codes, n_units)
        return cls(
            n_units=n_units,
            below=np.array(totals_below),
            ratio=np.array(ratios),
            residuals=_products(residuals, residuals),
            crossed=_products(residuals, denominators),
            squares=_products(denominators, denominators),
        )

    @staticmethod
    def _measured(columns: Sequence[FloatArray]) -> Sequence[FloatArray]:
        """Columns whose moments are kept, from one column per ratio."""
        return columns

    def plus(self, other: Self) -> Self:
        """Moments over the units of both."""
        below = self.below + other.below
        # The mean of both ratios, weighted by their denominators.
        ratio = self.ratio + (other.ratio - self.ratio) * np.divide(
            other.below, below, out=np.zeros(below.size), where=below != 0
        )
        moments = self._about(ratio)
        other_moments = other._about(ratio)
        return type(self)(
            n_units=self.n_units + other.n_units,
            below=below,
            ratio=ratio,
            residuals=moments.residuals + other_moments.residuals,
            crossed=moments.crossed + other_moments.crossed,
            squares=moments.squares + other_moments.squares,
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
        return normal_mean(float((self.values * worth).sum()), self.error(worth), level)

    def summed(self) -> Self:
        """Return the moments."""
        return self


@dataclass(frozen=True, eq=False)
class PairedMoments(RatioMoments):
    """Ratios of policy A, then as many of policy B, over the same units; the values are B less
    A.

    Moments are of the residuals and denominators of A, and of B less A, unit by unit.
    """

    @classmethod
    def pair(cls, policies: Iterable[Columns], codes: IntArray | None) -> "PairedMoments":
        """Sum rows of policies A and B; `codes` are the clusters of the rows, or None."""
        (above_a, below_a), (above_b, below_b) = policies
        return cls.of([*above_a, *above_b], [*below_a, *below_b], codes)

    @staticmethod
    def _measured(columns: Sequence[FloatArray]) -> Sequence[FloatArray]:
        half = len(columns) // 2
        a = columns[:half]
        differences = [of_b - of_a for of_a, of_b in zip(a, columns[half:], strict=True)]
        return [*a, *differences]

    @staticmethod
    def _moved(gap: FloatArray, products: FloatArray) -> FloatArray:
        # B less A changes by gap_b * below_b - gap_a * below_a
        # = (gap_b - gap_a) * below_a + gap_b * (below_b - below_a).
        half = gap.size // 2
        moved: FloatArray = gap[:, None] * products
        moved[half:] += (gap[half:] - gap[:half])[:, None] * products[:half]
        return moved

    @property
    def values(self) -> FloatArray:
        """Ratios of B less the ratios of A."""
        a, b = np.split(self.ratio, 2)
        differences: FloatArray = b - a
        return differences

    def _shares(self, worth: FloatArray) -> FloatArray:
        # share_b * residual_b - share_a * residual_a
        # = (share_b - share_a) * residual_a + share_b * (residual_b - residual_a).
        a, b = np.split(super()._shares(np.concatenate((worth, worth))), 2)
        return np.concatenate((b - a, b))


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptRows:
    """Units of a whole log with their rows at hand. Errors take a second look at the rows, block by
    block, where `RatioMoments` needs one.
    """

    n: int  # Rows
    codes: IntArray | None  # shape (rows,): cluster of each row
    # Share of each row in the value, in blocks: the error of their mean is the error of the value.
    influences: Callable[[], Iterator[FloatArray]]
    moments: Callable[[], RatioMoments]

    @property
    def n_units(self) -> int:
        return self.n if self.codes is None else int(self.codes.max()) + 1

    def error(self, _worth: FloatArray) -> float:
        """Standard error of the value; the influences have the worth of their ratios."""
        return error_of_blocks(self.influences(), self.n, self.codes)

    def summed(self) -> RatioMoments:
        """Sum the rows, so that parts of a log can be added up."""
        return self.moments()


@dataclass(frozen=True, kw_only=True, eq=False)
class KeptLists(KeptRows):
    """Lists of a whole log, with one value each whose mean is the value of the policy."""

    values: Callable[[], FloatArray]

    @classmethod
    def of(
        cls,
        values: Callable[[], FloatArray],
        moments: Callable[[], RatioMoments],
        n: int,
        codes: IntArray | None,
        fit_errors: FloatArray | None = None,
    ) -> "KeptLists":
        """Keep lists; `fit_errors` is the part of each in the error of fitted propensities."""

        def influences() -> Iterator[FloatArray]:
            yield values() if fit_errors is None else values() + fit_errors

        return cls(n=n, codes=codes, influences=influences, moments=moments, values=values)

    def mean(self, worth: FloatArray, level: float) -> ListMean:
        """Mean of the lists, with its normal interval."""
        return normal_mean(float(self.values().mean()), self.error(worth), level)


RowUnits: TypeAlias = RatioMoments | KeptRows
"""Rows of a part of a log, or of a whole one."""
ListUnits: TypeAlias = RatioMoments | KeptLists
"""Lists of a part of a log, or of a whole one."""


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


Difference = TypeVar("Difference")


@dataclass(frozen=True, kw_only=True, eq=False)
class ValuePair(Generic[Difference]):
    """Sums for the values of two policies, and for their difference."""

    a: Any
    b: Any
    moments: tuple[RowUnits, ...]  # of each difference
    worth: FloatArray
    result: Callable[..., Difference]  # from both values, and the moments and worth

    def difference(self, confidence: float = 0.95) -> Difference:
        """Difference of the policies, B less A, with its normal interval."""
        a = self.a.value(confidence)
        b = self.b.value(confidence)
        return self.result(a, b, *self.moments, worth=self.worth)


def verdict_of(
    interval: tuple[float, float], *, is_supported: bool
) -> Literal["better", "worse", "undecided", "no support"]:
    """Verdict on B by the interval of B less A."""
    if not is_supported:
        return "no support"
    return side_of_interval(*interval)


def units_needed(n: int, value: float, error: float, confidence: float, power: float) -> float:
    """Rows or lists that would show a difference of this size with the given power, from n that
    gave this standard error.
    """
    target_power = real_number(
        "power", power, "a number between 0 and 1, such as 0.8", low=0, high=1
    )
    if value == 0:
        return math.inf
    n_errors = float(ndtri((1 + confidence) / 2) + ndtri(target_power))
    return n * (n_errors * error / value) ** 2
