"""Data for the scripts of a page: runs, queries and values in one part, rankings in another, within
the size limit.

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
from idealrank.pages.figures.specifications import static_rows, static_words, templates
from idealrank.pages.figures.theme import LIGHT
from idealrank.pages.page.packed_lists import as_json, fitting, lists_of, pieces_of, size_packed
from idealrank.pages.page.short_ids import shortened
from idealrank.reports.leading_pairs import leading_pairs
from idealrank.reports.subject import Subject
from idealrank.reports.table.short_names import TITLE, told_apart

NOT_COUNTED = 65_535
"""The code of a value that does not count."""

STEPS = 65_534
"""Steps of the range of a measure whose distinct values are too many for a table."""

DISTINCT = 20_000
"""Distinct values of a measure of which a table is kept, so that every number of the page is
exact.
"""


def coded(
    values: FloatArray, counted: BoolArray, *, most_distinct: int = DISTINCT
) -> dict[str, Any]:
    """Values as codes of two bytes, with what turns them into numbers again."""
    kept = counted & np.isfinite(values)
    table, codes_kept = np.unique(values[kept], return_inverse=True)
    codes = np.full(values.shape, NOT_COUNTED, "<u2")
    if table.size <= min(most_distinct, NOT_COUNTED):
        codes[kept] = codes_kept.reshape(-1)
        return {
            "codes": _base64(codes.tobytes()),
            "table": _base64(table.astype("<f8").tobytes()),
            "low": 0.0,
            "step": 0.0,
            "error": 0.0,
        }
    low = float(table[0])
    # halves first: the range of large numbers has no overflow
    step = float(table[-1] / STEPS - table[0] / STEPS)
    codes[kept] = np.clip(np.rint((values[kept] - low) / step), 0, STEPS).astype("<u2")
    error = float(np.abs(low + step * codes[kept].astype(np.float64) - values[kept]).max())
    return {
        "codes": _base64(codes.tobytes()),
        "table": None,
        "low": low,
        "step": step,
        "error": error,
    }


def decoded(found: dict[str, Any], shape: tuple[int, int]) -> FloatArray:
    """Decode values as the page's script does; NaN is a value that does not count."""
    codes = np.frombuffer(base64.b64decode(found["codes"]), "<u2").reshape(shape)
    kept = codes != NOT_COUNTED
    values = np.full(shape, np.nan)
    if found["table"] is None:
        values[kept] = found["low"] + found["step"] * codes[kept].astype(np.float64)
    else:
        values[kept] = np.frombuffer(base64.b64decode(found["table"]), "<f8")[codes[kept]]
    return values


def packed(content: bytes) -> str:
    """Deflated (zlib's layout, which browsers call "deflate"), then base64; the same content gives
    the same text.
    """
    return _base64(zlib.compress(content, 9))


def unpacked(text: str) -> bytes:
    """The content again."""
    return zlib.decompress(base64.b64decode(text))


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


# with so many of them each may have a table of `DISTINCT` values; with more they share that room
_MEASURES = 3
_TEXT = 300  # letters of a query's text
_SHARE_OF_IDS = 0.25  # of all room; longer ones are shortened, so that rankings have some
_SHARE_OF_TEXTS = 0.4  # of the room that the values leave; rankings take the rest
_STEP = 0.99  # so many of the rankings that should fit are kept when an estimate was too bold


@dataclass(frozen=True, kw_only=True)
class Payload:
    """Both parts, packed, and what had no room in them."""

    # data, lists: Deflated JSON in base64
    data: str
    lists: str
    # texts, rankings: Queries whose text and whose rankings are in them
    texts: int
    rankings: int
    # By measure: the largest rounding error of its values; 0 where they are exact
    errors: Mapping[str, float]


def payload(subject: Subject) -> dict[str, Any]:
    """Everything that scripts read, whatever its size."""
    ids = shortened(queries_of(subject), None)
    return _data(subject, ids, dict(_texts(subject))) | lists_of(
        subject, list(pieces_of(subject, queries_of(subject)))
    )


def fitted(
    subject: Subject, ids: Mapping[str, str], room: int, *, shorter: bool = False
) -> Payload | None:
    """Both parts in so many letters: values always, then texts of queries, then rankings in the
    order of the subject.
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
    errors = {
        measure["text"]: values["error"]
        for measure, values in zip(found["measures"], found["values"], strict=True)
    }
    return Payload(data=data, lists=lists, texts=len(texts), rankings=len(pieces), errors=errors)


def queries_of(subject: Subject) -> list[str]:
    """Queries of all evaluations, in the order of the first."""
    return list(dict.fromkeys(query for one in subject.evaluations for query in one.queries))


def values_of(subject: Subject, measure: Measure) -> tuple[FloatArray, BoolArray]:
    """Values and whether they count, shape (n_runs, n_queries), in the order of `queries_of`."""
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
    """Pairs of runs by number, the one that is shown first in front."""
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
        "values": [
            coded(*values_of(subject, measure), most_distinct=most) for measure in subject.measures
        ],
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
    return {
        "text": str(measure),
        "direction": measure.direction,
        "low": low,
        "high": high,
        "cutoff": cutoff,
    }


def _slices(subject: Subject, queries: list[str]) -> dict[str, list[int]]:
    slices: dict[str, list[int]] = {}
    for number, query in enumerate(queries):
        for name in subject.categories.get(query, ()):
            slices.setdefault(name, []).append(number)
    return slices


def _made(subject: Subject) -> dict[str, Any]:
    made = subject.made
    return {
        "command": made.command,
        "commit": made.commit,
        "when": made.when,
        "version": subject.evaluations[0].provenance.version,
    }


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
