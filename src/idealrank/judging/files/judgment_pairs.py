"""Lists of pairs to judge: query and document with their texts, as people and judges get them."""

import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from idealrank.errors import FileFormatError, InputError, shown
from idealrank.io.complaints import Notes, Tell
from idealrank.io.formats.delimited import CELLS, csv_rows
from idealrank.io.formats.detection import refuse_foreign
from idealrank.io.record_files import FieldRecord, json_records, line_records
from idealrank.io.sources import BYTE_ORDER_MARK, AnyPath, open_stream
from idealrank.io.table_columns import DOCUMENT, QUERY, Names, candidates
from idealrank.io.texts import DocumentText, read_documents, read_texts

_NAMES: Mapping[str, tuple[str, ...]] = {
    "query": ("query", "query_id", "query-id", "qid", "topic"),
    "document": ("document", "document_id", "doc_id", "docid", "docno", "corpus-id", "doc"),
    "query_text": ("query_text", "question"),
    "title": ("title",),
    "text": ("text", "contents", "content", "body", "passage"),
    "link": ("link", "url", "uri", "href"),
    "priority": ("priority",),
    "sampled": ("sampled",),
}
# Names of ids that tables of judgments may have, too.
_USUAL: Mapping[str, Names] = {"query": QUERY, "document": DOCUMENT}
_NO_TEXT = DocumentText("", "")
_LONGEST_QUERY = 1_000_000  # letters: a query is read in full, and a broken file is not
_EXPECTED = (
    "columns query and document, and query_text, title, text, link, priority, sampled if there are "
    "any"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgmentPair:
    """Query and document to judge."""

    # query, document: Ids
    query: str
    document: str
    query_text: str = ""  # Words of the user; the id of the query where no text is known
    content: DocumentText = _NO_TEXT  # Title, text and address of the document
    # Place in the order of judging: 1 is judged first; infinite where none is given
    priority: float = math.inf

    @property
    def key(self) -> tuple[str, str]:
        """Ids of query and document."""
        return self.query, self.document


def read_pairs(
    path: AnyPath,
    queries: AnyPath | None = None,
    documents: AnyPath | None = None,
    *,
    tell: Tell | None = None,
) -> list[JudgmentPair]:
    r"""Read a list of pairs to judge."""
    name = str(path)
    pairs: dict[tuple[str, str], JudgmentPair] = {}
    left_out = 0
    notes = Notes(tell)
    blank_ends: list[str] = []
    for record in _records(name, notes):
        if not _is_sampled(record):
            left_out += 1
            continue
        pair = _pair(record)
        if pair.key in pairs:
            pair_text = (
                f"query {shown(repr(pair.query))} and document {shown(repr(pair.document))} a "
                f"second time"
            )
            raise FileFormatError(record.place, record.line, pair_text, "each pair once")
        pairs[pair.key] = pair
        blank_ends += [id_ for id_ in pair.key if id_ != id_.strip()]
    if blank_ends:
        notes.warn(
            f"{name}: found the id {shown(repr(blank_ends[0]))} with blanks at its end or "
            f"beginning, {len(blank_ends):,} ids in all; the blanks are part of the id"
        )
    if not pairs:
        raise InputError(
            f"{name}: found no pair{' that is sampled' if left_out else ''}, expected {_EXPECTED}"
        )
    if left_out:
        fate = "is not sampled and was" if left_out == 1 else "are not sampled and were"
        verb = "is" if len(pairs) == 1 else "are"
        notes.warn(
            f"{name}: {left_out:,} of {left_out + len(pairs):,} pairs {fate} left out; "
            f"{len(pairs):,} {verb} to be judged"
        )
    return with_texts(list(pairs.values()), queries, documents, tell=tell)


def with_texts(
    pairs: Sequence[JudgmentPair],
    queries: AnyPath | None,
    documents: AnyPath | None,
    *,
    tell: Tell | None = None,
) -> list[JudgmentPair]:
    """Return pairs with the texts that they lack; a query without any text gets its id."""
    queries_without_text = {pair.query for pair in pairs if not pair.query_text}
    documents_without_text = {pair.document for pair in pairs if not pair.content.joined}
    query_texts: Mapping[str, str] = {}
    if queries is not None:
        query_texts = read_texts(queries, queries_without_text, length=_LONGEST_QUERY, tell=tell)
    contents: Mapping[str, DocumentText] = {}
    if documents is not None:
        contents = read_documents(documents, documents_without_text, tell=tell)
    complete = []
    for pair in pairs:
        query_text = pair.query_text or query_texts.get(pair.query, pair.query)
        content = pair.content
        if not content.joined:
            content = _with_link(contents.get(pair.document, content), content.link)
        complete.append(replace(pair, query_text=query_text, content=content))
    return complete


def _with_link(content: DocumentText, link: str) -> DocumentText:
    """Return a text with the link of the list of pairs, if it has one."""
    return content._replace(link=link) if link else content


def _records(path: str, notes: Notes) -> Iterator[FieldRecord]:
    """Yield the records of a file, whose format its first letters tell."""
    with open_stream(path, notes) as stream:
        head = stream.peek(1)
        refuse_foreign(path, head[:4])
        start = head.removeprefix(BYTE_ORDER_MARK).lstrip()
        if start.startswith(b"{"):
            yield from _objects(stream.read(), path)
        elif start.startswith(b"["):
            yield from json_records(stream.read(), path, "query", "document", "an array of records")
        else:
            yield from _rows(stream, path)


def _objects(content: bytes, path: str) -> Iterator[FieldRecord]:
    """Yield the records of JSON lines; or of the documents of one object, as `judge pool --format
    json` writes it.
    """
    try:
        whole = json.loads(content.removeprefix(BYTE_ORDER_MARK))
    except (ValueError, RecursionError):  # several lines, or a mistake, which has a line
        whole = None
    documents = whole.get("documents") if isinstance(whole, dict) else None
    if isinstance(documents, list):
        content = json.dumps(documents).encode()
        place = f"{path}: documents"
        yield from json_records(content, place, "query", "document", "an array of records")
    else:
        yield from line_records(io.BytesIO(content), path)


def _rows(stream: io.BufferedReader, path: str) -> Iterator[FieldRecord]:
    """Yield the records of a table with a header line; the mark in it separates the cells."""
    import csv  # noqa: PLC0415  (its error alone)

    first = stream.peek(1).partition(b"\n")[0]
    delimiter = next((mark for mark in ("\t", ",", ";") if mark.encode() in first), ",")
    with io.TextIOWrapper(
        stream, encoding="utf-8-sig", errors="surrogateescape", newline=""
    ) as text:
        reader = csv_rows(text, delimiter)
        names = None
        line = 1
        try:
            for row in reader:
                start = line
                line = reader.line_num + 1
                if not any(cell.strip() for cell in row):
                    continue
                if names is None:
                    names = [cell.strip().lower() for cell in row]
                    continue
                if len(row) != len(names):
                    raise FileFormatError(
                        path, start, f"{len(row)} cells", f"{len(names)}, as in the header line"
                    )
                yield FieldRecord(dict(zip(names, row, strict=True)), path, start)
        except csv.Error as error:
            raise FileFormatError(
                path, reader.line_num, f"a cell that cannot be read ({error})", CELLS
            ) from None


def _value(record: FieldRecord, role: str) -> Any:
    """Return the first value among the columns that may have a role; `None` without one."""
    usual = candidates(list(record.fields), list(chain(*_USUAL.get(role, ()))))
    for name in (*_NAMES[role], *usual):
        value = record.fields.get(name)
        if value not in (None, ""):
            return value
    return None


def _is_sampled(record: FieldRecord) -> bool:
    """Return False for a document of a pool that is not part of the sample."""
    value = _value(record, "sampled")
    if value is None:
        return True
    text = str(value).strip().lower()
    if text not in {"true", "false"}:
        raise FileFormatError(
            record.place, record.line, f"sampled {shown(repr(value))}", "true or false"
        )
    return text == "true"


def _pair(record: FieldRecord) -> JudgmentPair:
    """Check a record, and return its pair."""

    def text(role: str) -> str:
        cell = _value(record, role)
        if cell is not None and (isinstance(cell, bool) or not isinstance(cell, (str, int))):
            raise FileFormatError(
                record.place, record.line, f"{role} {shown(repr(cell))}", "a text"
            )
        return "" if cell is None else str(cell).encode("utf-8", "replace").decode()

    def id_of(role: str) -> str:
        """Return an id: two that differ must not become one."""
        cell = _value(record, role)
        # a byte that is not UTF-8 was read as a lone surrogate, which `text` would replace
        if (
            isinstance(cell, str)
            and not cell.isascii()
            and any("\ud800" <= letter <= "\udfff" for letter in cell)
        ):
            raise FileFormatError(
                record.place,
                record.line,
                f"{role} {shown(repr(cell))}",
                "an id in UTF-8; save the file as UTF-8",
            )
        return text(role)

    query = id_of("query")
    document = id_of("document")
    if not query or not document:
        lacking = "query" if not query else "document"
        names = ", ".join(shown(repr(column)) for column in list(record.fields)[:8])
        raise FileFormatError(record.place, record.line, f"no {lacking} among {names}", _EXPECTED)
    content = DocumentText(text("title").strip(), text("text"), text("link").strip())
    return JudgmentPair(
        query=query,
        document=document,
        query_text=text("query_text").strip(),
        content=content,
        priority=_priority(_value(record, "priority"), record),
    )


def _priority(value: Any, record: FieldRecord) -> float:
    if value is None:
        return math.inf
    try:
        priority = float(value)
    except (TypeError, ValueError):
        priority = math.nan
    if not math.isfinite(priority):
        raise FileFormatError(
            record.place, record.line, f"priority {shown(repr(value))}", "a finite number"
        )
    return priority
