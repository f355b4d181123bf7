"""Engines and stores for the tests of monitors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import idealrank as ir
from idealrank.errors import BackendError
from idealrank.live.canary.canary_rounds import CanaryMonitor
from idealrank.live.canary.monitor_config import MonitorConfig
from idealrank.live.monitoring import AlarmChange, RoundStep

ALARMS = [
    {"kind": "threshold", "name": "floor", "least": 0.5, "signals": "2 of 3", "recover": 2},
    {"kind": "sequential", "name": "drop"},
    {"kind": "errors", "signals": "2 of 3", "recover": 1},
]

RECORD = {
    "measure": "nDCG@10",
    "value": 0.5,
    "low": 0.4,
    "high": 0.6,
    "coverage": 0.9,
    "label_days": 12.5,
    "failed": 0.0,
    "latency": {"p50": 20.0, "p95": 90.0, "p99": 100.0},
    "slices": {"long": 0.3, "short": 0.7},
}


class Steerable:
    """Engine that answers with the judged documents, with none of them, with no document, or not at
    all.
    """

    name = "steerable"
    state = "good"

    def search(self, query: Any, limit: int) -> Any:
        if self.state == "down":
            raise BackendError("steerable: refused")
        if self.state == "empty":
            return []
        return [(f"{query.id}-{'good' if self.state == 'good' else 'bad'}", 1.0)]

    def close(self) -> None:
        """Do nothing."""


def write_files(folder: Path) -> None:
    (folder / "queries.tsv").write_text(
        "".join(f"q{place}\tquery {place}\n" for place in range(30))
    )
    (folder / "qrels.txt").write_text(
        "".join(f"q{place} 0 q{place}-good 1\n" for place in range(30))
    )


def monitor_of(
    engine: Any, *, say: Callable[[str], None] = lambda _: None, **keys: Any
) -> CanaryMonitor:
    given = {
        "name": "shop",
        "store": "store",
        "backend": {"kind": "replay"},
        "queries": "queries.tsv",
        "qrels": "qrels.txt",
        "retries": 0,
        "baseline": {"rounds": 2, "season": "none"},
        "alarms": ALARMS,
        "notify": [{"kind": "log", "path": "alarms.jsonl"}],
    }
    return CanaryMonitor(
        MonitorConfig.of({**given, **keys}, "monitor.yaml"), say=say, backend=lambda: engine
    )


def filled(store: ir.Store) -> None:
    """A complete round that opens an alarm, and a failed one."""
    shop = store.monitoring("shop")
    change = AlarmChange(
        id="shop/floor//1", event="opened", rule="floor", slice="", record={"severity": "page"}
    )
    complete = RoundStep(state={}, record=RECORD, changes=[change], channels=["log"])
    failed = RoundStep(state={}, record={"measure": "nDCG@10", "failed": 1.0, "latency": {}})
    shop.finish(None, "2026-01-01T00:00:00+00:00", "complete", lambda state, number: complete)
    shop.finish(None, "2026-01-01T01:00:00+00:00", "failed", lambda state, number: failed)
