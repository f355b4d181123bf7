"""Baseline files: runs in TREC lines below one comment that says how they were judged, so that they
can be judged again.

A file holds runs and not their values: when judgments change, they are re-scored like any other
run. The lines of the last accepted run come first, so that every command reads the file as that
run. Other runs of the series are below in comments: the anchor, with which the file was made, and
the last accepted ones. The first line has a checksum of the whole file, and the last line tells a
baseline file that lost its first line from an ordinary run.
"""

import gzip
import hashlib
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from idealrank import _kernel
from idealrank.analysis.gate.series import Series
from idealrank.conventions import Convention
from idealrank.data.problems import translate
from idealrank.data.run import KERNEL_TIES, Run
from idealrank.data.types import decode_id
from idealrank.errors import FileFormatError, InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.complaints import Notes
from idealrank.io.formats.trec import read_trec_run
from idealrank.io.sources import BYTE_ORDER_MARK, Source, input_files, open_sources
from idealrank.measures.discounts import make_discount
from idealrank.measures.measure import Measure
from idealrank.stats.tolerance import ROUNDING
from idealrank.version import __version__

SCHEMA = 3
_SCHEMA_OF_CHECKSUMS = 3  # files of earlier schemas have none
_MARK = b"# idealrank baseline "
_KEPT = b"# kept "  # begins the comments that hold one more run
_KEPT_LINE = b"#\t"  # begins each line of such a run
_END = b"# idealrank-baseline-end"  # the last line
_TAIL = 1 << 16  # bytes in which the last line is looked for
_WRITER = "`idealrank gate --update-baseline`"
_RESTORE = (
    f"restore the file, for example from git; or delete it, and create it again with {_WRITER}: "
    f"its series and accepted drops are lost then"
)
_LONGEST = 1 << 20  # of a first line that is looked at


@dataclass(frozen=True, kw_only=True)
class KeptRun:
    """A run of a series that a baseline file holds."""

    name: str  # Of the run
    commit: int  # Accepted commit, 0 for the anchor; runs of one commit are repeats

    @property
    def is_anchor(self) -> bool:
        """Return whether the file was made with this run."""
        return self.commit == 0


@dataclass(frozen=True, kw_only=True)
class BaselineRecord:
    """First line of a baseline file."""

    schema: int  # Of this line
    name: str  # Of the run
    version: str  # Of the library that wrote it
    # By the text of the measure, when it was made; None where no query counted
    means: Mapping[str, float | None]
    # convention, fingerprint: Behind these means: its text, and eight hexadecimal digits
    convention: str
    fingerprint: str
    # Ranks that were kept of each list, tie groups that begin above it whole; None for all
    depth: int | None
    # SHA-256 of the files of judgments; empty where they came from a stream
    judgments: tuple[str, ...]
    run: str | None  # SHA-256 of the file of the run
    # Fingerprint of the content of the judgments; None in files of earlier versions
    content: str | None = None
    # The runs of the file, in its order: the last accepted one first
    kept: tuple[KeptRun, ...] = ()
    series: Series = field(default_factory=Series)  # State of the series
    # Of a state in a folder: `content_hash` of the baseline file with which the series began, empty
    # if there was none
    origin: str | None = None

    def as_deep_as(self, other: "BaselineRecord") -> "BaselineRecord":
        """Return a baseline whose lists are at least as deep as another's, so that the same
        measures apply.
        """
        depth = None if self.depth is None or other.depth is None else max(self.depth, other.depth)
        return replace(self, depth=depth)


def depth_of(measures: Sequence[Measure], convention: Convention) -> int | None:
    """Return the number of ranks that these measures look at, for any judgments; None for all."""
    alignment = convention.alignment
    # where documents are taken out of a list, documents from any depth move up
    taken_out = alignment.unjudged == "skipped" or alignment.negative in ("removed", "padding")
    resolved = [measure.under(convention) for measure in measures]
    depths = [0 if _knows_length(measure) else measure.hits_needed() for measure in resolved]
    return None if taken_out or 0 in depths else max(depths)


