"""Requests that can never be sent: their failures are permanent, and show no secret."""

from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import pytest

from idealrank._sections import Section
from idealrank.errors import BackendError
from idealrank.live.backends import backend_from
from idealrank.live.backends.protocol import SearchQuery
from idealrank.live.http_requests import exchange
from tests.live.live_fakes import send, service


def answer(_: str, __: Any, handler: BaseHTTPRequestHandler) -> None:
    send(handler, ["a"])


def ask(given: dict[str, Any]) -> None:
    backend = backend_from(Section(given, "search.yaml", "backend"))
    try:
        backend.search(SearchQuery("q1", "a b", None), 10)
    finally:
        backend.close()


@pytest.mark.parametrize("secret", ["s3crétTOKEN9\n", "s3cretTOKEN9\n"])
def test_a_secret_in_a_header_that_cannot_be_sent_is_hidden_and_no_attempt_is_repeated(
    monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    monkeypatch.setenv("TOK", secret)
    with service(answer) as (url, seen), pytest.raises(BackendError) as caught:
        ask({"kind": "http", "url": url, "headers": {"authorization": "Bearer ${TOK}"}})
    assert "Bearer ${TOK}" in str(caught.value)
    assert "s3cr" not in str(caught.value)
    assert "TOKEN9" not in str(caught.value)
    assert not caught.value.temporary
    assert seen == []


@pytest.mark.parametrize(
    "error",
    [
        httpx.LocalProtocolError,
        httpx.UnsupportedProtocol,
        httpx.RemoteProtocolError,
        httpx.ConnectError,
    ],
)
def test_a_request_that_can_never_be_sent_is_a_failure_that_does_not_pass(
    error: type[httpx.TransportError],
) -> None:
    def refuse(_: httpx.Request) -> httpx.Response:
        raise error("refused")

    with (
        httpx.Client(transport=httpx.MockTransport(refuse)) as client,
        pytest.raises(BackendError, match=error.__name__) as caught,
    ):
        exchange(client, "http", "GET", "http://127.0.0.1/")
    assert caught.value.temporary == (error in (httpx.RemoteProtocolError, httpx.ConnectError))
