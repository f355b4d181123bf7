"""Preferences, and judgments of several assessors, from text files in trec_eval's layouts.

Lines are taken apart by the rules of qrels: blanks and tabs separate, a line with exactly one tab
between any two fields is separated by those tabs alone, ``#`` in column 0 makes a comment, and
blank lines say nothing.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NoReturn, TypeAlias

import numpy as np

from idealrank.data.assessors import AssessorQrels, JudgmentColumns
from idealrank.data.preference_qrels import PreferenceQrels
from idealrank.data.problems import quoted
from idealrank.data.types import decode_id
from idealrank.errors import InputError, OptionError
from idealrank.io.checked_cells import parse_number
from idealrank.io.complaints import Complain, Complaint, Notes, Tell, refuse
from idealrank.io.formats.detection import sniff
from idealrank.io.judgment_rows import JudgmentRow, JudgmentSheet, SeenPairs
from idealrank.io.label_grades import checked_labels
from idealrank.io.sources import BYTE_ORDER_MARK, Data, Paths, Source, open_sources

PreferenceLayout: TypeAlias = Literal["prefs", "qrels"]

_PREFERENCES = ("QUERY", "GROUP", "SUBGROUP", "DOCUMENT", "LEVEL")
_GRADES = ("QUERY", "GROUP", "DOCUMENT", "GRADE")
_RUN_FIELDS = 6
TABLES = ("csv", "tsv", "jsonl", "parquet", "arrow")
"""Formats of tables with a column of assessors."""


def read_preferences(
    path: Paths, *, layout: PreferenceLayout = "prefs", tell: Tell | None = None
) -> PreferenceQrels:
    r"""Read preference judgments.

    trec_eval's ``-R prefs FILE`` corresponds to ``read_preferences(FILE)``, and ``-R qrels_prefs
    FILE`` to ``read_preferences(FILE, layout="qrels")``; both return a table that `evaluate`
    accepts as qrels.

    Parameters
    ----------
    path : path, or list of paths
        One collection in one or several files; ``"-"`` is standard input. gzip, bzip2, xz and
        Zstandard are decompressed.
    layout : {"prefs", "qrels"}
        Lines ``QUERY GROUP SUBGROUP DOCUMENT LEVEL``; or graded judgments ``QUERY GROUP DOCUMENT
        GRADE``, in which the higher grade is preferred within each group.
    tell : callable, optional
        Callback for messages about irregularities; without it they are warnings.

    Returns
    -------
    PreferenceQrels
        The preferences.

    Raises
    ------
    InputError
        A file cannot be opened, or has no judgments.
    FileFormatError
        A line cannot be read, a document appears twice in a sub-group, or a group contradicts
        itself.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "a.prefs")
    >>> _ = path.write_text("q1 ann 0 d1 2\nq1 ann 0 d2 0\nq1 ben 0 d2 1\nq1 ben 0 d1 0\n")
    >>> read_preferences(path).n_preferences
    2
    """
    if layout not in ("prefs", "qrels"):
        raise OptionError(f"layout={layout}: expected one of prefs | qrels")
    if layout == "qrels":
        return PreferenceQrels.from_qrels(read_assessors(path, tell=tell))
    hint = (
        "graded judgments become preferences with layout='qrels'",
        "graded judgments become preferences with --judgments qrels_prefs",
    )
    notes = Notes(tell)
    rows = _read(open_sources(path, notes), _PREFERENCES, {len(_GRADES): hint}, notes, refuse)
    return PreferenceQrels.from_columns(
        rows.judgments, rows.subgroups, rows.refuse, name=rows.paths[0], paths=rows.paths
    )


def read_assessors(
    path: Paths,
    *,
    format: Literal["auto", "trec", "quepid"] = "auto",  # noqa: A002  (the word every reader of files uses)
    labels: Mapping[str, float] | None = None,
    tell: Tell | None = None,
) -> AssessorQrels:
    r"""Read the graded judgments of several assessors, or groups of them.

    trec_eval's ``-R qrels_jg FILE`` corresponds to ``read_assessors(FILE)``, which returns a table
    that `evaluate` accepts as qrels.

    Parameters
    ----------
    path : path, or list of paths
        Lines ``QUERY GROUP DOCUMENT GRADE``: qrels with the assessor in the second column. One
        collection in one or several files; ``"-"`` is standard input. gzip, bzip2, xz and Zstandard
        are decompressed. Or Quepid's export of a book: columns query, docid and one for each rater.
        Or a table (CSV, TSV, JSON lines, Parquet, Arrow) with the columns query, document, grade
        and assessor.
    format : {"auto", "trec", "quepid"}
        ``"auto"`` inspects the content.
    labels : mapping of str to float, optional
        Grades of labels that are words in a table, as for `read_qrels`.
    tell : callable, optional
        Callback for messages about irregularities; without it they are warnings.

    Returns
    -------
    AssessorQrels
        The judgments.

    Raises
    ------
    InputError
        A file cannot be opened, or has no judgments.
    FileFormatError
        A line cannot be read, or a group judges a document twice.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "a.qrels")
    >>> _ = path.write_text("q1 ann d1 1\nq1 ben d1 0\n")
    >>> read_assessors(path).of("ben")["q1"]
    {'d1': 0.0}
    """
    if format not in ("auto", "trec", "quepid"):
        raise OptionError(f"format={format}: expected one of auto | trec | quepid")
    notes = Notes(tell)
    sources = open_sources(path, notes)
    likely = sniff(sources[0].data) if format == "auto" else [format]
    if table := next((kind for kind in TABLES if kind in likely), ""):
        from idealrank.io.formats.assessor_tables import read_assessor_tables  # noqa: PLC0415  (most come with lines)

        return read_assessor_tables(sources, table, checked_labels(labels), notes)
    if likely == ["quepid"]:
        from idealrank.io.formats.quepid import read_raters  # noqa: PLC0415  (most come with lines)

        return read_raters(sources, notes)
    hint = (
        "preferences with sub-groups are read by read_preferences",
        "preferences with sub-groups need --judgments prefs",
    )
    rows = _read(sources, _GRADES, {len(_PREFERENCES): hint}, notes, refuse)
    return AssessorQrels.from_columns(
        rows.judgments, rows.refuse, name=rows.paths[0], paths=rows.paths
    )


def assessor_sheet(source: Source, notes: Notes, complain: Complain) -> JudgmentSheet:
    r"""Read lines ``QUERY GROUP DOCUMENT GRADE`` as rows, with the group as the assessor."""
    read = _read([source], _GRADES, {}, notes, complain)
    pairs = SeenPairs(complain)

    def rows() -> Iterator[JudgmentRow]:
        for fields, level, line in zip(read.fields, read.levels, read.lines, strict=True):
            query, group, document = map(decode_id, fields[:3])
            row = JudgmentRow(
                query=query,
                document=document,
                grade=level,
                assessor=group,
                place=(source.path, line),
            )
            if pairs.is_new(row):
                yield row

    return JudgmentSheet(rows=rows(), has_assessors=True)


@dataclass(kw_only=True)
class _Rows:
    """Rows read so far, column by column, with the place of each row."""

    columns: tuple[str, ...]
    hints: dict[int, tuple[str, str]]  # by number of fields, in Python and for the command line
    paths: list[str]
    fields: list[list[bytes]] = field(default_factory=list)
    levels: list[float] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)  # the number of rows after each file
    hidden: int = 0  # comment lines that would be rows

    @property
    def judgments(self) -> JudgmentColumns:
        """Columns of the rows, without sub-groups."""
        document = self.columns.index("DOCUMENT")
        return JudgmentColumns(
            queries=[row[0] for row in self.fields],
            groups=[row[1] for row in self.fields],
            documents=[row[document] for row in self.fields],
            levels=np.array(self.levels, np.float64),
        )

    @property
    def subgroups(self) -> list[bytes]:
        """Sub-group of each row."""
        return [row[2] for row in self.fields]

    @property
    def expected(self) -> str:
        """Return the expected form of a line."""
        return f"{len(self.columns)} fields: {' '.join(self.columns)}"

    def refuse(self, row: int, problem: str, expected: str, hint: str) -> NoReturn:
        """Raise the error of one row."""
        source = next(number for number, end in enumerate(self.ends) if row < end)
        raise Complaint(
            kind="row",
            path=self.paths[source],
            line=self.lines[row],
            found=problem,
            expected=expected,
            hint=hint,
        ).error()

    def take(self, source: Source, complain: Complain) -> None:
        """Read one file."""
        for number, line in enumerate(_lines(source.read()), 1):
            if line.startswith(b"#"):
                if isinstance(self._parse(line[1:]), tuple):
                    self.hidden += 1
            elif line.strip(b" \t"):
                parsed = self._parse(line)
                if isinstance(parsed, Complaint):
                    complain(replace(parsed, path=source.path, line=number))
                    continue
                fields, level = parsed
                self.fields.append(fields)
                self.levels.append(level)
                self.lines.append(number)
        self.ends.append(len(self.lines))

    def _parse(self, line: bytes) -> "tuple[list[bytes], float] | Complaint":
        """Return the fields and the level of a line, or what is wrong with it."""
        if any(byte < 0x20 and byte != 0x09 for byte in line):
            return Complaint(
                kind="control",
                path="",
                line=0,
                found=f"a control byte in {quoted(line)}",
                expected="text without control bytes",
                hint="is this a text file?",
            )
        fields = [part.strip(b" ") for part in line.split(b"\t")]
        if len(fields) != len(self.columns) or not all(fields):
            fields = line.split()
        if len(fields) != len(self.columns):
            hint, command_hint = self.hints.get(len(fields), ("", ""))
            if len(fields) == _RUN_FIELDS:
                hint = "judgments come first, then runs"
            return Complaint(
                kind="fields",
                path="",
                line=0,
                found=f"{len(fields)} fields in {quoted(line)}",
                expected=self.expected,
                hint=hint,
                command_hint=command_hint,
            )
        word = self.columns[-1].lower()
        cell = f"{quoted(fields[-1])} in {quoted(line)}"
        level = parse_number(fields[-1].decode("utf-8", "replace"))
        if level is None:
            expected = f"a number as {word} (field {len(fields)})"
            return Complaint(kind="number", path="", line=0, found=cell, expected=expected)
        if not math.isfinite(level):
            return Complaint(
                kind="nan", path="", line=0, found=f"{word} {cell}", expected=f"a finite {word}"
            )
        return fields, level


def _lines(data: Data) -> Sequence[bytes]:
    """Split into lines without their ends, and without a byte order mark before the first."""
    text = bytes(data[:]).removeprefix(BYTE_ORDER_MARK)
    return [line.removesuffix(b"\r") for line in text.split(b"\n")]


def _read(
    sources: Sequence[Source],
    columns: tuple[str, ...],
    hints: dict[int, tuple[str, str]],
    notes: Notes,
    complain: Complain,
) -> _Rows:
    rows = _Rows(columns=columns, hints=hints, paths=[source.path for source in sources])
    for source in sources:
        rows.take(source, complain)
    where = ", ".join(rows.paths)
    if rows.hidden:
        notes.warn(
            f"{where}: {rows.hidden} comment lines would be judgments without '#'; they are ignored"
        )
    if not rows.lines:
        raise InputError(f"{where}: found no judgments, expected at least one")
    return rows
