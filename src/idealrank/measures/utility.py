"""Linear utility of a returned set: so much for each kind of document, in the list or left out of
it.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from idealrank.data.judged import Judged
from idealrank.measures.measure import PerQuery, number_option
from idealrank.measures.measure_texts import number_text
from idealrank.measures.threshold import BinaryMeasure, n_nonrelevant, nonrelevant_hits


@dataclass(frozen=True, kw_only=True)
class Utility(BinaryMeasure):
    """Linear utility: the total worth of returned and missed documents, by default relevant minus
    other returned documents.

    ``Utility = a |relevant returned| + b |others returned| + c |relevant not returned| + d |judged
    nonrelevant not returned|``, in (-inf, inf). Returned documents without a judgment count as
    others. With the size of the collection, the fourth number is ``collection - |returned| -
    |relevant not returned|``.

    Parameters
    ----------
    a, b, c, d : float, optional
        Worth of a document of each kind, default 1, -1, 0 and 0.
    collection : float, optional
        Number of documents in the collection: documents neither judged nor returned then count
        under `d` as well.
    rel : float, optional
        Lowest grade of a relevant document, default 1.

    References
    ----------
    trec_eval, measure ``utility`` with its four coefficients (``-m utility.2,-1,0,0``); Hull
    (1997), The TREC-6 filtering track: description and analysis. The fourth coefficient of
    trec_eval counts in a collection of the size given with ``-N``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate(
    ...     {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "y"]}, [ir.Utility(a=3, c=-2)]
    ... ).mean()["Utility(a=3,c=-2)"]
    -1.0
    """

    a: float | None = None
    b: float | None = None
    c: float | None = None
    d: float | None = None
    collection: float | None = None

    name: ClassVar[str] = "Utility"
    cuts: ClassVar = "none"
    bounds: ClassVar[tuple[float, float]] = (-np.inf, np.inf)
    direction: ClassVar[int] = 1
    ties: ClassVar = "not affected"
    samples: ClassVar[dict[str, tuple[Any, ...]]] = {
        "a": (None, 2, "0.5"),
        "b": (None, -0.25, 0),
        "c": (None, -1),
        "d": (None, 0.5),
        "collection": (None, 0, 1000),
    }
    summary: ClassVar[str] = "linear utility of the returned set"
    use: ClassVar[str] = (
        "Choose it for filtering, where the system decides how much to return and each wrong "
        "document costs the reader something. Not for ranked lists of a fixed length: it does not "
        "see the order."
    )
    proof: ClassVar[str] = (
        "trec_eval 10 and 9, every printed digit, on real runs, with its own and with other "
        "coefficients; pytrec_eval-terrier 0.5.11 live, exactly"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in "abcd":
            if getattr(self, name) is not None:
                object.__setattr__(self, name, number_option(name, getattr(self, name)))
        if self.collection is not None:
            object.__setattr__(self, "collection", number_option("collection", self.collection, 0))

    @property
    def coefficients(self) -> tuple[float, float, float, float]:
        """Worth of the four kinds, with the defaults."""
        return (
            1.0 if self.a is None else self.a,
            -1.0 if self.b is None else self.b,
            0.0 if self.c is None else self.c,
            0.0 if self.d is None else self.d,
        )

    def compute(self, judged: Judged) -> PerQuery:
        """Utility of every query."""
        relevant = judged.relevant(self.threshold)
        returned = np.bincount(relevant.hits.query, minlength=judged.n_queries)
        missed = relevant.total - returned
        if self.collection is None:
            rejected_hits = judged.hits.query[nonrelevant_hits(judged, self.threshold)]
            rejected = np.bincount(rejected_hits, minlength=judged.n_queries)
            others_missed = n_nonrelevant(judged, self.threshold) - rejected
        else:
            others_missed = self.collection - judged.lengths - missed
        a, b, c, d = self.coefficients
        values = np.zeros(judged.n_queries)  # a sum that begins with 0 is never -0
        values += a * returned
        values += b * (judged.lengths - returned)
        values += c * missed
        values += d * others_missed
        return PerQuery(values)

    @property
    def trec_name(self) -> str:
        """``utility``, or ``utility_2,-1,0,0`` with other coefficients."""
        if self.rel not in (None, 1) or self.collection is not None:
            return str(self)
        if all(value is None for value in (self.a, self.b, self.c, self.d)):
            return "utility"
        return "utility_" + ",".join(map(number_text, self.coefficients))
