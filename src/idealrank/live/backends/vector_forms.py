"""Vectors of queries, in the forms that engines take."""

import numpy as np

from idealrank.errors import BackendError, shown
from idealrank.live.backends.protocol import SearchQuery


def vector_numbers(query: SearchQuery, name: str) -> list[float]:
    """Return the vector of a query as numbers.

    Raises
    ------
    BackendError
        The query has none.

    Examples
    --------
    >>> vector_numbers(SearchQuery("q1", "iso date", [1, 0.5]), "redis")
    [1.0, 0.5]
    >>> vector_numbers(SearchQuery("q1", "iso date"), "redis")
    Traceback (most recent call last):
    ...
    idealrank.errors.BackendError: redis: query 'q1' has no vector, expected one for a search by vector
    """
    if query.vector is None:
        raise BackendError(f"{name}: query {shown(repr(query.id))} has no vector, expected one for a search by vector")
    return [float(one) for one in query.vector]


def vector_bytes(query: SearchQuery, name: str) -> bytes:
    """Return the vector of a query as float32, little-endian.

    Examples
    --------
    >>> vector_bytes(SearchQuery("q1", "", [1.0]), "redis").hex()
    '0000803f'
    """
    return np.array(vector_numbers(query, name), dtype="<f4").tobytes()
