"""Rank correlations of two lists over the documents that both have: Kendall's tau, AP correlation,
weighted tau.

Undefined, and left out of the mean, where fewer than two common documents can be put in order.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from idealrank.data.run_pairs import RunPairs
from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.correlation import (
    pair_counts,
    tau_ap,
    tau_ap_direction,
    tau_b,
    weighted_tau,
)
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.measure import PerQuery
from idealrank.measures.pairs import PairMeasure, defined_values
from idealrank.measures.rules import checked

Reference: TypeAlias = Literal["a", "b", "both"]

_COMMON_ONLY = (
    "Common documents only: two lists that share little can correlate perfectly, so look at "
    "overlap@k beside it."
)


# Common documents that are sorted and counted at a time: so many stay in the cache, which halves
# the time.
_BLOCK = 1 << 16


@dataclass(frozen=True, kw_only=True, eq=False)
class Common:
    """The common documents of some queries: query code, and rank in either list, shape (n,) each;
    how many queries; the tie policy.
    """

    query: IntArray
    first_a: IntArray
    first_b: IntArray
    n_queries: int
    ties: str


@dataclass(frozen=True, kw_only=True)
class _Correlation(PairMeasure):
    """Shared base of the correlations: common documents within the cutoff, and their order in both
    lists.
    """

    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    def of_pair(self, pairs: RunPairs) -> PerQuery:
        """The correlation of every query."""
        query, first_a, first_b = self.common(pairs)
        ends = np.concatenate(([0], np.cumsum(np.bincount(query, minlength=pairs.n_queries))))
        values = np.empty(pairs.n_queries)
        begin = 0
        while begin < pairs.n_queries:
            end = max(begin + 1, int(np.searchsorted(ends, ends[begin] + _BLOCK, side="right")) - 1)
            rows = slice(int(ends[begin]), int(ends[end]))
            documents = Common(
                query=query[rows] - begin,
                first_a=first_a[rows],
                first_b=first_b[rows],
                n_queries=end - begin,
                ties=pairs.ties,
            )
            values[begin:end] = self.correlations(documents)
            begin = end
        return defined_values(values, ~np.isnan(values))

    def correlations(self, documents: "Common") -> FloatArray:
        """Values of the documents' queries; NaN if undefined."""
        raise OptionError(
            f"{type(self).__name__} gives no values by itself; choose a measure from "
            f"idealrank.PAIR_MEASURES"
        )

    def common(self, pairs: RunPairs) -> tuple[IntArray, IntArray, IntArray]:
        """Query, and first rank in each list, of the documents that both lists have within the
        cutoff.
        """
        a, b = pairs.a, pairs.b
        if self.cutoff is None:
            return pairs.query, a.first, b.first
        limit = resolve_cutoff(self.cutoff, pairs.longer)[pairs.query]
        within = (a.first <= limit) & (b.first <= limit)
        straddling = within & ((a.last > limit) | (b.last > limit))
        if pairs.ties == "expected" and straddling.any():
            n = np.unique(pairs.query[straddling]).size
            raise OptionError(
                f"{self}: tied documents straddle the cutoff in {n} of {pairs.n_queries} queries, "
                "and the mean over their orders has no closed form then; choose ties=shared, docid "
                "or input, or leave the cutoff out",
                switch="ties=shared",
            )
        return pairs.query[within], a.first[within], b.first[within]


class KendallTau(_Correlation):
    """Kendall's tau: the share of pairs of common documents in the same order in both lists, minus
    the share in opposite orders.

    ``tau = (C - D) / sqrt((n0 - ties in A) (n0 - ties in B))`` with n0 = n (n - 1) / 2 pairs, in
    [-1, 1]: tau-b if tied documents share a rank, and (C - D) / n0 if ties have an order. Under
    ``ties=expected`` it is the mean over all orders, which is (C - D) / n0 with ties counted in
    neither (tau-a).

    Parameters
    ----------
    cutoff : int or str, optional
        Only documents in the first k ranks of both lists.

    References
    ----------
    Kendall (1945), The treatment of ties in ranking problems, Biometrika 33(3).

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.overlap({"q": ["a", "b", "c", "d"]}, {"q": ["b", "a", "c", "x"]}, "tau").mean()["tau"]
    0.3333333333333333
    """

    name: ClassVar[str] = "tau"
    summary: ClassVar[str] = "Kendall's rank correlation of the common documents"
    use: ClassVar[str] = (
        f"For two orders of the same documents, or of systems, all ranks alike. {_COMMON_ONLY}"
    )
    proof: ClassVar[str] = "SciPy kendalltau live, 12 digits; ircor's cases, 4 digits"

    def correlations(self, documents: Common) -> FloatArray:
        """Kendall's tau of every query."""
        counts = pair_counts(
            documents.query, documents.first_a, documents.first_b, documents.n_queries
        )
        if documents.ties != "expected":
            return tau_b(counts)
        net = (counts.concordant - counts.discordant).astype(np.float64)
        values: FloatArray = np.divide(
            net, counts.total, out=np.full(net.size, np.nan), where=counts.total > 0
        )
        return values


