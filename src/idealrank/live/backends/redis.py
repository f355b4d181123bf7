"""Redis: nearest neighbours by ``FT.SEARCH`` (kind ``redis``), vector sets by ``VSIM``
(``redis-vector-set``), words (``redis-text``).

``FT.SEARCH`` reports a distance, so the best document has the smallest number: the query sorts
ascending and takes the page ``(0, k)``. Tutorials that sort the score descending turn the list
around: a perfect retriever then has NDCG 0.83 instead of 1, without any error.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from idealrank._keys import choice, flag, text, whole
from idealrank._lazy import load_extra
from idealrank._sections import Section
from idealrank.errors import BackendError, shown
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery, ranked
from idealrank.live.backends.shared import BackendKeys, keys_from, reason, vector_bytes

_DISTANCE = "__distance"  # name that the query gives to the distance
_WORD = re.compile(r"\w+")


class RedisKnn:
    """Nearest neighbours in a vector field of Redis: ``FT.SEARCH`` with ``KNN``, sorted ascending
    by distance.
    """

    def __init__(
        self,
        client: Any,
        *,
        index: str,
        field: str,
        prefix: str = "",
        where: str = "*",
        ef: int | None = None,
        name: str = "redis",
    ) -> None:
        self.name = name
        self._client = client
        self._index = index
        self._prefix = prefix
        searched = where if where == "*" else f"({where})"
        effort = f" EF_RUNTIME {ef}" if ef else ""
        self._ask = f"{searched}=>[KNN $k @{field} $vector{effort} AS {_DISTANCE}]"

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Return the nearest documents."""
        parameters = ("PARAMS", 4, "k", limit, "vector", vector_bytes(query, self.name))
        page = ("SORTBY", _DISTANCE, "ASC", "LIMIT", 0, limit, "RETURN", 1, _DISTANCE, "DIALECT", 2)
        reply = _call(
            self._client, self.name, "FT.SEARCH", self._index, self._ask, *parameters, *page
        )
        rows = list(search_rows(reply, self.name))
        ids = [key.removeprefix(self._prefix) for key, _ in rows]
        distances = [_number(fields.get(_DISTANCE)) for _, fields in rows]
        return ranked(self.name, ids, distances, limit=limit, order="distance")

    def close(self) -> None:
        """Close the connections of the client."""
        self._client.close()


class RedisText:
    """Words in text fields of Redis: ``FT.SEARCH`` with the scores of the server."""

    def __init__(
        self,
        client: Any,
        *,
        index: str,
        prefix: str = "",
        scorer: str = "",
        operator: str = "any",
        name: str = "redis-text",
    ) -> None:
        self.name = name
        self._client = client
        self._index = index
        self._prefix = prefix
        self._operator = operator
        self._scorer = ("SCORER", scorer) if scorer else ()

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Return the documents with the best scores; none for a query without a word."""
        # punctuation is syntax of the server
        words = list(dict.fromkeys(_WORD.findall(query.text)))
        if not words:
            return []
        ask = " ".join(words)
        parameters: list[Any] = []
        if self._operator == "any":
            ask = "|".join(f"$word{place}" for place in range(len(words)))
            parameters = ["PARAMS", 2 * len(words)]
            for place, word in enumerate(words):
                parameters += [f"word{place}", word]
        page = ("LIMIT", 0, limit, "NOCONTENT", "WITHSCORES", "DIALECT", 2)
        reply = _call(
            self._client,
            self.name,
            "FT.SEARCH",
            self._index,
            ask,
            *parameters,
            *self._scorer,
            *page,
        )
        rows = list(search_rows(reply, self.name, scored=True))
        ids = [key.removeprefix(self._prefix) for key, _ in rows]
        scores = [_number(fields["score"]) for _, fields in rows]
        return ranked(self.name, ids, scores, limit=limit)

    def close(self) -> None:
        """Close the connections of the client."""
        self._client.close()


class RedisVectorSet:
    """Elements of a vector set of Redis 8: ``VSIM``, whose similarity ``(1 + cosine) / 2`` is the
    score.
    """

    def __init__(
        self,
        client: Any,
        *,
        key: str,
        ef: int | None = None,
        exact: bool = False,
        where: str = "",
        name: str = "redis-vector-set",
    ) -> None:
        self.name = name
        self._client = client
        self._key = key
        self._options: list[Any] = []
        if ef:
            self._options += ["EF", ef]
        if where:
            self._options += ["FILTER", where]
        if exact:
            self._options.append("TRUTH")

    def search(self, query: SearchQuery, limit: int) -> Sequence[ScoredDocument]:
        """Return the most similar elements."""
        vector = vector_bytes(query, self.name)
        reply = _call(
            self._client,
            self.name,
            "VSIM",
            self._key,
            "FP32",
            vector,
            "WITHSCORES",
            "COUNT",
            limit,
            *self._options,
        )
        if isinstance(reply, dict):
            pairs = list(reply.items())
        else:
            pairs = list(zip(reply[::2], reply[1::2], strict=True))
        if not pairs and not _call(self._client, self.name, "EXISTS", self._key):
            raise BackendError(
                f"{self.name}: found no vector set with the key {shown(repr(self._key))}"
            )
        return ranked(
            self.name,
            [element for element, _ in pairs],
            [_number(score) for _, score in pairs],
            limit=limit,
        )

    def close(self) -> None:
        """Close the connections of the client."""
        self._client.close()


def search_rows(
    reply: Any, name: str, *, scored: bool = False
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return keys and fields of a reply of ``FT.SEARCH``, of protocol 2 (a list) or 3 (a map)."""
    plain = _plain(reply)
    if isinstance(plain, dict) and "results" in plain:
        warnings = plain.get("warning") or plain.get("warnings") or []
        if warnings:
            raise BackendError(
                f"{name}: the server returned part of the answer: {shown(warnings[0])}",
                temporary=True,
            )
        for row in plain["results"]:
            if scored:
                yield row["id"], {"score": row.get("score")}
            else:
                yield row["id"], dict(row.get("extra_attributes") or {})
    elif isinstance(plain, list) and plain and isinstance(plain[0], int):
        # a count, and then the key of each document followed by its score or its fields
        for key, second in zip(plain[1::2], plain[2::2], strict=True):
            if scored:
                yield key, {"score": second}
            else:
                cells = second or []
                yield key, dict(zip(cells[::2], cells[1::2], strict=True))
    else:
        raise BackendError(f"{name}: found {shown(repr(plain))}, expected a reply of FT.SEARCH")


