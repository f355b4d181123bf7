"""`idealrank search recall`: what an approximate index costs, in words and numbers."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from tests.cli.terminal import Said

Say = Callable[..., Said]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = {"flat": [], "hnsw": []}  # type: dict[str, list[str]]
    for query in range(1, 9):
        for rank in range(1, 21):
            lines["flat"].append(f"q{query} Q0 d{rank} {rank} {1 / rank} flat")
            if (query * rank) % 7 and query != 8:
                lines["hnsw"].append(f"q{query} Q0 d{rank} {rank} {1 / rank} hnsw")
    for name, written in lines.items():
        (tmp_path / f"{name}.run").write_text("\n".join(written) + "\n")
    (tmp_path / "qrels.txt").write_text(
        "".join(f"q{query} 0 d{query} {1 + query % 2}\n" for query in range(1, 9))
    )
    return tmp_path


def test_the_table_has_recall_loss_and_the_queries_that_lose_most(say: Say, folder: Path) -> None:
    said = say(
        "search",
        "recall",
        "flat.run",
        "hnsw.run",
        "-k",
        "10,5",
        "--qrels",
        "qrels.txt",
        "--show",
        "2",
        cwd=folder,
    )
    assert (said.code, said.err) == (0, "")
    found = ir.index_recall(
        folder / "flat.run", folder / "hnsw.run", [5, 10], qrels=folder / "qrels.txt"
    )
    assert said.out.startswith(
        "hnsw against flat: 8 queries\n  no answer of hnsw, recall 0: q7, q8\n"
    )
    assert f"recall@10  {found.values[:, 1].mean():.4f}" in said.out
    assert f"nDCG@10  {found.losses['nDCG@10'].estimate:.4f}" in said.out
    assert said.out.endswith("q8      0.3155    0.0000     0.0000  d1, d2, d3, d4, d5 and 5 more\n")


def test_formats_agree(say: Say, folder: Path) -> None:
    report = json.loads(
        say("search", "recall", "flat.run", "hnsw.run", "--format", "json", cwd=folder).out
    )
    rows = say(
        "search",
        "recall",
        "flat.run",
        "hnsw.run",
        "--format",
        "csv",
        "-o",
        "recall.csv",
        cwd=folder,
    )
    assert (rows.code, rows.out) == (0, "")
    lines = [line.split(",") for line in (folder / "recall.csv").read_text().splitlines()]
    assert lines[0] == ["query", "recall@10"]
    assert {name: float(value) for name, value in lines[1:]} == {
        query: one["recall"]["10"] for query, one in report["per_query"].items()
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["flat.run", "no.run"], "no.run: found no such file"),
        (["flat.run", "hnsw.run", "-k", "0"], "-k 0: expected whole numbers of 1 or more"),
        (["flat.run", "hnsw.run", "-k", "ten"], "-k ten: expected whole numbers"),
        (["flat.run", "hnsw.run", "-m", "AP"], "-m: found no --qrels"),
        (["flat.run", "other.run"], "found no query in common"),
        (["flat.run", "hnsw.run", "-o", "flat.run"], "-o flat.run: found an input file"),
        (["-", "-"], "standard input"),
    ],
)
def test_mistakes_are_named(say: Say, folder: Path, arguments: list[str], message: str) -> None:
    (folder / "other.run").write_text("Q1 Q0 d1 1 1 x\n")
    said = say("search", "recall", *arguments, cwd=folder)
    assert (said.code, message in said.err, "Traceback" in said.err) == (2, True, False), said.err
