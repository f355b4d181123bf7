"""Base of binary measures: a document is relevant if its grade reaches the threshold `rel`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.types import FloatArray, IntArray
from idealrank.measures.measure import Measure, OftenUndefined, PerQuery, fill_undefined, number_option
from idealrank.measures.ranks import chance_within


@dataclass(frozen=True, kw_only=True)
class BinaryMeasure(Measure):
    """A measure with a threshold `rel`: a document is relevant when its grade reaches it.

    Parameters
    ----------
    rel : float, optional
        Lowest grade of a relevant document, default 1.
    """

    rel: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rel is not None:
            object.__setattr__(self, "rel", number_option("rel", self.rel))

    @property
    def threshold(self) -> float:
        """Least grade of a relevant document."""
        return 1.0 if self.rel is None else float(self.rel)

    def found(self, judged: Judged) -> FloatArray:
        """(Expected) number of relevant documents within the cutoff."""
        hits = judged.relevant(self.threshold).hits
        return judged.sum_by_query(hits.query, chance_within(judged, hits, np.ones(hits.query.size), self.cutoff))

    def worth(self, grades: FloatArray) -> FloatArray | None:
        """1 for a grade that reaches the threshold, else 0."""
        return (grades >= self.threshold).astype(np.float64)

    def trec_binary(self, plain: str, cut: str) -> str:
        """trec_eval's name without or with a cutoff, or the text where an option is set that trec_eval lacks."""
        return self._trec(plain, cut, options=self.rel not in (None, 1))


@dataclass(frozen=True, kw_only=True)
class NeedsRelevant(OftenUndefined, BinaryMeasure):
    """A binary measure that is undefined without relevant documents.

    Parameters
    ----------
    no_relevant : str, optional
        Value of a query without relevant documents; default: set by the convention.
    """

    def depth(self, *, lists: bool = False) -> int:
        """All of `lists`, whose relevant items are counted among the grades that are kept; a run's are counted in its judgments."""
        return 0 if lists else super().depth(lists=lists)

    def filled(self, values: FloatArray, n_relevant: IntArray) -> PerQuery:
        """Give queries without relevant documents the value of the policy."""
        return fill_undefined(values, n_relevant > 0, self.no_relevant or "zero")


@dataclass(frozen=True, kw_only=True)
class BalancedMeasure(NeedsRelevant):
    """A mean of precision and recall.

    Parameters
    ----------
    beta : float, optional
        Weight of recall relative to precision, 0 or above; default 1.
    """

    beta: float | None = None
    samples: ClassVar[Mapping[str, tuple[Any, ...]]] = {"beta": (None, 0, 0.5, 1, 4)}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.beta is not None:
            object.__setattr__(self, "beta", number_option("beta", self.beta, 0))

    @property
    def _recall_weight(self) -> float:
        """`beta`, or 1 by default."""
        return 1.0 if self.beta is None else self.beta
