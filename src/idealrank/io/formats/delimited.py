"""Columns with a header line, separated by commas, semicolons or tabs, and BEIR's judgments, which
are such a file.
"""

import csv
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from itertools import chain, islice
from operator import itemgetter
from typing import Any, cast

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import FileFormatError, InputError
from idealrank.io.checked_cells import CellChecker, parse_number, shown
from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.formats.wide_tables import answers_of_cells, refuse_parts
from idealrank.io.row_parts import Blocks, IdColumn, Place, Rows, Table, gathered, pack
from idealrank.io.sources import BYTE_ORDER_MARK, Source
from idealrank.io.table_columns import (
    Chosen,
    Columns,
    choose_columns,
    label_grades,
    plain_columns,
    with_labels,
)

_BEIR = ("query-id", "corpus-id", "score")
# Rows that become columns at once: memory stays near the size of the file, for no more rows than
# these live as Python objects.
_BATCH = 1 << 14
_DELIMITERS = ",;\t"  # of equally frequent ones the first
_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_HEAD = 1 << 16  # bytes in which the header line is looked for
_LINE_BREAK = re.compile(r"\r\n|\r|\n")
# letters of a cell, where the standard library stops at 2**17: documents are longer, an unclosed
# quote longer still
_LONGEST = 1 << 26
CELLS = f"cells quoted as in RFC 4180, of at most {_LONGEST:,} letters"


