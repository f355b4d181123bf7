"""A run that is evaluated part by part, a part holding whole queries, so that the run is never in
memory as a whole.

What the kernel finds in each part (hits and counts, far less than the run) is put together into
what it finds in the whole run, and everything after that is the same code on the same numbers.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from idealrank import _kernel
from idealrank.data.types import AnyArray, FloatArray, IntArray
from idealrank.errors import IdealrankError

_SAMPLED = 20_000  # rows by which scores are compared with grades
_WITHOUT_LINE = ("stopped", "cut", "changed")  # errors that name no line
_HIT_COLUMNS = ("hit_row", "hit_rank", "tie_first", "tie_last")
_UNJUDGED_COLUMNS = ("unjudged_key", "unjudged_rank", "unjudged_first", "unjudged_last")
# Columns with an entry for every query
_QUERY_COLUMNS = (
    "length",
    "returned",
    "judged",
    "first_unjudged",
    "tied",
    "straddling",
    "duplicates",
    "identical",
    "excluded",
    "breaches",
)


class ScatteredError(Exception):
    """A query stands in two parts: the rows of a run are not grouped by query."""


class Part(NamedTuple):
    """Some queries of a run, each with all its rows."""

    source: "_kernel.Table | _kernel.Text"  # The rows
    let_go: Callable[[], None] | None = None  # Called after the part was aligned: gives back memory
    # Takes ids of queries and returns numbers that grow in the order of first appearance in the
    # run; None where parts come in it
    order: Callable[[Sequence[bytes]], AnyArray] | None = None
    lines: Sequence[Any] = ()  # Of a text, the bytes of `source`


class PartReader(Protocol):
    """A reader of a run, part by part."""

    def grouped(self) -> Iterator[Part]:
        """Yield the parts of a run whose rows are expected to be grouped by query; a query of an
        ungrouped run may be in several.
        """
        ...

    def regrouped(self) -> Iterator[Part]:
        """Yield parts of whole queries, for rows in any order."""
        ...

    @property
    def lines(self) -> "LineFinder | None":
        """Finder of a part's lines in the files; None where errors of the kernel name no lines."""
        ...


class LineFinder(Protocol):
    """Finds lines of a part in the files."""

    def problem_of(self, error: _kernel.ParseError, part: Part) -> Any:
        """Return what is needed to find the line of an error again, without the part."""
        ...

    def lines_before(self, error: _kernel.ParseError, part: Part) -> Part:
        """Return the lines of a part before the one of an error."""
        ...

    def error_of(self, problems: Sequence[Any]) -> _kernel.ParseError:
        """Return the error of the problem that comes first in the run, with its place there."""
        ...


