"""The report of `idealrank search`: quality, latency and failures of each backend."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from idealrank.data.interchange import finite
from idealrank.reports.table.records import csv_cell
from idealrank.reports.table.text import Part, columns, filled

_LISTED = 10  # failed queries that the text lists


def search_parts(report: Mapping[str, Any]) -> list[Part]:
    """Show each backend in a line, and the failed queries."""
    systems: Sequence[Mapping[str, Any]] = report["systems"]
    texts = list(dict.fromkeys(text for one in systems for text in one.get("measures", {})))
    title = [
        "backend",
        *(word for text in texts for word in (text, "95 % interval")),
        "queries",
        "failed",
        "empty",
        "p50",
        "p95",
        "p99",
    ]
    parts: list[Part] = [columns([title, *(_cells(one, texts) for one in systems)])]
    if texts:
        parts.append(
            filled(
                f"Under convention {systems[0]['convention']}; a query that failed has no "
                f"documents, and counts as missing."
            )
        )
    for one in systems:
        if one["failed"]:
            listed = [
                f"  {query}: {message}" for query, message in list(one["failed"].items())[:_LISTED]
            ]
            more = len(one["failed"]) - len(listed)
            parts.append(
                [
                    f"{one['name']}: {len(one['failed'])} failed",
                    *listed,
                    *([f"  and {more} more"] if more else []),
                ]
            )
    return [*parts, [f"wrote {one['run']}" for one in systems if one["run"]]]


def _cells(one: Mapping[str, Any], texts: Iterable[str]) -> list[str]:
    found = []
    for text in texts:
        mean = one["measures"][text]
        found += [f"{mean['mean']:.4f}", f"[{mean['low']:.4f}, {mean['high']:.4f}]"]
    latency = one["latency"]
    times = [
        "-" if latency[name] is None else f"{latency[name] * 1000:.1f} ms"
        for name in ("p50", "p95", "p99")
    ]
    return [
        one["name"],
        *found,
        str(one["queries"]),
        str(len(one["failed"])),
        str(one["empty"]),
        *times,
    ]


def search_json(report: Mapping[str, Any]) -> str:
    r"""Write the report as JSON; null where there is no finite number."""
    return json.dumps(finite(report), indent=1, ensure_ascii=False) + "\n"


def search_rows(report: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    """Write a row for each backend and measure; without judgments, a row for each backend."""
    yield [
        "backend",
        "measure",
        "mean",
        "low",
        "high",
        "queries",
        "answered",
        "failed",
        "empty",
        "p50_s",
        "p95_s",
        "p99_s",
    ]
    for one in report["systems"]:
        counts = [
            one["queries"],
            one["answered"],
            len(one["failed"]),
            one["empty"],
            *one["latency"].values(),
        ]
        for text, mean in (
            one.get("measures") or {"": {"mean": None, "low": None, "high": None}}
        ).items():
            yield [
                csv_cell(finite(cell))
                for cell in (one["name"], text, mean["mean"], mean["low"], mean["high"], *counts)
            ]
