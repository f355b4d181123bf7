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
from itertools import chain, combinations, islice
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
    """Map each id to itself up to a length, otherwise to its beginning and its end, all different.

    Examples
    --------
    >>> shortened(["q1", "a-long-id-of-letters", "a-longer-id-of-letters"], 12)
    {'q1': 'q1', 'a-long-id-of-letters': 'a-lo…1…tters', 'a-longer-id-of-letters': 'a-lo…2…tters'}
    >>> shortened(["a-long-id-of-letters"], 12)
    {'a-long-id-of-letters': 'a-lon…etters'}
    """
    if most is None:
        return {id_: id_ for id_ in ids}
    short = {id_: id_ if len(id_) <= most else _without_middle(id_, most, "…") for id_ in ids}
    often = Counter(short.values())
    taken = {shown for shown, count in often.items() if count == 1}
    taken |= {id_ for id_, shown in short.items() if id_ == shown}
    for place, (id_, shown) in enumerate(short.items()):
        if id_ != shown and often[shown] > 1:
            numbered = _numbered(id_, most, place)
            short[id_] = next(candidate for candidate in numbered if candidate not in taken)
            taken.add(short[id_])
    return short


def _numbered(id_: str, most: int, place: int) -> Iterator[str]:
    """Yield short ids with the place of the id among all in the middle; then with dots behind it,
    should an id be just that.
    """
    number = str(place)
    while True:
        yield _without_middle(id_, most, f"…{number}…")
        number += "."


