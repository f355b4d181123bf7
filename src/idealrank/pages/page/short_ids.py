"""Ids of queries, shortened so that a page has room for rankings."""

from collections import Counter
from collections.abc import Iterable, Iterator

LENGTHS = (120, 60, 40, 24, 16, 12, 8)
"""Letters to which longer ids are shortened, the most that leave room."""


def shortened(ids: Iterable[str], most: int | None) -> dict[str, str]:
    """Map each id to itself up to a length, otherwise to its beginning and its end, all different.

    Examples
    --------
    >>> shortened(["q1", "a-long-id-of-letters", "a-longer-id-of-letters"], 12)
    {'q1': 'q1', 'a-long-id-of-letters': 'a-lo…1…tters', 'a-longer-id-of-letters': 'a-lo…2…tters'}
    >>> shortened(["a-long-id-of-letters"], 12)
    {'a-long-id-of-letters': 'a-lon…etters'}
    """
    if most is None:
        return {id_: id_ for id_ in ids}
    short = {id_: id_ if len(id_) <= most else _without_middle(id_, most, "…") for id_ in ids}
    counts = Counter(short.values())
    taken = {short_id for short_id, count in counts.items() if count == 1}
    taken |= {id_ for id_, short_id in short.items() if id_ == short_id}
    for place, (id_, short_id) in enumerate(short.items()):
        if id_ != short_id and counts[short_id] > 1:
            numbered = _numbered(id_, most, place)
            short[id_] = next(candidate for candidate in numbered if candidate not in taken)
            taken.add(short[id_])
    return short


def _numbered(id_: str, most: int, place: int) -> Iterator[str]:
    """Yield short ids with the place of the id among all in the middle; then with dots behind it,
    should an id be just that.
    """
    number = str(place)
    while True:
        yield _without_middle(id_, most, f"…{number}…")
        number += "."


def _without_middle(id_: str, most: int, middle: str) -> str:
    n_kept = max(most - len(middle), 0)
    n_first = n_kept // 2
    return id_[:n_first] + middle + id_[len(id_) - (n_kept - n_first) :]
