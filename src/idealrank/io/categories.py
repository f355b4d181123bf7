"""Two columns about queries: their categories, or their traffic."""

from collections.abc import Iterator

import numpy as np

from idealrank.errors import FileFormatError
from idealrank.io.delimited import rows_in_batches
from idealrank.io.notes import Notes, Tell
from idealrank.io.numerals import parse_number
from idealrank.io.sources import Paths, Source, open_sources

_QUERY = ("query", "query_id", "query-id", "qid")
_CATEGORY = ("category", "slice")
_TRAFFIC = ("traffic", "weight", "count", "frequency")


def read_categories(path: Paths, *, tell: Tell | None = None) -> dict[str, tuple[str, ...]]:
    r"""Read which categories each query is in.

    Parameters
    ----------
    path : path, or list of paths
        Comma- or tab-separated, with a header line that names ``query`` (or query_id, qid) and ``category`` (or slice); other columns
        are not looked at. A query may stand in several lines, and is then in each of these categories. Compressed files are unpacked.
    tell : callable, optional
        Gets every message about what was odd; without it they are warnings.

    Returns
    -------
    dict
        Categories of each query, in the order of the file.

    Raises
    ------
    InputError
        A file cannot be opened.
    FileFormatError
        A column is missing, or a cell is empty; with file and line.

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


def read_traffic(path: Paths, *, tell: Tell | None = None) -> dict[str, float]:
    r"""Read how often each query is asked.

    Parameters
    ----------
    path : path, or list of paths
        As for `read_categories`, with a column ``traffic`` (or weight, count, frequency) of finite numbers from 0 on.
    tell : callable, optional
        Gets every message about what was odd; without it they are warnings.

    Returns
    -------
    dict
        Traffic of each query.

    Raises
    ------
    InputError
        A file cannot be opened.
    FileFormatError
        A column is missing, a cell is no such number, or a query stands there twice; with file and line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "traffic.csv")
    >>> _ = path.write_text("query,traffic\nq1,900\nq2,12.5\n")
    >>> read_traffic(path)
    {'q1': 900.0, 'q2': 12.5}
    """
    found: dict[str, float] = {}
    for source in open_sources(path, Notes(tell)):
        for query, text, line in _pairs(source, _TRAFFIC):
            number = parse_number(text)
            if number is None or not np.isfinite(number) or number < 0:
                raise FileFormatError(source.path, line, f"traffic {text!r}", "a finite number from 0 on")
            if query in found:
                raise FileFormatError(source.path, line, f"query {query!r} a second time", "each query once", "add its numbers up")
            found[query] = number
    return found


def _pairs(source: Source, wanted: tuple[str, ...]) -> Iterator[tuple[str, str, int]]:
    """Query, the other cell, and line of each row."""
    head = bytes(source.data[: 1 << 16]).split(b"\n", 1)[0]
    batches = rows_in_batches(source, "\t" if b"\t" in head else ",")
    header, _ = next(batches, ([], None))
    if not header:
        raise FileFormatError(source.path, 0, "an empty file", f"a header line with the columns query and {wanted[0]}")
    names = [name.strip().lower() for name in header[0]]
    places = [_place(source.path, names, known) for known in (_QUERY, wanted)]
    for rows, lines in batches:
        for row, line in zip(rows, lines.tolist(), strict=True):
            if len(row) != len(names):
                raise FileFormatError(source.path, line, f"{len(row)} cells", f"{len(names)}, as in the header line")
            query, other = (row[place].strip() for place in places)
            if not query:
                raise FileFormatError(source.path, line, "an empty query", "its id")
            yield query, other, line


def _place(path: str, names: list[str], known: tuple[str, ...]) -> int:
    places = [place for place, name in enumerate(names) if name in known]
    if len(places) != 1:
        found = f"{'several columns' if places else 'no column'} for {known[0]} among {', '.join(map(repr, names))}"
        raise FileFormatError(path, 1, found, f"one named {' or '.join(known)}", "rename it in the header line")
    return places[0]
