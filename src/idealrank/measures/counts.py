"""Counts: how many queries, returned, relevant, and relevant returned documents. Summed over
queries, as trec_eval prints them.
"""

from typing import ClassVar

import numpy as np

from idealrank.data.judged import Judged
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.measure import Measure, PerQuery, Response
from idealrank.measures.threshold import BinaryMeasure, nonrelevant_hits


class NumQ(Measure):
    """Number of queries that count.

    ``NumQ = 1 for every query``, summed over them; in [1, 1] per query.

    References
    ----------
    trec_eval, measure ``num_q``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q1": {"a": 1}, "q2": {"a": 1}}, {"q1": ["a"]}, [ir.NumQ()]).mean()["NumQ"]
    2.0
    """

    name: ClassVar[str] = "NumQ"
    looks_at_grades: ClassVar[bool] = False
    cuts: ClassVar = "none"
    aggregate: ClassVar = "sum"
    direction: ClassVar[int] = 0
    bounds: ClassVar[tuple[float, float]] = (1.0, 1.0)
    ties: ClassVar = "not affected"
    summary: ClassVar[str] = "number of queries"
    use: ClassVar[str] = (
        "Print it beside every mean, which says nothing without it. It says nothing about the "
        "ranking."
    )
    proof: ClassVar[str] = (
        "trec_eval 10 and 9, every printed digit, on real runs; pytrec_eval-terrier 0.5.11 live, "
        "exactly"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """1 for every query."""
        return PerQuery(np.ones(judged.n_queries))

    def depth(self, *, lists: bool = False) -> int:
        """1: hits are not needed."""
        return 1

    @property
    def trec_name(self) -> str:
        """``num_q``."""
        return "num_q"


class NumRet(Measure):
    """Number of documents returned (within the cutoff), after the policies for duplicates and
    removed documents.

    ``NumRet@k = min(k, length of the list)``, in [0, inf).

    Parameters
    ----------
    cutoff : int or str, optional
        Cutoff, default all ranks.

    References
    ----------
    trec_eval, measure ``num_ret``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1}}, {"q": ["a", "b"]}, [ir.NumRet()]).mean()["NumRet"]
    2.0
    """

    name: ClassVar[str] = "NumRet"
    looks_at_grades: ClassVar[bool] = False
    aggregate: ClassVar = "sum"
    direction: ClassVar[int] = 0
    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)
    ties: ClassVar = "not affected"
    summary: ClassVar[str] = "number of documents returned"
    use: ClassVar[str] = (
        "Print it to see lists that are shorter than asked for. It says nothing about the ranking."
    )
    proof: ClassVar[str] = (
        "trec_eval 10 and 9, every printed digit, on real runs; pytrec_eval-terrier 0.5.11 live, "
        "exactly"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """List length of every query."""
        n_returned = np.minimum(judged.lengths, resolve_cutoff(self.cutoff, judged.lengths))
        return PerQuery(n_returned.astype(np.float64))

    def depth(self, *, lists: bool = False) -> int:
        """1: hits are not needed."""
        return 1

    @property
    def trec_name(self) -> str:
        """``num_ret``."""
        return "num_ret" if self.cutoff is None else str(self)


class NumRel(BinaryMeasure):
    """Number of relevant documents among the judged documents.

    ``NumRel = |judged documents with a grade of at least rel|``, in [0, inf).

    Parameters
    ----------
    rel : float, optional
        Lowest grade of a relevant document, default 1.

    References
    ----------
    trec_eval, measure ``num_rel``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 2, "c": 0}}, {"q": ["a"]}, [ir.NumRel()]).mean()["NumRel"]
    2.0
    """

    name: ClassVar[str] = "NumRel"
    cuts: ClassVar = "none"
    aggregate: ClassVar = "sum"
    direction: ClassVar[int] = 0
    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)
    ties: ClassVar = "not affected"
    summary: ClassVar[str] = "number of relevant documents"
    use: ClassVar[str] = "Print it to see how much there was to find. It says nothing about a run."
    proof: ClassVar[str] = (
        "trec_eval 10 and 9, every printed digit, on real runs; pytrec_eval-terrier 0.5.11 live, "
        "exactly"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Relevant documents of every query."""
        return PerQuery(judged.relevant(self.threshold).total.astype(np.float64))

    def depth(self, *, lists: bool = False) -> int:
        """1: hits of a run are not needed; all items of `lists`, among which the relevant ones are
        counted.
        """
        return 0 if lists else 1

    @property
    def trec_name(self) -> str:
        """``num_rel``."""
        return self.trec_binary("num_rel", "num_rel")


class NumRelRet(BinaryMeasure):
    """Number of relevant documents returned (within the cutoff).

    ``NumRelRet@k = |relevant in the top k|``, in [0, inf).

    Parameters
    ----------
    cutoff : int or str, optional
        Cutoff, default all ranks.
    rel : float, optional
        Lowest grade of a relevant document, default 1.

    References
    ----------
    trec_eval, measure ``num_rel_ret``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 2}}, {"q": ["a", "c"]}, [ir.NumRelRet()]).mean()[
    ...     "NumRelRet"
    ... ]
    1.0
    """

    name: ClassVar[str] = "NumRelRet"
    response: ClassVar[Response] = "rising"
    aggregate: ClassVar = "sum"
    direction: ClassVar[int] = 1
    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)
    summary: ClassVar[str] = "number of relevant documents returned"
    use: ClassVar[str] = (
        "Print it to see how much was found in all. To compare runs use R, in which each query "
        "counts the same."
    )
    proof: ClassVar[str] = (
        "trec_eval 10 and 9, every printed digit, on real runs; pytrec_eval-terrier 0.5.11 live, "
        "exactly"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Relevant documents returned for every query."""
        return PerQuery(self.found(judged))

    @property
    def trec_name(self) -> str:
        """``num_rel_ret``."""
        return "num_rel_ret" if self.cutoff is None and self.rel in (None, 1) else str(self)


