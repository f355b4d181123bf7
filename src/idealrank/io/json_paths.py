"""Paths into nested values, as engines answer with them: names and places in lists, with a dot
between them, and ``[]`` where each item of a list counts.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from idealrank.errors import OptionError

EACH = "[]"
"""Mark of a path that goes through each item of a list, as in ``hits[].sku``."""


class ListPath(NamedTuple):
    """Path to a value of each item of a list."""

    to_list: str  # Path to the list; empty if the value is the list
    in_item: str  # Path in an item; empty if the item is the value

    @classmethod
    def of(cls, text: str) -> "ListPath":
        """Split a path at its mark.

        Examples
        --------
        >>> ListPath.of("response.hits[]._source.sku")
        ListPath(to_list='response.hits', in_item='_source.sku')
        """
        to_list, _, in_item = text.partition(EACH)
        if EACH in in_item or (in_item and not in_item.startswith(".")):
            raise OptionError(
                f"{text}: expected a path with one {EACH} after the name of a list, as in hits[].id"
            )
        return cls(to_list, in_item.removeprefix("."))


def at_path(value: Any, path: str) -> Any:
    """Return the value at a path of keys and list places, joined by dots; None where there is none.

    A key may have dots of its own.

    Examples
    --------
    >>> at_path({"hits": [{"id": 7}]}, "hits.0.id"), at_path({"a.b": 1}, "a.b")
    (7, 1)
    """
    if not path:
        return value
    if isinstance(value, list):
        key, _, below = path.partition(".")
        is_place = key.isdecimal() and int(key) < len(value)
        return at_path(value[int(key)], below) if is_place else None
    if not isinstance(value, Mapping):
        return None
    if path in value:
        return value[path]
    end = path.find(".")
    while end >= 0:
        if path[:end] in value:
            return at_path(value[path[:end]], path[end + 1 :])
        end = path.find(".", end + 1)
    return None
