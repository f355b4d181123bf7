"""Full-text index of SQLite (FTS5), ranked by BM25; part of Python's standard library."""

import re
import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from idealrank._keys import choice, entries, file_to_read, text
from idealrank._sections import LARGEST_AMOUNT, Section
from idealrank.errors import BackendError, OptionError
from idealrank.live.backends.protocol import ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.shared import BackendKeys, keys_from

_FTS5 = re.compile(r"\bUSING\s+\W?fts5\b", re.IGNORECASE)


class FullTextIndex:
    """Table of FTS5 in a file of SQLite."""

    name = "sqlite-fts5"

    def __init__(
        self,
        path: str,
        table: str,
        document: str = "id",
        *,
        weights: Mapping[str, float] | None = None,
        operator: str = "any",
        timeout: float = 10.0,
    ) -> None:
        self._path = path
        self._table = table
        self._document = document
        self._weights = dict(weights or {})
        self._operator = operator
        self._timeout = timeout
        self._local = threading.local()
        self._lock = threading.Lock()
        self._opened: list[sqlite3.Connection] = []
        try:
            self._statement = self._prepared()
        except BackendError:
            self.close()
            raise

    def _prepared(self) -> str:
        """Statement with the table's own columns; an error for a table or a column that is not
        there, and for a table without a full-text index.
        """
        try:
            empty = self._connection().execute(f"SELECT * FROM {_quoted(self._table)} LIMIT 0")  # noqa: S608  (quoted)
            definitions = self._connection().execute(
                "SELECT sql FROM sqlite_master WHERE name = ? COLLATE NOCASE", (self._table,)
            )
            (definition,) = definitions.fetchone() or ("",)
        except sqlite3.Error as error:
            raise self._failure(error) from None
        if not _FTS5.search(str(definition)):
            raise BackendError(
                f"{self.name}: {self._path}: found no full-text index in {self._table!r}, expected "
                "a virtual table of FTS5"
            )
        columns = [name for name, *_ in empty.description]
        for needed in (self._document, *self._weights):
            is_row_id = needed == "rowid" == self._document  # every table has one, unlisted
            if needed not in columns and not is_row_id:
                raise BackendError(
                    f"{self.name}: {self._path}: found no column {needed!r} in {self._table!r}, "
                    f"expected {', '.join(columns)}"
                )
        weights = ", ".join(repr(self._weights.get(column, 1.0)) for column in columns)
        rank = f" AND rank MATCH 'bm25({weights})'" if self._weights else ""
        table = _quoted(self._table)
        return (
            f"SELECT {_quoted(self._document)}, rank FROM {table} WHERE {table} MATCH ?{rank} "  # noqa: S608  (quoted)
            f"ORDER BY rank LIMIT ?"
        )

    def _connection(self) -> sqlite3.Connection:
        """Connection of this thread."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            place = f"file:{quote(str(Path(self._path).absolute()))}?mode=ro"
            connection = sqlite3.connect(
                place, uri=True, timeout=self._timeout, check_same_thread=False
            )
            self._local.connection = connection
            with self._lock:
                self._opened.append(connection)
        return connection

    def search(self, query: SearchQuery, limit: int) -> list[ScoredDocument]:
        """Return the best documents by BM25; equal scores in the order of the table."""
        words = match_words(query.text, self._operator)
        if not words:
            return []
        try:
            rows = self._connection().execute(self._statement, (words, limit)).fetchall()
        except sqlite3.Error as error:
            raise self._failure(error) from None
        return ranked(
            self.name,
            [document for document, _ in rows],
            [score for _, score in rows],
            limit=limit,
            order="distance",
        )

    def _failure(self, error: sqlite3.Error) -> BackendError:
        text = str(error)
        is_busy = isinstance(error, sqlite3.OperationalError) and (
            "locked" in text or "busy" in text
        )
        return BackendError(f"{self.name}: {self._path}: {text}", temporary=is_busy)

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            for connection in self._opened:
                connection.close()
            self._opened.clear()


def match_words(text: str, operator: str = "any") -> str:
    """Quote each word of a text for MATCH, so that no word acts as an operator."""
    words = [word for word in text.replace("\0", " ").split() if any(map(str.isalnum, word))]
    return (" OR " if operator == "any" else " AND ").join(map(_quoted, words))


def _quoted(name: str) -> str:
    """Quote a name or a word."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True, kw_only=True)
class FullTextKeys(BackendKeys):
    """Keys of the kind ``sqlite-fts5``."""

    path: str = file_to_read("File of SQLite.", expected="a file of SQLite")
    table: str = text("Virtual table of FTS5.", "documents")
    id: str = text("Column of the ids, or rowid.", "id")
    weights: Mapping[str, float] = entries(
        "Weight of each text column in BM25.",
        lambda weights, column: weights.amount(column, None),
        {"type": "number", "minimum": 0, "maximum": LARGEST_AMOUNT},
    )
    operator: str = choice(
        ("any", "all"), "Documents to find: with any word of the query, or with all."
    )


SECTIONS = {"sqlite-fts5": FullTextKeys}


def from_section(section: Section) -> FullTextIndex:
    """Make the backend of a section."""
    keys = keys_from(FullTextKeys, section)
    try:
        return FullTextIndex(
            keys.path,
            keys.table,
            keys.id,
            weights=keys.weights,
            operator=keys.operator,
            timeout=keys.timeout,
        )
    except BackendError as error:
        if error.temporary:
            raise
        raise OptionError(f"{section.path}: {section.name}: {error}") from None
