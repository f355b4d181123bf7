"""TREC qrels and runs: the kernel's text, with the errors of reading put into words; and
trec_eval's file of means and standard deviations for z-scores.
"""

import math
from collections.abc import Sequence

from idealrank import _kernel
from idealrank.data.problems import FIELDS, describe, quoted, translate
from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.data.run import Run
from idealrank.data.types import decode_id
from idealrank.errors import FileFormatError, InputError
from idealrank.io.checked_cells import parse_number, shown
from idealrank.io.complaints import Complaint, Notes
from idealrank.io.row_parts import Table
from idealrank.io.sources import BYTE_ORDER_MARK, AnyPath, Source, open_sources

_HEAD = 1 << 16  # bytes in which the first line of data is looked for


def read_trec_qrels(sources: Sequence[Source], duplicates: QrelsDuplicates, notes: Notes) -> Qrels:
    """Read judgments from lines ``QUERY ITERATION DOCUMENT GRADE``."""
    paths = [source.path for source in sources]
    refuse_swapped(sources, "qrels")
    try:
        text = _kernel.Text([source.data for source in sources], "qrels")
        table = _kernel.read_text(text, duplicates=duplicates)
    except _kernel.ParseError as error:
        kind, source, line, _, detail = error.args
        by_group = judged_by_group(sources, int(source), int(line), detail, kind=kind)
        if by_group is not None:
            raise by_group.error() from None
        raise translate(error, paths, "qrels") from None
    if table.counters["duplicates"]:
        _warn_of_groups(sources, text, duplicates, notes)
    hidden = table.counters["comments_like_data"]
    if hidden:
        notes.warn(
            f"{', '.join(paths)}: {hidden} comment lines would be judgments without '#'; they "
            f"are ignored"
        )
    return Qrels.from_table(table, name=paths[0], paths=paths)


def judged_by_group(
    sources: Sequence[Source], source: int, line: int, detail: bytes, *, kind: str
) -> Complaint | None:
    """Return the complaint about a document that is judged again with another second column: for
    each sub-topic, or by each assessor; None for any other problem.

    `detail` has the first place, as the kernel gives it.
    """
    first_source, _, first_line = detail.decode().partition(":")
    if kind != "duplicate" or first_source != str(source) or not first_line:
        return None
    earlier, later = (
        _fields(_line(sources[source], number).decode("utf-8", "replace"))
        for number in (int(first_line), line)
    )
    if len(earlier) != 4 or len(later) != 4 or earlier[1] == later[1]:
        return None
    query, group, document, _ = later
    # TREC numbers sub-topics, and names of assessors are words.
    are_subtopics = group.isdecimal() and earlier[1].isdecimal()
    noun = "sub-topic" if are_subtopics else "assessor"
    problem = (
        f"document {shown(document)} of {shown(query)} judged for {noun} {group} and, on line "
        f"{first_line}, for {noun} {earlier[1]}"
    )
    by_groups = "P and AP for each of them and averages"
    adhoc = ", and other measures need the track's ad hoc judgments" if are_subtopics else ""
    whose = "judgments by sub-topic (TREC diversity)" if are_subtopics else "of several assessors"
    return Complaint(
        kind="duplicate-group",
        path=sources[source].path,
        line=line,
        found=problem,
        expected="one grade for a document",
        hint=f"these are {whose}: read_assessors(path) takes {by_groups}{adhoc}",
        command_hint=f"these are {whose}: `idealrank evaluate --judgments qrels_jg QRELS RUN -m "
        f"P_avgjg@10,AP_avgjg` takes {by_groups}{adhoc}",
    )


def _warn_of_groups(
    sources: Sequence[Source], text: _kernel.Text, duplicates: str, notes: Notes
) -> None:
    """Warn of grades of several sub-topics or assessors, of which a policy takes one."""
    for kind, _, examples in _kernel.lint_text(text, examples=1):
        for source, line, _, detail in examples:
            by_group = judged_by_group(sources, source, line, detail, kind=kind)
            if by_group is not None:
                chosen = "highest" if duplicates == "best" else duplicates
                notes.warn(f"{by_group.place}: found {by_group.found}; the {chosen} grade counts")


def _line(source: Source, number: int) -> bytes:
    """Return a line by its number, from 1."""
    begin = 0
    for _ in range(number - 1):
        begin = source.data.find(b"\n", begin) + 1
    end = source.data.find(b"\n", begin)
    line = bytes(source.data[begin : end if end >= 0 else len(source.data)])
    return line.removeprefix(BYTE_ORDER_MARK)


