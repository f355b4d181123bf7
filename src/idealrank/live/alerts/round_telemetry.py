"""Metrics of monitors for OpenTelemetry, made from the same rounds as those for Prometheus."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from idealrank._lazy import load_extra
from idealrank.live.alerts.round_metrics import GAUGES, round_samples
from idealrank.live.monitoring import Monitoring
from idealrank.store.store import Store
from idealrank.version import __version__

_WHAT, _EXTRA = "metrics for OpenTelemetry", "otel"
_EVERY = 60_000  # milliseconds between two messages
_TIMEOUT = 10.0  # seconds for a message


@contextmanager
def telemetry(folder: str, address: str | None) -> Iterator[None]:
    """Send the metrics of a store to a collector while the block runs, and once more at its end;
    nothing without an address.
    """
    if address is None:
        yield
        return
    name = "opentelemetry.exporter.otlp.proto.http.metric_exporter"
    package = "opentelemetry-exporter-otlp-proto-http"
    exporter = load_extra(name, _WHAT, _EXTRA, package).OTLPMetricExporter(
        endpoint=address, timeout=_TIMEOUT
    )
    export = load_extra("opentelemetry.sdk.metrics.export", _WHAT, _EXTRA, "opentelemetry-sdk")
    provider = round_provider(
        folder, export.PeriodicExportingMetricReader(exporter, export_interval_millis=_EVERY)
    )
    try:
        yield
    finally:
        provider.shutdown(timeout_millis=1000 * _TIMEOUT)


def round_provider(folder: str, reader: Any) -> Any:
    """Return a provider of meters whose gauges are read from a store whenever the reader
    collects.
    """
    sdk = load_extra("opentelemetry.sdk.metrics", _WHAT, _EXTRA, "opentelemetry-sdk")
    resources = load_extra("opentelemetry.sdk.resources", _WHAT, _EXTRA, "opentelemetry-sdk")
    observation = load_extra(
        "opentelemetry.metrics", _WHAT, _EXTRA, "opentelemetry-api"
    ).Observation
    named = resources.Resource.create({"service.name": "idealrank"})
    provider = sdk.MeterProvider(metric_readers=[reader], resource=named, shutdown_on_exit=False)
    meter = provider.get_meter("idealrank", __version__)
    for key, (name, said, _) in GAUGES.items():
        meter.create_observable_gauge(
            name, callbacks=[partial(_observed, folder, key, observation)], description=said
        )
    return provider


def _observed(folder: str, key: str, observation: Callable[..., Any], _options: Any) -> list[Any]:
    """Samples of one gauge, of all monitors."""
    labels = ("monitor", *GAUGES[key][2])
    with Store.open(folder) as store:
        return [
            observation(value, dict(zip(labels, [name, *texts], strict=True)))
            for name in store.monitors()
            for found, texts, value in round_samples(Monitoring.of(store, name))
            if found == key
        ]
