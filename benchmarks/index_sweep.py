"""Cost of approximate indexes: recall and NDCG lost against latency, over the effort of FAISS,
Redis and Qdrant.

.venv-services/bin/python benchmarks/index_sweep.py > build/index-sweep.md      (make test-services
makes the environment)

20,000 documents with 64 dimensions in 500 clusters. Grades follow the true position of each
document; the vectors that are searched are the positions with noise, as embeddings are. So exact
search is not perfect, and an approximate index can lose NDCG against it. One query at a time from
one thread, through the backends of `idealrank search`; latency is the median of 300 queries, with
the client. Qdrant's server comes in no package: its engine runs in this process, as
`qdrant-edge-py`.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import idealrank as ir
from idealrank.live.backends.faiss import FaissIndex
from idealrank.live.backends.protocol import Backend, ScoredDocument, SearchQuery
from idealrank.live.backends.redis import RedisKnn, RedisVectorSet

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples" / "pydocs"))
import servers

DOCUMENTS, DIMENSIONS, CLUSTERS, QUERIES, LIMIT = 20_000, 64, 500, 300, 10
EFFORTS = (10, 20, 50, 100, 200)
SPREAD, NOISE = 1.0, 0.3  # of positions around the centres, and of vectors around positions
# grade, and the rank by true position down to which it is given
GRADED = ((3, 5), (2, 15), (1, 40))


def main() -> None:
    """Print the table."""
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((CLUSTERS, DIMENSIONS))
    true = centres[rng.integers(0, CLUSTERS, DOCUMENTS)] + SPREAD * rng.standard_normal(
        (DOCUMENTS, DIMENSIONS)
    )
    asked = centres[rng.integers(0, CLUSTERS, QUERIES)] + SPREAD * rng.standard_normal(
        (QUERIES, DIMENSIONS)
    )
    vectors = normalised(true + NOISE * rng.standard_normal(true.shape))
    queries = [
        SearchQuery(f"q{number}", "", vector) for number, vector in enumerate(normalised(asked))
    ]
    ids = [f"d{number}" for number in range(DOCUMENTS)]
    qrels = graded(normalised(true), normalised(asked), ids)
    print("| index | effort | p50 ms | recall@10 | nDCG@10 | nDCG@10 lost, 95 % interval |")
    print("|---|---|---:|---:|---:|---:|")
    exact: dict[str, dict[str, float]] | None = None
    for name, effort, backend in backends(ids, vectors):
        run, milliseconds = answers(backend, queries)
        exact = run if exact is None else exact  # the first one is exhaustive
        found = ir.index_recall(exact, run, LIMIT, qrels=qrels, measures=["nDCG@10"])
        lost = found.losses["nDCG@10"]
        value = ir.evaluate(qrels, run, ["nDCG@10"]).mean()["nDCG@10"]
        cells = [
            name,
            effort,
            f"{milliseconds:.2f}",
            f"{found.summary(LIMIT).interval.estimate:.3f}",
            f"{value:.4f}",
        ]
        print(
            f"| {' | '.join(cells)} | {lost.estimate:.4f} [{lost.low:.4f}, {lost.high:.4f}] |",
            flush=True,
        )


def normalised(vectors: np.ndarray) -> np.ndarray:
    """Vectors of length 1, in float32."""
    return (vectors / np.sqrt((vectors**2).sum(1, keepdims=True))).astype(np.float32)


def graded(true: np.ndarray, asked: np.ndarray, ids: list[str]) -> dict[str, dict[str, int]]:
    """Grades by true position: 3, 2 and 1 for the nearest documents."""
    qrels = {}
    for number, vector in enumerate(asked):
        order = np.argsort(-(true @ vector), kind="stable")[: GRADED[-1][1]]
        grades = np.array(
            [next(grade for grade, last in GRADED if rank < last) for rank in range(len(order))]
        )
        qrels[f"q{number}"] = {
            ids[place]: int(grade) for place, grade in zip(order, grades, strict=True)
        }
    return qrels


def answers(
    backend: Backend, queries: list[SearchQuery]
) -> tuple[dict[str, dict[str, float]], float]:
    """Answers by query, and the median of the latency in milliseconds."""
    backend.search(queries[0], LIMIT)  # connections and caches
    run, seconds = {}, []
    for query in queries:
        start = time.perf_counter()
        found = backend.search(query, LIMIT)
        seconds.append(time.perf_counter() - start)
        run[query.id] = {one.document: one.score for one in found}
    return run, float(np.median(seconds)) * 1000


def backends(ids: list[str], vectors: np.ndarray) -> Iterator[tuple[str, str, Backend]]:
    """Name, effort and backend of each configuration; the first is exhaustive."""
    yield from faiss_indexes(ids, vectors)
    yield from redis_indexes(ids, vectors)
    yield from qdrant_shard(ids, vectors)


def faiss_indexes(ids: list[str], vectors: np.ndarray) -> Iterator[tuple[str, str, Backend]]:
    """Flat, HNSW and IVF indexes of FAISS."""
    import faiss  # noqa: PLC0415

    flat = faiss.IndexFlatIP(DIMENSIONS)
    flat.add(vectors)
    yield "FAISS flat", "exact", FaissIndex(flat, ids)
    graph = faiss.IndexHNSWFlat(DIMENSIONS, 16, faiss.METRIC_INNER_PRODUCT)
    graph.add(vectors)
    for effort in EFFORTS:
        yield "FAISS HNSW", f"efSearch {effort}", FaissIndex(graph, ids, ef_search=effort)
    lists = faiss.index_factory(DIMENSIONS, "IVF256,Flat", faiss.METRIC_INNER_PRODUCT)
    lists.train(vectors)
    lists.add(vectors)
    for probes in (1, 2, 4, 8, 16, 32):
        yield "FAISS IVF256", f"nprobe {probes}", FaissIndex(lists, ids, nprobe=probes)


def redis_indexes(ids: list[str], vectors: np.ndarray) -> Iterator[tuple[str, str, Backend]]:
    """HNSW of FT.SEARCH, and a vector set with its usual quantisation."""
    import redis  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder, servers.redis_server(Path(folder)) as url:
        client = redis.Redis.from_url(url, socket_timeout=60)
        field = (
            "v",
            "VECTOR",
            "HNSW",
            6,
            "TYPE",
            "FLOAT32",
            "DIM",
            DIMENSIONS,
            "DISTANCE_METRIC",
            "COSINE",
        )
        client.execute_command("FT.CREATE", "i", "SCHEMA", *field)
        pipe = client.pipeline(transaction=False)
        for place, (one, vector) in enumerate(zip(ids, vectors, strict=True), 1):
            pipe.hset(one, "v", vector.tobytes())
            pipe.execute_command("VADD", "set", "FP32", vector.tobytes(), one)
            if place % 500 == 0:
                pipe.execute()
        pipe.execute()
        for effort in EFFORTS:
            yield (
                "Redis HNSW",
                f"EF_RUNTIME {effort}",
                RedisKnn(client, index="i", field="v", ef=effort),
            )
        for effort in EFFORTS:
            yield (
                "Redis vector set, Q8",
                f"EF {effort}",
                RedisVectorSet(client, key="set", ef=effort),
            )
        client.close()


class EdgeBackend:
    """Shard of Qdrant's engine in this process, as a backend."""

    name = "qdrant-edge"

    def __init__(self, shard: Any, ids: list[str], effort: int) -> None:
        self._shard, self._ids, self._effort = shard, ids, effort

    def search(self, query: SearchQuery, limit: int) -> list[ScoredDocument]:
        """Return the nearest points."""
        from qdrant_edge import Query, QueryRequest, SearchParams  # noqa: PLC0415

        asked = Query.Nearest([float(one) for one in query.vector])
        found = self._shard.query(
            QueryRequest(limit, query=asked, params=SearchParams(hnsw_ef=self._effort))
        )
        return [ScoredDocument(self._ids[point.id], point.score) for point in found]

    def close(self) -> None:
        """Leave the shard to its owner."""


def qdrant_shard(ids: list[str], vectors: np.ndarray) -> Iterator[tuple[str, str, Backend]]:
    """HNSW of Qdrant's engine."""
    from qdrant_edge import (  # noqa: PLC0415
        Distance,
        EdgeConfig,
        EdgeOptimizersConfig,
        EdgeShard,
        EdgeVectorParams,
        HnswIndexConfig,
        Point,
        UpdateOperation,
    )

    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        config = EdgeConfig(
            vectors=EdgeVectorParams(DIMENSIONS, Distance.Cosine),
            hnsw_config=HnswIndexConfig(16, 100, 10),
            optimizers=EdgeOptimizersConfig(indexing_threshold=10, default_segment_number=1),
        )
        shard = EdgeShard.create(folder, config)
        for first in range(0, len(ids), 1000):
            batch = range(first, min(first + 1000, len(ids)))
            shard.update(
                UpdateOperation.upsert_points(
                    [Point(place, vectors[place].tolist()) for place in batch]
                )
            )
        shard.optimize()
        for effort in EFFORTS:
            yield "Qdrant engine, HNSW", f"hnsw_ef {effort}", EdgeBackend(shard, ids, effort)
        shard.close()


if __name__ == "__main__":
    main()
