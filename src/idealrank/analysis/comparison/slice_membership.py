"""Queries assigned to slices, such as head, torso and tail by thirds of the traffic."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from numbers import Integral
from typing import NamedTuple, TypeAlias

import numpy as np

from idealrank.data.interchange import by_query
from idealrank.data.types import BoolArray, IntArray
from idealrank.errors import InputError

# One label of each query, or several.
Categories: TypeAlias = Mapping[str, str | Sequence[str]]


class Membership(NamedTuple):
    """Membership of queries in slices."""

    queries: Sequence[str]
    within: dict[str, BoolArray]  # By slice, the mask of its queries
    unknown: int  # Categories of queries that are not compared

    @classmethod
    def of(cls, queries: Sequence[str], categories: Categories) -> "Membership":
        """Assign queries to slices by a label of each, or several."""
        within: dict[str, BoolArray] = {}
        categories = by_query(categories, "categories")
        for place, query in enumerate(queries):
            labels = categories.get(query, ())
            if not isinstance(labels, (Iterable, Integral)):
                raise InputError(
                    f"categories: found {labels!r} for query {query!r}, expected a name, or several"
                )
            several = (labels,) if isinstance(labels, (str, Integral)) else labels
            for label in map(str, several):
                within.setdefault(label, np.zeros(len(queries), np.bool_))[place] = True
        if not within:
            some = (
                f"categories of {', '.join(map(repr, list(categories)[:3]))}"
                if categories
                else "no categories"
            )
            raise InputError(
                f"found {some}, expected some of the {len(queries)} evaluated queries, as "
                f"{queries[0]!r}"
            )
        compared = set(queries)
        unknown = sum(query not in compared for query in categories)
        return cls(queries, dict(sorted(within.items())), unknown)

    def counts(self) -> dict[str, int]:
        """Count queries in no slice, queries in several, and categories of queries that are not
        compared.
        """
        return {
            "in_none": int((self.times == 0).sum()),
            "in_several": int((self.times > 1).sum()),
            "unknown": self.unknown,
        }

    @property
    def times(self) -> IntArray:
        """Number of slices of each query, shape (n_queries,)."""
        return np.asarray(np.sum(list(self.within.values()), axis=0, dtype=np.int64))


# A middle that lies exactly at a third may be computed as slightly beyond it.
_ROUNDING = 1e-12


def traffic_thirds(traffic: Mapping[str, float]) -> dict[str, str]:
    """Split queries into head, torso and tail: the first, second and last third of the traffic.

    Queries are sorted by falling traffic; each occupies a stretch as long as its traffic, and
    belongs to the third that contains the middle of its stretch. Queries with equal traffic share
    one stretch, so they are always in the same third. The query with the most traffic is always in
    the head, however large its share. Queries without an evaluation count as well.

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
            raise InputError(
                f"traffic {count!r} of query {query!r}: expected a finite number from 0 on"
            )
    total = math.fsum(traffic.values())
    if not total > 0:
        raise InputError(f"found no traffic in {len(traffic)} queries, expected some above 0")
    names: dict[float, str] = {}
    before = 0.0
    for count, equals in groupby(sorted(traffic.values(), reverse=True)):
        stretch = count * len(list(equals))
        names[count] = _third((before + stretch / 2) / total) if names else "head"
        before += stretch
    return {query: names[count] for query, count in traffic.items()}


def _third(middle: float) -> str:
    """Third of the traffic in which the middle of a stretch lies, as a share of all."""
    if middle <= 1 / 3 + _ROUNDING:
        return "head"
    return "torso" if middle <= 2 / 3 + _ROUNDING else "tail"
