"""Kendall's tau-a, tau-b and tau-c, and Spearman's rho: of two columns of values, and of a run
against the grades.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.segments import number_within, sizes_of, starts_of
from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.measures.correlation import pair_counts
from idealrank.measures.measure import PerQuery
from idealrank.measures.order import OfGrades, order_of_judged
from idealrank.measures.rules import checked

TauVariant: TypeAlias = Literal["a", "b", "c"]


def tau(
    query: IntArray, first: AnyArray, second: AnyArray, n_queries: int, variant: TauVariant
) -> FloatArray:
    """Kendall's tau of two columns, in one of its three forms for ties."""
    counts = pair_counts(query, first, second, n_queries)
    untied_first = counts.total - counts.tied_first
    untied_second = counts.total - counts.tied_second
    norm = _norm(variant, counts.total, untied_first, untied_second)
    if variant == "c":
        n_first = _different(query, first, n_queries)
        n_values = np.minimum(n_first, _different(query, second, n_queries))
        norm = _norm_c(np.bincount(query, minlength=n_queries), n_values)
    return _quotient(counts.concordant - counts.discordant, norm)


def _norm(
    variant: TauVariant, total: IntArray, untied_first: IntArray, untied_second: IntArray
) -> FloatArray:
    """Return the denominator of tau-a and tau-b, from the pairs untied in each order."""
    if variant == "a":
        return total.astype(np.float64)
    norm: FloatArray = np.sqrt(untied_first.astype(np.float64) * untied_second)
    return norm


def _norm_c(sizes: IntArray, n_values: IntArray) -> FloatArray:
    """Return the denominator of tau-c: the maximum of C - D for so many distinct, equally frequent
    values.
    """
    norm: FloatArray = (
        sizes.astype(np.float64) ** 2 * (n_values - 1) / (2 * np.maximum(n_values, 1))
    )
    return norm


def _different(query: IntArray, values: AnyArray, n_queries: int) -> IntArray:
    """Count the distinct values of each query."""
    order = np.lexsort((values, query))
    query = query[order]
    values = values[order]
    return np.bincount(query[starts_of(query, values)], minlength=n_queries)


def _quotient(number: IntArray | FloatArray, norm: FloatArray) -> FloatArray:
    """Divide, within [-1, 1]; NaN where there is nothing to divide by."""
    values: FloatArray = np.divide(number, norm, out=np.full(norm.shape, np.nan), where=norm > 0)
    return np.clip(values, -1.0, 1.0)


def rho(query: IntArray, first: AnyArray, second: AnyArray, n_queries: int) -> FloatArray:
    """Spearman's rho of two columns: the correlation of their ranks, tied items at the mean of
    their ranks.
    """
    first_ranks = middle_ranks(query, first)
    second_ranks = middle_ranks(query, second)

    def total(products: IntArray) -> FloatArray:
        sums = np.bincount(query, weights=products, minlength=n_queries)
        return sums.astype(np.float64, copy=False)

    squares = total(first_ranks * first_ranks) * total(second_ranks * second_ranks)
    return _quotient(total(first_ranks * second_ranks), np.sqrt(squares))


def middle_ranks(query: IntArray, values: AnyArray) -> IntArray:
    """Twice the distance of each item's rank from the middle of its query, ties at the mean of
    their ranks: whole numbers.
    """
    order = np.lexsort((values, query))
    query = query[order]
    values = values[order]
    starts = starts_of(query, values)
    sizes = sizes_of(starts, query.size)
    # First and last rank of the tie, less the first and last of the query.
    twice = np.repeat(2 * number_within(query)[starts] + sizes - 1, sizes)
    n_items = sizes_of(starts_of(query), query.size)
    middle = np.empty(query.size, np.int64)
    middle[order] = twice - (np.repeat(n_items, n_items) + 1)
    return middle


