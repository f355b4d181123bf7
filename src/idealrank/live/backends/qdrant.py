"""Qdrant: points of a collection by their vectors, from a server or from a folder (embedded
mode).
"""

import contextlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from idealrank._keys import flag, text, whole
from idealrank._lazy import load_extra
from idealrank._sections import Section
from idealrank.errors import BackendError, shown
from idealrank.io.json_paths import at_path
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.shared import BackendKeys, keys_from, reason, vector_numbers

_DISTANCES = ("euclid", "manhattan")  # metrics for which less is better


class QdrantPoints:
    """Nearest points of a collection."""

    def __init__(
        self,
        client: Any,
        *,
        collection: str,
        vector_name: str = "",
        id_path: str = "",
        ef: int | None = None,
        exact: bool = False,
        name: str = "qdrant",
    ) -> None:
        self.name = name
        self._client = client
        self._collection = collection
        self._vector_name = vector_name
        self._id_path = id_path
        self._ef = ef
        self._exact = exact
        self._order = ""
        # The embedded mode serves one thread at a time.
        embedded = type(getattr(client, "_client", client)).__name__ == "QdrantLocal"
        self._lock: contextlib.AbstractContextManager[Any] = (
            threading.Lock() if embedded else contextlib.nullcontext()
        )

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Return the nearest points."""
        vector = vector_numbers(query, self.name)
        models = load_extra(
            "qdrant_client.models", f"the backend {self.name}", "qdrant", "qdrant-client"
        )
        with self._lock, self._as_backend_errors():
            if not self._order:
                self._order = self._order_of_scores()
            answer = self._client.query_points(
                self._collection,
                query=vector,
                using=self._vector_name or None,
                limit=limit,
                search_params=models.SearchParams(hnsw_ef=self._ef, exact=self._exact),
                with_payload=[self._id_path] if self._id_path else False,
            )
        path = self._id_path
        ids = [at_path(point.payload, path) if path else point.id for point in answer.points]
        scores = [point.score for point in answer.points]
        return ranked(self.name, ids, scores, limit=limit, order=self._order)

    def close(self) -> None:
        """Close the client."""
        self._client.close()

    def _order_of_scores(self) -> str:
        vectors = self._client.get_collection(self._collection).config.params.vectors
        vector = vectors.get(self._vector_name) if isinstance(vectors, dict) else vectors
        if vector is None:
            names = ", ".join(vectors) if isinstance(vectors, dict) else "none"
            raise BackendError(
                f"{self.name}: found no vector {shown(repr(self._vector_name))} in the collection, "
                f"expected one of {names}"
            )
        metric = str(getattr(vector.distance, "value", vector.distance)).lower()
        return "distance" if metric in _DISTANCES else "score"

    @contextlib.contextmanager
    def _as_backend_errors(self) -> Any:
        errors = load_extra(
            "qdrant_client.http.exceptions", f"the backend {self.name}", "qdrant", "qdrant-client"
        )
        try:
            yield
        except errors.UnexpectedResponse as error:
            status = error.status_code or 0
            text = (error.content or b"").decode("utf-8", "replace")
            message = reason(text or error.reason_phrase)
            raise BackendError(
                f"{self.name}: HTTP {status}: {message}",
                temporary=status in (408, 429, 500, 502, 503, 504),
            ) from None
        except (errors.ResponseHandlingException, ConnectionError, TimeoutError) as error:
            raise BackendError(f"{self.name}: {reason(error)}", temporary=True) from None
        # of the embedded mode: an unknown collection, another number of dimensions
        except (ValueError, KeyError) as error:
            raise BackendError(f"{self.name}: {reason(error)}") from None


@dataclass(frozen=True, kw_only=True)
class QdrantKeys(BackendKeys):
    """Keys of the kind ``qdrant``."""

    url: str | None = text("Address of a server.")
    path: str | None = text("Folder of the embedded mode.")
    collection: str = text("Collection to search.", expected="the name of a collection")
    vector_name: str = text("Vector to search, if points have several.", "")
    id: str = text("Field of the payload with the id; default the id of the point.", "")
    ef: int | None = whole("Parameter hnsw_ef of an HNSW index.")
    exact: bool = flag("Compare with every point.")
    api_key: str | None = text("API key of a server, as in ${QDRANT_API_KEY}.")


SECTIONS = {"qdrant": QdrantKeys}


def from_section(section: Section) -> Backend:
    """Make the backend of a section."""
    keys = keys_from(QdrantKeys, section)
    if (keys.url is None) == (keys.path is None):
        raise section.error(
            "url",
            "both or neither of `url` and `path`",
            "the address of a server, or the folder of the embedded mode",
        )
    qdrant = load_extra("qdrant_client", "the backend qdrant", "qdrant", "qdrant-client")
    if keys.path is not None:
        client = qdrant.QdrantClient(path=keys.path)
    else:
        client = qdrant.QdrantClient(
            url=keys.url,
            api_key=keys.api_key,
            timeout=max(1, round(keys.timeout)),
            check_compatibility=False,
        )
    return QdrantPoints(
        client,
        collection=keys.collection,
        vector_name=keys.vector_name,
        id_path=keys.id,
        ef=keys.ef,
        exact=keys.exact,
    )
