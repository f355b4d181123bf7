"""`idealrank evaluate --candidates` and `--chance`: what they print and refuse."""

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from tests.cli.terminal import DATA, Said, check_snapshot

Say = Callable[..., Said]

COMMANDS = {
    "table-chance": "evaluate qrels.txt bm25.run neural.run --candidates 100 --chance -m "
    "nDCG@10,RR,Success@100,GMAP",
    "table-candidates": "evaluate qrels.txt bm25.run --candidates 100 -m nDCG@10",
    "table-chance-of-file": "evaluate qrels.txt bm25.run --candidates candidates.csv --chance -m "
    "nDCG@10,P@20",
    "json-chance": "evaluate qrels.txt bm25.run --candidates 100 --chance --format json -m "
    "nDCG@10,MeanNDCG",
    "csv-chance": "evaluate qrels.txt bm25.run --candidates 100 --chance --intervals --format csv "
    "-m nDCG@10,MeanNDCG",
    "markdown-chance": "evaluate qrels.txt bm25.run --candidates 100 --chance --format markdown -m "
    "nDCG@10",
    "error-chance-alone": "evaluate qrels.txt bm25.run --chance",
    "error-candidates-other": "evaluate qrels.txt bm25.run --candidates neural.run",
    "error-candidates-missing": "evaluate qrels.txt bm25.run --candidates bm25.run",
    "error-candidates-zero": "evaluate qrels.txt bm25.run --candidates 0",
    "error-candidates-memory": "evaluate qrels.txt bm25.run --candidates 9 --memory 2GB",
    "error-candidates-spark": "evaluate qrels.txt bm25.run --candidates 9 --engine spark",
    "error-candidates-preferences": "evaluate preferences.txt bm25.run --judgments prefs "
    "--candidates 9",
    "error-chance-weights": "evaluate qrels.txt bm25.run --candidates 100 --chance --weights "
    "traffic.csv",
    "error-chance-trec": "evaluate qrels.txt bm25.run --candidates 100 --chance --format trec",
    "error-chance-per-query": "evaluate qrels.txt bm25.run --candidates 100 --chance --per-query "
    "--format csv",
    "error-chance-slices": "evaluate qrels.txt bm25.run --candidates 100 --chance --slices "
    "slices.csv --format csv",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_evaluate_says_of_candidates(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"
    said = say(*shlex.split(command)[1:])
    check_snapshot(f"evaluate-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


def test_the_numbers_are_those_of_the_library(say: Say) -> None:
    measures = "nDCG@10,AP,RR"
    shared = ("evaluate", "qrels.txt", "neural.run", "--candidates", "50", "--chance")
    record = json.loads(say(*shared, "-m", measures, "--format", "json").out)["runs"][0]
    rows = list(csv.DictReader(io.StringIO(say(*shared, "-m", measures, "--format", "csv").out)))

    evaluation = ir.evaluate(
        DATA / "qrels.txt", DATA / "neural.run", measures.split(","), candidates=50
    )
    lift = evaluation.lift()
    assert record["chance"]["measures"] == lift.as_dict()["measures"]
    assert record["candidates"]["documents"] == 50 * len(evaluation.queries)
    for row in rows:
        expected = lift[row["measure"]]
        assert float(row["chance"]) == expected.chance
        assert float(row["ceiling"]) == expected.ceiling
        assert float(row["lift"]) == expected.lift
        assert (float(row["lift_low"]), float(row["lift_high"])) == expected.interval


def test_a_first_stage_limits_its_reranker(say: Say, tmp_path: Path) -> None:
    """The run is its own first stage: it misses a query, and relevant documents."""
    said = say(
        "evaluate",
        "qrels.txt",
        "bm25.run",
        "--candidates",
        "bm25.run",
        "--chance",
        "--convention",
        "standard,missing=left-out",
        "-m",
        "R",
        "--format",
        "json",
    )
    record = json.loads(said.out)["runs"][0]
    assert record["candidates"]["form"] == "by query"
    assert record["candidates"]["judged_outside"] > 0
    # recall of all candidates is the same in every order
    assert record["chance"]["measures"]["R"]["ceiling"] == record["mean"]["R"] < 1


def test_the_page_has_chance_levels(say: Say, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    options = ("-m", "nDCG@10", "--report", str(page))
    assert say("evaluate", "qrels.txt", "bm25.run", "--candidates", "90", *options).code == 0
    text = page.read_text("utf-8")
    assert "Chance level, ceiling and lift" in text
    lift = ir.evaluate(DATA / "qrels.txt", DATA / "bm25.run", ["nDCG@10"], candidates=90).lift()[
        "nDCG@10"
    ]
    assert f"{lift.chance:.4f}" in text
    assert say("evaluate", "qrels.txt", "bm25.run", *options).code == 0
    assert "Chance level" not in page.read_text("utf-8")


def test_the_page_is_not_written_over_the_candidates(say: Say, tmp_path: Path) -> None:
    path = tmp_path / "candidates.csv"
    path.write_text("query,document\nq1,d1\n", encoding="utf-8")
    said = say("evaluate", "qrels.txt", "bm25.run", "--candidates", str(path), "-o", str(path))
    assert said.code == 2
    assert path.read_text("utf-8").startswith("query,document")
