"""Head, torso and tail: thirds of the traffic."""

import math
from collections.abc import Mapping
from itertools import groupby

from idealrank.data.frames import by_query
from idealrank.errors import InputError

# Thirds of the traffic are rounded sums.
_ROUNDING = 1e-12


def traffic_thirds(traffic: Mapping[str, float]) -> dict[str, str]:
    """Split queries into head, torso and tail: the first, second and last third of the traffic.

    Queries are sorted by falling traffic; each occupies a stretch as long as its traffic, and belongs to the third that contains the middle
    of its stretch. Queries with equal traffic share one stretch, so they are always in the same third. Queries without an evaluation count
    as well.

    Parameters
    ----------
    traffic : mapping of query to float
        Number of times each query is asked: finite, at least 0, not all 0.

    Returns
    -------
    dict
        ``head``, ``torso`` or ``tail`` for each query, in the order given.

    Raises
    ------
    InputError
        A number is negative or not finite, or all are 0.

    Examples
    --------
    >>> traffic_thirds({"a": 50, "b": 20, "c": 10, "d": 10, "e": 5, "f": 5})
    {'a': 'head', 'b': 'torso', 'c': 'tail', 'd': 'tail', 'e': 'tail', 'f': 'tail'}
    """
    traffic = by_query(traffic, "traffic")
    for query, count in traffic.items():
        if not (math.isfinite(count) and count >= 0):
            raise InputError(f"traffic {count!r} of query {query!r}: expected a finite number from 0 on")
    total = math.fsum(traffic.values())
    if not total > 0:
        raise InputError(f"found no traffic in {len(traffic)} queries, expected some above 0")
    names: dict[float, str] = {}
    before = 0.0
    for count, equals in groupby(sorted(traffic.values(), reverse=True)):
        stretch = count * len(list(equals))
        names[count] = _third((before + stretch / 2) / total)
        before += stretch
    return {query: names[count] for query, count in traffic.items()}


def _third(place: float) -> str:
    return "head" if place <= 1 / 3 + _ROUNDING else "torso" if place <= 2 / 3 + _ROUNDING else "tail"
