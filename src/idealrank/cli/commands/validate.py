"""`idealrank validate`: list every problem of all files at once."""

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, Literal

import click

from idealrank.cli import headings, options
from idealrank.cli.console import worded
from idealrank.cli.input_options import Inputs, refuse_standard_input_twice
from idealrank.cli.output import Formats
from idealrank.io.complaints import Complaint
from idealrank.io.formats.detection import FORMAT_NAMES
from idealrank.io.lint import Report, lint
from idealrank.io.observations import Observation, observe_qrels, observe_run
from idealrank.io.row_parts import Table
from idealrank.io.table_columns import with_labels
from idealrank.reports.table.cells import counted
from idealrank.reports.table.records import result_json
from idealrank.reports.table.text import printable

# Beyond the examples of a kind: lines whose values are looked at, and values that are listed.
_LOOKED_AT = 20
_VALUES = 4
_WORDS = {"qrels": "judgments", "run": "run"}
_EPILOG = """\
Examples:

\b
  All problems of judgments and two runs, three lines of each kind:
    idealrank validate qrels.txt bm25.run neural.run
\b
  As JSON; the exit code is 2 if a file cannot be evaluated:
    idealrank validate qrels.txt bm25.run --format json
"""


def _lint(paths: Sequence[str], table: Table, inputs: Inputs, qrels: str, examples: int) -> Report:
    labels = None if qrels == "-" else qrels
    return lint(
        paths,
        table,
        format=inputs.format_of(table),
        columns=with_labels(inputs.columns_of(table), inputs.labels),
        labels=labels,
        group=inputs.group,
        examples=examples,
    )


def _observe(reports: Sequence[Report], examples: int) -> list[list[Observation]]:
    """Observe each collection: the judgments alone, each run together with them."""
    qrels = reports[0].qrels
    if qrels is None:
        return [[] for _ in reports]
    runs = [report.run for report in reports[1:]]
    return [
        observe_qrels(qrels, examples),
        *(observe_run(qrels, run, examples) if run else [] for run in runs),
    ]


def _errors(reports: Sequence[Report], observations: Sequence[Sequence[Observation]]) -> int:
    in_lines = sum(report.n_errors for report in reports)
    return in_lines + _count(observations, "error")


def _warnings(reports: Sequence[Report], observations: Sequence[Sequence[Observation]]) -> int:
    in_lines = sum(report.n_warnings for report in reports)
    return in_lines + _count(observations, "warning")


def _count(
    observations: Sequence[Sequence[Observation]], severity: Literal["error", "warning"]
) -> int:
    severities = [observation.severity for observation in chain.from_iterable(observations)]
    return severities.count(severity)


def _text(
    reports: Sequence[Report], observations: Sequence[Sequence[Observation]], examples: int
) -> Iterator[str]:
    """Yield lines such as compilers print, which editors can follow: ``file:line: error: ...``."""
    for report, observed in zip(reports, observations, strict=True):
        name = ", ".join(report.paths)
        lines = [
            *_lines(report, examples),
            *(f"{name}: {observation.severity}: {observation}" for observation in observed),
        ]
        is_unread = report.run is None or reports[0].qrels is None
        if report.table == "run" and not report.failure and is_unread:
            lines.append(f"{name}: not compared with the judgments before its errors are fixed")
        content = _WORDS[report.table]
        if report.format:
            content += f", {FORMAT_NAMES[report.format]}"
        yield f"{printable(name)}: {content}{'' if lines else ': no problems'}\n"
        yield from (f"{printable(line)}\n" for line in lines)
        yield "\n"
    errors = _errors(reports, observations)
    warnings = _warnings(reports, observations)
    verdict = "not all files can be evaluated" if errors else "all files can be evaluated"
    yield f"{counted(errors, 'error')}, {counted(warnings, 'warning')}: {verdict}\n"


