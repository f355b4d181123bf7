"""Answers in JSON and JSON lines: records with a list of documents each, in an array, one per line,
or by query.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, TypeAlias

from idealrank.io.checked_cells import shown
from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.formats.answers import Answers, answer_paths
from idealrank.io.formats.nested import broken, load
from idealrank.io.row_parts import Blocks, Place, Table
from idealrank.io.sources import Source
from idealrank.io.table_columns import Columns

# A record as `load` gives it, its place, and its query where that is its name.
_Placed: TypeAlias = tuple[Any, Place, Any]
_Records: TypeAlias = Callable[[Complain], Iterator[_Placed]]


def answers_of_value(
    value: Any, source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Blocks | None:
    """Read a value whose records have a list of documents each; None for any other value."""
    path = source.path

    def listed(_: Complain) -> Iterator[_Placed]:
        for number, record in enumerate(value, 1):
            yield record, (f"{path}: record {number}", 0), None

    def single(_: Complain) -> Iterator[_Placed]:
        yield value, (path, 0), None

    def by_query(_: Complain) -> Iterator[_Placed]:
        for query, record in value:
            yield record, (f"{path}: query {shown(query)}", 0), query

    layouts: dict[_Records, bool] = {}
    if isinstance(value, list):
        layouts = {listed: False}
    elif isinstance(value, tuple):
        # A record has a scalar field at least, its query; without any, names are queries.
        has_scalar = any(not isinstance(part, (tuple, list)) for _, part in value)
        layouts = {single: False, by_query: True} if has_scalar else {by_query: True}
    return _read(layouts, path, table, columns, notes=notes, complain=complain)


def answers_of_lines(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Blocks | None:
    """Read lines with a list of documents each; None for any other file."""

    def lines(complain: Complain) -> Iterator[_Placed]:
        for number, line in enumerate(source.open(), 1):
            if line.strip():
                try:
                    yield load(line.strip()), (source.path, number), None
                except (ValueError, RecursionError) as error:
                    complain(broken(error, source.path, number))

    def by_query(complain: Complain) -> Iterator[_Placed]:
        for value, place, _ in lines(complain):
            for query, record in value if isinstance(value, tuple) else ():
                yield record, place, query

    layouts: dict[_Records, bool] = {lines: False, by_query: True}
    return _read(layouts, source.path, table, columns, notes=notes, complain=complain)


def _read(
    layouts: dict[_Records, bool],
    path: str,
    table: Table,
    columns: Columns,
    *,
    notes: Notes,
    complain: Complain,
) -> Blocks | None:
    """Read records in the first layout that shows lists of documents."""
    for records, is_keyed in layouts.items():
        samples = _samples(records)
        paths = answer_paths(samples, table, columns, path, notes, is_keyed=is_keyed)
        if paths is None:
            continue
        answers = Answers(paths, table, complain)
        for value, place, query in records(complain):
            try:
                record = plain_record(value)
            except RepeatedFieldError as error:
                problem = f"the field {shown(str(error))} twice in an object"
                complain(Complaint("repeated-field", *place, problem, "each field once"))
            else:
                answers.add(record, place, query)
        answers.tell(notes, path)
        return Blocks(answers.blocks)
    return None


def _samples(records: _Records) -> Iterator[Any]:
    """Yield the first records that can be read; the others are complained of when all are read."""
    for value, _, _ in records(lambda _: None):
        with suppress(RepeatedFieldError):
            yield plain_record(value)


def plain_record(value: Any) -> Any:
    """Return a value of `load` with objects as dicts.

    Examples
    --------
    >>> plain_record((("query", "q"), ("hits", [(("id", 7),)])))
    {'query': 'q', 'hits': [{'id': 7}]}
    """
    if isinstance(value, tuple):
        fields = {name: plain_record(part) for name, part in value}
        if len(fields) < len(value):
            names = [name for name, _ in value]
            raise RepeatedFieldError(next(name for name in names if names.count(name) > 1))
        return fields
    return [plain_record(part) for part in value] if isinstance(value, list) else value


class RepeatedFieldError(Exception):
    """An object has a field twice; the argument is its name."""
