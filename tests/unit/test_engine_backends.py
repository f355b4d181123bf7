"""Backends of engines with recorded replies and clients that stand in for the real ones; tests/services asks the engines themselves."""

import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import httpx
import numpy as np
import pytest
import redis

import idealrank as ir
from idealrank._sections import Section
from idealrank.errors import BackendError, InputError, MissingExtraError, OptionError
from idealrank.live.backends import KINDS, backend_from
from idealrank.live.backends.connections import Connections
from idealrank.live.backends.elasticsearch import Elasticsearch
from idealrank.live.backends.faiss import FaissIndex
from idealrank.live.backends.lancedb import LanceRows
from idealrank.live.backends.postgres import PostgresSql
from idealrank.live.backends.protocol import Backend, SearchQuery
from idealrank.live.backends.qdrant import QdrantPoints
from idealrank.live.backends.redis import RedisKnn, RedisText, RedisVectorSet
from idealrank.live.backends.retriever import from_haystack, from_langchain, from_llama_index
from idealrank.live.backends.sqlite_vec import SqliteVec

QUERY = SearchQuery("q1", "red shoes", np.array([1.0, 0.5]))
TEXT_ONLY = SearchQuery("q2", "red shoes")


def made(kind: str, **given: object) -> Backend:
    return backend_from(Section({"kind": kind, **given}, "search.yaml", "backend"))


def found(backend: Backend, query: SearchQuery = QUERY, limit: int = 10) -> list[tuple[str, float]]:
    return [tuple(one) for one in backend.search(query, limit)]


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **content: object) -> None:
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(**content))


# --- Redis --------------------------------------------------------------------------------------------------------------------


class Recorded:
    """Client of Redis that keeps commands and returns a recorded reply."""

    def __init__(self, *replies: object) -> None:
        self.replies, self.commands = list(replies), list[tuple[Any, ...]]()

    def execute_command(self, *command: Any) -> Any:
        self.commands.append(command)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def close(self) -> None:
        self.commands.append(("closed",))


RESP2 = [2, b"doc:a", [b"__distance", b"0.25"], b"doc:b", [b"__distance", b"0.5"]]
RESP3 = {
    b"attributes": [],
    b"format": b"STRING",
    b"results": [
        {b"id": b"doc:a", b"extra_attributes": {b"__distance": b"0.25"}, b"values": []},
        {b"id": b"doc:b", b"extra_attributes": {b"__distance": b"0.5"}, b"values": []},
    ],
    b"total_results": 2,
    b"warning": [],
}


@pytest.mark.parametrize("reply", [RESP2, RESP3])
def test_redis_sorts_ascending_pages_from_0_and_sends_float32(reply: object) -> None:
    client = Recorded(reply)

    assert found(RedisKnn(client, index="i", field="v", prefix="doc:", ef=50, where="@lang:{en}")) == [("a", -0.25), ("b", -0.5)]

    command = client.commands[0]
    assert command[:3] == ("FT.SEARCH", "i", "(@lang:{en})=>[KNN $k @v $vector EF_RUNTIME 50 AS __distance]")
    assert command[3:9] == ("PARAMS", 4, "k", 10, "vector", np.array([1, 0.5], "<f4").tobytes())
    assert command[9:15] == ("SORTBY", "__distance", "ASC", "LIMIT", 0, 10)
    assert command[-2:] == ("DIALECT", 2)


def test_the_descending_sort_of_tutorials_gives_a_perfect_retriever_0_83() -> None:
    nearest = [f"d{place}" for place in range(10)]
    qrels = {"q1": dict(zip(nearest, [2] * 6 + [1] * 4, strict=True))}

    def value(ranking: list[str]) -> float:
        return float(ir.evaluate(qrels, {"q1": ranking}, "nDCG@10").mean()["nDCG@10"])

    reply = [10, *(part for place, one in enumerate(nearest) for part in (one.encode(), [b"__distance", str(place / 10).encode()]))]
    assert value([one for one, _ in found(RedisKnn(Recorded(reply), index="i", field="v"))]) == 1
    assert value(nearest[::-1]) == pytest.approx(0.8315, abs=5e-5)


def test_a_descending_page_of_redis_is_refused() -> None:
    with pytest.raises(BackendError, match=r"found distance 0\.25 after 0.5, expected the best first"):
        found(RedisKnn(Recorded([2, b"b", [b"__distance", b"0.5"], b"a", [b"__distance", b"0.25"]]), index="i", field="v"))


