"""Time and size of the pages of `idealrank serve` over a store of 1,000 evaluations.

.venv/bin/python benchmarks/serve_pages.py > build/serve-pages.md      (make test makes the
environment)

Four runs, 1,000 evaluations of 100 queries with two measures, all different; 250 commits. The
command itself serves the store. *First* is the first request of a new process, *again* the median
of 20 more, both until the last byte of the page, on a connection that is open. Size is that of the
page with its style sheet and script, as sent.
"""

import http.client
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

import idealrank as ir
from idealrank.store import Record, Store

EVALUATIONS, QUERIES, RUNS, REPEATS = 1000, 100, 4, 20
ASSETS = ("/assets/style.css", "/assets/page.js")


def fill(folder: Path) -> list[str]:
    """Add the evaluations; their ids, oldest first."""
    rng = np.random.default_rng(21)
    qrels = {
        f"q{query}": {f"d{place}": int(place < 3) for place in range(10)}
        for query in range(QUERIES)
    }
    documents = [f"d{place}" for place in range(10)]
    ids = []
    with Store.open(folder) as store:
        for place in range(EVALUATIONS):
            run = {query: list(rng.permutation(documents)) for query in qrels}
            evaluation = ir.evaluate(qrels, run, ["nDCG@10", "RR"])
            commit, run_number = divmod(place, RUNS)
            when = f"2026-{1 + commit // 28:02d}-{1 + commit % 28:02d}T12:00:{run_number:02d}+00:00"
            record = Record(time=when, commit=f"{commit:040x}", tags=("main",))
            ids.append(store.add(replace(evaluation, name=f"run {run_number}"), record=record))
    return ids


@contextmanager
def served(folder: Path) -> Iterator[http.client.HTTPConnection]:
    """Serve the store by the command; a connection to it."""
    command = [sys.executable, "-m", "idealrank", "serve", "--store", str(folder), "--port", "0"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            for line in process.stderr or ():
                if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
                    break
            else:
                raise SystemExit("idealrank serve ended before it said its address")
            connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=60)
            connection.connect()
            yield connection
            connection.close()
        finally:
            process.terminate()


def asked(connection: http.client.HTTPConnection, path: str) -> tuple[float, int]:
    """Milliseconds and bytes of a request."""
    start = time.perf_counter()
    connection.request("GET", path)
    answer = connection.getresponse()
    content = answer.read()
    spent = (time.perf_counter() - start) * 1000
    if answer.status != 200:
        raise SystemExit(f"{path}: found status {answer.status}, expected 200")
    return spent, len(content)


def main() -> None:
    """Print a line for each page."""
    with tempfile.TemporaryDirectory() as folder:
        print(f"filling a store with {EVALUATIONS:,} evaluations ...", file=sys.stderr)
        ids = fill(Path(folder))
        old, new = ids[-RUNS], ids[-1]
        pages = {
            "overview": "/",
            "evaluation": f"/runs/{new}",
            "comparison": f"/compare?a={old}&b={new}",
            "queries": f"/queries?run={new}&against={old}",
            "query": f"/query?run={new}&against={old}&query=q1",
            "metrics": "/metrics",
        }
        print("| page | first ms | again ms | kB |\n|---|---|---|---|")
        for name, path in pages.items():
            with served(Path(folder)) as connection:
                first, size = asked(connection, path)
                again = statistics.median(asked(connection, path)[0] for _ in range(REPEATS))
                size += (
                    sum(asked(connection, asset)[1] for asset in ASSETS) if name != "metrics" else 0
                )
            print(f"| {name} | {first:.0f} | {again:.0f} | {size / 1000:.0f} |", flush=True)


if __name__ == "__main__":
    main()