@dataclass(frozen=True, kw_only=True)
class TauAP(_Correlation):
    """AP correlation: for each document of one list, the share of the documents above it that the
    reference also ranks above it; averaged.

    ``tauAP = 2 / (n - 1) sum_{i=2}^{n} C(i) / (i - 1) - 1`` over the common documents in the order
    of the judged list, where C(i) of those above rank i are above it in the reference as well; in
    [-1, 1]. Similar to tau, but a swap at the top costs more. Not symmetric: the reference is the
    first run by default.

    Ties: documents that share a rank are compared with those strictly above them, and those at the
    first rank with none (tauAP_b). Under ``ties=expected`` it is the mean over all orders
    (tauAP_a).

    Parameters
    ----------
    reference : {"a", "b", "both"}, optional
        Reference: the first run (default), the second, or each in turn, which gives the symmetric
        mean of both values.
    cutoff : int or str, optional
        Only documents in the first k ranks of both lists.

    References
    ----------
    Yilmaz, Aslam and Robertson (2008), A new rank correlation coefficient for information
    retrieval, SIGIR; Urbano and Marrero (2017), The treatment of ties in AP correlation, ICTIR.

    Examples
    --------
    >>> import idealrank as ir
    >>> runs = {"q": ["a", "b", "c", "d"]}, {"q": ["b", "a", "c", "d"]}
    >>> ir.overlap(*runs, ["tauAP", "tau"]).mean()
    {'tauAP': 0.33333333333333326, 'tau': 0.6666666666666666}
    """

    reference: Reference | None = None

    name: ClassVar[str] = "tauAP"
    symmetric: ClassVar[bool] = False
    summary: ClassVar[str] = "rank correlation of the common documents in which the top counts more"
    use: ClassVar[str] = (
        f"For orders of which the top matters, as of systems on a leader board. {_COMMON_ONLY}"
    )
    proof: ClassVar[str] = (
        "ircor's cases with and without ties, 4 digits; the definition in plain Python, 12 digits"
    )
    samples: ClassVar = {"reference": (None, "a", "b", "both")}

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("reference", self.reference, Reference)

    def correlations(self, documents: Common) -> FloatArray:
        """AP correlation of every query."""
        # A list without ties has the same value both ways.
        correlate = tau_ap if documents.ties == "expected" else tau_ap_direction
        values = []
        if self.reference != "b":
            values.append(
                correlate(
                    documents.query, documents.first_b, documents.first_a, documents.n_queries
                )
            )
        if self.reference in ("b", "both"):
            values.append(
                correlate(
                    documents.query, documents.first_a, documents.first_b, documents.n_queries
                )
            )
        mean: FloatArray = sum(values[1:], values[0]) / len(values)
        return mean


class WeightedTau(_Correlation):
    """Weighted tau: Kendall's tau in which the weight of a pair is the sum of 1 / rank of its
    documents.

    ``wtau = sum over pairs of (w_i + w_j) sign_A sign_B / sqrt(the same with sign_A^2 times the
    same with sign_B^2)``, w = 1 / rank among the common documents, in [-1, 1]: the mean of the
    value with the ranks of the first list and with the ranks of the second. Documents that share a
    rank have sign 0, and for w take the order of the other list. It has no mean over tie orders.

    Parameters
    ----------
    cutoff : int or str, optional
        Only documents in the first k ranks of both lists.

    References
    ----------
    Vigna (2015), A weighted correlation index for rankings with ties, WWW; SciPy's ``weightedtau``.

    Examples
    --------
    >>> import idealrank as ir
    >>> round(ir.overlap({"q": ["a", "b", "c"]}, {"q": ["b", "a", "c"]}, "wtau").mean()["wtau"], 6)
    0.181818
    """

    name: ClassVar[str] = "wtau"
    ties: ClassVar = "not offered"
    summary: ClassVar[str] = "Kendall's tau with pairs weighed by 1/rank"
    use: ClassVar[str] = (
        f"Where the top matters and ties carry meaning, or SciPy's weightedtau is wanted. "
        f"{_COMMON_ONLY}"
    )
    proof: ClassVar[str] = "SciPy weightedtau live, 12 digits"

    def correlations(self, documents: Common) -> FloatArray:
        """Weighted tau of every query."""
        return weighted_tau(
            documents.query, documents.first_a, documents.first_b, documents.n_queries
        )
