"""Sampling design of queries: weights, strata and clusters, in one object for intervals, tests and power."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError

Labels: TypeAlias = "Sequence[Any] | np.ndarray[Any, Any]"


@dataclass(frozen=True, eq=False)
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
        Code of each query's cluster (user, session, topic): whole clusters are drawn, or have their signs flipped, together.

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
            Label of each query; equal labels are one stratum, or one cluster. A cluster must lie in one stratum.

        Raises
        ------
        InputError
            A length is not n, a weight is not above 0 and finite, or a cluster lies in two strata.
        """
        if n < 1:
            raise OptionError(f"a design of {n} queries, expected at least 1")
        scaled = None
        if weights is not None:
            try:
                given = np.asarray(weights, np.float64)
            except (TypeError, ValueError) as error:
                raise InputError(f"weights: found what is no number ({error}), expected finite weights above 0") from None
            _check_length("weights", given, n)
            wrong = ~((given > 0) & np.isfinite(given))
            if wrong.any():
                at = int(np.flatnonzero(wrong)[0])
                raise InputError(
                    f"weight {given[at]:g} of query {at}: expected finite weights above 0; leave out queries that count nothing"
                )
            scaled = _scaled(given)
        design = cls(n, scaled, _codes("strata", strata, n), _codes("clusters", clusters, n))
        design._check_nested()
        return design

    def _check_nested(self) -> None:
        if self.strata is None or self.clusters is None:
            return
        pairs = np.unique(np.stack([self.clusters, self.strata]), axis=1)
        if pairs.shape[1] > self.n_units:
            raise InputError(
                "a cluster lies in two strata; expected every cluster in one stratum: give clusters of (cluster, stratum) pairs"
            )

    @property
    def plain(self) -> bool:
        """True if the queries are drawn independently, without weights, strata or clusters."""
        return self.weights is None and self.strata is None and self.clusters is None

    @property
    def n_units(self) -> int:
        """Number of independent draws: clusters, or queries without clusters."""
        return self.n if self.clusters is None else int(self.clusters.max()) + 1

    def mean(self, values: FloatArray) -> Any:
        """Return the weighted mean over the first axis: a float for shape (n,), an array (m,) for (n, m)."""
        weighted = values if self.weights is None else (values.T * self.weights).T
        return weighted.mean(axis=0)

    def unit_totals(self, values: FloatArray) -> FloatArray:
        """Return the weighted sums of each unit, shape (n_units, ...); their sum divided by n is the mean."""
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
        raise InputError(f"{name} has shape {values.shape}, expected one for each of the {n} queries")


def _codes(name: str, labels: "Labels | None", n: int) -> IntArray | None:
    """Labels as codes 0, 1, ... in order of first appearance of their sorted values."""
    if labels is None:
        return None
    given = np.asarray(labels)
    _check_length(name, given, n)
    return np.unique(given, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _scaled(weights: FloatArray) -> FloatArray:
    """Weights whose sum is their number."""
    with np.errstate(over="ignore"):
        whole = weights.sum()
    return weights * (weights.size / whole) if np.isfinite(whole) else _scaled(weights / weights.max())
