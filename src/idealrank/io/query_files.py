"""Files with a word for each query: its categories, its traffic or weight, the cluster it belongs to."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Literal, NamedTuple

from idealrank.analysis.comparison import traffic_thirds
from idealrank.analysis.comparison.query_table import queries_of
from idealrank.analysis.comparison.slice_differences import Categories
from idealrank.errors import FileFormatError, InputError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.io.formats.delimited import rows_in_batches
from idealrank.io.notes import Notes, Tell
from idealrank.io.numerals import parse_number
from idealrank.io.sources import Paths, Source, open_sources

_QUERY = ("query", "query_id", "query-id", "qid", "topic")
_USER = ("user", "user_id", "user-id", "userid")  # the query of recommenders, where no column has a name of _QUERY
_CATEGORY = ("category", "slice")
_TRAFFIC = ("weight", "traffic", "count", "frequency")
_CLUSTER = ("cluster", "user", "session")
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANKS = re.compile(r"[ \t]+")
_OF_TRAFFIC = "traffic:"  # before the path of a file of traffic: its head, torso and tail are slices


def read_categories(path: Paths, *, tell: Tell | None = None) -> dict[str, tuple[str, ...]]:
    r"""Read the categories of each query.

    Parameters
    ----------
    path : path, or list of paths
        Comma- or tab-separated file. Its header names ``query`` (or query_id, query-id, qid, topic, user, user_id) and ``category`` (or
        slice). If there are only two columns, the second may have any name except one reserved for other files; further columns are
        ignored. Without a header: lines ``QUERY CATEGORY``, separated by a comma, a tab or blanks; lines that begin with ``#`` are
        comments. A query on several lines belongs to several categories. Compressed files are decompressed; ``-`` is standard input.
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
    found: dict[str, dict[str, None]] = {}
    for source in open_sources(path, Notes(tell)):
        for query, category, line in _pairs(source, _CATEGORY):
            if not category:
                raise FileFormatError(source.path, line, "an empty category", "a name", "leave out the line of a query without one")
            found.setdefault(query, {})[category] = None
    return {query: tuple(names) for query, names in found.items()}


def read_traffic(path: Paths, *, zeros: Literal["allowed", "refused"] = "allowed", tell: Tell | None = None) -> dict[str, float]:
    r"""Read the traffic or weight of each query.

    Parameters
    ----------
    path : path, or list of paths
        As for `read_categories`, with a column ``traffic`` (or weight, count, frequency) of finite numbers of at least 0, each query once.
    zeros : {"allowed", "refused"}
        Whether zeros are allowed. They are refused in weights: a query without weight cannot be compared.
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
        A column is missing, a cell is not such a number, or a query appears twice; the message names file and line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> header, bare = (pathlib.Path(tempfile.mkdtemp(), name) for name in ("traffic.csv", "traffic.txt"))
    >>> _ = header.write_text("query,traffic\nq1,900\nq2,12.5\n"), bare.write_text("q1 900\nq2 12.5\n")
    >>> read_traffic(header) == read_traffic(bare) == {"q1": 900.0, "q2": 12.5}
    True
    """
    found: dict[str, float] = {}
    for one in _once(path, _TRAFFIC, tell):
        number = parse_number(one.word)
        if number is None or not 0 <= number < math.inf or (number == 0 and zeros == "refused"):
            expected = "a finite number from 0 on" if zeros == "allowed" else "a finite weight above 0"
            hint = "leave out queries that count nothing from all files" if number == 0 else ""
            raise FileFormatError(one.path, one.line, repr(one.word), expected, hint)
        found[one.query] = number
    return found


def read_clusters(path: Paths, *, tell: Tell | None = None) -> dict[str, str]:
    r"""Read the cluster (user, session, topic) of each query, for `clusters` of `compare` and `gate`.

    Parameters
    ----------
    path : path, or list of paths
        As for `read_categories`, with a column ``cluster`` (or user, session), each query once.
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
        A column is missing, a cell is empty, or a query appears twice; the message names file and line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "users.csv")
    >>> _ = path.write_text("query,user\nq1,ann\nq2,bob\n")
    >>> read_clusters(path)
    {'q1': 'ann', 'q2': 'bob'}
    """
    found: dict[str, str] = {}
    for one in _once(path, _CLUSTER, tell):
        if not one.word:
            raise FileFormatError(one.path, one.line, "an empty cluster", "a name", "give a query that stands alone a cluster of its own")
        found[one.query] = one.word
    return found


class _Read(NamedTuple):
    query: str
    word: str
    path: str
    line: int


def _once(path: Paths, wanted: tuple[str, ...], tell: Tell | None) -> Iterator[_Read]:
    """The word of each query, which may stand there once."""
    seen = set()
    for source in open_sources(path, Notes(tell)):
        for query, word, line in _pairs(source, wanted):
            if query in seen:
                hint = "add its numbers up" if wanted is _TRAFFIC else ""
                raise FileFormatError(source.path, line, f"query {query!r} a second time", "each query once", hint)
            seen.add(query)
            yield _Read(query, word, source.path, line)


