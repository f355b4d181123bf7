"""Texts of queries and documents by id: only wanted texts are kept, and reading ends with the last
of them.
"""

import csv
import io
import re
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import Any, NamedTuple

from idealrank.data.types import decode_id
from idealrank.errors import FileFormatError, shown
from idealrank.io.complaints import Notes, Tell
from idealrank.io.formats.delimited import CELLS, csv_rows
from idealrank.io.formats.detection import refuse_foreign
from idealrank.io.record_files import (
    FieldRecord,
    columnar_records,
    is_columnar,
    json_records,
    line_records,
)
from idealrank.io.sources import BYTE_ORDER_MARK, AnyPath, open_sources, open_stream

LENGTH = 300  # letters of a text that pages show
# Names of columns and fields, in the order in which they are looked for; MS MARCO's passages have a
# pid and a docid.
_IDS = (
    "_id",
    "id",
    "pid",
    "passage_id",
    "query_id",
    "query-id",
    "qid",
    "topic_id",
    "topic",
    "doc_id",
    "docid",
    "docno",
    "document_id",
    "corpus_id",
    "corpus-id",
    "sku",
    "asin",
    "product_id",
    "item_id",
    "iid",
)
_DOUBTFUL_IDS = ("query", "document", "doc")  # ids if no column has a name of _IDS, else texts
_LINKS = ("url", "link", "uri", "href")
_TEXTS = (
    "text",
    "contents",
    "content",
    "body",
    "passage",
    "abstract",
    "question",
    "query",
    "document",
    "description",
)
# The id of a record that begins with it: most lines of a large file are not wanted, and need not be
# parsed.
_LEADING_ID = re.compile(
    rb'\s*\{\s*"(' + b"|".join(name.encode() for name in _IDS) + rb')"\s*:\s*(?:"([^"\\]*)"|(\d+))'
)
_WIDE = 4  # letters looked at for each that is kept: blanks are drawn together


class DocumentText(NamedTuple):
    """Title, text and address of a document, each empty if missing."""

    title: str
    text: str
    link: str = ""

    @property
    def joined(self) -> str:
        """Title and text in one."""
        return ": ".join(part.strip() for part in (self.title, self.text) if part.strip())


class _Entry(NamedTuple):
    """An id and its text, with its line; 0 where there are no lines."""

    id: str
    content: DocumentText
    line: int

    @property
    def text(self) -> str:
        return self.content.joined


class _Fields(NamedTuple):
    """Names of the columns of id, title, text and address; empty for a missing one."""

    id: str
    title: str
    text: str
    link: str

    @property
    def used(self) -> list[str]:
        return [name for name in self if name]


class _Request(NamedTuple):
    """A file, and the ids that are wanted from it."""

    path: str
    is_wanted: Callable[[str], bool]


def read_texts(
    path: AnyPath,
    wanted: Collection[str] | None = None,
    *,
    length: int = LENGTH,
    tell: Tell | None = None,
) -> dict[str, str]:
    r"""Read texts by id, clipped for display next to the ids."""
    texts: dict[str, str] = {}
    _collect(path, wanted, tell, texts, lambda entry: clipped(entry.text, length))
    return texts


def _collect(
    path: AnyPath,
    wanted: Collection[str] | None,
    tell: Tell | None,
    texts: dict[str, Any],
    keep: Callable[[_Entry], Any],
) -> None:
    """Fill `texts` with the result of `keep` for each wanted text."""
    missing = None if wanted is None else set(wanted)
    if missing is not None and not missing:
        return
    request = _Request(str(path), (lambda _: True) if wanted is None else set(wanted).__contains__)
    with closing(_entries(request, Notes(tell))) as entries:
        for entry in entries:
            if entry.id in texts:
                raise FileFormatError(
                    request.path,
                    entry.line,
                    f"id {shown(repr(entry.id))} a second time",
                    "each id once",
                )
            texts[entry.id] = keep(entry)
            if missing is not None:
                missing.discard(entry.id)
                if not missing:
                    break


def read_documents(
    path: AnyPath, wanted: Collection[str] | None = None, *, tell: Tell | None = None
) -> dict[str, DocumentText]:
    r"""Read whole titles, texts and addresses by id, with their line ends."""
    documents: dict[str, DocumentText] = {}
    _collect(path, wanted, tell, documents, lambda entry: entry.content)
    return documents


def check_texts(path: AnyPath, most: int | None = None) -> None:
    r"""Read texts and drop them, to find errors before long work; `-`, which can be read only once,
    is not read.
    """
    if str(path) == "-":
        return
    with closing(_entries(_Request(str(path), lambda _: True), Notes(lambda _: None))) as entries:
        deque(islice(entries, most), maxlen=0)


