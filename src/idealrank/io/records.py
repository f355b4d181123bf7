"""Records with named fields, one judgment or one result each, gathered into columns."""

from collections.abc import Callable
from typing import Any

import numpy as np

from idealrank.io.columns import Chosen, Columns, choose_columns
from idealrank.io.complaints import Complain, Complaint
from idealrank.io.ids import pack
from idealrank.io.notes import Notes
from idealrank.io.parts import Place, Rows, Table
from idealrank.io.values import check_id, check_number, describe_value


class Records:
    """Collects records; the fields' names are chosen from the first.

    Parameters
    ----------
    table, columns, notes, complain
        As in `read_json`.
    path : str
        The file, for messages.
    place : callable
        Where the record of a given number stands.

    Examples
    --------
    >>> from idealrank.io.complaints import refuse
    >>> records = Records("run", None, "a.jsonl", Notes(), refuse, lambda number: ("a.jsonl", number))
    >>> records.add((("query_id", "q1"), ("doc_id", 7), ("score", 0.5)), 1)
    >>> records.rows().documents[0]
    '7'
    """

    def __init__(self, table: Table, columns: Columns, path: str, notes: Notes, complain: Complain, place: Callable[[int], Place]) -> None:
        self._table = table
        self._columns = columns
        self._path = path
        self._notes = notes
        self._complain = complain
        self._place = place
        self._chosen: Chosen | None = None
        self._queries: list[str] = []
        self._documents: list[str] = []
        self._values: list[float] = []
        self._numbers: list[int] = []

    def __len__(self) -> int:
        return len(self._values)

    def add(self, record: Any, number: int) -> None:
        """Take one record: an object as a tuple of pairs.

        Parameters
        ----------
        record : tuple of pairs
            Anything else is a problem.
        number : int
            From 1; `place` knows where that is.
        """
        if not isinstance(record, tuple):
            return self._bad("type", describe_value(record), "a record: an object with a query, a document and a number", number)
        fields = dict(record)
        if len(fields) != len(record):
            return self._bad("repeated-field", "a field twice in one record", "each field once", number)
        if self._chosen is None:
            self._chosen = choose_columns(list(fields), self._table, self._columns, self._path, self._notes)
        names = self._chosen
        missing = [name for name in (names.query, names.document, names.value) if name not in fields]
        if missing:
            return self._bad("null", f"no field {missing[0]!r}", "all fields of the first record", number)
        query, document = check_id(fields[names.query]), check_id(fields[names.document])
        value = check_number(fields[names.value], self._table)
        for name, checked in ((names.query, query), (names.document, document), (names.value, value)):
            if isinstance(checked, tuple):
                kind, found, expected = checked
                return self._bad(kind, f"{found} in field {name!r}", expected, number)
        self._queries.append(str(query))
        self._documents.append(str(document))
        self._values.append(float(value))  # type: ignore[arg-type]
        self._numbers.append(number)
        return None

    def rows(self) -> Rows:
        """The columns gathered so far."""
        values = np.array(self._values, np.float64)
        by_rank = self._chosen is not None and self._chosen.by_rank
        return Rows(pack(self._queries), pack(self._documents), 0.0 - values if by_rank else values, self._place_of_row)

    def _place_of_row(self, row: int) -> Place:
        return self._place(self._numbers[row])

    def _bad(self, kind: str, found: str, expected: str, number: int) -> None:
        self._complain(Complaint(kind, *self._place(number), found, expected))
