"""Schedule of a monitor: rounds at a steady pace, and metrics for Prometheus meanwhile."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from idealrank.errors import InputError
from idealrank.live.alerts.round_metrics import metrics_text, write_metrics
from idealrank.live.canary.canary_rounds import CanaryMonitor, failure_of
from idealrank.live.canary.monitor_config import MetricsSection
from idealrank.live.monitoring import StoredRound
from idealrank.store.store import Store
from idealrank.store.web.host_names import names_server
from idealrank.store.web.metrics_text import CONTENT_TYPE, load_metrics

_PATIENCE = 10.0  # seconds that a client may be silent
_POLL = 0.1  # seconds between the server's checks for its end; the shutdown waits as long
_LONGEST_SLEEP = 60.0  # seconds, after which the clock is read again


def watch_rounds(
    monitor: CanaryMonitor,
    store: Store,
    tell: Callable[[StoredRound], None],
    *,
    say: Callable[[str], None],
    rounds: float = math.inf,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Run rounds at a steady pace, by a clock that is never set back.

    A round that takes longer than the pace is followed by the next at once; rounds that were missed
    are not made up for. A round that could not be stored waits, and is stored before the next one.
    """
    n_rounds = 0
    due = clock()
    while True:
        try:
            monitor.run_round(store, tell)
        except InputError as error:
            n_waiting = len(monitor.waiting)
            say(f"{n_waiting} rounds wait to be stored: {error}" if n_waiting else str(error))
        refresh_metrics(store, monitor.config.metrics, say)
        n_rounds += 1
        if n_rounds >= rounds:
            return
        due = max(due + monitor.config.every, clock())
        while (remaining := due - clock()) > 0:
            sleep(min(remaining, _LONGEST_SLEEP))


def refresh_metrics(store: Store, metrics: MetricsSection, say: Callable[[str], None]) -> None:
    """Write the file of metrics, if there is one; a failure is a note."""
    file = metrics.file
    if file is None:
        return
    load_metrics()
    if failure := failure_of(file, lambda: write_metrics(store, file)):
        say(failure)


@contextmanager
def metrics_server(folder: str, metrics: MetricsSection) -> Iterator[int | None]:
    """Answer /metrics while the block runs, from the store; None without a port."""
    if metrics.port is None:
        yield None
        return
    load_metrics()
    from socketserver import ThreadingMixIn  # noqa: PLC0415  (few ask for metrics)
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server  # noqa: PLC0415

    class Quiet(WSGIRequestHandler):
        timeout = _PATIENCE

        def handle(self) -> None:
            with suppress(OSError):  # a client that says nothing, or goes away
                super().handle()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (its name there)
            """Say nothing."""

    class Threads(ThreadingMixIn, WSGIServer):
        daemon_threads = True
        block_on_close = False

    try:
        answer = partial(_answer, folder, metrics)
        server = make_server(metrics.host, metrics.port, answer, Threads, Quiet)
    except OSError as error:
        raise InputError(
            f"metrics: {metrics.host}:{metrics.port}: {error.strerror or error}; choose another "
            "port in metrics.port"
        ) from None
    import threading  # noqa: PLC0415  (few ask for metrics)

    thread = threading.Thread(target=server.serve_forever, args=(_POLL,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def _answer(
    folder: str, metrics: MetricsSection, environment: Any, start: Callable[..., Any]
) -> list[bytes]:
    """Answer a request, in a thread of its own."""
    if not names_server(str(environment.get("HTTP_HOST", "")), metrics.host, metrics.names):
        status = "400 Bad Request"
        body = (
            b"found a host that is not this server's, expected its address, or one of "
            b"metrics.names\n"
        )
    elif environment.get("PATH_INFO") != "/metrics":
        status = "404 Not Found"
        body = b"see /metrics\n"
    else:
        status, body = "200 OK", b""

        def render() -> None:
            nonlocal body
            body = _text_of(folder)

        if failure := failure_of("metrics", render):
            status = "503 Service Unavailable"
            body = f"{failure}\n".encode()
    kind = CONTENT_TYPE if status == "200 OK" else "text/plain; charset=utf-8"
    start(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [body]


def _text_of(folder: str) -> bytes:
    with Store.open(folder) as store:
        return metrics_text(store)
