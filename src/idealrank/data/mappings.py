"""Judgments of groups given as nested mappings, taken apart row by row; what does not fit is named with its place."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.data.types import encode_id
from idealrank.errors import InputError

# Query, group, sub-group, document, level.
_Row = tuple[bytes, bytes, int, bytes, float]


@dataclass(frozen=True)
class Nesting:
    """Nesting of one kind of judgments.

    Attributes
    ----------
    what : str
        What messages call the judgments.
    group, level : str
        What a message calls a group and a level.
    shape : str
        The whole mapping, as it should be.
    in_parts : bool
        Whether a group may be a sequence of sub-groups.
    """

    what: str
    group: str
    level: str
    shape: str
    in_parts: bool = False

    def columns(self, judgments: Any) -> tuple[list[bytes], list[bytes], list[int], list[bytes], Any]:
        """Queries, groups, sub-groups, documents and levels, a row for each judgment.

        Raises
        ------
        InputError
            Something is not nested as it should be, an id is no text, or a level is no number.

        Examples
        --------
        >>> nesting = Nesting("assessors", "assessor", "grade", "{query: {assessor: {document: grade}}}")
        >>> nesting.columns({"q": {"ann": {"a": 1}}})
        ([b'q'], [b'ann'], [0], [b'a'], array([1.]))
        >>> try:
        ...     nesting.columns({"q": {"a": 1}})
        ... except InputError as error:
        ...     print(error)
        assessors: query 'q', assessor 'a': found int, expected {document: grade}; the whole is {query: {assessor: {document: grade}}}
        """
        rows = list(self._rows(judgments))
        queries, groups, parts, documents, levels = map(list, zip(*rows, strict=True)) if rows else ([], [], [], [], [])
        return queries, groups, parts, documents, np.array(levels, np.float64)

    def _rows(self, judgments: Any) -> Iterator[_Row]:
        for query, groups in self._items(judgments, self.what, self.shape):
            at = f"{self.what}: query {query!r}"
            query_id = self._id(query, at)
            for group, given in self._items(groups, at, f"{{{self.group}: ...}}"):
                inside = f"{at}, {self.group} {group!r}"
                group_id = self._id(group, inside)
                for part, graded in enumerate(self._parts(given)):
                    for document, level in self._items(graded, inside, self._graded):
                        where = f"{inside}, document {document!r}"
                        yield query_id, group_id, part, self._id(document, where), self._number(level, where)

    @property
    def _graded(self) -> str:
        graded = f"{{document: {self.level}}}"
        return f"{graded} or a sequence of such" if self.in_parts else graded

    def _parts(self, given: Any) -> Sequence[Any]:
        several = self.in_parts and isinstance(given, Sequence) and not isinstance(given, (str, bytes))
        return given if several else [given]

    def _items(self, table: Any, where: str, expected: str) -> Iterator[tuple[Any, Any]]:
        if not isinstance(table, Mapping):
            whole = "" if expected == self.shape else f"; the whole is {self.shape}"
            raise InputError(f"{where}: found {type(table).__name__}, expected {expected}{whole}")
        yield from table.items()

    @staticmethod
    def _id(value: Any, where: str) -> bytes:
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            return b"%d" % int(value)
        if not isinstance(value, (str, bytes)):
            raise InputError(f"{where}: found {type(value).__name__} as an id, expected text")
        try:
            identifier = value if isinstance(value, bytes) else encode_id(value)
        except UnicodeEncodeError:
            raise InputError(f"{where}: found an id with half a surrogate pair, expected text that has a UTF-8 form") from None
        if not identifier:
            raise InputError(f"{where}: found an empty id, expected at least one character")
        return identifier

    def _number(self, value: Any, where: str) -> float:
        try:
            if not isinstance(value, (str, bytes)):
                return float(value)
        except (TypeError, ValueError):
            pass
        except OverflowError:
            raise InputError(f"{where}: found a {self.level} larger than a number can be (1.8e308), expected a finite number") from None
        raise InputError(f"{where}: found {type(value).__name__}, expected a number as {self.level}")
