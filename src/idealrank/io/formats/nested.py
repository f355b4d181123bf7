"""JSON and JSON lines: ``{query: {document: number}}``, ``{query: [document, ...]}``, or records
with named fields.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.evaluation.coverage import look_like_scores
from idealrank.io.checked_cells import (
    Fault,
    all_ids,
    all_numbers,
    check_id,
    check_number,
    describe_value,
    shown,
)
from idealrank.io.complaints import Complain, Complaint, Notes
from idealrank.io.formats.answers import Answers, answer_paths
from idealrank.io.label_grades import grade_of
from idealrank.io.row_parts import Block, Blocks, IdColumn, Place, Rows, Table, concatenate, pack
from idealrank.io.sources import BYTE_ORDER_MARK, Source
from idealrank.io.table_columns import (
    DOCUMENT,
    Chosen,
    Columns,
    candidates,
    choose_columns,
    label_grades,
    named_columns,
    query_column,
)

# Records that become columns at once: no more are Python objects at one time.
_BATCH = 1 << 14

# Query, document, value and number of a record. Named tuples take several times as long to make.
_Row: TypeAlias = tuple[Any, Any, Any, int]


class _Columns(NamedTuple):
    """Checked records as columns."""

    queries: IdColumn
    documents: IdColumn
    values: FloatArray
    numbers: IntArray

    @classmethod
    def of_rows(cls, rows: Sequence[_Row]) -> "_Columns":
        """Turn rows into columns."""
        queries, documents, values, numbers = zip(*rows, strict=True) if rows else ((), (), (), ())
        return cls(
            queries=pack(queries),
            documents=pack(documents),
            values=np.array(values, np.float64),
            numbers=np.array(numbers, np.int64),
        )


class Records:
    """Collects records; the fields' names are chosen from the first."""

    def __init__(
        self,
        table: Table,
        columns: Columns,
        path: str,
        notes: Notes,
        complain: Complain,
        place: Callable[[int], Place],
    ) -> None:
        self._table: Table = table
        self._columns = columns
        self._path = path
        self._notes = notes
        self._complain = complain
        self._place = place
        self._chosen: Chosen | None = None
        self._batch: list[_Row] = []
        self._flushed: list[_Columns] = []

    def __bool__(self) -> bool:
        return self._chosen is not None

    def add(self, record: Any, number: int) -> None:
        """Take one record: an object as a tuple of pairs."""
        fields = self._fields(record, number)
        if fields is not None:
            self._batch.append((*fields, number))
            if len(self._batch) == _BATCH:
                self._flush()

    def rows(self) -> Rows:
        """Return the columns gathered so far."""
        self._flush()
        batches = self._flushed or [_Columns.of_rows([])]
        values = np.concatenate([batch.values for batch in batches])
        numbers = np.concatenate([batch.numbers for batch in batches])
        if self._chosen is not None and self._chosen.by_rank:
            values = 0.0 - values  # subtracted, not negated: no score is -0.0
        return Rows(
            queries=concatenate([batch.queries for batch in batches]),
            documents=concatenate([batch.documents for batch in batches]),
            values=values,
            place=lambda row: self._place(int(numbers[row])),
        )

    def _fields(self, record: Any, number: int) -> tuple[Any, Any, Any] | None:
        """Query, document and value of a record, unchecked; None after a complaint."""
        if not isinstance(record, tuple):
            self._bad(
                "type",
                describe_value(record),
                "a record: an object with a query, a document and a number",
                number,
            )
            return None
        fields = dict(record)
        if len(fields) != len(record):
            self._bad("repeated-field", "a duplicate field in a record", "each field once", number)
            return None
        if self._chosen is None:
            self._chosen = choose_columns(
                list(fields),
                self._table,
                self._columns,
                self._path,
                self._notes,
                sample=fields,
            )
        chosen = self._chosen
        try:
            value = fields[chosen.value] if chosen.value else 1
            return fields[chosen.query], fields[chosen.document], value
        except KeyError:
            missing = next(name for name in chosen.names if name not in fields)
            self._bad("null", f"no field {missing!r}", "all fields of the first record", number)
            return None

    def _flush(self) -> None:
        """Turn the records of the batch into columns: at once where all is well, one by one where
        it is not.
        """
        batch = self._batch
        if not batch:
            return
        self._batch = []
        queries, documents, values, numbers = zip(*batch, strict=True)
        if labels := self._labels:
            values = tuple(grade_of(value, labels) for value in values)
            batch = list(zip(queries, documents, values, numbers, strict=True))
        if not (all_ids(queries) and all_ids(documents) and all_numbers(values, self._table)):
            batch = [checked for checked in map(self._checked, batch) if checked is not None]
        self._flushed.append(_Columns.of_rows(batch))

    def _checked(self, row: _Row) -> _Row | None:
        """The row with ids and a number; None after a complaint about the first that is none."""
        query_cell, document_cell, value_cell, number = row
        query = check_id(query_cell)
        document = check_id(document_cell)
        value = check_number(value_cell, self._table, labels=self._labels)
        chosen = self._chosen
        names = (chosen.query, chosen.document, chosen.value) if chosen else ("", "", "")
        for checked, name in zip((query, document, value), names, strict=True):
            if isinstance(checked, Fault):
                self._complain(checked.at(self._place(number), f" in field {name!r}"))
                return None
        return query, document, value, number

    @property
    def _labels(self) -> Mapping[str, float]:
        """Grades of labels that are words."""
        return self._chosen.labels if self._chosen is not None else {}

    def _bad(self, kind: str, problem: str, expected: str, number: int) -> None:
        """Complain of a record that has no fields to check, after the records before it."""
        self._flush()
        self._complain(Complaint(kind, *self._place(number), problem, expected))