@dataclass(frozen=True, kw_only=True, eq=False)
class PartsAligned:
    """Columns of all queries, with the names of the kernel's `Aligned`; see there.

    Columns of queries that only the run has are broadcast zeros unless they were asked for.
    """

    n_qrels_queries: int
    n_queries: int
    hit_offsets: IntArray
    columns: dict[str, AnyArray]
    in_run: AnyArray
    unjudged_offsets: IntArray
    counters: dict[str, int]
    run_only: list[bytes] = field(repr=False)

    def __getattr__(self, name: str) -> AnyArray:
        """A column."""
        try:
            return self.__dict__["columns"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(name) from None

    def run_only_ids(self) -> list[bytes]:
        """Ids of the queries after the first `n_qrels_queries`; those that were asked for."""
        return self.run_only


class RunParts:
    """Source of a run that is read part by part during evaluation."""

    def __init__(self, reader: PartReader) -> None:
        self._reader = reader
        self.first_rows: tuple[FloatArray, IntArray] | None = None

    def align(self, qrels: _kernel.Table, *, keep_run_only: bool, **options: Any) -> PartsAligned:
        """Rank every list and find its judged documents, part by part."""
        try:
            return self._collected(
                qrels,
                self._reader.grouped(),
                options,
                keep_run_only=keep_run_only,
                may_scatter=True,
            )
        except ScatteredError:
            return self._collected(
                qrels,
                self._reader.regrouped(),
                options,
                keep_run_only=keep_run_only,
                may_scatter=False,
            )

    def _collected(
        self,
        qrels: _kernel.Table,
        parts: Iterator[Part],
        options: dict[str, Any],
        *,
        keep_run_only: bool,
        may_scatter: bool,
    ) -> PartsAligned:
        merged = _Merged(qrels, keep_run_only=keep_run_only, may_scatter=may_scatter)
        problems: list[Any] = []
        part: Part | None = None
        try:
            for part in parts:
                if problem := self._align_part(
                    qrels, part, merged, options, may_scatter=may_scatter, adds=not problems
                ):
                    problems.append(problem)
                if part.let_go is not None:
                    part.let_go()
                # parts in the order of their lines: later ones have later problems
                if problems and may_scatter:
                    break
        finally:
            close = getattr(parts, "close", None)  # of a generator
            if close is not None:
                close()
        if problems and self._reader.lines is not None:
            del part  # its memory goes before the files are searched
            raise self._reader.lines.error_of(problems)
        if merged.error is not None:
            raise merged.error
        self.first_rows = merged.first_rows()
        return merged.finish()

    def _align_part(
        self,
        qrels: _kernel.Table,
        part: Part,
        merged: "_Merged",
        options: dict[str, Any],
        *,
        may_scatter: bool,
        adds: bool,
    ) -> Any:
        """Add a part to the others, or return its first problem."""
        try:
            aligned = _kernel.align(qrels, part.source, **options)
        except _kernel.ParseError as error:
            if self._reader.lines is not None and error.args[0] not in _WITHOUT_LINE:
                # the first problem, if no query before it is in an earlier part
                if may_scatter and options["duplicates"] == "error":
                    before = self._reader.lines.lines_before(error, part)
                    merged.add(_kernel.align(qrels, before.source, **options), before)
                return self._reader.lines.problem_of(error, part)
            if error.args[0] != "duplicate":
                raise
            # The rest is read all the same: an error of a row comes first, and the first query with
            # a duplicate may be in another part.
            merged.note_duplicate(error, part)
            aligned = _kernel.align(qrels, part.source, **{**options, "duplicates": "twice"})
        if adds:
            merged.add(aligned, part)
        return None


class _Merged:
    """The results of the parts so far."""

    def __init__(self, qrels: _kernel.Table, *, keep_run_only: bool, may_scatter: bool) -> None:
        n = qrels.n_queries
        self._n = n
        self._keep = keep_run_only
        self._may_scatter = may_scatter
        self._in_run = np.zeros(n, bool)
        self._columns: dict[str, AnyArray] = {}
        self._run_only: list[dict[str, AnyArray]] = []
        self._ids: list[bytes] = []
        self._order: list[AnyArray] = []
        self._hashes = np.zeros(0, np.int64)  # of the queries without judgments, sorted
        self._n_run_only = 0
        self._hits: dict[str, list[AnyArray]] = {
            name: [] for name in (*_HIT_COLUMNS, *_UNJUDGED_COLUMNS)
        }
        self._sizes = np.zeros(n, np.int64)  # hits of each query, and unjudged documents
        self._unjudged_sizes = np.zeros(n, np.int64)
        self._hit_queries: list[AnyArray] = []
        self._unjudged_queries: list[AnyArray] = []
        self._counters: dict[str, int] = {}
        self._tied = False
        self._unjudged = False
        self._samples: list[tuple[int, FloatArray]] = []
        self._sampled = 0
        self.error: Exception | None = None
        self._error_order = 0  # place of its query in the order of the run

    def note_duplicate(self, error: Exception, part: Part) -> None:
        """Keep the error of the query that appears first."""
        order = 0
        if part.order is not None and isinstance(part.source, _kernel.Table):
            order = int(part.order([_query_of(part.source, error.args[3])])[0])
        if self.error is None or (part.order is not None and order < self._error_order):
            self.error = error
            self._error_order = order

    def add(self, aligned: _kernel.Aligned, part: Part) -> None:
        """Add the results of a part."""
        n = self._n
        here = np.flatnonzero(aligned.in_run[:n])
        if self._in_run[here].any():
            raise ScatteredError
        self._in_run[here] = True
        for name in _QUERY_COLUMNS:
            column = getattr(aligned, name)
            whole = self._columns.setdefault(name, np.zeros(n, column.dtype))
            whole[here] = column[here]
        self._add_run_only(aligned, part)
        self._add_hits(aligned, here)
        for name, count in aligned.counters.items():
            self._counters[name] = self._counters.get(name, 0) + count
        if isinstance(part.source, _kernel.Table):
            self._sample(part.source, part)

    def _add_run_only(self, aligned: _kernel.Aligned, part: Part) -> None:
        count = aligned.n_queries - self._n
        if not count:
            return
        self._n_run_only += count
        if not (self._keep or self._may_scatter):
            return
        ids = aligned.run_only_ids()
        if self._may_scatter:
            hashes = np.fromiter(map(hash, ids), np.int64, count)
            hashes.sort()
            if self._hashes.size:
                place = np.minimum(np.searchsorted(self._hashes, hashes), self._hashes.size - 1)
                if (self._hashes[place] == hashes).any():
                    raise ScatteredError  # or two queries of one hash, which regrouping keeps apart
            self._hashes = np.sort(np.concatenate([self._hashes, hashes]), kind="stable")
        if self._keep:
            self._run_only.append(
                {name: np.array(getattr(aligned, name)[self._n :]) for name in _QUERY_COLUMNS}
            )
            self._ids += ids
            if part.order is not None:
                self._order.append(part.order(ids))

    def _add_hits(self, aligned: _kernel.Aligned, here: IntArray) -> None:
        sizes = np.diff(aligned.hit_offsets[: self._n + 1])[here]
        self._sizes[here] = sizes
        self._hit_queries.append(np.repeat(here, sizes).astype(np.int32))
        tied = aligned.tie_first.size > 0
        for name in _HIT_COLUMNS:
            # Without ties in a part, first and last rank of a tie are the rank itself.
            source = name if tied or not name.startswith("tie") else "hit_rank"
            self._hits[name].append(np.array(getattr(aligned, source)))
        if aligned.unjudged_offsets.size:
            self._unjudged = True
            sizes = np.diff(aligned.unjudged_offsets)[here]
            self._unjudged_sizes[here] = sizes
            self._unjudged_queries.append(np.repeat(here, sizes).astype(np.int32))
            for name in _UNJUDGED_COLUMNS:
                self._hits[name].append(np.array(getattr(aligned, name)))
        self._tied = self._tied or tied

    def _sample(self, table: _kernel.Table, part: Part) -> None:
        if part.order is None and self._sampled >= _SAMPLED:
            return
        last = table.n_queries
        if table.n_rows > _SAMPLED:
            last = int(np.searchsorted(table.offsets, _SAMPLED))
        starts, values = table.offsets[: last + 1], table.values
        keys = range(len(self._samples), len(self._samples) + last)
        if part.order is not None:
            keys = part.order([table.query_id(query) for query in range(last)]).tolist()
        for query, key in enumerate(keys):
            scores = np.array(values[starts[query] : starts[query + 1]][:_SAMPLED])
            self._samples.append((key, scores))
            self._sampled += scores.size

    def first_rows(self) -> tuple[FloatArray, IntArray] | None:
        """The first scores by query, and where each query begins; None of text."""
        if not self._samples:
            return None
        lists = [values for _, values in sorted(self._samples, key=lambda pair: pair[0])]
        offsets = np.concatenate([[0], np.cumsum([values.size for values in lists])])
        return np.concatenate(lists), offsets

    def finish(self) -> PartsAligned:
        """All parts as one."""
        n = self._n
        n_run_only = self._n_run_only
        columns: dict[str, AnyArray] = {}
        dtype: type[Any]
        offsets = np.concatenate([[0], np.cumsum(self._sizes)]).astype(np.int64)
        order = self._by_query(self._hit_queries)
        for name in _HIT_COLUMNS:
            dtype = np.int64 if name == "hit_row" else np.int32
            columns[name] = np.zeros(0, dtype)
            if name in ("hit_row", "hit_rank") or self._tied:
                columns[name] = np.concatenate([columns[name], *self._hits.pop(name)])[order]
        unjudged_offsets = np.zeros(0, np.int64)
        if self._unjudged:
            unjudged_offsets = np.concatenate([[0], np.cumsum(self._unjudged_sizes)])
        order = self._by_query(self._unjudged_queries)
        for name in _UNJUDGED_COLUMNS:
            dtype = np.uint64 if name == "unjudged_key" else np.int32
            columns[name] = np.concatenate([np.zeros(0, dtype), *self._hits.pop(name)])[order]

        # Queries without judgments come after the others, in the order of the run.
        ids = self._ids
        by_appearance: IntArray | slice = slice(None)
        if self._order:
            by_appearance = np.argsort(np.concatenate(self._order), kind="stable")
            ids = [self._ids[place] for place in by_appearance.tolist()]
        for name in _QUERY_COLUMNS:
            with_judgments = self._columns.get(name, np.zeros(n, np.int64))
            if not self._keep:
                # queries without judgments come last, and nothing asks for them
                columns[name] = with_judgments
                continue
            of_parts = [columns_of_part[name] for columns_of_part in self._run_only]
            run_only = np.concatenate([np.zeros(0, with_judgments.dtype), *of_parts])
            columns[name] = np.concatenate([with_judgments, run_only[by_appearance]])
        return PartsAligned(
            n_qrels_queries=n,
            n_queries=n + n_run_only,
            hit_offsets=np.concatenate(
                [offsets, np.full(n_run_only if self._keep else 0, offsets[-1], np.int64)]
            ),
            columns=columns,
            in_run=np.concatenate([self._in_run, np.ones(n_run_only, bool)]),
            unjudged_offsets=unjudged_offsets,
            counters=self._counters,
            run_only=ids,
        )

    @staticmethod
    def _by_query(queries: list[AnyArray]) -> IntArray | slice:
        """Order of the hits by query; the hits of a query keep their order."""
        joined = np.concatenate([np.zeros(0, np.int32), *queries])
        if not joined.size or (joined[1:] >= joined[:-1]).all():
            return slice(None)
        return np.argsort(joined, kind="stable")


def _query_of(table: _kernel.Table, pair: bytes) -> bytes:
    """The query of ``QUERY DOCUMENT``, either of which may hold spaces."""
    for place in [place for place, byte in enumerate(pair) if byte == ord(" ")]:
        query = table.find_query(pair[:place])
        if query >= 0 and table.find_document(query, pair[place + 1 :]) >= 0:
            return pair[:place]
    raise IdealrankError(f"the kernel named {pair!r}, which is in no query")
