"""Backends whose clients have stand-ins here, DuckDB itself, retrievers, and sections;
tests/services asks the engines.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pytest

from idealrank.errors import BackendError, InputError, MissingExtraError, OptionError
from idealrank.live.backends import KINDS
from idealrank.live.backends.faiss import FaissIndex
from idealrank.live.backends.lancedb import LanceRows
from idealrank.live.backends.postgres import PostgresSql
from idealrank.live.backends.qdrant import QdrantPoints
from idealrank.live.backends.retriever import from_haystack, from_langchain, from_llama_index
from idealrank.live.backends.shared import Connections
from idealrank.live.backends.sqlite_vec import SqliteVec
from tests.live.engine_answers import QUERY, found, made


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **content: object) -> None:
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(**content))


# --- PostgreSQL, Qdrant, FAISS, LanceDB, sqlite-vec: stand-ins ------------------------------------


def test_postgres_writes_vectors_as_text_and_takes_two_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    errors = {
        name: type(name, (Exception,), {})
        for name in ("Error", "OperationalError", "InterfaceError")
    }
    stand_in(
        monkeypatch,
        "psycopg",
        **errors,
        errors=SimpleNamespace(QueryCanceled=type("Canceled", (Exception,), {})),
    )
    asked: list[dict[str, object]] = []

    class Connection:
        def execute(self, statement: str, values: dict[str, object]) -> "Connection":
            asked.append(values)
            if statement == "broken":
                raise errors["OperationalError"]("server closed the connection\nunexpectedly")
            return self

        def fetchall(self) -> list[tuple[str, float]]:
            return [("a", 2.0), ("b", 1.0)]

        def close(self) -> None:
            asked.append({"closed": True})

    backend = PostgresSql(Connection, statement="...", by_vector=True)
    assert found(backend) == [("a", 2.0), ("b", 1.0)]
    assert asked == [{"text": "red shoes", "vector": "[1.0,0.5]", "limit": 10}]

    with pytest.raises(
        BackendError, match=r"postgres-sql: server closed the connection$"
    ) as raised:
        found(PostgresSql(Connection, statement="broken"))
    assert raised.value.temporary
    assert asked[-1] == {"closed": True}  # the next attempt makes another connection


@pytest.mark.parametrize(
    ("distance", "expected"),
    [("Cosine", [("x", 0.9)]), ("Dot", [("x", 0.9)]), ("Euclid", [("x", -0.9)])],
)
def test_distances_of_qdrant_are_negated_and_scores_are_not(
    distance: str, expected: list[tuple[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = type("Nothing", (Exception,), {})
    stand_in(monkeypatch, "qdrant_client.models", SearchParams=lambda **given: given)
    stand_in(
        monkeypatch,
        "qdrant_client.http.exceptions",
        UnexpectedResponse=nothing,
        ResponseHandlingException=nothing,
    )
    asked: list[dict[str, object]] = []

    class Client:
        def get_collection(self, name: str) -> object:
            vectors = SimpleNamespace(distance=SimpleNamespace(value=distance))
            return SimpleNamespace(config=SimpleNamespace(params=SimpleNamespace(vectors=vectors)))

        def query_points(self, collection: str, **given: object) -> object:
            asked.append(given)
            return SimpleNamespace(
                points=[SimpleNamespace(id=1, payload={"page": {"id": "x"}}, score=0.9)]
            )

    assert found(QdrantPoints(Client(), collection="pages", id_path="page.id", ef=64)) == expected
    assert asked[0] == {
        "query": [1.0, 0.5],
        "using": None,
        "limit": 10,
        "with_payload": ["page.id"],
        "search_params": {"hnsw_ef": 64, "exact": False},
    }


class FakeFaiss:
    """Index of three vectors that can fill only two places."""

    ntotal, d = 3, 2

    def __init__(self, metric: int) -> None:
        self.metric_type, self.asked = metric, np.zeros((0, 0))

    def search(self, vectors: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
        self.asked = vectors
        numbers = [0.9, 0.2, -3e38] if self.metric_type == 0 else [0.2, 0.9, 3e38]
        return np.array([numbers], np.float32), np.array([[2, 0, -1]])


@pytest.mark.parametrize(("metric", "scores"), [(0, [0.9, 0.2]), (1, [-0.2, -0.9])])
def test_faiss_leaves_empty_places_out_and_normalises(
    metric: int, scores: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_in(monkeypatch, "faiss", METRIC_INNER_PRODUCT=0)
    index = FakeFaiss(metric)

    documents = found(FaissIndex(index, ["a", "b", "c"], normalize=True))

    assert [one for one, _ in documents] == ["c", "a"]
    assert [score for _, score in documents] == pytest.approx(scores)
    assert (index.asked**2).sum() == pytest.approx(1)
    with pytest.raises(InputError, match="found 2 ids for 3 vectors"):
        FaissIndex(index, ["a", "b"])


def test_lancedb_has_distances_for_vectors_and_scores_for_words() -> None:
    class Table:
        def search(self, asked: object, **given: object) -> "Table":
            self.by = given["query_type"]
            return self

        def __getattr__(self, name: str) -> Any:  # distance_type, nprobes, select, limit
            return lambda *_: self

        def to_list(self) -> list[dict[str, object]]:
            return [
                {"id": "a", "_distance": 0.1, "_score": 3.0},
                {"id": "b", "_distance": 0.2, "_score": 2.0},
            ]

    assert found(LanceRows(Table(), nprobes=4)) == [("a", -0.1), ("b", -0.2)]
    assert found(LanceRows(Table(), by="text")) == [("a", 3.0), ("b", 2.0)]


def test_sqlite_vec_quotes_names_and_negates_distances() -> None:
    import sqlite3

    connection = sqlite3.connect(":memory:", check_same_thread=False)
    asked: list[object] = []

    class Cursor:
        def execute(self, statement: str, values: object) -> "Cursor":
            asked.extend([statement, values])
            if "odd" in statement:
                connection.execute("SELECT * FROM absent")
            return self

        def fetchall(self) -> list[tuple[str, float]]:
            return [("a", 0.25)]

    class Connection:
        cursor = staticmethod(Cursor)
        close = staticmethod(connection.close)

    assert found(SqliteVec(Connection, table='a"b', column="v", id_column="id")) == [("a", -0.25)]
    assert (
        asked[0]
        == 'SELECT "id", distance FROM "a""b" WHERE "v" MATCH ? AND k = ? ORDER BY distance'
    )
    with pytest.raises(BackendError, match="sqlite-vec: no such table: absent"):
        found(SqliteVec(Connection, table="odd", column="v"))
    connection.close()


# --- DuckDB itself --------------------------------------------------------------------------------


def test_duckdb_answers_a_query_of_ones_own_from_several_threads(tmp_path: Path) -> None:
    path = str(tmp_path / "a.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute(
            "CREATE TABLE pages AS SELECT 'p' || n AS id, [n, 1.0]::FLOAT[] AS v FROM "
            "range(20) t(n)"
        )
    sql = (
        "SELECT id, list_inner_product(v, $vector::FLOAT[]) AS score FROM pages ORDER BY score "
        "DESC LIMIT $limit"
    )
    backend = made("duckdb", path=path, sql=sql)

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: found(backend, QUERY, 2), range(8)))
    assert answers == [[("p19", 19.5), ("p18", 18.5)]] * 8
    for broken, said in (
        ("SELECT id, 1 FROM nothing", "does not exist"),
        ("SELECT 1", "found 1 columns"),
        ("DROP TABLE pages", "read-only"),
    ):
        other = made("duckdb", path=path, sql=broken)
        with pytest.raises(BackendError, match=said):
            found(other)
        other.close()
    backend.close()


# --- retrievers, configurations -------------------------------------------------------------------


def test_retrievers_of_the_three_frameworks_give_documents() -> None:
    documents = [
        SimpleNamespace(id="p1", metadata={"page": "a"}),
        SimpleNamespace(id="p2", metadata={"page": "a"}),
    ]
    assert found(
        from_langchain(SimpleNamespace(invoke=lambda text: documents), id_path="page")
    ) == [("a", 1.0)]

    nodes = [
        SimpleNamespace(node=SimpleNamespace(node_id="n1", ref_doc_id="d1", metadata={}), score=0.5)
    ]
    assert found(
        from_llama_index(SimpleNamespace(retrieve=lambda text: nodes), id_path="ref_doc_id")
    ) == [("d1", 0.5)]

    class Component:
        def run(self, query_embedding: list[float], top_k: int) -> dict[str, Any]:
            return {
                "documents": [SimpleNamespace(id=f"{query_embedding} {top_k}", meta={}, score=1.0)]
            }

    assert found(from_haystack(Component())) == [("[1.0, 0.5] 10", 1.0)]

    def broken(text: str) -> None:
        raise TimeoutError("too slow")

    with pytest.raises(BackendError, match="langchain: TimeoutError: too slow") as raised:
        found(from_langchain(SimpleNamespace(invoke=broken)))
    assert raised.value.temporary


def test_a_retriever_of_a_file_is_found_made_and_checked(tmp_path: Path) -> None:
    code = (
        "class R:\n    def invoke(self, text):\n        return []\nready, make, wrong, broken = "
        "R(), lambda: R(), 7, lambda: 1 / 0\n"
    )
    (tmp_path / "mine.py").write_text(code)
    for name in ("ready", "make", "R"):
        assert found(made("retriever", retriever=f"{tmp_path}/mine.py:{name}")) == []
    for name, said in (
        ("wrong", "one of the methods"),
        ("broken", "ZeroDivisionError"),
        ("nothing", "can be imported"),
    ):
        with pytest.raises(OptionError, match=said):
            made("retriever", retriever=f"{tmp_path}/mine.py:{name}")


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        ("redis", {"field": "v"}, "backend.index: found nothing, expected the name of an index"),
        ("redis", {"index": "i", "field": "v", "url": "http://x"}, "an address such as redis://"),
        ("redis-vector-set", {}, "backend.key: found nothing"),
        ("redis-text", {"index": "i", "operator": "some"}, "one of any, all"),
        ("elasticsearch", {"index": "i"}, "backend.url: found nothing, expected an address"),
        (
            "opensearch",
            {"url": "http://127.0.0.1", "index": "i", "body": "match"},
            "backend.body: found 'match'",
        ),
        (
            "elasticsearch",
            {"url": "http://127.0.0.1", "index": "i", "body": {}, "fields": ["a"]},
            "both `fields` and `body`",
        ),
        ("duckdb", {"path": "a"}, "backend.sql: found nothing"),
        ("retriever", {}, "backend.retriever: found nothing"),
        ("redis", {"index": "i", "feild": "v"}, "did you mean field?"),
        ("qdrant", {"collection": "c"}, "the address of a server, or the folder"),
    ],
)
def test_a_section_that_does_not_fit_is_refused(
    kind: str, given: dict[str, object], said: str
) -> None:
    with pytest.raises(OptionError) as raised:
        made(kind, **given)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "module", "extra", "given"),
    [
        ("qdrant", "qdrant_client", "qdrant", {"url": "http://127.0.0.1", "collection": "c"}),
        ("faiss", "faiss", "faiss", {"path": __file__, "ids": __file__}),
        ("lancedb", "lancedb", "lancedb", {"path": "a", "table": "b"}),
        (
            "pgvector",
            "psycopg.sql",
            "postgres",
            {"url": "postgresql://x", "table": "a", "column": "b"},
        ),
        (
            "postgres",
            "psycopg.sql",
            "postgres",
            {"url": "postgresql://x", "table": "a", "column": "b"},
        ),
        ("sqlite-vec", "sqlite_vec", "sqlite-vec", {"path": __file__, "table": "a", "column": "b"}),
        ("redis", "redis", "redis", {"index": "a", "field": "b"}),
    ],
)
def test_a_client_that_is_not_installed_is_named_with_its_extra(
    kind: str, module: str, extra: str, given: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"\[{extra}\]"):
        made(kind, **given)


def test_every_kind_has_a_module_with_from_section() -> None:
    for module in set(KINDS.values()):
        assert callable(__import__(module, fromlist=["from_section"]).from_section)


def test_connections_are_one_for_each_thread_and_closed_together() -> None:
    closed: list[object] = []
    connections: Connections[object] = Connections(object, closed.append)
    mine = connections.get()
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(connections.get).result()
    assert mine is connections.get()
    assert mine is not other
    connections.drop()
    assert connections.get() is not mine
    connections.close()
    connections.close()
    assert len(closed) == 3
