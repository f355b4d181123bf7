"""Data for the scripts of a page: runs, queries and values in one part, rankings in another, within the size limit.

Values are whole numbers of two bytes; everything is deflated.
"""

import base64
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.data.types import BoolArray, FloatArray
from idealrank.measures.measure import Measure
from idealrank.reports.figures.specifications import static_rows, static_words, templates
from idealrank.reports.figures.theme import LIGHT, TITLE, told_apart
from idealrank.reports.leading_pairs import leading_pairs
from idealrank.reports.page.packed_lists import as_json, fitting, lists_of, pieces_of, size_packed
from idealrank.reports.page.short_ids import shortened
from idealrank.reports.subject import Subject

NOT_COUNTED = 65_535
"""The code of a value that does not count."""

STEPS = 65_534
"""Steps of the range of a measure whose distinct values are too many for a table."""

DISTINCT = 20_000
"""Distinct values of a measure of which a table is kept, so that every number of the page is exact."""


def coded(values: FloatArray, counted: BoolArray, *, most_distinct: int = DISTINCT) -> dict[str, Any]:
    """Values as codes of two bytes, with what turns them into numbers again.

    Parameters
    ----------
    values : float64 array, shape (n_runs, n_queries)
        Of one measure.
    counted : bool array, shape (n_runs, n_queries)
        Which of them count; the others, and what is not finite, have the code 65,535.
    most_distinct : int
        Distinct values up to which a table of them is kept, at most 65,535.

    Returns
    -------
    dict
        ``codes``: base64 of unsigned 16-bit numbers, little-endian, a run after the other. ``table``: base64 of the distinct values as
        float64, little-endian, or None; then a value is ``low + step * code``. ``error``: the largest rounding error, 0 with a table.

    Examples
    --------
    >>> found = coded(np.array([[0.5, 0.0, 0.5]]), np.array([[True, True, False]]))
    >>> decoded(found, (1, 3)), found["error"]
    (array([[0.5, 0. , nan]]), 0.0)
    """
    kept = counted & np.isfinite(values)
    table, codes_kept = np.unique(values[kept], return_inverse=True)
    codes = np.full(values.shape, NOT_COUNTED, "<u2")
    if table.size <= min(most_distinct, NOT_COUNTED):
        codes[kept] = codes_kept.reshape(-1)
        return {"codes": _base64(codes.tobytes()), "table": _base64(table.astype("<f8").tobytes()), "low": 0.0, "step": 0.0, "error": 0.0}
    low = float(table[0])
    step = float(table[-1] / STEPS - table[0] / STEPS)  # halves first: the range of large numbers has no overflow
    codes[kept] = np.clip(np.rint((values[kept] - low) / step), 0, STEPS).astype("<u2")
    error = float(np.abs(low + step * codes[kept].astype(np.float64) - values[kept]).max())
    return {"codes": _base64(codes.tobytes()), "table": None, "low": low, "step": step, "error": error}


def decoded(found: dict[str, Any], shape: tuple[int, int]) -> FloatArray:
    """Decode values as the page's script does; NaN is a value that does not count.

    Examples
    --------
    >>> decoded(coded(np.array([[1 / 3]]), np.array([[True]])), (1, 1))
    array([[0.33333333]])
    """
    codes = np.frombuffer(base64.b64decode(found["codes"]), "<u2").reshape(shape)
    kept = codes != NOT_COUNTED
    values = np.full(shape, np.nan)
    if found["table"] is None:
        values[kept] = found["low"] + found["step"] * codes[kept].astype(np.float64)
    else:
        values[kept] = np.frombuffer(base64.b64decode(found["table"]), "<f8")[codes[kept]]
    return values


def packed(content: bytes) -> str:
    """Deflated (zlib's layout, which browsers call "deflate"), then base64; the same content gives the same text.

    Examples
    --------
    >>> unpacked(packed(b"a" * 1000)) == b"a" * 1000
    True
    """
    return _base64(zlib.compress(content, 9))


