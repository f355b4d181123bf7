"""`idealrank compare --table paper`: the means of the runs, the best in bold, and triangles by the
verdicts against the baseline.
"""

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
    command = (
        f"compare qrels.txt {RUNS} -m AP,P@1 --table paper --sort-by AP --rename "
        f"bm25-rm3='BM25+RM3' "
        f"--format {layout}"
    )

    said = say(*shlex.split(command), cwd=seven)

    check_snapshot(f"paper-{layout}", said.text(f"idealrank {command}"))
    assert said.code == 0


def test_triangles_are_the_verdicts_of_compare_against_the_baseline(say: Say, seven: Path) -> None:
    evaluations = [
        ir.evaluate(
            seven / "qrels.txt",
            seven / f"{name}.run",
            ir.with_companions(["AP", "P@1"]),
            keep_unjudged=True,
        )
        for name in NAMES
    ]
    found = ir.compare(*evaluations, measures=["AP", "P@1"], baseline="dense")

    said = say(
        "compare",
        "qrels.txt",
        *RUNS.split(),
        "-m",
        "AP,P@1",
        "--table",
        "paper",
        "--baseline",
        "dense",
        cwd=seven,
    )

    rows = {
        cells[0]: cells[1:]
        for cells in (line.split() for line in said.out.splitlines()[1 : 1 + len(NAMES)])
    }
    assert list(rows) == list(NAMES)
    marks = {name: [cell.lstrip("0123456789.*") for cell in cells] for name, cells in rows.items()}
    signs = {"better": "▲", "worse": "▼", "too few judgments": "?", "undecided": ""}
    for pair in found.pairs:
        assert marks[pair.b] == [signs[row.verdict] for row in pair.measures.values()]
    assert marks["dense"] == ["", ""]
    assert {"▲", "▼", "?"} <= {sign for row in marks.values() for sign in row}
    assert "▲ better, ▼ worse, p at most 0.05" in " ".join(said.out.split())
    assert "? too few judgments, however small p." in " ".join(said.out.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--sort-by RR", "--sort-by: found no --table paper"),
        ("--rename bm25=B", "--rename: found no --table paper"),
        ("--table paper --sort-by AP", "--sort-by AP: not compared, expected one of RR"),
        (
            "--table paper --rename none=B",
            "--rename none: found no run or measure of that name, expected one of bm25, dense",
        ),
        ("--table paper --rename bm25", "--rename bm25: expected NAME=TEXT"),
        (
            "--table paper --rankings",
            "--rankings: found --table paper, which it does not change; expected --table full, or "
            "no --rankings",
        ),
        (
            "--table paper --format json",
            "--table paper: found --format json, expected one of table, markdown, latex",
        ),
    ],
)
def test_mistakes_are_named(options: str, message: str, say: Say, seven: Path) -> None:
    said = say(
        "compare", "qrels.txt", "bm25.run", "dense.run", "-m", "RR", *options.split(), cwd=seven
    )

    assert said.code == 2
    assert message in said.err


def test_labels_name_measures_in_any_spelling(say: Say, seven: Path) -> None:
    command = (
        "compare qrels.txt bm25.run dense.run -m HR@1,AP(divisor=reachable)@2 --table paper "
        "--format latex"
    )
    labels = (
        "--rename",
        "HR@1=HR@1",
        "--rename",
        "AP(divisor=reachable)@2=MAP@2 (x=y)",
        "--rename",
        "dense=Ours",
    )
    said = say(*command.split(), *labels, cwd=seven)
    assert said.code == 0, said.err
    assert "run & HR@1 & MAP@2 (x=y) \\\\" in said.out
    assert "\nOurs & " in said.out


def test_the_note_names_measures_as_the_columns_do(say: Say, seven: Path) -> None:
    said = say(
        "compare",
        "qrels.txt",
        *RUNS.split(),
        "-m",
        "RR,P@1",
        "--table",
        "paper",
        "--rename",
        "RR=MRR",
        cwd=seven,
    )

    assert "tests of MRR corrected together" in " ".join(said.out.split())
    assert "tests of RR" not in " ".join(said.out.split())


@pytest.mark.spread(1)
@pytest.mark.parametrize("form", ["latex", "markdown", "table"])
def test_the_table_is_the_same_in_python(form: str, say: Say, seven: Path) -> None:
    runs = [seven / f"{name}.run" for name in NAMES]
    found = ir.compare(seven / "qrels.txt", *runs, measures=["RR", "P@1"], baseline="bm25")
    options = shlex.split(
        "--table paper --sort-by MRR --rename RR=MRR --rename bm25=B --baseline bm25.run"
    )

    said = say(
        "compare", "qrels.txt", *RUNS.split(), "-m", "RR,P@1", *options, "--format", form, cwd=seven
    )

    assert found.paper_table(form, order="MRR", labels={"RR": "MRR", "bm25": "B"}) == said.out


def test_a_table_that_cannot_be_made_in_python_is_refused(seven: Path) -> None:
    runs = [seven / f"{name}.run" for name in NAMES[:2]]
    found = ir.compare(seven / "qrels.txt", *runs, measures=["RR", "P@1"], baseline="bm25")
    with pytest.raises(
        ir.OptionError,
        match=r"expected one against a baseline; name it, as in compare\(\.\.\., baseline=NAME\)",
    ):
        ir.compare(seven / "qrels.txt", *runs, measures="RR").paper_table()
    with pytest.raises(ir.OptionError, match="label none: found no run or measure of that name"):
        found.paper_table(labels={"none": "x"})
    with pytest.raises(ir.OptionError, match="order AP: not compared, expected one of RR, P@1"):
        found.paper_table(order="AP")
    with pytest.raises(
        ir.OptionError, match=r"form 'tex': expected one of 'table', 'markdown', 'latex'"
    ):
        found.paper_table("tex")


def test_a_baseline_is_named_by_its_path_too_and_a_near_name_is_suggested(
    say: Say, seven: Path
) -> None:
    command = ("compare", "qrels.txt", "bm25.run", "dense.run", "-m", "RR", "--baseline")
    assert say(*command, "dense.run", cwd=seven).out == say(*command, "dense", cwd=seven).out
    assert "did you mean bm25?" in say(*command, "BM25", cwd=seven).err


def test_a_file_whose_ending_is_of_another_format_is_noted(say: Say, seven: Path) -> None:
    command = (
        "compare",
        "qrels.txt",
        "bm25.run",
        "dense.run",
        "-m",
        "RR",
        "--table",
        "paper",
        "-o",
        "t.tex",
    )
    assert (
        "t.tex: written as text to read, not as LaTeX (booktabs); --format sets the format"
        in say(*command, cwd=seven).err
    )
    assert "written as text" not in say(*command, "--format", "latex", cwd=seven).err
