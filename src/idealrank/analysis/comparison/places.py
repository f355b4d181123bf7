"""Where the documents of two runs stand: judged and unjudged ones, those that both runs show, and
what each would be worth.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from idealrank.data.alignment import Ties
from idealrank.data.judged import Hits, Judged
from idealrank.data.qrels import Qrels
from idealrank.data.segments import sorted_keys
from idealrank.data.types import BoolArray, FloatArray, IntArray, KeyArray
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.cutoffs import limits_of
from idealrank.measures.measure import Measure

FEWEST = 20  # judged documents of a rank; ranks with fewer are joined to their neighbours
NO_RANKINGS = (
    "evaluations do not keep rankings; evaluate with keep_unjudged=True, or give the files to "
    "`idealrank compare`"
)

_UNORDERED: tuple[Ties, ...] = ("best", "worst")


class Places(NamedTuple):
    """Documents of one run that count in one measure."""

    measure: Measure  # With every option set
    judged: Judged  # The lists
    row: IntArray  # shape (n_queries of the run,): row of each of its queries among those compared
    documents: Hits  # Unjudged documents within the cutoff
    place: IntArray  # shape (n_unjudged,): their places among all unjudged documents of the run
    rank: IntArray
    weight: FloatArray  # shape (n_unjudged,): value added per unit of gain
    # shape (n_hits,): rows of the queries of judged documents within the cutoff, among those
    # compared
    hit_row: IntArray
    hit_rank: IntArray  # shape (n_hits,): their ranks, in the same way
    hit_document: IntArray  # shape (n_hits,): their rows in the judgments
    hit_worth: FloatArray  # shape (n_hits,): their gains
    linear: bool  # Whether the measure is a sum over documents

    @classmethod
    def of(cls, evaluation: Evaluation, measure: Measure, rows: IntArray) -> "Places | str":
        """The places, or why there are none."""
        judged = evaluation.judged
        measure = measure.under(evaluation.convention)
        if reason := _refusal(evaluation, measure):
            return reason
        assert judged is not None  # noqa: S101  (for the type checker: looked at above)
        assert judged.unjudged is not None  # noqa: S101
        hits = judged.hits
        unjudged = judged.unjudged
        within_depth = unjudged.above(measure.hits_needed())
        documents = unjudged.part(within_depth).as_hits()
        weights = measure.weights(judged, documents)
        linear = weights is not None
        if weights is not None:
            within = np.flatnonzero(weights > 0)
        elif measure.expected(judged, documents) is None:
            return (
                f"{measure.name} is not linear in the grades, and its expected value has no closed "
                "form here"
            )
        else:
            within = np.flatnonzero(_within(measure, judged, documents))
            weights = measure.added_alone(judged, documents)
            if weights is None:
                weights = 1.0 / _ranks(judged, documents)
        counted = _within(measure, judged, hits)
        worth = measure.worth(hits.grade[counted])
        assert worth is not None  # noqa: S101
        assert hits.document is not None  # noqa: S101
        place = within_depth
        rank = _ranks(judged, documents)
        if within.size < weights.size:  # else copies would double the memory
            place = within_depth[within]
            rank = rank[within]
            weights = weights[within]
        return cls(
            measure=measure,
            judged=judged,
            row=rows,
            documents=_kept(documents, within),
            place=place,
            rank=rank,
            weight=weights,
            hit_row=rows[hits.query[counted]],
            hit_rank=_ranks(judged, hits)[counted],
            hit_document=hits.document[counted],
            hit_worth=worth,
            linear=linear,
        )

    def only(self, within: BoolArray) -> "Places":
        """The documents of some of the queries compared, as if no other had any."""
        documents = within[self.document_rows]
        hits = within[self.hit_row]
        return self._replace(
            documents=self.documents.part(documents),
            place=self.place[documents],
            rank=self.rank[documents],
            weight=self.weight[documents],
            hit_row=self.hit_row[hits],
            hit_rank=self.hit_rank[hits],
            hit_document=self.hit_document[hits],
            hit_worth=self.hit_worth[hits],
        )

    @property
    def keys(self) -> KeyArray:
        """A number for the query and id of each unjudged document, as `unjudged_keys` gives all of
        a run.
        """
        unjudged = self.judged.unjudged
        assert unjudged is not None  # noqa: S101  (for the type checker: `of` has looked)
        return keys_of(unjudged.key[self.place], self.document_rows)

    @property
    def document_rows(self) -> IntArray:
        """Row of the query of each unjudged document, among the queries compared."""
        return self.row[self.documents.query]


def _kept(places: Hits, rows: IntArray) -> Hits:
    """Some places, given their rows in rising order; all of them without a copy."""
    return places if rows.size == places.query.size else places.part(rows)


def _ranks(judged: Judged, places: Hits) -> IntArray:
    """Ranks that stand for places, whatever the order of tied documents in the input; see
    `Places.rank`.
    """
    if places.tie_first is None or places.tie_last is None or judged.ties != "expected":
        return places.rank
    return (places.tie_first + places.tie_last) // 2


def _within(measure: Measure, judged: Judged, places: Hits) -> BoolArray:
    """Mark the places within the cutoff."""
    if measure.cutoff is None:
        return np.ones(places.query.size, np.bool_)
    first = (
        places.rank if places.tie_first is None or judged.ties != "expected" else places.tie_first
    )
    return np.asarray(first <= limits_of(measure.cutoff, judged.lengths, places.query))


def _refusal(evaluation: Evaluation, measure: Measure) -> str:
    """Why nothing can be said; empty where something can."""
    judged = evaluation.judged
    if measure.judged_only or evaluation.convention.alignment.unjudged == "skipped":
        return "unjudged documents are removed from the lists, so their grades cannot matter"
    if not measure.tells_unjudged or measure.worth(np.ones(1)) is None:
        return f"{measure.name} does not state the contribution of one more relevant document"
    if judged is None or not judged.unjudged_depth:
        return NO_RANKINGS
    if judged.hits.document is None:
        return "the lists have no document ids"
    needed = measure.cutoff
    if not isinstance(needed, int):
        needed = int(judged.lengths.max(initial=0))
    if judged.unjudged_depth < needed:
        return (
            f"{measure} looks deeper than rank {judged.unjudged_depth}, down to which unjudged "
            f"documents are known; expected a cutoff, as in {measure.name}@100"
        )
    if judged.ties in _UNORDERED and judged.alignments.tied.any():
        return f"scores tie, and under ties={judged.ties} a tied document has no rank of its own"
    return ""


def joined_ranks(counts: IntArray, fewest: int = FEWEST) -> IntArray:
    """Group of each rank: neighbours joined from the top until each group has enough documents; the
    rest joins the last group.
    """
    group = 0
    filled = 0
    groups = []
    for count in counts[1:].tolist():
        groups.append(group)
        filled += count
        if filled >= fewest:
            group = group + 1
            filled = 0
    group_of_rank = np.array([0, *groups], np.int64)
    return np.minimum(group_of_rank, max(group - 1, 0)) if filled < fewest else group_of_rank


@dataclass(frozen=True)
class ByRank:
    """A mean at each rank, of groups of ranks that have enough documents."""

    mean: FloatArray  # shape (n_ranks + 1,): NaN where there is no document at all
    n: IntArray  # Documents of the rank's group

    @classmethod
    def of(cls, rank: IntArray, values: FloatArray, deepest: int) -> "ByRank":
        """Means of values by rank."""
        group = joined_ranks(np.bincount(rank, minlength=deepest + 1))
        n_groups = int(group.max(initial=0)) + 1
        n = np.bincount(group[rank], minlength=n_groups)
        sums = np.bincount(group[rank], weights=values, minlength=n_groups)
        overall = float(values.mean()) if values.size else np.nan
        mean = np.divide(sums, n, out=np.full(n_groups, overall), where=n > 0)
        return cls(mean[group], n[group].astype(np.int64))


def unjudged_keys(evaluation: Evaluation, rows: IntArray) -> KeyArray:
    """A number for the query and document of each unjudged document of a run."""
    judged = evaluation.judged
    if judged is None or judged.unjudged is None:
        return np.zeros(0, np.uint64)
    return keys_of(judged.unjudged.key, rows[judged.unjudged.query])


def keys_of(documents: KeyArray, rows: IntArray) -> KeyArray:
    """Return one number for the id of each document and the row of its query."""
    # A large odd multiple of the query, so that one number stands for query and document.
    return documents + rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)


def matches(a: KeyArray, b: KeyArray) -> tuple[IntArray, IntArray]:
    """Places of the documents that are unjudged in both runs, given `unjudged_keys` of either, by
    rising key.
    """
    places, keys = sorted_keys(np.concatenate((a, b)))
    first = np.flatnonzero(keys[1:] == keys[:-1])
    of_a = places[first]
    of_b = places[first + 1]
    if (of_a < a.size).all() and (of_b >= a.size).all():
        return of_a, of_b - a.size
    # a document that is listed twice, and counts twice
    keys_a, places_a = _with_distinct_keys(a)
    keys_b, places_b = _with_distinct_keys(b)
    positions = np.searchsorted(keys_b, keys_a)
    shared = positions < keys_b.size
    shared[shared] = keys_b[positions[shared]] == keys_a[shared]
    return places_a[shared], places_b[positions[shared]]


def _with_distinct_keys(keys: KeyArray) -> tuple[KeyArray, IntArray]:
    """Sorted keys, and their places: the first place of a document meets that of the other run,
    then its second.
    """
    order, rising = sorted_keys(keys)
    repeats = np.append(False, rising[1:] == rising[:-1])
    positions = np.arange(keys.size)
    if not repeats.any():
        return rising, order
    # A large odd multiple of the number of equal keys before each makes a key of its own.
    n_before = positions - np.maximum.accumulate(np.where(repeats, 0, positions))
    distinct = rising + n_before.astype(np.uint64) * np.uint64(0xD1B54A32D192ED03)
    resorted = np.argsort(distinct, kind="stable")
    return distinct[resorted], order[resorted]


def shared_documents(
    a: Places, b: Places, matched: tuple[IntArray, IntArray]
) -> tuple[IntArray, IntArray]:
    """Find the documents unjudged in both runs that both show within the cutoff, as places among
    the documents of `a` and of `b`.
    """
    sides = tuple(zip((a, b), matched, strict=True))
    sizes = [
        max(int(side.place.max(initial=-1)), int(places.max(initial=-1))) + 1
        for side, places in sides
    ]
    matches_within = np.arange(matched[0].size)
    for (side, places), size in zip(sides, sizes, strict=True):
        if side.place.size < size:  # else all are within the cutoff
            within = np.zeros(size, np.bool_)
            within[side.place] = True
            matches_within = matches_within[within[places[matches_within]]]
    first, second = (
        _positions(side.place, size)[places[matches_within]]
        for (side, places), size in zip(sides, sizes, strict=True)
    )
    return first, second


def _positions(place: IntArray, size: int) -> IntArray:
    """Position of each place among some in rising order; anything for the others."""
    position = np.empty(size, np.int64)
    position[place] = np.arange(place.size)
    return position


def shown_by_both(side: Places, other: Places) -> BoolArray:
    """Mark the judged documents of a run that the other run shows, too; all of them without
    documents of the judgments.
    """
    first, second = side.judged.qrels, other.judged.qrels
    rows = np.union1d(side.hit_document, other.hit_document)
    if first is second or _same_rows(first, second, rows):
        return np.isin(side.hit_document, other.hit_document)
    if first is None or second is None:
        return np.ones(side.hit_document.size, np.bool_)
    of_other = set(_pairs(second, other.hit_document))
    return np.array([pair in of_other for pair in _pairs(first, side.hit_document)], np.bool_)


def _same_rows(first: Qrels | None, second: Qrels | None, rows: IntArray) -> bool:
    """Return whether rows of two tables of judgments mean the same documents, as after reading one
    file twice.
    """
    if first is None or second is None or not np.array_equal(first.offsets, second.offsets):
        return False
    same_queries = first.table.query_ids() == second.table.query_ids()
    return same_queries and first.table.document_ids(rows) == second.table.document_ids(rows)


def _pairs(qrels: Qrels, rows: IntArray) -> Iterator[tuple[bytes, bytes]]:
    """Query and document of rows."""
    queries = qrels.table.query_ids()
    of_rows = np.searchsorted(qrels.offsets, rows, side="right") - 1
    query_ids = [queries[code] for code in of_rows.tolist()]
    return zip(query_ids, qrels.table.document_ids(rows), strict=True)
