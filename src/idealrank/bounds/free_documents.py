"""Documents of one or two runs that may have any grade, and the lists with grades given to them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from idealrank.data.judged import Alignments, Hits, Judged, Judgments, UnjudgedHits
from idealrank.data.policies import ideal_grades
from idealrank.data.segments import distinct_keys, in_stable_order
from idealrank.data.types import BoolArray, FloatArray, IntArray, KeyArray, QueryIds
from idealrank.errors import InputError

_BITS = 20  # of a key
NOWHERE = np.iinfo(np.int64).max  # rank of a document that a run does not return


class ListedPlaces(NamedTuple):
    """One run, and the places of free documents in its lists."""

    judged: Judged  # The lists as judged
    row: IntArray  # shape (n_queries,): query code in `judged` of each query compared
    # Places of free documents, query after query, by rank; with the query codes of the queries
    # compared
    places: Hits
    document: IntArray  # shape (n_places,): free document of each place


@dataclass(frozen=True, eq=False)
class FreeDocuments:
    """Unjudged documents that one or two runs return, each with one grade, whoever returns it."""

    queries: Sequence[str]  # Queries compared
    query: IntArray  # shape (n_documents,): query code of each document, rising
    sides: tuple[ListedPlaces, ...]  # The runs

    @classmethod
    def of(
        cls,
        lists: Sequence[Judged],
        queries: Sequence[str],
        depth: int | None = None,
        deepest: int = 0,
    ) -> Self:
        """Documents that some run shows unjudged, down to a rank."""
        rows = [_rows(judged, queries) for judged in lists]
        unjudged = [_unjudged(judged, deepest) for judged in lists]
        codes = [
            _codes(judged, row, places)
            for judged, row, places in zip(lists, rows, unjudged, strict=True)
        ]
        keys = [_keys(places, code) for places, code in zip(unjudged, codes, strict=True)]
        shown = [
            np.flatnonzero((code >= 0) & _within(judged, places, depth))
            for judged, places, code in zip(lists, unjudged, codes, strict=True)
        ]
        of_query = np.concatenate([code[kept] for code, kept in zip(codes, shown, strict=True)])
        distinct, first = distinct_keys(
            np.concatenate([key[kept] for key, kept in zip(keys, shown, strict=True)])
        )
        by_query = in_stable_order(of_query[first])
        place = np.empty(by_query.size, np.int64)
        place[by_query] = np.arange(by_query.size)
        sides = tuple(
            _side(judged, row, places, code, key, distinct=distinct, place=place)
            for judged, row, places, code, key in zip(
                lists, rows, unjudged, codes, keys, strict=True
            )
        )
        return cls(queries, of_query[first][by_query], sides)

    @cached_property
    def offsets(self) -> IntArray:
        """Where the documents of each query begin, shape (n_queries + 1,)."""
        return np.searchsorted(self.query, np.arange(len(self.queries) + 1))

    @cached_property
    def sizes(self) -> IntArray:
        """Number of documents of each query, shape (n_queries,)."""
        return np.diff(self.offsets)

    @cached_property
    def weights(self) -> IntArray:
        """Rows of one copy of each query: judgments, and hits of every run; at least 1."""
        total = self.sizes.copy()
        for side in self.sides:
            for query in (side.judged.hits.query, side.judged.judgments.query):
                total += np.bincount(query, minlength=side.judged.n_queries)[side.row]
        return np.maximum(total, 1)

    def returned_by(self, side: int) -> BoolArray:
        """Mark the documents that a run returns, shape (n_documents,)."""
        found = np.zeros(self.query.size, np.bool_)
        found[self.sides[side].document] = True
        return found

    def first_rank(self, side: int) -> IntArray:
        """Highest place of each document in a run, as a rank from 1; `NOWHERE` if the run does not
        return it.
        """
        rank = np.full(self.query.size, NOWHERE)
        np.minimum.at(rank, self.sides[side].document, self.sides[side].places.rank)
        return rank

    def completed(self, side: int, grades: FloatArray, copies: IntArray | None = None) -> Judged:
        """Lists of a run with grades given to the free documents."""
        copies = np.arange(len(self.queries)) if copies is None else copies
        if side not in self._layouts or not np.array_equal(self._layouts[side].copies, copies):
            # choices of grades for the same copies follow one another
            self._layouts[side] = _Layout.of(self, side, copies)
        return self._layouts[side].with_grades(grades)

    @cached_property
    def _layouts(self) -> "dict[int, _Layout]":
        return {}


class _Layout(NamedTuple):
    """Copies of queries of one run, before their free documents have grades: where each grade
    goes.
    """

    base: Judged  # The lists as judged
    copies: IntArray  # shape (n_copies,): query code of each copy
    codes: IntArray  # shape (n_copies,): its code in `base`
    hits: Hits  # Hits of the copies by rank, without grades
    # known, free: Row in `base` of each known hit, and place among the grades of each free one
    known: IntArray
    free: IntArray
    order: IntArray  # shape (n_hits,): place of each hit among known hits, then free ones
    judged: IntArray  # Row in `base` of each judgment of the copies
    # of_copy, by_copy: shape (n_grades,): copy of each grade of the ideal, rising, and its place
    # among judgments, then free documents
    of_copy: IntArray
    by_copy: IntArray
    alignments: Alignments  # Counters of the copies

    @classmethod
    def of(cls, documents: FreeDocuments, side: int, copies: IntArray) -> Self:
        """Arrange copies of queries."""
        one, n_queries = documents.sides[side], len(documents.queries)
        base, codes = one.judged, one.row[copies]
        places = Ragged.of(np.searchsorted(one.places.query, np.arange(n_queries + 1)), copies)
        begins = np.concatenate(([0], np.cumsum(documents.sizes[copies])))
        free = (
            begins[places.copy] + one.document[places.row] - documents.offsets[copies[places.copy]]
        )
        known = Ragged.of(np.searchsorted(base.hits.query, np.arange(base.n_queries + 1)), codes)
        hits, order = _merged(base.hits, one.places, known, places)
        judged = Ragged.of(
            np.searchsorted(base.judgments.query, np.arange(base.n_queries + 1)), codes
        )
        of_copy = np.concatenate((judged.copy, Ragged.of(documents.offsets, copies).copy))
        by_copy = np.argsort(of_copy, kind="stable")
        counters = base.alignments
        n_judged = counters.judged[codes] + np.bincount(places.copy, minlength=copies.size)
        alignments = Alignments(
            counters.tied[codes],
            counters.duplicates[codes],
            n_judged * 0,
            n_judged,
            counters.straddling[codes],
        )
        return cls(
            base=base,
            copies=copies,
            codes=codes,
            hits=hits,
            known=known.row,
            free=free,
            order=order,
            judged=judged.row,
            of_copy=of_copy[by_copy],
            by_copy=by_copy,
            alignments=alignments,
        )

    def with_grades(self, grades: FloatArray) -> Judged:
        """The lists with grades given to the free documents, copy after copy."""
        base, given = self.base, grades[self.free]
        hits = replace(
            self.hits, grade=np.concatenate((base.hits.grade[self.known], given))[self.order]
        )
        all_grades = np.concatenate((base.judgments.grade[self.judged], grades))[self.by_copy]

        def judgments() -> Judgments:
            all_given = np.concatenate((base.judgments.given[self.judged], grades))[self.by_copy]
            return Judgments(self.of_copy, all_grades, all_given)

        return Judged(
            queries=_copied_ids(base, self.codes),
            ties=base.ties,
            lengths=base.lengths[self.codes],
            returned=base.returned[self.codes],
            hits=lambda: hits,
            ideal=lambda: ideal_grades(self.of_copy, all_grades, self.copies.size),
            alignments=self.alignments,
            scope=base.scope,
            depth=base.depth,
            judgments=judgments,
            given=lambda: np.concatenate((base.given[self.known], given))[self.order],
        )


class Ragged(NamedTuple):
    """Rows of some queries, query after query: the position of the query in the selection, and the
    row.
    """

    copy: IntArray
    row: IntArray

    @classmethod
    def of(cls, offsets: IntArray, codes: IntArray) -> Self:
        """Rows of the queries with these codes, given where the rows of each begin."""
        sizes = np.diff(offsets)[codes]
        copy = np.repeat(np.arange(codes.size), sizes)
        begins = np.cumsum(sizes) - sizes
        return cls(copy, np.arange(copy.size) - begins[copy] + offsets[codes][copy])


def _copied_ids(base: Judged, codes: IntArray) -> QueryIds:
    return QueryIds(codes.size, lambda: [base.queries[int(code)] for code in codes])


def _merged(old: Hits, free: Hits, known: Ragged, places: Ragged) -> tuple[Hits, IntArray]:
    """Hits of the copies by rank, without grades; and the place of each among known hits, then free
    ones.
    """
    query = np.concatenate((known.copy, places.copy))
    rank = np.concatenate((old.rank[known.row], free.rank[places.row]))
    # ranks are below 2^31; both parts are in order, and merging them is quick
    order = np.argsort(query << 32 | rank, kind="stable")
    grade = np.zeros(order.size)
    if free.tie_first is None and old.tie_first is None:
        return Hits(query=query[order], rank=rank[order], grade=grade), order
    first, last = (
        np.concatenate(
            [(hits.rank if column is None else column)[rows] for hits, column, rows in parts]
        )[order]
        for parts in (
            ((old, old.tie_first, known.row), (free, free.tie_first, places.row)),
            ((old, old.tie_last, known.row), (free, free.tie_last, places.row)),
        )
    )
    return Hits(
        query=query[order], rank=rank[order], grade=grade, tie_first=first, tie_last=last
    ), order


def _rows(judged: Judged, queries: Sequence[str]) -> IntArray:
    """Code of each query compared in a run."""
    if len(judged.queries) == len(queries) and all(map(str.__eq__, judged.queries, queries)):
        return np.arange(len(queries))
    code = {query: place for place, query in enumerate(judged.queries)}
    return np.array([code[query] for query in queries], np.int64)


def _codes(judged: Judged, row: IntArray, unjudged: UnjudgedHits) -> IntArray:
    """Query compared of each unjudged document of a run, -1 if none."""
    code = np.full(judged.n_queries, -1)
    code[row] = np.arange(row.size)
    return code[unjudged.query]


def _keys(unjudged: UnjudgedHits, code: IntArray) -> KeyArray:
    """A number for the query and the document: a large odd multiple of the query is added to the
    document's own.
    """
    return unjudged.key + code.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def _unjudged(judged: Judged, deepest: int) -> UnjudgedHits:
    """Unjudged documents down to a rank, with all documents tied with one above it."""
    if judged.unjudged is None:
        raise InputError(
            "found lists without their unjudged documents, expected evaluate(..., "
            "keep_unjudged=True)"
        )
    return judged.unjudged.part(judged.unjudged.above(deepest))


def _within(judged: Judged, unjudged: UnjudgedHits, depth: int | None) -> BoolArray:
    """Mark unjudged documents down to a rank, with all documents tied with one above it where ties
    have no order.
    """
    if depth is None:
        return np.ones(unjudged.rank.size, np.bool_)
    return (
        unjudged.tie_first if judged.ties in ("expected", "best", "worst") else unjudged.rank
    ) <= depth


def _side(
    judged: Judged,
    row: IntArray,
    unjudged: UnjudgedHits,
    code: IntArray,
    key: KeyArray,
    *,
    distinct: KeyArray,
    place: IntArray,
) -> ListedPlaces:
    """Places of free documents in one run, given their sorted keys and the document of each."""
    at, found = _lookup(distinct, key)
    kept = code[found] >= 0
    at, found = at[kept], found[kept]
    places = replace(unjudged.as_hits().part(found), query=code[found])
    by_place = places.query << 32 | places.rank  # ranks are below 2^31
    if (by_place[1:] >= by_place[:-1]).all():  # unless the run has the queries in another order
        return ListedPlaces(judged, row, places, place[at])
    order = np.argsort(by_place, kind="stable")
    return ListedPlaces(judged, row, places.part(order), place[at][order])


def _lookup(distinct: KeyArray, key: KeyArray) -> tuple[IntArray, IntArray]:
    """Places among sorted keys, and which keys have one. A key is a hash: bits at two places in it
    rule out nearly all others.
    """
    likely = np.arange(key.size)
    for shift in (np.uint64(0), np.uint64(_BITS)):
        bits = np.uint64((1 << _BITS) - 1)
        seen = np.zeros(1 << _BITS, np.bool_)
        seen[distinct >> shift & bits] = True
        likely = likely[seen[key[likely] >> shift & bits]]
    at = np.searchsorted(distinct, key[likely])
    found = at < distinct.size
    found[found] = distinct[at[found]] == key[likely[found]]
    return at[found], likely[found]
