"""Elasticsearch and OpenSearch over HTTP: ``_search`` for each query, or ``_msearch`` for the
queries that wait at the same time.
"""

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from idealrank._keys import key, text, texts, whole
from idealrank._sections import Section
from idealrank.errors import BackendError, shown
from idealrank.io.json_paths import at_path
from idealrank.live.backends.http_endpoint import filled
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.shared import BackendKeys, keys_from, reason
from idealrank.live.http_requests import HttpAnswer, exchange, http_client


@dataclass(kw_only=True, eq=False)
class _Waiting:
    """Query that waits for an ``_msearch`` of another thread."""

    body: dict[str, Any]
    woken: threading.Event = field(default_factory=threading.Event)
    answer: Any = None
    error: BackendError | None = None


class Elasticsearch:
    """Index of Elasticsearch or OpenSearch, asked over HTTP."""

    def __init__(
        self,
        client: Any,
        *,
        index: str,
        body: dict[str, Any],
        id_path: str = "_id",
        batch: int = 1,
        name: str = "elasticsearch",
    ) -> None:
        self.name = name
        self._client = client
        self._index = index
        self._batch = batch
        source = [id_path.removeprefix("_source.")] if id_path.startswith("_source.") else False
        self._body = {"_source": source, **body}
        self._id_path = id_path
        self._lock = threading.Lock()
        self._queue: list[_Waiting] = []
        self._under_way = False

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Return the hits of a query."""
        body = {**filled(self._body, query, limit), "size": limit}
        if self._batch == 1:
            path = f"/{self._index}/_search"
            answer = self._send(path, json.dumps(body), "application/json")
        else:
            answer = self._ask_in_batch(_Waiting(body=body))
        return self._hits(answer, limit)

    def close(self) -> None:
        """Close the connections of the client."""
        self._client.close()

    def _ask_in_batch(self, waiting: _Waiting) -> Any:
        """Send a query with the other queries that wait, and return its answer. Its thread sends
        for all, unless another request is under way.
        """
        with self._lock:
            self._queue.append(waiting)
            is_leader = not self._under_way
            self._under_way = True
        if not is_leader:
            waiting.woken.wait()
        # A thread that wakes without an answer leads the next request.
        if waiting.answer is None and waiting.error is None:
            with self._lock:
                batch = self._queue[: self._batch]
                self._queue = self._queue[self._batch :]
            try:
                self._answer(batch)
            finally:
                with self._lock:
                    self._under_way = bool(self._queue)
                    if self._queue:
                        self._queue[0].woken.set()
        if waiting.error is not None:
            raise waiting.error
        return waiting.answer

    def _answer(self, batch: list[_Waiting]) -> None:
        try:
            for waiting, answer in zip(batch, self._responses(batch), strict=True):
                waiting.answer = answer
        except BackendError as error:
            for waiting in batch:
                waiting.error = BackendError(
                    str(error), temporary=error.temporary, retry_after=error.retry_after
                )
        finally:
            for waiting in batch:
                if waiting.answer is None and waiting.error is None:
                    waiting.error = BackendError(
                        f"{self.name}: the request of several queries was broken off",
                        temporary=True,
                    )
                waiting.woken.set()

    def _responses(self, batch: list[_Waiting]) -> list[Any]:
        header = json.dumps({"index": self._index})
        lines = "".join(f"{header}\n{json.dumps(waiting.body)}\n" for waiting in batch)
        responses = at_path(self._send("/_msearch", lines, "application/x-ndjson"), "responses")
        if not isinstance(responses, list) or len(responses) != len(batch):
            raise BackendError(
                f"{self.name}: found {shown(repr(responses))}, expected {len(batch)} responses "
                "of _msearch"
            )
        return responses

    def _send(self, path: str, content: str, kind: str) -> Any:
        response = exchange(
            self._client,
            self.name,
            "POST",
            path,
            content=content.encode(),
            headers={"content-type": kind},
        )
        try:
            answer = response.json()
        except ValueError:
            answer = None
        if response.status != 200:
            self._refuse(
                response.status,
                answer,
                response.text,
                temporary=response.is_temporary,
                wait=response.retry_after,
            )
        if not isinstance(answer, dict):
            raise BackendError(
                f"{self.name}: found {shown(response.text)}, expected an answer in JSON"
            )
        return answer

    def _refuse(
        self, status: int, answer: Any, text: str, *, temporary: bool, wait: float | None = None
    ) -> None:
        problem = (
            at_path(answer, "error.root_cause.0.reason")
            or at_path(answer, "error.reason")
            or at_path(answer, "error")
            or text
        )
        hint = ""
        if status in (401, 403):
            hint = "is the key in `api_key`? `${NAME}` takes it from the environment"
        message = f"{self.name}: HTTP {status}: {reason(problem)}"
        raise BackendError(message, temporary=temporary, retry_after=wait, hint=hint)

    def _hits(self, answer: Any, limit: int) -> list[ScoredDocument]:
        if at_path(answer, "error") is not None:  # one of several answers
            status = int(at_path(answer, "status") or 400)
            self._refuse(status, answer, "", temporary=HttpAnswer(status, b"").is_temporary)
        hits = at_path(answer, "hits.hits")
        if not isinstance(hits, list):
            raise BackendError(f"{self.name}: found {shown(repr(answer))}, expected hits.hits")
        failed = at_path(answer, "_shards.failed")
        if failed or at_path(answer, "timed_out"):
            problem = f"{failed} failed shards" if failed else "timed_out"
            raise BackendError(
                f"{self.name}: found {problem}, expected the whole ranking", temporary=True
            )
        documents = [at_path(hit, self._id_path) for hit in hits]
        scores = [at_path(hit, "_score") for hit in hits]
        unscored = bool(hits) and all(score is None for score in scores)
        return ranked(self.name, documents, None if unscored else scores, limit=limit)


def _body(section: Section, name: str) -> dict[str, Any] | None:
    body = section.given[name]
    if body is None:
        return None
    if not isinstance(body, dict):
        raise section.error(
            name, repr(body), "a body of _search, such as `query: {match: {title: '{text}'}}`"
        )
    return body


@dataclass(frozen=True, kw_only=True)
class ElasticsearchKeys(BackendKeys):
    """Keys of the kinds ``elasticsearch`` and ``opensearch``."""

    url: str = text("Address of the server.", expected="an address such as http://127.0.0.1:9200")
    index: str = text("Index to search.", expected="the name of an index")
    fields: tuple[str, ...] = texts(
        "Fields of a multi_match with the text of the query, in place of `body`."
    )
    body: dict[str, Any] | None = key(
        about="Body of a search, with the places {text}, {vector}, {limit} and {id}.",
        read=_body,
        schema=lambda: {"type": "object"},
    )
    id: str = text("Id of a document: _id, or a path such as _source.sku.", "_id")
    batch: int = whole("Queries of a request to _msearch.", 1)
    api_key: str | None = text("API key, as in ${API_KEY}.")
    user: str = text("Name of the user, with `password`.", "elastic")
    password: str | None = text("Password of `user`, as in ${PASSWORD}.")


SECTIONS = {"elasticsearch": ElasticsearchKeys, "opensearch": ElasticsearchKeys}


def from_section(section: Section) -> Backend:
    """Make the backend of a section with the kind ``elasticsearch`` or ``opensearch``."""
    keys = keys_from(ElasticsearchKeys, section)
    body = keys.body
    if body is None:
        words: dict[str, Any] = {"query": "{text}"}
        if keys.fields:
            words["fields"] = list(keys.fields)
        body = {"query": {"multi_match": words}}
    elif keys.fields:
        raise section.error("fields", "both `fields` and `body`", "one of them")

    client = http_client(
        f"the backend {section.given['kind']}",
        "search",
        base_url=keys.url.rstrip("/"),
        timeout=keys.timeout,
        headers={"authorization": f"ApiKey {keys.api_key}"} if keys.api_key else {},
        auth=(keys.user, keys.password) if keys.password else None,
    )
    return Elasticsearch(
        client,
        index=keys.index,
        body=body,
        id_path=keys.id,
        batch=keys.batch,
        name=section.given["kind"],
    )
