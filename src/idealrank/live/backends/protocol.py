"""Protocol of search backends: one query in, ranked documents out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from idealrank.data.types import FloatArray


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
