"""Real servers, each started once for the session and stopped at its end, and a small corpus whose
exact neighbours are known.
"""

import runpy
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from idealrank._sections import Section
from idealrank.live.backends import backend_from
from idealrank.live.backends.protocol import Backend, SearchQuery
from tests.conftest import PYDOCS

DOCUMENTS, DIMENSIONS, QUERIES = 300, 16, 12
WORDS = [
    "red",
    "fox",
    "blue",
    "wolf",
    "green",
    "owl",
    "grey",
    "bear",
    "black",
    "cat",
    "white",
    "hare",
]


def servers() -> dict[str, Any]:
    return runpy.run_path(str(PYDOCS / "servers.py"))


@dataclass(frozen=True)
class Corpus:
    """Documents with texts and vectors, queries, and the exact neighbours by cosine."""

    ids: list[str]
    texts: list[str]
    vectors: np.ndarray
    queries: list[SearchQuery]

    def similarities(self, query: SearchQuery, metric: str = "cosine") -> np.ndarray:
        """Similarity of every document: cosine, inner product, or distance times -1."""
        vectors, asked = self.vectors.astype(float), np.asarray(query.vector, dtype=float)
        if metric == "cosine":
            return (vectors * asked).sum(1) / np.sqrt((vectors**2).sum(1) * (asked**2).sum())
        if metric == "inner-product":
            return (vectors * asked).sum(1)
        if metric == "l1":
            return -np.abs(vectors - asked).sum(1)
        return -np.sqrt(((vectors - asked) ** 2).sum(1))

    def nearest(self, query: SearchQuery, limit: int, metric: str = "cosine") -> list[str]:
        """Ids of the nearest documents, nearest first."""
        return [
            self.ids[place]
            for place in np.argsort(-self.similarities(query, metric), kind="stable")[:limit]
        ]


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    rng = np.random.default_rng(20)
    centres = rng.standard_normal((12, DIMENSIONS))
    vectors = (
        centres[rng.integers(0, 12, DOCUMENTS)] + 0.7 * rng.standard_normal((DOCUMENTS, DIMENSIONS))
    ).astype(np.float32)
    asked = (
        centres[rng.integers(0, 12, QUERIES)] + 0.7 * rng.standard_normal((QUERIES, DIMENSIONS))
    ).astype(np.float32)
    texts = [" ".join(rng.choice(WORDS, rng.integers(3, 12))) for _ in range(DOCUMENTS)]
    words = [" ".join(rng.choice(WORDS, 2, replace=False)) for _ in range(QUERIES)]
    queries = [
        SearchQuery(f"q{number}", text, vector.astype(float))
        for number, (text, vector) in enumerate(zip(words, asked, strict=True))
    ]
    return Corpus([f"doc-{number}" for number in range(DOCUMENTS)], texts, vectors, queries)


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with servers()["redis_server"](tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    # As root, the server runs as a user of its own, who must reach the folder: every start of
    # pytest closes the folder of its own again.
    with (
        tempfile.TemporaryDirectory(prefix="idealrank-") as folder,
        servers()["postgres_server"](Path(folder) / "data") as url,
    ):
        yield url


@pytest.fixture(scope="session")
def emulator_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with servers()["elasticsearch_emulator"](tmp_path_factory.mktemp("emulator")) as url:
        yield url


_made: list[Backend] = []


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """Every backend of a test is closed after it."""
    yield
    while _made:
        _made.pop().close()


def made(kind: str, **given: object) -> Backend:
    """Backend of a section with these keys."""
    _made.append(backend_from(Section({"kind": kind, **given}, "search.yaml", "backend")))
    return _made[-1]


def ids_of(backend: Backend, query: SearchQuery, limit: int = 10) -> list[str]:
    return [one.document for one in backend.search(query, limit)]
