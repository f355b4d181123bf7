"""Losses of runs in another format: the tag, and other columns of tables; and documents that a
query has twice.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from idealrank.conversion.losses import LossCounter
from idealrank.conversion.run_rows import RunRow
from idealrank.errors import shown
from idealrank.io.formats.delimited import rows_in_batches, sniff_delimiter
from idealrank.io.formats.detection import FORMATS_OF
from idealrank.io.formats.nested import as_records, load
from idealrank.io.formats.responses import lose_fields
from idealrank.io.formats.trec import tag_of
from idealrank.io.notes import Notes
from idealrank.io.record_files import columnar_records
from idealrank.io.sources import Source
from idealrank.io.table_columns import Columns, choose_columns
from idealrank.io.usual_columns import RANK, plain

_CELLS = ("csv", "tsv", "quepid")


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
        kept = choose_columns(names, "run", columns, source.path, Notes(lambda _: None)).names
        ranks = RANK[0] if target == "trec" else ()
        return [name for name in names if name not in kept and plain(name) not in ranks]

    if kind in _CELLS:
        _lose_cells(source, "\t" if kind == "tsv" else sniff_delimiter(source), others, losses)
    elif kind in ("parquet", "arrow"):
        _lose_fields((record.fields for record in columnar_records(source, others)), losses)
    elif kind in ("json", "jsonl"):
        _lose_fields(_other_fields(source, kind, columns, others), losses)
    elif kind in FORMATS_OF["run"]:
        lose_fields(source, kind, columns, losses.add)


def _lose_cells(source: Source, delimiter: str, others: Any, losses: LossCounter) -> None:
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
    source: Source, kind: str, columns: Columns, others: Any
) -> Iterator[Mapping[str, Any]]:
    """Fields of records that no run has; what a run has is named as in the first record."""
    if kind == "jsonl":
        values: Iterable[Any] = (load(line.strip()) for line in source.open() if line.strip())
    else:
        values = as_records(load(source.read()), columns) or ()
    known: dict[str, bool] = {}
    for value in values:
        if not isinstance(value, tuple) or (
            value and all(isinstance(inner, tuple | list) for _, inner in value)
        ):
            return  # queries with their documents
        record = dict(value)
        if not known:
            names = list(record)
            known = dict.fromkeys(names, False) | dict.fromkeys(others(names), True)
        yield {name: inner for name, inner in record.items() if known.get(name, True)}


def _lose_fields(records: Iterable[Mapping[str, Any]], losses: LossCounter) -> None:
    for record in records:
        for name, value in record.items():
            if value is not None and value != "":
                losses.add("columns", name)


class Repeats:
    """Documents that stand more than once under a query, counted while the results pass query by
    query.
    """

    def __init__(self) -> None:
        self._query = ""
        self._seen: set[str] = set()
        self._count = 0
        self._first: RunRow | None = None

    def add(self, row: RunRow) -> None:
        """Take the next result."""
        if row.query != self._query:
            self._query, self._seen = row.query, set()
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
        results = f"{self._count:,} result{'s' * (self._count != 1)}"
        notes.warn(
            f"{path}: found {results} for a document that the query has already ({where}); "
            f"all are written, which most commands refuse"
        )
