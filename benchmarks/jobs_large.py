"""Runs larger than memory: seconds, peak memory against the budget, and the time that engines need
to scan or sort the same columns.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from jobs_text import QUERIES, evaluation, means_of
from measuring import BenchmarkError, Contender, Sample, Timing, in_turns, require_equal, seconds
from report import Row
from workload import CACHE, CORPUS, DEPTH, JUDGED, trec_files

FOLDER = Path(__file__).resolve().parent / "contenders"
BUDGET = "512MB"
_GROUP = 1 << 19  # rows of a row group


def large_files(rows: int) -> tuple[Path, Path, Path]:
    """Write judgments, and a run of so many rows as Parquet twice: query by query, and rank by
    rank, where no query stands together.
    """
    queries = rows // DEPTH
    qrels, grouped, mixed = (
        CACHE / f"large-{rows}{kind}" for kind in (".qrels", ".parquet", "-mixed.parquet")
    )
    CACHE.mkdir(parents=True, exist_ok=True)
    if not (qrels.exists() and grouped.exists()):
        print(f"writing {grouped.name}: {rows:,} rows ...", file=sys.stderr)
        rng = np.random.default_rng(40)
        with qrels.with_suffix(".qrels-part").open("w", encoding="ascii") as judgments:
            _write(grouped, _by_query(rng, queries, judgments))
        qrels.with_suffix(".qrels-part").rename(qrels)
    if not mixed.exists():
        print(f"writing {mixed.name}: {rows:,} rows ...", file=sys.stderr)
        _write(mixed, _by_rank(np.random.default_rng(41), queries))
    return qrels, grouped, mixed


def _write(path: Path, tables: Iterator[tuple[Any, Any, Any]]) -> None:
    import pyarrow as pa  # noqa: PLC0415  (the other jobs need none)
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = pa.schema([("query", pa.string()), ("document", pa.string()), ("score", pa.float64())])
    unfinished = path.with_suffix(".part")
    with pq.ParquetWriter(unfinished, schema) as writer:
        for query, document, score in tables:
            columns = [
                pa.array(query).cast(pa.string()),
                pa.array(document).cast(pa.string()),
                pa.array(score),
            ]
            writer.write_table(pa.Table.from_arrays(columns, schema=schema), row_group_size=_GROUP)
    unfinished.rename(path)


def _by_query(
    rng: np.random.Generator, queries: int, judgments: Any
) -> Iterator[tuple[Any, Any, Any]]:
    step = _GROUP // DEPTH
    for first in range(0, queries, step):
        ids = np.arange(first, min(first + step, queries)) + 1_000_000
        start, stride = (
            rng.integers(0, CORPUS, ids.size),
            rng.integers(1, CORPUS // DEPTH, ids.size),
        )
        # distinct, and far apart
        documents = (start[:, None] + stride[:, None] * np.arange(DEPTH)) % CORPUS
        documents = rng.permuted(documents, axis=1)
        scores = -np.sort(-rng.normal(10, 3, documents.shape).round(6), axis=1)
        grades = rng.integers(0, 4, (ids.size, JUDGED))
        for query, judged, graded in zip(
            ids.tolist(), documents[:, :: DEPTH // JUDGED].tolist(), grades.tolist(), strict=True
        ):
            judgments.write(
                "".join(
                    [
                        f"{query} 0 {document} {grade}\n"
                        for document, grade in zip(judged, graded, strict=True)
                    ]
                )
            )
        yield np.repeat(ids, DEPTH), documents.ravel(), scores.ravel()


def _by_rank(rng: np.random.Generator, queries: int) -> Iterator[tuple[Any, Any, Any]]:
    """Each query once a round, in another order each time; its documents are distinct, too."""
    start, stride = rng.integers(0, CORPUS, queries), rng.integers(1, CORPUS // DEPTH, queries)
    step = max(1, _GROUP // queries)
    for first in range(0, DEPTH, step):
        ranks = range(first, min(first + step, DEPTH))
        orders = [rng.permutation(queries) for _ in ranks]
        documents = [
            (start + stride * rank)[order] % CORPUS
            for rank, order in zip(ranks, orders, strict=True)
        ]
        yield (
            np.concatenate(orders) + 1_000_000,
            np.concatenate(documents),
            rng.normal(10, 3, queries * len(ranks)).round(6),
        )


def _peak(samples: list[Sample]) -> float:
    return max(sample.peak for sample in samples) / 1e6


def _engine(name: str, path: Path) -> tuple[str, ...]:
    return (sys.executable, str(FOLDER / "engines.py"), name, str(path), BUDGET)


def rows(*, quick: bool, full: bool = False, **_: bool) -> Iterator[Row]:
    """Equal values first; then each shape of input beside what an engine needs for the same
    columns.
    """
    count = 100_000_000 if full else 10_000_000
    rounds = 1 if full or quick else 3
    qrels, grouped, mixed = large_files(count)
    subject = f"Parquet, {count:,} rows, within --memory {BUDGET}: nDCG@10, nDCG, AP, RR"
    contenders = {
        "grouped": Contender(evaluation(qrels, grouped, "--memory", BUDGET), rounds),
        "mixed": Contender(evaluation(qrels, mixed, "--memory", BUDGET), rounds),
        "scan pyarrow": Contender(_engine("scan-pyarrow", grouped), rounds),
        "scan duckdb": Contender(_engine("scan-duckdb", grouped), rounds),
        "sort duckdb": Contender(_engine("sort-duckdb", mixed), rounds),
    }
    samples = in_turns(contenders)
    if not full:
        for kind, path in (("grouped", grouped), ("mixed", mixed)):
            whole = Contender(evaluation(qrels, path), 1).run()
            require_equal(
                f"{kind} in parts",
                means_of(samples[kind][0].reported()),
                means_of(whole.reported()),
                0.0,
            )
    timings = {name: Timing.of(runs) for name, runs in samples.items()}
    yield _beside(
        subject,
        "query by query, against pyarrow's scan of the columns",
        timings["grouped"],
        timings["scan pyarrow"],
        1.5,
    )
    yield _beside(
        subject,
        "query by query, against DuckDB's scan of the columns",
        timings["grouped"],
        timings["scan duckdb"],
        None,
    )
    yield _beside(
        subject,
        "no query together, against DuckDB's sort by query",
        timings["mixed"],
        timings["sort duckdb"],
        1.5,
    )
    yield _memory(subject, "query by query, peak memory", _peak(samples["grouped"]))
    yield _memory(subject, "no query together, peak memory", _peak(samples["mixed"]))
    yield from _text_rows(QUERIES // 10 if quick else QUERIES)


def _text_rows(queries: int) -> Iterator[Row]:
    qrels, run = trec_files(queries)
    subject = (
        f"TREC text, {queries * DEPTH:,} lines, within --memory {BUDGET}: nDCG@10, nDCG, AP, RR"
    )
    contenders = {
        "parts": Contender(evaluation(qrels, run, "--memory", BUDGET), 3),
        "whole": Contender(evaluation(qrels, run), 3),
        "mixed": Contender(evaluation(qrels, mixed_lines(run), "--memory", BUDGET), 1),
    }
    samples = in_turns(contenders)
    means = means_of(samples["whole"][0].reported())
    for name in ("parts", "mixed"):
        require_equal(f"text {name}", means_of(samples[name][0].reported()), means, 0.0)
    timings = {name: Timing.of(runs) for name, runs in samples.items()}
    yield _beside(
        subject, "query by query, against no budget", timings["parts"], timings["whole"], None
    )
    yield _beside(
        subject,
        "no query together, against query by query without a budget",
        timings["mixed"],
        timings["whole"],
        None,
    )
    yield _memory(
        subject, "query by query, peak memory, mapped pages included", _peak(samples["parts"])
    )
    yield _memory(
        subject, "no query together, peak memory, mapped pages included", _peak(samples["mixed"])
    )


def mixed_lines(run: Path) -> Path:
    """Write the lines of a run rank by rank."""
    mixed = run.with_name(f"{run.stem}-mixed.run")
    if not mixed.exists():
        lines = run.read_bytes().splitlines(keepends=True)
        unfinished = mixed.with_suffix(".part")
        with unfinished.open("wb") as file:
            for rank in range(DEPTH):
                file.writelines(lines[rank::DEPTH])
        unfinished.rename(mixed)
    return mixed


def _beside(subject: str, what: str, ours: Timing, theirs: Timing, at_most: float | None) -> Row:
    """On the clock; processor time stands behind it."""
    ratio = ours.wall / theirs.wall
    behind = (
        f"{seconds(ours.wall)} against {seconds(theirs.wall)} on the clock; of the processor "
        f"{seconds(ours.cpu)} against "
        f"{seconds(theirs.cpu)}; peaks {ours.peak / 1e6:,.0f} MB and {theirs.peak / 1e6:,.0f} MB"
    )
    target, met = ("", None) if at_most is None else (f"at most {at_most:g} x", ratio <= at_most)
    return Row(
        subject, what, target, f"{ratio:.2f} x", met, behind, {"ours": ours, "theirs": theirs}
    )


def _memory(subject: str, what: str, peak: float) -> Row:
    budget = float(BUDGET.removesuffix("MB"))
    if peak <= 0:
        raise BenchmarkError("the system tells no peak of memory")
    return Row(
        subject,
        what,
        f"at most {budget:g} MB",
        f"{peak:.0f} MB",
        peak <= budget,
        "no more was resident",
    )
