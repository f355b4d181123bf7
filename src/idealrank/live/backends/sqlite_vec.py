"""sqlite-vec: nearest neighbours in a virtual table ``vec0`` of SQLite."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from idealrank._keys import choice, file_to_read, text
from idealrank._lazy import is_installed, load_extra
from idealrank._sections import Section
from idealrank.errors import BackendError, MissingExtraError
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.shared import BackendKeys, Connections, keys_from, reason, vector_bytes

DRIVERS = ("sqlite3", "pysqlite3", "apsw")
"""Modules that can open the database, in the order in which they are tried. Many builds of
`sqlite3` cannot load extensions.
"""


class SqliteVec:
    """Nearest rows of a ``vec0`` table."""

    def __init__(
        self,
        connect: Callable[[], Any],
        *,
        table: str,
        column: str,
        id_column: str = "rowid",
        name: str = "sqlite-vec",
    ) -> None:
        self.name = name
        self._connections: Connections[Any] = Connections(
            connect, lambda connection: connection.close()
        )
        ids = _quoted(id_column)
        vectors = _quoted(column)
        source = f"{_quoted(table)} WHERE {vectors} MATCH ? AND k = ?"
        self._statement = f"SELECT {ids}, distance FROM {source} ORDER BY distance"  # noqa: S608  (quoted)

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Return the nearest rows."""
        vector = vector_bytes(query, self.name)
        connection = self._connections.get()
        try:
            rows = connection.cursor().execute(self._statement, (vector, limit)).fetchall()
        except Exception as error:  # each driver has errors of its own
            if not type(error).__module__.startswith((*DRIVERS, "pysqlite3")):
                raise
            raise BackendError(
                f"{self.name}: {reason(error)}", temporary="locked" in str(error)
            ) from None
        return ranked(
            self.name,
            [document for document, _ in rows],
            [distance for _, distance in rows],
            limit=limit,
            order="distance",
        )

    def close(self) -> None:
        """Close the connections of all threads."""
        self._connections.close()


def open_database(path: str, driver: str = "", *, timeout: float = 10.0) -> Callable[[], Any]:
    """Return a function that opens a database for reading and loads sqlite-vec."""
    extension = load_extra("sqlite_vec", "the backend sqlite-vec", "sqlite-vec").loadable_path()
    chosen = driver or next(filter(_loads_extensions, DRIVERS), "")
    if not chosen:
        raise MissingExtraError(
            "the backend sqlite-vec", "a module of SQLite that loads extensions", "sqlite-vec"
        )
    module = load_extra(chosen, "the backend sqlite-vec", "sqlite-vec")
    uri = f"{Path(path).absolute().as_uri()}?mode=ro"

    def connect() -> Any:
        if chosen == "apsw":
            flags = module.SQLITE_OPEN_READONLY | module.SQLITE_OPEN_URI
            connection = module.Connection(uri, flags=flags)
            connection.set_busy_timeout(round(timeout * 1000))
        else:
            # A connection is closed by the thread that ends the search, which may be another one.
            connection = module.connect(uri, uri=True, timeout=timeout, check_same_thread=False)
        connection.enable_load_extension(True)  # noqa: FBT003  (the name of the argument differs between the modules)
        connection.load_extension(extension)
        connection.enable_load_extension(False)  # noqa: FBT003
        return connection

    return connect


def _loads_extensions(driver: str) -> bool:
    if not is_installed(driver):
        return False
    module = load_extra(driver, "the backend sqlite-vec", "sqlite-vec")
    return hasattr(module.Connection, "enable_load_extension")


def _quoted(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


@dataclass(frozen=True, kw_only=True)
class SqliteVecKeys(BackendKeys):
    """Keys of the kind ``sqlite-vec``."""

    path: str = file_to_read("File of SQLite.", expected="a database of SQLite")
    table: str = text("Table of type vec0.", expected="the name of a table of type vec0")
    column: str = text("Column of vectors.", expected="the name of a column of vectors")
    id: str = text("Column of ids; default rowid.", "rowid")
    driver: str | None = choice(
        DRIVERS, "Module that opens the database; default the first that can load extensions.", None
    )


SECTIONS = {"sqlite-vec": SqliteVecKeys}


def from_section(section: Section) -> Backend:
    """Make the backend of a section."""
    keys = keys_from(SqliteVecKeys, section)
    driver = keys.driver or ""
    if driver and is_installed(driver) and not _loads_extensions(driver):
        raise section.error(
            "driver", f"{driver}, which cannot load extensions", "another of " + ", ".join(DRIVERS)
        )
    return SqliteVec(
        open_database(keys.path, driver, timeout=keys.timeout),
        table=keys.table,
        column=keys.column,
        id_column=keys.id,
    )