@pytest.mark.parametrize("reply", [[b"a", b"0.9", b"b", b"0.8"], {b"a": 0.9, b"b": 0.8}])
def test_vector_sets_have_similarities(reply: object) -> None:
    client = Recorded(reply)

    assert found(RedisVectorSet(client, key="set", ef=20, exact=True, where=".year > 2000")) == [("a", 0.9), ("b", 0.8)]
    assert client.commands[0][4:] == ("WITHSCORES", "COUNT", 10, "EF", 20, "FILTER", ".year > 2000", "TRUTH")


@pytest.mark.parametrize("reply", [[1, b"doc:a", b"1.5"], {b"results": [{b"id": b"doc:a", b"score": 1.5}]}])
def test_words_are_parameters_so_that_none_is_syntax(reply: object) -> None:
    client = Recorded(reply)

    assert found(RedisText(client, index="i", prefix="doc:"), SearchQuery("q", "in a (red) in")) == [("a", 1.5)]
    assert client.commands[0][2:9] == ("$word0|$word1|$word2", "PARAMS", 6, "word0", "in", "word1", "a")


@pytest.mark.parametrize(
    ("reply", "said", "temporary"),
    [
        (redis.exceptions.ConnectionError("refused"), "redis: refused", True),
        (redis.exceptions.TimeoutError(), "TimeoutError", True),
        (redis.exceptions.BusyLoadingError("loading"), "loading", True),
        (redis.exceptions.AuthenticationError("invalid password"), "from the environment", False),
        (redis.exceptions.ResponseError("no such index"), "FT.SEARCH failed: no such index", False),
        (b"OK", "expected a reply of FT.SEARCH", False),
        ({b"results": [], b"warning": [b"Timeout limit was reached"]}, "part of the answer: Timeout", True),
    ],
)
def test_failures_of_redis_say_whether_another_attempt_may_succeed(reply: object, said: str, temporary: bool) -> None:
    with pytest.raises(BackendError, match=said) as raised:
        found(RedisKnn(Recorded(reply), index="i", field="v"))
    assert raised.value.temporary is temporary


def test_a_search_by_vector_needs_one() -> None:
    with pytest.raises(BackendError, match="query 'q2' has no vector"):
        found(RedisKnn(Recorded(), index="i", field="v"), TEXT_ONLY)


# --- Elasticsearch ------------------------------------------------------------------------------------------------------------


