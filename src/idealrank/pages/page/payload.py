"""Data for the scripts of a page: runs, queries and values in one part, rankings in another, within
the size limit.

Values are whole numbers of two bytes; everything is deflated.
"""

import base64
import json
import math
import zlib
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from idealrank.data.types import BoolArray, FloatArray
from idealrank.measures.measure import Measure
from idealrank.pages.figures.specifications import static_rows, static_words, templates
from idealrank.pages.figures.theme import LIGHT
from idealrank.reports.subject import Listing, QueryLists, Subject, leading_pairs
from idealrank.reports.table.text import TITLE, told_apart

LENGTHS = (120, 60, 40, 24, 16, 12, 8)
"""Letters to which longer ids are shortened, the most that leave room."""


def shortened(ids: Iterable[str], most: int | None) -> dict[str, str]:
    """Each id with what stands for it: itself up to a length, else its beginning and its end, all
    different.

    Examples
    --------
    >>> shortened(["q1", "a-long-id-of-letters", "a-longer-id-of-letters"], 12)
    {'q1': 'q1', 'a-long-id-of-letters': 'a-lo…1…tters', 'a-longer-id-of-letters': 'a-lo…2…tters'}
    >>> shortened(["a-long-id-of-letters"], 12)
    {'a-long-id-of-letters': 'a-lon…etters'}
    """
    short = {
        one: one if most is None or len(one) <= most else _without_middle(one, most, "…")
        for one in ids
    }
    if most is None:
        return short
    often = Counter(short.values())
    taken = {shown for shown, count in often.items() if count == 1} | {
        one for one, shown in short.items() if one == shown
    }
    for place, (one, shown) in enumerate(short.items()):
        if one != shown and often[shown] > 1:
            short[one] = next(found for found in _numbered(one, most, place) if found not in taken)
            taken.add(short[one])
    return short


def _numbered(one: str, most: int, place: int) -> Iterator[str]:
    """By the place of the id among all; should an id be just that, by further numbers."""
    number = str(place)
    while True:
        yield _without_middle(one, most, f"…{number}…")
        number += "."


