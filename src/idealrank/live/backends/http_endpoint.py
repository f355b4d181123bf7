"""Any search service with an interface of HTTP and JSON: a request template, and paths to ids and
scores.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from idealrank._keys import anything, choice, entries, text
from idealrank._sections import Section
from idealrank.errors import BackendError, shown
from idealrank.io.json_paths import at_path
from idealrank.live.backends.protocol import ORDERS, ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.shared import BackendKeys, keys_from
from idealrank.live.http_requests import exchange, http_client

_FIELDS = ("text", "limit", "id", "vector")


class HttpEndpoint:
    """Service that is asked over HTTP and answers in JSON."""

    name = "http"

    def __init__(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        body: Any = None,
        hits: str = "",
        document: str = "",
        score: str = "",
        title: str = "",
        order: str = "score",
        timeout: float = 10.0,
        client: Any = None,
    ) -> None:
        self._url = url
        self._method = method
        self._params = dict(params or {})
        self._body = body
        self._headers = {name: value.encode() for name, value in (headers or {}).items()}
        self._hits = hits
        self._document = document
        self._score = score
        self._title = title
        self._order = order
        self.titles: dict[str, str] = {}  # Of the documents of all answers, if a path is given
        self._client = client or http_client("a search over HTTP", "search", timeout=timeout)

    def search(self, query: SearchQuery, limit: int) -> list[ScoredDocument]:
        """Send a request, and read the answer."""
        answer = self._sent(query, limit)
        hits = at_path(answer, self._hits)
        if not isinstance(hits, list):
            raise BackendError(
                f"{self.name}: found {_kind(hits)} at {self._hits or 'the top'!r} of the answer, "
                "expected a list of hits"
            )
        ids = [self._field(hit, self._document, "id") for hit in hits]
        scores = [self._field(hit, self._score, "score") for hit in hits] if self._score else None
        documents = ranked(self.name, ids, scores, limit=limit, order=self._order)
        if self._title:
            for (document, _), hit in zip(documents, hits, strict=False):
                title = at_path(hit, self._title)
                if isinstance(title, str):
                    self.titles[document] = title
        return documents

    def _sent(self, query: SearchQuery, limit: int) -> Any:
        url = _in_address(self._url, query, limit)
        params = {name: str(filled(value, query, limit)) for name, value in self._params.items()}
        headers = {"accept": b"application/json"}
        body = None
        if self._body is not None:
            body = json.dumps(filled(self._body, query, limit)).encode()
            headers["content-type"] = b"application/json"
        headers |= {name.lower(): value for name, value in self._headers.items()}
        answer = exchange(
            self._client,
            self.name,
            self._method,
            url,
            params=params or None,
            content=body,
            headers=headers,
        )
        if answer.status != 200:
            text = shown(" ".join(answer.text.split()))
            message = (
                f"{self.name}: found status {answer.status}{f' ({text})' if text else ''}, "
                "expected 200"
            )
            raise BackendError(
                message, temporary=answer.is_temporary, retry_after=answer.retry_after
            )
        try:
            return answer.json()
        except ValueError:
            raise BackendError(
                f"{self.name}: found {shown(repr(answer.text))}, expected JSON"
            ) from None

    def _field(self, hit: Any, path: str, what: str) -> Any:
        value = at_path(hit, path)
        if value is None:
            raise BackendError(
                f"{self.name}: found no {what} at {path or 'the top'!r} of a hit: "
                f"{shown(json.dumps(hit))}"
            )
        return value

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def filled(template: Any, query: SearchQuery, limit: int) -> Any:
    """Fill the fields ``{text}``, ``{limit}``, ``{id}`` and ``{vector}`` of a template."""
    if isinstance(template, Mapping):
        return {key: filled(value, query, limit) for key, value in template.items()}
    if isinstance(template, Sequence) and not isinstance(template, (str, bytes)):
        return [filled(value, query, limit) for value in template]
    if not isinstance(template, str):
        return template
    if template == "{limit}":
        return limit
    if template == "{vector}":
        return _vector(query)
    values = {"text": query.text, "id": query.id, "limit": str(limit)}
    texts = []
    for part, is_field in _split(template):
        if not is_field:
            texts.append(part)
        elif part == "vector":
            texts.append(json.dumps(_vector(query)))
        else:
            texts.append(values[part])
    return "".join(texts)


def _split(template: str) -> list[tuple[str, bool]]:
    """Pieces of a template, and whether each is a field. The values of fields are never split."""
    pieces: list[tuple[str, bool]] = []
    unread = template
    while True:
        first_places = [(unread.find("{" + field + "}"), field) for field in _FIELDS]
        places = [(place, field) for place, field in first_places if place >= 0]
        if not places:
            return [*pieces, (unread, False)]
        place, field = min(places)
        pieces += [(unread[:place], False), (field, True)]
        unread = unread[place + len(field) + 2 :]  # 2 braces


def _vector(query: SearchQuery) -> list[float]:
    if query.vector is None:
        raise BackendError(
            f"http: query {query.id}: found no vector, expected one for the field {{vector}}"
        )
    return [float(number) for number in query.vector]


def _in_address(url: str, query: SearchQuery, limit: int) -> str:
    values = {"text": query.text, "id": query.id, "limit": str(limit)}
    return "".join(
        quote(values.get(part, ""), safe="") if is_field else part for part, is_field in _split(url)
    )


def _kind(value: Any) -> str:
    return "nothing" if value is None else shown(json.dumps(value))


_ADDRESS = "an address with http:// or https://"


def _as_text(section: Section, key: str) -> str:
    value = section.given[key]
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise section.error(str(key), repr(value), "a text or a number")
    return str(value)


@dataclass(frozen=True, kw_only=True)
class HttpKeys(BackendKeys):
    """Keys of the kind ``http``."""

    url: str = text(
        "Address of the service, which may contain {text}, {limit} and {id}.",
        expected=_ADDRESS,
        words=_ADDRESS,
        pattern=r"^(https?://|\$\{).*$",
    )
    method: str | None = choice(
        ("GET", "POST"), "Method of the request; default POST with a body, else GET.", None
    )
    headers: Mapping[str, str] = entries(
        "Headers of each request.", _as_text, {"type": ["string", "number"]}
    )
    params: Mapping[str, str] = entries(
        "Parameters of the address, with {text}, {limit} and {id} in their values.",
        _as_text,
        {"type": ["string", "number"]},
    )
    body: Any = anything("JSON with {text}, {limit}, {id} and {vector} in its texts.")
    hits: str = text("Path to the list of hits, as in hits.hits.", "", may_be_empty=True)
    id: str = text("Path to the id in a hit.", "", may_be_empty=True)
    score: str = text("Path to the score in a hit.", "", may_be_empty=True)
    title: str = text(
        "Path to the title in a hit; titles are kept in a file for `--documents`.", ""
    )
    order: str = choice(ORDERS, "Meaning of the numbers; distances are negated.")


SECTIONS = {"http": HttpKeys}


def from_section(section: Section) -> HttpEndpoint:
    """Make the backend of a section."""
    keys = keys_from(HttpKeys, section)
    return HttpEndpoint(
        keys.url,
        method=keys.method or ("GET" if keys.body is None else "POST"),
        body=keys.body,
        headers=keys.headers,
        params=keys.params,
        hits=keys.hits,
        document=keys.id,
        score=keys.score,
        title=keys.title,
        order=keys.order,
        timeout=keys.timeout,
    )
