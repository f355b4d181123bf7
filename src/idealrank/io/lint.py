"""Every problem of one collection at once, whatever its format, and problems between judgments and
a run: queries and documents that never meet, grades and scores without effect.
"""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import unquote

import numpy as np

from idealrank import _kernel
from idealrank.data.problems import describe, quoted, translate
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run, name_of
from idealrank.data.types import IntArray, decode_id
from idealrank.errors import IdealrankError, shown
from idealrank.evaluation.coverage import (
    look_like_grades,
    look_like_scores,
    no_common_query_words,
    no_judged_document_words,
    without_relevant_words,
)
from idealrank.io.complaints import Complaint, ComplaintCounts, Notes, Severity
from idealrank.io.formats.detection import Format
from idealrank.io.formats.trec import refuse_swapped
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
    bad = any(kind in errors and kind != "no-data" for kind, _, _ in problems)
    for kind, count, kind_examples in problems:
        if kind == "no-data" and bad:  # there are lines, each of which has its error
            continue
        severity: Severity = "error" if kind in errors else "warning"
        complaints = [_complaint(kind, report, example, severity) for example in kind_examples]
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


def _complaint(
    kind: str, report: Report, example: tuple[int, int, bytes, bytes], severity: Severity
) -> Complaint:
    source, line, text, detail = example
    path = report.paths[source]
    shown = quoted(text)
    described = describe(kind, text, detail, report.table)
    scores_decide = "ranks are ignored, scores decide"
    words: dict[str, tuple[str, str, str]] = {
        "comment-like-data": (
            f"a comment that looks like data in {shown}",
            "only comments after '#'",
            "put a blank before the '#' if the line is data",
        ),
        "utf8": (f"an id that is not UTF-8 in {shown}", "UTF-8", "its bytes are kept"),
        "rank": (f"rank {quoted(detail)} in {shown}", "a whole number", scores_decide),
        "rank-order": (
            f"a rank that contradicts the order of the scores in {shown}",
            "ranks that rise as scores fall",
            scores_decide,
        ),
    }
    if kind in ("scattered", "duplicate"):
        earlier = _earlier(detail, report, path)
        words["scattered"] = (
            f"a repeated query, which began on {earlier}, in {shown}",
            "adjacent lines of a query",
            "its lines are merged",
        )
        words["duplicate"] = (f"a document again, first on {earlier}, in {shown}", *described[1:])
    if report.table == "run":
        words["infinite"] = (
            f"score {quoted(detail)} in {shown}",
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
    what = "judgments" if report.table == "qrels" else "results"
    severity: Severity = "error" if report.table == "qrels" else "warning"
    return Complaint(
        kind="no-data",
        path=", ".join(report.paths),
        line=0,
        found=f"no {what}",
        expected="at least one",
        severity=severity,
    )


def _lint_parts(parts: Sequence[Rows | Blocks], report: Report) -> None:
    problems, table = report.problems, report.table
    readable = not problems.counts
    complain_of_duplicates(parts, table, problems)
    for part in parts:
        _wonder_at(part, report)
    sizes = [len(part.values) if isinstance(part, Rows) else len(part.blocks) for part in parts]
    if not any(sizes):
        if readable:
            problems(_no_data(report))
        readable = readable and table == "run"
    if readable and table == "run":
        report.run = to_run(parts, report.paths, name_of(report.paths[0]))
    elif readable:
        report.qrels = to_qrels(parts, report.paths, "first")


def _wonder_at(part: Rows | Blocks, report: Report) -> None:
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


_FILE_ENDING = re.compile(r"\.(?:txt|html?|xml|json|pdf|md)\Z", re.IGNORECASE)
# What differs -> how to take the difference away. Tried in this order: the smallest change that
# joins something is the suspicion.
_CHANGES: dict[str, Callable[[str], str]] = {
    "blanks at the ends": str.strip,
    "invisible characters": lambda text: re.sub(r"[\ufeff\u200b-\u200f\u00ad]", "", text),
    "upper and lower case": str.casefold,
    "quotation marks": lambda text: text.strip("'\"`"),
    "the form of Unicode (composed or not)": lambda text: unicodedata.normalize("NFC", text),
    "percent-encoding": unquote,
    "a decimal point (numbers written as 7.0)": lambda text: re.sub(r"\A(\d+)\.0+\Z", r"\1", text),
    "leading zeros": lambda text: re.sub(r"\A0+(?=\d)", "", text),
    "a file ending": lambda text: _FILE_ENDING.sub("", text),
    "a leading folder": lambda text: text.rstrip("/").rpartition("/")[2],
    "a prefix before the number": lambda text: re.sub(r"\A\D+(?=\d+\Z)", "", text),
    "a prefix and zeros before the number": lambda text: re.sub(r"\A\D*0*(?=\d+\Z)", "", text),
    "the part after a separator": lambda text: re.split(r"[-_:#]", text)[0],
}
# Ids of one side must lack what is taken away from the other: SKU-1 and SKU-2 are two products, and
# chunk d1#2 is of document d1.
_LACKED_BY_ONE = frozenset({"the part after a separator"})


@dataclass(frozen=True, kw_only=True)
class Resemblance:
    """A suspicion why the ids of two sides do not match."""

    difference: str  # What differs, in words
    # left, right: A pair that would meet without it
    left: str
    right: str
    count: int  # How many ids of the left side would


def resemblance(left: Iterable[str], right: Iterable[str]) -> Resemblance | None:
    """Find a change of spelling under which ids of both sides meet."""
    left = list(dict.fromkeys(left))
    right = list(dict.fromkeys(right))
    for difference, change in _CHANGES.items():
        # in reverse, so that the first of the ids that become the same is kept
        changed = {change(text): text for text in reversed(right)}
        changed.pop("", None)
        meeting = [
            text for text in left if change(text) in changed and changed[change(text)] != text
        ]
        if difference in _LACKED_BY_ONE:
            meeting = [text for text in meeting if change(text) in (text, changed[change(text)])]
        if meeting:
            return Resemblance(
                difference=difference,
                left=meeting[0],
                right=changed[change(meeting[0])],
                count=len(meeting),
            )
    return None


# Enough queries and ids to see in which way they differ.
_SAMPLED_QUERIES = 3
_SAMPLED_IDS = 5000


@dataclass(frozen=True, kw_only=True)
class Observation:
    """Something that judgments and run show only together."""

    kind: str  # Short name
    count: int  # Queries (or documents) concerned
    message: str  # In words
    examples: tuple[str, ...] = ()  # The first of them
    severity: Severity = "warning"  # An error if no number could mean anything

    def __str__(self) -> str:
        shown = ", ".join(self.examples)
        more = ", ..." if self.examples and self.count > len(self.examples) else ""
        return self.message + (f": {shown}{more}" if shown else "")


def observe_qrels(qrels: Qrels, examples: int = 3) -> list[Observation]:
    """Observe queries whose judgments cannot tell one ranking from another, and negative grades."""
    observations = []
    n = qrels.n_queries
    judged = np.flatnonzero(np.diff(qrels.offsets))
    highest = (
        np.maximum.reduceat(qrels.grades, qrels.offsets[judged]) if judged.size else np.zeros(0)
    )
    negative, zero = judged[highest < 0], judged[highest == 0]
    for kind, query_numbers, message in (
        ("negative", negative, f"{negative.size} of {n} queries have negative grades alone"),
        ("no-relevant", zero, without_relevant_words(zero.size, n)),
    ):
        if query_numbers.size:
            judged_id = qrels.queries.__getitem__
            observations.append(_observation(kind, query_numbers, message, judged_id, examples))
    below = int(np.count_nonzero(qrels.grades < 0))
    if below:
        choices = "negative=zero, kept, removed or error"
        message = (
            f"{below} of {qrels.n_judgments} grades are negative; the convention decides their "
            f"value ({choices})"
        )
        observations.append(Observation(kind="negative-grades", count=below, message=message))
    return observations


def observe_run(qrels: Qrels, run: Run, examples: int = 3) -> list[Observation]:
    """List what does not match between judgments and run, and scores that leave the order to
    chance.
    """
    aligned = _kernel.align(qrels.table, run.source, ties="input", duplicates="twice")
    # with scores in single precision, in which more of them tie
    single = _kernel.align(qrels.table, run.source, ties="input", duplicates="twice", float32=True)
    observations = [
        *_queries_that_do_not_meet(qrels, aligned, examples),
        *_documents_that_do_not_meet(qrels, run, aligned, examples),
    ]
    return [*observations, *_scores(qrels, aligned, single, examples), *_swapped(qrels, run)]


def _swapped(qrels: Qrels, run: Run) -> Iterable[Observation]:
    """Observe fractions as grades together with few small whole numbers as scores."""
    table = run.source
    if (
        isinstance(table, _kernel.Table)
        and look_like_scores(qrels.grades)
        and look_like_grades(table.values, table.offsets)
    ):
        message = (
            "scores are a few small integers, and grades many fractions: are the files swapped? "
            "judgments come first"
        )
        yield Observation(kind="swapped", count=table.n_queries, message=message)


def _observation(
    kind: str,
    query_numbers: IntArray,
    message: str,
    name: Any,
    examples: int,
    severity: Severity = "warning",
) -> Observation:
    names = tuple(name(int(query)) for query in query_numbers[:examples])
    return Observation(
        kind=kind, count=int(query_numbers.size), message=message, examples=names, severity=severity
    )


def _queries_that_do_not_meet(
    qrels: Qrels, aligned: _kernel.Aligned, examples: int
) -> Iterable[Observation]:
    n = aligned.n_qrels_queries
    missing = np.flatnonzero(~aligned.in_run[:n])
    extra = [decode_id(query) for query in aligned.run_only_ids()]
    unanswered = [qrels.queries[int(query)] for query in missing[:_SAMPLED_IDS]]
    alike = resemblance(unanswered, extra[:_SAMPLED_IDS])
    hint = "; ids differ by " + _described(alike, "judged", "answered") if alike else ""
    judged_id = qrels.queries.__getitem__
    if missing.size == n and extra:
        hint = hint or _unlike(unanswered, "judged", extra, "answered")
        yield _observation(
            kind="no-common-query",
            query_numbers=missing,
            message=no_common_query_words(n) + hint,
            name=judged_id,
            examples=examples,
            severity="error",
        )
    elif missing.size:
        yield _observation(
            "missing",
            missing,
            f"{missing.size} of {n} judged queries are not in the run{hint}",
            judged_id,
            examples,
        )
    if extra:
        answered = int(np.count_nonzero(aligned.in_run))
        message = f"{len(extra)} of {answered} queries of the run have no judgments"
        numbers = np.arange(len(extra))
        yield _observation("without-judgments", numbers, message, extra.__getitem__, examples)


def _described(alike: Resemblance, left: str, right: str) -> str:
    return f'{alike.difference} ("{alike.left}" {left}, "{alike.right}" {right})'


def _unlike(left: Sequence[str], left_word: str, right: Sequence[str], right_word: str) -> str:
    """Give an id of each side as an example, where no change of spelling joins the sides."""
    if not left or not right:
        return ""
    return f'; such as "{shown(left[0])}" {left_word}, "{shown(right[0])}" {right_word}'


def _documents_that_do_not_meet(
    qrels: Qrels, run: Run, aligned: _kernel.Aligned, examples: int
) -> Iterable[Observation]:
    n = aligned.n_qrels_queries
    answered = aligned.in_run[:n] & (aligned.returned[:n] > 0)
    alone = np.flatnonzero(answered & (aligned.judged[:n] == 0))
    empty = np.flatnonzero(aligned.in_run[:n] & (aligned.returned[:n] == 0))
    judged_id = qrels.queries.__getitem__
    if empty.size:
        yield _observation(
            "empty-list",
            empty,
            f"{empty.size} of {n} judged queries have an empty list in the run",
            judged_id,
            examples,
        )
    if not alone.size:
        return
    judged, listed = _sampled_documents(qrels, run, alone[:_SAMPLED_QUERIES])
    alike = resemblance(judged, listed)
    hint = "; ids differ by " + _described(alike, "judged", "listed") if alike else ""
    total = int(np.count_nonzero(answered))
    if alone.size == total and not alike:
        hint = _unlike(judged, "judged", listed, "listed")
    severity: Severity = "error" if alone.size == total and alike else "warning"
    message = no_judged_document_words(alone.size, total) + hint
    yield _observation(
        kind="no-judged-document",
        query_numbers=alone,
        message=message,
        name=judged_id,
        examples=examples,
        severity=severity,
    )


def _sampled_documents(
    qrels: Qrels, run: Run, queries: IntArray
) -> tuple[Sequence[str], Sequence[str]]:
    judged: list[str] = []
    listed: list[str] = []
    for query in map(int, queries):
        rows = np.arange(qrels.offsets[query], qrels.offsets[query + 1])[:_SAMPLED_IDS]
        judged += [decode_id(document) for document in qrels.table.document_ids(rows)]
        source = run.source
        wanted = qrels.table.query_id(query)
        if isinstance(source, _kernel.Text):
            source = _kernel.read_text(source, duplicates="keep", only_query=wanted)
        place = source.find_query(wanted)
        rows_of_run = np.arange(source.offsets[place], source.offsets[place + 1])[:_SAMPLED_IDS]
        listed += [decode_id(document) for document in source.document_ids(rows_of_run)]
    return judged, listed


def _scores(
    qrels: Qrels, aligned: _kernel.Aligned, single: _kernel.Aligned, examples: int
) -> Iterable[Observation]:
    extra = [decode_id(query) for query in aligned.run_only_ids()]

    def name(query: int) -> str:
        return qrels.queries[query] if query < qrels.n_queries else extra[query - qrels.n_queries]

    answered = int(np.count_nonzero(aligned.in_run))
    constant = _constant(aligned)
    if constant.size:
        message = (
            f"{constant.size} of {answered} queries have one score for all documents; only the "
            f"tie rule orders them"
        )
        yield _observation("constant-scores", constant, message, name, examples)
    merged = int(single.tied.sum()) - int(aligned.tied.sum())
    if merged > 0:
        where = np.flatnonzero(single.tied > aligned.tied)
        message = (
            f"{where.size} of {answered} queries have scores that differ only in double "
            f"precision; they tie under conventions with float32"
        )
        yield _observation("single-precision-ties", where, message, name, examples)


def _constant(aligned: _kernel.Aligned) -> IntArray:
    """Queries in which one tie group is the whole list. Queries without a judged document have no
    tie groups here, and do not matter.
    """
    if aligned.tie_first.size == 0:
        return np.zeros(0, np.int64)
    query = np.repeat(np.arange(aligned.n_queries), np.diff(aligned.hit_offsets))
    whole = (
        (aligned.tie_first == 1)
        & (aligned.tie_last == aligned.length[query])
        & (aligned.tie_last > 1)
    )
    return np.unique(query[whole])
