"""Records with named fields, one judgment or one result each, gathered into columns."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.io.complaints import Complain, Complaint
from idealrank.io.id_columns import IdColumn, concatenate, pack
from idealrank.io.notes import Notes
from idealrank.io.row_parts import Place, Rows, Table
from idealrank.io.table_columns import Chosen, Columns, choose_columns
from idealrank.io.typed_values import all_ids, all_numbers, check_id, check_number, describe_value

# Records that become columns at once.
_BATCH = 1 << 14


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
        self._batch: list[tuple[Any, Any, Any, int]] = []
        self._parts: list[tuple[IdColumn, IdColumn, FloatArray, IntArray]] = []

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
        """The columns gathered so far."""
        self._flush()
        queries, documents, values, numbers = zip(*(self._parts or [_columns([])]), strict=True)
        numbers_of_rows = np.concatenate(numbers)
        by_rank = self._chosen is not None and self._chosen.by_rank
        all_values = np.concatenate(values)
        return Rows(
            concatenate(queries),
            concatenate(documents),
            0.0 - all_values if by_rank else all_values,
            lambda row: self._place(int(numbers_of_rows[row])),
        )

    def _fields(self, record: Any, number: int) -> tuple[Any, Any, Any] | None:
        """Query, document and value of a record, unchecked."""
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
                list(fields), self._table, self._columns, self._path, self._notes
            )
        chosen = self._chosen
        try:
            return (
                fields[chosen.query],
                fields[chosen.document],
                fields[chosen.value] if chosen.value else 1,
            )
        except KeyError as error:
            self._bad(
                "null", f"no field {error.args[0]!r}", "all fields of the first record", number
            )
            return None

    def _flush(self) -> None:
        """Turn the records of the batch into columns: at once where all is well, one by one where
        it is not.
        """
        batch, self._batch = self._batch, []
        if not batch:
            return
        queries, documents, values, _ = zip(*batch, strict=True)
        if not (all_ids(queries) and all_ids(documents) and all_numbers(values, self._table)):
            batch = [checked for row in batch if (checked := self._checked(row)) is not None]
        self._parts.append(_columns(batch))

    def _checked(self, row: tuple[Any, Any, Any, int]) -> tuple[str, str, float, int] | None:
        query = check_id(row[0])
        document = check_id(row[1])
        value = check_number(row[2], self._table)
        chosen = self._chosen
        if (
            chosen is None
            or isinstance(query, tuple)
            or isinstance(document, tuple)
            or isinstance(value, tuple)
        ):
            names = (chosen.query, chosen.document, chosen.value) if chosen else ("", "", "")
            faults = (
                (fault, name)
                for fault, name in zip((query, document, value), names, strict=True)
                if isinstance(fault, tuple)
            )
            (kind, found, expected), name = next(faults)
            self._report(kind, f"{found} in field {name!r}", expected, row[3])
            return None
        return query, document, value, row[3]

    def _bad(self, kind: str, found: str, expected: str, number: int) -> None:
        """Complain of a record that has no fields to check, after those before it."""
        self._flush()
        self._report(kind, found, expected, number)

    def _report(self, kind: str, found: str, expected: str, number: int) -> None:
        self._complain(Complaint(kind, *self._place(number), found, expected))


def _columns(
    batch: Sequence[tuple[str, str, float, int]],
) -> tuple[IdColumn, IdColumn, FloatArray, IntArray]:
    queries, documents, values, numbers = zip(*batch, strict=True) if batch else ((), (), (), ())
    return pack(queries), pack(documents), np.array(values, np.float64), np.array(numbers, np.int64)
