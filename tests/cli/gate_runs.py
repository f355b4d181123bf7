"""Runs of one engine, commit after commit, and readers of what the gate says and keeps."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from idealrank.io.complaints import Notes
from idealrank.io.gate_files.baselines import BaselineRecord, read_record
from tests.cli.terminal import Said

Gate = Callable[..., Said]
QUERIES = [f"q{number:03}" for number in range(120)]
RANKS = 10


def write_judgments(folder: Path) -> None:
    """Write judgments by which the first document of each query is relevant."""
    lines = [
        f"{query} 0 {query}-{rank} {int(rank == 0)}\n" for query in QUERIES for rank in range(RANKS)
    ]
    (folder / "qrels.txt").write_text("".join(lines), encoding="utf-8")


def write_run(folder: Path, name: str, ranks: dict[str, int]) -> None:
    """Write a run that returns the relevant document of each query at a rank from 1, here 2 where
    not said.
    """
    lines = []
    for query in QUERIES:
        order = list(range(1, RANKS))
        order.insert(ranks.get(query, 2) - 1, 0)
        lines += [
            f"{query} Q0 {query}-{number} {rank} {RANKS - rank} t\n"
            for rank, number in enumerate(order, 1)
        ]
    (folder / f"{name}.run").write_text("".join(lines), encoding="utf-8")


def noisy(seed: int, share: float = 0.3) -> dict[str, int]:
    """Ranks of one run of an engine that moves some relevant documents by one place, up or down
    alike.
    """
    draw = random.Random(seed)
    return {query: draw.choice((1, 3)) for query in QUERIES if draw.random() < share}


def record(folder: Path, name: str = "main.gz") -> BaselineRecord:
    found = read_record(str(folder / name), Notes())
    assert found is not None
    return found


def words(said: Said) -> str:
    return " ".join(said.out.split())


def asked(said: Said) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said.out)
    return found