def _without_middle(one: str, most: int, middle: str) -> str:
    rest = max(most - len(middle), 0)
    return one[: rest // 2] + middle + one[len(one) - (rest - rest // 2) :]


_SNIPPET = 240  # letters of a document's text
_AHEAD = 16  # pieces that are made while others are deflated
_LEVEL = 7  # of the deflation: 9 takes more than twice the time, and saves one byte in a hundred
# bytes that come out before any deflated ones; deflated size by size, while none have come out
_HEADER, _RATIO = 2, 1 / 3


class Piece(NamedTuple):
    """Place and rankings of a query, and the documents that no query before it has, the first of
    which has a number.
    """

    query: str
    rankings: dict[str, Any]
    documents: list[str]
    first: int


def fitting(subject: Subject, queries: Sequence[str], room: int) -> tuple[list[Piece], bytes]:
    """The first rankings, about as many as fit into so many letters, and the JSON of `lists_of`
    them, deflated.

    Rankings are deflated on a thread of their own while the next ones are made.
    """
    found: list[Piece] = []
    written = _Lists(subject)
    last = written.state()
    for piece, state in _with_states(written, pieces_of(subject, queries)):
        if size_packed(int(state.size)) > room:
            break
        found.append(piece)
        last = state
    return found, written.closed(last, as_json(_documents(subject, found))[1:])


class _State(NamedTuple):
    """The deflation after some rankings: what comes next is added to it, and `parts` is the number
    of its parts so far.
    """

    deflate: Any
    parts: int
    size: float


class _Lists:
    """The deflated rankings so far, with an estimate of the documents that are to follow."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._lists, self._documents = _DeflatedLists(), _DeflatedLists()
        self._lists.add(b'{"lists":{')
        self._first = True

    def add(self, piece: Piece) -> _State:
        self._lists.add(
            (b"" if self._first else b",") + as_json(piece.query) + b":" + as_json(piece.rankings)
        )
        self._documents.add(as_json([piece.documents, _snippets(self._subject, piece)]))
        self._first = False
        return self.state()

    def state(self) -> _State:
        return _State(
            self._lists.deflate.copy(),
            len(self._lists.parts),
            self._lists.size + self._documents.size,
        )

    def closed(self, state: _State, rest: bytes) -> bytes:
        """All up to a state, with the rest of the JSON."""
        return b"".join(
            [
                *self._lists.parts[: state.parts],
                state.deflate.compress(b"}," + rest),
                state.deflate.flush(),
            ]
        )


def _with_states(written: _Lists, pieces: Iterator[Piece]) -> Iterator[tuple[Piece, _State]]:
    """Each piece with the state after it; a few are made ahead."""
    waiting: deque[tuple[Piece, Future[_State]]] = deque()
    with ThreadPoolExecutor(1) as pool:
        for piece in pieces:
            waiting.append((piece, pool.submit(written.add, piece)))
            if len(waiting) > _AHEAD:
                first, state = waiting.popleft()
                yield first, state.result()
        for piece, state in waiting:
            yield piece, state.result()


class _DeflatedLists:
    """Deflated bytes, and their number; that of bytes which the deflation still holds is estimated
    by the ratio so far.
    """

    def __init__(self) -> None:
        self.deflate = zlib.compressobj(_LEVEL)
        self.parts: list[bytes] = []
        # bytes put in; put in at the last part that came out; that came out
        self._taken = self._told = self._given = 0

    def add(self, content: bytes) -> None:
        part = self.deflate.compress(content)
        self.parts.append(part)
        self._taken += len(content)
        if len(part) > _HEADER:
            self._told, self._given = self._taken, self._given + len(part)

    @property
    def size(self) -> float:
        """Estimated bytes of all that was added."""
        return self._taken * (self._given / self._told if self._told else _RATIO)


def pieces_of(subject: Subject, queries: Sequence[str]) -> Iterator[Piece]:
    """Rankings of the subject in its order, each made when it is asked for; `queries` has all
    queries of the page.
    """
    numbers: dict[str, int] = {}
    place = {query: number for number, query in enumerate(queries)}
    for query, lists in subject.lists.items():
        if query in place:
            known = len(numbers)
            rankings = _query_lists(lists, numbers)
            yield Piece(
                str(place[query]),
                rankings,
                [*islice(reversed(numbers), len(numbers) - known)][::-1],
                known,
            )


def lists_of(subject: Subject, pieces: Sequence[Piece]) -> dict[str, Any]:
    """Rankings with the documents that are in them."""
    return {
        "lists": {piece.query: piece.rankings for piece in pieces},
        **_documents(subject, pieces),
    }


def _documents(subject: Subject, pieces: Sequence[Piece]) -> dict[str, Any]:
    texts = {number: text for piece in pieces for number, text in _snippets(subject, piece).items()}
    return {
        "documents": [name for piece in pieces for name in piece.documents],
        "documentTexts": texts,
    }


def _snippets(subject: Subject, piece: Piece) -> dict[str, str]:
    """Texts of its documents, by number."""
    texts = (
        (number, subject.document_texts.get(name))
        for number, name in enumerate(piece.documents, piece.first)
    )
    return {str(number): _snippet(text) for number, text in texts if text}


def _query_lists(lists: QueryLists, numbers: dict[str, int]) -> dict[str, Any]:
    relevant = [[numbers.setdefault(name, len(numbers)), grade] for name, grade in lists.relevant]
    named = {name for one in lists.runs if one is not None for name in one.documents} | {
        name for name, _ in lists.relevant
    }
    return {
        "runs": [None if one is None else _listing(one, numbers, named) for one in lists.runs],
        "relevant": relevant,
    }


def _listing(one: Listing, numbers: dict[str, int], named: set[str | None]) -> dict[str, Any]:
    """List relevant documents further down, of those that the page names anyway."""
    found: dict[str, Any] = {
        "d": [
            -1 if name is None else numbers.setdefault(name, len(numbers)) for name in one.documents
        ],
        "g": list(one.grades),
        "t": [int(tied) for tied in one.tied],
        "a": [added and _added(added) for added in one.added],  # most are 0 or unknown
        "n": one.length,
    }
    if one.below is not None:
        found["b"] = [
            [numbers.setdefault(name, len(numbers)), rank, grade, added and _added(added)]
            for name, rank, grade, added in one.below
            if name in named
        ]
    return found


def _added(added: float | None) -> float | None:
    """Six decimals: more than anyone is shown."""
    return None if added is None or not math.isfinite(added) else round(float(added), 6)


def _snippet(text: str) -> str:
    return text if len(text) <= _SNIPPET else f"{text[: _SNIPPET - 1]}…"


def size_packed(content_bytes: int) -> int:
    """Letters of base64 for so many bytes."""
    return -(-content_bytes // 3) * 4


def as_json(value: Any) -> bytes:
    """ASCII alone: bytes that are not UTF-8, which ids hold as surrogates, stay what they are."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")


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