def _without_middle(id_: str, most: int, middle: str) -> str:
    rest = max(most - len(middle), 0)
    return id_[: rest // 2] + middle + id_[len(id_) - (rest - rest // 2) :]


_SNIPPET = 240  # letters of a document's text
_AHEAD = 16  # pieces that are made while others are deflated
_LEVEL = 7  # of the deflation: 9 takes more than twice the time, and saves one byte in a hundred
# Bytes that come out before any deflated ones; and the deflated size of a byte, as estimated while
# none have come out.
_HEADER = 2
_RATIO = 1 / 3


class Piece(NamedTuple):
    """Rankings of a query, and the documents that no query before it has."""

    query: str  # Its place among the queries of the page
    rankings: dict[str, Any]
    documents: list[str]
    first: int  # Number of the first of these documents


def fitting(subject: Subject, queries: Sequence[str], room: int) -> tuple[list[Piece], bytes]:
    """Return the first rankings, about as many as fit into so many letters, and the JSON of
    `lists_of` them, deflated.

    Rankings are deflated on a thread of their own while the next ones are made.
    """
    kept: list[Piece] = []
    written = _Lists(subject)
    last = written.state()
    for piece, state in _with_states(written, pieces_of(subject, queries)):
        if size_packed(int(state.size)) > room:
            break
        kept.append(piece)
        last = state
    return kept, written.closed(last, as_json(_documents(subject, kept))[1:])


class _State(NamedTuple):
    """The deflation after some rankings, which can be ended there."""

    deflate: Any  # A copy of the compressor
    parts: int  # Number of the parts that came out so far
    size: float  # Estimated bytes, documents included


class _Lists:
    """The deflated rankings so far, with an estimate of the documents that are to follow."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._lists, self._documents = _DeflatedLists(), _DeflatedLists()
        self._lists.add(b'{"lists":{')
        self._first = True

    def add(self, piece: Piece) -> _State:
        comma = b"" if self._first else b","
        self._lists.add(comma + as_json(piece.query) + b":" + as_json(piece.rankings))
        self._documents.add(as_json([piece.documents, _snippets(self._subject, piece)]))
        self._first = False
        return self.state()

    def state(self) -> _State:
        size = self._lists.size + self._documents.size
        return _State(self._lists.deflate.copy(), len(self._lists.parts), size)

    def closed(self, state: _State, rest: bytes) -> bytes:
        """Return all up to a state, with the rest of the JSON."""
        end = state.deflate.compress(b"}," + rest) + state.deflate.flush()
        return b"".join([*self._lists.parts[: state.parts], end])


def _with_states(written: _Lists, pieces: Iterator[Piece]) -> Iterator[tuple[Piece, _State]]:
    """Yield each piece with the state after it; a few pieces are made ahead."""
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
    """Deflated bytes, and their number. Bytes that the compressor still holds are estimated by the
    ratio so far.
    """

    def __init__(self) -> None:
        self.deflate = zlib.compressobj(_LEVEL)
        self.parts: list[bytes] = []
        self._put_in = 0  # bytes
        self._put_in_before = 0  # bytes that were put in when the last part came out
        self._came_out = 0  # bytes

    def add(self, content: bytes) -> None:
        part = self.deflate.compress(content)
        self.parts.append(part)
        self._put_in += len(content)
        if len(part) > _HEADER:
            self._put_in_before = self._put_in
            self._came_out += len(part)

    @property
    def size(self) -> float:
        """Estimated bytes of all that was added."""
        ratio = self._came_out / self._put_in_before if self._put_in_before else _RATIO
        return self._put_in * ratio


def pieces_of(subject: Subject, queries: Sequence[str]) -> Iterator[Piece]:
    """Yield the rankings of the subject in its order, each made when it is needed; `queries` has
    all queries of the page.
    """
    numbers: dict[str, int] = {}
    place = {query: number for number, query in enumerate(queries)}
    for query, lists in subject.lists.items():
        if query in place:
            known = len(numbers)
            rankings = _query_lists(lists, numbers)
            # from the end, since all documents would take long to pass
            new = [*islice(reversed(numbers), len(numbers) - known)]
            yield Piece(
                query=str(place[query]), rankings=rankings, documents=new[::-1], first=known
            )


def lists_of(subject: Subject, pieces: Sequence[Piece]) -> dict[str, Any]:
    """Return rankings with the documents that are in them."""
    lists = {piece.query: piece.rankings for piece in pieces}
    return {"lists": lists, **_documents(subject, pieces)}


def _documents(subject: Subject, pieces: Sequence[Piece]) -> dict[str, Any]:
    documents: list[str] = []
    texts: dict[str, str] = {}
    for piece in pieces:
        documents += piece.documents
        texts |= _snippets(subject, piece)
    return {"documents": documents, "documentTexts": texts}


def _snippets(subject: Subject, piece: Piece) -> dict[str, str]:
    """Return the texts of the documents of a piece, by number."""
    texts = subject.document_texts
    numbered = enumerate(piece.documents, piece.first)
    return {str(number): _snippet(texts[name]) for number, name in numbered if texts.get(name)}


def _query_lists(lists: QueryLists, numbers: dict[str, int]) -> dict[str, Any]:
    """Rankings of a query as the scripts read them; each new document gets the next number."""
    relevant = [[_number_of(name, numbers), grade] for name, grade in lists.relevant]
    named: set[str | None] = {name for name, _ in lists.relevant}
    for listing in lists.runs:
        named.update(() if listing is None else listing.documents)
    runs = [
        None if listing is None else _listing(listing, numbers, named) for listing in lists.runs
    ]
    return {"runs": runs, "relevant": relevant}


def _number_of(name: str, numbers: dict[str, int]) -> int:
    return numbers.setdefault(name, len(numbers))


def _listing(listing: Listing, numbers: dict[str, int], named: set[str | None]) -> dict[str, Any]:
    """A ranking as the scripts read it; relevant documents further down only if the page names them
    anyway.
    """
    record: dict[str, Any] = {
        "d": [-1 if name is None else _number_of(name, numbers) for name in listing.documents],
        "g": list(listing.grades),
        "t": [int(tied) for tied in listing.tied],
        "a": [added and _added(added) for added in listing.added],  # most are 0 or unknown
        "n": listing.length,
    }
    if listing.below is not None:
        record["b"] = [
            [_number_of(name, numbers), rank, grade, added and _added(added)]
            for name, rank, grade, added in listing.below
            if name in named
        ]
    return record


def _added(added: float | None) -> float | None:
    """Round to six decimals, which is more than the page shows."""
    return None if added is None or not math.isfinite(added) else round(float(added), 6)


def _snippet(text: str) -> str:
    return text if len(text) <= _SNIPPET else f"{text[: _SNIPPET - 1]}…"


def size_packed(content_bytes: int) -> int:
    """Return the number of base64 letters for a number of bytes."""
    return -(-content_bytes // 3) * 4


def as_json(value: Any) -> bytes:
    """Write JSON in ASCII alone; bytes that are not UTF-8, which ids have as surrogates, are
    kept.
    """
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
    """Encode values as codes of two bytes, with what turns them into numbers again."""
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
    # each end is divided first, since the range of large numbers could overflow
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


def decoded(record: dict[str, Any], shape: tuple[int, int]) -> FloatArray:
    """Decode values as the page's script does; NaN is a value that does not count."""
    codes = np.frombuffer(base64.b64decode(record["codes"]), "<u2").reshape(shape)
    kept = codes != NOT_COUNTED
    values = np.full(shape, np.nan)
    if record["table"] is None:
        values[kept] = record["low"] + record["step"] * codes[kept].astype(np.float64)
    else:
        values[kept] = np.frombuffer(base64.b64decode(record["table"]), "<f8")[codes[kept]]
    return values


def packed(content: bytes) -> str:
    """Deflate (in zlib's layout, which browsers call "deflate"), then encode in base64; the same
    content gives the same text.
    """
    return _base64(zlib.compress(content, 9))


def unpacked(text: str) -> bytes:
    """Return the content that `packed` packed."""
    return zlib.decompress(base64.b64decode(text))


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


# Measures that may have a table of `DISTINCT` values each; more measures share that room.
_MEASURES = 3
_TEXT = 300  # letters of a query's text
_SHARE_OF_IDS = 0.25  # of all room: longer ids are shortened, so that rankings have some
_SHARE_OF_TEXTS = 0.4  # of the room that the values leave; rankings take the rest
# When an estimate was too low, this share of the rankings that should fit is kept.
_STEP = 0.99


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
    lists = _base64(deflated)
    while pieces and len(lists) > room - len(data):
        fitting_now = int(len(pieces) * (room - len(data)) / len(lists) * _STEP)
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
        place = {name: number for number, name in enumerate(subject.names)}
        return [(place[pair.a], place[pair.b]) for pair in leading_pairs(subject.comparison)]
    return list(combinations(range(len(subject.evaluations)), 2))


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
    """Yield the number and text of each query with a text, queries with rankings first."""
    place = {query: number for number, query in enumerate(queries_of(subject))}
    for query in dict.fromkeys((*subject.lists, *place)):
        text = subject.query_texts.get(query)
        if text and query in place:
            yield str(place[query]), text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"


def _some_texts(subject: Subject, room: float) -> dict[str, str]:
    texts: dict[str, str] = {}
    measure = _Deflated()
    for number, text in _texts(subject):
        if measure.add({number: text}) > room:
            break
        texts[number] = text
    return texts


class _Deflated:
    """Size of packed JSON, piece after piece."""

    def __init__(self) -> None:
        self._deflate, self._size = zlib.compressobj(6), 0

    def add(self, piece: Any) -> int:
        self._size += len(self._deflate.compress(as_json(piece)))
        return size_packed(self._size)
