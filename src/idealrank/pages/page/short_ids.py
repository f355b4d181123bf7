"""Ids of queries on a page: whole where there is room, else without their middle."""

from collections import Counter
from collections.abc import Iterable, Iterator

LENGTHS = (120, 60, 40, 24, 16, 12, 8)
"""Letters to which longer ids are shortened, the most that leave room."""


def shortened(ids: Iterable[str], most: int | None) -> dict[str, str]:
    """Each id with what stands for it: itself up to a length, else its beginning and its end, all
    different.

    Examples
    --------
    >>> shortened(["q1", "a-long-id-of-letters", "a-longer-id-of-letters"], 12)
    {'q1': 'q1', 'a-long-id-of-letters': 'a-lo…1…tters', 'a-longer-id-of-letters': 'a-lo…2…tters'}
    >>> shortened(["a-long-id-of-letters"], 12)
    {'a-long-id-of-letters': 'a-lon…etters'}
    """
    short = {
        one: one if most is None or len(one) <= most else _without_middle(one, most, "…")
        for one in ids
    }
    if most is None:
        return short
    often = Counter(short.values())
    taken = {shown for shown, count in often.items() if count == 1} | {
        one for one, shown in short.items() if one == shown
    }
    for place, (one, shown) in enumerate(short.items()):
        if one != shown and often[shown] > 1:
            short[one] = next(found for found in _numbered(one, most, place) if found not in taken)
            taken.add(short[one])
    return short


def _numbered(one: str, most: int, place: int) -> Iterator[str]:
    """By the place of the id among all; should an id be just that, by further numbers."""
    number = str(place)
    while True:
        yield _without_middle(one, most, f"…{number}…")
        number += "."


def _without_middle(one: str, most: int, middle: str) -> str:
    rest = max(most - len(middle), 0)
    return one[: rest // 2] + middle + one[len(one) - (rest - rest // 2) :]