def _lines(report: Report, examples: int) -> Iterator[str]:
    """Yield the problems of the lines of one collection, kind after kind, errors first."""
    yield from (_labelled("note", note) for note in report.notes)
    if report.failure:
        yield _labelled("error", report.failure)
    yield from (_labelled("warning", doubt) for doubt in report.doubts)
    for kind in _kinds(report):
        problems = report.problems
        severity = report.problems.severities[kind]
        shown = problems.examples[kind][:examples]
        further = problems.examples[kind][examples:]
        yield from (
            f"{complaint.place}: {severity}: {worded(complaint.said)}" for complaint in shown
        )
        n_more = problems.counts[kind] - len(shown)
        if n_more:
            like = "more like this" if shown else f"of kind {kind}"
            values = _values(further) if kind == "number" else ""
            yield f"{', '.join(report.paths)}: {severity}: {n_more:,} {like}{values}"


def _values(complaints: Sequence[Complaint]) -> str:
    """List a few values of further lines, each once."""
    quoted = (re.match(r'"(?:[^"\\]|\\.)*"', complaint.found) for complaint in complaints)
    values = list(dict.fromkeys(match.group() for match in quoted if match is not None))
    return f": {', '.join(values[:_VALUES])}" if values else ""


def _labelled(label: str, message: str) -> str:
    """Put a label behind the place with which a message begins."""
    place, _, words = worded(message).partition(": ")
    return f"{place}: {label}: {words}"


def _kinds(report: Report) -> list[str]:
    return sorted(report.problems.counts, key=lambda kind: report.problems.severities[kind])


def _json(
    reports: Sequence[Report], observations: Sequence[Sequence[Observation]], examples: int
) -> str:
    files = [
        _file(report, observed, examples)
        for report, observed in zip(reports, observations, strict=True)
    ]
    errors = _errors(reports, observations)
    warnings = _warnings(reports, observations)
    document = {
        "errors": errors,
        "warnings": warnings,
        "files": files,
    }
    return result_json(document)


def _file(report: Report, observed: Sequence[Observation], examples: int) -> dict[str, Any]:
    return {
        "paths": report.paths,
        "kind": report.table,
        "format": report.format or None,
        "failure": worded(report.failure) or None,
        "notes": list(map(worded, report.notes)),
        "doubts": list(map(worded, report.doubts)),
        "problems": [_problem(report, kind, examples) for kind in _kinds(report)],
        "observations": [_observation(observation) for observation in observed],
    }


def _problem(report: Report, kind: str, examples: int) -> dict[str, Any]:
    complaints = report.problems.examples[kind][:examples]
    return {
        "kind": kind,
        "severity": report.problems.severities[kind],
        "count": report.problems.counts[kind],
        "examples": [_example(complaint) for complaint in complaints],
    }


def _observation(observation: Observation) -> dict[str, Any]:
    return {
        "kind": observation.kind,
        "severity": observation.severity,
        "count": observation.count,
        "message": observation.message,
        "examples": observation.examples,
    }


def _example(complaint: Complaint) -> dict[str, Any]:
    return {
        "path": complaint.path,
        "line": complaint.line or None,
        "found": complaint.found,
        "expected": complaint.expected,
        "hint": complaint.command_hint or complaint.hint or None,
    }


_FORMATS = Formats("Text to read,", table=_text, json=_json)


@headings.command(
    epilog=_EPILOG, short_help="Check judgment and run files, and list every problem."
)
@click.argument("qrels")
@click.argument("runs", metavar="[RUN...]", nargs=-1)
@click.option(
    "--show",
    "examples",
    metavar="N",
    type=click.IntRange(min=0),
    default=3,
    show_default=True,
    help="Number of lines shown for each kind of problem.",
)
@_FORMATS.option
@options.inputs
def validate(
    *, qrels: str, runs: tuple[str, ...], examples: int, layout: str, inputs: Inputs
) -> None:
    """Check judgment and run files, and list every problem.

    Each file is checked line by line. Then runs are checked against the judgments: queries and
    documents that never meet, grades and scores without effect. The exit code is 2 if something
    cannot be evaluated, else 0.
    """
    refuse_standard_input_twice(qrels, *inputs.more_qrels, *runs)
    reports = [_lint((qrels, *inputs.more_qrels), "qrels", inputs, qrels, examples + _LOOKED_AT)]
    reports += [_lint((run,), "run", inputs, qrels, examples + _LOOKED_AT) for run in runs]
    observations = _observe(reports, examples)
    _FORMATS.write(layout, None, reports, observations, examples)
    if _errors(reports, observations):
        click.get_current_context().exit(2)
