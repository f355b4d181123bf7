"""`idealrank judge`: what it prints, that its formats agree, and that its errors teach."""

import csv
import io
import json
import shlex
from collections.abc import Callable
from pathlib import Path

import click
import pytest

import idealrank as ir
from idealrank.judging import LabelTable, check_judge, correct_run
from idealrank.judging.commands.judge import COMMANDS as SUBCOMMANDS
from idealrank.judging.commands.judge import judge
from idealrank.judging.rater_tables import DEFAULT_COEFFICIENTS
from tests.cli.terminal import Said, check_snapshot

Say = Callable[..., Said]

# Judgments of two people and of a model, which gave one grade outside the scale; rows of the model
# are in another order.
HUMAN = {
    "q1": {"d1": 3, "d2": 0, "d3": 2, "d4": 1, "d5": 0},
    "q2": {"d1": 1, "d5": 2, "d6": 0, "d7": 0},
    "q3": {"d6": 0, "d7": 1, "d8": 2},
    "q4": {"d8": 2, "d9": 0, "d1": 0},
}
BEN = {
    "q1": {"d1": 2, "d2": 0, "d3": 2, "d4": 1},
    "q2": {"d1": 1, "d5": 1, "d6": 0},
    "q3": {"d6": 0, "d7": 0, "d8": 2},
    "q4": {"d8": 2, "d9": 1},
}
MODEL = {
    "q4": {"d1": 1, "d8": 2, "d9": 1},
    "q2": {"d6": 1, "d1": 1, "d5": 2, "d7": 0},
    "q1": {"d5": 1, "d3": 2, "d2": 0, "d1": 5, "d4": 1},
    "q3": {"d8": 2, "d7": 1, "d6": 0},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the judgments as files."""
    for name, grades in (("human", HUMAN), ("ben", BEN), ("model", MODEL)):
        lines = (
            f"{query} 0 {document} {grade}\n"
            for query, of in grades.items()
            for document, grade in of.items()
        )
        (tmp_path / f"{name}.qrels").write_text("".join(lines), encoding="utf-8")
    people = (("ann", HUMAN), ("ben", BEN))
    rows = (
        f"{query} {name} {document} {grade}\n"
        for name, grades in people
        for query, of in grades.items()
        for document, grade in of.items()
    )
    (tmp_path / "people.txt").write_text("".join(rows), encoding="utf-8")
    (tmp_path / "users.csv").write_text(
        "query,cluster\nq1,u1\nq2,u1\nq3,u2\nq4,u3\n", encoding="utf-8"
    )
    return tmp_path


AGREEMENT = {
    "two": "judge agreement human.qrels ben.qrels",
    "three": "judge agreement human.qrels ben.qrels model.qrels --scale 0,1,2,3 --outside clip -s "
    "percent,cohen_kappa --per-query",
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
    rows = {
        row["agreement"]: row
        for row in csv.DictReader(io.StringIO(say(*files, "--format", "csv").out))
    }
    table = say(*files).out

    for one in DEFAULT_COEFFICIENTS:
        found = one.of(grades.grades, grades.query_codes)
        assert record[str(one)]["value"] == float(rows[str(one)]["value"]) == found.value
        assert (
            record[str(one)]["interval"]
            == [float(rows[str(one)][end]) for end in ("low", "high")]
            == list(found.interval)
        )
        assert f"{found.value:.3f}" in table


def test_the_help_of_the_group_has_the_line_of_each_command() -> None:
    context = click.Context(judge)
    for name, line in SUBCOMMANDS.items():
        command = judge.get_command(context, name)
        assert command is not None
        assert command.short_help == line


# --- check and correct ----------------------------------------------------------------------------

RUN_A = {
    "q1": ["d1", "d3", "d2"],
    "q2": ["d5", "d1", "d6"],
    "q3": ["d8", "d7"],
    "q4": ["d8", "d1", "d9"],
}
RUN_B = {"q1": ["d2", "d3", "d1"], "q2": ["d6", "d1", "d5"], "q3": ["d6", "d8"], "q4": ["d9", "d8"]}
TEXTS = {
    name: "word " * (3 + 4 * place) for place, name in enumerate(f"d{i}" for i in range(1, 10))
}


@pytest.fixture
def judged(folder: Path) -> Path:
    """Folder that also holds two runs, more queries of the model, a sample of human grades, and
    texts.
    """
    for name, run in (("a", RUN_A), ("b", RUN_B)):
        lines = [
            f"{query} Q0 {one} {rank} {10 - rank} {name}\n"
            for query, of in run.items()
            for rank, one in enumerate(of, 1)
        ]
        lines += [
            f"q{n} Q0 {one} {rank} {10 - rank} {name}\n"
            for n in range(5, 9)
            for rank, one in enumerate(["d1", "d2", "d3"], 1)
        ]
        (folder / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    more = "".join(
        f"q{n} 0 d{1 + (n + k) % 4} {(n * k) % 3}\n" for n in range(5, 9) for k in range(3)
    )
    clipped = (folder / "model.qrels").read_text(encoding="utf-8").replace(" 5\n", " 3\n")
    (folder / "more.qrels").write_text(clipped + more, encoding="utf-8")
    (folder / "same.qrels").write_text(
        (folder / "human.qrels").read_text(encoding="utf-8") + more, encoding="utf-8"
    )
    (folder / "texts.tsv").write_text(
        "".join(f"{name}\t{text}\n" for name, text in TEXTS.items()), encoding="utf-8"
    )
    sample = (
        "q1 0 d1 3\nq1 0 d2 0\nq1 0 d4 1\nq1 0 d5 0\nq2 0 d1 1\nq2 0 d5 2\nq2 0 d7 0\nq3 0 d6 0\n"
        "q3 0 d8 2\nq4 0 d8 2\nq4 0 d1 0\n"
    )
    (folder / "sample.qrels").write_text(sample, encoding="utf-8")
    chances = "".join(f"{' '.join(line.split()[:3])} 0.8\n" for line in sample.splitlines())
    (folder / "chances.txt").write_text(chances, encoding="utf-8")
    return folder


CHECK = {
    "one": "judge check human.qrels --judge-qrels model=more.qrels a.run b.run",
    "two": "judge check human.qrels --judge-qrels ben=ben.qrels --judge-qrels model.qrels "
    "--outside clip",
    "details": "judge check human.qrels --judge-qrels ben=ben.qrels --judge-qrels m=more.qrels "
    "a.run b.run "
    "--more "
    "-m AP --family m=x --family a=x",
    "lengths": "judge check human.qrels --judge-qrels model=more.qrels --documents texts.tsv",
    "markdown": "judge check human.qrels --judge-qrels model=more.qrels a.run b.run --format "
    "markdown",
    "csv": "judge check human.qrels --judge-qrels model=more.qrels --judge-qrels ben=ben.qrels "
    "a.run b.run "
    "--format csv",
    "json": "judge check human.qrels --judge-qrels model=more.qrels a.run b.run --format json",
    "table": "judge check human.qrels --judge-qrels model=model.qrels --map "
    "model=0:0,1:1,2:2,3:3,5:3",
    "error-table": "judge check human.qrels --judge-qrels model=model.qrels --map model=0:0,1:1",
    "error-table-name": "judge check human.qrels --judge-qrels model=model.qrels --map ben=0:0,1:1",
    "error-outside": "judge check human.qrels --judge-qrels model=model.qrels",
    "error-no-judge": "judge check human.qrels",
    "error-name": "judge check human.qrels --judge-qrels =model.qrels",
    "error-twice": "judge check human.qrels --judge-qrels m=ben.qrels --judge-qrels m=model.qrels",
    "error-family": "judge check human.qrels --judge-qrels m=ben.qrels --family n=x",
    "error-missing": "judge check human.qrels --judge-qrels m=absent.qrels",
    "error-few": "judge check human.qrels --judge-qrels m=ben.qrels --assessors people.txt",
}


@pytest.mark.parametrize("name", CHECK)
def test_what_check_says(name: str, say: Say, judged: Path) -> None:
    command = f"idealrank {CHECK[name]}"

    said = say(*shlex.split(command)[1:], cwd=judged)

    check_snapshot(f"judge-check-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


CORRECT = {
    "one": "judge correct human.qrels --judge-qrels model=more.qrels a.run",
    "two": "judge correct human.qrels --judge-qrels model=more.qrels a.run b.run -m RR --digits 3",
    "documents": "judge correct sample.qrels --judge-qrels model=model.qrels a.run b.run -m "
    "DCG@3 --by "
    "documents "
    "--probability chances.txt",
    "documents-ndcg": "judge correct sample.qrels --judge-qrels model=model.qrels a.run -m "
    "nDCG@3 --by "
    "documents "
    "--probability chances.txt",
    "markdown": "judge correct human.qrels --judge-qrels model=more.qrels a.run b.run --format "
    "markdown",
    "csv": "judge correct human.qrels --judge-qrels model=more.qrels a.run b.run --format csv",
    "json": "judge correct human.qrels --judge-qrels model=more.qrels a.run b.run --format json",
    "refused": "judge correct human.qrels --judge-qrels model=same.qrels a.run -m RR",
    "largest": "judge correct human.qrels --judge-qrels model=more.qrels a.run --weight 0.5 "
    "--largest-error 0.1",
    "error-largest": "judge correct sample.qrels --judge-qrels model=model.qrels a.run --by "
    "documents "
    "--largest-error 0.1",
    "error-three": "judge correct human.qrels --judge-qrels model=more.qrels a.run b.run c.run",
    "strata": "judge correct sample.qrels --judge-qrels model=model.qrels a.run -m DCG@3 --by "
    "documents",
    "error-measure": "judge correct sample.qrels --judge-qrels model=model.qrels a.run -m AP --by "
    "documents "
    "--probability chances.txt",
    "error-probability": "judge correct human.qrels --judge-qrels model=more.qrels a.run "
    "--probability "
    "chances.txt",
    "error-queries": "judge correct more.qrels --judge-qrels model=human.qrels a.run",
}


@pytest.mark.parametrize("name", CORRECT)
def test_what_correct_says(name: str, say: Say, judged: Path) -> None:
    command = f"idealrank {CORRECT[name]}"

    said = say(*shlex.split(command)[1:], cwd=judged)

    check_snapshot(f"judge-correct-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


def test_all_formats_of_check_have_the_numbers_of_the_library(say: Say, judged: Path) -> None:
    found = check_judge(HUMAN, BEN, {"a": RUN_A, "b": RUN_B}, name="ben")
    options = ("judge", "check", "human.qrels", "--judge-qrels", "ben=ben.qrels", "a.run", "b.run")

    (record,) = json.loads(say(*options, "--format", "json", cwd=judged).out)["judges"]
    (row,) = csv.DictReader(io.StringIO(say(*options, "--format", "csv").out))
    table = say(*options).out

    assert (record["name"], record["n"]) == (row["judge"], int(row["n"])) == ("ben", found.n)
    for name in ("percent", "cohen_kappa", "krippendorff_alpha_ordinal"):
        assert record[name] == float(row[name]) == found.agreement[name].value
        assert f"{record[name]:.3f}" in table
    assert record["confusion"]["human_rows"] == found.confusion.tolist()
    assert record["worth_of_pair"]["value"] == float(row["worth"]) == found.worth_of_pair.value
    assert found.systems is not None
    assert record["systems"]["tau"] == float(row["tau"]) == found.systems.tau


def test_all_formats_of_correct_have_the_numbers_of_the_library(say: Say, judged: Path) -> None:
    options = (
        "judge",
        "correct",
        "human.qrels",
        "--judge-qrels",
        "model=more.qrels",
        "a.run",
        "b.run",
    )
    rows = json.loads(say(*options, "--format", "json", cwd=judged).out)["corrected"]
    lines = list(csv.DictReader(io.StringIO(say(*options, "--format", "csv").out)))
    found = correct_run(
        ir.read_qrels("human.qrels"),
        ir.read_qrels("more.qrels"),
        ir.read_run("b.run"),
        against=ir.read_run("a.run"),
    )

    assert [(one["run"], one["against"]) for one in rows] == [("a", ""), ("b", ""), ("b", "a")]
    assert rows[2]["corrected"] == float(lines[2]["corrected"]) == found.found.estimate
    assert rows[1]["corrected"] - rows[0]["corrected"] == pytest.approx(
        rows[2]["corrected"], abs=1e-12
    )
    assert (
        rows[2]["interval"]
        == [float(lines[2]["low"]), float(lines[2]["high"])]
        == list(found.found.interval)
    )
    assert rows[2]["effective_labels"] == found.found.effective_labels


# --- a judge beside people in other commands ------------------------------------------------------


@pytest.fixture
def contradicted(tmp_path: Path) -> Path:
    """People prefer the old run on every query, the judge the new one."""
    queries = [f"q{n}" for n in range(12)]
    for name, grades in (("people", "201"), ("judge", "021")):
        lines = [
            f"{query} 0 {document} {grade}\n"
            for query in queries
            for document, grade in zip("xyz", grades, strict=True)
        ]
        (tmp_path / f"{name}.qrels").write_text("".join(lines), encoding="utf-8")
    for name, ranking in (("old", "xyz"), ("new", "yxz")):
        lines = [
            f"{query} Q0 {one} {rank} {9 - rank} {name}\n"
            for query in queries
            for rank, one in enumerate(ranking, 1)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    return tmp_path


BESIDE = {
    "compare": "compare people.qrels old.run new.run -m nDCG@2 --judge-qrels judge.qrels",
    "compare-agrees": "compare people.qrels old.run new.run -m nDCG@2 --judge-qrels people.qrels",
    "gate": "gate people.qrels new.run --baseline old.run -m nDCG@2 --judge-qrels judge.qrels "
    "--when-unjudged neutral",
    "gate-fail": "gate people.qrels new.run --baseline old.run -m nDCG@2 --judge-qrels judge.qrels",
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_a_judge_beside_people_does(name: str, say: Say, contradicted: Path) -> None:
    command = f"idealrank {BESIDE[name]}"

    said = say(*shlex.split(command)[1:], cwd=contradicted)

    check_snapshot(f"judge-beside-{name}", said.text(command))
    assert said.code == {"gate": 3, "gate-fail": 1}.get(name, 0)


@pytest.mark.parametrize(
    "command",
    ["compare people.qrels old.run new.run", "gate people.qrels new.run --baseline old.run"],
)
def test_a_page_says_that_signs_disagree(command: str, say: Say, contradicted: Path) -> None:
    say(
        *shlex.split(command),
        "-m",
        "nDCG@2",
        "--judge-qrels",
        "judge.qrels",
        "--report",
        "page.html",
        cwd=contradicted,
    )

    page = (contradicted / "page.html").read_text(encoding="utf-8")

    assert "disagree on the sign" in page
    assert "undecided" in page


@pytest.mark.parametrize("measures", [["-m", "P@5,nDCG@10"], ["-m", "P@5", "-m", "nDCG@10"]])
@pytest.mark.parametrize(
    "command",
    [
        "next",
        "reuse",
        "check --judge-qrels model=qrels.txt",
        "correct --judge-qrels model=qrels.txt",
    ],
)
def test_several_measures_are_refused_where_one_counts(
    say: Say, command: str, measures: list[str]
) -> None:
    said = say("judge", *command.split(), "qrels.txt", "bm25.run", "neural.run", *measures)
    assert (said.code, said.out) == (2, "")
    assert "error: -m: found 2 measures (P@5, nDCG@10), expected one" in said.err


def test_the_weight_of_the_judge_is_shown_for_documents_too(say: Say, judged: Path) -> None:
    command = shlex.split(CORRECT["documents"] + " --weight 0.5 --format json")

    results = json.loads(say(*command, cwd=judged).out)["corrected"]

    assert {result["weight"] for result in results} == {0.5}
