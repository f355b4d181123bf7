"""Sets of documents, of each query or shared by all: those that may be returned, must not be, or
were to be ranked.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from numbers import Integral
from os import PathLike
from typing import Any, NamedTuple

import numpy as np

from idealrank import _kernel
from idealrank.data.candidates import Candidates
from idealrank.data.interchange import is_frame
from idealrank.data.problems import translate
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.data.types import decode_id
from idealrank.errors import FileFormatError, InputError, OptionError
from idealrank.io.checked_cells import Fault, check_id, parse_number
from idealrank.io.complaints import Notes, Tell
from idealrank.io.formats.delimited import rows_in_batches
from idealrank.io.formats.detection import refuse_foreign, sniff_json
from idealrank.io.record_files import (
    FieldRecord,
    columnar_records,
    frame_records,
    is_columnar,
    json_records,
    line_records,
)
from idealrank.io.row_parts import Place, Table
from idealrank.io.sources import BYTE_ORDER_MARK, InputFile, Source, input_files, open_sources
from idealrank.io.table_columns import DOCUMENT, QUERY, candidates, plain

# Names of columns and fields that hold documents, several of them in a list.
_DOCUMENTS = (*DOCUMENT[0], *DOCUMENT[1], "documents", "docs", "items", "candidates")
_HEAD = 1 << 16  # bytes in which the first line of data is looked for
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANKS = re.compile(r"[ \t]+")
_EXPECTED = "{query: [documents]}, records with query and document, or a list of documents"
_LINES = "lines QUERY DOCUMENT, a table with columns query and document, or one document per line"


@dataclass(frozen=True, kw_only=True, eq=False)
class DocumentSets:
    """A set of documents of each query, or one set for all queries."""

    # Documents of each query, each once, in the order of the input; empty for a shared set
    by_query: Mapping[str, Sequence[str]]
    # The documents that all queries share; None where each query has its own
    shared: Sequence[str] | None = None
    inputs: tuple[InputFile, ...] = ()  # The file that was read; empty for objects

    @cached_property
    def n_pairs(self) -> int:
        """Number of pairs of query and document; of a shared set, of its documents."""
        if self.shared is not None:
            return len(self.shared)
        return sum(map(len, self.by_query.values()))

    def of(self, query: str) -> Sequence[str]:
        """Documents of a query; empty for a query without a set."""
        return self.by_query.get(query, ()) if self.shared is None else self.shared


def read_document_sets(source: Any, *, what: str, tell: Tell | None = None) -> DocumentSets:
    """Read sets from a path, ``{query: [documents]}``, a dataframe, judgments, a run, pairs, or
    documents alone, which all queries share; `what` names them in messages.

    A document that is named twice counts once.
    """
    if isinstance(source, (str, PathLike)):
        return _of_file(source, what, Notes(tell))
    if isinstance(source, Qrels):
        return DocumentSets(by_query=_of_table(source.table))
    if isinstance(source, Run):
        return DocumentSets(by_query=_of_run(source))
    if is_frame(source):
        return _collected(_of_records(frame_records(source, what, partial(_chosen, what))), what)
    if isinstance(source, Mapping):
        pairs = _of_mapping(source, (what, 0))
    elif isinstance(source, Iterable) and not isinstance(source, bytes):
        pairs = _of_iterable(source, what)
    else:
        raise InputError(
            f"{what}: found {type(source).__name__}, expected a path, {{query: [documents]}}, a "
            f"dataframe, pairs (query, document), or a list of documents that all queries share"
        )
    return _collected(pairs, what)


def read_candidates(source: Any, *, tell: Tell | None = None) -> Candidates:
    """Read candidates from a number of documents, or from any source of document sets."""
    if isinstance(source, Candidates):
        return source
    if isinstance(source, bool):
        raise InputError(f"candidates: found {source}, expected documents or their number")
    if isinstance(source, Integral):
        if source < 1:
            raise OptionError(f"candidates={source}: expected a number of documents from 1 on")
        return Candidates(number=int(source))
    sets = read_document_sets(source, what="candidates", tell=tell)
    if sets.shared is not None:
        return Candidates(shared=sets.shared, inputs=sets.inputs)
    return Candidates(by_query=sets.by_query, inputs=sets.inputs)


class _Pair(NamedTuple):
    """A query and a document, with their place; None for the query of a shared set, and for the
    document of an empty one.
    """

    query: str | None
    document: str | None
    place: Place


def _collected(pairs: Iterable[_Pair], where: str) -> DocumentSets:
    """Sets of all pairs, which must all name a query, or none."""
    sets: dict[str | None, dict[str, None]] = {}
    for pair in pairs:
        if pair.query not in sets:
            if sets and (pair.query is None or None in sets):
                raise FileFormatError(*pair.place, *_MIXED)
            sets[pair.query] = {}
        if pair.document is not None:
            sets[pair.query][pair.document] = None
    if not sets:
        raise FileFormatError(where, 0, "nothing", _LINES)
    shared = sets.pop(None, None)
    return DocumentSets(
        by_query={query: tuple(documents) for query, documents in sets.items() if query},
        shared=None if shared is None else tuple(shared),
    )


_MIXED = ("a pair and a document without a query", "a query for each document, or for none")


def _of_file(path: "str | PathLike[str]", what: str, notes: Notes) -> DocumentSets:
    """Sets of one file in any format."""
    (source,) = open_sources(path, notes)
    inputs = input_files([source.path])
    try:
        table = _kernel_table(source)
        if table is not None:
            return DocumentSets(by_query=_of_table(table), inputs=inputs)
        sets = _collected(_of_source(source), source.path)
    finally:  # a file that was cut short read as zeros
        source.refuse_cut()
    if sets.shared is not None:
        notes.inform(
            f"{source.path}: read as {len(sets.shared):,} documents that all queries share, for "
            f"{what}"
        )
    return DocumentSets(by_query=sets.by_query, shared=sets.shared, inputs=inputs)


def _of_source(source: Source) -> Iterator[_Pair]:
    start = bytes(source.data[:_HEAD]).removeprefix(BYTE_ORDER_MARK).lstrip()
    refuse_foreign(source.path, bytes(source.data[:4]))
    if is_columnar(start):
        return _of_records(columnar_records(source, partial(_chosen, source.path)))
    if start[:1] in (b"{", b"["):
        return _of_json(source)
    return _of_text(source)


# --- TREC lines, which the kernel reads --------------------------------------------------------


def _kernel_table(source: Source) -> _kernel.Table | None:
    """The lines of judgments or of a run; None for any other file."""
    line = next(_data_lines(source), b"").decode("utf-8", "replace").split()
    kind: Table | None = None
    if len(line) == 4 and parse_number(line[3]) is not None:
        kind = "qrels"
    elif len(line) == 6 and parse_number(line[4]) is not None:
        kind = "run"
    if kind is None or "," in line[0]:
        return None
    try:
        text = _kernel.Text([source.data], kind)
        return _kernel.read_text(text, duplicates="first" if kind == "qrels" else "keep")
    except _kernel.ParseError as error:
        raise translate(error, [source.path], kind) from None


def _of_run(run: Run) -> Mapping[str, Sequence[str]]:
    table = run.in_memory().source
    if not isinstance(table, _kernel.Table):
        raise InputError(
            f"run {run.name!r}: found a run that is read in parts, expected one in memory"
        )
    return _of_table(table)


def _of_table(table: _kernel.Table) -> Mapping[str, Sequence[str]]:
    """Documents of each query, each once."""
    documents = [decode_id(name) for name in table.document_ids(np.arange(table.n_rows))]
    ends = table.offsets.tolist()
    return {
        decode_id(query): tuple(dict.fromkeys(documents[begin:end]))
        for query, begin, end in zip(table.query_ids(), ends, ends[1:], strict=False)
    }


def _data_lines(source: Source) -> Iterator[bytes]:
    """The first lines that are neither blank nor a comment."""
    start = bytes(source.data[:_HEAD]).removeprefix(BYTE_ORDER_MARK)
    return (line for line in start.splitlines() if line.strip() and not line.startswith(b"#"))


# --- other text --------------------------------------------------------------------------------


def _of_text(source: Source) -> Iterator[_Pair]:
    """Pairs or documents of each line, by the columns of a header line where there is one."""
    rows = _rows(source)
    first = next(((row, line) for row, line in rows if not row[0].startswith("#")), None)
    if first is None:
        raise FileFormatError(source.path, 0, "an empty file", _LINES)
    first_row, first_line = first
    names = [name.strip() for name in first_row]
    has_header = _is_header(names)
    if has_header:
        query, document = _columns_of(source.path, first_line, names)
        query_place = names.index(query) if query else None
        document_place = names.index(document)
    else:
        query_place = 0 if len(names) == 2 else None
        document_place = len(names) - 1
        if len(names) > 2:
            problem = f"{len(names)} cells without a header line"
            raise FileFormatError(source.path, first_line, problem, _LINES)
    for row, line in rows if has_header else chain([first], rows):
        if not has_header and row[0].startswith("#"):
            continue
        if len(row) != len(names):
            problem = f"{len(row)} cell{'s' * (len(row) != 1)}"
            raise FileFormatError(source.path, line, problem, f"{len(names)}, as in the first line")
        place = (source.path, line)
        query_id = None if query_place is None else _id(row[query_place].strip(), place)
        yield _Pair(query_id, _id(row[document_place].strip(), place), place)


def _rows(source: Source) -> Iterator[tuple[list[str], int]]:
    """Cells of each line that is not blank, with its number; tabs, commas, semicolons or blanks
    separate, as in the first line of data.
    """
    head = next(_data_lines(source), b"").strip()
    delimiter = next((sign for sign in (b"\t", b",", b";") if sign in head), None)
    # an id may hold a comma or a semicolon
    if delimiter == b"\t" or (delimiter is not None and b" " not in head.split(b'"')[0].strip()):
        for rows, numbers in rows_in_batches(source, delimiter.decode()):
            yield from zip(rows, numbers.tolist(), strict=True)
        return
    text = source.read().decode("utf-8-sig", "surrogateescape")
    for number, line in enumerate(_LINE_END.split(text), 1):
        if line.strip():
            yield _BLANKS.split(line.strip()), number


def _is_header(names: Sequence[str]) -> bool:
    """Return whether the cells of the first line name columns; a query may be called q."""
    is_documents = any(plain(name) in _DOCUMENTS for name in names)
    return is_documents or any(
        plain(name) in (*QUERY[0], *QUERY[1]) and len(name) > 1 for name in names
    )


# --- columns, records and JSON -----------------------------------------------------------------


def _columns_of(path: str, line: int, names: Sequence[str]) -> tuple[str, str]:
    """Names of the columns of the query, empty where there is none, and of the document."""
    query_names = candidates(names, QUERY[0]) or candidates(names, QUERY[1])
    document_names = candidates([n for n in names if n not in query_names], _DOCUMENTS)
    others = [name for name in names if name not in (*query_names, *document_names)]
    # the other of two columns may have any name
    if len(names) == 2 and len(others) == 1:
        query_names = query_names or others
        document_names = document_names or others
    if not document_names:
        raise FileFormatError(
            path,
            line,
            f"columns {', '.join(map(repr, names))}",
            "one for the document (document, document_id, docid, item_id, ...)",
            "rename it",
        )
    return (query_names[0] if query_names else ""), document_names[0]


def _chosen(path: str, names: Sequence[str]) -> list[str]:
    return [name for name in _columns_of(path, 0, names) if name]


def _of_records(records: Iterable[FieldRecord]) -> Iterator[_Pair]:
    """Pairs of records; a list of documents gives a pair for each."""
    columns: tuple[str, str] | None = None
    for record in records:
        place = (record.place, record.line)
        if columns is None:
            columns = _columns_of(*place, list(record.fields))
        query, document = columns
        for name in filter(None, columns):
            if name not in record.fields:
                raise FileFormatError(
                    *place, f"no field {name!r}", "all fields of the first record"
                )
        query_id = _id(record.fields[query], place) if query else None
        yield from _of_documents(query_id, record.fields[document], place)


def _of_json(source: Source) -> Iterator[_Pair]:
    """JSON lines of records; an object of lists by query; or an array of records or documents."""
    if sniff_json(source.data)[0] == "jsonl":
        return _of_records(line_records(source.read().split(b"\n"), source.path))
    text = source.read().removeprefix(BYTE_ORDER_MARK)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        problem = f"text that is not JSON ({error})"
        raise FileFormatError(source.path, 0, problem, _EXPECTED) from None
    if isinstance(content, dict) and not _is_record(content):
        return _of_mapping(content, (source.path, 0))
    if isinstance(content, list) and not any(isinstance(item, dict) for item in content):
        return _of_documents(None, content, (source.path, 0))
    if isinstance(content, dict):  # one line of JSON lines
        return _of_records([FieldRecord(content, source.path, 0)])
    return _of_records(json_records(text, source.path, "query", "document", _EXPECTED))


def _is_record(content: Mapping[str, Any]) -> bool:
    """Return whether an object is one record, whose query is no list of documents."""
    queries = candidates(list(content), (*QUERY[0], *QUERY[1]))
    return bool(queries) and isinstance(content[queries[0]], (str, int))


# --- objects -----------------------------------------------------------------------------------


def _of_mapping(sets: Mapping[Any, Any], place: Place) -> Iterator[_Pair]:
    """Documents by query."""
    path, line = place
    for query, documents in sets.items():
        query_id = _id(query, place)
        yield from _of_documents(query_id, documents, (f"{path}: query {query_id!r}", line))


def _of_documents(query: str | None, documents: Any, place: Place) -> Iterator[_Pair]:
    """Pairs of one query: of a list, a set, or the keys of an object; of one document."""
    if isinstance(documents, (str, int)) or (query is None and not _is_collection(documents)):
        yield _Pair(query, _id(documents, place), place)
        return
    if not _is_collection(documents):
        found = "null" if documents is None else type(documents).__name__
        raise FileFormatError(*place, found, "a list of documents")
    yield _Pair(query, None, place)
    for document in documents:
        yield _Pair(query, _id(document, place), place)


def _is_collection(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes))


def _of_iterable(items: Iterable[Any], what: str) -> Iterator[_Pair]:
    """Pairs of a query and a document, or documents alone."""
    for number, item in enumerate(items):
        place = (f"{what}: item {number} (counted from 0)", 0)
        if not _is_collection(item):
            yield _Pair(None, _id(item, place), place)
            continue
        pair = list(item)
        if len(pair) != 2:
            raise FileFormatError(*place, f"{len(pair)} values", "a pair (query, document)")
        yield _Pair(_id(pair[0], place), _id(pair[1], place), place)


def _id(value: Any, place: Place) -> str:
    """A checked id; numbers of NumPy are whole numbers, too."""
    checked: str | Fault = check_id(value)
    if isinstance(checked, Fault):
        raise checked.at(place).error()
    return checked
