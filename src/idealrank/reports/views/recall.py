"""Recall of an approximate index as text, JSON and rows."""

import json
from collections.abc import Iterator
from typing import Any

from idealrank.analysis.recall import IndexRecall
from idealrank.data.interchange import finite
from idealrank.reports.table.cells import counted
from idealrank.reports.table.text import Part, columns, filled
from idealrank.stats import Interval

_MISSED = 5  # missed documents of a query that the text lists


def recall_parts(found: IndexRecall, *, worst: int = 10) -> list[Part]:
    """Show recall by cutoff, the loss by measure, and the queries that lose most."""
    percent = f"{100 * found.level:g} % interval"
    parts: list[Part] = [
        [
            f"{found.approximate} against {found.exact}: "
            f"{counted(len(found.queries), 'query', 'queries')}",
            *_lonely(found),
        ]
    ]
    rows = [["", "mean", percent, "5th percentile", "complete", percent]]
    for cutoff in found.cutoffs:
        one = found.summary(cutoff)
        inside = f"[{max(0.0, one.interval.low):.4f}, {min(1.0, one.interval.high):.4f}]"
        low, high = one.complete_interval
        count = f"{one.n_complete} of {len(found.queries)}"
        rows.append(
            [
                f"recall@{cutoff}",
                f"{one.interval.estimate:.4f}",
                inside,
                f"{one.percentile_5:.4f}",
                count,
                f"[{low:.4f}, {high:.4f}]",
            ]
        )
    parts.append(columns(rows))
    if found.losses:
        lost = [["lost", "mean", percent, found.exact, found.approximate]]
        means = [one.mean() for one in found.evaluations]
        for text, interval in found.losses.items():
            inside = f"[{interval.low:.4f}, {interval.high:.4f}]"
            lost.append(
                [text, f"{interval.estimate:.4f}", inside, *(f"{mean[text]:.4f}" for mean in means)]
            )
        parts.append(columns(lost))
        parts.append(filled(f"Under convention {found.evaluations[0].convention}."))
    return [*parts, *_worst(found, worst)]


def _lonely(found: IndexRecall) -> list[str]:
    lines = []
    if found.unanswered:
        lines.append(f"  no answer of {found.approximate}, recall 0: {_some(found.unanswered)}")
    if found.only_approximate:
        lines.append(f"  not in {found.exact}, left out: {_some(found.only_approximate)}")
    return lines


def _some(names: "list[str] | tuple[str, ...]") -> str:
    return ", ".join(names[:_MISSED]) + (
        f" and {len(names) - _MISSED} more" if len(names) > _MISSED else ""
    )


def _worst(found: IndexRecall, number: int) -> list[Part]:
    losing = found.worst(number)
    if not losing:
        return [["no query loses a document"]]
    rows = [["query", *found.losses, *(f"recall@{cutoff}" for cutoff in found.cutoffs), "missed"]]
    for one in losing:
        lost = ["-" if value != value else f"{value:.4f}" for value in one.lost.values()]  # noqa: PLR0124  (NaN)
        rows.append(
            [
                one.query,
                *lost,
                *(f"{value:.4f}" for value in one.recall.values()),
                _some(one.missed),
            ]
        )
    return [["queries that lose most"], columns(rows, left=(0, len(rows[0]) - 1))]


def recall_json(found: IndexRecall, *, worst: int = 10) -> str:
    """Write everything as JSON: means, losses, each query, and the missed documents of those that
    lose most.
    """
    recall: dict[str, Any] = {}
    for cutoff in found.cutoffs:
        one = found.summary(cutoff)
        recall[str(cutoff)] = {
            **_interval(one.interval, "mean"),
            "percentile_5": one.percentile_5,
            "complete": one.n_complete,
            "complete_low": one.complete_interval[0],
            "complete_high": one.complete_interval[1],
        }
    lost = found.lost_per_query()
    report = {
        "exact": found.exact,
        "approximate": found.approximate,
        "level": found.level,
        "queries": len(found.queries),
        "unanswered": found.unanswered,
        "only_approximate": found.only_approximate,
        "recall": recall,
        "lost": {text: _interval(interval, "mean") for text, interval in found.losses.items()},
        "convention": str(found.evaluations[0].convention) if found.evaluations else None,
        "per_query": {
            query: {
                "recall": dict(
                    zip(map(str, found.cutoffs), map(float, found.values[row]), strict=True)
                )
            }
            | (
                {"lost": {text: finite(float(values[row])) for text, values in lost.items()}}
                if lost
                else {}
            )
            for row, query in enumerate(found.queries)
        },
        "worst": [{"query": one.query, "missed": list(one.missed)} for one in found.worst(worst)],
    }
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def _interval(one: Interval, name: str) -> dict[str, Any]:
    return {
        name: finite(float(one.estimate)),
        "low": finite(float(one.low)),
        "high": finite(float(one.high)),
    }


def recall_rows(found: IndexRecall) -> Iterator[list[str]]:
    """Write a row for each query: recall by cutoff, and loss by measure."""
    lost = found.lost_per_query()
    yield [
        "query",
        *(f"recall@{cutoff}" for cutoff in found.cutoffs),
        *(f"lost {text}" for text in lost),
    ]
    for row, query in enumerate(found.queries):
        values = [float(one) for one in found.values[row]] + [
            float(values[row]) for values in lost.values()
        ]
        yield [query, *("" if value != value else repr(value) for value in values)]  # noqa: PLR0124  (NaN)