def _knows_length(measure: Measure) -> bool:
    discount = getattr(measure, "discount", None)
    return discount is not None and make_discount(discount).by_length


_LATER = ("content", "kept", "series", "origin")  # fields that files of earlier versions may lack
_ALWAYS = tuple(part.name for part in fields(BaselineRecord) if part.name not in _LATER)


def record_of(
    evaluation: Evaluation, gated: Sequence[str], judgments: Sequence[str] = ()
) -> BaselineRecord:
    """Describe a run that becomes a baseline."""
    convention = evaluation.convention
    means = evaluation.mean()
    hashes = _hashes([evaluation.path] if evaluation.path else [])
    return BaselineRecord(
        schema=SCHEMA,
        name=evaluation.name,
        version=__version__,
        means={text: None if math.isnan(means[text]) else means[text] for text in gated},
        convention=convention.name,
        fingerprint=convention.fingerprint,
        depth=depth_of(evaluation.measures, convention),
        judgments=_hashes(judgments),
        run=next(iter(hashes), None),
        content=evaluation.provenance.judgments,
        kept=(KeptRun(name=evaluation.name, commit=0),),
    )


def baseline_bytes(
    run: Run, record: BaselineRecord, convention: Convention, others: Sequence[bytes] = ()
) -> bytes:
    r"""Make a baseline file; the same input gives the same bytes."""
    return lines_with_record(record, [run_lines(run, record, convention), *others])


def run_lines(run: Run, record: BaselineRecord, convention: Convention) -> bytes:
    """Write the TREC lines of a run, cut where the record says."""
    return b"".join(_lines(run, record, convention))


def lines_with_record(record: BaselineRecord, runs: Sequence[bytes]) -> bytes:
    """Make a baseline file of TREC lines: the lines of the first run as they are, other runs in
    comments.
    """
    first, *others = runs
    comments = []
    for number, lines in enumerate(others, 1):
        comments += [_KEPT, b"%d\n" % number, _in_comments(lines)]
    below = b"".join([first, *comments, _END + b"\n"])
    content = asdict(record)
    text = _json_text(content | {"checksum": _checksum(content, below)})
    # Without blanks, the line has too few fields for a reader of TREC lines to take it for a
    # result.
    return _MARK + text.replace(" ", "\\u0020").encode("ascii") + b"\n" + below


def _json_text(content: Mapping[str, Any]) -> str:
    return json.dumps(content, separators=(",", ":"), sort_keys=True)


def _checksum(content: Mapping[str, Any], below: bytes) -> str:
    """SHA-256 of the record and of the lines below it, however the lines end: git may change
    that.
    """
    record = {name: value for name, value in content.items() if name != "checksum"}
    hashed = _json_text(record).encode("ascii") + b"\n" + _with_plain_ends(below)
    return hashlib.sha256(hashed).hexdigest()


def _with_plain_ends(lines: bytes) -> bytes:
    return lines.replace(b"\r\n", b"\n")


def _in_comments(lines: bytes) -> bytes:
    """Turn TREC lines into comments with three fields, which no reader takes for data without the
    '#'.
    """
    comments = []
    for line in lines.splitlines():
        query, _, document, _, score, *_ = line.split(b"\t")
        comments.append(_KEPT_LINE + b"\t".join((query, document, score)) + b"\n")
    return b"".join(comments)


def _from_comments(comments: Sequence[bytes]) -> bytes:
    """Turn the comments of a run back into TREC lines."""
    lines = []
    rank = 0
    last = None
    for comment in comments:
        query, document, score = comment.removeprefix(_KEPT_LINE).split(b"\t")
        rank = rank + 1 if query == last else 1
        last = query
        lines.append(b"%b\tQ0\t%b\t%d\t%b\tkept\n" % (query, document, rank, score))
    return b"".join(lines)


