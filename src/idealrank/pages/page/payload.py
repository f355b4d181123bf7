"""Data for the scripts of a page: runs, queries and values in one part, rankings in another, within
the size limit.

Values are whole numbers of two bytes; everything is deflated.
"""

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np

from idealrank.data.types import BoolArray, FloatArray
from idealrank.measures.measure import Measure
from idealrank.pages.figures.specifications import static_rows, static_words, templates
from idealrank.pages.figures.theme import LIGHT
from idealrank.pages.page.packed_rankings import fitting, lists_of, pieces_of
from idealrank.pages.page.short_ids import shortened
from idealrank.pages.page.value_codes import (
    DISTINCT,
    as_json,
    base64_length,
    base64_text,
    coded,
    packed,
)
from idealrank.reports.subject import Subject, leading_pairs
from idealrank.reports.table.short_names import TITLE, told_apart

# Measures that may have a table of `DISTINCT` values each; more measures share that room.
_MEASURES = 3
_TEXT = 300  # letters of a query's text
_SHARE_OF_IDS = 0.25  # of all room: longer ids are shortened, so that rankings have some
_SHARE_OF_TEXTS = 0.4  # of the room that the values leave; rankings take the rest
# When an estimate was too low, this share of the rankings that should fit is kept.
_SAFETY = 0.99


@dataclass(frozen=True, kw_only=True)
class Payload:
    """Both parts, packed, and how much is in them."""

    # data, lists: Deflated JSON in base64
    data: str
    lists: str
    # texts, rankings: Queries whose text and whose rankings are in them
    texts: int
    rankings: int
    # By measure: the largest rounding error of its values; 0 where they are exact
    errors: Mapping[str, float]


def payload(subject: Subject) -> dict[str, Any]:
    """Return everything that scripts read, whatever its size."""
    queries = queries_of(subject)
    pieces = list(pieces_of(subject, queries))
    content = _data(subject, shortened(queries, None), dict(_texts(subject)))
    return content | lists_of(subject, pieces)


def fitted(
    subject: Subject, ids: Mapping[str, str], room: int, *, shorter: bool = False
) -> Payload | None:
    """Fit both parts into so many letters: values always, then texts of queries, then rankings in
    the order of the subject.
    """
    content = _data(subject, ids, {})
    data = packed(as_json(content))
    free = room - len(data)
    # a page with shorter ids is better than one whose ids leave little room
    if shorter and (free < 0 or len(packed(as_json(content["queries"]))) > room * _SHARE_OF_IDS):
        return None
    texts = _some_texts(subject, free * _SHARE_OF_TEXTS)
    if texts:
        content["texts"] = texts
        data = packed(as_json(content))
    pieces, deflated = fitting(subject, queries_of(subject), room - len(data))
    lists = base64_text(deflated)
    while pieces and len(lists) > room - len(data):
        fitting_now = int(len(pieces) * (room - len(data)) / len(lists) * _SAFETY)
        pieces = pieces[: max(0, fitting_now)]
        lists = packed(as_json(lists_of(subject, pieces)))
    errors = {
        measure["text"]: values["error"]
        for measure, values in zip(content["measures"], content["values"], strict=True)
    }
    return Payload(data=data, lists=lists, texts=len(texts), rankings=len(pieces), errors=errors)


def queries_of(subject: Subject) -> list[str]:
    """Return the queries of all evaluations, in the order of the first."""
    every = chain.from_iterable(evaluation.queries for evaluation in subject.evaluations)
    return list(dict.fromkeys(every))


def values_of(subject: Subject, measure: Measure) -> tuple[FloatArray, BoolArray]:
    """Return values and whether they count, shape (n_runs, n_queries), in the order of
    `queries_of`.
    """
    queries = queries_of(subject)
    row_of = {query: row for row, query in enumerate(queries)}
    values = np.full((len(subject.evaluations), len(queries)), np.nan)
    counted = np.zeros(values.shape, bool)
    for run, evaluation in enumerate(subject.evaluations):
        rows = np.fromiter(
            (row_of[query] for query in evaluation.queries), np.int64, len(evaluation.queries)
        )
        column = evaluation.measures.index(measure)
        values[run, rows] = evaluation.values[:, column]
        counted[run, rows] = evaluation.scored[:, column]
    return values, counted


def pairs_of(subject: Subject) -> list[tuple[int, int]]:
    """Return the pairs of runs by number, the one that is shown first in front."""
    if subject.comparison is not None:
        place_of = {name: place for place, name in enumerate(subject.names)}
        return [(place_of[pair.a], place_of[pair.b]) for pair in leading_pairs(subject.comparison)]
    return list(combinations(range(len(subject.evaluations)), 2))


def _data(subject: Subject, ids: Mapping[str, str], texts: Mapping[str, str]) -> dict[str, Any]:
    queries = queries_of(subject)
    most_distinct = DISTINCT * _MEASURES // max(_MEASURES, len(subject.measures))
    return {
        "runs": list(subject.names),
        "labels": told_apart(subject.names, TITLE),
        "measures": [_measure(measure) for measure in subject.measures],
        "pairs": pairs_of(subject),
        "queries": [ids[query] for query in queries],
        "shortened": [number for number, query in enumerate(queries) if ids[query] != query],
        "texts": texts,
        "values": [
            coded(*values_of(subject, measure), most_distinct=most_distinct)
            for measure in subject.measures
        ],
        "slices": _slices(subject, queries),
        "specs": templates(subject),
        "rows": static_rows(subject),
        "words": static_words(subject),
        "paper": dict(LIGHT),
        "made": _origin(subject),
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


def _origin(subject: Subject) -> dict[str, Any]:
    made = subject.made
    return {
        "command": made.command,
        "commit": made.commit,
        "when": made.when,
        "version": subject.evaluations[0].provenance.version,
    }


def _texts(subject: Subject) -> Iterator[tuple[str, str]]:
    """Yield the number and text of each query with a text, queries with rankings first."""
    place_of = {query: place for place, query in enumerate(queries_of(subject))}
    for query in dict.fromkeys((*subject.lists, *place_of)):
        text = subject.query_texts.get(query)
        if text and query in place_of:
            yield str(place_of[query]), text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"


def _some_texts(subject: Subject, room: float) -> dict[str, str]:
    texts: dict[str, str] = {}
    packed_size = _PackedSize()
    for number, text in _texts(subject):
        if packed_size.add({number: text}) > room:
            break
        texts[number] = text
    return texts


class _PackedSize:
    """Size of packed JSON, piece after piece."""

    def __init__(self) -> None:
        self._deflate = zlib.compressobj(6)
        self._size = 0

    def add(self, piece: Any) -> int:
        self._size += len(self._deflate.compress(as_json(piece)))
        return base64_length(self._size)
