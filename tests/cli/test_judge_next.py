"""`idealrank judge next`: what it prints, that its formats agree, and that its errors teach."""

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]

NEXT = {
    "table": "judge next qrels.txt bm25.run neural.run --budget 4 --depth 5",
    "queries": "judge next qrels.txt bm25.run neural.run --budget 4 --depth 5 --strategy queries",
    "depth": "judge next qrels.txt bm25.run neural.run -m P@2 --budget 4 --strategy depth --format markdown",
    "csv": "judge next qrels.txt bm25.run neural.run --budget 4 --depth 5 --format csv",
    "json": "judge next qrels.txt bm25.run neural.run --budget 2 --depth 5 --strategy change --format json",
    "replay": "judge next qrels.txt bm25.run neural.run --replay --orders 2 -m P@2",
    "error-measure": "judge next qrels.txt bm25.run neural.run -m NumRet",
    "error-figure": "judge next qrels.txt bm25.run neural.run --figure curve.svg",
    "error-queries": "judge next qrels.txt bm25.run neural.run --replay --queries all.txt",
    "error-skipped": "judge next qrels.txt bm25.run neural.run --convention standard,unjudged=skipped",
}


@pytest.mark.parametrize("name", NEXT)
def test_what_next_says(name: str, say: Say) -> None:
    command = f"idealrank {NEXT[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"judge-next-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


def test_csv_and_json_name_the_same_documents(say: Say) -> None:
    command = ["judge", "next", "qrels.txt", "bm25.run", "neural.run", "--budget", "6", "--depth", "5"]
    rows = list(csv.DictReader(io.StringIO(say(*command, "--format", "csv").out)))
    record = json.loads(say(*command, "--format", "json").out)
    assert [(row["query"], row["document"], row["reason"]) for row in rows] == [
        (one["query"], one["document"], one["reason"]) for one in record["labels"]
    ]
    assert [row["rank_a"] for row in rows] == ["" if one["rank_a"] is None else str(one["rank_a"]) for one in record["labels"]]


def test_labelling_what_is_asked_settles_the_comparison(say: Say, tmp_path: Path) -> None:
    """The command and a labeller who gives every document grade 0, until the command says that it is settled."""
    labels = {("q1", "nothing"): 0}
    qrels, queries = tmp_path / "labels.txt", tmp_path / "queries.txt"
    queries.write_text("q1\nq2\n", encoding="utf-8")
    for _ in range(20):
        qrels.write_text("".join(f"{query} 0 {document} {grade}\n" for (query, document), grade in labels.items()), encoding="utf-8")
        said = say(
            "judge", "next", str(qrels), "bm25.run", "neural.run", "-m", "P@2", "--budget", "2", "--format", "json",
            "--queries", str(queries),
        )  # fmt: skip
        record = json.loads(said.out)
        if record["settled"]:
            break
        labels |= {(one["query"], one["document"]): 0 for one in record["labels"]}
    assert record["settled"]
    assert record["n_open"] == 0


def test_a_figure_of_the_replay_is_vega_lite(say: Say, tmp_path: Path) -> None:
    path = tmp_path / "curve.json"
    said = say("judge", "next", "qrels.txt", "bm25.run", "neural.run", "-m", "P@2", "--replay", "--orders", "1", "--figure", str(path))
    assert said.code == 0
    spec = json.loads(path.read_text(encoding="utf-8"))
    assert {row["strategy"] for row in spec["data"]["values"]} >= {"bounds", "depth", "random", "oracle"}
