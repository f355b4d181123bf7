"""Engines inside the process: Qdrant, FAISS, sqlite-vec, DuckDB and LanceDB against exact
neighbours.
"""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from idealrank.errors import BackendError, InputError, OptionError
from idealrank.live.backends.protocol import SearchQuery
from idealrank.testing import check_backend
from tests.services.conftest import Corpus, ids_of, made

pytestmark = pytest.mark.service


# --- Qdrant, embedded -----------------------------------------------------------------------------


def qdrant_folder(folder: Path, corpus: Corpus) -> str:
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=str(folder))
    distances = {
        "cosine": models.Distance.COSINE,
        "l2": models.Distance.EUCLID,
        "l1": models.Distance.MANHATTAN,
    }
    size = corpus.vectors.shape[1]
    client.create_collection(
        "pages",
        {name: models.VectorParams(size=size, distance=one) for name, one in distances.items()},
    )
    points = [
        models.PointStruct(
            id=number,
            vector=dict.fromkeys(distances, vector.tolist()),
            payload={"page": {"id": document}},
        )
        for number, (document, vector) in enumerate(zip(corpus.ids, corpus.vectors, strict=True))
    ]
    client.upsert("pages", points)
    client.close()
    return str(folder)


def test_qdrant_has_the_exact_neighbours_of_every_distance(tmp_path: Path, corpus: Corpus) -> None:
    path = qdrant_folder(tmp_path / "qdrant", corpus)

    for name in ("cosine", "l2", "l1"):
        backend = made("qdrant", path=path, collection="pages", vector_name=name, id="page.id")
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda query: backend.search(query, 10), corpus.queries))  # noqa: B023  (used at once)
        backend.close()
        for query, documents in zip(corpus.queries, found, strict=True):
            assert [one.document for one in documents] == corpus.nearest(query, 10, name)
            assert documents[0].score == pytest.approx(
                corpus.similarities(query, name).max(), abs=1e-5
            )


def test_qdrant_names_what_is_missing(tmp_path: Path, corpus: Corpus) -> None:
    path = qdrant_folder(tmp_path / "qdrant", corpus)
    for given, said in (
        ({"collection": "nothing"}, "not found"),
        ({"collection": "pages"}, "expected one of cosine, l2, l1"),
    ):
        backend = made("qdrant", path=path, **given)
        with pytest.raises(BackendError, match=said):
            backend.search(corpus.queries[0], 10)
        backend.close()
    with pytest.raises(OptionError, match="neither"):
        made("qdrant", collection="pages")


def test_a_qdrant_server_that_is_not_there_is_a_passing_failure(corpus: Corpus) -> None:
    backend = made("qdrant", url="http://127.0.0.1:1", collection="pages")
    with pytest.raises(BackendError) as raised:
        backend.search(corpus.queries[0], 10)
    assert raised.value.temporary


# --- FAISS ----------------------------------------------------------------------------------------


def faiss_files(folder: Path, corpus: Corpus, kind: str, metric: str) -> dict[str, str]:
    import faiss

    vectors = corpus.vectors
    if metric == "cosine":
        vectors = vectors / np.sqrt((vectors**2).sum(1, keepdims=True))
    index = faiss.index_factory(
        vectors.shape[1], kind, faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_INNER_PRODUCT
    )
    index.train(vectors)
    index.add(vectors)
    faiss.write_index(index, str(folder / "a.faiss"))
    (folder / "ids.txt").write_text("\n".join(corpus.ids) + "\n")
    return {"path": str(folder / "a.faiss"), "ids": str(folder / "ids.txt")}


@pytest.mark.parametrize("kind", ["Flat", "HNSW16", "IVF8,Flat"])
@pytest.mark.parametrize("metric", ["cosine", "l2"])
def test_faiss_has_the_exact_neighbours_with_enough_effort(
    kind: str, metric: str, tmp_path: Path, corpus: Corpus
) -> None:
    effort = {"HNSW16": {"ef_search": 300}, "IVF8,Flat": {"nprobe": 8}}.get(kind, {})
    backend = made(
        "faiss",
        **faiss_files(tmp_path, corpus, kind, metric),
        normalize=metric == "cosine",
        **effort,
    )

    for query in corpus.queries:
        found = backend.search(query, 10)
        best = corpus.similarities(query, metric).max()
        assert [one.document for one in found] == corpus.nearest(query, 10, metric)
        assert found[0].score == pytest.approx(best if metric == "cosine" else -(best**2), abs=1e-4)


def test_faiss_returns_fewer_documents_if_the_visited_lists_hold_no_more(
    tmp_path: Path, corpus: Corpus
) -> None:
    backend = made("faiss", **faiss_files(tmp_path, corpus, "IVF8,Flat", "l2"), nprobe=1)

    assert 0 < len(backend.search(corpus.queries[0], 300)) < 300


