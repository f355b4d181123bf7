"""Recall of an approximate index as text, JSON and rows."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from idealrank.analysis.recall import IndexRecall
from idealrank.data.interchange import finite
from idealrank.reports.table.cells import counted
from idealrank.reports.table.records import csv_cell, json_text
from idealrank.reports.table.text import Part, columns, filled
from idealrank.stats import Interval

_SOME = 5  # missed documents of a query, or queries of one index alone, that the text names


def recall_parts(index_recall: IndexRecall, *, worst: int = 10) -> list[Part]:
    """Show recall by cutoff, the loss by measure, and the queries that lose most."""
    queries = counted(len(index_recall.queries), "query", "queries")
    head = f"{index_recall.approximate} against {index_recall.exact}: {queries}"
    parts: list[Part] = [
        [head, *_of_one_index(index_recall)],
        columns(_by_cutoff(index_recall), ranks=(0, 0, 0, 2, 1, 1)),
    ]
    if index_recall.losses:
        parts.append(columns(_by_measure(index_recall)))
        parts.append(filled(f"Under convention {index_recall.evaluations[0].convention}."))
    return [*parts, *_worst(index_recall, worst)]


def _by_cutoff(index_recall: IndexRecall) -> list[list[str]]:
    percent = f"{100 * index_recall.level:g} % interval"
    rows = [["", "mean", percent, "5th percentile", "complete", percent]]
    for cutoff in index_recall.cutoffs:
        summary = index_recall.summary(cutoff)
        mean = summary.interval
        low, high = summary.complete_interval
        rows.append(
            [
                f"recall@{cutoff}",
                f"{mean.estimate:.4f}",
                f"[{max(0.0, mean.low):.4f}, {min(1.0, mean.high):.4f}]",
                f"{summary.percentile_5:.4f}",
                f"{summary.n_complete} of {len(index_recall.queries)}",
                f"[{low:.4f}, {high:.4f}]",
            ]
        )
    return rows


def _by_measure(index_recall: IndexRecall) -> list[list[str]]:
    percent = f"{100 * index_recall.level:g} % interval"
    rows = [["lost", "mean", percent, index_recall.exact, index_recall.approximate]]
    means = [evaluation.mean() for evaluation in index_recall.evaluations]
    for text, loss in index_recall.losses.items():
        interval = f"[{loss.low:.4f}, {loss.high:.4f}]"
        values = [f"{mean[text]:.4f}" for mean in means]
        rows.append([text, f"{loss.estimate:.4f}", interval, *values])
    return rows


def _of_one_index(index_recall: IndexRecall) -> list[str]:
    """Name the queries that only one of the two indexes answers."""
    lines = []
    if index_recall.unanswered:
        lines.append(
            f"  no answer of {index_recall.approximate}, recall 0: {_some(index_recall.unanswered)}"
        )
    if index_recall.only_approximate:
        lines.append(
            f"  not in {index_recall.exact}, left out: {_some(index_recall.only_approximate)}"
        )
    return lines


def _some(names: Sequence[str]) -> str:
    some = ", ".join(names[:_SOME])
    return f"{some} and {len(names) - _SOME} more" if len(names) > _SOME else some


def _worst(index_recall: IndexRecall, number: int) -> list[Part]:
    losing = index_recall.worst(number)
    if not losing:
        return [["no query loses a document"]]
    rows = [
        [
            "query",
            *index_recall.losses,
            *(f"recall@{cutoff}" for cutoff in index_recall.cutoffs),
            "missed",
        ]
    ]
    for loss in losing:
        lost = ["-" if math.isnan(value) else f"{value:.4f}" for value in loss.lost.values()]
        rows.append(
            [
                loss.query,
                *lost,
                *(f"{value:.4f}" for value in loss.recall.values()),
                _some(loss.missed),
            ]
        )
    return [["queries that lose most"], columns(rows, left=(0, len(rows[0]) - 1))]


def recall_json(index_recall: IndexRecall, *, worst: int = 10) -> str:
    """Write everything as JSON: means, losses, each query, and the missed documents of those that
    lose most.
    """
    recall: dict[str, Any] = {}
    for cutoff in index_recall.cutoffs:
        summary = index_recall.summary(cutoff)
        low, high = summary.complete_interval
        recall[str(cutoff)] = {
            **_mean(summary.interval),
            "percentile_5": summary.percentile_5,
            "complete": summary.n_complete,
            "complete_low": low,
            "complete_high": high,
        }
    lost = index_recall.lost_per_query()
    per_query: dict[str, dict[str, Any]] = {}
    for row, query_id in enumerate(index_recall.queries):
        values = map(float, index_recall.values[row])
        by_cutoff = dict(zip(map(str, index_recall.cutoffs), values, strict=True))
        per_query[query_id] = {"recall": by_cutoff}
        if lost:
            by_measure = {text: finite(float(losses[row])) for text, losses in lost.items()}
            per_query[query_id]["lost"] = by_measure

    evaluations = index_recall.evaluations
    losing = index_recall.worst(worst)
    report = {
        "exact": index_recall.exact,
        "approximate": index_recall.approximate,
        "level": index_recall.level,
        "queries": len(index_recall.queries),
        "unanswered": index_recall.unanswered,
        "only_approximate": index_recall.only_approximate,
        "recall": recall,
        "lost": {text: _mean(interval) for text, interval in index_recall.losses.items()},
        "convention": str(evaluations[0].convention) if evaluations else None,
        "per_query": per_query,
        "worst": [{"query": loss.query, "missed": list(loss.missed)} for loss in losing],
    }
    return json_text(report, indent=1, ascii_only=False)


def _mean(interval: Interval) -> dict[str, Any]:
    """Return the record of a mean and its interval."""
    return {
        "mean": finite(float(interval.estimate)),
        "low": finite(float(interval.low)),
        "high": finite(float(interval.high)),
    }


def recall_rows(index_recall: IndexRecall) -> Iterator[list[str]]:
    """Yield a row for each query: recall by cutoff, and loss by measure."""
    lost = index_recall.lost_per_query()
    yield [
        "query",
        *(f"recall@{cutoff}" for cutoff in index_recall.cutoffs),
        *(f"lost {text}" for text in lost),
    ]
    for row, query_id in enumerate(index_recall.queries):
        values = [*index_recall.values[row], *(losses[row] for losses in lost.values())]
        yield [query_id, *(csv_cell(float(value)) for value in values)]
