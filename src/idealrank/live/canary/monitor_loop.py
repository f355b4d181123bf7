"""Schedule of a monitor: rounds at a steady pace, and metrics for Prometheus meanwhile."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from idealrank._lazy import load_extra
from idealrank.errors import InputError, MissingExtraError
from idealrank.live.alerts.round_metrics import metrics_text, write_metrics
from idealrank.live.canary.canary_rounds import CanaryMonitor
from idealrank.live.canary.monitor_config import MetricsSection
from idealrank.store.monitoring import StoredRound
from idealrank.store.store import Store


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

    A round that takes longer than the pace is followed by the next at once; rounds that were missed are not made up for. A round that
    could not be stored waits, and is stored before the next one.

    Parameters
    ----------
    monitor : CanaryMonitor
        What runs.
    store : Store
        Where rounds go.
    tell : callable
        Called with each stored round.
    say : callable
        Takes notes for the user.
    rounds : float
        Number of rounds to run.
    clock, sleep : callable
        Monotonic seconds, and waiting.
    """
    done, due = 0, clock()
    while True:
        try:
            for one in monitor.run_round(store):
                tell(one)
        except InputError as error:
            say(f"{len(monitor.waiting)} rounds wait to be stored: {error}" if monitor.waiting else str(error))
        refresh_metrics(store, monitor.config.metrics, say)
        done += 1
        if done >= rounds:
            return
        due = max(due + monitor.config.every, clock())
        while (left := due - clock()) > 0:
            sleep(min(left, 60.0))


def refresh_metrics(store: Store, metrics: MetricsSection, say: Callable[[str], None]) -> None:
    """Write the file of metrics, if there is one; a disk that is full is a note."""
    if metrics.file is None:
        return
    try:
        write_metrics(store, metrics.file)
    except MissingExtraError:
        raise
    except (InputError, OSError) as error:
        say(f"{metrics.file}: {error}")


@contextmanager
def metrics_server(folder: str, metrics: MetricsSection) -> Iterator[int | None]:
    """Answer /metrics while the block runs, from the store; None without a port.

    Raises
    ------
    InputError
        The address cannot be listened on.
    MissingExtraError
        The package prometheus-client is not installed.
    """
    if metrics.port is None:
        yield None
        return
    load_extra("prometheus_client", "metrics for Prometheus", "monitor", "prometheus-client")
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server  # noqa: PLC0415  (few ask for metrics)

    class Quiet(WSGIRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (its name there)
            """Say nothing."""

    def answer(environment: Any, start: Callable[..., Any]) -> list[bytes]:
        if environment.get("PATH_INFO") != "/metrics":
            start("404 Not Found", [("Content-Type", "text/plain; charset=utf-8")])
            return [b"see /metrics\n"]
        with Store.open(folder) as store:  # in the thread of the server
            body = metrics_text(store)
        start("200 OK", [("Content-Type", "text/plain; version=0.0.4; charset=utf-8"), ("Content-Length", str(len(body)))])
        return [body]

    try:
        server = make_server(metrics.host, metrics.port, answer, WSGIServer, Quiet)
    except OSError as error:
        raise InputError(
            f"metrics: {metrics.host}:{metrics.port}: {error.strerror or error}; choose another port in metrics.port"
        ) from None
    import threading  # noqa: PLC0415  (few ask for metrics)

    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