def unpacked(text: str) -> bytes:
    """The content again.

    Examples
    --------
    >>> unpacked(packed(b"one"))
    b'one'
    """
    return zlib.decompress(base64.b64decode(text))


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


_MEASURES = 3  # with so many of them each may have a table of `DISTINCT` values; with more they share that room
_TEXT = 300  # letters of a query's text
_SHARE_OF_IDS = 0.25  # of all room; longer ones are shortened, so that rankings have some
_SHARE_OF_TEXTS = 0.4  # of the room that the values leave; rankings take the rest
_STEP = 0.99  # so many of the rankings that should fit are kept when an estimate was too bold


@dataclass(frozen=True, kw_only=True)
class Payload:
    """Both parts, packed, and what had no room in them.

    Attributes
    ----------
    data, lists : str
        Deflated JSON in base64.
    texts, rankings : int
        Queries whose text and whose rankings are in them.
    errors : mapping of str to float
        By measure: the largest rounding error of its values; 0 where they are exact.
    """

    data: str
    lists: str
    texts: int
    rankings: int
    errors: Mapping[str, float]


def payload(subject: Subject) -> dict[str, Any]:
    """Everything that scripts read, whatever its size.

    Parameters
    ----------
    subject : Subject
        What the page shows.

    Returns
    -------
    dict
        ``runs``, ``queries``, ``documents``: ids, known by their places from here on. ``shortened``: places of queries whose id has no
        middle. ``labels``: names of runs in titles.
        ``measures``: text, direction, low, high, cutoff. ``pairs``: of runs, the one shown first in front.
        ``texts``, ``documentTexts``: by place. ``values``: by measure, see `coded`.
        ``slices``: queries by name. ``lists``: by query, for each run ``d`` documents (-1 where unknown), ``g`` grades, ``t`` 1 where
        tied, ``a`` contributions, ``n`` length, ``b`` relevant documents further down; and ``relevant``. ``specs``, ``rows``, ``words``:
        of plots, see `specs`. ``made``: command, commit, time, version.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> found = payload(Subject(evaluations=(one,), measures=one.measures))
    >>> found["runs"], found["queries"], found["measures"][0]["text"]
    (['run'], ['q'], 'RR')
    """
    ids = shortened(queries_of(subject), None)
    return _data(subject, ids, dict(_texts(subject))) | lists_of(subject, list(pieces_of(subject, queries_of(subject))))


def fitted(subject: Subject, ids: Mapping[str, str], room: int, *, shorter: bool = False) -> Payload | None:
    """Both parts in so many letters: values always, then texts of queries, then rankings in the order of the subject.

    Parameters
    ----------
    subject : Subject
        What the page shows.
    ids : mapping of str to str
        What stands for the id of each query.
    room : int
        Letters for both parts together. The ids and values of all queries are never left out, so that a page of very many is larger.
    shorter : bool
        Whether there are shorter ids: then None is the answer if these take more than their share.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> fitted(Subject(evaluations=(one,), measures=one.measures), {"q": "q"}, 10_000).rankings
    0
    """
    found = _data(subject, ids, {})
    data = packed(as_json(found))
    free = room - len(data)
    if shorter and (free < 0 or len(packed(as_json(found["queries"]))) > room * _SHARE_OF_IDS):
        return None
    texts = _some_texts(subject, free * _SHARE_OF_TEXTS)
    if texts:
        found["texts"] = texts
        data = packed(as_json(found))
    pieces, deflated = fitting(subject, queries_of(subject), room - len(data))
    lists = _base64(deflated)
    while pieces and len(lists) > room - len(data):
        pieces = pieces[: max(0, int(len(pieces) * (room - len(data)) / len(lists) * _STEP))]
        lists = packed(as_json(lists_of(subject, pieces)))
    errors = {measure["text"]: values["error"] for measure, values in zip(found["measures"], found["values"], strict=True)}
    return Payload(data=data, lists=lists, texts=len(texts), rankings=len(pieces), errors=errors)