def compressed(data: bytes) -> bytes:
    """Compress with gzip, without time and name, so that bytes are reproducible."""
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=packed, mtime=0) as file:
        file.write(data)
    return packed.getvalue()


def _lines(run: Run, record: BaselineRecord, convention: Convention) -> Iterator[bytes]:
    """Yield lines with tabs between the fields, since ids may have blanks."""
    alignment = convention.alignment
    are_plain = [letter.isprintable() and not letter.isspace() for letter in run.name]
    letters = [letter if plain else "_" for letter, plain in zip(run.name, are_plain, strict=True)]
    tag = ("".join(letters) or "run").encode("utf-8", "surrogateescape")
    try:
        table = run.source
        if not isinstance(table, _kernel.Table):
            table = _kernel.read_text(table, duplicates="keep")
        for number in range(table.n_queries):
            query = _field(table.query_id(number), "query", run.name)
            documents, scores, first, _ = _kernel.rank_query(
                table,
                number,
                ties=KERNEL_TIES.get(alignment.ties, "input"),  # type: ignore[arg-type]
                float32=alignment.score == "float32",
                duplicates=alignment.duplicates,
            )
            # whole tie groups: `first` is the rank at which the group of a document begins
            depth = len(documents) if record.depth is None else int((first <= record.depth).sum())
            listed = zip(documents[:depth], scores[:depth].tolist(), strict=True)
            for rank, (document, score) in enumerate(listed, 1):
                document_field = _field(document, "document", run.name)
                score_text = repr(score).encode()
                fields_of_line = (query, document_field, rank, score_text, tag)
                yield b"%b\tQ0\t%b\t%d\t%b\t%b\n" % fields_of_line
    except _kernel.ParseError as error:
        raise translate(error, run.paths, "run") from None


def _field(name: bytes, kind: str, run: str) -> bytes:
    """Return an id that a line of a run can hold; refuse any other."""
    is_comment = kind == "query" and name.startswith(b"#")
    if name != name.strip() or any(byte < 0x20 for byte in name) or is_comment:
        raise InputError(
            f"run {run!r}: {kind} {decode_id(name)!r}: found an id that a line of a run cannot "
            f"hold, expected an id without tabs, line feeds and surrounding blanks, and no query "
            f"that begins with '#'; rename it before you create a baseline from the run"
        )
    return name


def read_record(path: str, notes: Notes) -> BaselineRecord | None:
    """Read the first line of a file, if it is a baseline."""
    (source,) = open_sources(path, notes)
    return _record(source)


def _record(source: Source) -> BaselineRecord | None:
    start = bytes(source.data[: len(BYTE_ORDER_MARK + _MARK)]).removeprefix(BYTE_ORDER_MARK)
    if not start.startswith(_MARK):
        _refuse_without_first_line(source)
        return None
    line, _, _ = bytes(source.data[:_LONGEST]).partition(b"\n")
    expected = f"the line that {_WRITER} writes"
    try:
        content: Any = json.loads(line.removeprefix(BYTE_ORDER_MARK).removeprefix(_MARK))
    except (ValueError, RecursionError):
        raise FileFormatError(
            source.path, 1, "a damaged first line of a baseline", expected, _RESTORE
        ) from None
    schema = content.get("schema") if isinstance(content, dict) else None
    if isinstance(schema, int) and schema > SCHEMA:
        hint = f"update idealrank, or {_RESTORE}"
        raise FileFormatError(
            source.path, 1, f"a baseline of schema {schema}", f"{SCHEMA} or less", hint
        )
    if not isinstance(content, dict):
        raise FileFormatError(
            source.path, 1, "a damaged first line of a baseline", expected, _RESTORE
        )
    try:
        later = {name: content.get(name) for name in _LATER}
        record = _checked(later | {name: content[name] for name in _ALWAYS})
    except (KeyError, TypeError, ValueError, OverflowError, OptionError):
        raise FileFormatError(
            source.path, 1, "an incomplete first line of a baseline", expected, _RESTORE
        ) from None
    if record.schema >= _SCHEMA_OF_CHECKSUMS:
        _, _, below = bytes(source.data).partition(b"\n")
        if content.get("checksum") != _checksum(content, below):
            raise FileFormatError(
                source.path,
                1,
                "a checksum of other lines: the file was edited or cut",
                f"the file as {_WRITER} left it",
                _RESTORE,
            )
    return record