def test_faiss_refuses_files_that_do_not_fit(tmp_path: Path, corpus: Corpus) -> None:
    given = faiss_files(tmp_path, corpus, "Flat", "l2")
    backend = made("faiss", **given)
    with pytest.raises(BackendError, match="found a vector of 2 dimensions, expected 16"):
        backend.search(SearchQuery("q", "", np.array([1.0, 2.0])), 10)
    with pytest.raises(InputError, match=r"IndexFlat.* has no nprobe"):
        made("faiss", **given, nprobe=4)
    (tmp_path / "ids.txt").write_text("a\nb\n")
    with pytest.raises(InputError, match="found 2 ids for 300 vectors"):
        made("faiss", **given)
    with pytest.raises(InputError, match="no index that FAISS can read"):
        made("faiss", **{**given, "path": given["ids"]})


# --- sqlite-vec -----------------------------------------------------------------------------------


@pytest.fixture
def vec_database(tmp_path: Path, corpus: Corpus) -> str:
    import pysqlite3
    import sqlite_vec

    path = tmp_path / "vec.db"
    connection = pysqlite3.connect(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    size = corpus.vectors.shape[1]
    connection.execute(
        f"CREATE VIRTUAL TABLE pages USING vec0(id TEXT PRIMARY KEY, embedding float[{size}] "
        f"distance_metric=cosine)"
    )
    rows = [
        (document, vector.tobytes())
        for document, vector in zip(corpus.ids, corpus.vectors, strict=True)
    ]
    connection.executemany("INSERT INTO pages (id, embedding) VALUES (?, ?)", rows)
    connection.commit()
    connection.close()
    return str(path)


@pytest.mark.parametrize("driver", ["pysqlite3", "apsw", None])
def test_sqlite_vec_has_the_exact_neighbours_with_every_driver(
    driver: str | None, vec_database: str, corpus: Corpus
) -> None:
    backend = made(
        "sqlite-vec", path=vec_database, table="pages", column="embedding", id="id", driver=driver
    )

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda query: backend.search(query, 10), corpus.queries))
    backend.close()

    for query, documents in zip(corpus.queries, found, strict=True):
        assert [one.document for one in documents] == corpus.nearest(query, 10)
        assert documents[0].score == pytest.approx(corpus.similarities(query).max() - 1, abs=1e-5)


@pytest.mark.parametrize("driver", ["pysqlite3", "apsw"])
def test_sqlite_vec_names_what_is_wrong(driver: str, vec_database: str, corpus: Corpus) -> None:
    backend = made(
        "sqlite-vec", path=vec_database, table="nothing", column="embedding", driver=driver
    )
    with pytest.raises(BackendError, match="no such table: nothing"):
        backend.search(corpus.queries[0], 10)
    if not hasattr(sqlite3.Connection, "enable_load_extension"):
        with pytest.raises(OptionError, match="cannot load extensions"):
            made(
                "sqlite-vec", path=vec_database, table="pages", column="embedding", driver="sqlite3"
            )
    with pytest.raises(OptionError, match="found no such file"):
        made("sqlite-vec", path=f"{vec_database}.not", table="pages", column="embedding")


# --- DuckDB ---------------------------------------------------------------------------------------


@pytest.fixture
def duckdb_file(tmp_path: Path, corpus: Corpus) -> str:
    import duckdb
    import duckdb_extensions

    path = str(tmp_path / "a.duckdb")
    connection = duckdb.connect(path)
    connection.execute("CREATE TABLE pages (id VARCHAR, body VARCHAR, embedding FLOAT[])")
    rows = zip(corpus.ids, corpus.texts, (one.tolist() for one in corpus.vectors), strict=True)
    connection.executemany("INSERT INTO pages VALUES (?, ?, ?)", list(rows))
    duckdb_extensions.import_extension("fts", con=connection)
    connection.load_extension("fts")
    connection.execute(
        "PRAGMA create_fts_index('pages', 'id', 'body', stemmer = 'none', stopwords = 'none')"
    )
    connection.close()
    return path


def test_duckdb_finds_neighbours_and_words(duckdb_file: str, corpus: Corpus) -> None:
    near = made(
        "duckdb",
        path=duckdb_file,
        sql="SELECT id, list_cosine_similarity(embedding, $vector::FLOAT[]) AS score FROM pages "
        "ORDER BY score DESC LIMIT $limit",
    )
    words = made(
        "duckdb",
        path=duckdb_file,
        extensions=["fts"],
        sql="SELECT id, fts_main_pages.match_bm25(id, $text) AS score FROM pages WHERE score IS "
        "NOT NULL "
        "ORDER BY score DESC, id LIMIT $limit",
    )
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda query: ids_of(near, query), corpus.queries))

    assert found == [corpus.nearest(query, 10) for query in corpus.queries]
    wanted = {
        one
        for one, text in zip(corpus.ids, corpus.texts, strict=True)
        if {"red", "wolf"} & set(text.split())
    }
    assert set(ids_of(words, SearchQuery("q", "red; wolf' --"), 300)) == wanted
    near.close()
    words.close()


