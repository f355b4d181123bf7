"""Backends of Redis and Elasticsearch with recorded replies; tests/services asks the engines
themselves.
"""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import pytest
import redis

import idealrank as ir
from idealrank.errors import BackendError
from idealrank.live.backends.elasticsearch import Elasticsearch
from idealrank.live.backends.protocol import SearchQuery
from idealrank.live.backends.redis import RedisKnn, RedisText, RedisVectorSet
from tests.live.engine_answers import TEXT_ONLY, found, made

# --- Redis ----------------------------------------------------------------------------------------


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

    assert found(
        RedisKnn(client, index="i", field="v", prefix="doc:", ef=50, where="@lang:{en}")
    ) == [("a", -0.25), ("b", -0.5)]

    command = client.commands[0]
    assert command[:3] == (
        "FT.SEARCH",
        "i",
        "(@lang:{en})=>[KNN $k @v $vector EF_RUNTIME 50 AS __distance]",
    )
    assert command[3:9] == ("PARAMS", 4, "k", 10, "vector", np.array([1, 0.5], "<f4").tobytes())
    assert command[9:15] == ("SORTBY", "__distance", "ASC", "LIMIT", 0, 10)
    assert command[-2:] == ("DIALECT", 2)


def test_the_descending_sort_of_tutorials_gives_a_perfect_retriever_0_83() -> None:
    nearest = [f"d{place}" for place in range(10)]
    qrels = {"q1": dict(zip(nearest, [2] * 6 + [1] * 4, strict=True))}

    def value(ranking: list[str]) -> float:
        return float(ir.evaluate(qrels, {"q1": ranking}, "nDCG@10").mean()["nDCG@10"])

    reply = [
        10,
        *(
            part
            for place, one in enumerate(nearest)
            for part in (one.encode(), [b"__distance", str(place / 10).encode()])
        ),
    ]
    assert value([one for one, _ in found(RedisKnn(Recorded(reply), index="i", field="v"))]) == 1
    assert value(nearest[::-1]) == pytest.approx(0.8315, abs=5e-5)


def test_a_descending_page_of_redis_is_refused() -> None:
    with pytest.raises(
        BackendError, match=r"found distance 0\.25 after 0.5, expected the best first"
    ):
        found(
            RedisKnn(
                Recorded([2, b"b", [b"__distance", b"0.5"], b"a", [b"__distance", b"0.25"]]),
                index="i",
                field="v",
            )
        )


@pytest.mark.parametrize("reply", [[b"a", b"0.9", b"b", b"0.8"], {b"a": 0.9, b"b": 0.8}])
def test_vector_sets_have_similarities(reply: object) -> None:
    client = Recorded(reply)

    assert found(RedisVectorSet(client, key="set", ef=20, exact=True, where=".year > 2000")) == [
        ("a", 0.9),
        ("b", 0.8),
    ]
    assert client.commands[0][4:] == (
        "WITHSCORES",
        "COUNT",
        10,
        "EF",
        20,
        "FILTER",
        ".year > 2000",
        "TRUTH",
    )


@pytest.mark.parametrize(
    "reply", [[1, b"doc:a", b"1.5"], {b"results": [{b"id": b"doc:a", b"score": 1.5}]}]
)
def test_words_are_parameters_so_that_none_is_syntax(reply: object) -> None:
    client = Recorded(reply)

    assert found(
        RedisText(client, index="i", prefix="doc:"), SearchQuery("q", "in a (red) in")
    ) == [("a", 1.5)]
    assert client.commands[0][2:9] == (
        "$word0|$word1|$word2",
        "PARAMS",
        6,
        "word0",
        "in",
        "word1",
        "a",
    )


@pytest.mark.parametrize(
    ("reply", "said", "temporary"),
    [
        (redis.exceptions.ConnectionError("refused"), "redis: refused", True),
        (redis.exceptions.TimeoutError(), "TimeoutError", True),
        (redis.exceptions.BusyLoadingError("loading"), "loading", True),
        (redis.exceptions.AuthenticationError("invalid password"), "from the environment", False),
        (redis.exceptions.ResponseError("no such index"), "FT.SEARCH failed: no such index", False),
        (b"OK", "expected a reply of FT.SEARCH", False),
        (
            {b"results": [], b"warning": [b"Timeout limit was reached"]},
            "part of the answer: Timeout",
            True,
        ),
    ],
)
def test_failures_of_redis_say_whether_another_attempt_may_succeed(
    reply: object, said: str, temporary: bool
) -> None:
    with pytest.raises(BackendError, match=said) as raised:
        found(RedisKnn(Recorded(reply), index="i", field="v"))
    assert raised.value.temporary is temporary


