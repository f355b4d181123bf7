"""`idealrank overlap`: what it prints, that its formats agree, and that its errors teach."""

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
    "table": "overlap bm25.run neural.run",
    "per-query": "overlap bm25.run neural.run --per-query -m RBO(p=0.98),overlap@3 -m tau",
    "expected": "overlap bm25.run neural.run --ties expected -m RBO(estimate=res,p=0.5),tau",
    "one-file": "overlap bm25.run bm25.run -m overlap@10,tau",
    "same": "overlap bm25.run bm25.run.gz -m tau,wtau,Jaccard@10",
    "json": "overlap bm25.run neural.run --format json --per-query -m RBO,tau",
    "csv": "overlap bm25.run neural.run --format csv -m RBO,tau",
    "csv-per-query": "overlap bm25.run neural.run --format csv --per-query -m RBO,tau",
    "matrix": "overlap bm25.run neural.run new-seed1.run",
    "matrix-not-symmetric": "overlap bm25.run neural.run new-seed1.run -m tauAP,overlap@3 --ties "
    "docid",
    "matrix-latex": "overlap bm25.run neural.run new-seed1.run --format latex",
    "matrix-markdown": "overlap bm25.run neural.run new-seed1.run -m overlap@3 --format markdown",
    "markdown": "overlap bm25.run neural.run -m RBO,tau --format markdown --per-query",
    "error-matrix-per-query": "overlap bm25.run neural.run new-seed1.run --per-query",
    "error-one-run": "overlap bm25.run",
    "error-measure": "overlap bm25.run neural.run -m nDCG@10",
    "error-unknown": "overlap bm25.run neural.run -m RB0",
    "error-option": "overlap bm25.run neural.run -m RBO(p=1)",
    "error-empty": "overlap bm25.run neural.run -m ,",
    "error-ties": "overlap bm25.run neural.run --ties best",
    "error-not-offered": "overlap bm25.run neural.run --ties expected -m wtau",
    "error-duplicate": "overlap twice.run neural.run",
    "error-format": "overlap bm25.run judgments.csv --input-format trec",
    "error-no-file": "overlap bm25.run neural.rum",
    "error-evaluate": "evaluate qrels.txt bm25.run -m RBO(p=0.9)",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_what_overlap_says(name: str, say: Say) -> None:
    command = f"idealrank {COMMANDS[name]}"

    said = say(*(word.replace("\\", "") for word in shlex.split(command)[1:]))

    check_snapshot(f"overlap-{name}", said.text(command))
    assert said.code == (2 if name.startswith("error") else 0)


def test_all_formats_have_the_numbers_of_the_library(say: Say) -> None:
    asked = ["RBO(p=0.98)", "overlap@2", "Jaccard@3", "tau", "tauAP(reference=both)", "wtau"]
    found = ir.overlap(DATA / "bm25.run", DATA / "neural.run", asked)
    options = (
        "overlap",
        "bm25.run",
        "neural.run",
        *(word for text in asked for word in ("-m", text)),
    )

    record = json.loads(say(*options, "--format", "json", "--per-query").out)
    rows = list(csv.DictReader(io.StringIO(say(*options, "--format", "csv").out)))
    table = say(*options).out

    assert record["mean"] == dict(found.mean())
    assert record["queries"] == found.per_query()
    assert [entry["common"] for entry in record["documents"].values()] == found.common.tolist()
    assert {row["measure"]: float(row["value"]) for row in rows} == dict(found.mean())
    assert all(f"{value:.4f}" in table for value in found.mean().values())
    for counts in ((row["in_both"], row["only_a"], row["only_b"]) for row in rows):
        assert counts == ("3", "1", "1")


def test_a_matrix_has_the_numbers_of_the_library_in_every_format(say: Say) -> None:
    names, measure = ["bm25", "neural", "new-seed1"], "tauAP"
    files = [f"{name}.run" for name in names]
    found = ir.overlap_matrix([DATA / file for file in files], measure)
    options = ("overlap", *files, "-m", measure, "--format")

    record = json.loads(say(*options, "json").out)
    rows = list(csv.DictReader(io.StringIO(say(*options, "csv").out)))
    texts = [say(*options, form).out for form in ("table", "markdown", "latex")]

    assert [[record["mean"][measure][a][b] for b in names] for a in names] == found[
        measure
    ].tolist()
    assert [float(row["value"]) for row in rows] == found[measure].flatten().tolist()
    assert [int(row["queries"]) for row in rows] == found.values_with(measure).flatten().tolist()
    assert [(row["only_a"], row["only_b"]) for row in rows] == [
        (
            str(len(ir.overlap(DATA / a, DATA / b).only_a)),
            str(len(ir.overlap(DATA / a, DATA / b).only_b)),
        )
        for a in files
        for b in files
    ]
    for text in texts:
        assert all(f"{abs(value):.4f}" in text for value in found[measure].flat)


def test_standard_input_and_an_output_file(say: Say, tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 2 t\nq1 Q0 d2 2 1 t\n", encoding="utf-8")
    (tmp_path / "b.csv").write_text("query,document,score\nq1,d2,5\nq1,d1,4\n", encoding="utf-8")

    said = say(
        "overlap", "a.run", "b.csv", "-m", "tau", "--format", "csv", "-o", "out.csv", cwd=tmp_path
    )

    assert (said.code, said.out) == (0, "")
    assert (
        (tmp_path / "out.csv")
        .read_text(encoding="utf-8")
        .splitlines()[1]
        .startswith("a,b,tau,-1.0,1,1,0,0")
    )
    refused = say("overlap", "a.run", "b.csv", "-o", "b.csv", cwd=tmp_path)
    assert refused.code == 2
    assert "found an input file of this command" in refused.err
    assert say("overlap", "-", "-").code == 2


def test_runs_that_have_nothing_in_common_are_refused(say: Say, tmp_path: Path) -> None:
    for name, query in (("a", "1"), ("b", "q1")):
        (tmp_path / f"{name}.run").write_text(f"{query} Q0 d1 1 2 t\n", encoding="utf-8")

    said = say("overlap", "a.run", "b.run", cwd=tmp_path)

    assert (said.code, said.out) == (2, "")
    assert (
        "found no query in common: run 'a' answers 1 query ('1'), run 'b' 1 query ('q1')"
        in said.err
    )
    assert "do the query ids of both match?" in said.err


def test_many_lonely_queries_are_counted_and_a_few_named(say: Say, tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text(
        "".join(f"q{number} Q0 d1 1 2 t\n" for number in range(2000)), encoding="utf-8"
    )
    (tmp_path / "b.run").write_text("q7 Q0 d1 1 2 t\n", encoding="utf-8")

    head = say("overlap", "a.run", "b.run", cwd=tmp_path).out.splitlines()[:2]

    assert head == [
        "a and b: 1 query in both, 1,999 only in a, 0 only in b",
        "  only in a: q0, q1, q2, q3, q4, ...",
    ]
