"""Variance components of a table of queries x systems (x seeds), and how well such queries rank and
score systems.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError
from idealrank.stats.randomness import whole_number
from idealrank.stats.tolerance import beyond_rounding
from idealrank.stats.values import open_share, table_of


@dataclass(frozen=True, kw_only=True)
class VarianceComponents:
    """Variance components of a table; see `variance_components`.

    Parameters
    ----------
    n_queries, n_systems, n_seeds : int
        Size of the table; one seed if there is no such axis.
    systems, queries, interaction : float
        Variance of the systems' true means, of the queries' difficulty, and of their interaction;
        without seeds the interaction includes the residual. Estimates below 0 are set to 0.
    seeds, residual : float
        Variance between the seeds of a system, and residual variance; 0 without seeds.
    mean_squares : tuple of float
        Mean squares of systems, queries and their interaction; with seeds, also of seeds within
        systems and of the residual.
    truncated : tuple of str
        Components whose estimate was below 0.

    Examples
    --------
    >>> print(
    ...     variance_components(
    ...         [[0.1, 0.3, 0.7], [0.2, 0.3, 0.9], [0.0, 0.2, 0.5], [0.2, 0.4, 0.6]]
    ...     )
    ... )
    4 queries x 3 systems: systems 83.7 %, queries 7.6 %, interaction 8.8 % of the variance
    """

    n_queries: int
    n_systems: int
    n_seeds: int
    systems: float
    queries: float
    interaction: float
    seeds: float
    residual: float
    mean_squares: tuple[float, ...]
    truncated: tuple[str, ...] = ()

    def __str__(self) -> str:
        names = ["systems", "queries", "interaction"]
        seeds = ""
        if len(self.mean_squares) > 3:
            names += ["seeds", "residual"]
            seeds = f" x {self.n_seeds} seeds"
        total = sum(getattr(self, name) for name in names) or 1.0
        shares = ", ".join(f"{name} {100 * getattr(self, name) / total:.1f} %" for name in names)
        cut = f" (estimates below 0: {', '.join(self.truncated)})" if self.truncated else ""
        return (
            f"{self.n_queries} queries x {self.n_systems} systems{seeds}: {shares} of the "
            f"variance{cut}"
        )

    def relative_error(self, n_queries: int, n_seeds: int = 1) -> float:
        """Variance of a system's mean over this many queries and seeds, relative to other systems
        on the same queries.
        """
        return (
            self.seeds / n_seeds
            + self.interaction / n_queries
            + self.residual / (n_queries * n_seeds)
        )

    def absolute_error(self, n_queries: int, n_seeds: int = 1) -> float:
        """Variance of a system's mean over this many queries and seeds as an absolute value:
        includes the difficulty of the queries.
        """
        return self.relative_error(n_queries, n_seeds) + self.queries / n_queries


def variance_components(values: Any) -> VarianceComponents:
    """Estimate variance components of a complete table by analysis of variance; all effects are
    random.

    Queries are crossed with systems. Seeds, if any, are nested in systems (seed 3 of one system is
    unrelated to seed 3 of another) and crossed with queries. Expected mean squares, for q queries,
    s systems and r seeds:

    * residual: ``e``; seeds: ``e + q seeds``; interaction: ``e + r interaction``;
    * queries: ``e + r interaction + r s queries``; systems: ``e + r interaction + q seeds + q r
      systems``.

    Parameters
    ----------
    values : float array, shape (queries, systems) or (queries, systems, seeds)
        Values of a measure; at least two of each factor.

    Raises
    ------
    InputError
        The shape is wrong, a factor has fewer than two levels, or a value is not finite.

    References
    ----------
    Brennan (2001), Generalizability Theory, chapters 2 and 3. Bodoff and Li (2007), Test theory for
    assessing IR test collections. SIGIR.

    Examples
    --------
    >>> found = variance_components(
    ...     [[0.1, 0.3, 0.7], [0.2, 0.3, 0.9], [0.0, 0.2, 0.5], [0.2, 0.4, 0.6]]
    ... )
    >>> round(found.systems, 4), round(found.queries, 4), round(found.interaction, 4)
    (0.0769, 0.0069, 0.0081)
    """
    if np.ndim(values) == 3:
        return _with_seeds(table_of(values, axes=("queries", "systems", "seeds"), least=(2, 2, 2)))
    table = table_of(values, axes=("queries", "systems"))
    n, s = table.shape
    queries = table.mean(axis=1)
    systems = table.mean(axis=0)
    mean = table.mean()
    largest = float(np.abs(table).max())
    residuals = table - queries[:, None] - systems + mean
    ms_systems = n * float(((systems - mean) ** 2).sum()) / (s - 1)
    ms_queries = s * float(((queries - mean) ** 2).sum()) / (n - 1)
    ms_interaction = float((residuals**2).sum()) / ((n - 1) * (s - 1))
    return from_mean_squares(
        n,
        s,
        systems=beyond_rounding(ms_systems, largest),
        queries=beyond_rounding(ms_queries, largest),
        interaction=beyond_rounding(ms_interaction, largest),
    )


def from_mean_squares(
    n_queries: int, n_systems: int, systems: float, queries: float, interaction: float
) -> VarianceComponents:
    """Compute variance components of queries x systems from the mean squares of a published table.

    Parameters
    ----------
    n_queries, n_systems : int
        Size of the table.
    systems, queries, interaction : float
        Mean squares.

    Examples
    --------
    >>> print(
    ...     from_mean_squares(50, 30, 0.15074, 0.85296, 0.010152)
    ... )  # TREC-3 ad hoc, the better three quarters
    50 queries x 30 systems: systems 6.8 %, queries 68.4 %, interaction 24.7 % of the variance
    """
    raw = {
        "systems": (systems - interaction) / n_queries,
        "queries": (queries - interaction) / n_systems,
        "interaction": interaction,
    }
    return _components((n_queries, n_systems, 1), raw, (systems, queries, interaction))


def _with_seeds(table: FloatArray) -> VarianceComponents:
    n, s, r = table.shape
    mean = table.mean()
    cells = table.mean(axis=2)
    systems = cells.mean(axis=0)
    queries = cells.mean(axis=1)
    seeds = table.mean(axis=0)
    interactions = cells - queries[:, None] - systems + mean
    residuals = table - cells[:, :, None] - seeds + systems[:, None]
    mean_squares = {
        "systems": n * r * float(((systems - mean) ** 2).sum()) / (s - 1),
        "queries": s * r * float(((queries - mean) ** 2).sum()) / (n - 1),
        "interaction": r * float((interactions**2).sum()) / ((n - 1) * (s - 1)),
        "seeds": n * float(((seeds - systems[:, None]) ** 2).sum()) / (s * (r - 1)),
        "residual": float((residuals**2).sum()) / (s * (n - 1) * (r - 1)),
    }
    largest = float(np.abs(table).max())
    ms = {name: beyond_rounding(square, largest) for name, square in mean_squares.items()}
    raw = {
        "systems": (ms["systems"] - ms["interaction"] - ms["seeds"] + ms["residual"]) / (n * r),
        "queries": (ms["queries"] - ms["interaction"]) / (s * r),
        "interaction": (ms["interaction"] - ms["residual"]) / r,
        "seeds": (ms["seeds"] - ms["residual"]) / n,
        "residual": ms["residual"],
    }
    return _components((n, s, r), raw, tuple(ms.values()))


def _components(
    sizes: tuple[int, int, int], raw: dict[str, float], mean_squares: tuple[float, ...]
) -> VarianceComponents:
    n_queries, n_systems, n_seeds = sizes
    return VarianceComponents(
        n_queries=n_queries,
        n_systems=n_systems,
        n_seeds=n_seeds,
        **{
            name: max(raw.get(name, 0.0), 0.0)
            for name in ("systems", "queries", "interaction", "seeds", "residual")
        },
        mean_squares=mean_squares,
        truncated=tuple(name for name, value in raw.items() if value < 0),
    )


@dataclass(frozen=True, kw_only=True)
class Reliability:
    """Reliability of a given number of queries (and seeds); see `reliability`.

    Parameters
    ----------
    n_queries, n_seeds : int
        Size of the collection considered.
    generalisability : float
        E rho^2: share of the variance between observed means that is variance between true means.
        In [0, 1].
    dependability : float
        Phi: the same share for absolute values of the means. In [0, 1], at most `generalisability`.
    generalisability_interval, dependability_interval : pair of float, or None
        Confidence intervals; None with seeds.
    level : float
        Confidence level of each interval.

    Examples
    --------
    >>> print(reliability(from_mean_squares(50, 30, 0.15074, 0.85296, 0.010152)))
    50 queries: E rho^2 0.933 (0.893 to 0.963), Phi 0.786 (0.661 to 0.880), level 0.95
    """

    n_queries: int
    n_seeds: int
    generalisability: float
    dependability: float
    generalisability_interval: tuple[float, float] | None
    dependability_interval: tuple[float, float] | None
    level: float

    def __str__(self) -> str:
        if self.generalisability_interval is None or self.dependability_interval is None:
            coefficients = f"E rho^2 {self.generalisability:.3f}, Phi {self.dependability:.3f}"
            return f"{self.n_queries} queries x {self.n_seeds} seeds: {coefficients}"
        e_low, e_high = self.generalisability_interval
        phi_low, phi_high = self.dependability_interval
        return (
            f"{self.n_queries} queries: E rho^2 {self.generalisability:.3f} ({e_low:.3f} to "
            f"{e_high:.3f}), Phi {self.dependability:.3f} ({phi_low:.3f} to {phi_high:.3f}), level "
            f"{self.level:g}"
        )


def reliability(
    components: VarianceComponents,
    n_queries: int | None = None,
    *,
    n_seeds: int | None = None,
    level: float = 0.95,
) -> Reliability:
    """Compute generalisability and dependability of a collection with a given number of queries: a
    D-study.

    ``E rho^2 = systems / (systems + relative error)`` and ``Phi = systems / (systems + absolute
    error)``. The interval of E rho^2 is Feldt's, exact for normal effects; that of Phi is by
    Arteaga et al. Both are wide for few systems.

    Parameters
    ----------
    components : VarianceComponents
        Result of `variance_components`.
    n_queries, n_seeds : int, optional
        Size of the collection considered; default as in the table.
    level : float
        Confidence level of each interval.

    References
    ----------
    Urbano, Marrero and Martín (2013), On the measurement of test collection reliability. SIGIR.
    Brennan (2001), Generalizability Theory, chapter 6. Feldt (1965), Psychometrika 30, 357-370.
    Arteaga, Jeyaratnam and Franklin (1982), Confidence intervals for proportions of total variance
    in the two-way cross component of variance model. Communications in Statistics 11.

    Examples
    --------
    >>> trec3 = from_mean_squares(50, 30, 0.15074, 0.85296, 0.010152)
    >>> round(reliability(trec3, 200).dependability, 4)
    0.9363
    """
    open_share("level", level)
    size = whole_number("n_queries", components.n_queries if n_queries is None else n_queries)
    seeds = whole_number("n_seeds", components.n_seeds if n_seeds is None else n_seeds)
    relative = components.relative_error(size, seeds)
    absolute = components.absolute_error(size, seeds)
    generalisable: tuple[float, float] | None = None
    dependable: tuple[float, float] | None = None
    if len(components.mean_squares) == 3:
        if seeds > 1:
            raise OptionError(
                f"n_seeds={seeds}: the table has no seeds; expected values of shape (queries, "
                f"systems, seeds)"
            )
        # `_feldt` bounds systems / interaction, `_arteaga` bounds Phi of one query.
        e_low, e_high = (size * bound / (1 + size * bound) for bound in _feldt(components, level))
        phi_low, phi_high = (
            size * bound / (1 + (size - 1) * bound) for bound in _arteaga(components, level)
        )
        generalisable = (e_low, e_high)
        dependable = (phi_low, phi_high)
    return Reliability(
        n_queries=size,
        n_seeds=seeds,
        generalisability=_share(components.systems, relative),
        dependability=_share(components.systems, absolute),
        generalisability_interval=generalisable,
        dependability_interval=dependable,
        level=level,
    )


@dataclass(frozen=True, kw_only=True)
class QueriesForReliability:
    """Number of queries with which a collection like this one reaches a reliability; see
    `queries_for_reliability`.

    Parameters
    ----------
    target : float
        Reliability to reach.
    generalisability, dependability : float
        Number of queries for E rho^2, and for Phi, to reach it: whole numbers, infinite if no
        number suffices.
    generalisability_interval, dependability_interval : pair of float, or None
        Confidence intervals; None with seeds.

    Examples
    --------
    >>> print(queries_for_reliability(from_mean_squares(50, 30, 0.15074, 0.85296, 0.010152)))
    0.95 takes 69 queries (37 to 114) for E rho^2, 259 (130 to 487) for Phi
    """

    target: float
    generalisability: float
    dependability: float
    generalisability_interval: tuple[float, float] | None
    dependability_interval: tuple[float, float] | None

    def __str__(self) -> str:
        def between(interval: tuple[float, float] | None) -> str:
            return f" ({interval[0]:g} to {interval[1]:g})" if interval else ""

        return (
            f"{self.target:g} takes {self.generalisability:g} "
            f"queries{between(self.generalisability_interval)} for E rho^2, "
            f"{self.dependability:g}{between(self.dependability_interval)} for Phi"
        )


def queries_for_reliability(
    components: VarianceComponents,
    target: float = 0.95,
    *,
    n_seeds: int | None = None,
    level: float = 0.95,
) -> QueriesForReliability:
    """Compute the number of queries needed for E rho^2, and for Phi, to reach a value.

    Parameters
    ----------
    components : VarianceComponents
        Result of `variance_components`.
    target : float
        Reliability to reach, in (0, 1).
    n_seeds : int, optional
        Number of seeds of each system; default as in the table. With too few, no number of queries
        may suffice.
    level : float
        Confidence level of each interval.

    Examples
    --------
    >>> queries_for_reliability(
    ...     from_mean_squares(50, 30, 0.15074, 0.85296, 0.010152), 0.9
    ... ).generalisability
    33
    """
    open_share("target", target)
    open_share("level", level)
    seeds = whole_number("n_seeds", components.n_seeds if n_seeds is None else n_seeds)
    # target <= systems / (systems + seeds / r + rest / n), solved for n
    room = components.systems * (1 - target) / target - components.seeds / seeds
    relative = components.interaction + components.residual / seeds
    generalisable = _whole(relative, room)
    dependable = _whole(relative + components.queries, room)
    if len(components.mean_squares) > 3:
        return QueriesForReliability(
            target=target,
            generalisability=generalisable,
            dependability=dependable,
            generalisability_interval=None,
            dependability_interval=None,
        )
    odds = target / (1 - target)
    # A high bound of the reliability of one query gives the low bound of the number of queries.
    e_low, e_high = (_whole(odds, bound) for bound in reversed(_feldt(components, level)))
    phi_low, phi_high = (
        _whole(odds * (1 - bound), bound) for bound in reversed(_arteaga(components, level))
    )
    return QueriesForReliability(
        target=target,
        generalisability=generalisable,
        dependability=dependable,
        generalisability_interval=(e_low, e_high),
        dependability_interval=(phi_low, phi_high),
    )


def _share(true: float, error: float) -> float:
    return true / (true + error) if true > 0 else 0.0


def _whole(needed: float, room: float) -> float:
    """Needed / room, rounded up; at least one query, infinite if there is no room."""
    return max(1, math.ceil(needed / room - 1e-9)) if room > 0 else math.inf


def _feldt(components: VarianceComponents, level: float) -> tuple[float, float]:
    """Interval of systems / interaction, at least 0: MS_s / MS_e over 1 + n times it is F."""
    ms_systems, _, ms_error = components.mean_squares
    df = components.n_systems - 1
    df_error = (components.n_systems - 1) * (components.n_queries - 1)
    if ms_error <= 0:
        raise InputError(
            "the systems do not vary unlike each other over these queries: there is no error to "
            "measure reliability against"
        )

    def bound(tail: float) -> float:
        f = float(stats.f.isf(tail, df, df_error))
        return max((ms_systems / (ms_error * f) - 1) / components.n_queries, 0.0)

    return bound((1 - level) / 2), bound((1 + level) / 2)


def _arteaga(components: VarianceComponents, level: float) -> tuple[float, float]:
    """Interval of Phi for one query."""
    ms_systems, ms_queries, ms_error = components.mean_squares
    n = components.n_queries
    s = components.n_systems

    def bound(tail: float) -> float:
        # quantiles of F for a known variance, for the error and for queries
        f_known = stats.chi2.isf(tail, s - 1) / (s - 1)
        f_error = stats.f.isf(tail, s - 1, (s - 1) * (n - 1))
        f_queries = stats.f.isf(tail, s - 1, n - 1)
        numerator = (
            ms_systems**2
            - f_known * ms_systems * ms_error
            + (f_known - f_error) * f_error * ms_error**2
        )
        denominator = (
            s - 1
        ) * f_known * ms_systems * ms_error + f_queries * ms_systems * ms_queries
        if not denominator > 0:  # systems of equal means
            return 0.0
        ratio = s * numerator / (n * denominator)
        return float(min(max(ratio / (1 + ratio), 0.0), 1.0)) if ratio > -1 else 0.0

    return bound((1 - level) / 2), bound((1 + level) / 2)