def _refuse_without_first_line(source: Source) -> None:
    """Refuse a baseline file that would pass for an ordinary run, without its series."""
    last = bytes(source.data[-_TAIL:]).rstrip().rpartition(b"\n")[2]
    if last == _END or last.startswith(_KEPT_LINE):
        expected = "'# idealrank baseline ...', which has the state of the series"
        raise FileFormatError(
            source.path, 1, "a baseline file that has lost its first line", expected, _RESTORE
        )


def refuse_unreadable(written: Path, path: str, record: BaselineRecord) -> None:
    """Refuse a baseline file that does not read back as it was meant."""
    data = written.read_bytes()
    source = Source(path, gzip.decompress(data) if path.endswith(".gz") else data)
    try:
        again = _record(source)
    except FileFormatError as error:
        raise InputError(
            f"{path}: not written, for its first line cannot be read again ({error})"
        ) from None
    if again is None or _json_text(asdict(again)) != _json_text(asdict(record)):
        raise InputError(
            f"{path}: not written, for its first line reads back as another one; this is a "
            f"fault of idealrank"
        )


def _checked(content: dict[str, Any]) -> BaselineRecord:
    """Make a record of its JSON; raise an error for a value of another type."""
    for name in ("name", "version", "convention", "fingerprint"):
        _expect(isinstance(content[name], str))
    for name in ("run", "content", "origin"):
        _expect(content[name] is None or isinstance(content[name], str))
    _expect(content["depth"] is None or (type(content["depth"]) is int and content["depth"] > 0))
    _expect(type(content["schema"]) is int)
    _expect(isinstance(content["means"], dict))
    _expect(isinstance(content["judgments"], list))
    content["means"] = {
        text: None if mean is None else float(mean) for text, mean in content["means"].items()
    }
    content["judgments"] = tuple(map(str, content["judgments"]))
    content["series"] = Series() if content["series"] is None else Series.of(content["series"])
    kept = content["kept"]
    if kept is None:  # a file of an earlier version, which has one run
        kept = [{"name": content["name"], "commit": 0}]
    content["kept"] = tuple(
        KeptRun(name=str(kept_run["name"]), commit=int(kept_run["commit"])) for kept_run in kept
    )
    _expect(bool(content["kept"]))
    return BaselineRecord(**content)


def _expect(holds: bool) -> None:  # noqa: FBT001
    if not holds:
        raise ValueError


def read_baseline(path: str, name: str, notes: Notes) -> tuple[Run, BaselineRecord]:
    """Read the run of a baseline file, and what its first line says."""
    (source,) = open_sources(path, notes)
    record = _record(source)
    if record is None:
        raise FileFormatError(
            path,
            1,
            "another first line",
            "'# idealrank baseline ...'",
            "create one with --update-baseline",
        )
    return read_trec_run([source], name), record


def content_hash(path: str, notes: Notes) -> str:
    """Hash a file with SHA-256, uncompressed and whatever its line ends, in hexadecimal digits."""
    (source,) = open_sources(path, notes)
    return hashlib.sha256(_with_plain_ends(bytes(source.data))).hexdigest()


