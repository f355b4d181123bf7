"""The report of `idealrank judge run`: grades, failures, cost and agreement of one judge."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from idealrank.reports.table.records import csv_cell
from idealrank.reports.table.text import Part, columns, filled

_LISTED = 5  # messages of failure that the text lists


def judge_run_parts(report: Mapping[str, Any]) -> list[Part]:
    """Show counts, failures by message, cost and agreement."""
    counts = ("pairs", "graded", "abstained", "unreadable", "failed", "asked")
    title = [
        "judge",
        "pairs",
        "graded",
        "abstained",
        "unreadable",
        "failed",
        "asked now",
        "from cache",
    ]
    parts: list[Part] = [
        columns(
            [
                title,
                [
                    report["judge"],
                    *(str(report[name]) for name in counts),
                    str(report["requests"] - report["asked"]),
                ],
            ]
        )
    ]
    if report["grades"]:
        parts.append(
            columns([["grade", *report["grades"]], ["pairs", *map(str, report["grades"].values())]])
        )
    notes = []
    if report["input_tokens"] or report["output_tokens"]:
        cost = "" if report["cost"] is None else f"; cost {report['cost']:.4g}"
        notes.append(
            f"Tokens: {report['input_tokens']:,} read, {report['output_tokens']:,} written{cost}."
        )
    if report["same_in_all_repeats"] is not None:
        notes.append(
            f"The judge gave the same grade in all repeats to "
            f"{100 * report['same_in_all_repeats']:.0f} % of the pairs."
        )
    if report["people"] is not None:
        notes.append(_people(report["people"]))
    if notes:
        parts.append(filled(" ".join(notes)))
    if report["failures"]:
        listed = [f"  {n} x {message}" for message, n in list(report["failures"].items())[:_LISTED]]
        more = len(report["failures"]) - len(listed)
        parts.append(
            [
                "requests without a grade:",
                *listed,
                *([f"  and {more} further messages"] if more else []),
            ]
        )
    return [*parts, [f"wrote {report[name]}" for name in ("qrels", "table") if report[name]]]


def _people(found: Mapping[str, Any]) -> str:
    interval = "" if found["low"] is None else f" [{found['low']:.3f}, {found['high']:.3f}]"
    kappa = "" if found["kappa"] is None else f", linear kappa {found['kappa']:.3f}{interval}"
    pairs = f"{found['pairs']} pair{'s' * (found['pairs'] != 1)}"
    return (
        f"Against the people on {pairs}: {100 * found['equal']:.0f} % equal{kappa}, mean "
        f"difference {found['bias']:+.2f}."
    )


def judge_run_json(report: Mapping[str, Any]) -> str:
    r"""Write the report as JSON."""
    return json.dumps(report, indent=1, ensure_ascii=False) + "\n"


def judge_run_rows(report: Mapping[str, Any]) -> Iterator[Sequence[str]]:
    """Write one row of counts, cost and agreement."""
    names = (
        "judge",
        "kind",
        "pairs",
        "graded",
        "requests",
        "asked",
        "abstained",
        "unreadable",
        "failed",
        "input_tokens",
        "output_tokens",
        "cost",
        "same_in_all_repeats",
    )
    compared = ("pairs", "equal", "kappa", "low", "high", "bias")
    yield [*names, *(f"people_{name}" for name in compared)]
    people = report["people"] or {}
    values = [*(report[name] for name in names), *(people.get(name) for name in compared)]
    yield [csv_cell(value) for value in values]