def _plain(value: Any) -> Any:
    """Text in place of bytes, everywhere in a reply."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {_plain(key): _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, (list, tuple)) else value


def _number(value: Any) -> float | None:
    """Number of a reply: text in protocol 2; None if it is missing."""
    return None if value is None else float(value)


def _call(client: Any, name: str, *command: Any) -> Any:
    """Send a command; errors of the client become errors of the backend."""
    errors = load_extra("redis.exceptions", f"the backend {name}", "redis", "redis")
    try:
        return client.execute_command(*command)
    except (errors.AuthenticationError, errors.AuthorizationError) as error:
        raise BackendError(
            f"{name}: {reason(error)}",
            hint="is the password in the url? `${NAME}` takes it from the environment",
        ) from None
    except (
        errors.ConnectionError,
        errors.TimeoutError,
        errors.TryAgainError,
        errors.ClusterDownError,
    ) as error:
        raise BackendError(f"{name}: {reason(error)}", temporary=True) from None
    except errors.ResponseError as error:
        raise BackendError(f"{name}: {command[0]} failed: {reason(error)}") from None


@dataclass(frozen=True, kw_only=True)
class RedisKeys(BackendKeys):
    """Keys of all kinds of Redis."""

    url: str = text("Address, such as redis://127.0.0.1:6379/0.", "redis://127.0.0.1:6379/0")


@dataclass(frozen=True, kw_only=True)
class KnnKeys(RedisKeys):
    """Keys of the kind ``redis``."""

    index: str = text("Index of FT.SEARCH.", expected="the name of an index")
    field: str = text("Vector field.", expected="the name of a vector field")
    prefix: str = text("Start of the keys that is no part of the id.", "")
    where: str = text("Filter, such as @lang:{en}.", "*")
    ef: int | None = whole("EF_RUNTIME of an HNSW index.")


@dataclass(frozen=True, kw_only=True)
class RedisTextKeys(RedisKeys):
    """Keys of the kind ``redis-text``."""

    index: str = text("Index of FT.SEARCH.", expected="the name of an index")
    prefix: str = text("Start of the keys that is no part of the id.", "")
    scorer: str = text("Function of the server, such as BM25STD.", "")
    operator: str = choice(
        ("any", "all"), "Documents to find: with any word of the query, or with all."
    )


@dataclass(frozen=True, kw_only=True)
class VectorSetKeys(RedisKeys):
    """Keys of the kind ``redis-vector-set``."""

    key: str = text("Key of the vector set.", expected="the key of a vector set")
    ef: int | None = whole("Effort of the search.")
    exact: bool = flag("Compare with every element.")
    where: str = text("FILTER over attributes.", "")


SECTIONS = {"redis": KnnKeys, "redis-text": RedisTextKeys, "redis-vector-set": VectorSetKeys}


def _client(keys: RedisKeys, section: Section) -> Any:
    client = load_extra("redis", "the backend redis", "redis")
    try:
        # The runner decides about further attempts; the client must not hide them.
        return client.Redis.from_url(
            keys.url,
            socket_timeout=keys.timeout,
            socket_connect_timeout=keys.timeout,
            retry=None,
        )
    except ValueError as error:
        raise section.error(
            "url", keys.url, f"an address such as redis://127.0.0.1:6379/0 ({error})"
        ) from None


def _knn(section: Section) -> Backend:
    keys = keys_from(KnnKeys, section)
    return RedisKnn(
        _client(keys, section),
        index=keys.index,
        field=keys.field,
        prefix=keys.prefix,
        where=keys.where,
        ef=keys.ef,
    )


def _text(section: Section) -> Backend:
    keys = keys_from(RedisTextKeys, section)
    return RedisText(
        _client(keys, section),
        index=keys.index,
        prefix=keys.prefix,
        scorer=keys.scorer,
        operator=keys.operator,
    )


def _vector_set(section: Section) -> Backend:
    keys = keys_from(VectorSetKeys, section)
    return RedisVectorSet(
        _client(keys, section), key=keys.key, ef=keys.ef, exact=keys.exact, where=keys.where
    )


_MAKERS: dict[str, Callable[[Section], Backend]] = {
    "redis": _knn,
    "redis-text": _text,
    "redis-vector-set": _vector_set,
}


def from_section(section: Section) -> Backend:
    """Make the backend of a section with the kind ``redis``, ``redis-text`` or
    ``redis-vector-set``.
    """
    return _MAKERS[section.given["kind"]](section)
