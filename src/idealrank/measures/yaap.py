"""Average precision on a scale without ends."""

from typing import ClassVar

import numpy as np

from idealrank.data.judged import Judged
from idealrank.measures.binary import AP
from idealrank.measures.measure import PerQuery, Response
from idealrank.measures.threshold import NeedsRelevant


class YAAP(NeedsRelevant):
    """Yet another average precision: AP as smoothed log odds, so that differences between queries
    near 0 and near 1 are visible.

    ``yaap = ln((1 + S) / (1 + R - S))``, in (-inf, inf), with R relevant documents and S = R AP,
    the sum of the precisions at the returned ones.

    Parameters
    ----------
    cutoff : int or str, optional
        Cutoff, default all ranks.
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.

    References
    ----------
    Robertson (2006), On GMAP: and other transformations, CIKM, for the idea; trec_eval, measure
    ``yaap``, for the smoothing.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}, [ir.YAAP()]).mean()["YAAP"]
    0.6931471805599452
    """

    name: ClassVar[str] = "YAAP"
    response: ClassVar[Response] = "upward"
    bounds: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    ties: ClassVar = "not offered"
    summary: ClassVar[str] = "log odds of average precision"
    use: ClassVar[str] = (
        "Choose it beside AP where the mean over queries should feel a hard query that gets better "
        "as much as an easy one. Not for reading as a share: its values have no ends, and depend "
        "on the number of relevant documents."
    )
    proof: ClassVar[str] = (
        "the formula of trec_eval's help text, over AP as proven; no output of trec_eval at hand "
        "prints it"
    )

    def compute(self, judged: Judged) -> PerQuery:
        """Log odds of average precision of every query."""
        total = judged.relevant(self.threshold).total
        precision_sum = AP(cutoff=self.cutoff, rel=self.rel).compute(judged).values * total
        return self.filled(
            np.log((1.0 + precision_sum) / (1.0 + np.maximum(total - precision_sum, 0.0))), total
        )

    @property
    def trec_name(self) -> str:
        """``yaap``."""
        return str(self) if self.cutoff is not None else self.trec_binary("yaap", "yaap")
