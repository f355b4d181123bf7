"""Start and end of the page: its socket, its server, and what can go wrong before the first
request.
"""

import asyncio
import errno
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from idealrank._lazy import load_extra
from idealrank.errors import OptionError
from idealrank.store.web.host_names import is_loopback, shown_host

if TYPE_CHECKING:
    from starlette.types import ASGIApp

# Connections that are accepted at a time, and that wait for a whole request: together fewer than
# the files that a process may open.
_BACKLOG = 128
_MOST_WAITING = 100
_LONGEST_WAIT = 30  # seconds until a connection has sent a whole request
_GRACE = 3  # seconds that requests have to end


@dataclass(frozen=True, kw_only=True)
class Serving:
    """Options of the page."""

    store: str | None = None
    create: bool = False  # Make the store if there is none
    host: str = "127.0.0.1"
    port: int = 8765
    token: str = field(default="", repr=False)
    names: Sequence[str] = ()
    data: Sequence[str] = ()
    slices: str | None = None
    queries: str | None = None
    documents: str | None = None

    def __post_init__(self) -> None:
        check_token(self.host, self.token)
        if self.store is not None and Path(self.store).is_file():
            raise OptionError(f"store {self.store}: found a file, expected the folder of a store")
        for folder in self.data:
            if not Path(folder).is_dir():
                raise OptionError(
                    f"data {folder}: found no such folder, expected one with judgments and runs"
                )


def check_token(host: str, token: str) -> None:
    """Refuse an address that other machines reach without a token."""
    try:
        token.encode()
    except UnicodeEncodeError:
        raise OptionError(
            "token: found bytes that are no UTF-8, expected text; choose another token"
        ) from None
    if not is_loopback(host) and not token:
        raise OptionError(
            f"host {host}: found an address that other machines reach and no token, expected a "
            "token: set IDEALRANK_TOKEN or --token, or listen on 127.0.0.1"
        )


def serve(serving: Serving, started: Callable[[str], None]) -> None:
    """Serve until a signal ends the process; the signal is raised again when all requests have
    ended.
    """
    load_web("`idealrank serve`")
    load_extra("prometheus_client", "`idealrank serve`", "web", "prometheus-client")
    if serving.store is not None:
        _require_store(serving.store, create=serving.create)
    from idealrank.inputs.text_sources import TextSources  # noqa: PLC0415  (readers)
    from idealrank.io.query_files import QueryFiles  # noqa: PLC0415  (SciPy)
    from idealrank.store.web.application import application  # noqa: PLC0415
    from idealrank.store.web.guard import Guard  # noqa: PLC0415
    from idealrank.store.web.originals import Originals  # noqa: PLC0415
    from idealrank.store.web.site import StoreFolder  # noqa: PLC0415  (Starlette)

    slices = QueryFiles(slices_text=serving.slices).read().categories
    texts = TextSources(queries=serving.queries, documents=serving.documents)
    texts.check()
    guard = Guard(serving.host, serving.token, tuple(serving.names))
    with bound(serving.host, serving.port) as listening:
        folder = StoreFolder(serving.store)
        app = application(folder, guard, Originals(serving.data), slices, texts)
        run_server(app, listening, serving.host, serving.token, started)


def _require_store(folder: str, *, create: bool) -> None:
    """Refuse a folder without a store, whose name may be mistyped, or make the store."""
    from idealrank.store.database import NAME  # noqa: PLC0415  (SQLite)
    from idealrank.store.store import Store  # noqa: PLC0415

    if create:
        Store.open(folder).close()
    elif not (Path(folder) / NAME).is_file():
        raise OptionError(
            f"store {folder}: found no store, expected a folder with {NAME}",
            hint=f"`idealrank evaluate ... --store {folder}` creates one",
            command_hint=f"`idealrank evaluate ... --store {folder}` creates one, or --create an "
            "empty one",
        )


