"""Connections that never send a whole request do not keep others from the served pages."""

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from idealrank.store.web import server

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="limits of open files as POSIX has them"
)

# The server may have few files open, so that the test itself needs few connections.
SERVER = """
import resource, sys
from idealrank.store.web import server

resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))
server._LONGEST_WAIT = float(sys.argv[1])


async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
    await send({"type": "http.response.body", "body": b"here"})


with server.bound("127.0.0.1", 0) as listening:
    server.run_server(app, listening, "127.0.0.1", "", lambda address: print(address, flush=True))
"""  # noqa: E501
HALF_HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HALVES = [
    HALF_HEAD,
    pytest.param(b"", marks=pytest.mark.slow, id="nothing"),
    pytest.param(
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nx",
        marks=pytest.mark.slow,
        id="half a body",
    ),
    pytest.param(
        HALF_HEAD + b"\r\nGET / HT", marks=pytest.mark.slow, id="an answer and half a head"
    ),
]


@pytest.fixture
def start() -> Iterator[Callable[[float], str]]:
    with ExitStack() as running:

        def started(longest_wait: float) -> str:
            process = running.enter_context(
                subprocess.Popen(
                    [sys.executable, "-c", SERVER, str(longest_wait)],
                    stdout=subprocess.PIPE,
                    text=True,
                )
            )
            running.callback(process.wait)
            running.callback(process.terminate)
            assert process.stdout is not None
            return process.stdout.readline().strip()

        yield started


def opened(address: str, text: bytes) -> socket.socket:
    host, _, port = address.removeprefix("http://").rstrip("/").partition(":")
    connection = socket.create_connection((host, int(port)), timeout=60)
    connection.sendall(text)
    return connection


@pytest.mark.parametrize("half", HALVES)
def test_others_are_answered_beside_hundreds_of_half_open_connections(
    start: Callable[[float], str], half: bytes
) -> None:
    address = start(600)
    with ExitStack() as connections:
        for _ in range(400):
            connections.enter_context(opened(address, half))

        with urllib.request.urlopen(address, timeout=60) as answer:
            assert answer.read() == b"here"


def test_a_connection_that_sends_no_whole_request_is_closed(start: Callable[[float], str]) -> None:
    address = start(0.2)
    with opened(address, HALF_HEAD) as connection:
        try:
            end = connection.recv(1)
        except ConnectionResetError:
            end = b""
        assert end == b""


def test_a_slow_request_and_a_later_one_on_its_connection_are_answered(
    start: Callable[[float], str],
) -> None:
    address = start(60)
    with opened(address, HALF_HEAD) as connection:
        for _ in range(2):
            time.sleep(0.05)
            connection.sendall(b"\r\n")
            answer = b""
            while not answer.endswith(b"here"):
                part = connection.recv(1000)
                assert part, answer
                answer += part
            connection.sendall(HALF_HEAD)


def test_the_bounds_leave_room_in_the_usual_limit_of_open_files() -> None:
    assert server._BACKLOG + server._MOST_WAITING < 256
