"""How many unjudged documents must be relevant for the highest and for the lowest average precision."""

from typing import NamedTuple

import numpy as np

from idealrank.data.types import FloatArray, IntArray


class PrecisionList(NamedTuple):
    """One list without ties.

    Attributes
    ----------
    relevant : int64 array, shape (n_relevant,)
        Ranks of relevant documents within the cutoff, rising.
    open : float64 array, shape (n_open,)
        Ranks of documents with an open grade, rising; infinite for one that is not in the list.
    n_relevant : int
        Relevant documents of the query, returned or not.
    limit : int
        The cutoff.
    reachable : bool
        Whether the sum is divided by at most `limit`.
    """

    relevant: IntArray
    open: FloatArray
    n_relevant: int
    limit: int
    reachable: bool

    def highest(self) -> int:
        """Number of open documents, from the top, that are relevant at the highest value.

        One more relevant document at rank r, below m open ones that are relevant, adds its own precision and 1 / rank for each relevant
        document below it: the sum for every number takes one pass.

        Examples
        --------
        A relevant document at rank 9 would add less to the sum than to the number that divides it.

        >>> PrecisionList(np.array([2]), np.array([1.0, 9.0]), 1, 10, False).highest()
        1
        """
        within = self.open <= self.limit
        above = np.searchsorted(self.relevant, self.open) + np.arange(1, self.open.size + 1)
        return self._best(np.where(within, above / self.open, 0.0) + self._below(self.open))

    def lowest(self) -> int:
        """Number of open documents, from the bottom, that are relevant at the lowest value.

        Examples
        --------
        >>> PrecisionList(np.array([2]), np.array([1.0, 9.0]), 1, 10, False).lowest()
        1
        """
        ranks = self.open[::-1]
        within = ranks <= self.limit
        inverse = np.where(within, 1 / ranks, 0.0)
        above = np.searchsorted(self.relevant, ranks) + 1
        return self._best(-(above * inverse + self._below(ranks) + np.cumsum(inverse) - inverse), sign=-1.0)

    def _below(self, ranks: FloatArray) -> FloatArray:
        """Sum of 1 / rank over relevant documents below each rank."""
        sums = np.concatenate((np.cumsum((1 / self.relevant)[::-1])[::-1], [0.0]))
        return np.asarray(sums[np.searchsorted(self.relevant, ranks)])

    def _best(self, added: FloatArray, sign: float = 1.0) -> int:
        """Number at which a sum, and what each document adds to it, is highest over the relevant documents."""
        judged = sign * float((np.arange(1, self.relevant.size + 1) / self.relevant).sum())
        sums = judged + np.concatenate(([0.0], np.cumsum(added)))
        divisor = self.n_relevant + np.arange(sums.size)
        divisor = np.minimum(divisor, self.limit) if self.reachable else divisor
        values = np.divide(sums, divisor, out=np.full(sums.size, -np.inf), where=divisor > 0)
        return int(values.argmax())
