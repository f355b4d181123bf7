"""A clock that is only moved, work that runs at once, and a search service on this machine that
misbehaves as it is told.
"""

import json
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from idealrank.live.backends.protocol import ScoredDocument, SearchQuery


class FakeClock:
    """Waiting moves it, and takes no time."""

    def __init__(self) -> None:
        self.time = 100.0

    def now(self) -> float:
        return self.time

    def wait_for(self, items: "queue.Queue[Any]", seconds: float) -> Any:
        if items.empty():
            assert seconds < 1e6
            self.time += seconds
            return None
        return items.get_nowait()


class AtOnce:
    """Workers that do the work where they are asked to start it."""

    def start(self, work: Callable[[], None]) -> None:
        work()

    def stop(self) -> None:
        pass


class Never:
    """Workers whose work hangs."""

    def start(self, work: Callable[[], None]) -> None:
        pass

    def stop(self) -> None:
        pass


class Scripted:
    """Backend that does what a function says, and remembers when it was asked."""

    name = "scripted"

    def __init__(self, clock: FakeClock, answer: Callable[[str, int], Any]) -> None:
        self.clock, self.answer = clock, answer
        self.asked: list[tuple[float, str]] = []

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        self.asked.append((self.clock.time, query.id))
        times = sum(one == query.id for _, one in self.asked)
        found = self.answer(query.id, times)
        if isinstance(found, Exception):
            raise found
        return [ScoredDocument(document, 1 / rank) for rank, document in enumerate(found, 1)][
            :limit
        ]

    def close(self) -> None:
        pass


Answer = Callable[[str, dict[str, Any], "BaseHTTPRequestHandler"], None]


@contextmanager
def service(
    answer: Answer, port: int = 0
) -> Iterator[tuple[str, list[tuple[str, dict[str, str], Any]]]]:
    """A service of HTTP; gives its address and the requests that came."""
    seen: list[tuple[str, dict[str, str], Any]] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # an answer in two writes would wait for the client

        def _any(self) -> None:
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
            is_binary = "protobuf" in self.headers.get("content-type", "")
            body = content if is_binary else json.loads(content) if content else {}
            seen.append(
                (self.path, {key.lower(): value for key, value in self.headers.items()}, body)
            )
            answer(self.path, body, self)

        do_GET = do_POST = _any  # noqa: N815  (names of the library)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", seen
    finally:
        server.shutdown()
        server.server_close()


def send(handler: BaseHTTPRequestHandler, content: Any, status: int = 200, **headers: str) -> None:
    """Answer a request."""
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("content-length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)
