"""Kinds of assessors in files of judgments: grades of people and of models are never joined without
a note.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from idealrank.errors import shown
from idealrank.io.formats.delimited import rows_in_batches, sniff_delimiter
from idealrank.io.formats.label_studio import label_studio_kinds
from idealrank.io.formats.nested import as_records, load
from idealrank.io.judgment_files import COLUMNS, KINDS, ORIGIN_MARK, origin_in
from idealrank.io.notes import Notes
from idealrank.io.record_files import columnar_records, frame_records, line_records
from idealrank.io.sources import Source
from idealrank.io.table_columns import Columns

_LINE = re.compile(rb"^" + re.escape(ORIGIN_MARK.encode()) + rb"[^\n]*", re.MULTILINE)
_KIND, _GRADE = COLUMNS[4], COLUMNS[2]
_PEOPLE = KINDS[0]


def tell_kinds(
    sources: Sequence[Source],
    format: str,  # noqa: A002  (the word every reader of files uses)
    notes: Notes,
    columns: Columns = None,
) -> None:
    r"""Warn of judgments by different kinds of assessors, and note a table of labels without any by
    people.
    """
    found = {source.path: kinds_of(source, format, columns) for source in sources}
    _tell(found, notes, are_tables=format != "trec")


def kinds_of(source: Source, format: str, columns: Columns = None) -> list[str]:  # noqa: A002  (as above)
    r"""Kinds of assessors that a file names, as `tell_kinds` finds them."""
    return list(dict.fromkeys(_kinds(source, format, columns)))


def tell_kinds_of_frame(frame: Any, names: Sequence[str], where: str, notes: Notes) -> None:
    """Warn or note as `tell_kinds` does, for a dataframe with these columns."""
    if _KIND in names:
        records = (record.fields for record in frame_records(frame, where, _chosen))
        _tell({where: list(dict.fromkeys(_kinds_of(records)))}, notes, are_tables=True)


def _tell(found: Mapping[str, Sequence[str]], notes: Notes, *, are_tables: bool) -> None:
    kinds = dict.fromkeys(chain.from_iterable(found.values()))
    if len(kinds) > 1:
        said = ", ".join(
            f"{path}: {' and '.join(map(shown, some))}" for path, some in found.items() if some
        )
        notes.warn(
            f"the judgments are of different kinds ({said}) and were joined; --judge-qrels "
            f"keeps a judge apart"
        )
    elif are_tables and kinds and _PEOPLE not in kinds:
        paths = ", ".join(path for path, some in found.items() if some)
        notes.inform(f"{paths}: all judgments are of kind {next(iter(kinds))}, none by {_PEOPLE}")


def _kinds(source: Source, format: str, columns: Columns) -> Iterator[str]:  # noqa: A002  (as above)
    """Kinds that a file names, again and again."""
    if format == "label-studio":
        yield from label_studio_kinds(source, columns)
        return
    if format == "trec":
        origins = (origin_in(bytes(line[0])) for line in _LINE.finditer(source.data))
        yield from (str(origin.get("kind")) for origin in origins if origin is not None)
        return
    read = _RECORDS.get(format)
    yield from _kinds_of(read(source)) if read is not None else ()


def _kinds_of(records: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for record in records:
        kind = record.get(_KIND)
        if isinstance(kind, str) and kind in KINDS and record.get(_GRADE, 0) not in (None, ""):
            yield kind


def _chosen(names: Sequence[str]) -> list[str]:
    return [name for name in names if name in (_KIND, _GRADE)]


def _table(delimiter: str | None) -> Callable[[Source], Iterator[Mapping[str, Any]]]:
    def read(source: Source) -> Iterator[Mapping[str, Any]]:
        batches = rows_in_batches(source, delimiter or sniff_delimiter(source))
        header, _ = next(batches, ([[]], None))
        names = [name.strip() for name in header[0]]
        if _KIND not in names:
            return
        for rows, _ in batches:
            for row in rows:
                yield dict(zip(names, row, strict=False))

    return read


def _columns(source: Source) -> Iterator[Mapping[str, Any]]:
    for record in columnar_records(source, _chosen):
        if _KIND not in record.fields:
            return
        yield record.fields


def _lines(source: Source) -> Iterator[Mapping[str, Any]]:
    word = f'"{_KIND}"'.encode()
    yield from (
        record.fields
        for record in line_records(source.open(), source.path, lambda line: word not in line)
    )


def _array(source: Source) -> Iterator[Mapping[str, Any]]:
    if source.data.find(f'"{_KIND}"'.encode()) < 0:
        return
    yield from (
        dict(record)
        for record in as_records(load(source.read())) or ()
        if isinstance(record, tuple)
    )


_RECORDS: Mapping[str, Callable[[Source], Iterator[Mapping[str, Any]]]] = {
    "csv": _table(None),
    "tsv": _table("\t"),
    "jsonl": _lines,
    "json": _array,
    "parquet": _columns,
    "arrow": _columns,
}