# A decoder made once; `json.loads` with a hook would make one for every line.
_DECODER = json.JSONDecoder(object_pairs_hook=tuple)
_DISTINCT = 0.9  # of the numbers of a query: grades repeat, scores hardly do
_EXPECTED = {
    "qrels": "{query: {document: grade}} or {query: [document, ...]}",
    "run": "{query: {document: score}} or {query: [document, ...]}",
}


def read_json(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Rows | Blocks:
    """Read one JSON value: an object of queries, an array of records, or one record."""
    nest = _Nest(table, complain, label_grades(columns))
    try:
        value = load(source.read())
    except (ValueError, RecursionError) as error:
        complain(broken(error, source.path, 0))
        return Blocks(nest.blocks)
    answers = _answers_of_value(value, source, table, columns, notes=notes, complain=complain)
    if answers is not None:
        return answers
    if (listed := as_records(value, columns)) is not None:
        records = Records(
            table=table,
            columns=columns,
            path=source.path,
            notes=notes,
            complain=complain,
            place=lambda number: (f"{source.path}: record {number}", 0),
        )
        for number, record in enumerate(listed, 1):
            records.add(record, number)
        return records.rows()
    if isinstance(value, tuple):
        for query, documents in value:
            nest.add(query, documents, (f"{source.path}: query {shown(query)}", 0))
    else:
        complain(
            Complaint(
                kind="type",
                path=source.path,
                line=0,
                found=describe_value(value),
                expected=_EXPECTED[table],
            )
        )
    nest.tell(notes, source.path)
    return Blocks(nest.blocks)


def read_json_lines(
    source: Source, table: Table, columns: Columns, notes: Notes, complain: Complain
) -> Rows | Blocks:
    """Read one object a line: queries with their documents, or records such as ``{"query_id": ...,
    "doc_id": ..., "score": ...}``.

    See `read_json` for the parameters; a query may be spread over many lines.
    """
    from idealrank.io.formats.json_columns import like_records  # noqa: PLC0415  (large files alone need it)

    if (rows := like_records(source, table, columns, notes)) is not None:
        return rows
    answers = _answers_of_lines(source, table, columns, notes, complain)
    if answers is not None:
        return answers
    nest = _Nest(table, complain, label_grades(columns))
    records = Records(
        table=table,
        columns=columns,
        path=source.path,
        notes=notes,
        complain=complain,
        place=lambda number: (source.path, number),
    )
    are_nested = _are_nested(source)
    for number, line in enumerate(source.open(), 1):
        if not line.strip():
            continue
        place = (source.path, number)
        try:
            value = load(line.strip())
        except (ValueError, RecursionError) as error:
            complain(broken(error, *place))
            continue
        if _is_nested(value) and not are_nested:
            problem = "queries with their documents"
            expected = "a record, as on the other lines"
            complain(Complaint("type", *place, problem, expected))
        elif not are_nested:
            records.add(value, number)
        elif _is_nested(value):
            for query, documents in value:
                nest.add(query, documents, place, f" of query {shown(query)}")
        else:
            expected = f"{_EXPECTED[table]}, as on the other lines"
            complain(Complaint("type", *place, describe_value(value), expected))
    nest.tell(notes, source.path)
    return records.rows() if records else Blocks(nest.blocks)


def _is_nested(value: Any) -> bool:
    """Return whether a value has queries with their documents, not the fields of a record."""
    return isinstance(value, tuple) and all(
        isinstance(field_value, tuple | list) for _, field_value in value
    )


def _are_nested(source: Source) -> bool:
    """Return whether lines have queries with their documents, as most of the first three objects
    do: one bad line does not decide.
    """
    are_nested: list[bool] = []
    for line in source.open():
        with suppress(ValueError, RecursionError):
            if isinstance(value := load(line.strip()), tuple):
                are_nested.append(_is_nested(value))
        if len(are_nested) == 3:
            return are_nested.count(True) > 1
    # one or two objects have no majority: the first decides
    return bool(are_nested) and are_nested[0]


def load(data: bytes) -> Any:
    """Decode a value, with objects as tuples of pairs and arrays as lists: a dict would lose the
    first value of a repeated key.
    """
    return _DECODER.decode(data.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "surrogateescape"))


