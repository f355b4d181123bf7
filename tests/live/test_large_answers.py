"""Answers of search engines that would fill memory are refused, and are not read to their end."""

import gzip
import json
import tracemalloc
from collections.abc import Iterator

import httpx
import pytest

from idealrank.errors import BackendError
from idealrank.live import http_requests
from idealrank.live.backends.elasticsearch import Elasticsearch
from idealrank.live.backends.protocol import SearchQuery
from idealrank.live.http_requests import HttpAnswer, exchange

MEGABYTE = 1 << 20


class Endless(httpx.SyncByteStream):
    """A body without an end, in parts; the parts taken are counted."""

    def __init__(self, part: bytes) -> None:
        self.taken = 0
        self._part = part

    def __iter__(self) -> Iterator[bytes]:
        while True:
            self.taken += len(self._part)
            yield self._part


def ask(response: httpx.Response, **options: int) -> HttpAnswer:
    with httpx.Client(
        base_url="http://shop", transport=httpx.MockTransport(lambda _: response)
    ) as client:
        return exchange(client, "shop", "POST", "/", **options)  # type: ignore[arg-type]


def peak(response: httpx.Response, message: str) -> int:
    """Bytes in memory at most until an answer is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(BackendError, match=message):
            ask(response)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_answer_without_an_end_is_refused_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_requests, "LARGEST", 2 * MEGABYTE)
    body = Endless(bytes(65_536))

    most = peak(
        httpx.Response(200, stream=body),
        "shop: found an answer of more than 2,097,152 bytes, expected at most as many",
    )

    assert body.taken <= 3 * MEGABYTE
    assert most <= 10 * MEGABYTE


def test_a_packed_answer_counts_by_what_it_unpacks_to() -> None:
    bomb = gzip.compress(bytes(256 * MEGABYTE), 1)

    most = peak(
        httpx.Response(200, headers={"content-encoding": "gzip"}, content=bomb),
        "found an answer of more than 67,108,864 bytes",
    )

    assert len(bomb) < 2 * MEGABYTE
    assert most <= 160 * MEGABYTE


def test_an_answer_of_a_million_hits_is_refused_before_it_is_parsed() -> None:
    body = b'{"hits": {"hits": [%s]}}' % b",".join([b'{"_id": "1", "_score": 1}'] * 1_000_000)
    client = httpx.Client(
        base_url="http://shop",
        transport=httpx.MockTransport(lambda _: httpx.Response(200, content=body)),
    )
    engine = Elasticsearch(client, index="shop", body={"query": {}}, name="shop")

    tracemalloc.start()
    try:
        with pytest.raises(
            BackendError,
            match="found an answer of about 3,000,002 values, expected at most 2,000,000",
        ):
            engine.search(SearchQuery("q1", "shoes"), 10)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert most <= 100 * MEGABYTE


@pytest.mark.slow
def test_the_largest_answers_that_are_parsed_stay_below_a_gigabyte() -> None:
    values = http_requests.MOST_VALUES - 2
    wide = "[" + ",".join(['{"a":1}'] * (values // 2)) + "]"
    deep = "[" + ",".join(["[]"] * (values // 2)) + "]"
    long = json.dumps(["x" * 1000] * 60_000)
    for text in (wide, deep, long):
        tracemalloc.start()
        try:
            assert isinstance(ask(httpx.Response(200, content=text.encode())).json(), list)
            assert tracemalloc.get_traced_memory()[1] <= 1000 * MEGABYTE
        finally:
            tracemalloc.stop()


def test_a_packed_answer_is_unpacked_and_another_encoding_refused() -> None:
    text = b'{"a": 1}' * 50_000

    assert (
        ask(
            httpx.Response(200, headers={"content-encoding": "gzip"}, content=gzip.compress(text))
        ).content
        == text
    )
    with pytest.raises(
        BackendError, match="found an answer in the encoding zstd, expected gzip or none"
    ):
        ask(httpx.Response(200, headers={"content-encoding": "zstd"}, stream=Endless(b"x")))
    with pytest.raises(BackendError, match="found damaged gzip data"):
        ask(httpx.Response(200, headers={"content-encoding": "gzip"}, stream=Endless(b"x")))


def test_the_beginning_of_an_answer_is_not_refused() -> None:
    assert len(ask(httpx.Response(200, stream=Endless(bytes(65_536))), most=1000).content) == 1000
