"""One run in every format beside TREC text: files as whole processes, frames and dicts as the one
call on what is in memory.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from jobs_text import QUERIES, evaluation, means_of
from measuring import Contender, Timing, in_turns, require_equal, seconds
from report import Row
from workload import parquet_file, trec_files

PROGRAM = Path(__file__).resolve().parent / "contenders" / "kept_frames.py"
KEPT = ("pandas", "pandas-categories", "polars", "dict")


def other_files(queries: int) -> dict[str, Path]:
    """The run as Parquet, Arrow IPC, Arrow IPC with dictionary-encoded ids, and JSON lines."""
    import pyarrow as pa  # noqa: PLC0415  (the other jobs need none)
    import pyarrow.parquet as pq  # noqa: PLC0415

    parquet = parquet_file(queries)
    files = {
        "Parquet": parquet,
        "Arrow IPC": parquet.with_suffix(".arrow"),
        "Arrow IPC, ids dictionary-encoded": parquet.with_suffix(".coded.arrow"),
        "JSON lines": parquet.with_suffix(".jsonl"),
    }
    if all(path.exists() for path in files.values()):
        return files
    table = pq.read_table(parquet)
    coded = pa.table(
        {
            name: column.dictionary_encode() if name != "score" else column
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )
    for path, held in (
        (files["Arrow IPC"], table),
        (files["Arrow IPC, ids dictionary-encoded"], coded),
    ):
        unfinished = path.with_suffix(".part")
        with pa.OSFile(str(unfinished), "wb") as sink, pa.ipc.new_file(sink, held.schema) as writer:
            writer.write_table(held.unify_dictionaries(), max_chunksize=1 << 20)
        unfinished.rename(path)
    unfinished = files["JSON lines"].with_suffix(".part")
    with unfinished.open("w", encoding="ascii") as lines:
        for batch in table.to_batches(1 << 18):
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            lines.write(
                "".join(
                    [f'{{"query": "{q}", "document": "{d}", "score": {s}}}\n' for q, d, s in rows]
                )
            )
    unfinished.rename(files["JSON lines"])
    return files


def rows(*, quick: bool, **_: bool) -> Iterator[Row]:
    """Equal values first; then the times, text first."""
    queries = QUERIES // 10 if quick else QUERIES
    rounds = 1 if quick else 3
    qrels, run = trec_files(queries)
    files, count = other_files(queries), queries * 1000
    entered = {"TREC text": Contender(evaluation(qrels, run), rounds)}
    entered |= {
        name: Contender(evaluation(qrels, path), 1 if name == "JSON lines" else rounds)
        for name, path in files.items()
    }
    entered |= {
        name: Contender(
            (sys.executable, str(PROGRAM), name, str(qrels), str(files["Parquet"])),
            1 if name == "dict" else rounds,
        )
        for name in KEPT
    }
    entered["decode"] = Contender(
        (
            sys.executable,
            str(PROGRAM.with_name("engines.py")),
            "read-pyarrow",
            str(files["Parquet"]),
            "0",
        ),
        rounds,
    )
    samples = in_turns(entered)
    means = means_of(samples["TREC text"][0].reported())
    for name in (*files, *KEPT):
        said = samples[name][0].reported()
        require_equal(name, said["mean"] if name in KEPT else means_of(said), means, 0.0)
    text, decode = (Timing.of(samples[name]) for name in ("TREC text", "decode"))
    subject = f"one run of {count:,} lines in every format: nDCG@10, nDCG, AP, RR"
    yield Row(
        subject,
        "TREC text, the whole command",
        "",
        seconds(text.wall),
        None,
        _behind(text),
        {"ours": text},
    )
    for name in files:
        timing = Timing.of(samples[name])
        most = 1.0 if name == "Parquet" else None
        yield _beside(subject, f"{name}, the whole command, against text", timing, text, most)
    yield _beside(
        subject, "Parquet decoded by pyarrow, nothing else, against text", decode, text, None
    )
    for name in KEPT:
        timing = Timing.of_calls(samples[name])
        yield _beside(
            subject,
            f"{name} in memory, the call, against the whole command on text",
            timing,
            text,
            None,
        )


def _beside(subject: str, what: str, ours: Timing, text: Timing, at_most: float | None) -> Row:
    ratio = ours.wall / text.wall
    target, met = ("", None) if at_most is None else (f"at most {at_most:g} x", ratio <= at_most)
    return Row(
        subject, what, target, f"{ratio:.2f} x", met, _behind(ours), {"ours": ours, "theirs": text}
    )


def _behind(timing: Timing) -> str:
    return (
        f"{seconds(timing.wall)} on the clock, {seconds(timing.cpu)} of the processor; peak "
        f"{timing.peak / 1e6:,.0f} MB"
    )