def _pairs(source: Source, wanted: tuple[str, ...]) -> Iterator[tuple[str, str, int]]:
    """Query, the other cell, and line of each row."""
    rows = ((row, line) for row, line in _rows(source))
    first = next((found for found in rows if not found[0][0].startswith("#")), None)
    if first is None:
        raise FileFormatError(source.path, 0, "an empty file", f"lines QUERY {wanted[0].upper()}, or columns query and {wanted[0]}")
    names = [name.strip().lower() for name in first[0]]
    headed = any(name in _QUERY or name in _USER for name in names)
    places, width = _places(source.path, first[1], names, wanted) if headed else ((0, 1), 2)
    for row, line in rows if headed else chain([first], rows):
        if not headed and row[0].startswith("#"):
            continue
        if len(row) != width:
            cells, expected = ("cell", f"{width}, as in the header line") if headed else ("field", f"2: QUERY {wanted[0].upper()}")
            raise FileFormatError(source.path, line, f"{len(row)} {cells}{'s' * (len(row) != 1)}", expected)
        query, word = (row[place].strip() for place in places)
        if not query:
            raise FileFormatError(source.path, line, "an empty query", "its id")
        yield query, word, line


def _rows(source: Source) -> Iterator[tuple[list[str], int]]:
    """Cells of each line that is not blank, with its number; tabs, else commas, else blanks separate, as in the first line of data."""
    lines = (line for line in bytes(source.data[: 1 << 16]).splitlines() if line.strip() and not line.startswith(b"#"))
    head = next(lines, b"")
    if b"\t" in head or b"," in head:
        for rows, numbers in rows_in_batches(source, "\t" if b"\t" in head else ","):
            yield from zip(rows, numbers.tolist(), strict=True)
        return
    text = source.read().decode("utf-8-sig", "surrogateescape")
    for number, line in enumerate(_LINE_END.split(text), 1):
        if line.strip():
            yield _BLANKS.split(line.strip()), number


def _places(path: str, line: int, names: list[str], wanted: tuple[str, ...]) -> tuple[tuple[int, int], int]:
    """Columns of the query and of the word, and how many there are."""
    query = _place(path, line, names, _QUERY if any(name in _QUERY for name in names) else _USER)
    other = names[1 - query] if len(names) == 2 else ""
    if other in wanted or (other and not any(other in known for known in (_QUERY, _CATEGORY, _TRAFFIC, _CLUSTER))):
        return (query, 1 - query), 2
    return (query, _place(path, line, names, wanted)), len(names)


def _place(path: str, line: int, names: list[str], known: tuple[str, ...]) -> int:
    places = [place for place, name in enumerate(names) if name in known]
    if len(places) != 1:
        found = f"{'several columns' if places else 'no column'} for {known[0]} among {', '.join(map(repr, names))}"
        thirds = known is _CATEGORY and any(name in _TRAFFIC for name in names)
        hint = "traffic_thirds(read_traffic(PATH)) makes head, torso and tail of traffic" if thirds else "rename it in the header line"
        command = f"--slices traffic:{path} makes head, torso and tail of traffic" if thirds else ""
        raise FileFormatError(path, line, found, f"one named {' or '.join(known)}", hint, command_hint=command)
    return places[0]


@dataclass(frozen=True)
class QueryFiles:
    """The files that were named.

    Attributes
    ----------
    weights_path, cluster_path : str or None
        Files of weights and of clusters.
    slices_text : str or None
        A file of categories; or ``traffic:`` and a file of traffic, for head, torso and tail.

    Examples
    --------
    >>> QueryFiles("traffic.csv", slices_text="traffic:traffic.csv").paths
    ['traffic.csv', 'traffic.csv']
    """

    weights_path: str | None = None
    cluster_path: str | None = None
    slices_text: str | None = None

    @property
    def paths(self) -> list[str]:
        """Those that are read."""
        slices = None if self.slices_text is None else self.slices_text.removeprefix(_OF_TRAFFIC)
        return [path for path in (self.weights_path, self.cluster_path, slices) if path is not None]

    def read(self, tell: Tell | None = None) -> "OfQueries":
        """Read the files; `tell` gets what readers have to say."""
        weights = None if self.weights_path is None else read_traffic(self.weights_path, zeros="refused", tell=tell)
        clusters = None if self.cluster_path is None else read_clusters(self.cluster_path, tell=tell)
        return OfQueries(self, weights, clusters, self._categories(tell))

    def _categories(self, tell: Tell | None) -> Categories | None:
        if self.slices_text is None:
            return None
        path = self.slices_text.removeprefix(_OF_TRAFFIC)
        if path == self.slices_text:
            return read_categories(path, tell=tell)
        return traffic_thirds(read_traffic(path, tell=tell))


@dataclass(frozen=True)
class OfQueries:
    """Content of the query files.

    Attributes
    ----------
    files : QueryFiles
        Where it stands.
    weights, clusters, categories : dict or None
        Of each query; None without a file.

    Examples
    --------
    >>> import idealrank as ir
    >>> OfQueries(QueryFiles("w.csv"), {"q1": 2.0}).check([ir.evaluate({"q1": {"x": 1}}, {"q1": ["x"]}, "RR")])
    """

    files: QueryFiles
    weights: Mapping[str, float] | None = None
    clusters: Mapping[str, str] | None = None
    categories: Categories | None = None

    def check(self, evaluations: Sequence[Evaluation]) -> None:
        """Refuse a file that lacks a query of the evaluations, and slices of none of them.

        Raises
        ------
        InputError
            It does; by the name of the file.
        """
        wanted = queries_of(evaluations)
        for path, words in ((self.files.weights_path, self.weights), (self.files.cluster_path, self.clusters)):
            missing = [] if words is None else [query for query in wanted if query not in words]
            if missing:
                some = f"{missing[0]!r} ({len(missing)} of {len(wanted)} queries)"
                raise InputError(f"{path}: found nothing for query {some}; expected a line for each query")
        if self.categories is not None and not any(query in self.categories for query in wanted):
            some = ", ".join(map(repr, list(self.categories)[:3]))
            raise InputError(f"{self.files.slices_text}: found queries {some}, expected some of those compared, as {wanted[0]!r}")
