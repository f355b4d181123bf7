"""NDCG of a list that grows, after every so many documents in the order in which they came; and
collections of such lists.
"""

import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import IO, Any
from zipfile import BadZipFile

import numpy as np

from idealrank.data.lists import as_numbers
from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.errors import InputError, OptionError
from idealrank.measures.cutoffs import resolve_cutoff
from idealrank.measures.dcg import NDCG
from idealrank.measures.discounts import make_discount
from idealrank.measures.gains import make_gain
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measures
from idealrank.theory.simulation import ProgressCall

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
        In [0, 1]; NaN if NDCG is undefined because no document is relevant, or if a query has fewer
        documents.

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
        """Mean over the queries with a value, shape (n_measures, n_sizes); NaN if there are
        none.
        """
        defined = self.defined
        total = np.where(np.isnan(self.values), 0.0, self.values).sum(axis=1)
        means: FloatArray = np.divide(
            total, defined, out=np.full(total.shape, math.nan), where=defined > 0
        )
        return means


def growing_sizes(last: int) -> IntArray:
    """Every list length to 200, and from there on steps of one in a hundred to `last`; shape
    (n_sizes,).
    """
    if last < 1:
        raise OptionError(f"found lists of {last} documents, expected at least 1")
    steps = math.ceil(math.log(max(last, _DENSE) / _DENSE) / math.log(_RATIO))
    late = np.rint(_DENSE * _RATIO ** np.arange(1, steps + 1)).astype(np.int64)
    return np.unique(
        np.concatenate((np.arange(1, min(last, _DENSE) + 1), late[late < last], [last]))
    )


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
    labels, scores : array-like, shape (n_documents,) or (n_queries, n_documents); or a sequence of
    arrays of several lengths
        One query per row, with documents in their order of arrival. Tied scores give the expected
        value over all orders.
    measures : str, Measure or sequence of them, optional
        NDCG with gain, discount and cutoff, such as ``"nDCG(discount=zipf(0.5))"`` and
        ``"nDCG@0.2n"``. Default ``"nDCG"``.
    sizes : array-like of int, optional
        Values of n, rising, from 1. Default: `growing_sizes` of the shortest list.
    progress : callable, optional
        Progress callback, called after every query with the number done and the total; an exception
        raised in it stops the work.

    Returns
    -------
    GrowingValues
        A query's value at n is that of `ndcg` on its first n labels and scores; NaN if none of them
        has a positive gain, or if the query has fewer than n documents.

    Raises
    ------
    InputError
        Labels and scores have different shapes, or are not finite, or a gain is negative.
    OptionError
        A measure is not NDCG, or has options other than gain, discount and cutoff; or sizes do not
        rise from 1 on.

    References
    ----------
    Wang et al. (2013), A theoretical analysis of NDCG type ranking measures, COLT, Appendix A: the
    values of figures 1 to 4.

    Examples
    --------
    >>> growing_ndcg([1, 0, 1], [3.0, 2.0, 1.0], sizes=[1, 3]).values
    array([[[1.        , 0.91972079]]])
    """
    parsed = parse_measures([measures] if isinstance(measures, str | Measure) else list(measures))
    rows = list(_rows(labels, scores))
    shortest = min(label.size for label, _ in rows)
    checked = growing_sizes(shortest) if sizes is None else _checked_sizes(sizes)
    schemes_by_gain: dict[str, list[_Scheme]] = {}
    for row, measure in enumerate(parsed):
        scheme = _scheme(measure, row, checked)
        schemes_by_gain.setdefault(scheme.gain.text, []).append(scheme)
    values = np.full((len(parsed), len(rows), checked.size), math.nan)
    for number, (label, score) in enumerate(rows):
        values[:, number] = _one_query(label, score, checked, list(schemes_by_gain.values()))
        if progress is not None:
            progress(number + 1, len(rows))
    return GrowingValues(measures=tuple(parsed), sizes=checked, values=values)


class _Scheme:
    """Properties of an NDCG that matter at the requested list lengths."""

    def __init__(self, measure: NDCG, row: int, sizes: IntArray) -> None:
        self.row = row  # of the values, which is its place among the measures
        self.gain = make_gain(measure.gain if measure.gain is not None else "linear")
        self._discount = make_discount(measure.discount if measure.discount is not None else "log2")
        self._depths = np.minimum(resolve_cutoff(measure.cutoff, sizes), sizes).tolist()
        self._sizes = sizes.tolist()
        self._fixed_weights = None  # for lists of any length, if the length does not matter
        if not self._discount.by_length:
            self._fixed_weights = self._weights(int(sizes[-1]), int(sizes[-1]))

    def weights(self, column: int) -> FloatArray:
        """Weights of the ranks that count in a list of this size."""
        depth = self._depths[column]
        if self._fixed_weights is None:
            return self._weights(depth, self._sizes[column])
        return self._fixed_weights[:depth]

    def _weights(self, depth: int, n: int) -> FloatArray:
        return self._discount.at(np.arange(1, depth + 1), np.full(depth, n))


def _scheme(measure: Measure, row: int, sizes: IntArray) -> _Scheme:
    if not isinstance(measure, NDCG):
        raise OptionError(f"{measure}: expected nDCG, as in nDCG(discount=zipf(0.5))@0.2n")
    if measure != NDCG(gain=measure.gain, discount=measure.discount, cutoff=measure.cutoff):
        raise OptionError(
            f"{measure}: expected no other options than gain, discount and cutoff for lists that "
            "grow"
        )
    return _Scheme(measure, row, sizes)


def _rows(labels: Any, scores: Any) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Labels and scores of one query after another, checked."""
    label_rows = _as_rows(labels)
    score_rows = _as_rows(scores)
    if not label_rows or len(label_rows) != len(score_rows):
        raise InputError(
            f"found labels of {len(label_rows)} queries and scores of {len(score_rows)}, expected "
            "as many, and at least one"
        )
    for number, (label, score) in enumerate(zip(label_rows, score_rows, strict=True)):
        if label.ndim != 1 or label.shape != score.shape or not label.size:
            raise InputError(
                f"query {number}: found labels of shape {label.shape} and scores of {score.shape}, "
                "expected one of each a document, and at least one document"
            )
        if not (np.isfinite(label).all() and np.isfinite(score).all()):
            raise InputError(
                f"query {number}: found a label or score that is not finite, expected numbers"
            )
        yield label, score