def read_trec_run(sources: Sequence[Source], name: str) -> Run:
    """Map a run of lines ``QUERY Q0 DOCUMENT RANK SCORE TAG`` without reading it: its evaluation
    reads, checks and ranks in one pass.
    """
    refuse_swapped(sources, "run")
    text = _kernel.Text([source.data for source in sources], "run")

    def let_go() -> None:
        for source in sources:
            source.let_go()

    return Run.from_text(text, name=name, paths=[source.path for source in sources], let_go=let_go)


def read_lines(text: bytes, table: Table, path: str) -> _kernel.Table:
    """Read some lines of a text, whose line numbers are unknown; every row is kept."""
    try:
        lines = _kernel.Text([text.removeprefix(BYTE_ORDER_MARK)], table)
        return _kernel.read_text(lines, duplicates="keep", threads=1)
    except _kernel.ParseError as error:
        kind, _, _, line, detail = error.args
        problem, expected, hint = describe(kind, line, detail, table)
        raise InputError(f"{path}: found {problem}, expected {expected}", hint=hint) from None


def refuse_swapped(sources: Sequence[Source], table: Table) -> None:
    """Refuse judgments given as a run and the other way round, which the first line shows."""
    for source in sources:
        number, line = _first_line(source)
        other = _kind_of(_fields(line.decode("utf-8", "replace")))
        if other not in (table, ""):
            problem = f"a line of {'a run' if other == 'run' else 'judgments'}, {quoted(line)}"
            raise FileFormatError(
                source.path, number, problem, FIELDS[table], "judgments come first, then runs"
            )


def _first_line(source: Source) -> tuple[int, bytes]:
    """Number and bytes of the first line that is neither empty nor a comment; 0 and no bytes if
    none is near the beginning.
    """
    start = bytes(source.data[:_HEAD]).removeprefix(BYTE_ORDER_MARK)
    lines = start.split(b"\n")
    if len(source.data) > _HEAD:
        lines.pop()  # cut off, so its last fields may be missing
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith(b"#"):
            return number, line.rstrip(b"\r")
    return 0, b""


def _fields(line: str) -> list[str]:
    """Split a line as the kernel does: ids may have any blanks but spaces and tabs."""
    words = line.rstrip("\r").replace("\t", " ").split(" ")
    return [word for word in words if word]


def tag_of(sources: Sequence[Source]) -> str:
    r"""Return the tag of a run, which trec_eval prints as ``runid``: the first word of the sixth
    field, on the last line.
    """
    for source in reversed(sources):
        fields = _last_line(source).split()
        if len(fields) > 5:
            return decode_id(fields[5])
    return "run"


def _last_line(source: Source) -> bytes:
    """The last line that is neither empty nor a comment."""
    end = len(source.data)
    while end > 0:
        begin = source.data.rfind(b"\n", 0, end) + 1
        line = bytes(source.data[begin:end])
        if line.strip() and not line.startswith(b"#"):
            return line
        end = begin - 1
    return b""


def _kind_of(fields: list[str]) -> str:
    if len(fields) == 4 and parse_number(fields[3]) is not None:
        return "qrels"
    if len(fields) == 6 and all(parse_number(fields[place]) is not None for place in (3, 4)):
        return "run"
    return ""


ZScores = dict[tuple[str, str], tuple[float, float]]

_EXPECTED = "4 fields: QUERY MEASURE MEAN DEVIATION"


def read_zscores(path: AnyPath, notes: Notes) -> ZScores:
    r"""Read the mean and standard deviation by query and printed name of the measure."""
    zscores: ZScores = {}
    for source in open_sources(path, notes):
        lines = source.read().decode("utf-8", "surrogateescape").split("\n")
        for number, line in enumerate(lines, 1):
            fields = _fields(line)
            if not fields or line.startswith("#"):
                continue
            if len(fields) != 4:
                raise FileFormatError(source.path, number, f"{len(fields)} fields", _EXPECTED)
            query, measure, mean_text, deviation_text = fields
            mean = parse_number(mean_text)
            deviation = parse_number(deviation_text)
            if (
                mean is None
                or deviation is None
                or not (math.isfinite(mean) and 0 <= deviation < math.inf)
            ):
                raise FileFormatError(
                    source.path,
                    number,
                    f"{mean_text} {deviation_text}",
                    "a mean and a standard deviation of 0 or more",
                )
            if (query, measure) in zscores:
                raise FileFormatError(
                    source.path, number, f"{measure} of query {query} a second time", "each once"
                )
            zscores[query, measure] = (mean, deviation)
    return zscores
