"""Runs that are read within a budget of memory: files part by part, and lazy frames batch by batch.
Rows that are not grouped by query are grouped in temporary files.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, TypeAlias, cast

import numpy as np

from idealrank import _kernel
from idealrank._lazy import load_extra
from idealrank.data.run import Run
from idealrank.data.run_parts import Part, RunParts, ScatteredError
from idealrank.errors import InputError
from idealrank.io.bucket_layouts import distinct_ids, lines_layout, load_arrow, rows_layout
from idealrank.io.complaints import Notes, Tell, refuse
from idealrank.io.dataframes import has_lists, run_from_frame
from idealrank.io.formats.arrow import rows_from_table
from idealrank.io.formats.detection import Format, FormatChoice
from idealrank.io.formats.trec import refuse_swapped
from idealrank.io.memory_budget import MemoryBudget, megabytes, resident
from idealrank.io.part_lines import (
    LineProblem,
    buffers_before,
    first_line,
    first_problem,
    has_mark,
)
from idealrank.io.query_buckets import regroup
from idealrank.io.read import opened_run, read_part
from idealrank.io.row_parts import IdColumn, Rows
from idealrank.io.sources import Paths, Source
from idealrank.io.table_columns import Columns, choose_columns

Count: TypeAlias = Callable[[int, int], None]
"""Gets how many bytes of the files were read, and how many there are; twice as many where rows are
grouped first.
"""

# The memory that is left is divided by a share for the bytes of one part, found by measurement
# (benchmarks/jobs_large.py checks the budget): a part of text is its lines, which are mapped, and
# its hits; a part of rows is in memory as columns and as the kernel's table.
_TEXT_SHARE = 4
_ROWS_SHARE = 12
_PIECE_SHARE = 24  # of what is split at a time
# Bytes of the largest parts, however large the budget is.
_LARGEST_TEXT = 64 << 20
_LARGEST_ROWS = 128 << 20
_LARGEST_PIECE = 32 << 20
_QUERY_SHARE = 2.5  # bytes of memory for a byte of the largest query, and twice that for rows
_SPLIT_PIECE = 8 << 20  # bytes of lines that are split into files at a time
_WHOLE_ROW = 128  # bytes of a row of a file that is in memory as a whole
_WRITTEN_ROW = 40  # bytes of a row in temporary files
_SHORT_LINE = 32  # bytes of a row of text: rather too few, so that rows are counted too many
_SAMPLE = 1 << 18  # bytes that tell whether lines are grouped by query


def stream_run(
    path: Paths,
    memory: "str | int | MemoryBudget",
    *,
    name: str | None = None,
    format: FormatChoice = "auto",  # noqa: A002  (the word every reader of files uses)
    columns: Columns = None,
    tell: Tell | None = None,
    count: Count | None = None,
) -> Run:
    r"""Open a run that stays in its files and is evaluated in parts, so that the process keeps to a
    budget of memory.
    """
    budget = MemoryBudget.of(memory)
    notes = Notes(tell)
    sources, kind, name = opened_run(path, name, format, notes)
    paths = [source.path for source in sources]
    if kind == "trec":
        refuse_swapped(sources, "run")
        return Run.from_parts(RunParts(TextReader(sources, budget, count)), name=name, paths=paths)
    if kind not in ("parquet", "arrow", "csv", "tsv"):
        raise InputError(
            f"{paths[0]}: found {kind}, expected TREC text, Parquet, Arrow IPC, CSV or TSV, "
            f"which can be read in parts",
            hint="leave memory= out, or write the run in one of these formats",
            command_hint="leave --memory out, or write the run in one of these formats",
        )
    reader = FileReader(
        sources=sources, kind=kind, columns=columns, notes=notes, budget=budget, count=count
    )
    return Run.from_parts(RunParts(reader), name=name, paths=paths)


def _too_large(
    budget: MemoryBudget, taken: int, size: int, factor: float, query: str = ""
) -> InputError:
    needed = taken + int(factor * size)
    which = f"query {query!r}" if query else "the largest query"
    text = f"{-(-needed // 10**6)}MB"  # rounded up
    return InputError(
        f"memory={budget.text}: {which} has {megabytes(size)} of rows and takes about "
        f"{megabytes(needed)} in all, expected less",
        hint=f'memory="{text}"',
        command_hint=f"--memory {text}",
    )


class TextReader:
    """Reads TREC text in stretches of lines."""

    def __init__(
        self, sources: Sequence[Source], budget: MemoryBudget, count: Count | None = None
    ) -> None:
        self._sources = sources
        self._budget = budget
        self._count = count
        self._total = sum(len(source.data) for source in sources)

    @property
    def lines(self) -> "TextReader":
        """Return this reader, which has the files."""
        return self

    def problem_of(self, error: _kernel.ParseError, part: Part) -> LineProblem:
        """Return the lines of an error of a part."""
        return LineProblem.of(error, part.lines)

    def lines_before(self, error: _kernel.ParseError, part: Part) -> Part:
        """Return the lines of a part before the one of an error."""
        buffers = list(buffers_before(part.lines, error.args[1:3]))
        return Part(_kernel.Text(buffers, "run"), lines=buffers)

    def error_of(self, problems: Sequence[LineProblem]) -> _kernel.ParseError:
        """Return the error of the problem that comes first in the files."""
        return first_problem(problems, self._sources)

    def grouped(self) -> Iterator[Part]:
        """Yield stretches of lines that end where a query does."""
        room = self._budget.left()
        size = min(room // _TEXT_SHARE, _LARGEST_TEXT)
        if self._total > size and self._has_scattered_queries():
            raise ScatteredError
        bytes_read = 0
        for spans in self._stretches(size):
            length = sum(stop - begin for _, begin, stop in spans)
            if length > room / _QUERY_SHARE:
                raise _too_large(self._budget, self._budget.total - room, length, _QUERY_SHARE)
            lines = [memoryview(source.data)[begin:stop] for source, begin, stop in spans]
            yield Part(_kernel.Text(lines, "run"), self._let_go, lines=lines)
            bytes_read += length
            self._tell(bytes_read, self._total)

    def regrouped(self) -> Iterator[Part]:
        """Yield the lines of whole queries, from temporary files."""
        load_arrow()  # before its memory is counted
        room = self._budget.left()
        limit = int(room / _QUERY_SHARE)
        piece_bytes = min(room // _PIECE_SHARE, _SPLIT_PIECE)
        layout = lines_layout(piece_bytes)

        def pieces() -> Iterator[memoryview]:
            bytes_split = 0
            for source in self._sources:
                begin = first_line(source.data)
                while begin < len(source.data):
                    stop = _line_end(source.data, begin + piece_bytes)
                    yield memoryview(source.data)[begin:stop]
                    self._let_go()
                    bytes_split += stop - begin
                    begin = stop
                    self._tell(bytes_split, 2 * self._total)

        bytes_read = self._total  # once, to split them
        taken = self._budget.total - room
        for part in regroup(
            pieces(),
            layout,
            self._total,
            limit // 2,
            lambda size: _too_large(self._budget, taken, size, 2 * _QUERY_SHARE),
        ):
            yield part
            bytes_read += part.source.nbytes  # type: ignore[union-attr]
            self._tell(min(bytes_read, 2 * self._total), 2 * self._total)

    def _tell(self, bytes_read: int, total: int) -> None:
        if self._count is not None:
            self._count(bytes_read, total)

    def _let_go(self) -> None:
        for source in self._sources:
            source.let_go()

    def _has_scattered_queries(self) -> bool:
        """Return whether two queries of the first lines come again in the middle of the largest
        file. In grouped lines, only one query can reach so far.
        """
        data = max((source.data for source in self._sources), key=len)

        def queries_from(begin: int) -> set[bytes]:
            lines = bytes(data[begin : begin + _SAMPLE]).split(b"\n")[:-1]
            return {_first_word(line, 0) for line in lines}

        repeated = queries_from(0) & queries_from(_line_end(data, len(data) // 2))
        return len(repeated - {b""}) > 1

    def _stretches(self, size: int) -> Iterator[list[tuple[Source, int, int]]]:
        """Spans of the files of about that many bytes in all; a query on both sides of the end of a
        file is kept together.
        """
        spans: list[tuple[Source, int, int]] = []
        room = size
        for source in self._sources:
            data, begin = source.data, 0
            while begin < len(data):
                stop = _line_end(data, begin + room)
                word = _first_word(data, stop)
                # The query of the next line is taken whole, since it may be that of the last line.
                # A byte order mark inside a file is a part of its query's id, which the kernel
                # would drop at the start of a stretch.
                while stop < len(data) and (
                    _first_word(data, stop) == word or has_mark(data, stop)
                ):
                    stop = _line_end(data, stop)
                spans.append((source, begin, stop))
                room -= stop - begin
                begin = stop
                # the last query of a file may go on in the next file
                if begin < len(data) or room <= 0:
                    yield spans
                    spans = []
                    room = size
        if spans:
            yield spans


def _line_end(data: Any, place: int) -> int:
    """Return the end of the line in which a place is; the end of the data if nothing ends it."""
    if place >= len(data):
        return len(data)
    return data.find(b"\n", place) + 1 or len(data)


def _first_word(data: Any, begin: int) -> bytes:
    # Of a longer word the beginning; two that begin alike are kept together, which does no harm.
    words = bytes(data[begin : begin + 256]).split(b"\n", 1)[0].split(None, 1)
    return words[0] if words else b""


class PieceReader:
    """Reads a run whose rows come in pieces."""

    lines = None

    def __init__(
        self,
        pieces: Callable[[int], Iterable[Rows]],
        budget: MemoryBudget,
        expected: int,
        let_go: Callable[[], None] | None = None,
    ) -> None:
        self._pieces = pieces
        self._budget = budget
        self._expected = expected
        self._let_go = let_go

    def grouped(self) -> Iterator[Part]:
        """Yield tables of whole queries; the last query of a piece waits for the next."""
        room = self._budget.left()
        limit = min(room // _ROWS_SHARE, _LARGEST_ROWS)
        # rows of whole queries, and rows of the last query, which may go on in the next piece
        whole = list[Rows]()
        last = list[Rows]()
        whole_size = 0
        last_size = 0
        queries_of_pieces = list[set[bytes]]()  # of the first two
        for rows in self._pieces(min(room // _PIECE_SHARE, _LARGEST_PIECE)):
            if not rows.values.size:
                continue

            # Two queries of the first piece in the second one show that rows are not grouped: one
            # may go on. pyarrow has read the rows, unless the file is text; it is not loaded here.
            if len(queries_of_pieces) < 2 and "pyarrow" in sys.modules:
                queries_of_pieces.append(distinct_ids(rows.queries))
                repeated = set.intersection(*queries_of_pieces)
                if len(queries_of_pieces) == 2 and len(repeated) > 1:
                    raise ScatteredError

            first = last_query(rows.queries)
            is_new = bool(last) and _last_id(last[-1]) != rows.queries.bytes_at(0)
            if first > 0 or is_new:
                whole = [*whole, *last]
                if first > 0:
                    whole.append(rows_between(rows, 0, first))
                whole_size += last_size
                whole_size += bytes_of(rows) * first // rows.values.size
                last = []
                last_size = 0
            last.append(rows_between(rows, first, rows.values.size))
            last_size += bytes_of(last[-1])

            if whole_size >= limit:
                yield Part(_table(whole))
                whole = []
                whole_size = 0
            if last_size * 2 * _QUERY_SHARE > room and last_size > limit:
                self._refuse(last, room)
            if self._let_go is not None:
                self._let_go()
        yield Part(_table([*whole, *last]))

    def regrouped(self) -> Iterator[Part]:
        """Yield tables of whole queries, from temporary files."""
        layout = rows_layout()  # before the memory of its library is counted
        room = self._budget.left()
        # twice as much as in `grouped`: a part is mapped, and in memory as the kernel's table alone
        limit = min(room // _ROWS_SHARE, _LARGEST_ROWS) * 2

        def pieces() -> Iterator[Rows]:
            for rows in self._pieces(min(room // _PIECE_SHARE, _LARGEST_PIECE)):
                if rows.values.size:
                    yield rows
                if self._let_go is not None:
                    self._let_go()

        taken = self._budget.total - room
        return regroup(
            pieces(),
            layout,
            self._expected,
            limit,
            lambda size: _too_large(self._budget, taken, size, room / limit),
        )

    def _refuse(self, last: list[Rows], room: int) -> None:
        """Refuse a query that does not fit; all of its rows are counted for the message."""
        query = last[0].queries.bytes_at(0)
        size = 0
        for rows in self._pieces(min(room // _PIECE_SHARE, _LARGEST_PIECE)):
            size += bytes_of(rows) * rows_of(rows.queries, query) // max(1, rows.values.size)
        raise _too_large(
            self._budget,
            self._budget.total - room,
            size,
            2 * _QUERY_SHARE,
            query.decode("utf-8", "surrogateescape"),
        )


class FileReader(PieceReader):
    """Reads files of rows."""

    def __init__(
        self,
        sources: Sequence[Source],
        kind: Format,
        columns: Columns,
        notes: Notes,
        budget: MemoryBudget,
        count: Count | None = None,
    ) -> None:
        self._sources = sources
        self._kind = kind
        self._columns = columns
        self._notes = notes
        self._count = count
        self._total = sum(len(source.data) for source in sources)
        self._n_rows = self._rows()
        self._passes = 1
        written = _WRITTEN_ROW * self._n_rows
        super().__init__(self._file_pieces, budget, written, self._give_back)

    def regrouped(self) -> Iterator[Part]:
        """Yield tables of whole queries, from temporary files."""
        self._passes = 2
        rows_read = self._n_rows  # once, to split them
        for part in super().regrouped():
            yield part
            rows_read += part.source.n_rows  # type: ignore[union-attr]
            self._tell(rows_read)

    def _give_back(self) -> None:
        for source in self._sources:
            source.let_go()

    def _tell(self, rows_read: int) -> None:
        if self._count is not None:
            total = self._passes * self._total
            bytes_read = self._total * rows_read // max(1, self._n_rows)
            self._count(min(total, bytes_read), total)

    def _file_pieces(self, size: int) -> Iterator[Rows]:
        notes = self._notes
        self._notes = Notes(lambda _: None)  # a second pass says nothing again
        rows_read = 0
        for source in self._sources:
            try:
                for rows in self._pieces_of(source, size, notes):
                    yield rows
                    rows_read += rows.values.size
                    self._tell(rows_read)
            except InputError:
                # The first error of the file may be in another column of a later piece; the file is
                # read as a whole where that fits.
                fits = self._budget.total - resident() > _WHOLE_ROW * self._n_rows
                if self._kind in ("parquet", "arrow") and fits:
                    read_part(
                        source=source,
                        table="run",
                        kind=self._kind,
                        columns=self._columns,
                        notes=notes,
                        complain=refuse,
                    )
                raise
            finally:
                source.refuse_cut()

    def _pieces_of(self, source: Source, size: int, notes: Notes) -> Iterator[Rows]:
        if self._kind == "parquet":
            from idealrank.io.formats.arrow import parquet_pieces  # noqa: PLC0415  (only the format asked for is loaded)

            pieces = parquet_pieces(source, "run", self._columns, notes, refuse, most_bytes=size)
            return cast(Iterator[Rows], pieces)  # lists are refused within a budget
        if self._kind == "arrow":
            from idealrank.io.formats.arrow import arrow_pieces  # noqa: PLC0415  (as above)

            # A batch is in memory as a whole, next to the rows of a part.
            most_batch = self._budget.left() // 4
            return arrow_pieces(
                source, "run", self._columns, notes, refuse, most_bytes=size, most_batch=most_batch
            )
        from idealrank.io.formats.delimited import delimited_pieces  # noqa: PLC0415  (as above)

        return delimited_pieces(
            source=source,
            table="run",
            kind=self._kind,
            columns=self._columns,
            notes=notes,
            complain=refuse,
            most_rows=max(1024, size // 64),
        )

    def _rows(self) -> int:
        """Count the rows of Parquet files; other files do not say it, and their rows are estimated
        from their bytes.
        """
        if self._kind != "parquet":
            return self._total // _SHORT_LINE
        from idealrank.io.formats.arrow import parquet_rows  # noqa: PLC0415  (as above)

        return sum(map(parquet_rows, self._sources))


def _last_id(rows: Rows) -> bytes:
    return rows.queries.bytes_at(rows.values.size - 1)


def _table(pieces: Sequence[Rows]) -> _kernel.Table:
    table = _kernel.ColumnTable()
    for rows in pieces:
        table.add(rows.queries.parts, rows.documents.parts, np.ascontiguousarray(rows.values))
    return table.finish(duplicates="keep")


def last_query(queries: IdColumn) -> int:
    """Return the row at which the last query begins."""
    row = len(queries) - 1
    name = queries.bytes_at(row)
    while row > 0:
        # Equal codes are equal ids, and are passed at once; an id may have several codes.
        if queries.codes is not None:
            others = np.flatnonzero(queries.codes[:row] != queries.codes[row])
            row = int(others[-1]) + 1 if others.size else 0
        if row == 0 or queries.bytes_at(row - 1) != name:
            break
        row -= 1
    return row


def rows_of(queries: IdColumn, name: bytes) -> int:
    """Count the rows of a query."""
    ids = queries if queries.codes is None else IdColumn(queries.offsets, queries.data)
    matches = (ids.bytes_at(place) == name for place in range(len(ids)))
    has_name = np.fromiter(matches, bool, len(ids))
    if queries.codes is not None:
        has_name = has_name[queries.codes]
    return int(np.count_nonzero(has_name))


def rows_between(rows: Rows, begin: int, end: int) -> Rows:
    """Return some rows, which share the memory of all."""

    def part(column: IdColumn) -> IdColumn:
        if column.codes is not None:
            return IdColumn(column.offsets, column.data, column.codes[begin:end])
        return IdColumn(column.offsets[begin : end + 1], column.data)

    return Rows(
        queries=part(rows.queries),
        documents=part(rows.documents),
        values=rows.values[begin:end],
        place=lambda row: rows.place(begin + row),
    )


def bytes_of(rows: Rows) -> int:
    """Estimate the bytes of rows in memory, each with its document."""
    documents = rows.documents
    letters = int(documents.offsets[-1]) - int(documents.offsets[0])
    # as if each row had an id of the mean length
    if documents.codes is not None:
        letters = letters * documents.codes.size // max(1, documents.offsets.size - 1)
    return letters + rows.values.size * 20  # a score, an offset and the code of a query


# The default budget for a lazy frame in bytes, beyond what the process has in memory already.
_DEFAULT = 10**9
_ROW = 128  # bytes of a row of a lazy frame, with what its engine needs on the way


def stream_frame(
    frame: Any,
    memory: "str | int | None" = None,
    *,
    columns: Columns = None,
    name: str = "run",
    tell: Tell | None = None,
) -> Run:
    """Make a run from a query that runs during evaluation; see `run_from_frame`.

    Its rows may come in any order.
    """
    load_extra("pyarrow", f"reading a {type(frame).__name__} batch by batch", "arrow")
    of_polars = type(frame).__name__ == "LazyFrame"
    if of_polars and not hasattr(frame, "collect_batches"):  # before Polars 1.34
        return run_from_frame(frame, columns, name=name, tell=tell)
    names: Sequence[str] = frame.collect_schema().names() if of_polars else frame.columns
    if has_lists(frame):
        return run_from_frame(frame, columns, name=name, tell=tell)
    chosen = choose_columns(list(names), "run", columns, "run", Notes(tell))
    budget = MemoryBudget.of(resident() + _DEFAULT if memory is None else memory)

    def pieces(size: int) -> Iterator[Rows]:
        first = 0
        count = max(1024, size // _ROW)
        batches = _polars_batches if of_polars else _duckdb_batches
        for data in batches(frame, chosen.names, count):
            for begin in range(0, max(1, data.num_rows), count):
                piece = data.slice(begin, count)
                yield rows_from_table(piece, "run", chosen, "run", refuse, first=first)
                first += piece.num_rows

    # the size is unknown: as if it were eight times the budget
    expected = 8 * budget.total
    return Run.from_parts(RunParts(PieceReader(pieces, budget, expected)), name=name)


def _polars_batches(frame: Any, names: Sequence[str], count: int) -> Iterator[Any]:
    polars = import_module("polars")
    try:
        for batch in frame.select(names).collect_batches(chunk_size=count, maintain_order=True):
            yield batch.to_arrow()
    except polars.exceptions.PolarsError as error:
        raise InputError(
            f"run: the Polars query failed ({str(error).splitlines()[0]}), expected rows"
        ) from None


def _duckdb_batches(relation: Any, names: Sequence[str], count: int) -> Iterator[Any]:
    duckdb = import_module("duckdb")
    pyarrow = import_module("pyarrow")
    quoted_names = ['"' + name.replace('"', '""') + '"' for name in names]
    try:
        selected = relation.project(", ".join(quoted_names))
        if hasattr(selected, "to_arrow_reader"):
            reader = selected.to_arrow_reader(count)
        else:
            reader = selected.fetch_record_batch(count)
        for batch in reader:
            yield pyarrow.Table.from_batches([batch])
    except (duckdb.Error, pyarrow.ArrowException) as error:
        raise InputError(
            f"run: the DuckDB query failed ({str(error).splitlines()[0]}), expected rows"
        ) from None