def clipped(text: str, length: int = LENGTH) -> str:
    r"""Return a text in one line; a long one is cut and ends with an ellipsis."""
    line = " ".join(text[: _WIDE * length].split())
    if len(line) <= length and len(text) <= _WIDE * length:
        return line
    return line[: length - 1].rstrip() + "…"


def _entries(request: _Request, notes: Notes) -> Generator[_Entry, None, None]:
    """Yield the wanted texts of a file of any format."""
    with open_stream(request.path, notes) as stream:
        yield from _by_format(request, notes, stream)


def _by_format(request: _Request, notes: Notes, stream: io.BufferedReader) -> Iterator[_Entry]:
    """Read texts in the format that the content indicates."""
    head = stream.peek(1)
    refuse_foreign(request.path, head[:4])
    start = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if is_columnar(start):
        return _of_columns(request, notes)
    if start.startswith(b"{") and (
        _LEADING_ID.match(start) or _has_ending(request.path, (".jsonl", ".ndjson"))
    ):
        return _of_lines(request, stream)
    if start[:1] in (b"{", b"["):
        return _of_json(request, stream)
    first = start.partition(b"\n")[0]
    if not start:
        raise FileFormatError(
            request.path, 0, "an empty file", "lines ID<tab>TEXT, or a table with a header line"
        )
    return _of_tabs(request, stream) if b"\t" in first else _of_csv(request, stream)


def _has_ending(path: str, endings: tuple[str, ...]) -> bool:
    return any(
        path.removesuffix(packed).endswith(endings) for packed in ("", ".gz", ".bz2", ".xz", ".zst")
    )


def _of_tabs(request: _Request, stream: io.BufferedReader) -> Iterator[_Entry]:
    """Lines of an id, a tab and a text in one or several columns; or columns named in a header
    line.
    """
    columns: _Columns | None = None
    for number, line in enumerate(stream, 1):
        row = (line.removeprefix(BYTE_ORDER_MARK) if number == 1 else line).rstrip(b"\r\n")
        if number == 1:
            columns = _Columns.of_header(
                [_decoded(cell).strip().lower() for cell in row.split(b"\t")]
            )
            if columns is not None:
                continue
        if not row.strip():
            continue
        if b"\t" not in row:
            raise FileFormatError(
                request.path,
                number,
                f"{shown(repr(_decoded(row)))}, a line without a tab",
                "ID<tab>TEXT",
            )
        cells = row.split(b"\t", 1 if columns is None else -1)
        if columns is not None:
            columns.check(len(cells), request.path, number)
        id_cell = cells[0 if columns is None else columns.id]
        name = _checked_id(decode_id(id_cell.strip()), request.path, number)
        if request.is_wanted(name):
            if columns is None:
                content = DocumentText("", _decoded(cells[1]))
            else:
                content = columns.content([_decoded(cell) for cell in cells])
            yield _Entry(name, content, number)


def _of_csv(request: _Request, stream: io.BufferedReader) -> Iterator[_Entry]:
    """Columns with a header line, separated by commas, or by semicolons where it has no comma;
    cells may be quoted as RFC 4180 has it.
    """
    head = stream.peek(1).partition(b"\n")[0]
    with io.TextIOWrapper(
        stream, encoding="utf-8-sig", errors="surrogateescape", newline=""
    ) as text:
        reader = csv_rows(text, ";" if b";" in head and b"," not in head else ",")
        try:
            yield from _of_rows(request, reader)
        except csv.Error as error:
            problem = f"a cell that cannot be read ({error})"
            raise FileFormatError(request.path, reader.line_num, problem, CELLS) from None


def _of_rows(request: _Request, reader: Any) -> Iterator[_Entry]:
    """The rows of a reader of the standard library, the header line first."""
    columns: _Columns | None = None
    line = 1
    for row in reader:
        start = line
        line = reader.line_num + 1
        if not any(cell.strip() for cell in row):
            continue
        if columns is None:
            names = [cell.strip().lower() for cell in row]
            columns = _Columns.of_header(names) or _refuse_header(request.path, start, names)
            continue
        columns.check(len(row), request.path, start)
        name = _checked_id(row[columns.id].strip(), request.path, start)
        if request.is_wanted(name):
            yield _Entry(name, columns.content([_printable(cell) for cell in row]), start)


