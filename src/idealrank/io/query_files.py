"""Files with a word for each query: its categories, its traffic or weight, the cluster it belongs
to.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from idealrank._lazy import annotation
from idealrank.analysis.comparison.query_table import queries_of
from idealrank.data.interchange import is_frame
from idealrank.data.types import decode_id
from idealrank.errors import FileFormatError, InputError, OptionError, shown
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.checked_cells import parse_number
from idealrank.io.complaints import Notes, Tell
from idealrank.io.formats.delimited import rows_in_batches
from idealrank.io.formats.detection import refuse_foreign, sniff
from idealrank.io.record_files import (
    FieldRecord,
    columnar_records,
    frame_records,
    is_columnar,
    json_records,
    line_records,
)
from idealrank.io.sources import BYTE_ORDER_MARK, Paths, Source, open_sources

if TYPE_CHECKING:
    from idealrank.analysis.comparison.slice_membership import Categories
else:
    Categories = annotation("idealrank.analysis.comparison.slice_membership", "Categories")

# Usual names of columns. A user is the query of recommenders, where no column has a name of _QUERY.
_QUERY = ("query", "query_id", "query-id", "qid", "topic")
_USER = ("user", "user_id", "user-id", "userid")
_CATEGORY = ("category", "slice")
_TRAFFIC = ("weight", "traffic", "count", "frequency")
_CLUSTER = ("cluster", "user", "session")
_HEAD = 1 << 16  # bytes in which the first line of data is looked for
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANKS = re.compile(r"[ \t]+")
# Stands before the path of a file of traffic, whose head, torso and tail are slices.
_OF_TRAFFIC = "traffic:"


def read_categories(
    path: "Paths | Any", *, columns: Mapping[str, str] | None = None, tell: Tell | None = None
) -> dict[str, tuple[str, ...]]:
    r"""Read the categories of each query.

    Parameters
    ----------
    path : path, list of paths, or dataframe
        CSV, TSV, JSON, JSON lines, Parquet or Arrow. Columns are ``query`` (or query_id, query-id,
        qid, topic, user, user_id) and ``category`` (or slice). If there are only two columns, the
        second may have any name except one reserved for other files; further columns are ignored.
        JSON may also be ``{query: category}``. Text without a header line: lines ``QUERY
        CATEGORY``, separated by a comma, a tab, a semicolon or blanks; lines that begin with ``#``
        are comments. A query on several lines, or with a list, belongs to several categories.
        Compressed files are decompressed; ``-`` is standard input.
    columns : mapping, optional
        Names of the columns: ``{"query": ..., "category": ...}``; guessed where not given.
    tell : callable, optional
        Callback for messages about irregularities; without it they are warnings.

    Returns
    -------
    dict
        Categories of each query, in the order of the file.

    Raises
    ------
    InputError
        A file cannot be opened.
    FileFormatError
        A column is missing, or a cell is empty; the message names file and line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "slices.csv")
    >>> _ = path.write_text("query,category\nq1,news\nq1,short\nq2,news\n")
    >>> read_categories(path)
    {'q1': ('news', 'short'), 'q2': ('news',)}
    """
    categories: dict[str, dict[str, None]] = {}
    for row in _rows_of(path, _WordColumn.of(_CATEGORY, columns), tell):
        for category in row.words:
            if not category:
                raise FileFormatError(
                    row.path,
                    row.line,
                    "an empty category",
                    "a name",
                    "omit the line of a query without a category",
                )
            categories.setdefault(row.query, {})[category] = None
    return {query: tuple(names) for query, names in categories.items()}


def read_traffic(
    path: "Paths | Any",
    *,
    columns: Mapping[str, str] | None = None,
    zeros: Literal["allowed", "refused"] = "allowed",
    tell: Tell | None = None,
) -> dict[str, float]:
    r"""Read the traffic or weight of each query.

    Parameters
    ----------
    path : path, list of paths, or dataframe
        As for `read_categories`, with a column ``traffic`` (or weight, count, frequency) of finite
        numbers of at least 0, each query once.
    columns : mapping, optional
        Names of the columns: ``{"query": ..., "traffic": ...}``; guessed where not given.
    zeros : {"allowed", "refused"}
        Whether zeros are allowed. They are refused in weights: a query without weight cannot be
        compared.
    tell : callable, optional
        Callback for messages about irregularities; without it they are warnings.

    Returns
    -------
    dict
        Traffic of each query.

    Raises
    ------
    InputError
        A file cannot be opened.
    FileFormatError
        A column is missing, a cell is not such a number, or a query appears twice; the message
        names file and line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> header, bare = (
    ...     pathlib.Path(tempfile.mkdtemp(), name) for name in ("traffic.csv", "traffic.txt")
    ... )
    >>> _ = (
    ...     header.write_text("query,traffic\nq1,900\nq2,12.5\n"),
    ...     bare.write_text("q1 900\nq2 12.5\n"),
    ... )
    >>> read_traffic(header) == read_traffic(bare) == {"q1": 900.0, "q2": 12.5}
    True
    """
    traffic: dict[str, float] = {}
    for row, word in _single_words(path, _WordColumn.of(_TRAFFIC, columns), tell):
        number = parse_number(word)
        if number is None or not 0 <= number < math.inf or (number == 0 and zeros == "refused"):
            expected = (
                "a finite number from 0 on" if zeros == "allowed" else "a finite weight above 0"
            )
            hint = "omit queries with weight 0 from all files" if number == 0 else ""
            raise FileFormatError(row.path, row.line, repr(word), expected, hint)
        traffic[row.query] = number
    return traffic


def read_clusters(
    path: "Paths | Any", *, columns: Mapping[str, str] | None = None, tell: Tell | None = None
) -> dict[str, str]:
    r"""Read the cluster (user, session, topic) of each query, for `clusters` of `compare` and
    `gate`.

    Parameters
    ----------
    path : path, list of paths, or dataframe
        As for `read_categories`, with a column ``cluster`` (or user, session), each query once.
    columns : mapping, optional
        Names of the columns: ``{"query": ..., "cluster": ...}``; guessed where not given.
    tell : callable, optional
        Callback for messages about irregularities; without it they are warnings.

    Returns
    -------
    dict
        The cluster of each query, in the order of the file.

    Raises
    ------
    InputError
        A file cannot be opened.
    FileFormatError
        A column is missing, a cell is empty, or a query appears twice; the message names file and
        line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "users.csv")
    >>> _ = path.write_text("query,user\nq1,ann\nq2,bob\n")
    >>> read_clusters(path)
    {'q1': 'ann', 'q2': 'bob'}
    """
    clusters: dict[str, str] = {}
    for row, word in _single_words(path, _WordColumn.of(_CLUSTER, columns), tell):
        if not word:
            raise FileFormatError(
                row.path,
                row.line,
                "an empty cluster",
                "a name",
                "give an independent query its own cluster",
            )
        clusters[row.query] = word
    return clusters


class _QueryRow(NamedTuple):
    """The word of one query, or several from a list; and its place."""

    query: str
    words: Sequence[str]
    path: str
    line: int


class _WordColumn(NamedTuple):
    """The column with a word for each query."""

    names: tuple[str, ...]  # Usual names, of which the first is its role
    by_role: Mapping[str, str]  # Names that the caller gave, for this role and "query"

    @classmethod
    def of(cls, names: tuple[str, ...], columns: Mapping[str, str] | None) -> "_WordColumn":
        by_role = {}
        for role, name in (columns or {}).items():
            by_role["query" if role in ("query", "user") else role] = str(name)
        if unknown := [role for role in by_role if role not in ("query", *names)]:
            raise OptionError(
                f"columns: found {', '.join(map(repr, unknown))}, expected 'query' (or 'user') and "
                f"{names[0]!r}"
            )
        # every usual name of the word's column is a role; from here on the first is the only one
        word = names[0]
        return cls(
            names, {"query" if role == "query" else word: name for role, name in by_role.items()}
        )

    def choose(self, path: str, line: int, names: Sequence[str]) -> tuple[str, str]:
        """Names of the columns of the query and of the word."""
        usual = _QUERY if _has_any(names, _QUERY) else _USER
        query = self._named("query", path, line, names)
        query = query or _only_column(path, line, names, usual)
        word = self._named(self.names[0], path, line, names)
        others = [name for name in names if name != query]
        # the second of two columns may have any name that is not usual for something else
        if not word and len(names) == 2 and len(others) == 1:
            other = _plain(others[0])
            is_reserved = other in (*_QUERY, *_CATEGORY, *_TRAFFIC, *_CLUSTER)
            if other in self.names or (other and not is_reserved):
                word = others[0]
        return query, word or _only_column(path, line, names, self.names, query)

    def _named(self, role: str, path: str, line: int, names: Sequence[str]) -> str:
        name = self.by_role.get(role, "")
        if name and list(names).count(name) != 1:
            raise FileFormatError(
                path,
                line,
                f"columns {', '.join(map(repr, names))}",
                f"one column {name!r} for the {role}",
            )
        return name


def read_query_ids(path: Paths, *, tell: Tell | None = None) -> list[str]:
    r"""Read the ids of queries, one a line; empty lines do not count, nor does what follows a tab,
    such as the text of the query.
    """
    queries: dict[str, None] = {}
    for source in open_sources(path, Notes(tell)):
        lines = source.read().removeprefix(BYTE_ORDER_MARK).splitlines()
        for number, line in enumerate(lines, 1):
            head, tab, _ = line.partition(b"\t")
            words = [head.strip()] if tab and head.strip() else line.split()
            if len(words) > 1:
                raise FileFormatError(
                    source.path,
                    number,
                    f"{len(words)} words",
                    "the id of a query, or its id, a tab and its text",
                    "end an id that has blanks with a tab",
                )
            if words:
                query = decode_id(words[0])
                if query in queries:
                    raise FileFormatError(
                        source.path, number, f"query {query!r} a second time", "each query once"
                    )
                queries[query] = None
    return list(queries)


def _plain(name: str) -> str:
    return name.strip().lower()


def _has_any(names: Sequence[str], usual: tuple[str, ...]) -> bool:
    return any(_plain(name) in usual for name in names)


def _only_column(
    path: str, line: int, names: Sequence[str], usual: tuple[str, ...], query: str = ""
) -> str:
    """The only column with a usual name, besides that of the query."""
    fitting = [name for name in names if name != query and _plain(name) in usual]
    if len(fitting) != 1:
        problem = (
            f"{'several columns' if fitting else 'no column'} for {usual[0]} among "
            f"{', '.join(map(repr, map(_plain, names)))}"
        )
        if usual is _CATEGORY and _has_any(names, _TRAFFIC):
            hint = "traffic_thirds(read_traffic(PATH)) makes head, torso and tail of traffic"
            command = f"--slices traffic:{path} makes head, torso and tail of traffic"
        else:
            hint = _NAME_COLUMNS
            command = "rename it in the header line"
        raise FileFormatError(
            path, line, problem, f"one named {' or '.join(usual)}", hint, command_hint=command
        )
    return fitting[0]


_NAME_COLUMNS = "rename it in the header line, or name it with columns="


def _single_words(
    table: Any, column: _WordColumn, tell: Tell | None
) -> Iterator[tuple[_QueryRow, str]]:
    """Yield the row and the word of each query; refuse a query on two rows, or with two words."""
    seen = set()
    for row in _rows_of(table, column, tell):
        if row.query in seen:
            hint = "add up its numbers" if column.names is _TRAFFIC else ""
            raise FileFormatError(
                row.path, row.line, f"query {row.query!r} a second time", "each query once", hint
            )
        if len(row.words) != 1:
            raise FileFormatError(
                row.path, row.line, f"{len(row.words)} values for query {row.query!r}", "one value"
            )
        seen.add(row.query)
        yield row, row.words[0]


def _rows_of(table: Any, column: _WordColumn, tell: Tell | None) -> Iterator[_QueryRow]:
    """Rows of a dataframe, or of files in any format."""
    if is_frame(table):
        yield from _of_columns(table, column)
        return
    for source in open_sources(table, Notes(tell)):
        refuse_foreign(source.path, bytes(source.data[:4]))
        start = bytes(source.data[:_HEAD]).removeprefix(BYTE_ORDER_MARK).lstrip()
        if is_columnar(start):
            yield from _of_columns(source, column)
        elif start[:1] in (b"{", b"["):
            yield from _of_json(source, column)
        else:
            yield from _of_text(source, column)


def _of_columns(table: Any, column: _WordColumn) -> Iterator[_QueryRow]:
    """Rows of Parquet, Arrow IPC or a dataframe."""
    if isinstance(table, Source):
        records = columnar_records(table, partial(column.choose, table.path, 0))
    else:
        where = "dataframe"
        records = frame_records(table, where, partial(column.choose, where, 0))
    for record in records:
        names = list(record.fields)  # the chosen columns; a single one if it was named for both
        yield _of_record(record, names[0], names[-1])


def _of_json(source: Source, column: _WordColumn) -> Iterator[_QueryRow]:
    """Records as JSON lines or in an array, or values by query."""
    word = column.names[0]
    text = source.read()
    is_lines = text.lstrip().startswith(b"{") and "jsonl" in sniff(source.data)[:1]
    expected = f"{{query: {word}}}, or records with query and {word}"
    lines = line_records(text.split(b"\n"), source.path) if is_lines else None
    fields: tuple[str, str] | None = None
    for record in lines or json_records(text, source.path, "query", word, expected):
        if fields is None:
            fields = column.choose(record.place, record.line, list(record.fields))
        yield _of_record(record, *fields)


def _of_record(record: FieldRecord, query: str, word: str) -> _QueryRow:
    for name in (query, word):
        if name not in record.fields:
            raise FileFormatError(
                record.place, record.line, f"no field {name!r}", "all fields of the first record"
            )
    query_id = record.fields[query]
    if isinstance(query_id, bool) or not isinstance(query_id, (str, int)) or query_id == "":
        problem = f"query {shown(repr(query_id))}"
        raise FileFormatError(record.place, record.line, problem, "an id: text or a whole number")
    value = record.fields[word]
    values = value if isinstance(value, (list, tuple)) else [value]
    words = [_word(element, record) for element in values]
    return _QueryRow(query=str(query_id), words=words, path=record.place, line=record.line)


def _word(value: Any, record: FieldRecord) -> str:
    if value is None or value != value:  # noqa: PLR0124  (NaN)
        return ""
    if isinstance(value, (Mapping, list, tuple)):
        raise FileFormatError(record.place, record.line, type(value).__name__, "a text or a number")
    return str(value).strip()


def _of_text(source: Source, column: _WordColumn) -> Iterator[_QueryRow]:
    """Query and word of each line, by the columns of a header line where there is one."""
    rows = _rows(source)
    first = next(((row, line) for row, line in rows if not row[0].startswith("#")), None)
    word = column.names[0]
    if first is None:
        raise FileFormatError(
            source.path,
            0,
            "an empty file",
            f"lines QUERY {word.upper()}, or columns query and {word}",
        )
    first_row, first_line = first
    names = [name.strip() for name in first_row]
    has_header = bool(column.by_role) or _has_any(names, (*_QUERY, *_USER))
    query_place = 0
    word_place = 1
    width = 2
    if has_header:
        query_name, word_name = column.choose(source.path, first_line, names)
        query_place = names.index(query_name)
        word_place = names.index(word_name)
        width = len(names)
    for row, line in rows if has_header else chain([first], rows):
        if not has_header and row[0].startswith("#"):
            continue
        if len(row) != width:
            noun = "field"
            expected = f"2: QUERY {word.upper()}"
            if has_header:
                noun = "cell"
                expected = f"{width}, as in the header line"
            plural = "" if len(row) == 1 else "s"
            raise FileFormatError(source.path, line, f"{len(row)} {noun}{plural}", expected)
        query = row[query_place].strip()
        if not query:
            raise FileFormatError(source.path, line, "an empty query", "its id")
        yield _QueryRow(query=query, words=[row[word_place].strip()], path=source.path, line=line)


def _rows(source: Source) -> Iterator[tuple[list[str], int]]:
    """Cells of each line that is not blank, with its number; tabs, commas, semicolons or blanks
    separate, as in the first line of data.
    """
    lines = (
        line
        for line in bytes(source.data[:_HEAD]).splitlines()
        if line.strip() and not line.startswith(b"#")
    )
    head = next(lines, b"")
    delimiter = next((sign for sign in (b"\t", b",", b";") if sign in head), None)
    # an id may hold a semicolon
    if delimiter is not None and not (delimiter == b";" and b" " in head.strip()):
        for rows, numbers in rows_in_batches(source, delimiter.decode()):
            yield from zip(rows, numbers.tolist(), strict=True)
        return
    text = source.read().decode("utf-8-sig", "surrogateescape")
    for number, line in enumerate(_LINE_END.split(text), 1):
        if line.strip():
            yield _BLANKS.split(line.strip()), number


class QueryFiles(NamedTuple):
    """The files that were named."""

    # weights_path, cluster_path: Files of weights and of clusters
    weights_path: str | None = None
    cluster_path: str | None = None
    # A file of categories; or ``traffic:`` and a file of traffic, for head, torso and tail
    slices_text: str | None = None

    @property
    def paths(self) -> list[str]:
        """Paths of the files that are read."""
        slices = None if self.slices_text is None else self.slices_text.removeprefix(_OF_TRAFFIC)
        return [path for path in (self.weights_path, self.cluster_path, slices) if path is not None]

    @property
    def weights_are_of_a_sample(self) -> bool:
        """True if the file of weights has inclusion probabilities, as the samples of `judge draw`
        have.
        """
        if self.weights_path is None or self.weights_path == "-":
            return False
        probability = _WordColumn.of(("probability",), {"probability": "probability"})
        try:
            next(_rows_of(self.weights_path, probability, None), None)
        except FileFormatError:
            return False
        return True

    def read(self, tell: Tell | None = None) -> "OfQueries":
        """Read the files; `tell` gets what readers have to say."""
        weights = clusters = None
        if self.weights_path is not None:
            weights = read_traffic(self.weights_path, zeros="refused", tell=tell)
        if self.cluster_path is not None:
            clusters = read_clusters(self.cluster_path, tell=tell)
        return OfQueries(
            files=self, weights=weights, clusters=clusters, categories=self._categories(tell)
        )

    def _categories(self, tell: Tell | None) -> "Categories | None":
        if self.slices_text is None:
            return None
        path = self.slices_text.removeprefix(_OF_TRAFFIC)
        if not path:
            raise OptionError(
                f"slices: found {self.slices_text!r} without a file, expected {_OF_TRAFFIC}FILE"
            )
        if path == self.slices_text:
            return read_categories(path, tell=tell)
        from idealrank.analysis.comparison.slice_membership import traffic_thirds  # noqa: PLC0415  (few commands have slices)

        return traffic_thirds(read_traffic(path, tell=tell))


class OfQueries(NamedTuple):
    """Content of the query files."""

    files: QueryFiles  # Files with this content
    # weights, clusters, categories: Of each query; None without a file
    weights: Mapping[str, float] | None = None
    clusters: Mapping[str, str] | None = None
    categories: "Categories | None" = None

    def check(self, evaluations: Sequence[Evaluation]) -> None:
        """Refuse a file that lacks a query of the evaluations, and slices of none of them."""
        queries = queries_of(evaluations)
        for path, by_query in (
            (self.files.weights_path, self.weights),
            (self.files.cluster_path, self.clusters),
        ):
            if by_query is None:
                continue
            missing = [query for query in queries if query not in by_query]
            if missing:
                some = f"{missing[0]!r} ({len(missing)} of {len(queries)} queries)"
                raise InputError(
                    f"{path}: found no line for query {some}; expected a line for each query"
                )
        if self.categories is not None and not any(query in self.categories for query in queries):
            first_ids = ", ".join(map(repr, list(self.categories)[:3]))
            some = f"queries {first_ids}" if self.categories else "no query"
            raise InputError(
                f"{self.files.slices_text}: found {some}, expected compared queries, such as "
                f"{queries[0]!r}"
            )
