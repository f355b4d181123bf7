"""The data of the benchmarks: made once, kept under build/bench. ``python benchmarks/workload.py
QUERIES`` writes a TREC run.
"""

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

CACHE = Path(__file__).resolve().parents[1] / "build" / "bench"

CORPUS = 8_841_823  # passages of MS MARCO: ids as long, and as far apart, as in a real run
DEPTH, JUDGED, MISSED = 1000, 20, 6
WIDTH = 20


def trec_files(queries: int) -> tuple[Path, Path]:
    """Judgments and a run: 1,000 documents a query, 20 of them judged, and 6 judged documents that
    were not returned.

    Documents stand by falling score, as systems write them. Some scores tie, most do not.
    """
    qrels, run = CACHE / f"{queries}.qrels", CACHE / f"{queries}.run"
    if not (qrels.exists() and run.exists()):
        CACHE.mkdir(parents=True, exist_ok=True)
        print(f"writing {run.name}: {queries * DEPTH:,} lines ...", file=sys.stderr)
        _write_trec(queries, qrels, run)
    return qrels, run


def _write_trec(queries: int, qrels: Path, run: Path) -> None:
    rng = np.random.default_rng(20)
    unfinished = run.with_suffix(".part")
    with (
        unfinished.open("w", encoding="ascii") as lines,
        qrels.open("w", encoding="ascii") as judgments,
    ):
        for query in range(1_000_000, 1_000_000 + queries):
            documents = rng.choice(CORPUS, DEPTH + MISSED, replace=False).tolist()
            scores = np.sort(rng.normal(10, 3, DEPTH).astype(np.float32))[::-1].tolist()
            returned = zip(range(1, DEPTH + 1), documents, scores, strict=False)
            lines.write(
                "".join(
                    [
                        f"{query} Q0 {document} {rank} {score:.6f} bm25\n"
                        for rank, document, score in returned
                    ]
                )
            )
            judged = [
                documents[place] for place in rng.choice(DEPTH, JUDGED, replace=False)
            ] + documents[DEPTH:]
            grades = rng.integers(0, 4, len(judged)).tolist()
            judgments.write(
                "".join(
                    [
                        f"{query} 0 {document} {grade}\n"
                        for document, grade in zip(judged, grades, strict=True)
                    ]
                )
            )
    unfinished.rename(run)


def second_run(queries: int) -> Path:
    """Another system's run of the same queries: each eighth document is another, and the scores of
    all have moved a little.
    """
    _, first = trec_files(queries)
    second = first.with_name(f"{first.stem}-moved.run")
    if not second.exists():
        print(f"writing {second.name}: {queries * DEPTH:,} lines ...", file=sys.stderr)
        rng = np.random.default_rng(24)
        unfinished = second.with_suffix(".part")
        with first.open(encoding="ascii") as lines, unfinished.open("w", encoding="ascii") as moved:
            for returned in iter(lambda: list(islice(lines, DEPTH)), []):
                fields = [line.split() for line in returned]
                query = fields[0][0]
                documents = [int(line[2]) + CORPUS * (int(line[2]) % 8 == 0) for line in fields]
                scores = np.array([float(line[4]) for line in fields]) + rng.normal(
                    0, 0.5, DEPTH
                ).round(3)
                best = enumerate(np.argsort(-scores, kind="stable").tolist(), start=1)
                moved.write(
                    "".join(
                        [
                            f"{query} Q0 {documents[place]} {rank} {scores[place]:.6f} dense\n"
                            for rank, place in best
                        ]
                    )
                )
        unfinished.rename(second)
    return second


def turned_run(queries: int) -> Path:
    """Write the first run with a tenth of its documents moved up, so that nearly all of its first
    ten are unjudged.
    """
    _, first = trec_files(queries)
    turned = first.with_name(f"{first.stem}-turned.run")
    if not turned.exists():
        unfinished = turned.with_suffix(".part")
        with (
            first.open(encoding="ascii") as lines,
            unfinished.open("w", encoding="ascii") as written,
        ):
            for line in lines:
                query, q0, document, rank, score, tag = line.split()
                written.write(
                    f"{query} {q0} {document} {rank} "
                    f"{float(score) + 3 * (int(document) % 10 == 0):.6f} {tag}\n"
                )
        unfinished.rename(turned)
    return turned


def parquet_file(queries: int) -> Path:
    """The first run as three columns of a Parquet file, with pyarrow's defaults."""
    import pyarrow.parquet as pq  # noqa: PLC0415
    from pyarrow import csv  # noqa: PLC0415  (the other jobs need no pyarrow)

    _, run = trec_files(queries)
    path = run.with_suffix(".parquet")
    if not path.exists():
        types = csv.ConvertOptions(
            include_columns=["query", "document", "score"],
            column_types={"query": "string", "document": "string", "score": "double"},
        )
        names = csv.ReadOptions(column_names=["query", "q0", "document", "rank", "score", "tag"])
        pq.write_table(csv.read_csv(run, names, csv.ParseOptions(delimiter=" "), types), path)
    return path


