"""Protocol of search backends: one query in, ranked documents out, or an error that names the
answer found.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any, Literal, NamedTuple, Protocol, get_args, runtime_checkable

from idealrank.data.types import FloatArray
from idealrank.errors import BackendError, shown


@dataclass(frozen=True, eq=False, slots=True)
class SearchQuery:
    """Query as a backend gets it."""

    id: str  # Id of the query in the judgments
    text: str  # Words of the user; empty for a search by vector alone
    # shape (dimensions,): embedding of the query, for vector indexes
    vector: FloatArray | None = None


class ScoredDocument(NamedTuple):
    """Document of an answer, with the score of the engine: larger is better, whatever the engine
    itself reports.
    """

    document: str
    score: float


@runtime_checkable
class Backend(Protocol):
    """Search engine, index or recorded answers.

    `search` may be called from several threads at once. It returns at most `limit` hits, best
    first, each document once.
    """

    name: str  # Name for messages and results, such as ``sqlite-fts5``

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Return at most `limit` documents, best first."""
        ...

    def close(self) -> None:
        """Release connections and files; further calls do nothing."""


Order = Literal["score", "distance"]
"""Meaning of an engine's numbers: of a score, larger is better; of a distance, smaller."""

ORDERS: tuple[str, ...] = get_args(Order)


def ranked(
    name: str,
    ids: Iterable[Any],
    scores: Iterable[Any] | None = None,
    *,
    limit: int,
    order: str = "score",
) -> list[ScoredDocument]:
    """Check an answer, and return its first `limit` documents."""
    documents = [_id(name, value) for value in ids][:limit]
    if len(set(documents)) < len(documents):
        repeated = next(text for place, text in enumerate(documents) if text in documents[:place])
        raise BackendError(
            f"{name}: found document {shown(repr(repeated))} twice in an answer, expected each once"
        )
    if scores is None:
        return [ScoredDocument(document, 1 / rank) for rank, document in enumerate(documents, 1)]
    numbers = [_number(name, score) for score in scores][:limit]
    if len(numbers) != len(documents):
        raise BackendError(
            f"{name}: found {len(numbers)} scores for {len(documents)} documents, expected one for "
            "each"
        )
    sign = -1.0 if order == "distance" else 1.0
    for before, after in pairwise(numbers):
        if sign * after > sign * before:
            hint = "if less is better, set `order: distance`"
            if order == "distance":
                hint = "if more is better, set `order: score`"
            raise BackendError(
                f"{name}: found {order} {after:g} after {before:g}, expected the best first",
                hint=hint,
            )
    return [
        ScoredDocument(document, sign * number)
        for document, number in zip(documents, numbers, strict=True)
    ]


def ranked_value(
    name: str, value: Any, *, limit: int, order: str = "score"
) -> list[ScoredDocument]:
    """Read the answer of a function or a program: ids, pairs of id and score, or a mapping of ids
    to scores.
    """
    if isinstance(value, Mapping):
        documents = value.get("documents")
        if isinstance(documents, Sequence) and not isinstance(documents, str):
            return ranked(name, documents, value.get("scores"), limit=limit, order=order)
        worst_first = -1.0 if order == "score" else 1.0
        pairs = sorted(
            ((document, _number(name, score)) for document, score in value.items()),
            key=lambda pair: worst_first * pair[1],
        )
        ids = [document for document, _ in pairs]
        scores = [score for _, score in pairs]
        return ranked(name, ids, scores, limit=limit, order=order)
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise BackendError(
            f"{name}: found {shown(repr(value))}, expected ids, pairs (id, score), or a mapping of "
            "ids to scores"
        )
    entries = list(value)
    if entries and all(map(_is_pair, entries)):
        ids = [document for document, _ in entries]
        scores = [score for _, score in entries]
        return ranked(name, ids, scores, limit=limit, order=order)
    return ranked(name, entries, limit=limit, order=order)


def _is_pair(entry: Any) -> bool:
    is_sequence = isinstance(entry, Sequence) and not isinstance(entry, (str, bytes))
    return is_sequence and len(entry) == 2


def _id(name: str, value: Any) -> str:
    if isinstance(value, (str, bytes)) and value:
        text = value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            raise BackendError(
                f"{name}: found the id {shown(repr(text))} with half a surrogate pair, expected "
                "valid Unicode"
            )
        return text
    if not isinstance(value, (bool, float)) and hasattr(value, "__index__"):
        return str(int(value))
    raise BackendError(
        f"{name}: found {shown(repr(value))} as the id of a document, expected a text or a whole "
        "number"
    )


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise BackendError(
            f"{name}: found {shown(repr(value))} as a score, expected a finite number"
        )
    return float(value)
