"""Grades at the first ranks as one string a query."""

from typing import ClassVar

import numpy as np

from idealrank.data.judged import Judged
from idealrank.data.types import BoolArray, FloatArray
from idealrank.measures.cutoffs import Cutoff, resolve_cutoff
from idealrank.measures.measure import Measure, PerQuery
from idealrank.measures.ranks import tied_ranks

_DEFAULT = 10  # ranks


class RelString(Measure):
    """The grades at the first ranks as a string: for reading, not for averaging.

    ``RelString@k = one letter for each of the first k ranks`` of the list: the grade from 0 to 9,
    ``>`` for a higher grade, ``.`` for a document that was pooled but not judged (grade below 0),
    ``-`` for an unjudged one. In quotes, so that an empty list is visible. It has no numeric value:
    no query counts.

    Parameters
    ----------
    cutoff : int or str, optional
        k, default 10.

    References
    ----------
    trec_eval, measure ``relstring``.

    Examples
    --------
    >>> import idealrank as ir
    >>> ir.evaluate({"q": {"a": 2, "b": 0}}, {"q": ["b", "x", "a"]}, [ir.RelString()]).texts[
    ...     "RelString"
    ... ]
    ["'0-2'"]
    """

    name: ClassVar[str] = "RelString"
    aggregate: ClassVar = "text"
    direction: ClassVar[int] = 0
    ties: ClassVar = "not offered"
    summary: ClassVar[str] = "grades at the first ranks, as a string"
    use: ClassVar[str] = (
        "Print it to see what a value comes from. It is no number, and has no mean."
    )
    proof: ClassVar[str] = (
        "trec_eval 10, every letter, on real runs, with grades and with unjudged documents"
    )

    @property
    def _limit(self) -> Cutoff:
        return _DEFAULT if self.cutoff is None else self.cutoff

    def compute(self, judged: Judged) -> PerQuery:
        """The string of every query; no values."""
        sizes = np.minimum(judged.lengths, resolve_cutoff(self._limit, judged.lengths))
        rank = tied_ranks(judged, judged.hits, judged.hits.grade)
        within = rank <= sizes[judged.hits.query]
        starts = np.cumsum(sizes) - sizes
        letters = np.full(int(sizes.sum()), ord("-"), np.uint8)
        letters[starts[judged.hits.query[within]] + rank[within] - 1] = _letters(
            judged.hits.grade[within], judged.given[within] < 0
        )
        text = letters.tobytes().decode("ascii")
        texts = [
            f"'{text[start : start + size]}'"
            for start, size in zip(starts.tolist(), sizes.tolist(), strict=True)
        ]
        return PerQuery(np.full(judged.n_queries, np.nan), np.zeros(judged.n_queries, bool), texts)

    def depth(self, *, lists: bool = False) -> int:
        """Deepest rank in the string."""
        return self._limit if isinstance(self._limit, int) else 0

    @property
    def trec_name(self) -> str:
        """``relstring``, or ``relstring_20``."""
        return self._trec("relstring", "relstring", options=False)


def _letters(grades: FloatArray, pooled: BoolArray) -> FloatArray:
    digits = np.where(grades > 9, ord(">"), ord("0") + np.floor(np.clip(grades, 0, 9)))
    return np.where(pooled, ord("."), digits)