def elastic(answer: Any, **given: Any) -> tuple[Elasticsearch, list[httpx.Request]]:
    """Backend whose server is a function of the request."""
    requests: list[httpx.Request] = []

    def serve(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else httpx.Response(200, json=answer)

    client = httpx.Client(base_url="http://127.0.0.1:9200", transport=httpx.MockTransport(serve))
    return Elasticsearch(client, **{"index": "shop", "body": {"query": {"match": {"title": "{text}"}}}, **given}), requests


def hits(*pairs: tuple[str, float | None]) -> dict[str, Any]:
    return {"_shards": {"failed": 0}, "timed_out": False, "hits": {"hits": [{"_id": one, "_score": score} for one, score in pairs]}}


def test_the_text_of_a_user_is_a_value_of_the_body() -> None:
    backend, requests = elastic(hits(("a", 2.0), ("b", 1.0)))

    assert found(backend, SearchQuery("q", 'a "b" }')) == [("a", 2.0), ("b", 1.0)]
    assert requests[0].url.path == "/shop/_search"
    assert json.loads(requests[0].content) == {"_source": False, "query": {"match": {"title": 'a "b" }'}}, "size": 10}


def test_an_answer_by_sort_has_reciprocal_ranks_and_an_id_may_be_a_field() -> None:
    answer = {"hits": {"hits": [{"_score": None, "_source": {"sku": sku}} for sku in ("a", "b")]}}
    backend, requests = elastic(answer, id_path="_source.sku")

    assert found(backend) == [("a", 1.0), ("b", 0.5)]
    assert json.loads(requests[0].content)["_source"] == ["sku"]


@pytest.mark.parametrize(
    ("answer", "said", "temporary"),
    [
        ({"_shards": {"failed": 1}, "hits": {"hits": []}}, "found 1 failed shards, expected the whole ranking", True),
        ({"timed_out": True, "hits": {"hits": []}}, "found timed_out", True),
        ({"took": 1}, "expected hits.hits", False),
        (lambda _: httpx.Response(429, headers={"retry-after": "7"}, json={"error": "slow down"}), "HTTP 429: slow down", True),
        (lambda _: httpx.Response(400, json={"error": {"root_cause": [{"reason": "no such field"}]}}), "HTTP 400: no such field", False),
        (lambda _: httpx.Response(401, text="denied"), "`api_key`", False),
        (lambda _: httpx.Response(200, text="<html>"), "expected an answer in JSON", False),
        (httpx.ConnectError("refused"), "elasticsearch: refused", True),
        (httpx.ReadTimeout(""), "ReadTimeout", True),
    ],
)
@pytest.mark.parametrize("batch", [1, 3])
def test_failures_of_elasticsearch_are_named(answer: Any, said: str, temporary: bool, batch: int) -> None:
    whole = {"responses": [answer]} if isinstance(answer, dict) and batch > 1 else answer
    backend, _ = elastic(whole, batch=batch)

    with pytest.raises(BackendError, match=said) as raised:
        found(backend)
    assert raised.value.temporary is temporary
    assert raised.value.retry_after == (7.0 if "429" in said else None)


def test_queries_that_wait_are_sent_together_and_each_gets_its_own_answer() -> None:
    first, sizes = threading.Event(), list[int]()

    def serve(request: httpx.Request) -> httpx.Response:
        bodies = [json.loads(line) for line in request.content.splitlines()][1::2]
        if not sizes:
            first.wait(10)  # the others come meanwhile
        sizes.append(len(bodies))
        answers = [hits((body["query"]["match"]["title"], 1.0)) for body in bodies]
        answers = [{"error": {"reason": "bad"}, "status": 400} if body["query"]["match"]["title"] == "t5" else one
                   for body, one in zip(bodies, answers, strict=True)]  # fmt: skip
        return httpx.Response(200, json={"responses": answers})

    backend, requests = elastic(serve, batch=4)

    def ask(number: int) -> str:
        try:
            return found(backend, SearchQuery(f"q{number}", f"t{number}"))[0][0]
        except BackendError as error:
            return str(error)

    with ThreadPoolExecutor(9) as pool:
        waiting = [pool.submit(ask, number) for number in range(9)]
        while len(backend._queue) < 8:
            pass
        first.set()
        answers = [one.result(10) for one in waiting]

    assert answers == [f"t{number}" if number != 5 else "elasticsearch: HTTP 400: bad" for number in range(9)]
    assert sizes == [1, 4, 4]
    assert {request.url.path for request in requests} == {"/_msearch"}


def test_a_wrong_number_of_responses_is_refused() -> None:
    with pytest.raises(BackendError, match="expected 1 responses of _msearch"):
        found(elastic({"responses": []}, batch=2)[0])


def test_keys_and_passwords_of_elasticsearch_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "s3cret-key")
    backend = made("elasticsearch", url="http://127.0.0.1:1", index="shop", api_key="${SHOP_KEY}")

    with pytest.raises(BackendError) as raised:
        backend.search(TEXT_ONLY, 10)
    assert raised.value.temporary
    assert "s3cret" not in str(raised.value)
    backend.close()


# --- PostgreSQL, Qdrant, FAISS, LanceDB, sqlite-vec: stand-ins ------------------------------------------------------------------


def test_postgres_writes_vectors_as_text_and_takes_two_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    errors = {name: type(name, (Exception,), {}) for name in ("Error", "OperationalError", "InterfaceError")}
    stand_in(monkeypatch, "psycopg", **errors, errors=SimpleNamespace(QueryCanceled=type("Canceled", (Exception,), {})))
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

    with pytest.raises(BackendError, match=r"postgres-sql: server closed the connection$") as raised:
        found(PostgresSql(Connection, statement="broken"))
    assert raised.value.temporary
    assert asked[-1] == {"closed": True}  # the next attempt makes another connection