class _Columns(NamedTuple):
    """Places of the columns in a row, None for a missing one, and the width of the table."""

    id: int
    title: int | None
    text: int | None
    link: int | None
    width: int

    @classmethod
    def of_header(cls, names: Sequence[str]) -> "_Columns | None":
        """Find the columns by their names; None if these are no names of columns."""
        fields = _fields(names)
        if fields is None:
            return None
        place = {name: names.index(name) for name in fields.used}
        return cls(
            id=place[fields.id],
            title=place.get(fields.title),
            text=place.get(fields.text),
            link=place.get(fields.link),
            width=len(names),
        )

    def check(self, width: int, path: str, line: int) -> None:
        """Refuse a line of another width."""
        if width != self.width:
            raise FileFormatError(
                path,
                line,
                f"{width} cell{'s' * (width != 1)}",
                f"{self.width}, as in the header line",
            )

    def content(self, cells: Sequence[str]) -> DocumentText:
        """Return title, text and address of a line."""
        title, text, link = (
            "" if place is None else cells[place] for place in (self.title, self.text, self.link)
        )
        return DocumentText(title, text, link)


def _refuse_header(path: str, line: int, names: Sequence[str]) -> "_Columns":
    problem = f"no id and no text among {', '.join(shown(repr(name)) for name in names[:6])}"
    raise FileFormatError(
        path, line, problem, "a header line such as id,text, or lines ID<tab>TEXT"
    )


def _fields(names: Collection[str]) -> _Fields | None:
    """Names of columns; None without an id, or without a title and a text."""
    id_ = next((name for name in (*_IDS, *_DOUBTFUL_IDS) if name in names), "")
    body = next((name for name in _TEXTS if name in names and name != id_), "")
    title = "title" if "title" in names else ""
    link = next((name for name in _LINKS if name in names), "")
    return _Fields(id=id_, title=title, text=body, link=link) if id_ and (title or body) else None


def _of_lines(request: _Request, stream: io.BufferedReader) -> Iterator[_Entry]:
    """JSON lines; lines that begin with an unwanted id are skipped."""

    def skip(line: bytes) -> bool:
        leading = _LEADING_ID.match(line)
        if leading is None:
            return False
        _, text, number = leading.groups()
        return not request.is_wanted(decode_id(number if text is None else text))

    for record in line_records(stream, request.path, skip):
        yield from _of_record(record, request)


def _of_json(request: _Request, stream: io.BufferedReader) -> Iterator[_Entry]:
    """One JSON value: an object of texts, or of records, by id; or an array of records."""
    expected = "{id: text}, or an array of records"
    for record in json_records(
        stream.read(), request.path, "_id", "text", expected, is_wanted=request.is_wanted
    ):
        yield from _of_record(record, request)


def _of_record(record: FieldRecord, request: _Request) -> Iterator[_Entry]:
    """The text of one record, if it is wanted."""
    where = record.place
    line = record.line
    values = record.fields
    fields = _fields(values)
    if fields is None:
        some = ", ".join(shown(repr(name)) for name in list(values)[:6])
        problem = f"no id and no text among the fields {some}"
        raise FileFormatError(where, line, problem, "such as _id and text")
    name = values[fields.id]
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise FileFormatError(
            where, line, f"{fields.id} {shown(repr(name))}", "an id: text or a whole number"
        )
    if not request.is_wanted(_checked_id(str(name), where, line)):
        return
    used = {field: values[field] for field in fields.used}
    for field in (fields.title, fields.text):
        value = used.get(field)
        if value is not None and not isinstance(value, str):
            raise FileFormatError(where, line, f"{field} {shown(repr(value))}", "a text")
    # an address that is no text is left out
    title, text, link = (
        _printable(value) if isinstance(value, str) else ""
        for value in map(used.get, (fields.title, fields.text, fields.link))
    )
    yield _Entry(str(name), DocumentText(title, text, link), line)


def _of_columns(request: _Request, notes: Notes) -> Iterator[_Entry]:
    """The columns of id and text of a Parquet or Arrow IPC file."""

    def choose(names: Sequence[str]) -> Sequence[str]:
        fields = _fields(names)
        if fields is None:
            some = ", ".join(shown(repr(name)) for name in names[:6])
            raise FileFormatError(
                request.path,
                0,
                f"no id and no text among the columns {some}",
                "such as id and text",
            )
        return fields.used

    (source,) = open_sources(request.path, notes)
    for record in columnar_records(source, choose):
        yield from _of_record(record, request)


def _checked_id(name: str, path: str, line: int) -> str:
    if not name:
        raise FileFormatError(path, line, "an empty id", "an id before its text")
    return name


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "replace")


def _printable(text: str) -> str:
    """Replace bytes that are not UTF-8 and half surrogate pairs, since pages are UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text