class NumNonrelJudgedRet(BinaryMeasure):
    """Number of returned documents that were judged and found not relevant; those pooled but not
    judged (grade below 0) do not count.

    ``NumNonrelJudgedRet = |returned documents judged with a grade below rel|``, in [0, inf).

    Parameters
    ----------
    rel : float, optional
        Lowest grade of a relevant document, default 1.

    References
    ----------
    trec_eval, measure ``num_nonrel_judged_ret``.

    Examples
    --------
    >>> import idealrank as ir
    >>> measure = ir.NumNonrelJudgedRet()
    >>> ir.evaluate(
    ...     {"q": {"a": 1, "b": 0, "c": -1}}, {"q": ["a", "b", "c", "d"]}, [measure]
    ... ).mean()["NumNonrelJudgedRet"]
    1.0
    """

    name: ClassVar[str] = "NumNonrelJudgedRet"
    cuts: ClassVar = "none"
    aggregate: ClassVar = "sum"
    direction: ClassVar[int] = 0
    bounds: ClassVar[tuple[float, float]] = (0.0, np.inf)
    ties: ClassVar = "not affected"
    summary: ClassVar[str] = "number of returned documents judged not relevant"
    use: ClassVar[str] = (
        "Print it beside NumRet to see how much of a list is judged. It says nothing about the "
        "order."
    )
    proof: ClassVar[str] = (
        "trec_eval 10 and 9, every printed digit, on real runs; pytrec_eval-terrier 0.5.11 live, "
        "exactly"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Returned documents of every query that were judged not relevant."""
        rejected = judged.hits.query[nonrelevant_hits(judged, self.threshold)]
        return PerQuery(np.bincount(rejected, minlength=judged.n_queries).astype(np.float64))

    @property
    def trec_name(self) -> str:
        """``num_nonrel_judged_ret``."""
        return self.trec_binary("num_nonrel_judged_ret", "num_nonrel_judged_ret")