@pytest.mark.parametrize(("distance", "expected"), [("Cosine", [("x", 0.9)]), ("Dot", [("x", 0.9)]), ("Euclid", [("x", -0.9)])])
def test_distances_of_qdrant_are_negated_and_scores_are_not(
    distance: str, expected: list[tuple[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = type("Nothing", (Exception,), {})
    stand_in(monkeypatch, "qdrant_client.models", SearchParams=lambda **given: given)
    stand_in(monkeypatch, "qdrant_client.http.exceptions", UnexpectedResponse=nothing, ResponseHandlingException=nothing)
    asked: list[dict[str, object]] = []

    class Client:
        def get_collection(self, name: str) -> object:
            vectors = SimpleNamespace(distance=SimpleNamespace(value=distance))
            return SimpleNamespace(config=SimpleNamespace(params=SimpleNamespace(vectors=vectors)))

        def query_points(self, collection: str, **given: object) -> object:
            asked.append(given)
            return SimpleNamespace(points=[SimpleNamespace(id=1, payload={"page": {"id": "x"}}, score=0.9)])

    assert found(QdrantPoints(Client(), collection="pages", id_path="page.id", ef=64)) == expected
    assert asked[0] == {
        "query": [1.0, 0.5], "using": None, "limit": 10, "with_payload": ["page.id"], "search_params": {"hnsw_ef": 64, "exact": False}
    }  # fmt: skip


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
def test_faiss_leaves_empty_places_out_and_normalises(metric: int, scores: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
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
            return [{"id": "a", "_distance": 0.1, "_score": 3.0}, {"id": "b", "_distance": 0.2, "_score": 2.0}]

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
    assert asked[0] == 'SELECT "id", distance FROM "a""b" WHERE "v" MATCH ? AND k = ? ORDER BY distance'
    with pytest.raises(BackendError, match="sqlite-vec: no such table: absent"):
        found(SqliteVec(Connection, table="odd", column="v"))
    connection.close()


# --- DuckDB itself --------------------------------------------------------------------------------------------------------------


def test_duckdb_answers_a_query_of_ones_own_from_several_threads(tmp_path: Path) -> None:
    path = str(tmp_path / "a.duckdb")
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE pages AS SELECT 'p' || n AS id, [n, 1.0]::FLOAT[] AS v FROM range(20) t(n)")
    sql = "SELECT id, list_inner_product(v, $vector::FLOAT[]) AS score FROM pages ORDER BY score DESC LIMIT $limit"
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


# --- retrievers, configurations ---------------------------------------------------------------------------------------------------


def test_retrievers_of_the_three_frameworks_give_documents() -> None:
    documents = [SimpleNamespace(id="p1", metadata={"page": "a"}), SimpleNamespace(id="p2", metadata={"page": "a"})]
    assert found(from_langchain(SimpleNamespace(invoke=lambda text: documents), id_path="page")) == [("a", 1.0)]

    nodes = [SimpleNamespace(node=SimpleNamespace(node_id="n1", ref_doc_id="d1", metadata={}), score=0.5)]
    assert found(from_llama_index(SimpleNamespace(retrieve=lambda text: nodes), id_path="ref_doc_id")) == [("d1", 0.5)]

    class Component:
        def run(self, query_embedding: list[float], top_k: int) -> dict[str, Any]:
            return {"documents": [SimpleNamespace(id=f"{query_embedding} {top_k}", meta={}, score=1.0)]}

    assert found(from_haystack(Component())) == [("[1.0, 0.5] 10", 1.0)]

    def broken(text: str) -> None:
        raise TimeoutError("too slow")

    with pytest.raises(BackendError, match="langchain: TimeoutError: too slow") as raised:
        found(from_langchain(SimpleNamespace(invoke=broken)))
    assert raised.value.temporary


def test_a_retriever_of_a_file_is_found_made_and_checked(tmp_path: Path) -> None:
    code = "class R:\n    def invoke(self, text):\n        return []\nready, make, wrong, broken = R(), lambda: R(), 7, lambda: 1 / 0\n"
    (tmp_path / "mine.py").write_text(code)
    for name in ("ready", "make", "R"):
        assert found(made("retriever", retriever=f"{tmp_path}/mine.py:{name}")) == []
    for name, said in (("wrong", "one of the methods"), ("broken", "ZeroDivisionError"), ("nothing", "can be imported")):
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
        ("opensearch", {"url": "http://127.0.0.1", "index": "i", "body": "match"}, "backend.body: found 'match'"),
        ("elasticsearch", {"url": "http://127.0.0.1", "index": "i", "body": {}, "fields": ["a"]}, "both `fields` and `body`"),
        ("duckdb", {"path": "a"}, "backend.sql: found nothing"),
        ("retriever", {}, "backend.retriever: found nothing"),
        ("redis", {"index": "i", "feild": "v"}, "did you mean field?"),
        ("qdrant", {"collection": "c"}, "the address of a server, or the folder"),
    ],
)
def test_a_section_that_does_not_fit_is_refused(kind: str, given: dict[str, object], said: str) -> None:
    with pytest.raises(OptionError) as raised:
        made(kind, **given)
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("kind", "module", "extra", "given"),
    [
        ("qdrant", "qdrant_client", "qdrant", {"url": "http://127.0.0.1", "collection": "c"}),
        ("faiss", "faiss", "faiss", {"path": "a", "ids": "b"}),
        ("lancedb", "lancedb", "lancedb", {"path": "a", "table": "b"}),
        ("pgvector", "psycopg.sql", "postgres", {"url": "postgresql://x", "table": "a", "column": "b"}),
        ("postgres", "psycopg.sql", "postgres", {"url": "postgresql://x", "table": "a", "column": "b"}),
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
