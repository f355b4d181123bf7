"""A store: JOB FOLDER EVALUATIONS QUERIES; prints what it found and the time of the one call. JOB
is a function below.

Values are random numbers, the seed of an evaluation its place, so that anybody can say what has to
come back.
"""

import asyncio
import hashlib
import json
import sqlite3
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

MEASURES = ("nDCG@10", "AP", "RR")


def build(folder: Path, evaluations: int, queries: int) -> dict[str, float]:
    """Every evaluation in turn, as users do it: each is on the disk before the next."""
    import idealrank as ir  # noqa: PLC0415  (each process loads one contender)

    ids = [f"q{number}" for number in range(queries)]
    whole = ir.evaluate(
        {query: {"a": 1} for query in ids}, {query: ["a"] for query in ids}, MEASURES
    )
    with ir.Store.open(folder) as store:
        for place in range(evaluations):
            store.add(
                replace(
                    whole,
                    name="bm25",
                    values=np.random.default_rng(place).random((queries, len(MEASURES))),
                )
            )
    return {}


def measure(folder: Path, *_: int) -> dict[str, float]:
    """The mean of AP from evaluation to evaluation."""
    import idealrank as ir  # noqa: PLC0415

    with ir.Store.open(folder, create=False) as store:
        return {str(place): point.value for place, point in enumerate(store.history("AP").points)}


def query(folder: Path, _: int, queries: int) -> dict[str, float]:
    """AP of one query in the middle, from evaluation to evaluation."""
    import idealrank as ir  # noqa: PLC0415

    with ir.Store.open(folder, create=False) as store:
        return {
            str(place): point.value
            for place, point in enumerate(store.history("AP", query=f"q{queries // 2}").points)
        }


def show(folder: Path, *_: int) -> dict[str, float]:
    """The newest evaluation whole, its hashes checked."""
    import idealrank as ir  # noqa: PLC0415

    with ir.Store.open(folder, create=False) as store:
        newest = store.entries(limit=1)[0].id
        return {
            str(row): value
            for row, value in enumerate(store.evaluation(newest).evaluation["AP"][:100].tolist())
        }


def page(folder: Path, *_: int) -> dict[str, float]:
    """The first page of `idealrank serve`, asked of the application itself: for the first visitor,
    and for the next.
    """
    from idealrank.store.web.application import application  # noqa: PLC0415
    from idealrank.store.web.guard import Guard  # noqa: PLC0415
    from idealrank.store.web.site import StoreFolder  # noqa: PLC0415

    app = application(StoreFolder(folder), Guard())
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/",
        "raw_path": b"/",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
        "scheme": "http",
        "http_version": "1.1",
        "server": ("localhost", 80),
        "client": ("localhost", 1),
        "root_path": "",
    }

    async def asked() -> tuple[float, float]:
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        start = time.perf_counter()
        await app(dict(scope), receive, send)
        spent = time.perf_counter() - start
        if sent[0]["status"] != 200:
            raise RuntimeError(f"found status {sent[0]['status']}, expected 200")
        return spent, float(sum(len(one.get("body", b"")) for one in sent[1:]))

    async def both() -> dict[str, float]:
        (first, size), (following, _) = await asked(), await asked()
        return {"first": first, "next": following, "bytes": size}

    return asyncio.run(both())


def hashes(folder: Path, *_: int) -> dict[str, float]:
    """The SHA-256 of every record and value file, compared with their names: what checking adds to
    the history of one query.
    """
    with closing(sqlite3.connect(folder / "store.sqlite3")) as connection:
        kept = [
            (digest, record.encode())
            for digest, record in connection.execute("SELECT digest, record FROM entry")
        ]
    paths = sorted(folder.glob("values/??/*"))
    begin = time.perf_counter()
    files = [(path.stem, path.read_bytes()) for path in paths]
    start = time.perf_counter()
    found = [hashlib.sha256(content).hexdigest() == name for name, content in (*kept, *files)]
    spent = time.perf_counter() - start
    size = sum(len(content) for _, content in (*kept, *files))
    return {
        "right": float(sum(found)),
        "bytes": float(size),
        "seconds": spent,
        "reading": start - begin,
    }


def main(job: str, folder: str, evaluations: str, queries: str) -> None:
    jobs: dict[str, Any] = {
        "build": build,
        "measure": measure,
        "query": query,
        "show": show,
        "page": page,
        "hashes": hashes,
    }
    cpu, wall = time.process_time(), time.perf_counter()
    found = jobs[job](Path(folder), int(evaluations), int(queries))
    print(
        json.dumps(
            {"found": found, "cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
