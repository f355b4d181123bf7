"""Lists of pairs to judge: query and document with their texts, as people and judges get them."""

import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from idealrank.errors import FileFormatError, InputError, shown
from idealrank.io.complaints import Notes, Tell
from idealrank.io.formats.delimited import CELLS, csv_rows
from idealrank.io.formats.detection import refuse_foreign
from idealrank.io.judgment_files import check_ids
from idealrank.io.record_files import BYTE_ORDER_MARK, FieldRecord, json_records, line_records
from idealrank.io.sources import AnyPath, open_stream
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
_NO_TEXT = DocumentText("", "")
_LONGEST_QUERY = 1_000_000  # letters
_EXPECTED = (
    "columns query and document, and query_text, title, text, link, priority, sampled if there "
    "are any"
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
    found: dict[tuple[str, str], JudgmentPair] = {}
    left_out, notes = 0, Notes(tell)
    for record in _records(name, notes):
        if not _is_sampled(record):
            left_out += 1
            continue
        pair = _pair(record)
        if pair.key in found:
            pair_text = (
                f"query {shown(repr(pair.query))} and document {shown(repr(pair.document))} a "
                f"second time"
            )
            raise FileFormatError(record.place, record.line, pair_text, "each pair once")
        found[pair.key] = pair
    if not found:
        raise InputError(
            f"{name}: found no pair{' that is sampled' if left_out else ''}, expected {_EXPECTED}"
        )
    if left_out:
        are, left = ("is", "was") if left_out == 1 else ("are", "were")
        said = (
            f"{left_out:,} of {left_out + len(found):,} pairs {are} not sampled and {left} left out"
        )
        notes.warn(
            f"{name}: {said}; {len(found):,} {'is' if len(found) == 1 else 'are'} to be judged"
        )
    return with_texts(list(found.values()), queries, documents, tell=tell)


def with_texts(
    pairs: Sequence[JudgmentPair],
    queries: AnyPath | None,
    documents: AnyPath | None,
    *,
    tell: Tell | None = None,
) -> list[JudgmentPair]:
    """Return pairs with the texts that they lack; a query without any text gets its id."""
    lacking = {one.query for one in pairs if not one.query_text}
    wanted = {one.document for one in pairs if not one.content.joined}
    query_texts = (
        read_texts(queries, lacking, length=_LONGEST_QUERY, tell=tell)
        if queries is not None
        else {}
    )
    contents = read_documents(documents, wanted, tell=tell) if documents is not None else {}
    return [
        replace(
            one,
            query_text=one.query_text or query_texts.get(one.query, one.query),
            content=one.content
            if one.content.joined
            else _with_link(contents.get(one.document, one.content), one.content.link),
        )
        for one in pairs
    ]


def _with_link(content: DocumentText, link: str) -> DocumentText:
    return content._replace(link=link) if link else content


def _records(path: str, notes: Notes) -> Iterator[FieldRecord]:
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
    """Records of JSON lines; or of the documents of one object, as `judge pool --format json`
    writes it.
    """
    try:
        whole = json.loads(content.removeprefix(BYTE_ORDER_MARK))
    except (ValueError, RecursionError):  # several lines, or a mistake, which has a line
        whole = None
    if isinstance(whole, dict) and isinstance(documents := whole.get("documents"), list):
        yield from json_records(
            json.dumps(documents).encode(),
            f"{path}: documents",
            "query",
            "document",
            "an array of records",
        )
    else:
        yield from line_records(io.BytesIO(content), path)


def _rows(stream: io.BufferedReader, path: str) -> Iterator[FieldRecord]:
    import csv  # noqa: PLC0415  (its error alone)

    first = stream.peek(1).partition(b"\n")[0]
    delimiter = next((mark for mark in ("\t", ",", ";") if mark.encode() in first), ",")
    with io.TextIOWrapper(
        stream, encoding="utf-8-sig", errors="surrogateescape", newline=""
    ) as text:
        reader, names, line = csv_rows(text, delimiter), None, 1
        try:
            for row in reader:
                start, line = line, reader.line_num + 1
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
    return next(
        (record.fields[name] for name in _NAMES[role] if record.fields.get(name) not in (None, "")),
        None,
    )


def _is_sampled(record: FieldRecord) -> bool:
    """False for a document of a pool that is not part of the sample."""
    value = _value(record, "sampled")
    text = str(value).strip().lower()
    if value is not None and text not in {"true", "false"}:
        raise FileFormatError(
            record.place, record.line, f"sampled {shown(repr(value))}", "true or false"
        )
    return text != "false"


def _pair(record: FieldRecord) -> JudgmentPair:
    def value(role: str) -> Any:
        return _value(record, role)

    def text(role: str) -> str:
        found = value(role)
        if found is not None and (isinstance(found, bool) or not isinstance(found, (str, int))):
            raise FileFormatError(
                record.place, record.line, f"{role} {shown(repr(found))}", "a text"
            )
        return "" if found is None else str(found).encode("utf-8", "replace").decode()

    def name(role: str) -> str:
        """An id: two that differ must not become one."""
        found = value(role)
        if (
            isinstance(found, str)
            and not found.isascii()
            and any("\ud800" <= letter <= "\udfff" for letter in found)
        ):
            raise FileFormatError(
                record.place,
                record.line,
                f"{role} {shown(repr(found))}",
                "an id in UTF-8; save the file as UTF-8",
            )
        return text(role).strip()

    query, document = name("query"), name("document")
    if not query or not document:
        lacking = "query" if not query else "document"
        found = (
            f"no {lacking} among {', '.join(shown(repr(name)) for name in list(record.fields)[:8])}"
        )
        raise FileFormatError(record.place, record.line, found, _EXPECTED)
    check_ids(record.place, query, document, record.line)
    content = DocumentText(text("title").strip(), text("text"), text("link").strip())
    return JudgmentPair(
        query=query,
        document=document,
        query_text=text("query_text").strip(),
        content=content,
        priority=_priority(value("priority"), record),
    )


def _priority(value: Any, record: FieldRecord) -> float:
    if value is None:
        return math.inf
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = float("nan")
    if not abs(found) < float("inf"):
        raise FileFormatError(
            record.place, record.line, f"priority {shown(repr(value))}", "a finite number"
        )
    return found
