"""The only sort and the only join of the library: a run is ranked, its documents are looked up in
the judgments.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from idealrank import _kernel
from idealrank.data.alignment import Alignment, Ties
from idealrank.data.cuts import Cut, make_cut
from idealrank.data.eligibility import Eligibility
from idealrank.data.judged import (
    Alignments,
    Hits,
    Judged,
    Judgments,
    Scope,
    Top,
    UnjudgedHits,
)
from idealrank.data.policies import (
    Graded,
    IdealGrades,
    apply_grade_policies,
    ideal_grades,
    name_row,
    queries_that_count,
    refuse_unjudged,
)
from idealrank.data.problems import translate
from idealrank.data.qrels import Qrels
from idealrank.data.run import KERNEL_TIES, Run
from idealrank.data.run_parts import RunParts
from idealrank.data.types import AnyArray, IntArray, QueryIds, decode_id, thread_count
from idealrank.errors import InputError, OptionError

# Queries, hits and judgments of a stretch: columns of so many stay in the cache.
_STRETCH = 1 << 18


def align(
    qrels: Qrels,
    run: Run,
    alignment: Alignment,
    *,
    depth: int = 0,
    max_documents: int | None = None,
    unjudged_depth: int = 0,
    top_depth: int = 0,
    threads: int = 0,
    progress: _kernel.Progress | None = None,
) -> Judged:
    """Rank every query of the run and look its documents up in the judgments."""
    graded = apply_grade_policies(qrels.grades, alignment, lambda row: name_row(qrels, row))
    cut = make_cut(max_documents, alignment, graded.removed)
    if cut is not None:
        # A cut changes ranks, so that unjudged documents and tops of lists are not kept.
        depth = cut.documents
        unjudged_depth = top_depth = 0
    options = {
        **_kernel_options(alignment, graded, cut, qrels.eligibility),
        "depth": depth,
        "unjudged_depth": unjudged_depth,
        "threads": thread_count(threads),
        "progress": progress,
    }
    try:
        aligned = _aligned(qrels, run, alignment, top_depth, options)
        unjudged = _unjudged_columns(aligned, run, alignment, options)
    except _kernel.ParseError as error:
        raise translate(error, run.paths, "run") from None
    run.let_go()
    if qrels.eligibility is not None and qrels.eligibility.breach == "error":
        _refuse_breaches(qrels, run, aligned)
    judged = _judged(
        qrels, run, alignment, aligned, graded, depth=depth, cut=cut, unjudged=unjudged
    )
    if top_depth:
        is_whole = graded.removed is None and alignment.unjudged != "skipped"
        judged.top = Top.of_aligned(aligned, top_depth, is_whole=is_whole)
    return judged


def _kernel_options(
    alignment: Alignment, graded: Graded, cut: Cut | None, eligibility: Eligibility | None
) -> dict[str, Any]:
    options: dict[str, Any] = {
        "ties": KERNEL_TIES.get(alignment.ties, "input"),
        "float32": alignment.score == "float32",
        "duplicates": alignment.duplicates,
        "skip_unjudged": False,
        "removed": None,
        **({} if eligibility is None else eligibility.kernel_options()),
    }
    # With a cut, the kernel only ranks. Removed and skipped documents must still hold their ranks
    # when the list is cut, so `Cut` takes them out afterwards.
    if cut is None:
        options["skip_unjudged"] = alignment.unjudged == "skipped"
        options["removed"] = None if graded.removed is None else graded.removed.view(np.uint8)
    return options


def _aligned(
    qrels: Qrels, run: Run, alignment: Alignment, top_depth: int, options: dict[str, Any]
) -> Any:
    """Return what the kernel finds in a run, or in its parts."""
    source: Any = run.source
    if not isinstance(source, RunParts):
        return _kernel.align(qrels.table, source, **options, top_depth=top_depth)
    if top_depth:
        raise OptionError(
            f"run {run.name!r}: found a run that is read in parts, of which no lists are "
            f"kept; expected one in memory"
        )
    return source.align(
        qrels.table, keep_run_only=alignment.without_judgments == "evaluated", **options
    )


class _Unjudged(NamedTuple):
    """Unjudged documents down to a rank, query after query."""

    depth: int
    offsets: IntArray
    key: AnyArray
    rank: AnyArray
    tie_first: AnyArray
    tie_last: AnyArray

    @classmethod
    def of(cls, aligned: _kernel.Aligned, depth: int) -> "_Unjudged":
        return cls(
            depth=depth,
            offsets=aligned.unjudged_offsets,
            key=aligned.unjudged_key,
            rank=aligned.unjudged_rank,
            tie_first=aligned.unjudged_first,
            tie_last=aligned.unjudged_last,
        )


def _unjudged_columns(
    aligned: _kernel.Aligned, run: Run, alignment: Alignment, options: Mapping[str, Any]
) -> _Unjudged | None:
    """Unjudged documents of all queries that count; None if they were not asked for.

    The kernel tells them of queries of the judgments alone. Other queries, if they count, are
    aligned as queries without judgments.
    """
    if not options["unjudged_depth"]:
        return None
    unjudged = _Unjudged.of(aligned, options["unjudged_depth"])
    if alignment.without_judgments != "evaluated" or aligned.n_queries == aligned.n_qrels_queries:
        return unjudged
    others = Qrels({decode_id(query): {} for query in aligned.run_only_ids()})
    more = _Unjudged.of(
        _aligned(others, run, alignment, 0, {**options, "removed": None, "progress": None}),
        unjudged.depth,
    )
    columns = {
        name: np.concatenate((getattr(unjudged, name), getattr(more, name)))
        for name in ("key", "rank", "tie_first", "tie_last")
    }
    offsets = np.concatenate((unjudged.offsets, unjudged.offsets[-1] + more.offsets[1:]))
    return _Unjudged(depth=unjudged.depth, offsets=offsets, **columns)


def _refuse_breaches(qrels: Qrels, run: Run, aligned: _kernel.Aligned) -> None:
    """Raise where a judged query returns a document that is not permitted."""
    breaches = aligned.breaches[: qrels.n_queries]
    in_breach = np.flatnonzero(breaches)
    if in_breach.size:
        raise InputError(
            f"run {run.name!r}, query {qrels.queries[int(in_breach[0])]!r}: found "
            f"{int(breaches[in_breach[0]]):,} documents that are not permitted "
            f"({int(breaches.sum()):,} for {in_breach.size:,} queries in all), expected none; "
            "breach=removed takes them out and counts them"
        )


def _judged(
    qrels: Qrels,
    run: Run,
    alignment: Alignment,
    aligned: _kernel.Aligned,
    graded: Graded,
    *,
    depth: int,
    cut: Cut | None,
    unjudged: _Unjudged | None,
) -> Judged:
    refuse_unjudged(qrels, run, alignment, aligned, within=cut.documents if cut else None)
    counting = queries_that_count(qrels, run, alignment, aligned)
    missing = np.flatnonzero(~aligned.in_run[: qrels.n_queries])
    scope = Scope(
        queries_in_qrels=qrels.n_queries,
        queries_in_run=int(np.count_nonzero(aligned.in_run)),
        missing=QueryIds(missing.size, lambda: [qrels.queries[int(query)] for query in missing]),
        without_judgments=aligned.n_queries - aligned.n_qrels_queries,
        truncated_grades=graded.truncated,
        doubtful_comments=aligned.counters.get("comments_like_data", 0),
        **_screened(qrels, aligned),
    )
    return _Joined(
        qrels=qrels,
        aligned=aligned,
        graded=graded,
        counting=counting,
        ties=alignment.ties,
        scope=scope,
        depth=depth,
        cut=cut,
        unjudged=unjudged,
    ).whole()


def _screened(qrels: Qrels, aligned: _kernel.Aligned) -> dict[str, int]:
    """Counts of what the judged queries lost before they were ranked."""
    if qrels.eligibility is None:
        return {}
    n = qrels.n_queries
    return {
        "excluded": int(aligned.excluded[:n].sum()),
        "excluded_judgments": qrels.eligibility.excluded_judgments,
        "breaches": int(aligned.breaches[:n].sum()),
    }


class _Joined(NamedTuple):
    """Result of the kernel, as columns of some or all queries."""

    qrels: Qrels
    aligned: _kernel.Aligned
    graded: Graded
    counting: IntArray | None  # codes of the queries that count; None for all
    ties: Ties
    scope: Scope
    depth: int
    cut: Cut | None
    unjudged: _Unjudged | None

    @property
    def n_queries(self) -> int:
        return self.aligned.n_queries if self.counting is None else self.counting.size

    def whole(self) -> Judged:
        """All queries that count."""
        return self._stretch(0, self.n_queries, self._stretches if self.n_queries > 1 else None)

    def _stretches(self) -> Iterator[Judged]:
        """Queries in stretches that have few queries, few hits and few judgments."""
        begin = 0
        while begin < self.n_queries:
            end = min(
                begin + _STRETCH,
                self._end_within(self.aligned.hit_offsets, begin),
                self._end_within(self.qrels.offsets, begin),
            )
            yield self._stretch(begin, end)
            begin = end

    def _end_within(self, offsets: IntArray, begin: int) -> int:
        """Find the farthest place whose rows fit in a stretch; at least one query, however long."""
        n_codes = offsets.size - 1
        first_code = self._code(begin)
        if first_code >= n_codes:  # queries without rows
            return self.n_queries
        limit = offsets[first_code] + _STRETCH
        first_code_beyond = int(np.searchsorted(offsets, limit, side="right")) - 1
        if first_code_beyond >= n_codes:
            return self.n_queries
        return max(begin + 1, self._place(first_code_beyond))

    def _code(self, place: int) -> int:
        return place if self.counting is None else int(self.counting[place])

    def _place(self, code: int) -> int:
        return code if self.counting is None else int(np.searchsorted(self.counting, code))

    def _stretch(
        self, begin: int, end: int, parts: Callable[[], Iterator[Judged]] | None = None
    ) -> Judged:
        """The queries at the places from `begin` to before `end`."""
        aligned = self.aligned
        codes = slice(begin, end) if self.counting is None else self.counting[begin:end]

        def pick(column: AnyArray) -> IntArray:
            wide: IntArray = column[codes].astype(np.int64, copy=False)
            return wide

        lengths = pick(aligned.length)
        alignments = Alignments(
            tied=aligned.tied[codes],
            duplicates=aligned.duplicates[codes],
            first_unjudged=aligned.first_unjudged[codes],
            judged=aligned.judged[codes],
            straddling=aligned.straddling[codes],
        )
        if self.cut is not None:
            lengths, alignments = self.cut.columns(
                lengths, alignments, self._uncut_hits(begin, end)
            )
        unjudged = None
        if self.unjudged is not None:
            unjudged = partial(self._unjudged, self.unjudged, begin, end)
        return Judged(
            queries=QueryIds(end - begin, lambda: self._ids(begin, end)),
            ties=self.ties,
            lengths=lengths,
            returned=pick(aligned.returned),
            hits=lambda: self._hits(begin, end),
            ideal=lambda: self._ideal(begin, end),
            judgments=lambda: self._judgments(begin, end),
            alignments=alignments,
            scope=self.scope,
            depth=self.depth,
            parts=parts,
            unjudged=unjudged,
            unjudged_depth=0 if self.unjudged is None else self.unjudged.depth,
            qrels=self.qrels,
        )

    def _ids(self, begin: int, end: int) -> list[str]:
        ids = list(self.qrels.queries) + [decode_id(query) for query in self.aligned.run_only_ids()]
        if self.counting is None:
            return ids[begin:end]
        return [ids[query] for query in self.counting[begin:end]]

    def _between(self, begin: int, end: int, offsets: IntArray) -> tuple[IntArray, slice]:
        """Return the place of the query of each row, counted from `begin`, and the rows; -1 for
        queries between these that do not count.
        """
        last = offsets.size - 1
        low = high = 0
        if end > begin:
            low = min(self._code(begin), last)
            high = min(self._code(end - 1) + 1, last)
        place_of_code = np.arange(high - low)
        if self.counting is not None:
            codes = self.counting[begin:end]
            place_of_code = np.full(high - low, -1, np.int64)
            within = codes < last
            place_of_code[codes[within] - low] = np.flatnonzero(within)
        place_of_row = np.repeat(place_of_code, np.diff(offsets[low : high + 1]))
        return place_of_row, slice(int(offsets[low]), int(offsets[high]))

    def _hits(self, begin: int, end: int) -> Hits:
        hits = self._uncut_hits(begin, end)
        return hits if self.cut is None else self.cut.hits(hits)

    def _uncut_hits(self, begin: int, end: int) -> Hits:
        # A query that is left out is missing from the run or from the qrels: it has no hits, so
        # none is dropped here.
        query, rows = self._between(begin, end, self.aligned.hit_offsets)
        tied = self.aligned.tie_first.size > 0
        return Hits(
            query=query,
            rank=self.aligned.hit_rank[rows].astype(np.int64),
            grade=self.graded.grades[self.aligned.hit_row[rows]],
            document=self.aligned.hit_row[rows],
            tie_first=self.aligned.tie_first[rows].astype(np.int64) if tied else None,
            tie_last=self.aligned.tie_last[rows].astype(np.int64) if tied else None,
        )

    def _unjudged(self, unjudged: _Unjudged, begin: int, end: int) -> UnjudgedHits:
        query, rows = self._between(begin, end, unjudged.offsets)
        rank = unjudged.rank[rows].astype(np.int64)
        first, last = (
            self._shared_or_own(column[rows], unjudged.rank[rows], rank)
            for column in (unjudged.tie_first, unjudged.tie_last)
        )
        return UnjudgedHits(
            query=query, rank=rank, key=unjudged.key[rows], tie_first=first, tie_last=last
        )

    @staticmethod
    def _shared_or_own(column: AnyArray, narrow_rank: AnyArray, rank: IntArray) -> IntArray:
        """Return the ranks themselves where no document is tied: these columns are the largest of a
        comparison.
        """
        return rank if np.array_equal(column, narrow_rank) else column.astype(np.int64)

    def _ideal(self, begin: int, end: int) -> IdealGrades:
        judged = self._judgments(begin, end)
        return ideal_grades(judged.query, judged.grade, end - begin)

    def _judgments(self, begin: int, end: int) -> Judgments:
        query, rows = self._between(begin, end, self.qrels.offsets)
        row = np.arange(rows.start, rows.stop)
        if (query < 0).any():
            row = row[query >= 0]
            query = query[query >= 0]
        if self.graded.removed is not None:
            remains = ~self.graded.removed[row]
            row = row[remains]
            query = query[remains]
        return Judgments(
            query=query, grade=self.graded.grades[row], given=self.qrels.grades[row], document=row
        )