def _as_rows(values: Any) -> list[FloatArray]:
    # By index, a series gives labels and a dataframe columns; as arrays, both give rows.
    rows = np.asarray(values) if hasattr(values, "__array__") else values
    one_query = not len(rows) or np.ndim(rows[0]) == 0
    return [np.asarray(row, np.float64) for row in ([rows] if one_query else rows)]


def _checked_sizes(sizes: Any) -> IntArray:
    requested = np.asarray(sizes)
    checked = requested.astype(np.int64) if requested.dtype.kind in "iu" else np.empty(0, np.int64)
    # compared, not subtracted: a difference can be beyond the numbers of the type
    if (
        checked.ndim != 1
        or not checked.size
        or checked[0] < 1
        or (checked[1:] <= checked[:-1]).any()
    ):
        raise OptionError(f"sizes={sizes!r}: expected whole numbers that rise, from 1 on")
    return checked


def _one_query(
    label: FloatArray,
    score: FloatArray,
    sizes: IntArray,
    schemes_by_gain: Sequence[Sequence[_Scheme]],
) -> FloatArray:
    """NDCG of one query, shape (n_measures, n_sizes). The whole list is ranked once; the order of
    a shorter list is what is left of it.
    """
    ranked_arrivals = np.argsort(-score, kind="stable")
    starts_tie_group = np.diff(score[ranked_arrivals]) < 0  # of the documents after the first
    tie_group = np.concatenate(([0], np.cumsum(starts_tie_group)))
    has_ties = not starts_tie_group.all()
    values = np.full((sum(map(len, schemes_by_gain)), sizes.size), math.nan)
    for schemes_with_gain in schemes_by_gain:
        gains = schemes_with_gain[0].gain(label)
        if gains.min() < 0:
            raise InputError(
                f"gain {gains.min():g}: found a negative gain, expected gains of at least 0"
            )
        for column, n in enumerate(sizes[sizes <= label.size].tolist()):
            has_arrived = ranked_arrivals < n
            ranked = gains[ranked_arrivals[has_arrived]]
            if has_ties:
                ranked = _means_of_ties(ranked, tie_group[has_arrived])
            best = np.sort(gains[:n])[::-1]
            for scheme in schemes_with_gain:
                weights = scheme.weights(column)
                values[scheme.row, column] = _ndcg_at_size(ranked, best, weights)
    return values


