"""`idealrank judge`: what it prints, that its formats agree, and that its errors teach."""

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from idealrank.cli.commands.judge import COMMANDS as SUBCOMMANDS
from idealrank.cli.commands.judge import judge
from idealrank.judging import LabelTable
from idealrank.judging.rater_tables import DEFAULT_COEFFICIENTS
from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]

# Judgments of two people and of a model, which gave one grade outside the scale; rows of the model are in another order.
HUMAN = {
    "q1": {"d1": 3, "d2": 0, "d3": 2, "d4": 1, "d5": 0}, "q2": {"d1": 1, "d5": 2, "d6": 0, "d7": 0}, "q3": {"d6": 0, "d7": 1, "d8": 2},
    "q4": {"d8": 2, "d9": 0, "d1": 0},
}  # fmt: skip
BEN = {
    "q1": {"d1": 2, "d2": 0, "d3": 2, "d4": 1}, "q2": {"d1": 1, "d5": 1, "d6": 0}, "q3": {"d6": 0, "d7": 0, "d8": 2},
    "q4": {"d8": 2, "d9": 1},
}  # fmt: skip
MODEL = {
    "q4": {"d1": 1, "d8": 2, "d9": 1}, "q2": {"d6": 1, "d1": 1, "d5": 2, "d7": 0}, "q1": {"d5": 1, "d3": 2, "d2": 0, "d1": 5, "d4": 1},
    "q3": {"d8": 2, "d7": 1, "d6": 0},
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the judgments as files."""
    for name, grades in (("human", HUMAN), ("ben", BEN), ("model", MODEL)):
        lines = (f"{query} 0 {document} {grade}\n" for query, of in grades.items() for document, grade in of.items())
        (tmp_path / f"{name}.qrels").write_text("".join(lines), encoding="utf-8")
    people = (("ann", HUMAN), ("ben", BEN))
    rows = (
        f"{query} {name} {document} {grade}\n" for name, grades in people for query, of in grades.items() for document, grade in of.items()
    )
    (tmp_path / "people.txt").write_text("".join(rows), encoding="utf-8")
    (tmp_path / "users.csv").write_text("query,cluster\nq1,u1\nq2,u1\nq3,u2\nq4,u3\n", encoding="utf-8")
    return tmp_path


AGREEMENT = {
    "two": "judge agreement human.qrels ben.qrels",
    "three": "judge agreement human.qrels ben.qrels model.qrels --scale 0,1,2,3 --outside clip -s percent,cohen_kappa --per-query",
    "one-file": "judge agreement people.txt --cluster users.csv -s krippendorff_alpha_interval",
    "markdown": "judge agreement human.qrels ben.qrels --format markdown -s gwet_ac2_quadratic",
    "csv": "judge agreement human.qrels ben.qrels --format csv",
    "csv-queries": "judge agreement human.qrels ben.qrels --format csv --per-query",
    "json": "judge agreement human.qrels ben.qrels --format json -s percent",
    "error-outside": "judge agreement human.qrels model.qrels --scale 0,1,2,3",
    "error-scale": "judge agreement human.qrels ben.qrels --scale 0,one",
    "error-statistic": "judge agreement human.qrels ben.qrels -s kapa",
    "error-alone": "judge agreement human.qrels",
    "error-same-file": "judge agreement human.qrels human.qrels",
    "error-pi": "judge agreement human.qrels ben.qrels model.qrels -s scott_pi",
    "error-cluster": "judge agreement human.qrels ben.qrels --cluster missing.csv",
}


@pytest.mark.parametrize("name", AGREEMENT)
def test_what_agreement_says(name: str, say: Say, folder: Path) -> None:
    command = f"idealrank {AGREEMENT[name]}"

    said = say(*shlex.split(command)[1:], cwd=folder)

    check_snapshot(f"judge-agreement-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


def test_all_formats_of_agreement_have_the_numbers_of_the_library(say: Say, folder: Path) -> None:
    grades = LabelTable.of({"human": HUMAN, "ben": BEN})
    files = ("judge", "agreement", "human.qrels", "ben.qrels")

    record = json.loads(say(*files, "--format", "json", cwd=folder).out)["agreement"]
    rows = {row["agreement"]: row for row in csv.DictReader(io.StringIO(say(*files, "--format", "csv").out))}
    table = say(*files).out

    for one in DEFAULT_COEFFICIENTS:
        found = one.of(grades.grades, grades.query_codes)
        assert record[str(one)]["value"] == float(rows[str(one)]["value"]) == found.value
        assert record[str(one)]["interval"] == [float(rows[str(one)][end]) for end in ("low", "high")] == list(found.interval)
        assert f"{found.value:.3f}" in table


def test_the_help_of_the_group_has_the_line_of_each_command() -> None:
    context = click.Context(judge)
    for name, line in SUBCOMMANDS.items():
        command = judge.get_command(context, name)
        assert command is not None
        assert command.short_help == line
