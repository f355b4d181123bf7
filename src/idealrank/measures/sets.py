"""Measures of the returned documents as a set, whatever their order: precision, F and the product
of precision and recall.

A document is relevant when its grade reaches the threshold `rel`. The recall of the set is `R`
without a cutoff.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray, IntArray
from idealrank.measures.measure import PerQuery, Response, truth_option
from idealrank.measures.threshold import BalancedMeasure, NeedsRelevant

_PROVEN = (
    "trec_eval 10 and 9 to their 4 printed decimals on real runs; pytrec_eval-terrier 0.5.11 and "
    "ir_measures 0.4.3 live, to 12 decimals"
)


@dataclass(frozen=True, kw_only=True)
class SetP(NeedsRelevant):
    """Set precision: the share of the returned documents that are relevant; optionally divided by
    the highest possible share.

    ``SetP = |relevant returned| / |returned|``, relative ``|relevant returned| / min(|returned|,
    |relevant|)``; 0 for an empty list. In [0, 1].

    Parameters
    ----------
    relative : bool, optional
        Divide by the highest share that a list of this length could have.
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of the relative form for a query without relevant documents; default the convention's.
        Plain precision is 0 there.

    References
    ----------
    trec_eval, measures ``set_P`` and ``set_relative_P``; ir_measures, ``SetP`` and ``SetRelP``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1}}, {"q": ["a", "b"]}, [ir.SetP(), ir.SetP(relative=True)]).mean()
    {'SetP': 0.5, 'SetP(relative=True)': 1.0}
    """

    relative: bool | None = None

    name: ClassVar[str] = "SetP"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "none"
    ties: ClassVar = "not affected"
    samples: ClassVar[Mapping[str, tuple[Any, ...]]] = {"relative": (None, True)}
    summary: ClassVar[str] = "share of the returned documents that are relevant"
    use: ClassVar[str] = (
        "Choose it when the system decides itself how much it returns: Boolean search, filters, "
        "documents handed to a prompt. Not for ranked lists cut at a fixed depth, where it says "
        "more about that depth than about the ranking."
    )
    proof: ClassVar[str] = _PROVEN

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "relative", truth_option("relative", self.relative))

    def compute(self, judged: Judged) -> PerQuery:
        """Set precision of every query."""
        n_returned_relevant, n_relevant = _returned_and_relevant(self, judged)
        if self.relative:
            most_possible = np.minimum(judged.lengths, n_relevant)
            return self.filled(n_returned_relevant / np.maximum(most_possible, 1), n_relevant)
        return PerQuery(n_returned_relevant / np.maximum(judged.lengths, 1))

    @property
    def trec_name(self) -> str:
        """``set_P`` or ``set_relative_P``."""
        return self.trec_binary("set_relative_P" if self.relative else "set_P", "set_P")


class SetF(BalancedMeasure):
    """Set F: the weighted harmonic mean of the precision P and the recall R of the returned
    documents.

    ``SetF = (1 + beta) P R / (beta P + R) = (1 + beta) |relevant returned| / (|returned| + beta
    |relevant|)``, in [0, 1]. The weight is trec_eval's: van Rijsbergen's beta b is ``beta = b^2``
    here; both are F1 at 1.

    Parameters
    ----------
    beta : float, optional
        Weight of recall relative to precision, 0 or above; default 1.
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.

    References
    ----------
    van Rijsbergen (1979), Information Retrieval, chapter 7; trec_eval, measure ``set_F``;
    ir_measures, ``SetF``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1}}, {"q": ["a", "b", "c"]}, [ir.SetF()]).mean()["SetF"]
    0.5
    """

    name: ClassVar[str] = "SetF"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "none"
    ties: ClassVar = "not affected"
    summary: ClassVar[str] = "harmonic mean of precision and recall of the returned documents"
    use: ClassVar[str] = (
        "Choose it when the system decides itself how much it returns and both noise and misses "
        "hurt. Not for ranked lists: their order is not looked at."
    )
    proof: ClassVar[str] = _PROVEN

    def compute(self, judged: Judged) -> PerQuery:
        """F of every query."""
        n_returned_relevant, n_relevant = _returned_and_relevant(self, judged)
        beta = self._recall_weight
        # Nothing returned is F 0, whatever the weight of recall.
        whole = np.where(judged.lengths > 0, judged.lengths + beta * n_relevant, 1.0)
        return self.filled((1.0 + beta) * n_returned_relevant / whole, n_relevant)

    @property
    def trec_name(self) -> str:
        """``set_F``, or ``set_F_0.5`` with another weight."""
        return self.trec_binary("set_F" if self.beta is None else f"set_F_{self.beta:g}", "set_F")


class SetAP(NeedsRelevant):
    """Set average precision: precision times recall of the returned documents.

    ``SetAP = |relevant returned|^2 / (|returned| |relevant|)``, 0 for an empty list; in [0, 1].
    Approximately the average precision of the list in random order.

    Parameters
    ----------
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.

    References
    ----------
    trec_eval, measure ``set_map``; ir_measures, ``SetAP``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "d": 1}}, {"q": ["a", "b"]}, [ir.SetAP()]).mean()["SetAP"]
    0.25
    """

    name: ClassVar[str] = "SetAP"
    response: ClassVar[Response] = "upward"
    cuts: ClassVar = "none"
    ties: ClassVar = "not affected"
    summary: ClassVar[str] = "precision times recall of the returned documents"
    use: ClassVar[str] = (
        "Choose it to compare an unordered set with ranked lists on the scale of AP. Not for "
        "ranked lists themselves, which have AP."
    )
    proof: ClassVar[str] = _PROVEN

    def compute(self, judged: Judged) -> PerQuery:
        """Precision times recall of every query."""
        n_returned_relevant, n_relevant = _returned_and_relevant(self, judged)
        most = np.maximum(judged.lengths * n_relevant, 1)
        return self.filled(n_returned_relevant * n_returned_relevant / most, n_relevant)

    @property
    def trec_name(self) -> str:
        """``set_map``."""
        return self.trec_binary("set_map", "set_map")


def _returned_and_relevant(measure: NeedsRelevant, judged: Judged) -> tuple[FloatArray, IntArray]:
    """Relevant documents returned, and relevant documents, of each query."""
    relevant = judged.relevant(measure.threshold)
    returned = np.bincount(relevant.hits.query, minlength=judged.n_queries)
    return returned.astype(np.float64), relevant.total
