"""Rankings of a page: the lists of all runs for each query, deflated one after another while there
is room.
"""

import json
import math
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple

from idealrank.reports.subject import Listing, QueryLists, Subject

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
        self._lists, self._documents = _Deflated(), _Deflated()
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


class _Deflated:
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