def test_a_search_by_vector_needs_one() -> None:
    with pytest.raises(BackendError, match="query 'q2' has no vector"):
        found(RedisKnn(Recorded(), index="i", field="v"), TEXT_ONLY)


# --- Elasticsearch --------------------------------------------------------------------------------


def elastic(answer: Any, **given: Any) -> tuple[Elasticsearch, list[httpx.Request]]:
    """Backend whose server is a function of the request."""
    requests: list[httpx.Request] = []

    def serve(request: httpx.Request) -> httpx.Response:
        requests.append(request)
        if isinstance(answer, Exception):
            raise answer
        return answer(request) if callable(answer) else httpx.Response(200, json=answer)

    client = httpx.Client(base_url="http://127.0.0.1:9200", transport=httpx.MockTransport(serve))
    return Elasticsearch(
        client, **{"index": "shop", "body": {"query": {"match": {"title": "{text}"}}}, **given}
    ), requests


def hits(*pairs: tuple[str, float | None]) -> dict[str, Any]:
    return {
        "_shards": {"failed": 0},
        "timed_out": False,
        "hits": {"hits": [{"_id": one, "_score": score} for one, score in pairs]},
    }


def test_the_text_of_a_user_is_a_value_of_the_body() -> None:
    backend, requests = elastic(hits(("a", 2.0), ("b", 1.0)))

    assert found(backend, SearchQuery("q", 'a "b" }')) == [("a", 2.0), ("b", 1.0)]
    assert requests[0].url.path == "/shop/_search"
    assert json.loads(requests[0].content) == {
        "_source": False,
        "query": {"match": {"title": 'a "b" }'}},
        "size": 10,
    }


def test_an_answer_by_sort_has_reciprocal_ranks_and_an_id_may_be_a_field() -> None:
    answer = {"hits": {"hits": [{"_score": None, "_source": {"sku": sku}} for sku in ("a", "b")]}}
    backend, requests = elastic(answer, id_path="_source.sku")

    assert found(backend) == [("a", 1.0), ("b", 0.5)]
    assert json.loads(requests[0].content)["_source"] == ["sku"]


@pytest.mark.parametrize(
    ("answer", "said", "temporary"),
    [
        (
            {"_shards": {"failed": 1}, "hits": {"hits": []}},
            "found 1 failed shards, expected the whole ranking",
            True,
        ),
        ({"timed_out": True, "hits": {"hits": []}}, "found timed_out", True),
        ({"took": 1}, "expected hits.hits", False),
        (
            lambda _: httpx.Response(
                429, headers={"retry-after": "7"}, json={"error": "slow down"}
            ),
            "HTTP 429: slow down",
            True,
        ),
        (
            lambda _: httpx.Response(
                400, json={"error": {"root_cause": [{"reason": "no such field"}]}}
            ),
            "HTTP 400: no such field",
            False,
        ),
        (lambda _: httpx.Response(401, text="denied"), "`api_key`", False),
        (lambda _: httpx.Response(200, text="<html>"), "expected an answer in JSON", False),
        (httpx.ConnectError("refused"), "elasticsearch: ConnectError: refused", True),
        (httpx.ReadTimeout(""), "elasticsearch: found no answer in 5 s", True),
    ],
)
@pytest.mark.parametrize("batch", [1, 3])
def test_failures_of_elasticsearch_are_named(
    answer: Any, said: str, temporary: bool, batch: int
) -> None:
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
        answers = [
            {"error": {"reason": "bad"}, "status": 400}
            if body["query"]["match"]["title"] == "t5"
            else one
            for body, one in zip(bodies, answers, strict=True)
        ]
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

    assert answers == [
        f"t{number}" if number != 5 else "elasticsearch: HTTP 400: bad" for number in range(9)
    ]
    assert sizes == [1, 4, 4]
    assert {request.url.path for request in requests} == {"/_msearch"}


def test_a_wrong_number_of_responses_is_refused() -> None:
    with pytest.raises(BackendError, match="expected 1 responses of _msearch"):
        found(elastic({"responses": []}, batch=2)[0])


def test_keys_and_passwords_of_elasticsearch_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SHOP_KEY", "s3cret-key")
    backend = made("elasticsearch", url="http://127.0.0.1:1", index="shop", api_key="${SHOP_KEY}")

    with pytest.raises(BackendError) as raised:
        backend.search(TEXT_ONLY, 10)
    assert raised.value.temporary
    assert "s3cret" not in str(raised.value)
    backend.close()
