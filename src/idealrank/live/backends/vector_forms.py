"""Vectors of queries, in the forms that engines take."""

import numpy as np

from idealrank.errors import BackendError, shown
from idealrank.live.backends.protocol import SearchQuery


def vector_numbers(query: SearchQuery, name: str) -> list[float]:
    """Return the vector of a query as numbers."""
    if query.vector is None:
        raise BackendError(
            f"{name}: query {shown(repr(query.id))} has no vector, expected one for a search "
            f"by vector"
        )
    return [float(one) for one in query.vector]


def vector_bytes(query: SearchQuery, name: str) -> bytes:
    """Return the vector of a query as float32, little-endian."""
    return np.array(vector_numbers(query, name), dtype="<f4").tobytes()
