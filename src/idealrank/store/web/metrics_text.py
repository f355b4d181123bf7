"""Gauges in Prometheus' text format, as `idealrank monitor` and `idealrank serve` write them."""

from collections.abc import Iterable, Sequence
from typing import Any

from idealrank._lazy import load_extra

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_WHAT = "metrics for Prometheus"
_EXTRA = "monitor"
_PACKAGE = "prometheus-client"


class Gauge:
    r"""Samples of one name."""

    def __init__(self, name: str, meaning: str, labels: Sequence[str] = ()) -> None:
        core = load_extra("prometheus_client.core", _WHAT, _EXTRA, _PACKAGE)
        self.family = core.GaugeMetricFamily(name, meaning, labels=labels)

    def add(self, value: float, *labels: str) -> None:
        """Add a sample, with a text for each label; half a surrogate pair is written as Python
        escapes it.
        """
        self.family.add_metric(
            [text.encode("utf-8", "backslashreplace").decode() for text in labels], float(value)
        )


def load_metrics() -> None:
    """Load what writes metrics."""
    load_extra("prometheus_client", _WHAT, _EXTRA, _PACKAGE)


def gauges_text(gauges: Iterable[Gauge]) -> bytes:
    """Return gauges of different names as the body of an answer to Prometheus."""
    exposition = load_extra("prometheus_client.exposition", _WHAT, _EXTRA, _PACKAGE)
    registry = load_extra("prometheus_client.registry", _WHAT, _EXTRA, _PACKAGE).CollectorRegistry()
    registry.register(_Collected([gauge.family for gauge in gauges if gauge.family.samples]))
    text: bytes = exposition.generate_latest(registry)
    return text


class _Collected:
    """Collector for a registry of prometheus-client."""

    def __init__(self, families: list[Any]) -> None:
        self._families = families

    def collect(self) -> list[Any]:
        return self._families