def as_records(value: Any, columns: Columns = None) -> list[Any] | None:
    """Return the records of a value that `load` gave, an array or a single record; None for queries
    with their documents.
    """
    if isinstance(value, list):
        return value
    if not isinstance(value, tuple):
        return None
    # a single record has an id as its query and an id as its document
    fields = dict(value)
    names = (query_column(list(fields), columns), _document_field(list(fields), columns))
    is_record = all(name in fields and not isinstance(fields[name], tuple | list) for name in names)
    return [value] if is_record else None


def _document_field(fields: Sequence[str], columns: Columns) -> str:
    """Return the field of the document, as named or guessed; empty without any."""
    named = named_columns(columns, "qrels").get("document", "")
    most_usual, less_usual = DOCUMENT
    return named or next(iter(candidates(fields, [*most_usual, *less_usual])), "")


def broken(error: Exception, path: str, line: int) -> Complaint:
    """Make the complaint about text that `load` cannot read.

    Examples
    --------
    >>> print(broken(RecursionError(), "a.json", 0))
    a.json: found JSON nested too deeply, expected at most two levels
    """
    if isinstance(error, json.JSONDecodeError):
        return Complaint(
            kind="json",
            path=path,
            line=line or error.lineno,
            found=f"text that is not JSON ({error.msg}, column {error.colno})",
            expected="JSON",
        )
    if isinstance(error, RecursionError):
        return Complaint(
            kind="json",
            path=path,
            line=line,
            found="JSON nested too deeply",
            expected="at most two levels",
        )
    return Complaint(
        kind="json",
        path=path,
        line=line,
        found=f"JSON that cannot be read ({error})",
        expected="JSON",
    )


