"""PostgreSQL: full text (kind ``postgres``), neighbours by pgvector (``pgvector``), and a query of
your own (``postgres-sql``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idealrank._keys import choice, text, whole
from idealrank._lazy import load_extra
from idealrank._sections import Section
from idealrank.errors import BackendError
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.shared import (
    BackendKeys,
    Connections,
    keys_from,
    reason,
    vector_numbers,
)

OPERATORS = {"cosine": "<=>", "l2": "<->", "inner-product": "<#>", "l1": "<+>"}
"""Operator of pgvector by distance; ``<#>`` is the inner product times -1, so that less is nearer
for each of them.
"""


class PostgresSql:
    """Query in SQL whose rows are ``(document, score)``, best first."""

    def __init__(
        self,
        connect: Callable[[], Any],
        *,
        statement: Any,
        name: str = "postgres-sql",
        by_vector: bool = False,
    ) -> None:
        self.name = name
        self._connections: Connections[Any] = Connections(
            connect, lambda connection: connection.close()
        )
        self._statement = statement
        self._by_vector = by_vector

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Return the rows of the query."""
        vector = None
        if self._by_vector:
            vector = f"[{','.join(map(repr, vector_numbers(query, self.name)))}]"
        rows = self._rows({"text": query.text, "vector": vector, "limit": limit})
        return ranked(
            self.name, [document for document, _ in rows], [score for _, score in rows], limit=limit
        )

    def close(self) -> None:
        """Close the connections of all threads."""
        self._connections.close()

    def _rows(self, values: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        psycopg = load_extra("psycopg", f"the backend {self.name}", "postgres")
        try:
            rows: list[tuple[Any, Any]] = (
                self._connections.get().execute(self._statement, values).fetchall()
            )
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            # a cancelled query leaves the connection as it was
            if not isinstance(error, psycopg.errors.QueryCanceled):
                self._connections.drop()
            message = reason(error)  # a failed connection has no code
            lasting = any(words in message for words in ("does not exist", "authentication failed"))
            raise BackendError(f"{self.name}: {message}", temporary=not lasting) from None
        except psycopg.Error as error:
            raise BackendError(f"{self.name}: {reason(error)}") from None
        if rows and len(rows[0]) != 2:
            raise BackendError(
                f"{self.name}: found {len(rows[0])} columns, expected two: document and score"
            )
        return rows


def text_statement(
    table: str, *, id_column: str, column: str, language: str, operator: str, rank: str
) -> Any:
    """Return the query for full text: documents that match, by falling rank, equal ranks by id."""
    sql = load_extra("psycopg.sql", "the backend postgres", "postgres", "psycopg")
    text_query = {
        "all": "plainto_tsquery({language}, %(text)s)",
        "any": "replace(plainto_tsquery({language}, %(text)s)::text, ' & ', ' | ')::tsquery",
        "web": "websearch_to_tsquery({language}, %(text)s)",
    }[operator]
    statement = (
        f"WITH asked AS (SELECT {text_query} AS query) SELECT {{id}}, {rank}({{words}}, "  # noqa: S608
        f"asked.query) AS score FROM {{table}}, asked "
        "WHERE {words} @@ asked.query ORDER BY score DESC, {id} LIMIT %(limit)s"
    )
    names = {
        "table": sql.Identifier(*table.split(".")),
        "id": sql.Identifier(id_column),
        "words": sql.Identifier(column),
    }
    return sql.SQL(statement).format(language=sql.Literal(language), **names)


def vector_statement(
    table: str, *, id_column: str, column: str, distance: str, vector_type: str
) -> Any:
    """Return the query for nearest neighbours, in the form that an index of pgvector can answer."""
    sql = load_extra("psycopg.sql", "the backend pgvector", "postgres", "psycopg")
    measured = f"{{column}} {OPERATORS[distance]} %(vector)s::{vector_type}"
    statement = f"SELECT {{id}}, -({measured}) FROM {{table}} ORDER BY {measured} LIMIT %(limit)s"  # noqa: S608  (names are quoted)
    names = {
        "table": sql.Identifier(*table.split(".")),
        "id": sql.Identifier(id_column),
        "column": sql.Identifier(column),
    }
    return sql.SQL(statement).format(**names)


def connecting(url: str, *, timeout: float, settings: Mapping[str, object]) -> Callable[[], Any]:
    """Return a function that makes connections which can only read, with a limit for the time of
    each query.
    """
    psycopg = load_extra("psycopg", "the backend postgres", "postgres")

    def connect() -> Any:
        connection = psycopg.connect(
            url,
            autocommit=True,
            connect_timeout=max(1, round(timeout)),
            application_name="idealrank",
        )
        limits = {
            "default_transaction_read_only": "on",
            "statement_timeout": f"{round(timeout * 1000)}",
        }
        for key, value in {**limits, **settings}.items():
            connection.execute("SELECT set_config(%s, %s, false)", (key, str(value)))
        return connection

    return connect


_URL = "an address such as postgresql://reader@127.0.0.1/shop"


@dataclass(frozen=True, kw_only=True)
class PostgresKeys(BackendKeys):
    """Keys of all kinds of PostgreSQL."""

    url: str = text("Address, such as postgresql://reader@127.0.0.1/shop.", expected=_URL)


@dataclass(frozen=True, kw_only=True)
class PostgresTextKeys(PostgresKeys):
    """Keys of the kind ``postgres``."""

    table: str = text("Table to search.", expected="the name of a table")
    id: str = text("Column of ids.", "id")
    column: str = text("Column of type tsvector.", expected="the name of a column of tsvector")
    language: str = text("Configuration of text search.", "english")
    operator: str = choice(
        ("any", "all", "web"),
        "Documents to find: with any word, with all, or by `websearch_to_tsquery`.",
    )
    rank: str = choice(("ts_rank", "ts_rank_cd"), "Function that scores documents.")


@dataclass(frozen=True, kw_only=True)
class VectorKeys(PostgresKeys):
    """Keys of the kind ``pgvector``."""

    table: str = text("Table to search.", expected="the name of a table")
    id: str = text("Column of ids.", "id")
    column: str = text("Column of vectors.", expected="the name of a column of vectors")
    distance: str = choice(tuple(OPERATORS), "Distance of vectors.")
    type: str = choice(("vector", "halfvec"), "Type that the vector of a query is cast to.")
    ef_search: int | None = whole("Setting hnsw.ef_search of an HNSW index; at least the limit.")
    probes: int | None = whole("Setting ivfflat.probes of an IVFFlat index.")
    iterative_scan: str | None = choice(
        ("strict_order", "off"), "Setting hnsw.iterative_scan; default that of the server.", None
    )


@dataclass(frozen=True, kw_only=True)
class SqlKeys(PostgresKeys):
    """Keys of the kind ``postgres-sql``."""

    sql: str = text(
        "Query with two columns, document and score, and the parameters %(text)s, %(vector)s and "
        "%(limit)s.",
        expected="a query with two columns, document and score, and the parameters %(text)s and "
        "%(limit)s",
    )


SECTIONS = {"postgres": PostgresTextKeys, "pgvector": VectorKeys, "postgres-sql": SqlKeys}


def _connect(keys: PostgresKeys, settings: Mapping[str, object]) -> Callable[[], Any]:
    return connecting(keys.url, timeout=keys.timeout, settings=settings)


def _text(section: Section) -> Backend:
    keys = keys_from(PostgresTextKeys, section)
    statement = text_statement(
        keys.table,
        id_column=keys.id,
        column=keys.column,
        language=keys.language,
        operator=keys.operator,
        rank=keys.rank,
    )
    return PostgresSql(_connect(keys, {}), statement=statement, name="postgres")


def _vector(section: Section) -> Backend:
    keys = keys_from(VectorKeys, section)
    settings = {
        "hnsw.ef_search": keys.ef_search,
        "ivfflat.probes": keys.probes,
        "hnsw.iterative_scan": keys.iterative_scan,
    }
    statement = vector_statement(
        keys.table,
        id_column=keys.id,
        column=keys.column,
        distance=keys.distance,
        vector_type=keys.type,
    )
    chosen = {name: value for name, value in settings.items() if value is not None}
    connect = _connect(keys, chosen)
    return PostgresSql(connect, statement=statement, name="pgvector", by_vector=True)


def _sql(section: Section) -> Backend:
    keys = keys_from(SqlKeys, section)
    by_vector = "%(vector)s" in keys.sql
    return PostgresSql(_connect(keys, {}), statement=keys.sql, by_vector=by_vector)


_MAKERS: dict[str, Callable[[Section], Backend]] = {
    "postgres": _text,
    "pgvector": _vector,
    "postgres-sql": _sql,
}


def from_section(section: Section) -> Backend:
    """Make the backend of a section with the kind ``postgres``, ``pgvector`` or
    ``postgres-sql``.
    """
    return _MAKERS[section.given["kind"]](section)