def _ndcg_at_size(ranked: FloatArray, best: FloatArray, weights: FloatArray) -> float:
    """NDCG of the gains by rank, with their best order; NaN if no document has a gain."""
    ideal = float((weights * best[: weights.size]).sum())
    if ideal <= 0:
        return math.nan
    return float((weights * ranked[: weights.size]).sum()) / ideal


def _means_of_ties(gains: FloatArray, group: IntArray) -> FloatArray:
    """Replace every gain by the mean of its tie group, the average at its rank over all orders."""
    sizes = np.maximum(np.bincount(group), 1)
    means: FloatArray = (np.bincount(group, weights=gains) / sizes)[group]
    return means


_ABOUT, _GRADES, _OFFSETS = "about", "grades", "offsets"


@dataclass(frozen=True, kw_only=True, eq=False)
class RankedCollection:
    """Grades and scores of the same documents, query after query, in the order in which the
    documents came.

    Parameters
    ----------
    grades : float64 array, shape (n_documents,)
        At least 0; documents of all queries.
    scores : mapping of str to float64 array, shape (n_documents,)
        By the name of the ranker; higher is better, and only the order within a query matters.
    offsets : int64 array, shape (n_queries + 1,)
        Query q has the documents from offsets[q] to offsets[q + 1].
    about : mapping
        Information on the data; ``what`` is a short description.

    Raises
    ------
    InputError
        Arrays do not match or hold NaN, or there is no ranker.

    Examples
    --------
    >>> mine = RankedCollection(
    ...     grades=np.array([1.0, 0.0]),
    ...     scores={"mine": np.array([0.2, 0.9])},
    ...     offsets=np.array([0, 2]),
    ... )
    >>> mine.n_queries, mine.lengths, mine.rows(mine.grades)
    (1, array([2]), [array([1., 0.])])
    """

    grades: FloatArray
    scores: Mapping[str, FloatArray]
    offsets: IntArray
    about: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.scores:
            raise InputError("found no ranker, expected an array of scores, or of ranks, for each")
        if (
            self.offsets.size < 2
            or self.offsets[0] != 0
            or self.offsets[-1] != self.grades.size
            or (np.diff(self.offsets) < 1).any()
        ):
            raise InputError(
                f"offsets: expected them to rise from 0 to the number of documents, "
                f"{self.grades.size}"
            )
        for name, values in {_GRADES: self.grades, **self.scores}.items():
            if values.shape != self.grades.shape:
                raise InputError(
                    f"{name}: found {values.size} values, expected one for each of the "
                    f"{self.grades.size} grades"
                )
            if not np.isfinite(values).all():
                raise InputError(f"{name}: found a value that is not finite, expected numbers")
        if self.grades.min() < 0:
            raise InputError(
                f"{_GRADES}: found {self.grades.min():g}, expected grades of at least 0"
            )

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.offsets.size - 1

    @property
    def lengths(self) -> IntArray:
        """Number of documents of each query, shape (n_queries,)."""
        return np.diff(self.offsets)

    def rows(self, values: FloatArray) -> list[FloatArray]:
        """Return the grades or scores, one array per query."""
        return np.split(values, self.offsets[1:-1])

    def at_least(self, n: int) -> "RankedCollection":
        """Return the queries that have at least n documents, cut after the n-th.

        Raises
        ------
        InputError
            No query has n documents.
        """
        long = np.flatnonzero(self.lengths >= n)
        if n < 1 or not long.size:
            raise InputError(
                f"found {self.lengths.max():,} documents in the longest list, expected at least "
                f"{n:,}; ask for fewer"
            )
        documents = (self.offsets[long][:, None] + np.arange(n)).ravel()
        scores = {name: values[documents] for name, values in self.scores.items()}
        return RankedCollection(
            grades=self.grades[documents],
            scores=scores,
            offsets=np.arange(long.size + 1, dtype=np.int64) * n,
            about=self.about,
        )


