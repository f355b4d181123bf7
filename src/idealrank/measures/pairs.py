"""Measures of two runs: how much of one list is in the other, whatever the judgments say.

They take `RunPairs`, not judgments, so `evaluate` refuses them; `idealrank.overlap` and ``idealrank
overlap RUN_A RUN_B`` compute them. What tied scores mean is decided where the runs are joined
(`ties=`), and each measure says what it does then.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.run_pairs import RunPairs, Side
from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.measure import Kind, Measure, PerQuery
from idealrank.measures.rules import checked

Order: TypeAlias = Literal["kept", "any"]


@dataclass(frozen=True, kw_only=True)
class PairMeasure(Measure):
    """Base of the measures of two runs; `of_pair` gives the values.

    Beside the facts of every `Measure` a class says whether it is ``symmetric``: whether exchanging
    the runs keeps the value.

    Examples
    --------
    >>> OverlapAtK(cutoff=10).kind, OverlapAtK.symmetric
    ('pair of runs', True)
    """

    kind: ClassVar[Kind] = "pair of runs"
    symmetric: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.judged_only:
            raise OptionError(
                f"{self.name}: found judged_only, but two runs are compared without judgments"
            )

    def compute(self, judged: Judged) -> PerQuery:
        """Refuse a single run."""
        raise OptionError(
            f"{self} compares two runs, found one",
            hint="use idealrank.overlap(run_a, run_b)",
            command_hint="use `idealrank overlap RUN_A RUN_B`",
        )

    def of_pair(self, pairs: RunPairs) -> PerQuery:
        """Values of the queries of both runs, and which of them are defined."""
        raise OptionError(
            f"{type(self).__name__} gives no values by itself; choose a measure from "
            f"idealrank.PAIR_MEASURES"
        )

    def measured_pair(self, pairs: RunPairs) -> PerQuery:
        """Values, refused where scores tie and the mean over their orders is asked of a measure
        that has none.

        Raises
        ------
        OptionError
            ``ties=expected``, tied scores, and no closed form.
        """
        if (
            self.ties == "not offered"
            and pairs.ties == "expected"
            and (pairs.a.tied.any() or pairs.b.tied.any())
        ):
            n = int(np.count_nonzero(pairs.a.tied | pairs.b.tied))
            raise OptionError(
                f"{self}: scores tie in {n} of {pairs.n_queries} queries, and the mean over their "
                "orders has no closed form for this measure; choose ties=shared, docid or input",
                switch="ties=shared",
            )
        return self.of_pair(pairs)


def defined_values(values: FloatArray, defined: BoolArray) -> PerQuery:
    """Values where they are defined; the rest do not count."""
    if defined.all():
        return PerQuery(values)
    return PerQuery(np.where(defined, values, np.nan), defined)


def top(side: Side, ties: str, limit: IntArray) -> IntArray:
    """Documents in the first ranks of each list, up to the limit: more than it where a shared rank
    goes beyond.
    """
    reached = np.minimum(limit, side.lengths)
    if ties != "shared" or side.group_last is None:
        return reached
    starts = np.cumsum(side.lengths) - side.lengths
    sizes: IntArray = side.group_last[starts + reached - 1].astype(np.int64)
    return sizes


def shared_documents(pairs: RunPairs, limit: IntArray) -> FloatArray:
    """(Expected) number of documents in the first ranks of both lists, shape (n_queries,)."""
    limit = limit[pairs.query]
    if pairs.ties == "expected":
        inside = _chance(pairs.a, limit) * _chance(pairs.b, limit)
    else:
        inside = ((pairs.a.first <= limit) & (pairs.b.first <= limit)).astype(np.float64)
    counts = np.bincount(pairs.query, weights=inside, minlength=pairs.n_queries)
    return counts.astype(np.float64, copy=False)


def _chance(side: Side, limit: IntArray) -> FloatArray:
    """Chance that a document stands within the limit when its tie group may stand in any order."""
    within = np.minimum(side.last, limit) - side.first + 1
    chance: FloatArray = np.clip(within / (side.last - side.first + 1), 0.0, 1.0)
    return chance


class OverlapAtK(PairMeasure):
    """Overlap: the share of the first k ranks that the two lists have in common, in any order.

    ``overlap@k = |A_k and B_k| / k``, in [0, 1], where A_k holds the first k documents of the first
    list. Without a cutoff k is the length of the longer list.

    Shorter lists: k is the denominator for them as well, as in the agreement at depth k of Webber
    et al., so [a, b] and [a, c] have overlap@100 = 0.01. Choose a cutoff that the lists reach, or
    none. A query that one run does not answer has no value (`Overlap.only_a`, `only_b`).

    Ties: documents that share a rank are in A_k if the rank is at most k; the sets may then be
    larger than k, and k becomes the mean of their sizes. Under ``ties=expected`` the value is the
    mean over all orders.

    Parameters
    ----------
    cutoff : int or str, optional
        k; for relative cutoffs, n is the length of the longer list.

    References
    ----------
    Fagin, Kumar and Sivakumar (2003), Comparing top k lists, SIAM J. Discrete Math. 17(1), section
    2; Webber, Moffat and Zobel (2010), ACM TOIS 28(4), section 3.2, call it the agreement at depth
    k.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.overlap({"q": ["a", "b", "c"]}, {"q": ["b", "a", "x"]}, "overlap@3").mean()["overlap@3"]
    0.6666666666666666
    """

    name: ClassVar[str] = "overlap"
    summary: ClassVar[str] = "share of the first k ranks that both lists have"
    use: ClassVar[str] = (
        "To see how much of what a user sees on one page has changed. Not for the order within "
        "that page, which it does not look at."
    )
    proof: ClassVar[str] = (
        "set operations of Python on every query of a real run, to the last bit; mean over all tie "
        "orders, 12 digits"
    )

    def of_pair(self, pairs: RunPairs) -> PerQuery:
        """Overlap of every query."""
        k = pairs.longer
        if self.cutoff is not None:
            k = np.broadcast_to(resolve_cutoff(self.cutoff, pairs.longer), pairs.longer.shape)
        depth = np.minimum(k, pairs.longer)
        size_a = np.maximum(top(pairs.a, pairs.ties, depth), k)
        size_b = np.maximum(top(pairs.b, pairs.ties, depth), k)
        return PerQuery(2 * shared_documents(pairs, depth) / (size_a + size_b))


class Jaccard(PairMeasure):
    """Jaccard index of the first k documents of the two lists: those in both, divided by those in
    either.

    ``Jaccard@k = |A_k and B_k| / |A_k or B_k|``, in [0, 1]. Ties as for `OverlapAtK`; it has no
    mean over tie orders.

    Parameters
    ----------
    cutoff : int or str, optional
        k, default the whole lists; for relative cutoffs, n is the length of the longer list.

    References
    ----------
    Jaccard (1912), The distribution of the flora in the alpine zone, New Phytologist 11(2).

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.overlap({"q": ["a", "b", "c"]}, {"q": ["b", "a", "x"]}, "Jaccard@3").mean()["Jaccard@3"]
    0.5
    """

    name: ClassVar[str] = "Jaccard"
    ties: ClassVar = "not offered"
    summary: ClassVar[str] = "documents of both lists divided by documents of either"
    use: ClassVar[str] = (
        "Where tools of search engines report it; overlap@k is easier to read, and one is a "
        "function of the other."
    )
    proof: ClassVar[str] = "set operations of Python on every query of a real run, to the last bit"

    def of_pair(self, pairs: RunPairs) -> PerQuery:
        """Jaccard index of every query."""
        depth = np.minimum(resolve_cutoff(self.cutoff, pairs.longer), pairs.longer)
        both = shared_documents(pairs, depth)
        either = top(pairs.a, pairs.ties, depth) + top(pairs.b, pairs.ties, depth) - both
        return PerQuery(both / either)


@dataclass(frozen=True, kw_only=True)
class SameTop(PairMeasure):
    """Same: 1 if the first k ranks of the two lists hold the same documents in the same order,
    otherwise 0; the mean is a share.

    ``Same@k = [A_k = B_k, and each document of it has one rank in both lists]``, where A_k holds
    the first k documents of the first list; with ``order=any`` only ``[A_k = B_k]``. If neither
    list has k documents, k is the length of the longer one.

    Ties: documents that share a rank are in A_k if the rank is at most k. It has no mean over tie
    orders.

    Parameters
    ----------
    order : {"kept", "any"}, optional
        Whether the order counts, default ``"kept"``.
    cutoff : int or str, optional
        k, default the whole lists; for relative cutoffs, n is the length of the longer list.

    References
    ----------
    Fagin, Kumar and Sivakumar (2003), Comparing top k lists, SIAM J. Discrete Math. 17(1), section
    2, for A_k.

    Examples
    --------
    >>> import idealrank as ir
    >>> a, b = {"p": ["a", "b"], "q": ["a", "b", "c"]}, {"p": ["a", "b"], "q": ["b", "a", "c"]}
    >>> ir.overlap(a, b, ["Same@2", "Same(order=any)@2"]).mean()
    {'Same@2': 0.5, 'Same(order=any)@2': 1.0}
    """

    order: Order | None = None

    name: ClassVar[str] = "Same"
    ties: ClassVar = "not offered"
    summary: ClassVar[str] = "whether the first k documents, and their order, are the same"
    use: ClassVar[str] = (
        "To see on how many queries anything has changed at all. Not for how much, which overlap@k "
        "and RBO say."
    )
    proof: ClassVar[str] = "sets and ranks in plain Python on random lists, to the last bit"
    samples: ClassVar = {"order": (None, "kept", "any")}

    def __post_init__(self) -> None:
        super().__post_init__()
        checked("order", self.order, Order)

    def of_pair(self, pairs: RunPairs) -> PerQuery:
        """1 or 0 of every query."""
        depth = np.minimum(resolve_cutoff(self.cutoff, pairs.longer), pairs.longer)
        limit = depth[pairs.query]
        inside = (pairs.a.first <= limit) & (pairs.b.first <= limit)
        if self.order != "any":
            inside &= pairs.a.first == pairs.b.first
        n_same = np.bincount(pairs.query, weights=inside, minlength=pairs.n_queries)
        whole_a = n_same == top(pairs.a, pairs.ties, depth)
        whole_b = n_same == top(pairs.b, pairs.ties, depth)
        return PerQuery((whole_a & whole_b).astype(np.float64))
