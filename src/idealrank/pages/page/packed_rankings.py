"""Rankings for the scripts of a page, query by query, as many as fit the size limit."""

import math
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple

from idealrank.pages.page.value_codes import as_json, base64_length
from idealrank.reports.subject import Listing, QueryLists, Subject

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
    first: int  # Number of the first of `documents`


def fitting(subject: Subject, queries: Sequence[str], room: int) -> tuple[list[Piece], bytes]:
    """Return the first rankings, about as many as fit into so many letters, and the JSON of
    `lists_of` them, deflated.

    Rankings are deflated on a thread of their own while the next ones are made.
    """
    fitting_pieces: list[Piece] = []
    written = _DeflatedRankings(subject)
    last_state = written.state()
    for piece, state in _with_states(written, pieces_of(subject, queries)):
        if base64_length(int(state.size)) > room:
            break
        fitting_pieces.append(piece)
        last_state = state
    documents = as_json(_documents(subject, fitting_pieces))
    return fitting_pieces, written.closed(last_state, documents[1:])  # without the opening brace


class _State(NamedTuple):
    """The deflation after some rankings, which can be ended there."""

    deflate: Any  # A copy of the compressor
    parts: int  # Number of the parts that came out so far
    size: float  # Estimated bytes, documents included


class _DeflatedRankings:
    """The deflated rankings so far, with an estimate of the documents that are to follow."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._lists = _DeflatedBytes()
        self._documents = _DeflatedBytes()
        self._lists.add(b'{"lists":{')
        self._is_empty = True

    def add(self, piece: Piece) -> _State:
        comma = b"" if self._is_empty else b","
        self._lists.add(comma + as_json(piece.query) + b":" + as_json(piece.rankings))
        self._documents.add(as_json([piece.documents, _snippets(self._subject, piece)]))
        self._is_empty = False
        return self.state()

    def state(self) -> _State:
        size = self._lists.size + self._documents.size
        return _State(self._lists.deflate.copy(), len(self._lists.parts), size)

    def closed(self, state: _State, following: bytes) -> bytes:
        """Return all up to a state, then the JSON that follows the rankings."""
        end = state.deflate.compress(b"}," + following) + state.deflate.flush()
        return b"".join([*self._lists.parts[: state.parts], end])


def _with_states(
    written: _DeflatedRankings, pieces: Iterator[Piece]
) -> Iterator[tuple[Piece, _State]]:
    """Yield each piece with the state after it; a few pieces are made ahead."""
    waiting: deque[tuple[Piece, Future[_State]]] = deque()
    with ThreadPoolExecutor(1) as pool:
        for piece in pieces:
            waiting.append((piece, pool.submit(written.add, piece)))
            if len(waiting) > _AHEAD:
                earlier_piece, state = waiting.popleft()
                yield earlier_piece, state.result()
        for remaining_piece, state in waiting:
            yield remaining_piece, state.result()


class _DeflatedBytes:
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
    place_of = {query: place for place, query in enumerate(queries)}
    for query, lists in subject.lists.items():
        if query in place_of:
            n_before = len(numbers)
            rankings = _query_lists(lists, numbers)
            # from the end, since all documents would take long to pass
            new_reversed = [*islice(reversed(numbers), len(numbers) - n_before)]
            yield Piece(
                query=str(place_of[query]),
                rankings=rankings,
                documents=new_reversed[::-1],
                first=n_before,
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
    on_page: set[str | None] = {name for name, _ in lists.relevant}
    for listing in lists.runs:
        on_page.update(() if listing is None else listing.documents)
    runs = [
        None if listing is None else _listing(listing, numbers, on_page) for listing in lists.runs
    ]
    return {"runs": runs, "relevant": relevant}


def _number_of(name: str, numbers: dict[str, int]) -> int:
    return numbers.setdefault(name, len(numbers))


def _listing(listing: Listing, numbers: dict[str, int], on_page: set[str | None]) -> dict[str, Any]:
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
            if name in on_page
        ]
    return record


def _added(added: float | None) -> float | None:
    """Round to six decimals, which is more than the page shows."""
    return None if added is None or not math.isfinite(added) else round(float(added), 6)


def _snippet(text: str) -> str:
    return text if len(text) <= _SNIPPET else f"{text[: _SNIPPET - 1]}…"
