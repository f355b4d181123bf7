"""Canonical scores: where in its list a document stands, as a share of the list from the bottom."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.data.lists import Lists, as_numbers
from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.errors import InputError
from idealrank.measures.tau_rho import middle_ranks


def canonical_scores(scores: Any, group: Any = None, *, offsets: Any = None, qid: Any = None) -> FloatArray:
    """The share of the documents of its query that each document is ranked above, itself and those tied with it counted half.

    It is (rank from the bottom - 1/2) / n, with mid-ranks for ties: the mean over a query is 1/2, and the document at the top of n has
    1 - 1/(2n).

    Parameters
    ----------
    scores : array-like, shape (n,) or (n_queries, width)
        What the ranker gave, higher is better; 2-D: a query a row.
    group, offsets, qid
        How items form lists, see `Lists.from_arrays`; default one query.

    Returns
    -------
    float64 array, shape of `scores`
        In (0, 1).

    Raises
    ------
    InputError
        A score is NaN, or the lists do not fit.

    Notes
    -----
    Lemma 3 of the paper has canonical scores uniform on [0, 1] for any ranker; it needs one that gives no score twice with positive
    chance. Mid-ranks keep their mean for the others. A ranker with few distinct scores has no ybar of its own: it is an average over each
    tie group.

    References
    ----------
    Wang, Wang, Li, He, Chen and Liu (2013), COLT, Lemma 3.

    Examples
    --------
    >>> canonical_scores([0.2, 0.9, 0.4, 0.4])
    array([0.125, 0.875, 0.5  , 0.5  ])
    >>> canonical_scores([5, 1, 3, 8], group=[2, 2])
    array([0.75, 0.25, 0.25, 0.75])
    """
    shape = np.shape(as_numbers("scores", scores))
    lists = Lists.from_arrays(np.zeros(shape, np.int8), scores, group=group, offsets=offsets, qid=qid)
    return placed(lists).score.reshape(shape)


@dataclass(frozen=True)
class Placed:
    """Where each item stands.

    Parameters
    ----------
    score : float64 array, shape (n,)
        Canonical scores, in the order of the items.
    query : int64 array, shape (n,)
        Query of each item.
    """

    score: FloatArray
    query: IntArray


def placed(lists: Lists) -> Placed:
    """Canonical score and query of each item.

    Raises
    ------
    InputError
        A score is NaN.

    Examples
    --------
    >>> placed(Lists.from_arrays([0, 0], [0.1, 0.9])).score
    array([0.25, 0.75])
    """
    refuse_nan("scores", lists.scores)
    lengths = np.diff(lists.offsets)
    query = np.repeat(np.arange(lists.n_queries), lengths)
    if lists.order is not None:
        of_item = np.empty_like(query)
        of_item[lists.order] = query
        query = of_item
    n = lengths[query]
    return Placed((middle_ranks(query, lists.scores) + n) / (2 * n), query)


def refuse_nan(name: str, values: AnyArray) -> None:
    """Raise an InputError that names the first NaN.

    Examples
    --------
    >>> refuse_nan("scores", np.array([1.0]))
    """
    if values.dtype.kind == "f" and np.isnan(values).any():
        raise InputError(f"{name}: found NaN at item {int(np.flatnonzero(np.isnan(values))[0])}, expected a number for every item")
