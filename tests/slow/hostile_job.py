"""Read or join hostile files in a process of its own, and print what came out and the most memory
it took, as JSON.

python -m tests.slow.hostile_job read QRELS
python -m tests.slow.hostile_job align QRELS RUN DEPTH
python -m tests.slow.hostile_job evaluate QRELS RUN
"""

import json
import mmap
import resource
import sys
from pathlib import Path
from typing import Any

import numpy as np

import idealrank
from idealrank._kernel import Aligned, ParseError, Table, Text, align, read_text


def map_text(path: str, kind: Any) -> Text:
    """The file, mapped as the readers of the package map it."""
    with Path(path).open("rb") as file:
        return Text([mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)], kind)


def peak_bytes() -> int:
    """The most memory this process held, mapped files included."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage also counts what the parent held when it started this process
        line = next(
            line
            for line in status.read_text(encoding="ascii").splitlines()
            if line.startswith("VmHWM")
        )
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


def describe_table(table: Table) -> dict[str, Any]:
    """Counts and sums that depend on every row."""
    return {
        "queries": table.n_queries,
        "rows": table.n_rows,
        "value_sum": float(table.values.sum()),
        "last_query": len(table.query_id(table.n_queries - 1)),
        "last_document": len(table.document_id(table.n_rows - 1)),
    }


def describe_aligned(aligned: Aligned) -> dict[str, Any]:
    """Counts and sums that depend on every list."""
    places = np.arange(aligned.hit_row.size)
    return {
        "queries": aligned.n_queries,
        "hits": aligned.hit_row.size,
        "returned": int(aligned.returned.sum()),
        "judged": int(aligned.judged.sum()),
        "in_run": int(aligned.in_run.sum()),
        "tied": int(aligned.tied.sum()),
        "rank_sum": int(aligned.hit_rank.sum(dtype=np.int64)),
        "row_times_rank": int((aligned.hit_row * aligned.hit_rank).sum()),
        "first_ranks": aligned.hit_rank[:5].tolist(),
        "rising": bool(
            np.all(
                np.diff(aligned.hit_rank)[np.isin(places[1:], aligned.hit_offsets, invert=True)] > 0
            )
        ),
    }


def main() -> None:
    """Do one job."""
    command, qrels_path, *rest = sys.argv[1:]
    if command == "evaluate":
        evaluation = idealrank.evaluate(qrels_path, rest[0])
        print(
            json.dumps(
                {
                    "mean": evaluation.mean(),
                    "coverage": evaluation.coverage.as_dict(),
                    "peak": peak_bytes(),
                }
            )
        )
        return
    try:
        qrels = read_text(map_text(qrels_path, "qrels"), duplicates="error")
        if command == "read":
            result = describe_table(qrels)
        else:
            aligned = align(qrels, map_text(rest[0], "run"), ties="descending", depth=int(rest[1]))
            kernel_peak = peak_bytes()
            result = describe_aligned(aligned) | {"kernel_peak": kernel_peak}
    except ParseError as error:
        kind, source, line, text, detail = error.args
        result = {
            "kind": kind,
            "source": source,
            "line": line,
            "shown": len(text),
            "detail": detail.decode("latin-1"),
        }
    print(json.dumps({"peak": peak_bytes()} | result))


if __name__ == "__main__":
    main()
