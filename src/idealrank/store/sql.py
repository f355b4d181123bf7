"""SQL over a store, by DuckDB where it is installed: queries, and nothing but queries."""

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from idealrank._lazy import load_extra
from idealrank.data.interchange import frame_of
from idealrank.errors import OptionError, shown
from idealrank.store.relations import COLUMNS, Relation, relations
from idealrank.store.value_files import Readable

if TYPE_CHECKING:
    import duckdb


_LARGE = ("values", "hits")  # tables that are read only where a query names them
# Before the question is asked: no files, no network, no extensions, no variables of this process;
# and no way back.
_CLOSED = (
    "SET python_enable_replacements = false",
    "SET autoinstall_known_extensions = false",
    "SET autoload_known_extensions = false",
    "SET allow_community_extensions = false",
    "SET enable_external_access = false",
)
# DuckDB before 2.0 lets the function enable_logging write files in spite of that, unless it has no
# disk at all, not even for results that do not fit in memory. Later versions count the function as
# configuration, which is locked.
_DISKLESS = "SET disabled_filesystems = 'LocalFileSystem'"
_LOCKED = "SET lock_configuration = true"
_MOST_ROWS = 10_000_000  # of an answer, which Python holds as objects
_LONGEST = 400  # letters of a message of DuckDB
_TAIL = re.compile(r"\s*(LINE \d+:.*)?$", re.DOTALL)  # of such a message: the query again


@dataclass(frozen=True)
class Answer:
    """Result of a query.

    Attributes
    ----------
    columns : tuple of str
        Their names.
    rows : sequence of tuple
        Values as Python has them.

    Examples
    --------
    >>> Answer(("runs",), [(2,)]).to_frame("polars").height
    1
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[Any, ...]]

    def to_frame(self, backend: Any = "pandas") -> Any:
        """Return the result as a dataframe.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}
            Any eager dataframe library that narwhals supports and that is installed.
        """
        columns: dict[str, list[Any]] = {}
        for place, name in enumerate(self.columns):
            columns[name] = [row[place] for row in self.rows]
        return frame_of(columns, backend)


def ask(store: Readable, query: str) -> Answer:
    """Run one SELECT over the tables of a store.

    The tables are ``evaluations``, ``means``, ``values``, ``hits``, ``comparisons``, ``gates`` and
    ``tags``. Value files are read only if the query names ``values`` or ``hits``. The store is not
    locked, and later writes are not visible.

    Parameters
    ----------
    store : Store
        Store to query.
    query : str
        One SELECT (or VALUES, DESCRIBE, SUMMARIZE, EXPLAIN) in DuckDB's SQL. It cannot read or
        write files, nor use the network.

    Raises
    ------
    OptionError
        The text is not such a query, or DuckDB refuses it.
    MissingExtraError
        DuckDB or pyarrow is not installed.

    Examples
    --------
    >>> import tempfile, idealrank as ir
    >>> with ir.Store.open(tempfile.mkdtemp()) as store:
    ...     key = store.add(ir.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, ["RR"]))
    ...     ask(store, "select measure, value from means").rows
    [('RR', 0.5)]
    """
    duckdb = load_extra("duckdb", "SQL over a store", "sql")
    if query.encode("utf-8", "replace").decode() != query:
        raise OptionError(
            f"sql: found {shown(repr(query))}, text that has no UTF-8 form, expected one SELECT"
        )
    tables = relations(store)
    with _connection(duckdb) as connection:
        try:
            _check(duckdb, connection, query)
            for name, relation in tables.items():
                _register(connection, name, relation, query)
            _lock(duckdb, connection)
            return _answer(connection.execute(query))
        # OverflowError: a value that Python cannot hold
        except (duckdb.Error, RuntimeError, OverflowError) as error:
            is_unknown_name = isinstance(error, duckdb.BinderException | duckdb.CatalogException)
            hint = f"; {_tables()}" if is_unknown_name else ""
            raise OptionError(f"sql: {_reason(error)}{hint}") from None


@contextmanager
def _connection(duckdb: Any) -> "Iterator[duckdb.DuckDBPyConnection]":
    """A database in memory; a temporary folder takes what does not fit there."""
    with tempfile.TemporaryDirectory(prefix="idealrank-sql-") as folder:
        connection = duckdb.connect(":memory:", config={"temp_directory": folder})
        try:
            yield connection
        finally:
            connection.close()


def _check(duckdb: Any, connection: Any, query: str) -> None:
    """Refuse all but one question, before anything is read."""
    statements = connection.extract_statements(query)
    kinds = [statement.type for statement in statements]
    allowed = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
    if len(kinds) != 1 or kinds[0] not in allowed:
        names = ", ".join(str(kind).rpartition(".")[2] for kind in kinds) or "nothing"
        raise OptionError(
            f"sql {shown(repr(query))}: found {names}, expected one SELECT; only the commands of a "
            "store change it"
        )


def _lock(duckdb: Any, connection: Any) -> None:
    """Deny everything but queries by DuckDB's own settings; the text of a query is no guide, since
    SQL can put texts together.
    """
    version = int(duckdb.__version__.partition(".")[0])
    diskless = (_DISKLESS,) if version < 2 else ()
    for setting in (*_CLOSED, *diskless, _LOCKED):
        connection.execute(setting)


def _answer(cursor: Any) -> Answer:
    rows = cursor.fetchmany(_MOST_ROWS + 1)
    if len(rows) > _MOST_ROWS:
        raise OptionError(
            f"sql: found more than {_MOST_ROWS:,} rows, expected a result that fits in memory; add "
            "LIMIT, or count rows"
        )
    return Answer(tuple(column[0] for column in cursor.description or ()), rows)


class _Stream:
    """A table that counts how often it is opened. DuckDB 2 reads its columns from `schema` without
    opening it.
    """

    def __init__(self, relation: Relation) -> None:
        self._relation = relation
        self.schema = relation.schema
        self.opened = 0

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        self.opened += 1
        return self._relation.__arrow_c_stream__(requested_schema)


def _register(connection: Any, name: str, relation: Relation, query: str) -> None:
    """Make a table known by its name.

    DuckDB from 2.0 on opens a stream each time that a query reads it.
    """
    if name not in _LARGE:
        connection.register(name, relation.reader().read_all())
        return
    stream = _Stream(relation)
    connection.register(name, stream)
    # Earlier versions open it at once, for its columns: they get a table, empty if the query does
    # not name it.
    if stream.opened:
        connection.unregister(name)
        is_named = re.search(rf"\b{name}\b", query, re.IGNORECASE)
        limit = "" if is_named else " LIMIT 0"
        create = f'CREATE TABLE "{name}" AS SELECT * FROM {name}_stream{limit}'  # noqa: S608  (names of this file)
        connection.register(f"{name}_stream", relation.reader())
        connection.execute(create)
        connection.unregister(f"{name}_stream")


def _reason(error: Exception) -> str:
    """The first paragraph of what DuckDB says, on one line."""
    return " ".join(_TAIL.sub("", str(error)).split("\n\n")[0].split())[:_LONGEST]


def _tables() -> str:
    return "tables: " + ", ".join(
        f"{name} ({', '.join(columns)})" for name, columns in COLUMNS.items()
    )
