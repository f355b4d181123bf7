"""Agreement grade by grade, rater by rater, query by query, and all of it as one report."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, cast, get_args

import numpy as np
import numpy.typing as npt

from idealrank.data.types import FloatArray
from idealrank.errors import InputError, OptionError, shown
from idealrank.judging.coefficients import Level, Statistic
from idealrank.judging.interrater import STATISTICS, Agreement, agreement
from idealrank.judging.ratings import LabelTable, Ratings, Weights, cluster_codes, grade_array


@dataclass(frozen=True, kw_only=True)
class GradeAgreement:
    """Agreement about one grade.

    Attributes
    ----------
    grade : float
        The grade.
    n_ratings : int
        Number of times that it was given to units that two raters rated.
    agreement : float
        Chance that another rater of the same unit gave it as well (specific agreement); NaN if it
        was never given.
    by_chance : float
        Its share of all ratings: what `agreement` would be if raters agreed by chance alone.

    Examples
    --------
    >>> [row.agreement for row in agreement_by_grade([[0, 0], [0, 1], [1, 1], [1, 1]])]
    [0.6666666666666666, 0.8]
    """

    grade: float
    n_ratings: int
    agreement: float
    by_chance: float


def agreement_by_grade(
    ratings: npt.ArrayLike, *, categories: Sequence[float] | None = None
) -> list[GradeAgreement]:
    """Compute the specific agreement on each grade: a judge can be good at 0 and useless at 3.

    ``sum_i n_ik (n_ik - 1) / (m_i - 1) / sum_i n_ik`` for grade k, with n_ik of the m_i raters of
    unit i.

    Parameters
    ----------
    ratings, categories
        As for `agreement`.

    References
    ----------
    Cicchetti and Feinstein (1990), High agreement but low kappa: II, Journal of Clinical
    Epidemiology 43.

    Examples
    --------
    >>> [
    ...     (row.grade, round(row.agreement, 3))
    ...     for row in agreement_by_grade([[0, 0, 0], [1, 1, 0], [1, 2, 2]])
    ... ]
    [(0.0, 0.75), (1.0, 0.333), (2.0, 0.5)]
    """
    rated = Ratings.of(ratings, categories)
    n_raters = rated.counts.sum(axis=1)
    counts = rated.counts[n_raters >= 2]
    pairs = (counts * (counts - 1) / (counts.sum(axis=1, keepdims=True) - 1)).sum(axis=0)
    totals = counts.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        specific = pairs / totals
    return [
        GradeAgreement(
            grade=float(grade),
            n_ratings=int(n),
            agreement=float(share),
            by_chance=float(n / totals.sum()),
        )
        for grade, n, share in zip(rated.categories, totals, specific, strict=True)
    ]


@dataclass(frozen=True, kw_only=True)
class RaterAgreement:
    """Agreement of one rater with the others.

    Attributes
    ----------
    rater : str
        Name.
    n_units : int
        Units that this rater and another rated.
    value : float
        Mean over the other raters of the statistic of the two; NaN without a common unit.
    bias : float
        Mean over common units of this rater's grade less the mean grade of the others: above 0 for
        a lenient rater.
    mean_grade : float
        Mean of all grades that this rater gave.

    Examples
    --------
    >>> [round(row.bias, 2) for row in agreement_by_rater([[0, 1], [1, 2], [1, 1]])]
    [-0.67, 0.67]
    """

    rater: str
    n_units: int
    value: float
    bias: float
    mean_grade: float


def agreement_by_rater(
    ratings: npt.ArrayLike,
    statistic: Statistic = "cohen_kappa",
    *,
    raters: Sequence[str] | None = None,
    level: Level | None = None,
    weights: Weights | None = None,
    categories: Sequence[float] | None = None,
) -> list[RaterAgreement]:
    """Compare each rater with each of the others.

    Parameters
    ----------
    ratings, statistic, level, weights, categories
        As for `agreement`.
    raters : sequence of str, optional
        Names; numbers from 0 by default.

    Returns
    -------
    list of RaterAgreement
        In the order of the raters. The one with the lowest value is the one to talk to; bias tells
        whether strictness is the reason.

    Examples
    --------
    >>> rows = agreement_by_rater(
    ...     [[0, 0, 1], [1, 1, 0], [2, 2, 2], [1, 1, 2]], "percent", raters=["ann", "ben", "cat"]
    ... )
    >>> [(row.rater, row.value) for row in rows]
    [('ann', 0.625), ('ben', 0.625), ('cat', 0.25)]
    """
    table = grade_array("ratings", ratings)
    rated = Ratings.of(table, categories)
    names = [str(number) for number in range(rated.n_raters)] if raters is None else list(raters)
    if len(names) != rated.n_raters:
        raise InputError(
            f"raters: found {len(names)} names, expected one for each of the {rated.n_raters} "
            f"raters"
        )

    grades = rated.categories.tolist()
    values = np.full((rated.n_raters, rated.n_raters), np.nan)
    for a, b in combinations(range(rated.n_raters), 2):
        has_both = ~np.isnan(table[:, a]) & ~np.isnan(table[:, b])
        if has_both.any():
            values[a, b] = agreement(
                table[has_both][:, [a, b]],
                statistic,
                level=level,
                weights=weights,
                categories=grades,
            )
            values[b, a] = values[a, b]

    rows = []
    for rater, name in enumerate(names):
        given = table[:, rater]
        by_others = np.delete(table, rater, axis=1)
        common = ~np.isnan(given) & ~np.isnan(by_others).all(axis=1)
        bias = math.nan
        if common.any():
            bias = float((given[common] - np.nanmean(by_others[common], axis=1)).mean())
        with_others = values[rater][~np.isnan(values[rater])]
        rows.append(
            RaterAgreement(
                rater=name,
                n_units=int(common.sum()),
                value=float(with_others.mean()) if with_others.size else math.nan,
                bias=bias,
                mean_grade=math.nan if np.isnan(given).all() else float(np.nanmean(given)),
            )
        )
    return rows


@dataclass(frozen=True)
class ClusterAgreement:
    """Agreement within one cluster, such as a query.

    Attributes
    ----------
    cluster : str
        Label.
    n_units : int
        Units that two raters rated.
    value : float
        The statistic; NaN without such a unit, or where undefined.

    Examples
    --------
    >>> agreement_by_cluster([[0, 0], [0, 1]], ["q1", "q2"])[1]
    ClusterAgreement(cluster='q2', n_units=1, value=0.0)
    """

    cluster: str
    n_units: int
    value: float


def agreement_by_cluster(
    ratings: npt.ArrayLike,
    clusters: Any,
    statistic: Statistic = "percent",
    *,
    level: Level | None = None,
    weights: Weights | None = None,
    categories: Sequence[float] | None = None,
) -> list[ClusterAgreement]:
    """Compute agreement within each cluster: which questions split the raters.

    Parameters
    ----------
    ratings, statistic, level, weights, categories
        As for `agreement`; percent agreement by default, since chance correction within a query of
        few documents says little.
    clusters : array of labels, shape (units,)
        Cluster of each unit.

    Returns
    -------
    list of ClusterAgreement
        In order of first appearance.

    Examples
    --------
    >>> [
    ...     row.value
    ...     for row in agreement_by_cluster(
    ...         [[0, 0], [1, 1], [0, 2], [1, 1]], ["q1", "q1", "q2", "q2"]
    ...     )
    ... ]
    [1.0, 0.5]
    """
    table = grade_array("ratings", ratings)
    rated = Ratings.of(table, categories)
    labels = np.asarray(clusters)
    codes = cluster_codes(clusters, rated.n_units)
    has_two = (~np.isnan(table)).sum(axis=1) >= 2
    grades = rated.categories.tolist()
    rows = []
    for code in dict.fromkeys(codes.tolist()):
        units = codes == code
        n_units = int((units & has_two).sum())
        value = math.nan
        if n_units:
            value = agreement(
                table[units], statistic, level=level, weights=weights, categories=grades
            )
        rows.append(ClusterAgreement(str(labels[units][0]), n_units, value))
    return rows


# --- a report -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Coefficient:
    """A statistic with its options.

    Attributes
    ----------
    statistic : str
        Its name, see `agreement`.
    level, weights : str or None
        Its options.

    Examples
    --------
    >>> (
    ...     str(Coefficient("krippendorff_alpha", level="ordinal")),
    ...     str(Coefficient("gwet_ac1", weights="quadratic")),
    ... )
    ('krippendorff_alpha_ordinal', 'gwet_ac2_quadratic')
    """

    statistic: Statistic
    level: Level | None = None
    weights: Weights | None = None

    @classmethod
    def of_text(cls, text: str) -> "Coefficient":
        """Read a coefficient as it is printed.

        Raises
        ------
        OptionError
            It is unknown.

        Examples
        --------
        >>> Coefficient.of_text("cohen_kappa_quadratic").weights
        'quadratic'
        """
        name = text.strip().lower().replace("-", "_").replace("gwet_ac2", "gwet_ac1")
        for statistic in STATISTICS:
            if not name.startswith(statistic):
                continue
            option = name.removeprefix(statistic).lstrip("_")
            # alpha has a level or weights, the others have weights
            if statistic == "krippendorff_alpha" and option in {"", *get_args(Level)}:
                return cls(statistic, level=cast(Level, option) if option else "ordinal")
            if option in {"", *get_args(Weights)}:
                return cls(statistic, weights=cast(Weights, option) if option else None)
        raise OptionError(
            f"statistic {shown(repr(text))}: expected one of {', '.join(STATISTICS)}, if wanted "
            "with a level, as in krippendorff_alpha_ordinal, or with weights, as in "
            "cohen_kappa_quadratic"
        )

    def __str__(self) -> str:
        name = "gwet_ac2" if self.statistic == "gwet_ac1" and self.weights else self.statistic
        return "_".join(part for part in (name, self.level, self.weights) if part)

    def of(
        self,
        ratings: FloatArray,
        clusters: Any = None,
        categories: Sequence[float] | None = None,
        confidence: float = 0.95,
    ) -> Agreement:
        """Compute the coefficient, with its interval."""
        return agreement(
            ratings,
            self.statistic,
            level=self.level,
            weights=self.weights,
            clusters=clusters,
            categories=categories,
            interval=True,
            confidence=confidence,
        )


DEFAULT_COEFFICIENTS = (
    Coefficient("percent"),
    Coefficient("cohen_kappa"),
    Coefficient("cohen_kappa", weights="quadratic"),
    Coefficient("krippendorff_alpha", level="ordinal"),
    Coefficient("gwet_ac1"),
)
"""Coefficients of reports: no single one answers for all, and where they differ, a rare grade is
the usual reason.
"""


@dataclass(frozen=True, kw_only=True)
class AgreementReport:
    """Agreement of raters on the documents of queries.

    Attributes
    ----------
    raters : tuple of str
        Names.
    n_pairs, n_shared : int
        Pairs of query and document, and pairs that two raters graded.
    coefficients : dict of str to Agreement
        Agreement by name of the coefficient.
    grades, by_rater, by_query : list
        See `agreement_by_grade`, `agreement_by_rater` and `agreement_by_cluster`.
    outside : dict of str to int
        Number of grades outside the scale that were clipped or dropped, by rater.
    clustered : bool
        Intervals leave out whole queries, or clusters of them.

    Examples
    --------
    >>> table = LabelTable.of(
    ...     {
    ...         "ann": {"q": {"a": 1, "b": 0}, "r": {"c": 1}},
    ...         "ben": {"q": {"a": 1, "b": 1}, "r": {"c": 1}},
    ...     }
    ... )
    >>> round(agreement_report(table).coefficients["percent"].value, 4)
    0.6667
    """

    raters: tuple[str, ...]
    n_pairs: int
    n_shared: int
    coefficients: dict[str, Agreement]
    grades: list[GradeAgreement]
    by_rater: list[RaterAgreement]
    by_query: list[ClusterAgreement]
    outside: dict[str, int]
    clustered: bool


def agreement_report(
    table: LabelTable,
    coefficients: Sequence[Coefficient] = DEFAULT_COEFFICIENTS,
    *,
    categories: Sequence[float] | None = None,
    clusters: Any = "query",
    confidence: float = 0.95,
) -> AgreementReport:
    """Compute agreement by several coefficients, and by grade, rater and query.

    Parameters
    ----------
    table : LabelTable
        Grades by rater.
    coefficients : sequence of Coefficient
        Coefficients of the report.
    categories : sequence of float, optional
        Grades of the scale; by default those that occur.
    clusters : "query", None, or array of labels, shape (pairs,)
        Pairs that belong together: pairs of one query, none, or pairs of one label.
    confidence : float
        Confidence level.

    Raises
    ------
    InputError
        No pair was graded by two raters, or all such pairs are of one query.

    Examples
    --------
    >>> table = LabelTable.of(
    ...     {"ann": {"q": {"a": 1}, "r": {"c": 0}}, "ben": {"q": {"a": 1}, "r": {"c": 1}}}
    ... )
    >>> [row.rater for row in agreement_report(table).by_rater]
    ['ann', 'ben']
    """
    if len(table.raters) == 1:  # a table has one or more
        raise InputError(
            f"judgments: found one rater, {table.raters[0]}, expected two: a file for each, or one "
            "whose second column names them"
        )
    cluster_of_pair = table.query_codes if isinstance(clusters, str) else clusters
    n_graded = (~np.isnan(table.grades)).sum(axis=1)
    is_clustered = cluster_of_pair is not None
    if is_clustered and np.unique(np.asarray(cluster_of_pair)[n_graded > 1]).size == 1:
        one_cluster = "query" if isinstance(clusters, str) else "cluster of queries"
        raise InputError(
            f"judgments: found one {one_cluster} with documents graded twice, expected at least "
            "two, since intervals compare them",
            hint=f"let two raters grade documents of another {one_cluster}",
        )
    by_name = {
        str(coefficient): coefficient.of(table.grades, cluster_of_pair, categories, confidence)
        for coefficient in coefficients
    }
    return AgreementReport(
        raters=table.raters,
        n_pairs=int((n_graded > 0).sum()),
        n_shared=int((n_graded > 1).sum()),
        coefficients=by_name,
        grades=agreement_by_grade(table.grades, categories=categories),
        by_rater=agreement_by_rater(table.grades, raters=table.raters, categories=categories),
        by_query=agreement_by_cluster(
            table.grades, np.array(table.queries, object), categories=categories
        ),
        outside=dict(table.outside),
        clustered=is_clustered,
    )
