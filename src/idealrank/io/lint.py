"""Every problem of one collection at once, whatever its format."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from idealrank import _kernel
from idealrank.data.problems import describe, quoted, translate
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run, name_of
from idealrank.errors import IdealrankError
from idealrank.io.complaints import Complaint, ComplaintCounts, Notes, Severity
from idealrank.io.formats.detection import Format
from idealrank.io.formats.trec import judged_by_group, refuse_swapped
from idealrank.io.read import common_format, read_part
from idealrank.io.row_parts import Blocks, Rows, Table, complain_of_duplicates, to_qrels, to_run
from idealrank.io.sources import AnyPath, Source, open_sources
from idealrank.io.table_columns import Columns

# Kinds of the kernel that stop a reader; an infinite grade and a file without judgments stop it
# too, an infinite score does not.
_RUN_ERRORS = {"fields", "number", "nan", "control", "too-long", "duplicate"}
_ERRORS = {"qrels": _RUN_ERRORS | {"infinite", "no-data"}, "run": _RUN_ERRORS}


@dataclass(kw_only=True)
class Report:
    """Problems in the files of one collection."""

    paths: list[str]  # As typed
    table: Table  # What they should hold
    format: Format | Literal[""] = ""  # What they were read as; empty if they could not be opened
    problems: ComplaintCounts = field(default_factory=ComplaintCounts)  # By kind, with examples
    failure: str = ""  # Why nothing could be read at all; empty otherwise
    # notes, doubts: What was guessed; and what might have been guessed wrong, which counts as
    # warnings
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)
    # qrels, run: The data, if there is no error, or none but documents that come twice (the first
    # of them counts here)
    qrels: Qrels | None = None
    run: Run | None = None

    @property
    def n_errors(self) -> int:
        """Number of problems that keep the data from being evaluated."""
        return self.problems.n_errors + bool(self.failure)

    @property
    def n_warnings(self) -> int:
        """Number of problems that do not keep the data from being evaluated."""
        return sum(self.problems.counts.values()) - self.problems.n_errors + len(self.doubts)


def lint(
    paths: Sequence[AnyPath],
    table: Table,
    *,
    format: str = "auto",  # noqa: A002  (as in `read_qrels`)
    columns: Columns = None,
    labels: AnyPath | None = None,
    group: AnyPath | None = None,
    examples: int = 3,
) -> Report:
    r"""Look for every problem of one collection."""
    report = Report(
        paths=[str(path) for path in paths], table=table, problems=ComplaintCounts(examples)
    )
    notes = Notes(report.notes.append, report.doubts.append)
    try:
        sources = open_sources(paths, notes)
        kind = common_format(sources, format, notes)
        report.format = kind
        if kind == "trec":
            _lint_text(sources, report, examples)
        else:
            parts = [
                read_part(
                    source=source,
                    table=table,
                    kind=kind,
                    columns=columns,
                    notes=notes,
                    complain=report.problems,
                    labels=labels,
                    group=group,
                )
                for source in sources
            ]
            _lint_parts(parts, report)
    except IdealrankError as error:
        report.failure = error.kept()
    except _kernel.ParseError as error:  # a file that became shorter meanwhile
        report.failure = translate(error, report.paths, table).kept()
    return report


def _lint_text(sources: Sequence[Source], report: Report, examples: int) -> None:
    refuse_swapped(sources, report.table)
    text = _kernel.Text([source.data for source in sources], report.table)
    problems = _kernel.lint_text(text, examples=examples)
    errors = _ERRORS[report.table]
    has_bad_lines = any(kind in errors and kind != "no-data" for kind, _, _ in problems)
    for kind, count, kind_examples in problems:
        if kind == "no-data" and has_bad_lines:  # there are lines, each of which has its error
            continue
        severity: Severity = "error" if kind in errors else "warning"
        complaints = [
            _by_group(sources, kind, example, report) or _complaint(kind, report, example, severity)
            for example in kind_examples
        ]
        if kind == "no-data":
            complaints = [_no_data(report)]
        report.problems.add(kind, count, complaints, severity)
    if not set(report.problems.counts) & (errors - {"duplicate"}):
        if report.table == "run":
            report.run = Run.from_text(text, name=name_of(report.paths[0]), paths=report.paths)
        else:
            report.qrels = Qrels.from_table(
                _kernel.read_text(text, duplicates="first"),
                name=report.paths[0],
                paths=report.paths,
            )


def _by_group(
    sources: Sequence[Source], kind: str, example: tuple[int, int, bytes, bytes], report: Report
) -> Complaint | None:
    """Return the complaint about judgments by sub-topic or assessor, which are no repetition."""
    source, line, _, detail = example
    if report.table == "run":
        return None
    return judged_by_group(sources, source, line, detail, kind=kind)


def _complaint(
    kind: str, report: Report, example: tuple[int, int, bytes, bytes], severity: Severity
) -> Complaint:
    source, line, text, detail = example
    path = report.paths[source]
    shown_line = quoted(text)
    described = describe(kind, text, detail, report.table)
    scores_decide = "ranks are ignored, scores decide"
    words: dict[str, tuple[str, str, str]] = {
        "comment-like-data": (
            f"a comment that looks like data in {shown_line}",
            "only comments after '#'",
            "put a blank before the '#' if the line is data",
        ),
        "utf8": (f"an id that is not UTF-8 in {shown_line}", "UTF-8", "its bytes are kept"),
        "rank": (f"rank {quoted(detail)} in {shown_line}", "a whole number", scores_decide),
        "rank-order": (
            f"a rank that contradicts the order of the scores in {shown_line}",
            "ranks that rise as scores fall",
            scores_decide,
        ),
    }
    if kind in ("scattered", "duplicate"):
        earlier = _earlier(detail, report, path)
        words["scattered"] = (
            f"a repeated query, which began on {earlier}, in {shown_line}",
            "adjacent lines of a query",
            "its lines are merged",
        )
        _, expected, hint = described
        problem = f"a document again, first on {earlier}, in {shown_line}"
        words["duplicate"] = (problem, expected, hint)
    if report.table == "run":
        words["infinite"] = (
            f"score {quoted(detail)} in {shown_line}",
            "a finite score",
            "it ranks above or below all other scores",
        )
    return Complaint(kind, path, line, *words.get(kind, described), severity)


def _earlier(detail: bytes, report: Report, path: str) -> str:
    """Write the place of an earlier line, which the kernel gives as ``SOURCE:LINE``."""
    source, _, line = detail.decode().partition(":")
    other = report.paths[int(source)]
    return f"line {line}" if other == path else f"line {line} of {other}"


def _no_data(report: Report) -> Complaint:
    is_run = report.table == "run"
    return Complaint(
        kind="no-data",
        path=", ".join(report.paths),
        line=0,
        found="no results" if is_run else "no judgments",
        expected="at least one",
        severity="warning" if is_run else "error",
    )


def _lint_parts(parts: Sequence[Rows | Blocks], report: Report) -> None:
    problems = report.problems
    is_readable = not problems.counts  # whatever comes twice or is odd, which is looked for below
    complain_of_duplicates(parts, report.table, problems)
    for part in parts:
        _warn_of_oddities(part, report)
    if not is_readable:
        return
    sizes = [len(part.values) if isinstance(part, Rows) else len(part.blocks) for part in parts]
    if not any(sizes):
        problems(_no_data(report))
    if report.table == "run":
        report.run = to_run(parts, report.paths, name_of(report.paths[0]))
    elif any(sizes):
        report.qrels = to_qrels(parts, report.paths, "first")


def _warn_of_oddities(part: Rows | Blocks, report: Report) -> None:
    """Warn of infinite scores, and of ids that are not UTF-8."""
    if isinstance(part, Blocks):
        for block in part.blocks:
            if any(math.isinf(value) for value in block.values):
                report.problems(
                    Complaint(
                        "infinite",
                        *block.place,
                        "an infinite score",
                        "finite scores",
                        severity="warning",
                    )
                )
        return
    for row in np.flatnonzero(np.isinf(part.values)).tolist():
        report.problems(
            Complaint(
                "infinite",
                *part.place(row),
                f"score {part.values[row]}",
                "a finite score",
                severity="warning",
            )
        )
    for ids in (part.queries, part.documents):
        for row in ids.not_utf8():
            problem = f"an id that is not UTF-8, {quoted(ids.bytes_at(row))}"
            report.problems(
                Complaint("utf8", *part.place(row), problem, "UTF-8", severity="warning")
            )
