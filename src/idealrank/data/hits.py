"""The columns of a run joined to its judgments: hits, ties, judged documents, and counters per query."""

from dataclasses import dataclass, replace

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray, QueryIds, ShortArray


@dataclass(frozen=True, eq=False)
class Hits:
    """Judged documents that were returned, query after query, by rank.

    Attributes
    ----------
    query, rank : int64 array, shape (n,)
        Query code, and rank from 1 in the order of the convention.
    grade : float64 array, shape (n,)
        After the convention's grade policies.
    document : int64 array, shape (n,), or None
        Row of the qrels; None for arrays, which have no documents.
    tie_first, tie_last : int64 array, shape (n,), or None
        First and last rank of the hit's tie group; None when no hit is tied.
    """

    query: IntArray
    rank: IntArray
    grade: FloatArray
    document: IntArray | None = None
    tie_first: IntArray | None = None
    tie_last: IntArray | None = None

    def part(self, kept: BoolArray) -> "Hits":
        """Some of them."""
        columns = (self.document, self.tie_first, self.tie_last)
        others = (None if column is None else column[kept] for column in columns)
        return Hits(self.query[kept], self.rank[kept], self.grade[kept], *others)


@dataclass(frozen=True, eq=False)
class UnjudgedHits:
    """Returned documents without a judgment, query after query, by rank.

    Attributes
    ----------
    query, rank : int64 array, shape (n,)
        As in `Hits`.
    key : uint64 array, shape (n,)
        Stands for the document's id: equal in two runs where the ids are.
    tie_first, tie_last : int64 array, shape (n,)
        First and last rank of the document's tie group.
    """

    query: IntArray
    rank: IntArray
    key: "np.ndarray[tuple[int], np.dtype[np.uint64]]"
    tie_first: IntArray
    tie_last: IntArray

    def as_hits(self) -> Hits:
        """Return the places as hits of grade 0."""
        tied = bool((self.tie_first < self.tie_last).any())
        spans = (self.tie_first, self.tie_last) if tied else (None, None)
        return Hits(self.query, self.rank, np.zeros(self.query.size), None, *spans)


@dataclass(frozen=True, eq=False)
class Relevant:
    """The hits whose grade reaches a threshold, and how many judged documents of each query do, shape (n_queries,)."""

    hits: Hits
    total: IntArray


@dataclass(frozen=True, eq=False)
class Judgments:
    """Every judged document that counts, returned or not, query after query.

    Attributes
    ----------
    query : int64 array, shape (n,)
        Query code.
    grade, given : float64 array, shape (n,)
        After the convention's grade policies, and as it stood in the judgments: of -1 some collections say that a document was
        pooled but not judged.
    document : int64 array, shape (n,), or None
        Row of the qrels; None for arrays.
    """

    query: IntArray
    grade: FloatArray
    given: FloatArray
    document: IntArray | None = None


@dataclass(frozen=True, eq=False)
class TieMembers:
    """Every member of each tie group of two or more that starts within the depth, for lists held as a rectangle."""

    query: IntArray
    rank: ShortArray
    first: ShortArray
    last: ShortArray
    grade: FloatArray

    def part(self, members: slice) -> Hits:
        """Some of them, as hits."""
        rank, first, last = (column[members].astype(np.int64) for column in (self.rank, self.first, self.last))
        return Hits(self.query[members], rank, self.grade[members], None, first, last)


@dataclass(frozen=True, eq=False)
class Rectangle:
    """Lists of one length, every item judged: grades by rank, shape (n_queries, width), ideal beside them.

    `as_given` says that no negative grade was changed.
    """

    grades: FloatArray
    ideal: FloatArray
    ties: TieMembers | None
    as_given: bool = True


@dataclass(frozen=True, eq=False)
class Alignments:
    """Counters of one alignment, per query, shape (n_queries,) each, as narrow as they came."""

    tied: IntArray | ShortArray
    duplicates: IntArray | ShortArray
    first_unjudged: IntArray | ShortArray
    judged: IntArray | ShortArray
    straddling: IntArray | ShortArray


@dataclass(frozen=True, eq=False)
class Scope:
    """Counts of compared queries for the coverage."""

    queries_in_qrels: int
    queries_in_run: int
    missing: tuple[str, ...] | QueryIds
    without_judgments: int
    truncated_grades: int
    doubtful_comments: int = 0  # comment lines of the run that would parse as data


def closed_up(hits: Hits) -> Hits:
    """Hits with ranks counted among themselves, as if no other document had been returned.

    Examples
    --------
    >>> closed_up(Hits(np.array([0, 0]), np.array([3, 7]), np.ones(2))).rank
    array([1, 2])
    """
    rank = np.arange(1, hits.query.size + 1) - np.searchsorted(hits.query, hits.query)
    if hits.tie_first is None:
        return replace(hits, rank=rank)
    head = np.ones(hits.query.size, bool)
    head[1:] = (hits.query[1:] != hits.query[:-1]) | (hits.tie_first[1:] != hits.tie_first[:-1])
    starts = np.flatnonzero(head)
    sizes = np.diff(np.append(starts, hits.query.size))
    first = np.repeat(rank[starts], sizes)
    return replace(hits, rank=rank, tie_first=first, tie_last=first + np.repeat(sizes, sizes) - 1)


def only_relevant(hits: Hits, threshold: float) -> Hits:
    """Those with at least this grade.

    Examples
    --------
    >>> only_relevant(Hits(np.array([0, 0]), np.array([3, 7]), np.array([0.0, 1.0])), 1).rank
    array([7])
    """
    kept = np.flatnonzero(hits.grade >= threshold)
    first, last = (None if column is None else column[kept] for column in (hits.tie_first, hits.tie_last))
    return Hits(hits.query[kept], hits.rank[kept], hits.grade[kept], None, first, last)


def relevant_in_rectangle(rectangle: Rectangle, threshold: float) -> Relevant:
    """The items with at least this grade, of lists without ties held whole; a bit a place is looked at, and nothing else made.

    Examples
    --------
    >>> found = relevant_in_rectangle(Rectangle(np.array([[0.0, 2.0], [1.0, 1.0]]), np.zeros((2, 2)), None), 1)
    >>> found.hits.query, found.hits.rank, found.total
    (array([0, 1, 1]), array([2, 1, 2]), array([1, 2]))
    """
    reached = rectangle.grades >= threshold
    total = np.count_nonzero(reached, axis=1)
    place = np.flatnonzero(reached)
    query = np.repeat(np.arange(total.size), total)
    rank = place - query * reached.shape[1] + 1
    return Relevant(Hits(query, rank, rectangle.grades.reshape(-1)[place]), total)