def test_duckdb_reads_only_and_names_what_is_wrong(duckdb_file: str, corpus: Corpus) -> None:
    for sql, said in (
        ("SELECT id, 1 FROM nothing", "does not exist"),
        ("DELETE FROM pages", "read-only"),
        ("SELECT 1", "found 1 columns"),
    ):
        backend = made("duckdb", path=duckdb_file, sql=sql)
        with pytest.raises(BackendError, match=said):
            backend.search(corpus.queries[0], 10)
        backend.close()
    with pytest.raises(OptionError, match="nothing_of_this_name"):
        made("duckdb", path=duckdb_file, sql="SELECT 1", extensions=["nothing_of_this_name"])


# --- LanceDB --------------------------------------------------------------------------------------


@pytest.fixture
def lance_folder(tmp_path: Path, corpus: Corpus) -> str:
    import lancedb
    from lancedb.index import FTS

    rows = zip(corpus.ids, corpus.texts, corpus.vectors, strict=True)
    table = lancedb.connect(str(tmp_path)).create_table(
        "pages", [{"id": one, "body": text, "vector": vector} for one, text, vector in rows]
    )
    table.create_index("body", config=FTS())
    return str(tmp_path)


@pytest.mark.parametrize("metric", ["cosine", "l2"])
def test_lancedb_has_the_exact_neighbours(metric: str, lance_folder: str, corpus: Corpus) -> None:
    backend = made("lancedb", path=lance_folder, table="pages", metric=metric)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda query: backend.search(query, 10), corpus.queries))

    for query, documents in zip(corpus.queries, found, strict=True):
        best = corpus.similarities(query, metric).max()
        assert [one.document for one in documents] == corpus.nearest(query, 10, metric)
        assert documents[0].score == pytest.approx(
            best - 1 if metric == "cosine" else -(best**2), abs=1e-4
        )


def test_lancedb_finds_words_and_names_a_missing_table(lance_folder: str, corpus: Corpus) -> None:
    backend = made("lancedb", path=lance_folder, table="pages", by="text", column="body")

    wanted = {
        one for one, text in zip(corpus.ids, corpus.texts, strict=True) if "wolf" in text.split()
    }
    assert set(ids_of(backend, SearchQuery("q", "wolf"), 300)) == wanted
    with pytest.raises(InputError, match="nothing"):
        made("lancedb", path=lance_folder, table="nothing")


# --- the contract ---------------------------------------------------------------------------------


def test_the_contract_of_backends_holds_for_qdrant(tmp_path: Path, corpus: Corpus) -> None:
    path = qdrant_folder(tmp_path / "qdrant", corpus)
    check_backend(
        made("qdrant", path=path, collection="pages", vector_name="cosine", id="page.id"),
        corpus.queries[:4],
        exact=False,  # sums of the embedded mode differ in the last digit with the limit
        unreachable=lambda: made("qdrant", url="http://127.0.0.1:1", collection="pages"),
    )


@pytest.mark.parametrize("kind", ["Flat", "HNSW16", "IVF8,Flat"])
def test_the_contract_of_backends_holds_for_faiss(
    kind: str, tmp_path: Path, corpus: Corpus
) -> None:
    check_backend(
        made("faiss", **faiss_files(tmp_path, corpus, kind, "cosine"), normalize=True),
        corpus.queries[:4],
    )


def test_the_contract_of_backends_holds_for_sqlite_vec(vec_database: str, corpus: Corpus) -> None:
    given = {"path": vec_database, "column": "embedding", "id": "id"}
    check_backend(
        made("sqlite-vec", **given, table="pages"),
        corpus.queries[:4],
        mistaken=lambda: made("sqlite-vec", **given, table="nothing"),
    )


def test_the_contract_of_backends_holds_for_duckdb(duckdb_file: str, corpus: Corpus) -> None:
    sql = (
        "SELECT id, fts_main_pages.match_bm25(id, $text) AS score FROM pages WHERE score IS NOT "
        "NULL ORDER BY score DESC, id LIMIT $limit"
    )
    check_backend(
        made("duckdb", path=duckdb_file, extensions=["fts"], sql=sql),
        corpus.queries[:4],
        mistaken=lambda: made("duckdb", path=duckdb_file, sql="SELECT 1"),
    )


@pytest.mark.parametrize("by", ["vector", "text"])
def test_the_contract_of_backends_holds_for_lancedb(
    by: str, lance_folder: str, corpus: Corpus
) -> None:
    given = {"path": lance_folder, "table": "pages", "by": by}
    check_backend(
        made("lancedb", **given, column="body" if by == "text" else "vector"),
        corpus.queries[:4],
        mistaken=lambda: made("lancedb", **given, column="nothing"),
    )
