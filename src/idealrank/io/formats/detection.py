"""Format of a file: by its extension, checked against its first line, which wins with a note."""

import re
from itertools import chain, islice
from pathlib import PurePath
from typing import Literal, TypeAlias, get_args

from idealrank.errors import Advised, FileFormatError, OptionError
from idealrank.io.checked_cells import parse_number
from idealrank.io.complaints import Notes
from idealrank.io.row_parts import Table
from idealrank.io.sources import BYTE_ORDER_MARK, Data, Source
from idealrank.io.table_columns import is_usual

Format: TypeAlias = Literal[
    "trec",
    "json",
    "jsonl",
    "csv",
    "tsv",
    "parquet",
    "arrow",
    "beir",
    "letor",
    "elasticsearch",
    "solr",
    "quepid",
    "rre",
    "opensearch",
    "ubi",
    "label-studio",
    "npy",
    "npz",
]
FormatChoice: TypeAlias = Literal["auto"] | Format
FORMATS: tuple[str, ...] = ("auto", *get_args(Format))

# Formats of one kind of table: asked for by name, they do not concern the files of the other kind.
FORMATS_OF: dict[Table, tuple[Format, ...]] = {
    "qrels": ("quepid", "rre", "opensearch", "ubi", "label-studio"),
    "run": ("elasticsearch", "solr", "npy"),
}

_ENDINGS: dict[str, Format] = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
    ".letor": "letor",
    ".svm": "letor",
    ".svmlight": "letor",
    ".libsvm": "letor",
    ".trec": "trec",
    ".qrels": "trec",
    ".qrel": "trec",
    ".run": "trec",
    ".res": "trec",
    ".npy": "npy",
    ".npz": "npz",
}
_HEAD = 1 << 16  # bytes that a format is told from
_QUEPID_LINES = 50  # lines in which every cell of a rater must be a number or a blank
# A tool's files have the endings of a general format; their content tells them apart.
_GENERAL: dict[Format, tuple[Format, ...]] = {
    "elasticsearch": ("json", "jsonl"),
    "solr": ("json", "jsonl"),
    "rre": ("json",),
    "quepid": ("csv",),
    "opensearch": ("json",),
    "ubi": ("json", "jsonl"),
    "label-studio": ("json",),
}
# A file is of a tool if all patterns of the tuple are in its first bytes.
_TOOLS: dict[Format, tuple[re.Pattern[bytes], ...]] = {
    "opensearch": (re.compile(rb'"judgmentRatings"\s*:\s*\['),),
    "label-studio": (
        re.compile(rb'"(?:annotations|completions|predictions)"\s*:\s*\['),
        re.compile(rb'"data"\s*:\s*\{'),
    ),
    "ubi": (
        re.compile(rb'"judgment"\s*:'),
        re.compile(rb'"document"\s*:'),
        re.compile(rb'"_source"\s*:'),
    ),
    "rre": (
        re.compile(rb'"relevant_documents"\s*:\s*[{\[]'),
        re.compile(rb'"(?:queries|query_groups|topics)"\s*:\s*\['),
    ),
    "solr": (
        re.compile(rb'"(?:docs"\s*:\s*\[|responseHeader"\s*:\s*\{)'),
        re.compile(rb'"(?:numFound|responseHeader)"\s*:'),
    ),
    "elasticsearch": (
        re.compile(rb'"(?:hits"\s*:\s*\{|responses"\s*:\s*\[\s*\{|_id"\s*:)'),
        re.compile(rb'"(?:hits"\s*:\s*\[|responses"\s*:\s*\[\s*\{|(?:_score|_source|_index)"\s*:)'),
    ),
}
_FEATURE = re.compile(r"(?:qid|\d+):\S+|#")


def detect(source: Source, choice: str, notes: Notes) -> Format:
    """Return the format of one file."""
    if choice != "auto":
        if choice not in FORMATS:
            raise OptionError(f"format={choice}: expected one of {' | '.join(FORMATS)}")
        return choice  # type: ignore[return-value]
    refuse_foreign(source.path, bytes(source.data[:4]))
    plausible = sniff(source.data)
    promised = _ENDINGS.get(_ending(source.path))
    if promised in plausible or (promised and not plausible):
        return promised
    if not plausible:
        return "trec"
    likeliest, *others = plausible
    name = FORMAT_NAMES[likeliest]
    if likeliest in _GENERAL and promised in (None, *_GENERAL[likeliest]):
        notes.inform(_with_format_hint(f"{source.path}: read as {name}", likeliest))
        return likeliest
    if promised == "tsv" and likeliest in ("trec", "beir"):
        return likeliest
    if promised:
        expected = FORMAT_NAMES[promised]
        text = f"{source.path}: found {name}, expected {expected} from the ending"
        notes.warn(_with_format_hint(text, likeliest))
    elif others:
        other_names = " or ".join(FORMAT_NAMES[other] for other in others)
        text = f"{source.path}: read as {name}, though it could be {other_names}"
        notes.warn(_with_format_hint(text, likeliest))
    return likeliest


