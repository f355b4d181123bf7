"""The report of `idealrank search`: quality, latency and failures of each backend."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from idealrank.data.interchange import finite
from idealrank.reports.table.records import csv_cell, json_text
from idealrank.reports.table.text import Part, beginning_of, columns, filled

_LISTED = 10  # failed queries that the text lists
_TEXT = 60  # letters of a query that failed


def search_parts(
    report: Mapping[str, Any], *, query_texts: Mapping[str, str] = MappingProxyType({})
) -> list[Part]:
    """Show each backend in a line, and the failed queries with their texts."""
    systems: Sequence[Mapping[str, Any]] = report["systems"]
    texts = list(dict.fromkeys(text for system in systems for text in system.get("measures", {})))
    title = [
        "backend",
        *(word for text in texts for word in (text, "95 % interval")),
        *([_unjudged_title(systems)] if texts else []),
        "queries",
        "failed",
        "empty",
        "p50",
        "p95",
        "p99",
    ]
    rows = [title, *(_cells(system, texts) for system in systems)]
    ranks = [0, *([0, 1] * len(texts)), *([0] if texts else []), 3, 0, 4, 6, 5, 6]
    parts: list[Part] = [columns(rows, ranks=ranks)]
    if texts:
        parts.append(
            filled(
                f"Under convention {systems[0]['convention']}; a query that failed has no "
                "documents, and counts as missing."
            )
        )
    for system in systems:
        if system["failed"]:
            listed = [
                f"  {query}{_quoted(query_texts.get(query, ''))}: {message}"
                for query, message in list(system["failed"].items())[:_LISTED]
            ]
            n_more = len(system["failed"]) - len(listed)
            if n_more:
                listed.append(f"  and {n_more} more")
            parts.append([f"{system['name']}: {len(system['failed'])} failed", *listed])
    wrote = [f"wrote {system['run']}" for system in systems if system["run"]]
    wrote += [
        f"wrote {system['documents']}, titles for --documents"
        for system in systems
        if "documents" in system
    ]
    return [*parts, wrote]


def _quoted(text: str) -> str:
    return f' "{beginning_of(text, _TEXT)}"' if text else ""


def _unjudged_title(systems: Sequence[Mapping[str, Any]]) -> str:
    """Title of the share of unjudged documents, with the ranks that it looks at."""
    cutoff = next((system["unjudged"]["cutoff"] for system in systems if "unjudged" in system), 0)
    return f"unjudged@{cutoff}" if cutoff else "unjudged"


def _cells(system: Mapping[str, Any], texts: Iterable[str]) -> list[str]:
    means = []
    for text in texts:
        mean = system["measures"][text]
        means += [f"{mean['mean']:.4f}", f"[{mean['low']:.4f}, {mean['high']:.4f}]"]
    latency = system["latency"]
    times = [
        "-" if latency[name] is None else f"{latency[name] * 1000:.1f} ms"
        for name in ("p50", "p95", "p99")
    ]
    return [
        system["name"],
        *means,
        *([f"{system['unjudged']['share']:.1%}"] if "unjudged" in system else []),
        str(system["queries"]),
        str(len(system["failed"])),
        str(system["empty"]),
        *times,
    ]


def search_json(report: Mapping[str, Any]) -> str:
    r"""Write the report as JSON; null where there is no finite number."""
    return json_text(report, indent=1, ascii_only=False)


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
        "unjudged",
    ]
    for system in report["systems"]:
        counts = [
            system["queries"],
            system["answered"],
            len(system["failed"]),
            system["empty"],
            *system["latency"].values(),
            system.get("unjudged", {}).get("share"),
        ]
        without = {"": {"mean": None, "low": None, "high": None}}
        for text, mean in (system.get("measures") or without).items():
            row = [system["name"], text, mean["mean"], mean["low"], mean["high"], *counts]
            yield [csv_cell(finite(cell)) for cell in row]