def read_csv(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Rows | Blocks:
    r"""Read columns with a header line, separated by commas, semicolons or tabs, whichever the
    header has most of.
    """
    return _read(
        source=source,
        table=table,
        delimiter=sniff_delimiter(source),
        columns=columns,
        notes=notes,
        complain=complain,
    )


def sniff_delimiter(source: Source) -> str:
    """Return the delimiter of the header line: the most frequent of ``,`` ``;`` and tab outside
    quotation marks.
    """
    start = bytes(source.data[:_HEAD]).removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")
    lines = enumerate(_QUOTED.sub("''", start).splitlines(), 1)
    number, line = next(((number, line) for number, line in lines if line.strip()), (0, ""))
    delimiter = max(_DELIMITERS, key=line.count)
    if line and delimiter not in line:
        hint = "convert it" if "|" in line else "add a header line such as query_id,doc_id,grade"
        raise FileFormatError(
            source.path,
            number,
            f"{shown(line[:80])}, one column",
            "columns separated by ',' or ';' or tabs",
            hint,
        )
    return delimiter


def read_tsv(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Rows | Blocks:
    """Read tab-separated columns with a header line; see `read_csv` for the parameters."""
    return _read(
        source=source, table=table, delimiter="\t", columns=columns, notes=notes, complain=complain
    )


def read_beir(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Rows | Blocks:
    """Read BEIR's columns ``query-id``, ``corpus-id`` and ``score``, tab-separated; see `read_csv`
    for the parameters.
    """
    return _read(
        source=source,
        table=table,
        delimiter="\t",
        columns=with_labels(plain_columns(columns) or _BEIR, label_grades(columns)),
        notes=notes,
        complain=complain,
    )


def delimited_pieces(
    source: Source,
    table: Table,
    kind: str,
    columns: Columns,
    notes: Notes,
    complain: Complain,
    *,
    most_rows: int,
) -> Iterator[Rows]:
    r"""Read columns piece by piece."""
    delimiter = sniff_delimiter(source) if kind == "csv" else "\t"
    pieces = _pieces(
        source=source,
        table=table,
        delimiter=delimiter,
        columns=columns,
        notes=notes,
        complain=complain,
        most_rows=most_rows,
    )
    return cast(Iterator[Rows], pieces)  # lists are refused within a budget


def _read(
    source: Source, table: Table, delimiter: str, columns: Columns, notes: Notes, complain: Complain
) -> Rows | Blocks:
    return next(
        _pieces(
            source=source,
            table=table,
            delimiter=delimiter,
            columns=columns,
            notes=notes,
            complain=complain,
            most_rows=None,
        )
    )


def _pieces(
    source: Source,
    table: Table,
    delimiter: str,
    columns: Columns,
    notes: Notes,
    complain: Complain,
    *,
    most_rows: int | None,
) -> Iterator[Rows | Blocks]:
    """Yield rows in pieces, or in one piece, which may be empty, if `most_rows` is None."""
    names, batches = named_batches(source, delimiter)
    head = list(islice(batches, 1))
    wide = answers_of_cells(
        names,
        chain(head, batches),
        table,
        columns,
        source.path,
        notes=notes,
        complain=complain,
    )
    if wide is not None:
        if most_rows is not None:
            raise refuse_parts(source.path)
        yield wide
        return
    batches = chain(head, batches)
    chosen = _choose(
        names=names,
        table=table,
        columns=columns,
        path=source.path,
        notes=notes,
        delimiter=delimiter,
        sample=dict(zip(names, head[0][0][0], strict=False)) if head else {},
    )
    scan = _Scan(source.path, table, chosen, names, complain)
    places = _Lines(source.path)
    queries = []
    documents = []
    values = []
    count = 0
    for rows, row_lines in batches:
        query_ids, document_ids, numbers, lines = scan.columns(rows, row_lines)
        queries.append(query_ids)
        documents.append(document_ids)
        values.append(numbers)
        places.add(lines)
        count += numbers.size
        if most_rows is not None and count >= most_rows:
            yield Rows(
                queries=gathered(queries),
                documents=gathered(documents),
                values=np.concatenate(values),
                place=places.of_row,
            )
            places = _Lines(source.path)
            values = []
            count = 0
    scan.cells.tell_blanks(notes)
    if most_rows is None or values:
        # One column after the other, so that no more than one of them is in memory twice.
        yield Rows(
            queries=gathered(queries),
            documents=gathered(documents),
            values=np.concatenate([np.zeros(0), *values]),
            place=places.of_row,
        )


class _Lines:
    """The line of each row. Mostly each row is one line; then a batch needs its first line only."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._first_rows = [0]
        self._batches: list[int | IntArray] = []

    def add(self, lines: IntArray) -> None:
        in_sequence = lines.size == 0 or lines[-1] - lines[0] == lines.size - 1
        self._batches.append(int(lines[0]) if in_sequence and lines.size else lines)
        self._first_rows.append(self._first_rows[-1] + int(lines.size))

    def of_row(self, row: int) -> Place:
        batch = bisect_right(self._first_rows, row) - 1
        lines = self._batches[batch]
        offset = row - self._first_rows[batch]
        return self._path, lines + offset if isinstance(lines, int) else int(lines[offset])


def csv_rows(text: Iterable[str], delimiter: str = ",") -> Any:
    r"""Make a strict reader of the standard library for cells as long as documents; its limit is
    only ever raised.
    """
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST))  # one for all threads of a process
    return csv.reader(text, delimiter=delimiter, strict=True)


def named_batches(
    source: Source, delimiter: str
) -> tuple[list[str], Iterator[tuple[list[list[str]], Any]]]:
    """Return the names in the header line, and many rows at a time."""
    batches = rows_in_batches(source, delimiter)
    header, _ = next(batches, ([], None))
    if not header:
        raise FileFormatError(source.path, 0, "an empty file", "a header line with column names")
    return [name.strip() for name in header[0]], batches


def rows_in_batches(source: Source, delimiter: str) -> Iterator[tuple[list[list[str]], Any]]:
    r"""Yield the header, then many rows at a time, each with the line on which it begins; blank
    lines are left out.
    """
    # Bytes that are not UTF-8 travel as surrogates and become the same bytes again in the ids.
    text = TextIOWrapper(source.open(), encoding="utf-8-sig", errors="surrogateescape", newline="")
    reader = csv_rows(text, delimiter)
    batch_size = 1  # the header
    while True:
        lines_before = reader.line_num
        try:
            rows = list(islice(reader, batch_size))
        except csv.Error as error:
            problem = f"a cell that cannot be read ({error})"
            raise FileFormatError(source.path, reader.line_num, problem, CELLS) from None
        if not rows:
            return
        lines = lines_before + 1 + np.arange(len(rows), dtype=np.int64)
        # cells with line breaks move the rows after them
        if reader.line_num - lines_before != len(rows):
            breaks = [sum(len(_LINE_BREAK.findall(cell)) for cell in row) for row in rows]
            lines[1:] += np.cumsum(breaks)[:-1]
        if min(map(len, rows)) < 2:
            is_filled = [len(row) > 1 or bool(row and row[0].strip()) for row in rows]
            filled = [place for place, has_cells in enumerate(is_filled) if has_cells]
            rows = [rows[place] for place in filled]
            lines = lines[filled]
        if rows:
            yield rows, lines
            batch_size = _BATCH


def _choose(
    names: list[str],
    table: Table,
    columns: Columns,
    path: str,
    notes: Notes,
    *,
    delimiter: str,
    sample: Mapping[str, str],
) -> Chosen:
    try:
        return choose_columns(names, table, columns, path, notes, sample=sample)
    except InputError as error:
        if any(parse_number(name) is not None for name in names):
            value = "grade" if table == "qrels" else "score"
            cells = ", ".join(map(repr, names[:6]))
            hint = "add a header line; without one, TREC lines can be read"
            raise FileFormatError(
                path,
                1,
                f"data ({cells})",
                f"a header line such as query_id, doc_id, {value}",
                hint,
            ) from None
        if delimiter != ";":
            raise
        reading = f"the file was read as columns separated by {delimiter!r}"
        problem = str(error).removesuffix(f"; {error.hint}")
        raise InputError(
            problem,
            hint="; ".join(filter(None, (error.hint, reading))),
            command_hint="; ".join(filter(None, (error.command_hint, reading))),
        ) from None


class _Scan:
    """Turns rows of cells into the three columns."""

    def __init__(
        self, path: str, table: Table, chosen: Chosen, names: Sequence[str], complain: Complain
    ) -> None:
        self._path = path
        self._complain = complain
        self._chosen = chosen
        self._width = len(names)
        self._pick: list[Callable[[list[str]], str]] = [
            itemgetter(names.index(name)) for name in (chosen.query, chosen.document)
        ]
        self._pick.append(itemgetter(names.index(chosen.value)) if chosen.value else lambda _: "1")
        self.cells = CellChecker(path, table, chosen, complain)

    def columns(
        self, rows: list[list[str]], lines: IntArray
    ) -> tuple[IdColumn, IdColumn, FloatArray, IntArray]:
        """Return the ids, values and lines of the rows that can be used."""
        if not set(map(len, rows)) <= {self._width}:
            places = enumerate(rows)
            fitting = [place for place, row in places if self._fits(row, int(lines[place]))]
            rows = [rows[place] for place in fitting]
            lines = lines[fitting]
        queries, documents, texts = (list(map(pick, rows)) for pick in self._pick)
        values, usable = self.cells.check(queries, documents, texts, lines)
        if usable is not None:
            queries = [queries[place] for place in usable]
            documents = [documents[place] for place in usable]
            lines = lines[usable]
        if self._chosen.by_rank:
            values = 0.0 - values  # subtracted, not negated: no score is -0.0
        return pack(queries), pack(documents), values, lines

    def _fits(self, row: list[str], line: int) -> bool:
        if len(row) == self._width:
            return True
        self._complain(
            Complaint(
                kind="fields",
                path=self._path,
                line=line,
                found=f"{len(row)} cells",
                expected=f"{self._width}, as in the header line",
            )
        )
        return False
