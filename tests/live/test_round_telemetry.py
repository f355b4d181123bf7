"""Metrics of monitors by the real SDK of OpenTelemetry: the numbers that Prometheus gets, collected
and sent.
"""

import gzip
from pathlib import Path

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader

import idealrank as ir
from idealrank.live.alerts.round_metrics import metrics_text, round_provider, telemetry
from tests.live.canary_samples import filled
from tests.live.live_fakes import send, service


def prometheus(store: ir.Store) -> dict[str, float]:
    lines = [line for line in metrics_text(store).decode().splitlines() if not line.startswith("#")]
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines}


def written(name: str, labels: dict[str, str]) -> str:
    inside = ",".join(f'{key}="{value}"' for key, value in sorted(labels.items()))
    return f"{name}{{{inside}}}"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    with ir.Store.open(tmp_path) as store:
        filled(store)
    return str(tmp_path)


def test_gauges_are_those_of_prometheus(folder: str) -> None:
    reader = InMemoryMetricReader()
    provider = round_provider(folder, reader)
    data = reader.get_metrics_data()
    provider.shutdown()
    assert data is not None
    (resource,) = data.resource_metrics
    assert resource.resource.attributes["service.name"] == "idealrank"
    found = {
        written(metric.name, dict(point.attributes)): point.value
        for metric in resource.scope_metrics[0].metrics
        for point in metric.data.data_points
    }
    with ir.Store.open(folder) as store:
        assert found == prometheus(store)


def test_a_later_round_is_in_the_next_collection(folder: str) -> None:
    reader = InMemoryMetricReader()
    provider = round_provider(folder, reader)
    reader.get_metrics_data()
    with ir.Store.open(folder) as store:
        store.monitoring("shop").begin("2026-01-02T00:00:00+00:00")
    data = reader.get_metrics_data()
    provider.shutdown()
    assert data is not None
    metrics = {one.name: one for one in data.resource_metrics[0].scope_metrics[0].metrics}
    outcomes = {
        point.attributes["outcome"] for point in metrics["idealrank_rounds"].data.data_points
    }
    assert outcomes == {"complete", "failed", "running"}


def test_metrics_are_sent_at_the_end_of_the_block(folder: str) -> None:
    with (
        service(lambda path, body, handler: send(handler, b"")) as (address, seen),
        telemetry(folder, f"{address}/v1/metrics"),
    ):
        assert seen == []
    (path, headers, body), *_ = seen
    assert path == "/v1/metrics"
    content = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
    request = ExportMetricsServiceRequest.FromString(content)
    names = {metric.name for metric in request.resource_metrics[0].scope_metrics[0].metrics}
    assert {"idealrank_canary_value", "idealrank_alarm_open"} <= names


def test_without_an_address_nothing_is_loaded(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "idealrank.live.alerts.round_metrics.load_extra", lambda *_: pytest.fail("loaded")
    )
    with telemetry(folder, None):
        pass
