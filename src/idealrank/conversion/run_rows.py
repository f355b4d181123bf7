"""Runs in another format, TREC lines, JSON, tables and Parquet, and what is lost: the tag, other
columns, and documents that a query has twice.
"""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from idealrank.conversion.losses import LossCounter
from idealrank.data.run import Run
from idealrank.data.types import decode_id
from idealrank.errors import InputError, shown
from idealrank.io.complaints import Notes
from idealrank.io.formats.delimited import rows_in_batches, sniff_delimiter
from idealrank.io.formats.nested import as_records, load
from idealrank.io.formats.responses import lose_fields
from idealrank.io.formats.trec import tag_of
from idealrank.io.judgment_files import number
from idealrank.io.judgment_layouts import is_word
from idealrank.io.record_files import columnar_records
from idealrank.io.sources import Source
from idealrank.io.table_columns import RANK, Columns, choose_columns, plain

NAMES: tuple[str, ...] = ("query_id", "doc_id", "score")
"""Columns of a table."""


_CARRIED = "use a format such as csv or jsonl"
# The next step for an id that TREC lines cannot hold.
_OTHER_FORMAT: Mapping[str, Mapping[str, str]] = {
    "query": {
        "hint": "name a file for the texts with write_queries=, the same for judgments and runs, "
        f"and the queries are numbered; or {_CARRIED}",
        "command_hint": "add --write-queries queries.tsv, the same for judgments and runs, and the "
        f"queries are numbered; or {_CARRIED}",
    },
    "document": {"hint": _CARRIED},
}


class RunRow(NamedTuple):
    """One result."""

    query: str
    document: str
    rank: int
    score: float


def rows_of_run(run: Run) -> Iterator[RunRow]:
    """Results of every query, best first, ties by document id descending as trec_eval has them; a
    document twice stays twice.
    """
    from idealrank.data.alignment import Alignment  # noqa: PLC0415  (judgments need none)

    in_memory = run.in_memory()
    alignment = Alignment(duplicates="twice")
    for query_id in in_memory.source.query_ids():  # type: ignore[union-attr]
        query = decode_id(query_id)
        ranking = in_memory.ranking(query, alignment)
        for rank, (document, score) in enumerate(
            zip(ranking.documents, ranking.scores.tolist(), strict=True), 1
        ):
            yield RunRow(query=query, document=document, rank=rank, score=score)


def run_cells(row: RunRow) -> dict[str, Any]:
    """Cells of a row by the name of their column."""
    return dict(zip(NAMES, (row.query, row.document, row.score), strict=True))


def _trec(rows: Iterable[RunRow], name: str) -> Iterator[str]:
    # A letter that would part the fields of a line becomes an underscore.
    tag = "".join(letter if is_word(f"_{letter}") else "_" for letter in name)
    for row in rows:
        for kind, text in (("query", row.query), ("document", row.document)):
            if not is_word(text):
                raise InputError(
                    f"found {kind} {shown(repr(text))}, expected an id without blanks, control "
                    "characters and a leading #, since TREC separates fields by blanks",
                    **_OTHER_FORMAT[kind],
                )
        yield f"{row.query} Q0 {row.document} {row.rank} {number(row.score)} {tag}\n"


def _json_lines(rows: Iterable[RunRow], _name: str) -> Iterator[str]:
    for row in rows:
        record = run_cells(row) | {"score": number(row.score)}
        yield json.dumps(record, ensure_ascii=False) + "\n"


def _nested(rows: Iterable[RunRow], _name: str) -> Iterator[str]:
    scores: dict[str, dict[str, int | float]] = {}
    for row in rows:
        if row.document in scores.setdefault(row.query, {}):
            raise InputError(
                f"query {shown(repr(row.query))}: found document {shown(repr(row.document))} "
                f"twice, expected it once in an object of JSON",
                hint="use a format such as jsonl",
            )
        scores[row.query][row.document] = number(row.score)
    yield json.dumps(scores, ensure_ascii=False, indent=1) + "\n"


def _table(delimiter: str) -> Callable[[Iterable[RunRow], str], Iterator[str]]:
    def write(rows: Iterable[RunRow], _name: str) -> Iterator[str]:
        buffer = io.StringIO()
        writer = csv.writer(buffer, delimiter=delimiter, lineterminator="\n")
        writer.writerow(NAMES)
        for row in rows:
            writer.writerow((row.query, row.document, number(row.score)))
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
        yield buffer.getvalue()

    return write


