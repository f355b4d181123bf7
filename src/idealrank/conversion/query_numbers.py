"""Ids of queries that are named by their text: the ids of a file of texts, and new numbers, so that
judgments and runs get the same ids from one file.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count
from pathlib import Path

from idealrank.conversion.run_rows import RunRow
from idealrank.errors import InputError, shown
from idealrank.io.judgment_layouts import is_word
from idealrank.io.texts import read_texts

_NUMBERED = "q"  # beginning of the id of a numbered query
_LONGEST_TEXT = 1 << 30  # letters, so that no text is cut


class QueryNumbers:
    """Ids of the queries of a file of texts, and new ones."""

    def __init__(self, texts: Mapping[str, str] | None = None) -> None:
        self.texts = dict(texts or {})
        self._by_text: dict[str, str] = {}
        for query, text in self.texts.items():
            self._by_text.setdefault(_line(text), query)

    @classmethod
    def of_file(cls, path: str | None) -> "QueryNumbers":
        """Read the ids of a file that an earlier conversion wrote, if there is one."""
        if path is None or not Path(path).is_file() or not Path(path).stat().st_size:
            return cls()
        return cls(read_texts(path, length=_LONGEST_TEXT))

    def known(self, query: str) -> str | None:
        """Return the id that the file has for a query, which is that id or its text."""
        return query if query in self.texts else self._by_text.get(_line(query))

    def new(self, first: int, taken: Collection[str]) -> str:
        """Return the first free id from a number on: a query of the file may be called q7
        itself.
        """
        names = (f"{_NUMBERED}{number}" for number in count(first))
        return next(name for name in names if name not in taken and name not in self.texts)


def _line(text: str) -> str:
    """Return a text as a line of a file has it."""
    return " ".join(text.split())


class NumberedRun:
    """Results of a run under the ids of its queries in a file, or under new ones where TREC lines
    cannot hold the names.
    """

    def __init__(self, numbers: QueryNumbers) -> None:
        self._numbers = numbers
        self._ids: dict[str, str] = {}
        self._query_of_id: dict[str, str] = {}
        self.texts: dict[str, str] = {}  # Of the queries that got another id

    def rows(self, rows: Iterable[RunRow]) -> Iterator[RunRow]:
        """Yield the results under the ids."""
        for row in rows:
            query_id = self._ids.get(row.query)
            if query_id is None:
                query_id = self._ids[row.query] = self._named(row.query)
            yield row if query_id == row.query else row._replace(query=query_id)

    def _named(self, query: str) -> str:
        query_id = self._numbers.known(query)
        if query_id is None:
            query_id = query
            if not is_word(query):
                query_id = self._numbers.new(len(self._ids) + 1, self._query_of_id)
        other = self._query_of_id.setdefault(query_id, query)
        if other != query:
            raise InputError(
                f"found queries {shown(repr(other))} and {shown(repr(query))} with one id, "
                f"{shown(query_id)}, expected different ids",
                hint=f"rename query {shown(repr(query))}",
            )
        if query_id != query:
            self.texts[query_id] = query
        return query_id
