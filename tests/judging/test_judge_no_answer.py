"""`idealrank judge no-answer`: what it prints, that its formats agree, and that its errors
teach.
"""

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import idealrank as ir
from idealrank.judging import no_answer
from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Twelve queries with an answer, eight without, and scores that overlap."""
    rng = np.random.default_rng(0)
    (tmp_path / "qrels.txt").write_text(
        "".join(f"q{number} 0 a 1\n" for number in range(12)) + "u 0 a 0\n", encoding="utf-8"
    )
    rows = [(f"q{number}", "a", rng.normal(1, 1)) for number in range(12)] + [
        (f"n{number}", "c", rng.normal(0, 1)) for number in range(7)
    ]
    text = "".join(
        f"{query} Q0 {document} 1 {score:.3f} neural\n" for query, document, score in rows
    )
    (tmp_path / "neural.run").write_text(text, encoding="utf-8")
    (tmp_path / "nothing.txt").write_text(
        "".join(f"n{number}\n" for number in range(8)), encoding="utf-8"
    )
    (tmp_path / "wrong.txt").write_text("q1\nn1\n", encoding="utf-8")
    (tmp_path / "words.txt").write_text("n1 two words\n", encoding="utf-8")
    (tmp_path / "twice.txt").write_text("n1\nn1\n", encoding="utf-8")
    return tmp_path


COMMANDS = {
    "table": "judge no-answer qrels.txt neural.run --unanswerable nothing.txt",
    "limit": "judge no-answer qrels.txt neural.run --unanswerable nothing.txt --limit 0.05 "
    "--folds 4 --seed 1 --digits 2",
    "silent": "judge no-answer qrels.txt neural.run --unanswerable nothing.txt --limit 0 "
    "--cutoff 1",
    "markdown": "judge no-answer qrels.txt neural.run --unanswerable nothing.txt --format markdown",
    "csv": "judge no-answer qrels.txt neural.run --unanswerable nothing.txt --format csv",
    "json": "judge no-answer qrels.txt neural.run --unanswerable nothing.txt --format json",
    "error-relevant": "judge no-answer qrels.txt neural.run --unanswerable wrong.txt",
    "error-words": "judge no-answer qrels.txt neural.run --unanswerable words.txt",
    "error-twice": "judge no-answer qrels.txt neural.run --unanswerable twice.txt",
    "error-missing": "judge no-answer qrels.txt neural.run --unanswerable none.txt",
    "error-undeclared": "judge no-answer qrels.txt neural.run",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_no_answer_says(name: str, say: Say, folder: Path) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:], cwd=folder)

    check_snapshot(f"judge-no-answer-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


def test_all_formats_of_no_answer_have_the_numbers_of_the_library(say: Say, folder: Path) -> None:
    files = ("judge", "no-answer", "qrels.txt", "neural.run", "--unanswerable", "nothing.txt")

    record = json.loads(say(*files, "--format", "json", cwd=folder).out)
    rows = list(csv.DictReader(io.StringIO(say(*files, "--format", "csv").out)))
    table = say(*files).out
    found = no_answer(
        ir.read_qrels("qrels.txt"), ir.read_run("neural.run"), [f"n{number}" for number in range(8)]
    )

    assert (
        [step["recall"] for step in record["sweep"]]
        == [float(row["recall"]) for row in rows]
        == found.recall.tolist()
    )
    assert [float(row["false_return_rate"]) for row in rows] == found.false_return_rate.tolist()
    assert (record["threshold"], record["recall"]["value"]) == (
        found.threshold,
        found.chosen_recall,
    )
    assert record["false_return_rate"]["interval"] == list(found.false_return_interval)
    assert f"{found.chosen_recall:.3f}" in table


def test_ids_that_are_no_utf_8_are_ids(say: Say, folder: Path) -> None:
    for name in ("qrels.txt", "neural.run", "nothing.txt"):
        path = folder / name
        path.write_bytes(
            path.read_bytes()
            .replace(b"q1 ", b"q\xee ")
            .replace(b"n1 ", b"n\xb1 ")
            .replace(b"n1\n", b"n\xb1\n")
        )

    said = say(*shlex.split(COMMANDS["csv"]), cwd=folder)

    assert (said.code, "Traceback" in said.err) == (0, False), said.err