def paper_rankers() -> RankedCollection:
    """Load RankSVM, ListNet and a random ranker on the synthetic collection behind figures 1 to 4.

    Returns
    -------
    RankedCollection
        40 queries of 5,000 documents each; grades 0, 1 and 2. ``experiments/rankers`` reproduces it
        bit for bit.

    References
    ----------
    Wang et al. (2013), COLT, Appendix A. The paper's data are not public.

    Examples
    --------
    >>> found = paper_rankers()
    >>> found.n_queries, set(found.lengths.tolist()), list(found.scores)
    (40, {5000}, ['RankSVM', 'ListNet', 'random'])
    """
    with resources.files("idealrank.theory").joinpath("data/rankers.npz").open("rb") as file:
        return _from_npz(file, "rankers.npz")


def read_rankers(path: "str | Path") -> RankedCollection:
    """Read a collection from a file of NumPy arrays (``numpy.savez``).

    Parameters
    ----------
    path : str or Path
        ``grades``, shape (n_queries, n_documents), or (n,) with ``offsets``, shape (n_queries +
        1,), for lists of several lengths; and for each ranker an array of its scores by its name,
        in the shape of the grades. ``about``, if present, is a JSON object: ``what`` describes the
        data, ``rankers`` gives the names to print.

    Raises
    ------
    InputError
        The file cannot be read, or its arrays do not match.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/mine.npz", grades=[[1, 0, 2]], mine=[[0.3, 0.2, 0.1]])
    ...     read_rankers(f"{folder}/mine.npz").lengths
    array([3])
    """
    try:
        with Path(path).open("rb") as file:
            return _from_npz(file, str(path))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror or error}") from None


def _from_npz(file: IO[bytes], name: str) -> RankedCollection:
    try:
        stored = np.load(file, allow_pickle=False)
        arrays = {key: stored[key] for key in stored.files}
    except (ValueError, AttributeError, EOFError, RuntimeError, BadZipFile, zlib.error):
        raise InputError(
            f"{name}: found no archive of NumPy arrays, expected what numpy.savez(file, "
            f"grades=..., mine=...) writes"
        ) from None
    if _GRADES not in arrays:
        raise InputError(
            f"{name}: found arrays {', '.join(arrays) or 'none'}, expected {_GRADES}, and one of "
            "scores for each ranker"
        )
    try:
        return _collection(arrays)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def _collection(arrays: dict[str, AnyArray]) -> RankedCollection:
    about = _about(arrays.pop(_ABOUT, None))
    arrays = {name: as_numbers(name, values) for name, values in arrays.items()}
    offsets = arrays.pop(_OFFSETS, None)
    grades = arrays.pop(_GRADES)
    if grades.ndim not in (1, 2):
        raise InputError(
            f"{_GRADES}: found shape {grades.shape}, expected (n_queries, n_documents), or one "
            "dimension"
        )
    if offsets is not None and grades.ndim != 1:
        raise InputError(
            f"{_GRADES}: found shape {grades.shape} beside offsets, expected one dimension"
        )
    if offsets is None:
        queries, documents = np.atleast_2d(grades).shape
        offsets = np.arange(queries + 1) * documents
    elif offsets.ndim != 1 or offsets.dtype.kind != "i":
        raise InputError(
            f"{_OFFSETS}: found shape {offsets.shape} of {offsets.dtype}, expected whole numbers "
            "in one dimension"
        )
    for name, values in arrays.items():
        if values.shape != grades.shape:
            raise InputError(
                f"{name}: found shape {values.shape}, expected that of {_GRADES}, {grades.shape}"
            )
    labels = about.get("rankers", {})
    scores = {
        labels.get(name, name): values.astype(np.float64).ravel() for name, values in arrays.items()
    }
    if len(scores) < len(arrays):
        raise InputError(
            f"{_ABOUT}: found {len(arrays)} rankers with {len(scores)} names, expected names that "
            "differ"
        )
    return RankedCollection(
        grades=grades.astype(np.float64).ravel(),
        scores=scores,
        offsets=offsets.astype(np.int64),
        about=about,
    )


def _about(stored: AnyArray | None) -> dict[str, Any]:
    try:
        about = {} if stored is None else json.loads(str(stored))
    except (ValueError, RecursionError):
        about = None
    labels = about.get("rankers", {}) if isinstance(about, dict) else None
    if (
        not isinstance(about, dict)
        or not isinstance(labels, dict)
        or not all(isinstance(label, str) for label in labels.values())
    ):
        raise InputError(f"{_ABOUT}: expected a JSON object, its rankers an object of names")
    return about