def _with_format_hint(text: str, kind: Format) -> Advised:
    """Return a message that ends with how to set this format."""
    return Advised(
        text,
        f"to set the format, use format={kind!r}",
        f"to set the format, use --input-format {kind}",
    )


FORMAT_NAMES: dict[Format, str] = {
    "trec": "TREC lines",
    "json": "JSON",
    "jsonl": "JSON lines",
    "csv": "comma-separated columns",
    "tsv": "tab-separated columns",
    "parquet": "Parquet",
    "arrow": "Arrow IPC",
    "beir": "BEIR columns",
    "letor": "LETOR lines",
    "elasticsearch": "responses of Elasticsearch",
    "solr": "responses of Solr",
    "quepid": "Quepid's judgments",
    "rre": "RRE's ratings",
    "opensearch": "a judgment list of OpenSearch",
    "ubi": "judgments from User Behavior Insights",
    "label-studio": "Label Studio's tasks",
    "npy": "an array of NumPy",
    "npz": "arrays of NumPy",
}


def _ending(path: str) -> str:
    name = PurePath(path)
    if name.suffix.lower() in (".gz", ".bz2", ".xz", ".zst"):
        name = PurePath(name.stem)
    return name.suffix.lower()


def refuse_foreign(path: str, start: bytes) -> None:
    """Refuse a file whose first four bytes are of no format that can be read."""
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise FileFormatError(
            path,
            0,
            "UTF-16 text",
            "UTF-8",
            "convert it, for example with: iconv -f UTF-16 -t UTF-8",
        )
    if start == b"PK\x03\x04" and PurePath(path).suffix.lower() in (".xlsx", ".xlsm", ".ods"):
        raise FileFormatError(path, 0, "a spreadsheet", "text or Parquet", "save the sheet as CSV")
    if start == b"PK\x03\x04" and PurePath(path).suffix.lower() != ".npz":
        raise FileFormatError(
            path,
            0,
            "a zip archive",
            "a file, plain or compressed with gzip, bzip2, xz or zstandard",
            "unpack it",
        )


def sniff(data: Data) -> list[Format]:
    """The formats that the first bytes allow, the likeliest first; empty without a clue."""
    start = bytes(data[:_HEAD]).removeprefix(BYTE_ORDER_MARK)
    if start.startswith(b"PAR1"):
        return ["parquet"]
    if start.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return ["arrow"]
    if start.startswith(b"\x93NUMPY"):
        return ["npy"]
    if start.startswith(b"PK\x03\x04"):
        return ["npz"]
    lines = (line.rstrip("\r") for line in start.decode("utf-8", "replace").split("\n")[:1000])
    data_lines = (line for line in lines if line.strip() and not line.startswith("#"))
    first, second = islice(chain(data_lines, ("", "")), 2)
    if parse_number(first) is not None and second.startswith(("{", "[")):
        return ["jsonl"]  # of which the first line is broken
    # A query of a TREC file may be called "{q1" or "[1]", but no TREC line fills all these bytes.
    is_cut = len(data) >= _HEAD and b"\n" not in start.lstrip()
    could_be_trec = _is_trec(first.split()) or _is_trec(first.split("\t"))
    if start.lstrip()[:1] in (b"{", b"[") and (
        is_cut or not could_be_trec or _begins_json(first.strip())
    ):
        return _sniff_tool(bytes(data[:_HEAD])) or sniff_json(data)
    formats = _sniff_line(first) if first else []
    if formats == ["csv"] and _is_quepid(start, is_whole=len(data) <= _HEAD):
        return ["quepid"]
    return formats


def _begins_json(line: str) -> bool:
    """Return whether a line without blanks at its ends is JSON, or the first line of it."""
    import json  # noqa: PLC0415  (TREC files do not need it)

    try:
        json.loads(line)
    except json.JSONDecodeError as error:
        # JSON that goes on in the next line is at fault only where the line ends.
        return error.pos >= len(line)
    except (ValueError, RecursionError):  # of a number too long, or too many brackets
        return True
    return True


def _sniff_tool(start: bytes) -> list[Format]:
    """The tool whose JSON this is; empty where it is general."""
    tools: list[Format] = [
        tool
        for tool, patterns in _TOOLS.items()
        if all(pattern.search(start) for pattern in patterns)
    ]
    return tools[:1] or (["elasticsearch"] if _is_msearch(start) else [])


