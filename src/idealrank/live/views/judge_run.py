"""The report of `idealrank judge run`: grades, failures, cost and agreement of one judge."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from idealrank.reports.table.records import csv_cell, json_text
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
    from_cache = report["requests"] - report["asked"]
    row = [report["judge"], *(str(report[name]) for name in counts), str(from_cache)]
    parts: list[Part] = [columns([title, row], ranks=(0, 0, 0, 2, 2, 0, 1, 3))]
    grades = report["grades"]
    if grades:
        parts.append(columns([["grade", *grades], ["pairs", *map(str, grades.values())]]))

    notes = []
    if report["input_tokens"] or report["output_tokens"]:
        cost = "" if report["cost"] is None else f"; cost {report['cost']:.4g}"
        notes.append(
            f"Tokens: {report['input_tokens']:,} read, {report['output_tokens']:,} written{cost}."
        )
    if report["same_in_all_repeats"] is not None:
        notes.append(
            "The judge gave the same grade in all repeats to "
            f"{100 * report['same_in_all_repeats']:.0f} % of the pairs."
        )
    if report["people"] is not None:
        notes.append(_people(report["people"]))
    if notes:
        parts.append(filled(" ".join(notes)))

    if report["failures"]:
        listed = [f"  {n} x {message}" for message, n in list(report["failures"].items())[:_LISTED]]
        more = len(report["failures"]) - len(listed)
        if more:
            listed.append(f"  and {more} further messages")
        parts.append(["requests without a grade:", *listed])
    return [*parts, [f"wrote {report[name]}" for name in ("qrels", "table") if report[name]]]


def _people(agreement: Mapping[str, Any]) -> str:
    interval = (
        "" if agreement["low"] is None else f" [{agreement['low']:.3f}, {agreement['high']:.3f}]"
    )
    kappa = (
        "" if agreement["kappa"] is None else f", linear kappa {agreement['kappa']:.3f}{interval}"
    )
    pairs = "1 pair" if agreement["pairs"] == 1 else f"{agreement['pairs']} pairs"
    return (
        f"Against the people on {pairs}: {100 * agreement['equal']:.0f} % equal{kappa}, mean "
        f"difference {agreement['bias']:+.2f}."
    )


def judge_run_json(report: Mapping[str, Any]) -> str:
    r"""Write the report as JSON."""
    return json_text(report, indent=1, ascii_only=False)


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