def load_web(what: str) -> Any:
    """Return uvicorn, with Starlette and Jinja2 installed beside it."""
    for package in ("starlette", "jinja2"):
        load_extra(package, what, "web")
    return load_extra("uvicorn", what, "web")


def run_server(
    app: "ASGIApp", listening: socket.socket, host: str, token: str, started: Callable[[str], None]
) -> None:
    """Answer requests until a signal ends the process."""
    uvicorn = load_web("a web page")
    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=_GRACE,
        http=_http_protocol(),
        backlog=_BACKLOG,
    )
    server = uvicorn.Server(config)

    async def run() -> None:
        running = asyncio.ensure_future(server.serve(sockets=[listening]))
        await _prepare(app, shown_host(host), token)
        while not server.started and not running.done():
            await asyncio.sleep(0.01)
        if server.started:
            started(f"http://{shown_host(host)}:{listening.getsockname()[1]}/")
        await running

    asyncio.run(run())


class _WaitingConnections:
    """Connections that have sent no whole request, the longest wait first: only some are kept open,
    and none for long.
    """

    def __init__(self) -> None:
        self._timers: dict[Any, asyncio.TimerHandle] = {}

    def add(self, connection: Any) -> None:
        if connection in self._timers:  # a few bytes more give no more time
            return
        self._timers[connection] = asyncio.get_running_loop().call_later(
            _LONGEST_WAIT, self._close, connection
        )
        if len(self._timers) > _MOST_WAITING:
            self._close(next(iter(self._timers)))

    def remove(self, connection: Any) -> None:
        timer = self._timers.pop(connection, None)
        if timer is not None:
            timer.cancel()

    def _close(self, connection: Any) -> None:
        self.remove(connection)
        connection.transport.abort()


def _http_protocol() -> type[asyncio.Protocol]:
    """Return uvicorn's protocol, which itself waits for a first request without an end."""
    base: Any = import_module("uvicorn.protocols.http.auto").AutoHTTPProtocol
    waiting = _WaitingConnections()

    class BoundedProtocol(base):  # type: ignore[misc]
        def connection_made(self, transport: asyncio.BaseTransport) -> None:
            super().connection_made(transport)
            waiting.add(self)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._sort()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._sort()

        def connection_lost(self, exc: Exception | None) -> None:
            waiting.remove(self)
            super().connection_lost(exc)

        def _sort(self) -> None:
            """A connection waits unless a whole request is being answered."""
            is_answering = (
                self.cycle is not None
                and not self.cycle.response_complete
                and not self.cycle.more_body
            )
            if is_answering:
                waiting.remove(self)
            else:
                waiting.add(self)

    return BoundedProtocol


async def _prepare(app: "ASGIApp", host: str, token: str) -> None:
    """Answer the first page once before any request, so that its modules and results are loaded."""
    headers = [(b"host", host.encode()), (b"authorization", f"Bearer {token}".encode())]
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "server": (host, 80),
        "client": None,
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_: object) -> None:
        """Drop a part of the answer."""

    with suppress(Exception):  # the first request raises it again, and its answer says so
        await app(scope, receive, send)


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that listens, so that a port in use is found before anything is loaded."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError, OverflowError) as error:
        raise OptionError(
            f"host {host}: {error}; expected an address of this machine, such as 127.0.0.1"
        ) from None
    kind, _, protocol, _, address = addresses[0]
    # With its protocol named, asyncio sends small pieces at once; else an answer on an open
    # connection waits 40 ms for the client's system.
    made = socket.socket(kind, socket.SOCK_STREAM, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise OptionError(f"{_refused(error, host, port)}") from None
    return made


def _refused(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port}: found a port in use, expected a free one; choose another with --port, "
            f"or --port 0 for any"
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"port {port}: {error.strerror}; expected a port from 1024 on"
    return (
        f"host {host}: {error.strerror or error}; expected an address of this machine, such as "
        f"127.0.0.1"
    )
