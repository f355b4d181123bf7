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

_BITS = 20  # of a key at one of two places: a table of 2^20 marks stays in the cache
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
        runs = [_UnjudgedRun.of(judged, queries, deepest) for judged in lists]
        shown = [run.shown(depth) for run in runs]
        of_query = np.concatenate([run.code[rows] for run, rows in zip(runs, shown, strict=True)])
        keys = np.concatenate([run.key[rows] for run, rows in zip(runs, shown, strict=True)])
        distinct, first = distinct_keys(keys)
        # Documents are in the order of their keys; here they come query after query.
        by_query = in_stable_order(of_query[first])
        place = np.empty(by_query.size, np.int64)
        place[by_query] = np.arange(by_query.size)
        sides = tuple(run.placed(distinct, place) for run in runs)
        return cls(queries, of_query[first][by_query], sides)

    @cached_property
    def offsets(self) -> IntArray:
        """First document of each query, shape (n_queries + 1,)."""
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
        returned = np.zeros(self.query.size, np.bool_)
        returned[self.sides[side].document] = True
        return returned

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
        listed_run = documents.sides[side]
        n_queries = len(documents.queries)
        base = listed_run.judged
        codes = listed_run.row[copies]
        places = Ragged.of(
            np.searchsorted(listed_run.places.query, np.arange(n_queries + 1)), copies
        )
        begins = np.concatenate(([0], np.cumsum(documents.sizes[copies])))
        # Each document is numbered within its query, and copies follow one another.
        in_query = listed_run.document[places.row] - documents.offsets[copies[places.copy]]
        free = begins[places.copy] + in_query
        known = Ragged.of(np.searchsorted(base.hits.query, np.arange(base.n_queries + 1)), codes)
        hits, order = _merged(base.hits, listed_run.places, known, places)
        judged = Ragged.of(
            np.searchsorted(base.judgments.query, np.arange(base.n_queries + 1)), codes
        )
        of_copy = np.concatenate((judged.copy, Ragged.of(documents.offsets, copies).copy))
        by_copy = np.argsort(of_copy, kind="stable")
        counters = base.alignments
        n_judged = counters.judged[codes] + np.bincount(places.copy, minlength=copies.size)
        alignments = Alignments(
            tied=counters.tied[codes],
            duplicates=counters.duplicates[codes],
            first_unjudged=np.zeros_like(n_judged),
            judged=n_judged,
            straddling=counters.straddling[codes],
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
        base = self.base
        free_grades = grades[self.free]
        hits = replace(
            self.hits, grade=np.concatenate((base.hits.grade[self.known], free_grades))[self.order]
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
            given=lambda: np.concatenate((base.given[self.known], free_grades))[self.order],
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

    def ends(old_ends: IntArray | None, free_ends: IntArray | None) -> IntArray:
        """Join ends of ties; a hit that is not tied stands at both ends itself."""
        of_known = (old.rank if old_ends is None else old_ends)[known.row]
        of_free = (free.rank if free_ends is None else free_ends)[places.row]
        return np.concatenate((of_known, of_free))[order]

    hits = Hits(
        query=query[order],
        rank=rank[order],
        grade=grade,
        tie_first=ends(old.tie_first, free.tie_first),
        tie_last=ends(old.tie_last, free.tie_last),
    )
    return hits, order


class _UnjudgedRun(NamedTuple):
    """Unjudged documents of one run, and a key of each that is equal in all runs."""

    judged: Judged
    row: IntArray  # shape (n_queries,): query code in `judged` of each query compared
    places: UnjudgedHits
    code: IntArray  # shape (n_places,): query compared of each document, -1 if none
    key: KeyArray  # shape (n_places,): for the query and the document

    @classmethod
    def of(cls, judged: Judged, queries: Sequence[str], deepest: int) -> Self:
        """Look up the documents down to a rank."""
        row = _rows(judged, queries)
        places = _unjudged(judged, deepest)
        code = np.full(judged.n_queries, -1)
        code[row] = np.arange(row.size)
        code = code[places.query]
        return cls(judged=judged, row=row, places=places, code=code, key=_keys(places, code))

    def shown(self, depth: int | None) -> IntArray:
        """Documents of the queries compared, down to a rank."""
        return np.flatnonzero((self.code >= 0) & _within(self.judged, self.places, depth))

    def placed(self, distinct: KeyArray, place: IntArray) -> ListedPlaces:
        """Places of free documents, given their sorted keys and the document of each."""
        found, matched = _lookup(distinct, self.key)
        is_compared = self.code[matched] >= 0
        matched = matched[is_compared]
        document = place[found[is_compared]]
        places = replace(self.places.as_hits().part(matched), query=self.code[matched])
        by_place = places.query << 32 | places.rank  # ranks are below 2^31
        if (by_place[1:] >= by_place[:-1]).all():  # unless the run has the queries in another order
            return ListedPlaces(judged=self.judged, row=self.row, places=places, document=document)
        order = np.argsort(by_place, kind="stable")
        return ListedPlaces(
            judged=self.judged, row=self.row, places=places.part(order), document=document[order]
        )


def _rows(judged: Judged, queries: Sequence[str]) -> IntArray:
    """Code of each query compared in a run."""
    if len(judged.queries) == len(queries) and all(map(str.__eq__, judged.queries, queries)):
        return np.arange(len(queries))
    code = {query: place for place, query in enumerate(judged.queries)}
    return np.array([code[query] for query in queries], np.int64)


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
    unordered = judged.ties in ("expected", "best", "worst")
    return (unjudged.tie_first if unordered else unjudged.rank) <= depth


def _lookup(distinct: KeyArray, key: KeyArray) -> tuple[IntArray, IntArray]:
    """Positions among sorted keys, and the keys that have one. A key is a hash: bits at two places
    in it rule out nearly all others, without a search.
    """
    likely = np.arange(key.size)
    for shift in (np.uint64(0), np.uint64(_BITS)):
        bits = np.uint64((1 << _BITS) - 1)
        occurs = np.zeros(1 << _BITS, np.bool_)
        occurs[distinct >> shift & bits] = True
        likely = likely[occurs[key[likely] >> shift & bits]]
    positions = np.searchsorted(distinct, key[likely])
    matches = positions < distinct.size
    matches[matches] = distinct[positions[matches]] == key[likely[matches]]
    return positions[matches], likely[matches]
