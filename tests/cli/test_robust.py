"""`idealrank robust`: what it prints, that its formats agree with the library, and that its errors
teach.
"""

import csv
import io
import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.analysis.robustness.variants import ALIGNMENT, GROUPS
from idealrank.conventions import SWITCHES
from idealrank.reports.table.text import WIDTH, parts_text
from idealrank.reports.views.robustness import mark, robust_parts
from tests.cli.terminal import Said, check_snapshot
from tests.conftest import PYDOCS

Say = Callable[..., Said]

COMMANDS = {
    "table": "robust qrels.txt bm25.run neural.run",
    "some": "robust qrels.txt bm25.run neural.run -m AP --try rel --try ties --try "
    "gain=exp2,cutoff=5 "
    "--try lightgbm --test t",
    "margin": "robust qrels.txt bm25.run neural.run -m P@2 --try cutoff --margin 0.5 --test t",
    "same": "robust qrels.txt bm25.run bm25.run.gz --try ties --try preset",
    "csv": "robust qrels.txt bm25.run neural.run --try cutoff --try no_relevant --format csv",
    "json": "robust qrels.txt bm25.run neural.run --try ties=best --pairs 0 --format json",
    "error-one-run": "robust qrels.txt bm25.run",
    "error-measures": "robust qrels.txt bm25.run neural.run -m AP,RR",
    "error-try": "robust qrels.txt bm25.run neural.run --try tie=best",
    "error-value": "robust qrels.txt bm25.run neural.run --try ties=never",
    "error-measure": "robust qrels.txt bm25.run neural.run -m NumRet",
}
FILES = [str(PYDOCS / name) for name in ("qrels.txt", "bm25.run", "minilm.run")]


@pytest.mark.parametrize("name", COMMANDS)
def test_what_robust_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*shlex.split(command)[1:])

    check_snapshot(f"robust-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


def test_the_groups_without_variants_are_told_and_an_unknown_one_gets_the_list_of_all(
    say: Say,
) -> None:
    command = ("robust", "qrels.txt", "bm25.run", "neural.run", "--pairs", "0")
    lacking = json.loads(say(*command, "--format", "json").out)["lacking"]
    told = re.search(
        r"no variants of ([^:]*): nDCG does not use this option",
        " ".join(say(*command).out.split()),
    )

    assert told is not None
    assert told[1].split(", ") == list(lacking)
    assert set(lacking) == {"rel", *SWITCHES} - set(ALIGNMENT) - set(ir.NDCG.from_convention) - {
        "cutoff"
    }
    assert f"expected a group ({', '.join(GROUPS)})," in say(*command, "--try", "tie=best").err
    assert set(GROUPS) == {*SWITCHES, "rel", "measure", "preset"}


def test_json_and_csv_are_what_the_library_finds(say: Say) -> None:
    found = ir.robust(*FILES, variants=["cutoff", "ideal"])
    arguments = ("robust", *FILES, "--try", "cutoff", "--try", "ideal", "--format")
    record = json.loads(say(*arguments, "json").out)
    rows = list(csv.DictReader(io.StringIO(say(*arguments, "csv").out)))

    expected = found.as_dict()
    assert {**record["method"], "schema": None} == {**expected["method"], "schema": None}
    assert record["variants"] == [
        {**one, "interval": list(one["interval"])} for one in expected["variants"]
    ]
    assert record["summary"] | {"text": "", "leader": ""} == expected["summary"] | {
        "text": "",
        "leader": "",
    }
    assert record["summary"]["leader"] == "minilm"
    assert [row["change"] for row in rows] == ["as asked", *(one.change for one in found.variants)]
    assert [float(row["p"]) for row in rows[1:]] == [
        one.row.p for one in found.variants if one.row is not None
    ]


def test_nothing_is_wider_than_a_page_whatever_the_runs_are_called() -> None:
    runs = [
        ir.read_run(path, name=f"a-run-with-a-name-of-some-length-{path[-12:-4]}")
        for path in FILES[1:]
    ]

    lines = parts_text(robust_parts(ir.robust(FILES[0], *runs, test="t"))).splitlines()

    assert max(map(len, lines)) <= WIDTH


def test_marks_need_no_colour_and_say_who_is_ahead() -> None:
    qrels = {f"q{i}": {"x": 1} for i in range(6)}
    first, second = (dict.fromkeys(qrels, ranking) for ranking in (["y", "x"], ["x", "y"]))
    wanted = ["cutoff=1", "cutoff=2", "P@1", "P@2"]

    better = ir.robust(qrels, first, second, "RR", variants=wanted)
    worse = ir.robust(qrels, second, first, "RR", variants=wanted)

    assert [mark(one) for one in better.variants] == ["++", "=", "++'", "0"]
    assert [mark(one) for one in worse.variants] == ["--", "=", "--'", "0"]


def test_weights_are_of_every_query(say: Say, tmp_path: Path) -> None:
    path = tmp_path / "traffic.csv"
    path.write_text("q1 2\n", encoding="utf-8")

    said = say("robust", "qrels.txt", "bm25.run", "neural.run", "--weights", str(path))

    assert said.code == 2
    assert "found no line for query" in said.err