RUN_TARGETS: Mapping[str, Callable[[Iterable[RunRow], str], Iterator[str]] | None] = {
    "trec": _trec,
    "csv": _table(","),
    "tsv": _table("\t"),
    "json": _nested,
    "jsonl": _json_lines,
    "parquet": None,
}
"""Writers of runs by format; None for Parquet, which is written in columns."""


_CELLS = ("csv", "tsv", "quepid")  # formats with a header line
_Others: TypeAlias = Callable[[Sequence[str]], list[str]]  # selects the columns that are lost


def lose_tag(source: Source, target: str, losses: LossCounter) -> None:
    """Count the tag of a run if the format has none."""
    tag = tag_of([source])
    if tag and target != "trec":
        losses.add("tags", tag)


def lose_columns(
    source: Source, kind: str, target: str, columns: Columns, losses: LossCounter
) -> None:
    r"""Count cells and fields that are neither query, document nor score; blank cells, and ranks
    where TREC has them, are not lost.
    """

    def others(names: Sequence[str]) -> list[str]:
        try:
            kept = choose_columns(names, "run", columns, source.path, Notes(lambda _: None)).names
        except InputError:  # it was read as a run, so each record has a list of documents
            raise InputError(
                f"{source.path}: found a list of documents in each record, expected a record for "
                "each document, whose other fields can be counted"
            ) from None
        ranks = RANK[0] if target == "trec" else ()
        return [name for name in names if name not in kept and plain(name) not in ranks]

    if kind in _CELLS:
        _lose_cells(source, "\t" if kind == "tsv" else sniff_delimiter(source), others, losses)
    elif kind in ("parquet", "arrow"):
        _lose_fields((record.fields for record in columnar_records(source, others)), losses)
    elif kind in ("json", "jsonl"):
        _lose_fields(_other_fields(source, kind, columns, others), losses)
    elif kind in ("elasticsearch", "solr"):
        lose_fields(source, kind, columns, losses.add)


def _lose_cells(source: Source, delimiter: str, others: _Others, losses: LossCounter) -> None:
    batches = rows_in_batches(source, delimiter)
    header, _ = next(batches)
    names = [name.strip() for name in header[0]]
    lost_names = set(others(names))
    places = [(place, name) for place, name in enumerate(names) if name in lost_names]
    for rows, _ in batches if places else ():
        for place, name in places:
            lost = sum(bool(row[place].strip()) for row in rows)
            if lost:
                losses.add("columns", name or "without a name", lost)


def _other_fields(
    source: Source, kind: str, columns: Columns, others: _Others
) -> Iterator[Mapping[str, Any]]:
    """Fields of records that no run has; what a run has is named as in the first record."""
    if kind == "jsonl":
        values: Iterable[Any] = (load(line.strip()) for line in source.open() if line.strip())
    else:
        values = as_records(load(source.read()), columns) or ()
    is_lost: dict[str, bool] = {}
    for value in values:
        if not isinstance(value, tuple):
            return
        if value and all(isinstance(content, tuple | list) for _, content in value):
            return  # queries with their documents
        record = dict(value)
        if not is_lost:
            names = list(record)
            is_lost = dict.fromkeys(names, False) | dict.fromkeys(others(names), True)
        yield {name: content for name, content in record.items() if is_lost.get(name, True)}


def _lose_fields(records: Iterable[Mapping[str, Any]], losses: LossCounter) -> None:
    for record in records:
        for name, value in record.items():
            if value is not None and value != "":
                losses.add("columns", name)


class Repeats:
    """Documents that a query has more than once, counted while results pass query by query."""

    def __init__(self) -> None:
        self._query = ""
        self._seen: set[str] = set()
        self._count = 0
        self._first: RunRow | None = None

    def add(self, row: RunRow) -> None:
        """Take the next result."""
        if row.query != self._query:
            self._query = row.query
            self._seen = set()
        if row.document in self._seen:
            self._count += 1
            self._first = self._first or row
        self._seen.add(row.document)

    def tell(self, path: str, notes: Notes) -> None:
        """Warn of them: judgments by several assessors look so, too."""
        if self._first is None:
            return
        where = (
            f"query {shown(repr(self._first.query))}, document {shown(repr(self._first.document))}"
        )
        results = "1 result" if self._count == 1 else f"{self._count:,} results"
        notes.warn(
            f"{path}: found {results} for a document that the query has already ({where}); all are "
            "written, which most commands refuse"
        )
