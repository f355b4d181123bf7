"""`idealrank compare --table paper`: the means of the runs, the best in bold, and a dagger where compare decides against the baseline."""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from tests.cli.terminal import Said, check_snapshot
from tests.cli.test_compare_many import NAMES, SHARES, write_runs

Say = Callable[..., Said]
RUNS = " ".join(f"{name}.run" for name in NAMES)


@pytest.fixture
def seven(tmp_path: Path) -> Path:
    write_runs(tmp_path, NAMES, SHARES)
    return tmp_path


@pytest.mark.parametrize("layout", ["table", "markdown", "latex"])
def test_the_table_of_seven_runs(layout: str, say: Say, seven: Path) -> None:
    command = f"compare qrels.txt {RUNS} -m RR,P@1 --table paper --order RR --label bm25-rm3='BM25+RM3' --format {layout}"

    said = say(*shlex.split(command), cwd=seven)

    check_snapshot(f"paper-{layout}", said.text(f"idealrank {command}"))
    assert said.code == 0


def test_daggers_are_the_verdicts_of_compare_against_the_baseline(say: Say, seven: Path) -> None:
    evaluations = [
        ir.evaluate(seven / "qrels.txt", seven / f"{name}.run", ir.with_companions(["RR", "P@1"]), keep_unjudged=True) for name in NAMES
    ]
    found = ir.compare(*evaluations, measures=["RR", "P@1"], baseline="dense")

    said = say("compare", "qrels.txt", *RUNS.split(), "-m", "RR,P@1", "--table", "paper", "--baseline", "dense", cwd=seven)

    rows = {cells[0]: cells[1:] for cells in (line.split() for line in said.out.splitlines()[1 : 1 + len(NAMES)])}
    assert list(rows) == list(NAMES)
    daggers = {name: ["†" in cell for cell in cells] for name, cells in rows.items()}
    for pair in found.pairs:
        assert daggers[pair.b] == [row.verdict in ("better", "worse") for row in pair.measures.values()]
    assert daggers["dense"] == [False, False]
    assert any(any(marks) for marks in daggers.values())
    assert "No mark where unjudged documents may explain the difference." in " ".join(said.out.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--order RR", "--order: found no --table paper"),
        ("--label bm25=B", "--label: found no --table paper"),
        ("--table paper --order AP", "--order AP: not compared, expected one of RR"),
        ("--table paper --label none=B", "--label none: found no run of that name, expected one of bm25, dense"),
        ("--table paper --label bm25", "--label bm25: expected RUN=TEXT"),
        ("--table paper --format json", "--table paper: found --format json, expected one of table, markdown, latex"),
    ],
)
def test_mistakes_are_named(options: str, message: str, say: Say, seven: Path) -> None:
    said = say("compare", "qrels.txt", "bm25.run", "dense.run", "-m", "RR", *options.split(), cwd=seven)

    assert said.code == 2
    assert message in said.err
