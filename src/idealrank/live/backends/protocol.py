"""Protocol of search backends: one query in, ranked documents out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from idealrank.data.types import FloatArray


@dataclass(frozen=True, eq=False, slots=True)
class SearchQuery:
    """Query as a backend gets it.

    Attributes
    ----------
    id : str
        Id of the query in the judgments.
    text : str
        Words of the user; empty for a search by vector alone.
    vector : float array, shape (dimensions,), or None
        Embedding of the query, for vector indexes.

    Examples
    --------
    >>> SearchQuery("q1", "parse an ISO date").text
    'parse an ISO date'
    """

    id: str
    text: str
    vector: FloatArray | None = None


class ScoredDocument(NamedTuple):
    """Document of an answer, with the score of the engine: larger is better, whatever the engine itself reports.

    Examples
    --------
    >>> ScoredDocument("datetime.date.fromisoformat", 7.5).document
    'datetime.date.fromisoformat'
    """

    document: str
    score: float


@runtime_checkable
class Backend(Protocol):
    """Search engine, index or recorded answers.

    `search` may be called from several threads at once. It returns at most `limit` hits, best first, each document once. It raises
    `BackendError`: with ``temporary=True`` if another attempt may succeed (timeout, refused connection, HTTP 429 or 503), else
    with ``temporary=False`` (bad request, unknown index, answer in another form).

    Attributes
    ----------
    name : str
        Name for messages and results, such as ``sqlite-fts5``.

    Examples
    --------
    >>> class Fixed:
    ...     name = "fixed"
    ...
    ...     def search(self, query, limit):
    ...         return [ScoredDocument("a", 2.0), ScoredDocument("b", 1.0)][:limit]
    ...
    ...     def close(self):
    ...         pass
    >>> isinstance(Fixed(), Backend)
    True
    """

    name: str

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Return at most `limit` documents, best first."""
        ...

    def close(self) -> None:
        """Release connections and files; further calls do nothing."""