def lines_of_kept(path: str, record: BaselineRecord, notes: Notes) -> list[bytes]:
    """Return the TREC lines of every run of a baseline file, in the order of its record."""
    (source,) = open_sources(path, notes)
    all_lines = _with_plain_ends(bytes(source.data)).split(b"\n")
    lines = [line for line in all_lines if line and line != _END]
    starts = [number for number, line in enumerate(lines) if line.startswith(_KEPT)]
    if len(starts) + 1 != len(record.kept):
        expected = f"{len(record.kept)} runs, as the first line says"
        raise FileFormatError(path, 1, f"a baseline of {len(starts) + 1} runs", expected, _RESTORE)
    first = lines[: starts[0]] if starts else lines
    plain = [line for line in first if not line.startswith((b"#", BYTE_ORDER_MARK))]
    ends = [*starts[1:], len(lines)] if starts else []
    comments = [lines[start + 1 : end] for start, end in zip(starts, ends, strict=True)]
    try:
        return [b"".join(map(_with_tabs, plain)), *map(_from_comments, comments)]
    except ValueError:
        expected = (
            "lines 'QUERY Q0 DOCUMENT RANK SCORE TAG', and '# QUERY DOCUMENT SCORE' in comments"
        )
        raise FileFormatError(path, 1, "a damaged run", expected, _RESTORE) from None


def _with_tabs(line: bytes) -> bytes:
    """Write a TREC line with tabs between its fields, which an editor may have made blanks."""
    fields_of_line = line.split(b"\t") if b"\t" in line else line.split()
    if len(fields_of_line) != 6:
        raise ValueError
    return b"\t".join(fields_of_line) + b"\n"


def run_in(data: bytes, name: str) -> Run:
    r"""Read the run of a baseline file that is still in memory, not compressed."""
    return read_trec_run([Source(name, data)], name)


def refuse_shallow(
    path: str, record: BaselineRecord, measures: Sequence[Measure], convention: Convention
) -> None:
    """Refuse a baseline whose lists are too short for what is asked."""
    if record.depth is None:
        return
    for measure in measures:
        needed = depth_of([measure], convention)
        if needed is None or needed > record.depth:
            expected = "whole lists" if needed is None else f"{needed} ranks"
            raise InputError(
                f"{path}: found lists cut after rank {record.depth}, expected {expected}, which "
                f"{measure} uses under convention {convention.name}; use other measures, or delete "
                f"the file and create it again, with all measures and --update-baseline, from a "
                f"run that you trust (it was {record.name})"
            )


def changes_since(
    path: str, record: BaselineRecord, evaluation: Evaluation, judgments: Sequence[str]
) -> list[str]:
    """Describe the changes since the baseline was made, in sentences; empty without any."""
    if evaluation.convention.fingerprint != record.fingerprint:
        return [
            f"{path} was created under convention {record.convention}; this gate evaluates it "
            f"under {evaluation.convention.name}"
        ]
    means = evaluation.mean()
    moved = []
    for text, recorded in record.means.items():
        before = math.nan if recorded is None else recorded
        if text in means and _differ(means[text], before):
            moved.append(f"{text} is {means[text]:.4f} and was {before:.4f}")
    if moved:
        return [f"{path} had other judgments when it was created: {', '.join(moved)}"]

    # the content is known for sure; files may differ, and have the same judgments
    hashes = _hashes(judgments)
    content = evaluation.provenance.judgments
    source = ""
    if content is not None and record.content is not None:
        if content != record.content:
            source = "other judgments"
    elif hashes and record.judgments and hashes != record.judgments:
        source = "other files of judgments"
    if source:
        return [f"{path} was created with {source}, which give the same means"]
    return []


def _hashes(judgments: Sequence[str]) -> tuple[str, ...]:
    """SHA-256 of each file, sorted, since the order of files means nothing."""
    return tuple(sorted(file.sha256 for file in input_files(judgments)))


def _differ(mean: float, other_mean: float) -> bool:
    """Return whether two means differ by more than rounding; two that are NaN do not."""
    if math.isnan(mean) and math.isnan(other_mean):
        return False
    return not abs(mean - other_mean) <= ROUNDING * max(abs(mean), abs(other_mean))
