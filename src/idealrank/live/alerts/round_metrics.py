"""Metrics of monitors for Prometheus and OpenTelemetry, made from the rounds of a store."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from idealrank._files import write_bytes
from idealrank._lazy import load_extra
from idealrank.live.monitoring import Monitoring, StoredRound
from idealrank.store.store import Store
from idealrank.store.web.metrics_text import Gauge, gauges_text
from idealrank.version import __version__


class GaugeText(NamedTuple):
    """Texts of one metric."""

    name: str
    about: str
    labels: tuple[str, ...]  # beside the label ``monitor``


GAUGES = {
    "value": GaugeText(
        "idealrank_canary_value",
        "Mean of the measure over the canary queries in the last complete round.",
        ("measure", "slice"),
    ),
    "low": GaugeText(
        "idealrank_canary_low",
        "Lower end of the 95 % confidence interval of the mean.",
        ("measure",),
    ),
    "high": GaugeText(
        "idealrank_canary_high",
        "Upper end of the 95 % confidence interval of the mean.",
        ("measure",),
    ),
    "coverage": GaugeText(
        "idealrank_judged_share",
        "Share of judged documents above the cutoff in the last complete round.",
        (),
    ),
    "label_days": GaugeText("idealrank_label_age_seconds", "Age of the judgments.", ()),
    "failed": GaugeText(
        "idealrank_failed_share",
        "Share of queries without an answer in the last round.",
        (),
    ),
    "empty": GaugeText(
        "idealrank_empty_answers", "Answers without a document in the last round.", ()
    ),
    "attempts": GaugeText(
        "idealrank_attempts",
        "Attempts of the last round, retries included, by outcome.",
        ("outcome",),
    ),
    "outages": GaugeText(
        "idealrank_outages",
        "Outages within the last round: failed attempts in a row that opened the breaker.",
        (),
    ),
    "paused": GaugeText(
        "idealrank_paused_seconds",
        "Seconds of the last round in which the breaker was open.",
        (),
    ),
    "latency": GaugeText(
        "idealrank_latency_seconds",
        "Latency of answered and timed-out queries in the last round, with retries and waits.",
        ("quantile",),
    ),
    "round": GaugeText("idealrank_last_round_timestamp_seconds", "Start of the last round.", ()),
    "success": GaugeText(
        "idealrank_last_success_timestamp_seconds",
        "Start of the last complete round.",
        (),
    ),
    "rounds": GaugeText("idealrank_rounds", "Rounds in the store, by outcome.", ("outcome",)),
    "alarm": GaugeText(
        "idealrank_alarm_open",
        "1 while an alarm is open, by the number of its opening round.",
        ("rule", "slice", "severity"),
    ),
    "waiting": GaugeText(
        "idealrank_messages_waiting",
        "Messages about alarms that no channel took yet.",
        (),
    ),
}
"""Metrics of a monitor."""

_QUANTILES = {"p50": "0.5", "p95": "0.95", "p99": "0.99"}


class RoundSample(NamedTuple):
    """Value of a gauge for one monitor."""

    key: str  # of `GAUGES`
    labels: list[str]
    value: float


def metrics_text(store: Store) -> bytes:
    """Return the metrics of all monitors of a store, in the text format of Prometheus."""
    return gauges_text(round_gauges(store))


def write_metrics(store: Store, path: str) -> None:
    """Write the metrics to a file at once, for the textfile collector of node_exporter."""
    write_bytes([metrics_text(store)], path)


def round_gauges(store: Store) -> list[Gauge]:
    """Return the gauges of all monitors of a store."""
    gauges = {}
    for key, texts in GAUGES.items():
        gauges[key] = Gauge(texts.name, texts.about, ["monitor", *texts.labels])
    for monitor in store.monitors():
        for sample in round_samples(Monitoring.of(store, monitor)):
            gauges[sample.key].add(sample.value, monitor, *sample.labels)
    return list(gauges.values())


def round_samples(rounds: Monitoring) -> Iterator[RoundSample]:
    """Yield the samples of a monitor."""
    for outcome, number in rounds.outcomes().items():
        yield RoundSample("rounds", [outcome], float(number))
    yield RoundSample("waiting", [], float(len(rounds.waiting())))
    for alarm in rounds.alarms(only_open=True):
        severity = str(alarm.record.get("severity", ""))
        yield RoundSample("alarm", [alarm.rule, alarm.slice, severity], 1.0)
    if last := rounds.last("complete", "incomplete", "failed"):
        yield RoundSample("round", [], _seconds(last.time))
        yield from _numbers(last, "failed")
        yield from _numbers(last, "empty")
        yield from _numbers(last, "outages")
        yield from _numbers(last, "paused")
        yield from _attempts(last)
        yield from (
            RoundSample("latency", [_QUANTILES[name]], value / 1000)
            for name, value in last.record.get("latency", {}).items()
            if name in _QUANTILES
        )
    if complete := rounds.last("complete"):
        yield RoundSample("success", [], _seconds(complete.time))
        yield from _of_complete(complete)


def _attempts(stored: StoredRound) -> Iterator[RoundSample]:
    """Attempts by outcome; rounds of earlier versions did not count them."""
    if "attempts" not in stored.record:
        return
    failed = stored.record["failed_attempts"]
    timed_out = stored.record["timed_out"]
    yield RoundSample("attempts", ["answered"], float(stored.record["attempts"] - failed))
    yield RoundSample("attempts", ["failed"], float(failed - timed_out))
    yield RoundSample("attempts", ["timed out"], float(timed_out))


def _of_complete(stored: StoredRound) -> Iterator[RoundSample]:
    measure = str(stored.record.get("measure", ""))
    slices = {"": stored.record.get("value"), **stored.record.get("slices", {})}
    yield from (
        RoundSample("value", [measure, name], float(value))
        for name, value in slices.items()
        if value is not None
    )
    yield from _numbers(stored, "low", measure)
    yield from _numbers(stored, "high", measure)
    yield from _numbers(stored, "coverage")
    for age in _numbers(stored, "label_days"):
        yield age._replace(value=86400 * age.value)  # the gauge counts seconds


def _numbers(stored: StoredRound, key: str, *labels: str) -> Iterator[RoundSample]:
    """Sample of a number in the record of a round; none if the number is missing."""
    value = stored.record.get(key)
    if value is not None and math.isfinite(value):
        yield RoundSample(key, list(labels), float(value))


def _seconds(time: str) -> float:
    return datetime.fromisoformat(time).timestamp()


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
    resource = resources.Resource.create({"service.name": "idealrank"})
    provider = sdk.MeterProvider(metric_readers=[reader], resource=resource, shutdown_on_exit=False)
    meter = provider.get_meter("idealrank", __version__)
    for key, texts in GAUGES.items():
        read = partial(_observed, folder, key, observation)
        meter.create_observable_gauge(texts.name, callbacks=[read], description=texts.about)
    return provider


def _observed(folder: str, key: str, observation: Callable[..., Any], _options: Any) -> list[Any]:
    """Samples of one gauge, of all monitors."""
    names = ("monitor", *GAUGES[key].labels)
    observations = []
    with Store.open(folder) as store:
        for monitor in store.monitors():
            for sample in round_samples(Monitoring.of(store, monitor)):
                if sample.key == key:
                    values = [monitor, *sample.labels]
                    attributes = dict(zip(names, values, strict=True))
                    observations.append(observation(sample.value, attributes))
    return observations
