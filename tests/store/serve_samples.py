"""Stores and clients for tests of the served pages."""

import random
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from starlette.testclient import TestClient

import idealrank as ir
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.evaluation.judged_hits import judged_hits
from idealrank.store import Record, Store
from idealrank.store.web.application import application
from idealrank.store.web.guard import Guard
from idealrank.store.web.site import StoreFolder

HOSTILE = "<script>alert(1)</script>"
HOME = "http://127.0.0.1:8765"


def client(
    folder: "Path | str | None" = None, *, guard: Guard | None = None, **options: object
) -> TestClient:
    """Ask the pages of a store, as a browser on this machine does."""
    app = application(StoreFolder(folder), guard or Guard())
    return TestClient(app, base_url=HOME, **{"raise_server_exceptions": True, **options})  # type: ignore[arg-type]


def example_store(
    folder: Path, names: Sequence[str] = ("bm25", "neural"), days: int = 3, n_queries: int = 12
) -> dict[str, list[str]]:
    """Make a store of runs that improve daily; return the ids by run, oldest first, and the ids of
    a comparison and a gate.
    """
    ids, files = _example_files(tuple(names), days, n_queries)
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return {name: list(found) for name, found in ids.items()}


@cache
def _example_files(
    names: tuple[str, ...], days: int, n_queries: int
) -> tuple[dict[str, list[str]], dict[Path, bytes]]:
    """The ids, and the files of the store: what takes time is done once."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        ids = _written(folder, names, days, n_queries)
        return ids, {
            path.relative_to(folder): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }


def _written(folder: Path, names: Sequence[str], days: int, n_queries: int) -> dict[str, list[str]]:
    draw = random.Random(5)
    qrels = {
        f"q{place}": {f"d{grade}{place}": grade for grade in range(4)} for place in range(n_queries)
    }
    ids: dict[str, list[str]] = {name: [] for name in names}
    last = {}
    with Store.open(folder) as store:
        for day in range(days):
            for better, name in enumerate(names):
                noise = max(4.0 - better - day / 3, 0.8)
                lists = {
                    query: {doc: grade + draw.gauss(0, noise) for doc, grade in docs.items()}
                    | {"x": 0.0}
                    for query, docs in qrels.items()
                }
                run = Run(lists, name=name)
                last[name] = ir.evaluate(qrels, run, ["nDCG@10", "RR"])
                record = Record(
                    time=f"2026-01-{day + 1:02d}T09:30:0{better}+00:00",
                    commit=f"{day}{'a1' * 20}"[:40],
                    tags=("main",),
                    notes=(HOSTILE,),
                    command=f"idealrank evaluate qrels.txt {name}.run",
                )
                ids[name].append(
                    store.add(last[name], hits=judged_hits(Qrels(qrels), run), record=record)
                )
        if len(names) > 1:
            a, b = names[0], names[1]
            ids["comparison"] = [
                store.add_comparison(ir.compare(last[a], last[b]), [ids[a][-1], ids[b][-1]])
            ]
            ids["gate"] = [store.add_gate(ir.gate(last[b], last[a]), [ids[b][-1], ids[a][-1]])]
    return ids