@dataclass(frozen=True, kw_only=True)
class GradeTau(OfGrades):
    """Kendall's tau between the run's order and the grades, over judged documents returned; tau-b
    by default.

    ``tau_b = (right pairs - wrong pairs) / sqrt(pairs x pairs with different grades)``, in [-1, 1];
    tau-a divides by all pairs, and tau-c by ``n^2 (m - 1) / (2 m)`` for n documents with m distinct
    grades. Under ``ties=expected`` a pair with tied scores counts half right and half wrong, the
    mean over the orders of the ties; SciPy and `kendall` instead treat tied scores as ties of the
    second list. Unjudged documents are removed, documents not returned do not count.

    Parameters
    ----------
    variant : {"a", "b", "c"}, optional
        Denominator; default b. With many equal grades tau-b and tau-a cannot reach 1; tau-c nearly
        can.
    no_relevant : str, optional
        Value of a query where no two of these grades differ; default the convention's.

    References
    ----------
    Kendall (1945), The treatment of ties in ranking problems, Biometrika 33(3); Stuart (1953),
    Biometrika 40, for tau-c; SciPy, ``scipy.stats.kendalltau``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(
    ...     ir.evaluate(
    ...         {"q": {"a": 2, "b": 1, "c": 0}}, {"q": ["b", "a", "c"]}, [ir.GradeTau()]
    ...     ).mean()["GradeTau"],
    ...     4,
    ... )
    0.3333
    """

    variant: TauVariant | None = None

    name: ClassVar[str] = "GradeTau"
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    samples: ClassVar = {"variant": (None, "a", "b", "c")}
    summary: ClassVar[str] = (
        "Kendall's tau between the run's order and the grades, among judged documents returned"
    )
    use: ClassVar[str] = (
        "Choose it for how well a run sorts documents whose grades are all known, top and bottom "
        "alike. Not where many grades are equal (1 is out of reach there), nor for what a user "
        "sees of the top."
    )
    proof: ClassVar[str] = (
        "SciPy 1.17 (kendalltau, b and c) live, to 12 decimals; tied scores by the mean over all "
        "orders"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("variant", self.variant, TauVariant)

    def compute(self, judged: Judged) -> PerQuery:
        """Tau of every query."""
        hits, place = order_of_judged(judged)
        counts = pair_counts(hits.query, place, -hits.grade, judged.n_queries)
        untied = counts.total - counts.tied_second
        # Tied scores are not ties of the run's order here, but have the mean over its orders.
        norm = _norm(self.variant or "b", counts.total, counts.total, untied)
        if self.variant == "c":
            sizes = np.bincount(hits.query, minlength=judged.n_queries)
            norm = _norm_c(sizes, _different(hits.query, hits.grade, judged.n_queries))
        return self.filled_where(_quotient(counts.concordant - counts.discordant, norm), untied > 0)


class GradeRho(OfGrades):
    """Spearman's rho between the run's order and the grades, over judged documents returned.

    ``rho = correlation of the rank in the run with the rank by grade``, with mean ranks for equal
    grades; in [-1, 1], and ``1 - 6 sum of squared differences / (n^3 - n)`` if all grades differ.
    Under ``ties=expected`` it is the mean over the orders of tied scores; SciPy and `spearman`
    instead give tied scores equal ranks. Unjudged documents are removed, documents not returned do
    not count.

    Parameters
    ----------
    no_relevant : str, optional
        Value of a query where no two of these grades differ; default the convention's.

    References
    ----------
    Spearman (1904), The proof and measurement of association between two things, American Journal
    of Psychology 15; SciPy, ``scipy.stats.spearmanr``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate(
    ...     {"q": {"a": 2, "b": 1, "c": 0}}, {"q": ["b", "a", "c"]}, [ir.GradeRho()]
    ... ).mean()["GradeRho"]
    0.5
    """

    name: ClassVar[str] = "GradeRho"
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    summary: ClassVar[str] = (
        "Spearman's rho between the run's order and the grades, among judged documents returned"
    )
    use: ClassVar[str] = (
        "Choose it like tau-b where one document far out of place is worse than several slightly "
        "out of place. Not where many grades are equal (1 is out of reach there), nor for what a "
        "user sees of the top."
    )
    proof: ClassVar[str] = (
        "SciPy 1.17 (spearmanr) live, to 12 decimals; tied scores by the mean over all orders"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Rho of every query."""
        hits, place = order_of_judged(judged)
        by_run = middle_ranks(hits.query, place)
        by_grade = middle_ranks(hits.query, -hits.grade)
        products = judged.sum_by_query(hits.query, (by_run * by_grade).astype(np.float64))
        squares = judged.sum_by_query(hits.query, (by_grade * by_grade).astype(np.float64))
        n = np.bincount(hits.query, minlength=judged.n_queries).astype(np.float64)
        # In each order of the tied scores the run has the ranks 1 to n, whose `middle_ranks` have
        # squares that sum to (n^3 - n) / 3.
        norm = np.sqrt((n**3 - n) / 3 * squares)
        return self.filled_where(_quotient(products, norm), squares > 0)
