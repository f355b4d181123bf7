"""DuckDB: a query in SQL over a database file, with words by the extension ``fts`` and vectors by
functions of lists.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from idealrank._keys import file_to_read, text, texts
from idealrank._lazy import is_installed, load_extra
from idealrank._sections import Section
from idealrank.errors import BackendError, InputError
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.shared import (
    BackendKeys,
    Connections,
    keys_from,
    reason,
    vector_numbers,
)


class DuckdbSql:
    """Query in SQL whose rows are ``(document, score)``, best first."""

    def __init__(self, connection: Any, *, statement: str, name: str = "duckdb") -> None:
        self.name = name
        self._connection = connection
        self._lock = threading.Lock()
        self._cursors: Connections[Any] = Connections(self._cursor, lambda cursor: cursor.close())
        self._statement = statement
        self._parameters = [key for key in ("text", "vector", "limit") if f"${key}" in statement]

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Return the rows of the query."""
        duckdb = load_extra("duckdb", f"the backend {self.name}", "duckdb")
        values: dict[str, Any] = {"text": query.text, "limit": limit}
        if "vector" in self._parameters:
            values["vector"] = vector_numbers(query, self.name)
        parameters = {key: values[key] for key in self._parameters}
        try:
            rows = self._cursors.get().execute(self._statement, parameters).fetchall()
        except duckdb.Error as error:
            raise BackendError(f"{self.name}: {reason(error)}") from None
        if rows and len(rows[0]) != 2:
            raise BackendError(
                f"{self.name}: found {len(rows[0])} columns, expected two: document and score"
            )
        return ranked(
            self.name, [document for document, _ in rows], [score for _, score in rows], limit=limit
        )

    def close(self) -> None:
        """Close the cursors and the database."""
        self._cursors.close()
        self._connection.close()

    def _cursor(self) -> Any:
        with self._lock:
            return self._connection.cursor()


def _load(connection: Any, extension: str) -> None:
    """Load an installed extension: from a package of PyPI, or else from the folder of DuckDB."""
    if is_installed("duckdb_extensions"):
        packaged = load_extra(
            "duckdb_extensions", "the backend duckdb", "duckdb", "duckdb-extensions"
        )
        if is_installed(f"duckdb_extension_{extension}"):
            packaged.import_extension(extension, con=connection)
    connection.load_extension(extension)


@dataclass(frozen=True, kw_only=True)
class DuckdbKeys(BackendKeys):
    """Keys of the kind ``duckdb``."""

    path: str = file_to_read("File of DuckDB.", expected="a database file of DuckDB")
    sql: str = text(
        "Query with two columns, document and score, and the parameters $text, $vector and $limit.",
        expected="a query with two columns, document and score, and the parameters $text and "
        "$limit",
    )
    extensions: tuple[str, ...] = texts("Extensions of DuckDB to load.")


SECTIONS = {"duckdb": DuckdbKeys}


def from_section(section: Section) -> Backend:
    """Make the backend of a section."""
    keys = keys_from(DuckdbKeys, section)
    duckdb = load_extra("duckdb", "the backend duckdb", "duckdb")
    try:
        connection = duckdb.connect(keys.path, read_only=True)
    except duckdb.Error as error:
        raise InputError(f"{keys.path}: {reason(error)}") from None
    for extension in keys.extensions:
        try:
            _load(connection, extension)
        except duckdb.Error as error:
            raise section.error(
                "extensions",
                f"{extension!r}, which DuckDB cannot load ({reason(error)})",
                "an installed extension",
            ) from None
    return DuckdbSql(connection, statement=keys.sql)