def _is_msearch(start: bytes) -> bool:
    """Return whether the first two lines are the header and the body of a request of ``_msearch``;
    the responses may come much later.
    """
    from idealrank.io.formats.msearch import is_body, is_header  # noqa: PLC0415  (TREC files do not need it)
    from idealrank.io.formats.nested import load  # noqa: PLC0415  (as above)

    header, _, below = start.removeprefix(BYTE_ORDER_MARK).lstrip().partition(b"\n")
    body, _, _ = below.lstrip().partition(b"\n")
    try:
        return is_header(load(header)) and is_body(load(body))
    except (ValueError, RecursionError):
        return False


def sniff_json(data: Data) -> list[Format]:
    """Tell JSON lines, which have a whole value on the first line and more after it, from JSON; a
    lone line can be either.
    """
    begin = 0
    while data[begin : begin + 1].isspace() or data[begin : begin + 3] == BYTE_ORDER_MARK:
        begin += 1 if data[begin : begin + 1].isspace() else 3
    end = data.find(b"\n", begin)
    if end < 0 or not data[end : end + _HEAD].strip():
        return ["json", "jsonl"] if data[begin : begin + 1] == b"{" else ["json"]
    import json  # noqa: PLC0415  (TREC files do not need it)

    first = bytes(data[begin:end])
    try:
        json.loads(first)
    except RecursionError:
        return ["jsonl"]
    except ValueError:
        # A first line that is no whole value, yet ends like one or comes before whole ones, is a
        # broken line of JSON lines.
        ends_like_one = first.rstrip().endswith(b"}") and first.startswith(b"{")
        are_lines = ends_like_one or _are_whole(bytes(data[end : end + _HEAD]))
        return ["jsonl"] if are_lines else ["json"]
    return ["jsonl"]


def _are_whole(start: bytes) -> bool:
    """Return whether the first lines, three at most, are objects or arrays of their own."""
    import json  # noqa: PLC0415  (TREC files do not need it)

    lines = [line for line in start.splitlines() if line.strip()][:3]
    try:
        return all(isinstance(json.loads(line), dict | list) for line in lines)
    except (ValueError, RecursionError):
        return False


def _sniff_line(line: str) -> list[Format]:
    fields = line.split()
    # a LETOR line without features
    if len(fields) == 1 and parse_number(fields[0]) is not None:
        return ["letor"]
    if (
        parse_number(fields[0]) is not None
        and len(fields) > 1
        and all(_FEATURE.match(word) for word in fields[1:3])
    ):
        return ["letor"]
    formats: list[Format] = []
    tabs = line.split("\t")
    if _is_trec(tabs) or _is_trec(fields):
        formats.append("trec")
    if [name.strip() for name in tabs] == ["query-id", "corpus-id", "score"]:
        formats.append("beir")
    if not formats and len(tabs) > 1:
        formats.append("tsv")
    if not formats and ("," in line or ";" in line):
        formats.append("csv")
    return formats


def _is_quepid(start: bytes, *, is_whole: bool) -> bool:
    """Return whether the columns are ``query,docid,rating``, or there is a column of numbers and
    blanks for each rater, or a row for each rating.
    """
    all_lines = start.decode("utf-8", "replace").splitlines()
    lines = all_lines[:_QUEPID_LINES]
    header_line = lines[0].lower().replace('"', "")
    delimiter = max(",;", key=header_line.count)
    is_wide = header_line.startswith(f"query{delimiter}docid{delimiter}")
    if "rating" not in header_line and not is_wide:
        return False
    import csv  # noqa: PLC0415  (TREC files do not need it)

    from idealrank.io.formats.quepid import is_row_per_rating  # noqa: PLC0415  (as above)

    try:
        if is_row_per_rating(next(csv.reader(lines[:1], delimiter=delimiter), [])):
            return True
        if not is_wide:
            return False
        header, *rows = [row[2:] for row in csv.reader(lines, delimiter=delimiter)]
    except (csv.Error, ValueError):
        return False
    if [name.lower() for name in header] == ["rating"]:
        return True
    # The last row may be cut: within its line, or between two lines of it.
    if not is_whole or len(all_lines) > len(lines):
        rows = rows[:-1]
    cells = list(chain.from_iterable(rows))
    if any(map(is_usual, header)) or not any(cells):
        return False
    return all(not cell.strip() or parse_number(cell) is not None for cell in cells)


def _is_trec(fields: list[str]) -> bool:
    """Return whether a line is one of qrels, or of a run with or without its tag."""
    if len(fields) == 4:
        return parse_number(fields[3]) is not None
    return len(fields) >= 5 and parse_number(fields[4]) is not None