def array_files(lists: int, *, distinct: int = 0) -> tuple[Path, Path]:
    """Labels 0 to 4 and scores of lists of 20, as raw float32.

    Without `distinct` no two scores of a list are equal, so that every tool ranks alike; with it
    each score is one of so many.
    """
    labels, scores = (
        CACHE / f"{lists}-{distinct or 'all'}.{kind}" for kind in ("labels", "scores")
    )
    if not (labels.exists() and scores.exists()):
        CACHE.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(21)
        rng.integers(0, 5, (lists, WIDTH)).astype(np.float32).tofile(labels)
        drawn = (
            rng.integers(0, distinct, (lists, WIDTH)).astype(np.float32)
            if distinct
            else _all_distinct(rng, lists)
        )
        drawn.tofile(scores)
    return labels, scores


def long_list_files(items: int, *, distinct: int = 0) -> tuple[Path, Path]:
    """Labels 0 to 4 as int64 and scores as float64 of one list: of any value, or one of so many."""
    labels, scores = (
        CACHE / f"long-{items}-{distinct or 'any'}.{kind}" for kind in ("labels", "scores")
    )
    if not (labels.exists() and scores.exists()):
        CACHE.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(23)
        rng.integers(0, 5, items).tofile(labels)
        (rng.integers(0, distinct, items) / 7 if distinct else rng.normal(size=items)).tofile(
            scores
        )
    return labels, scores


def _all_distinct(
    rng: np.random.Generator, lists: int
) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    scores = rng.normal(size=(lists, WIDTH)).astype(np.float32)
    while (tied := (np.diff(np.sort(scores, axis=1), axis=1) == 0).any(axis=1)).any():
        scores[tied] = rng.normal(size=(int(tied.sum()), WIDTH)).astype(np.float32)
    return scores


Tables = dict[str, dict[str, float]]


def dicts(queries: int) -> tuple[Tables, Tables]:
    """The same kind of judgments and run as dicts in memory."""
    rng = np.random.default_rng(22)
    qrels: Tables = {}
    run: Tables = {}
    for query in range(queries):
        documents = [str(document) for document in rng.choice(CORPUS, DEPTH, replace=False)]
        run[f"q{query}"] = dict(zip(documents, rng.normal(10, 3, DEPTH).tolist(), strict=True))
        judged = rng.choice(DEPTH, JUDGED, replace=False)
        qrels[f"q{query}"] = {
            documents[place]: int(grade)
            for place, grade in zip(judged, rng.integers(0, 4, JUDGED), strict=True)
        }
    return qrels, run


def recommender_files(users: int) -> tuple[Path, ...]:
    """Purchases of users, three lists of 20 items for each, and a segment of each user, as CSV.

    Items are popular by a power law; the lists differ in how many purchases they find.
    """
    folder = CACHE / f"recommender-{users}"
    names = ("purchases.csv", "popular.csv", "neighbours.csv", "factors.csv", "segments.csv")
    paths = tuple(folder / name for name in names)
    if all(path.exists() for path in paths):
        return paths
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(25)
    popularity = np.arange(1, 5001) ** -0.8
    popularity /= popularity.sum()
    bought = [np.unique(rng.choice(5000, 1 + rng.poisson(9), p=popularity)) for _ in range(users)]
    _write_csv(
        paths[0],
        "user,item",
        (f"u{user},i{item}" for user, items in enumerate(bought) for item in items),
    )
    for path, share in zip(paths[1:4], (0.05, 0.12, 0.13), strict=True):
        _write_csv(path, "user,item,score", _recommended(rng, bought, popularity, share))
    segment = ("light", "heavy")
    _write_csv(
        paths[4],
        "query,category",
        (f"u{user},{segment[items.size > 9]}" for user, items in enumerate(bought)),
    )
    return paths


def _recommended(
    rng: np.random.Generator,
    bought: "list[np.ndarray[tuple[int], np.dtype[np.int64]]]",
    popularity: Any,
    share: float,
) -> Iterator[str]:
    """Rows of 20 items a user; a share of the user's purchases is among them."""
    for user, items in enumerate(bought):
        listed = rng.choice(popularity.size, 26, p=popularity).tolist()
        for item in items[rng.random(items.size) < share].tolist():
            listed.insert(int(rng.integers(20)), item)
        for rank, item in enumerate(list(dict.fromkeys(listed))[:20]):
            yield f"u{user},i{item},{100 - rank}"


def _write_csv(path: Path, head: str, rows: Iterable[str]) -> None:
    unfinished = path.with_suffix(".part")
    with unfinished.open("w", encoding="ascii") as lines:
        lines.write(f"{head}\n")
        lines.writelines(f"{row}\n" for row in rows)
    unfinished.rename(path)


if __name__ == "__main__":
    print(*trec_files(int(sys.argv[1])), sep="\n")
