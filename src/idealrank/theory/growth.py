"""NDCG of a list that grows: its value after every so many documents, in the order in which they came."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.dcg import NDCG
from idealrank.measures.discounts import make_discount
from idealrank.measures.gains import make_gain
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measures
from idealrank.theory.sampling import ProgressCall

_DENSE = 200  # up to here every size is looked at: that is where curves move most
_RATIO = 1.01  # between two sizes from there on


@dataclass(frozen=True, eq=False)
class GrowingValues:
    """NDCG of the first documents of every query, as lists grow.

    Attributes
    ----------
    measures : tuple of Measure
        NDCG measures with discount and cutoff.
    sizes : int64 array, shape (n_sizes,)
        Numbers of documents in the lists, rising.
    values : float64 array, shape (n_measures, n_queries, n_sizes)
        In [0, 1]; NaN if NDCG is undefined because no document is relevant, or if a query has fewer documents.

    Examples
    --------
    >>> grown = growing_ndcg([[0, 1], [1, 0]], [[2.0, 1.0], [2.0, 1.0]])
    >>> grown.mean(), grown.defined
    (array([[1.        , 0.81546488]]), array([[1, 2]]))
    """

    measures: tuple[Measure, ...]
    sizes: IntArray
    values: FloatArray

    @property
    def defined(self) -> IntArray:
        """Number of queries with a value, shape (n_measures, n_sizes)."""
        counts: IntArray = np.count_nonzero(~np.isnan(self.values), axis=1).astype(np.int64)
        return counts

    def mean(self) -> FloatArray:
        """Mean over the queries with a value, shape (n_measures, n_sizes); NaN if there are none."""
        defined = self.defined
        total = np.where(np.isnan(self.values), 0.0, self.values).sum(axis=1)
        means: FloatArray = np.divide(total, defined, out=np.full(total.shape, math.nan), where=defined > 0)
        return means


def growing_sizes(last: int) -> IntArray:
    """Every list length to 200, and from there on steps of one in a hundred to `last`; shape (n_sizes,).

    Examples
    --------
    >>> sizes = growing_sizes(5000)
    >>> sizes[[0, 199, 200, -1]], sizes.size
    (array([   1,  200,  202, 5000]), 524)
    """
    if last < 1:
        raise OptionError(f"found lists of {last} documents, expected at least 1")
    steps = math.ceil(math.log(max(last, _DENSE) / _DENSE) / math.log(_RATIO))
    late = np.rint(_DENSE * _RATIO ** np.arange(1, steps + 1)).astype(np.int64)
    return np.unique(np.concatenate((np.arange(1, min(last, _DENSE) + 1), late[late < last], [last])))


def growing_ndcg(
    labels: Any,
    scores: Any,
    *,
    measures: "str | Measure | Sequence[str | Measure]" = "nDCG",
    sizes: Any = None,
    progress: ProgressCall | None = None,
) -> GrowingValues:
    """Compute NDCG of the first n documents of every query, for each requested n.

    Parameters
    ----------
    labels, scores : array-like, shape (n_documents,) or (n_queries, n_documents); or a sequence of arrays of several lengths
        One query per row, with documents in their order of arrival. Tied scores give the expected value over all orders.
    measures : str, Measure or sequence of them, optional
        NDCG with gain, discount and cutoff, such as ``"nDCG(discount=zipf(0.5))"`` and ``"nDCG@0.2n"``. Default ``"nDCG"``.
    sizes : array-like of int, optional
        Values of n, rising, from 1. Default: `growing_sizes` of the shortest list.
    progress : callable, optional
        Progress callback, called after every query with the number done and the total; an exception raised in it stops the work.

    Returns
    -------
    GrowingValues
        A query's value at n is that of `ndcg` on its first n labels and scores; NaN if none of them has a positive gain, or if the query
        has fewer than n documents.

    Raises
    ------
    InputError
        Labels and scores have different shapes, or are not finite, or a gain is negative.
    OptionError
        A measure is not NDCG, or has options other than gain, discount and cutoff; or sizes do not rise from 1 on.

    References
    ----------
    Wang et al. (2013), A theoretical analysis of NDCG type ranking measures, COLT, Appendix A: the values of figures 1 to 4.

    Examples
    --------
    >>> growing_ndcg([1, 0, 1], [3.0, 2.0, 1.0], sizes=[1, 3]).values
    array([[[1.        , 0.91972079]]])
    """
    asked = parse_measures([measures] if isinstance(measures, str | Measure) else list(measures))
    rows = list(_rows(labels, scores))
    at = growing_sizes(min(label.size for label, _ in rows)) if sizes is None else _checked_sizes(sizes)
    schemes = [_scheme(measure, at) for measure in asked]
    values = np.full((len(asked), len(rows), at.size), math.nan)
    for number, (label, score) in enumerate(rows):
        values[:, number] = _one_query(label, score, at, schemes)
        if progress is not None:
            progress(number + 1, len(rows))
    return GrowingValues(tuple(asked), at, values)


class _Scheme:
    """Properties of an NDCG that matter at the requested list lengths."""

    def __init__(self, measure: NDCG, sizes: IntArray) -> None:
        self.gain = make_gain(measure.gain if measure.gain is not None else "linear")
        self._discount = make_discount(measure.discount if measure.discount is not None else "log2")
        self._depths = np.minimum(resolve_cutoff(measure.cutoff, sizes), sizes).tolist()
        self._sizes = sizes.tolist()
        self._falling = None if self._discount.by_length else self._weights(int(sizes[-1]), int(sizes[-1]))

    def weights(self, column: int) -> FloatArray:
        """Weights of the ranks that count in a list of this size."""
        depth = self._depths[column]
        return self._weights(depth, self._sizes[column]) if self._falling is None else self._falling[:depth]

    def _weights(self, depth: int, n: int) -> FloatArray:
        return self._discount.at(np.arange(1, depth + 1), np.full(depth, n))


def _scheme(measure: Measure, sizes: IntArray) -> _Scheme:
    if not isinstance(measure, NDCG):
        raise OptionError(f"{measure}: expected nDCG, as in nDCG(discount=zipf(0.5))@0.2n")
    if measure != NDCG(gain=measure.gain, discount=measure.discount, cutoff=measure.cutoff):
        raise OptionError(f"{measure}: expected no other options than gain, discount and cutoff for lists that grow")
    return _Scheme(measure, sizes)


def _rows(labels: Any, scores: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Labels and scores of one query after another, checked."""
    label_rows, score_rows = (_as_rows(values) for values in (labels, scores))
    if not label_rows or len(label_rows) != len(score_rows):
        raise InputError(f"found labels of {len(label_rows)} queries and scores of {len(score_rows)}, expected as many, and at least one")
    for number, (label, score) in enumerate(zip(label_rows, score_rows, strict=True)):
        if label.ndim != 1 or label.shape != score.shape or not label.size:
            raise InputError(
                f"query {number}: found labels of shape {label.shape} and scores of {score.shape}, expected one of each a document, "
                "and at least one document"
            )
        if not (np.isfinite(label).all() and np.isfinite(score).all()):
            raise InputError(f"query {number}: found a label or score that is not finite, expected numbers")
        yield label, score


