"""Requests of ``_msearch``, the call of Elasticsearch and OpenSearch for many searches, which name
the queries of the responses: two lines each, a header and a body.
"""

from collections.abc import Iterator, Sequence
from typing import Any

_HEADER = frozenset(
    (
        "index",
        "search_type",
        "preference",
        "routing",
        "request_cache",
        "ignore_unavailable",
        "allow_no_indices",
        "expand_wildcards",
        "ccs_minimize_roundtrips",
        "allow_partial_search_results",
        "max_concurrent_shard_requests",
        "project_routing",
    )
)
_BODY = frozenset(
    ("query", "knn", "retriever", "params", "sub_searches", "size", "from", "suggest")
)
# Clauses of the form {field: text}, and fields whose value is the text that a user typed.
_BY_FIELD = frozenset(("match", "match_phrase", "match_phrase_prefix", "match_bool_prefix"))
_TEXTS = frozenset(("query", "query_text", "model_text"))
_NAME = "_name"


def is_header(value: Any) -> bool:
    """Return whether a value may be the first line of a request; objects are tuples of pairs."""
    return isinstance(value, tuple) and all(
        name in _HEADER and not isinstance(field_value, tuple) for name, field_value in value
    )


def is_body(value: Any) -> bool:
    """Return whether a value may be the second line of a request."""
    return isinstance(value, tuple) and any(
        name in _BODY and not isinstance(field_value, str) for name, field_value in value
    )


def query_names(bodies: Sequence[Any]) -> list[str]:
    """Return a name for each request: its ``_name``, or the text that it searches; empty if not
    every request has one of its own.

    A text that every request contains, such as a filter, names none.
    """
    for words_in in (_names, _texts):
        words_of_bodies = [dict.fromkeys(words_in(body)) for body in bodies]
        common: set[str] = set()
        if len(words_of_bodies) > 1:
            common = set.intersection(*map(set, words_of_bodies))
        names: list[str] = []
        for words in words_of_bodies:
            distinctive = [word for word in words if word not in common]
            if len(distinctive) == 1:
                names += distinctive
        if len(names) == len(set(names)) == len(bodies):
            return names
    return []


def _names(value: Any) -> Iterator[str]:
    for name, field_value in _fields(value):
        if name == _NAME and isinstance(field_value, str) and field_value.strip():
            yield field_value


def _texts(value: Any) -> Iterator[str]:
    for name, field_value in _fields(value):
        texts: Sequence[Any] = ()
        if name in _TEXTS and isinstance(field_value, str):
            texts = (field_value,)
        elif (name in _BY_FIELD or name == "params") and isinstance(field_value, tuple):
            texts = [text for _, text in field_value]
        yield from (text for text in texts if isinstance(text, str) and text.strip())


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield every field, however deep; without recursion, since a file may nest without end."""
    unvisited = [value]
    while unvisited:
        node = unvisited.pop()
        if isinstance(node, list):
            unvisited.extend(node)
        elif isinstance(node, tuple):
            for name, field_value in node:
                yield name, field_value
                unvisited.append(field_value)
