"""Every configuration of the guide to engines is asked a query, with the engine that it names."""

import re
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from idealrank._sections import Section
from idealrank.live.backends import KINDS, backend_from
from idealrank.live.backends.protocol import SearchQuery
from tests.conftest import PYDOCS, ROOT
from tests.services.conftest import Corpus
from tests.services.test_embedded_indexes import duckdb_file, lance_folder, vec_database

pytestmark = pytest.mark.service
GUIDE = ROOT / "docs" / "live" / "search-backends.md"
BLOCKS = [
    yaml.safe_load(block)
    for block in re.findall(r"```yaml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)
]
__all__ = ["duckdb_file", "lance_folder", "vec_database"]


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory,
    redis_url: str,
    postgres_url: str,
    emulator_url: str,
    corpus: Corpus,
) -> Path:
    """Indexes with the names of the guide, made by the example."""
    import httpx

    sys.path.insert(0, str(PYDOCS))
    try:
        import engines
    finally:
        sys.path.remove(str(PYDOCS))
    made = tmp_path_factory.mktemp("guide")
    texts = dict(zip(corpus.ids, corpus.texts, strict=True))
    # unit length, as in the example
    vectors = corpus.vectors / np.sqrt((corpus.vectors**2).sum(1, keepdims=True))
    engines.sqlite_fts5(made, texts)
    engines.redis_indexes(redis_url, texts, vectors)
    engines.postgres_table(database_of_guide(postgres_url, create=True), texts, vectors)
    engines.qdrant_collection(made, corpus.ids, vectors)
    engines.faiss_index(made, corpus.ids, vectors)
    with httpx.Client(base_url=emulator_url) as client:
        for document, text in texts.items():
            client.put(f"/documents/_doc/{document}", json={"body": text}).raise_for_status()
        client.post("/documents/_refresh").raise_for_status()
    shutil.copy(Path(__file__).with_name("shop_retrievers.py"), made)
    return made


def database_of_guide(url: str, *, create: bool = False) -> str:
    """Address of a database of its own, since other tests use the usual one."""
    import psycopg

    if create:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE DATABASE guide")
    return url.replace("/postgres?", "/guide?")


def test_the_guide_has_every_kind_of_engine() -> None:
    elsewhere = {"http", "function", "command", "replay", "opensearch"}
    assert {block["backend"]["kind"] for block in BLOCKS} == set(KINDS) - elsewhere


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block["backend"]["kind"])
def test_each_configuration_of_the_guide_answers(
    block: dict[str, dict[str, object]],
    folder: Path,
    vec_database: str,
    duckdb_file: str,
    lance_folder: str,
    redis_url: str,
    postgres_url: str,
    emulator_url: str,
    corpus: Corpus,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("DATABASE_URL", database_of_guide(postgres_url))
    monkeypatch.setenv("ELASTICSEARCH_URL", emulator_url)
    own = {"vectors.db": vec_database, "pages.duckdb": duckdb_file, "lance": lance_folder}
    given = {
        key: own.get(value, value) if isinstance(value, str) else value
        for key, value in block["backend"].items()
    }
    backend = backend_from(Section(given, "search.yaml", "backend"))
    try:
        words = "red" if given["kind"] != "retriever" else "red running shoes"
        found = [
            one.document
            for one in backend.search(SearchQuery("q", words, corpus.queries[0].vector), 10)
        ]
    finally:
        backend.close()
    if given["kind"] == "retriever":
        assert found == ["shoes", "boots"]
    elif "text" in given["kind"] or given["kind"] in (
        "sqlite-fts5",
        "elasticsearch",
        "postgres",
        "postgres-sql",
        "duckdb",
    ):
        texts = dict(zip(corpus.ids, corpus.texts, strict=True))
        assert len(found) == 10
        assert all("red" in texts[one].split() for one in found)
    else:  # HNSW with the effort of the guide, and 8 bits in the vector set
        assert len(set(found) & set(corpus.nearest(corpus.queries[0], 10))) >= 9
