"""Sampling design of queries (weights, strata and clusters) for intervals, tests and power; means
under it, with their variance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.tolerance import ROUNDING, largest_of

Labels: TypeAlias = Sequence[Any] | np.ndarray[Any, Any]

# below, the 95 % bounds of Student's t are more than 1e12 standard errors away
_LEAST_FREEDOM = 0.1
_TINY = float(np.finfo(np.float64).tiny)  # in place of 0, where one unit has all the weight


@dataclass(frozen=True, kw_only=True, eq=False)
class Design:
    """Weights, strata and clusters of n queries; see `Design.of`.

    Parameters
    ----------
    n : int
        Number of queries.
    weights : float64 array, shape (n,), or None
        Weight of each query in the mean; sums to n.
    strata : int64 array, shape (n,), or None
        Code of each query's stratum: resampling keeps the size of every stratum.
    clusters : int64 array, shape (n,), or None
        Code of each query's cluster (user, session, topic): whole clusters are drawn, or have their
        signs flipped, together.

    Examples
    --------
    >>> design = Design.of(3, weights=[2, 1, 1], clusters=["ann", "bob", "bob"])
    >>> float(design.mean(np.array([1.0, 0.0, 0.0]))), design.n_units
    (0.5, 2)
    """

    n: int
    weights: FloatArray | None = None
    strata: IntArray | None = None
    clusters: IntArray | None = None

    @classmethod
    def of(
        cls,
        n: int,
        *,
        weights: "Sequence[float] | FloatArray | None" = None,
        strata: "Labels | None" = None,
        clusters: "Labels | None" = None,
    ) -> "Design":
        """Build and validate a design of n queries.

        Parameters
        ----------
        n : int
            Number of queries, at least 1.
        weights : sequence of float, shape (n,), optional
            Weights above 0, such as traffic; scaled to sum to n.
        strata, clusters : sequence, shape (n,), optional
            Label of each query; equal labels are one stratum, or one cluster. A cluster must lie in
            one stratum.

        Raises
        ------
        InputError
            A length is not n, a weight is not above 0 and finite, or a cluster lies in two strata.
        """
        if n < 1:
            raise OptionError(f"a design of {n} queries, expected at least 1")
        design = cls(
            n=n,
            weights=None if weights is None else _scaled(_checked_weights(weights, n)),
            strata=_codes("strata", strata, n),
            clusters=_codes("clusters", clusters, n),
        )
        design._check_nested()
        return design

    def _check_nested(self) -> None:
        if self.strata is None or self.clusters is None:
            return
        pairs = np.unique(np.stack([self.clusters, self.strata]), axis=1)
        if pairs.shape[1] > self.n_units:
            raise InputError(
                "a cluster lies in two strata; expected every cluster in one stratum: give "
                "clusters of (cluster, stratum) pairs"
            )

    @property
    def plain(self) -> bool:
        """True if the queries are drawn independently, without weights, strata or clusters."""
        return self.weights is None and self.strata is None and self.clusters is None

    @property
    def n_units(self) -> int:
        """Number of independent draws: clusters, or queries without clusters."""
        return self.n if self.clusters is None else int(self.clusters.max()) + 1

    @property
    def effective_units(self) -> float:
        """Number of units of equal weight whose mean would vary as much: ``(sum of weights)^2 / sum
        of squared weights``.

        Without weights it is `n_units`, whatever the sizes of clusters.

        References
        ----------
        Kish (1965), Survey Sampling, section 11.7.
        """
        if self.weights is None:
            return float(self.n_units)
        weights = (
            self.weights if self.clusters is None else np.bincount(self.clusters, self.weights)
        )
        return float(weights.sum() ** 2 / (weights**2).sum())

    def mean(self, values: FloatArray) -> Any:
        """Return the weighted mean over the first axis: a float for shape (n,), an array (m,) for
        (n, m).
        """
        weighted = values if self.weights is None else (values.T * self.weights).T
        return weighted.mean(axis=0)

    def unit_totals(self, values: FloatArray) -> FloatArray:
        """Return the weighted sums of each unit, shape (n_units, ...); their sum divided by n is
        the mean.
        """
        weighted = values if self.weights is None else (values.T * self.weights).T
        if self.clusters is None:
            return np.asarray(weighted, np.float64)
        totals = np.zeros((self.n_units, *values.shape[1:]))
        np.add.at(totals, self.clusters, weighted)
        return totals

    def unit_strata(self) -> IntArray | None:
        """Stratum of each unit, shape (n_units,); None without strata."""
        if self.strata is None or self.clusters is None:
            return self.strata
        first = np.unique(self.clusters, return_index=True)[1]
        return self.strata[first]


def _check_length(name: str, values: "np.ndarray[Any, Any]", n: int) -> None:
    if values.shape != (n,):
        raise InputError(
            f"{name} has shape {values.shape}, expected one for each of the {n} queries"
        )


def _codes(name: str, labels: "Labels | None", n: int) -> IntArray | None:
    """Labels as codes 0, 1, ... in order of first appearance of their sorted values."""
    if labels is None:
        return None
    query_labels = np.asarray(labels)
    _check_length(name, query_labels, n)
    return np.unique(query_labels, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _checked_weights(weights: "Sequence[float] | FloatArray", n: int) -> FloatArray:
    try:
        numbers = np.asarray(weights, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"weights: found what is no number ({error}), expected finite weights above 0"
        ) from None
    _check_length("weights", numbers, n)
    wrong = ~((numbers > 0) & np.isfinite(numbers))
    if wrong.any():
        query = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"weight {numbers[query]:g} of query {query}: expected finite weights above 0; leave "
            "out queries that count nothing"
        )
    return numbers


def _scaled(weights: FloatArray) -> FloatArray:
    """Weights whose sum is their number."""
    with np.errstate(over="ignore"):
        total = float(weights.sum())
    if not np.isfinite(total):  # weights near the end of float64: the largest becomes 1 first
        return _scaled(weights / weights.max())
    return weights * (weights.size / total)


class LinearMean(NamedTuple):
    """Means of columns, with their standard errors."""

    mean: FloatArray
    se: FloatArray
    df: float
    influences: FloatArray  # of each unit on its mean, (n_units, m), centred in every stratum
    constant: BoolArray  # columns whose values are equal up to rounding
    rounding: FloatArray  # difference up to which values of a column are equal


def strata_of(design: Design) -> list[IntArray]:
    """The units of each stratum; one stratum where the design has none."""
    codes = design.unit_strata()
    if codes is None or design.n_units == 1:
        return [np.arange(design.n_units)]
    sizes = np.bincount(codes)
    if sizes.min() < 2:
        unit = int(np.flatnonzero(codes == sizes.argmin())[0])
        unit_word = "query" if design.clusters is None else "cluster"
        raise InputError(
            f"the stratum of {unit_word} {unit} has no other {unit_word}; expected at least 2 in "
            "each stratum, since one shows no variance: merge it with the stratum most like it"
        )
    return [np.flatnonzero(codes == code) for code in range(sizes.size)]


def linear_mean(
    values: FloatArray, design: Design, largest: FloatArray | None = None
) -> LinearMean:
    """Means with standard errors of values, shape (n, m).

    Binder (1983), On the variances of asymptotically normal estimators from complex surveys.
    """
    mean = np.asarray(design.mean(values), np.float64)
    rounding = np.asarray(
        ROUNDING * (largest_of(values) if largest is None else largest), np.float64
    )
    influences = design.unit_totals(values - mean) / design.n
    strata = strata_of(design)
    if design.n_units == 1:
        infinite = np.full(mean.shape, np.inf)
        return LinearMean(
            mean=mean,
            se=infinite,
            df=0,
            influences=influences,
            constant=np.zeros(mean.shape, np.bool_),
            rounding=rounding,
        )
    variance = np.zeros_like(mean)
    for units in strata:
        # returned centred in their stratum, as the skewness of BCa needs them
        centred = influences[units] - influences[units].mean(axis=0)
        influences[units] = centred
        variance += units.size / (units.size - 1) * (centred**2).sum(axis=0)
    se = np.sqrt(variance)
    constant = se * np.sqrt(design.n) <= rounding
    mean = np.where(constant & (np.abs(mean) <= rounding), 0.0, mean)
    return LinearMean(
        mean=mean,
        se=np.where(constant, 0.0, se),
        df=design.n_units - len(strata),
        influences=influences,
        constant=constant,
        rounding=rounding,
    )


def student_mean(
    values: FloatArray, design: Design, largest: FloatArray | None = None
) -> LinearMean:
    """Means of values, shape (n, m), with the standard errors and degrees of freedom of Student's
    t.

    Kish (1965), Survey Sampling, section 11.7.
    """
    linear = linear_mean(values, design, largest)
    if design.weights is None or design.n_units == 1 or (design.weights == design.weights[0]).all():
        return linear
    deviations = values - np.asarray(design.mean(values), np.float64)
    influences = design.unit_totals(deviations) / design.n
    shares = design.unit_totals(np.ones(design.n)) / design.n
    variance = np.zeros_like(linear.mean)
    squares = 0.0
    squares_over_df = 0.0
    for units in strata_of(design):
        stratum = _UnequalShares.of(shares[units])
        centred = _centred(influences[units], shares[units])
        variance += stratum.factor * (centred**2).sum(axis=0)
        squares = squares + stratum.squares
        squares_over_df = squares_over_df + stratum.squares * (stratum.squares / stratum.df)
    # Satterthwaite over the strata, each with its sum of squared shares as its variance. The
    # product is never squared, which would underflow for tiny shares.
    freedom = squares * (squares / squares_over_df)
    if freedom < _LEAST_FREEDOM:
        # the standard error of `linear_mean` may be lost in rounding
        constant = np.ptp(values, axis=0) <= linear.rounding
        return linear._replace(se=np.where(constant, 0.0, np.inf), df=0, constant=constant)
    se = np.sqrt(variance)
    constant = se * np.sqrt(design.n) <= linear.rounding
    return linear._replace(se=np.where(constant, 0.0, se), df=freedom, constant=constant)


class _UnequalShares(NamedTuple):
    """Sum of squared shares of a stratum's units, the factor that makes the sum of squared
    influences an unbiased variance, and its degrees of freedom.
    """

    squares: float
    factor: float
    df: float

    @classmethod
    def of(cls, shares: FloatArray) -> "_UnequalShares":
        # With shares p that sum to 1 and units of variance 1, the weighted mean has the variance
        # sum p^2. The influence of unit i, p_i times its deviation from that mean, has the expected
        # square p_i^2 ((1 - p_i)^2 + sum of p_j^2 over the others). The factor is the variance over
        # the sum of these squares. Degrees of freedom are Kish's 1 / sum p^2, less 1.
        total = shares.sum()
        largest = int(shares.argmax())
        p = shares / total
        squares = float((p**2).sum())
        others = 1 - p  # sum of the other shares
        squares_of_others = squares - p**2
        # For the largest share both differences would lose their digits: the others are summed.
        smaller = np.delete(p, largest)
        others[largest] = smaller.sum()
        squares_of_others[largest] = (smaller**2).sum()
        expected = float((p**2 * (others**2 + squares_of_others)).sum())
        return cls(
            squares=squares * float(total) ** 2,
            factor=squares / max(expected, _TINY),
            df=max(float((p * others).sum()) / squares, _TINY),
        )


def _centred(influences: FloatArray, shares: FloatArray) -> FloatArray:
    """Influences of units about the weighted mean of their stratum; they sum to 0, which gives the
    influence of the largest share.
    """
    centred = influences - shares[:, None] * (influences.sum(axis=0) / shares.sum())
    top = int(shares.argmax())
    centred[top] = -np.delete(centred, top, axis=0).sum(axis=0)
    return np.asarray(centred, np.float64)