def _as_rows(values: Any) -> list[FloatArray]:
    one = not len(values) or np.ndim(values[0]) == 0
    return [np.asarray(row, np.float64) for row in ([values] if one else values)]


def _checked_sizes(sizes: Any) -> IntArray:
    at = np.asarray(sizes)
    if at.ndim != 1 or not at.size or at.dtype.kind not in "iu" or at[0] < 1 or (np.diff(at) <= 0).any():
        raise OptionError(f"sizes={sizes!r}: expected whole numbers that rise, from 1 on")
    return at.astype(np.int64)


def _one_query(label: FloatArray, score: FloatArray, sizes: IntArray, schemes: Sequence[_Scheme]) -> FloatArray:
    """Shape (n_measures, n_sizes).

    The whole list is ranked once. The first n documents to come are then the documents of the ranking with a number below n, in the same
    order, so that a prefix costs one pass over the list and no sort.
    """
    came = np.argsort(-score, kind="stable")
    falls = np.concatenate(([False], np.diff(score[came]) < 0))
    tied = None if falls[1:].all() else np.cumsum(falls)
    values = np.full((len(schemes), sizes.size), math.nan)
    for text, gains in {scheme.gain.text: scheme.gain(label) for scheme in schemes}.items():
        if gains.min() < 0:
            raise InputError(f"gain {gains.min():g}: found a negative one, expected gains of at least 0")
        alike = [(row, scheme) for row, scheme in enumerate(schemes) if scheme.gain.text == text]
        for column, n in enumerate(sizes[sizes <= label.size].tolist()):
            here = came < n
            ranked = gains[came[here]] if tied is None else _means_of_ties(gains[came[here]], tied[here])
            best = np.sort(gains[:n])[::-1]
            for row, scheme in alike:
                weights = scheme.weights(column)
                ideal = float((weights * best[: weights.size]).sum())
                if ideal > 0:
                    values[row, column] = float((weights * ranked[: weights.size]).sum()) / ideal
    return values


def _means_of_ties(gains: FloatArray, group: IntArray) -> FloatArray:
    """Every gain replaced by the mean of its tie group: what stands at its rank on average over all orders."""
    means: FloatArray = (np.bincount(group, weights=gains) / np.maximum(np.bincount(group), 1))[group]
    return means