def queries_of(subject: Subject) -> list[str]:
    """Queries of all evaluations, in the order of the first.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> queries_of(Subject(evaluations=(one,), measures=one.measures))
    ['q']
    """
    return list(dict.fromkeys(query for one in subject.evaluations for query in one.queries))


def values_of(subject: Subject, measure: Measure) -> tuple[FloatArray, BoolArray]:
    """Values and whether they count, shape (n_runs, n_queries), in the order of `queries_of`.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> values_of(Subject(evaluations=(one,), measures=one.measures), one.measures[0])
    (array([[1.]]), array([[ True]]))
    """
    queries = queries_of(subject)
    row_of = {query: row for row, query in enumerate(queries)}
    values = np.full((len(subject.evaluations), len(queries)), np.nan)
    counted = np.zeros(values.shape, bool)
    for run, one in enumerate(subject.evaluations):
        rows = np.fromiter((row_of[query] for query in one.queries), np.int64, len(one.queries))
        column = one.measures.index(measure)
        values[run, rows] = one.values[:, column]
        counted[run, rows] = one.scored[:, column]
    return values, counted


def pairs_of(subject: Subject) -> list[tuple[int, int]]:
    """Pairs of runs by number, the one that is shown first in front.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> pairs_of(Subject(evaluations=(one, one), measures=one.measures))
    [(0, 1)]
    """
    if subject.comparison is not None:
        place = {name: number for number, name in enumerate(subject.names)}
        return [(place[pair.a], place[pair.b]) for pair in leading_pairs(subject.comparison)]
    runs = range(len(subject.evaluations))
    return [(a, b) for a in runs for b in runs if a < b]


def _data(subject: Subject, ids: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, Any]:
    queries = queries_of(subject)
    most = DISTINCT * _MEASURES // max(_MEASURES, len(subject.measures))
    return {
        "runs": list(subject.names),
        "labels": told_apart(subject.names, TITLE),
        "measures": [_measure(measure) for measure in subject.measures],
        "pairs": pairs_of(subject),
        "queries": [ids[query] for query in queries],
        "shortened": [number for number, query in enumerate(queries) if ids[query] != query],
        "texts": texts,
        "values": [coded(*values_of(subject, measure), most_distinct=most) for measure in subject.measures],
        "slices": _slices(subject, queries),
        "specs": templates(subject),
        "rows": static_rows(subject),
        "words": static_words(subject),
        "paper": dict(LIGHT),
        "made": _made(subject),
    }


def _measure(measure: Measure) -> dict[str, Any]:
    low, high = (float(end) if np.isfinite(end) else None for end in measure.bounds)
    cutoff = measure.cutoff if isinstance(measure.cutoff, int) else None
    return {"text": str(measure), "direction": measure.direction, "low": low, "high": high, "cutoff": cutoff}


def _slices(subject: Subject, queries: list[str]) -> dict[str, list[int]]:
    slices: dict[str, list[int]] = {}
    for number, query in enumerate(queries):
        for name in subject.categories.get(query, ()):
            slices.setdefault(name, []).append(number)
    return slices


def _made(subject: Subject) -> dict[str, Any]:
    made = subject.made
    return {"command": made.command, "commit": made.commit, "when": made.when, "version": subject.evaluations[0].provenance.version}


def _texts(subject: Subject) -> Iterator[tuple[str, str]]:
    """Number and text of each query that has one, those with rankings first."""
    place = {query: number for number, query in enumerate(queries_of(subject))}
    for query in dict.fromkeys((*subject.lists, *place)):
        if query in place and (text := subject.query_texts.get(query)):
            yield str(place[query]), text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"


def _some_texts(subject: Subject, room: float) -> dict[str, str]:
    found: dict[str, str] = {}
    measure = _Deflated()
    for number, text in _texts(subject):
        if measure.add({number: text}) > room:
            break
        found[number] = text
    return found


class _Deflated:
    """Size of packed JSON, piece after piece."""

    def __init__(self) -> None:
        self._deflate, self._size = zlib.compressobj(6), 0

    def add(self, piece: Any) -> int:
        self._size += len(self._deflate.compress(as_json(piece)))
        return size_packed(self._size)
