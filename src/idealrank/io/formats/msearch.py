"""Requests of ``_msearch``: a header line and a body line for each search, and the name that a body
gives its query.
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
    """Return whether this may be the first line of a request; objects are tuples of pairs."""
    return isinstance(value, tuple) and all(
        name in _HEADER and not isinstance(one, tuple) for name, one in value
    )


def is_body(value: Any) -> bool:
    """Return whether this may be the second line of a request."""
    return isinstance(value, tuple) and any(
        name in _BODY and not isinstance(one, str) for name, one in value
    )


def query_names(bodies: Sequence[Any]) -> list[str]:
    """A name for each request: its ``_name``, or the text that it searches; empty if not every
    request has one of its own.

    A text that every request contains, such as a filter, names none.
    """
    for words in (_names, _texts):
        found = [list(dict.fromkeys(words(body))) for body in bodies]
        common = set(found[0]).intersection(*found[1:]) if len(found) > 1 else set()
        own = [[text for text in texts if text not in common] for texts in found]
        if all(len(texts) == 1 for texts in own) and len({texts[0] for texts in own}) == len(own):
            return [texts[0] for texts in own]
    return []


def _names(value: Any) -> Iterator[str]:
    for name, one in _fields(value):
        if name == _NAME and isinstance(one, str) and one.strip():
            yield one


def _texts(value: Any) -> Iterator[str]:
    for name, one in _fields(value):
        if name in _TEXTS and isinstance(one, str):
            texts: Sequence[Any] = (one,)
        elif (name in _BY_FIELD or name == "params") and isinstance(one, tuple):
            texts = [text for _, text in one]
        else:
            texts = ()
        yield from (text for text in texts if isinstance(text, str) and text.strip())


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    """Every field, however deep; without recursion, since the depth is the file's."""
    left = [value]
    while left:
        one = left.pop()
        if isinstance(one, list):
            left.extend(one)
        elif isinstance(one, tuple):
            for name, inner in one:
                yield name, inner
                left.append(inner)
