"""Files with one word for each query: its weight, or the cluster it belongs to."""

import math
import re

from idealrank.errors import FileFormatError
from idealrank.io.notes import Notes
from idealrank.io.numerals import parse_number
from idealrank.io.sources import AnyPath, open_sources

_SEPARATED = re.compile(r"\s*[,\t]\s*|\s+")
_HEADS = {"query", "query_id", "query-id", "qid", "topic"}


def read_labels(path: AnyPath, notes: Notes) -> dict[str, str]:
    r"""A label for each query: lines ``QUERY LABEL``, separated by a comma, a tab or blanks.

    Parameters
    ----------
    path : path
        May be compressed; ``-`` is standard input. Lines that begin with ``#`` and a first line that begins with ``query`` are not data.
    notes : Notes
        Told about odd endings.

    Raises
    ------
    FileFormatError
        A line has other fields, or names a query a second time; or there is no line.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "users.csv")
    >>> _ = file.write_text("query,user\nq1,ann\nq2,bob\n")
    >>> read_labels(file, Notes())
    {'q1': 'ann', 'q2': 'bob'}
    """
    return {query: label for query, (label, _, _) in _read(path, notes, "QUERY LABEL").items()}


def read_weights(path: AnyPath, notes: Notes) -> dict[str, float]:
    r"""A weight for each query: lines ``QUERY WEIGHT``, as for `read_labels`.

    Raises
    ------
    FileFormatError
        As for `read_labels`; or a weight is no finite number above 0.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp(), "traffic.tsv")
    >>> _ = file.write_text("q1\t120\nq2\t3.5\n")
    >>> read_weights(file, Notes())
    {'q1': 120.0, 'q2': 3.5}
    """
    weights = {}
    for query, (text, source, line) in _read(path, notes, "QUERY WEIGHT").items():
        weight = parse_number(text)
        if weight is None or not 0 < weight < math.inf:
            raise FileFormatError(source, line, text, "a finite weight above 0", "leave out queries that count nothing from all files")
        weights[query] = weight
    return weights


def _read(path: AnyPath, notes: Notes, fields: str) -> dict[str, tuple[str, str, int]]:
    """The second field of each line by the first, with the place where it stands."""
    found: dict[str, tuple[str, str, int]] = {}
    for source in open_sources(path, notes):
        for number, line in enumerate(bytes(source.data).decode("utf-8-sig", "surrogateescape").splitlines(), 1):
            parts = _SEPARATED.split(line.strip())
            if not line.strip() or line.startswith("#") or (number == 1 and parts[0].lower() in _HEADS):
                continue
            if len(parts) != 2 or not all(parts):
                raise FileFormatError(source.path, number, f"{len(parts)} fields", f"2: {fields}")
            query, word = parts
            if query in found:
                raise FileFormatError(source.path, number, f"query {query} a second time", "each query once")
            found[query] = (word, source.path, number)
    if not found:
        raise FileFormatError(str(path), 0, "no line", f"lines of {fields}")
    return found