class _Nest:
    """Gathers queries with their documents."""

    def __init__(self, table: Table, complain: Complain, labels: Mapping[str, float]) -> None:
        self._table: Table = table
        self._complain = complain
        self._labels = labels if table == "qrels" else {}
        self._lists = 0
        self.blocks: list[Block] = []

    def add(self, query: str, documents: Any, place: Place, of_query: str = "") -> None:
        """Take one query; `of_query` names it in messages where the place does not."""
        checked = check_id(query)
        if isinstance(checked, Fault):
            self._complain(checked.at(place, " of a query"))
        elif isinstance(documents, tuple):
            ids: Sequence[str] = [document for document, _ in documents]
            values: Sequence[float] = [grade_of(value, self._labels) for _, value in documents]
            if not (all_numbers(values, self._table) and all_ids(ids)):
                ids, values = self._usable(ids, values, place, of_query)
            self.blocks.append(Block(query=query, documents=ids, values=values, place=place))
        elif isinstance(documents, list):
            ids = documents
            if not all_ids(documents):
                ids, _ = self._usable(documents, [0.0] * len(documents), place, of_query)
            self._lists += 1
            # documents of a run are in the order of their ranks, whose scores begin with 0.0, not
            # -0.0; judged ones all count as grade 1
            if self._table == "run":
                values = [0.0 - place_in_list for place_in_list in range(len(ids))]
            else:
                values = [1.0] * len(ids)
            self.blocks.append(Block(query=query, documents=ids, values=values, place=place))
        else:
            problem = f"{describe_value(documents)} as the documents{of_query}"
            self._complain(Complaint("type", *place, problem, _EXPECTED[self._table]))

    def tell(self, notes: Notes, path: str) -> None:
        """Note that documents of lists have no grade of their own, and warn of grades that look
        like scores, since no field name tells the two apart.
        """
        if self._table != "qrels":
            return
        if self._lists:
            lists = "1 list" if self._lists == 1 else f"{self._lists:,} lists"
            notes.inform(
                f"{path}: found {lists} of documents without grades; every document counts as "
                f"grade 1"
            )
        grades = [block.values for block in self.blocks]
        all_grades = np.array(list(chain.from_iterable(grades)), np.float64)
        distinct = sum(len(set(values)) for values in grades)
        if look_like_scores(all_grades) and distinct >= _DISTINCT * all_grades.size:
            notes.warn(
                f"{path}: found fractions that differ within their queries, which look like the "
                f"scores of a run, expected grades; judgments come first, then runs"
            )

    def _usable(
        self, ids: Sequence[Any], values: Sequence[Any], place: Place, of_query: str
    ) -> tuple[list[str], list[float]]:
        """Return the documents that can be used; complain of the others."""
        kept_ids, kept_values = [], []
        for document, value in zip(ids, values, strict=True):
            identifier = check_id(document)
            number = check_number(value, self._table, labels=self._labels)
            if isinstance(identifier, Fault):
                self._complain(identifier.at(place, of_query))
            elif isinstance(number, Fault):
                where = f" for document {shown(identifier)}{of_query}"
                self._complain(number.at(place, where))
            else:
                kept_ids.append(identifier)
                kept_values.append(number)
        return kept_ids, kept_values


# A record as `load` gives it, its place, and its query where that is its name.
_Placed: TypeAlias = tuple[Any, Place, Any]
_Records: TypeAlias = Callable[[Complain], Iterator[_Placed]]


def _answers_of_value(
    value: Any,
    source: Source,
    table: Table,
    columns: Columns,
    *,
    notes: Notes,
    complain: Complain,
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
    return _read_answers(layouts, path, table, columns, notes=notes, complain=complain)


def _answers_of_lines(
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
    return _read_answers(layouts, source.path, table, columns, notes=notes, complain=complain)


def _read_answers(
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
                record = _plain_record(value)
            except _RepeatedFieldError as error:
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
        with suppress(_RepeatedFieldError):
            yield _plain_record(value)


def _plain_record(value: Any) -> Any:
    """Return a value of `load` with objects as dicts."""
    if isinstance(value, tuple):
        fields = {name: _plain_record(part) for name, part in value}
        if len(fields) < len(value):
            names = [name for name, _ in value]
            raise _RepeatedFieldError(next(name for name in names if names.count(name) > 1))
        return fields
    return [_plain_record(part) for part in value] if isinstance(value, list) else value


class _RepeatedFieldError(Exception):
    """An object has a field twice; the argument is its name."""
