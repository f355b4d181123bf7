"""The outer case of a tipping point: unjudged documents that are relevant raise the ideal, too, so that every value of the query falls."""

from collections.abc import Callable

import numpy as np

from idealrank.analysis.comparison.places import Places
from idealrank.data.types import BoolArray, FloatArray


def shrinking(side: Places, own: BoolArray, gain: FloatArray, n_queries: int) -> "Callable[[float], FloatArray] | None":
    """Ideal as judged over the ideal that a share of a run's own unjudged documents would raise, query by query.

    With m of them at a share s, it lies on a straight line between ``floor(s m)`` and ``ceil(s m)`` documents more, all with the mean
    gain of relevant documents at the ranks of the m.

    Parameters
    ----------
    side : Places
        Of the run.
    own : bool array, shape (n_unjudged,)
        Which of its unjudged documents the other run does not show.
    gain : float64 array, shape (n_ranks + 1,)
        Mean gain of relevant documents by rank.
    n_queries : int
        Queries compared.

    Returns
    -------
    callable or None
        Of a share it gives a float64 array of shape (n_queries,). None if no ideal moves.
    """
    query = side.documents.query[own]
    if not side.linear or not query.size:
        return None
    n_own = np.bincount(query, minlength=side.judged.n_queries)
    sums = np.bincount(query, weights=gain[side.rank[own]], minlength=n_own.size)
    most = int(n_own.max())
    ideals = side.measure.ideal_with(side.judged, sums / np.maximum(n_own, 1), most)
    if ideals is None:
        return None
    rows = np.arange(n_own.size)

    def factor(share: float) -> FloatArray:
        wanted = share * n_own
        fewer = wanted.astype(np.int64)
        first, second = ideals[rows, fewer], ideals[rows, np.minimum(fewer + 1, most)]
        ideal = first + (wanted - fewer) * (second - first)
        found = np.ones(n_queries)
        found[side.row] = np.divide(ideals[:, 0], ideal, out=np.ones_like(ideal), where=ideal > 0)
        return found

    return factor
