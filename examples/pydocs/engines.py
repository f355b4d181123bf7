"""Index the documents of pydocs in real search engines, ask all of them the same queries, and
compare the answers.

python examples/pydocs/engines.py build/engines     make test-services installs what it needs

The command starts Redis and PostgreSQL on the loopback address and stops them at the end. SQLite,
Qdrant and FAISS run in the process. The folder keeps indexes, vectors, the configuration
`search.yaml`, a run of each engine, and the page `report.html`. Texts are the same everywhere: the
words of a document's name and documentation. Vectors are the same everywhere, too: LSA
(vectors.py), which is weaker than sentence embeddings.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

# the small products of LSA gain nothing from more
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import documents as documentation
import numpy as np
import servers
import trecfiles
import yaml
from trecfiles import COLLECTION, QRELS, QUERIES, CollectionError
from vectors import LsaVectors, pieces

EF = 100  # effort of each approximate index: candidates that it keeps


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description="Compare search engines over the documents of pydocs."
    )
    parser.add_argument(
        "folder", type=Path, help="folder for indexes, configuration and runs; made anew"
    )
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # servers are stopped then, too
    try:
        texts = collection()
    except CollectionError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    folder = options.folder.resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    queries = trecfiles.read_queries()
    lsa = LsaVectors(list(texts.values()))
    np.save(folder / "queries.npy", lsa.of(list(queries.values())))
    with contextlib.ExitStack() as started:
        redis_url = started.enter_context(servers.redis_server(folder / "redis"))
        postgres_url = started.enter_context(servers.postgres_server(folder / "postgres"))
        backends = {
            **sqlite_fts5(folder, texts),
            **redis_indexes(redis_url, texts, lsa.documents),
            **postgres_table(postgres_url, texts, lsa.documents),
            **qdrant_collection(folder, list(texts), lsa.documents),
            **faiss_index(folder, list(texts), lsa.documents),
        }
        return search(folder, backends)


def collection() -> dict[str, str]:
    """Text of each document, names taken apart; an error if this Python has other documents than
    the judgments.
    """
    collected = documentation.collect_documents()
    expected = json.loads(COLLECTION.read_text(encoding="utf-8"))
    if documentation.digest(collected) != expected["sha256"]:
        raise CollectionError(
            f"the documents of this Python are not the judged ones; run CPython "
            f"{expected['python']}"
        )
    return {document.doc_id: " ".join(pieces(document.searchable)) for document in collected}


def sqlite_fts5(folder: Path, texts: dict[str, str]) -> dict[str, dict[str, object]]:
    """Full text of SQLite, with stems."""
    with contextlib.closing(sqlite3.connect(folder / "documents.db")) as connection:
        connection.execute(
            "CREATE VIRTUAL TABLE documents USING fts5(id UNINDEXED, body, tokenize='porter "
            "unicode61')"
        )
        connection.executemany("INSERT INTO documents VALUES (?, ?)", texts.items())
        connection.commit()
    return {
        "sqlite-fts5": {
            "kind": "sqlite-fts5",
            "path": str(folder / "documents.db"),
            "table": "documents",
            "id": "id",
        }
    }


def redis_indexes(
    url: str, texts: dict[str, str], vectors: np.ndarray
) -> dict[str, dict[str, object]]:
    """Redis: words with BM25, an HNSW index, and a vector set."""
    import redis  # noqa: PLC0415  (each engine needs the packages of its own alone)

    with contextlib.closing(redis.Redis.from_url(url)) as client:
        field = (
            "vector",
            "VECTOR",
            "HNSW",
            6,
            "TYPE",
            "FLOAT32",
            "DIM",
            vectors.shape[1],
            "DISTANCE_METRIC",
            "COSINE",
        )
        client.execute_command(
            "FT.CREATE", "documents", "PREFIX", 1, "doc:", "SCHEMA", "body", "TEXT", *field
        )
        pipe = client.pipeline(transaction=False)
        for (document, text), vector in zip(texts.items(), vectors, strict=True):
            pipe.hset(f"doc:{document}", mapping={"body": text, "vector": vector.tobytes()})
            pipe.execute_command("VADD", "pages", "FP32", vector.tobytes(), document)
        pipe.execute()
    shared = {"url": url, "index": "documents", "prefix": "doc:"}
    return {
        "redis-bm25": {"kind": "redis-text", **shared, "scorer": "BM25STD"},
        "redis-tfidf": {"kind": "redis-text", **shared, "scorer": "TFIDF"},
        "redis-hnsw": {"kind": "redis", **shared, "field": "vector", "ef": EF},
        "redis-vector-set": {"kind": "redis-vector-set", "url": url, "key": "pages", "ef": EF},
    }


def postgres_table(
    url: str, texts: dict[str, str], vectors: np.ndarray
) -> dict[str, dict[str, object]]:
    """PostgreSQL: full text, and pgvector with an HNSW index."""
    import psycopg  # noqa: PLC0415

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        words = "words tsvector GENERATED ALWAYS AS (to_tsvector('english', body)) STORED"
        connection.execute(
            f"CREATE TABLE documents (id text PRIMARY KEY, body text, vector "
            f"vector({vectors.shape[1]}), {words})"
        )
        with connection.cursor().copy("COPY documents (id, body, vector) FROM STDIN") as copy:
            for (document, text), vector in zip(texts.items(), vectors, strict=True):
                copy.write_row((document, text, str(vector.tolist())))
        connection.execute("CREATE INDEX ON documents USING gin (words)")
        connection.execute("CREATE INDEX ON documents USING hnsw (vector vector_cosine_ops)")
        connection.execute("ANALYZE documents")
    shared = {"url": url, "table": "documents"}
    return {
        "postgres": {"kind": "postgres", **shared, "column": "words"},
        "pgvector": {"kind": "pgvector", **shared, "column": "vector", "ef_search": EF},
    }


def qdrant_collection(
    folder: Path, ids: Sequence[str], vectors: np.ndarray
) -> dict[str, dict[str, object]]:
    """Qdrant in its embedded mode, which compares a query with every point."""
    from qdrant_client import QdrantClient, models  # noqa: PLC0415

    # The embedded mode writes each point to the disk by itself, so that a folder in memory is much
    # faster.
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as quick:
        with contextlib.closing(QdrantClient(path=quick)) as client:
            size = models.VectorParams(size=vectors.shape[1], distance=models.Distance.COSINE)
            client.create_collection("documents", size)
            client.upload_collection(
                "documents", vectors, [{"id": document} for document in ids], range(len(ids))
            )
        shutil.copytree(quick, folder / "qdrant")
    return {
        "qdrant": {
            "kind": "qdrant",
            "path": str(folder / "qdrant"),
            "collection": "documents",
            "id": "id",
        }
    }


def faiss_index(
    folder: Path, ids: Sequence[str], vectors: np.ndarray
) -> dict[str, dict[str, object]]:
    """HNSW index of FAISS over inner products, which are cosines here."""
    import faiss  # noqa: PLC0415

    index = faiss.IndexHNSWFlat(vectors.shape[1], 32, faiss.METRIC_INNER_PRODUCT)
    index.add(vectors)
    faiss.write_index(index, str(folder / "documents.faiss"))
    (folder / "ids.txt").write_text("\n".join(ids) + "\n", encoding="utf-8")
    paths = {"path": str(folder / "documents.faiss"), "ids": str(folder / "ids.txt")}
    return {"faiss-hnsw": {"kind": "faiss", **paths, "normalize": True, "ef_search": EF}}


def search(folder: Path, backends: dict[str, dict[str, object]]) -> int:
    """Ask every engine by `idealrank search`."""
    configuration = {
        "backends": backends,
        "queries": {"path": str(QUERIES), "vectors": str(folder / "queries.npy")},
        "limit": 100,
        "concurrency": 1,  # latencies without waiting for other queries
        "qrels": str(QRELS),
        "evaluation": {"measures": ["nDCG@10", "R@100", "Judged@10"]},
    }
    (folder / "search.yaml").write_text(
        yaml.safe_dump(configuration, sort_keys=False), encoding="utf-8"
    )
    page = ["--report", str(folder / "report.html")]
    command = [
        sys.executable,
        "-m",
        "idealrank",
        "search",
        str(folder / "search.yaml"),
        "-o",
        str(folder / "runs"),
        *page,
    ]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
