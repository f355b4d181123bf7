"""A backend of a section, and its answer as plain pairs; shared by the tests of engines."""

import numpy as np

from idealrank._sections import Section
from idealrank.live.backends import backend_from
from idealrank.live.backends.protocol import Backend, SearchQuery

QUERY = SearchQuery("q1", "red shoes", np.array([1.0, 0.5]))
TEXT_ONLY = SearchQuery("q2", "red shoes")


def made(kind: str, **given: object) -> Backend:
    return backend_from(Section({"kind": kind, **given}, "search.yaml", "backend"))


def found(backend: Backend, query: SearchQuery = QUERY, limit: int = 10) -> list[tuple[str, float]]:
    return [tuple(one) for one in backend.search(query, limit)]
