"""`idealrank compare --table paper`: the means of the runs, the best in bold, and triangles by the
verdicts against the baseline.
"""

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from idealrank.reports.table.cells import Cell, Column, Table
from idealrank.reports.table.forms import as_latex
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


def spelled(letters: str) -> set[str]:
    """Letters of a mark, which may have ranges: a-c,f."""
    every: set[str] = set()
    for part in letters.split(","):
        first, _, last = part.partition("-")
        every |= {chr(code) for code in range(ord(first), ord(last) + 1)} if last else {*part}
    return every


def test_letters_are_those_of_all_pairs_in_the_order_of_the_rows(say: Say, seven: Path) -> None:
    runs = [seven / f"{name}.run" for name in NAMES]
    found = ir.compare(seven / "qrels.txt", *runs, measures=["AP", "P@1"])
    options = ("-m", "AP,P@1", "--table", "paper")

    better = say("compare", "qrels.txt", *RUNS.split(), *options, "--letters", "better", cwd=seven)
    groups = say("compare", "qrels.txt", *RUNS.split(), *options, "--letters", "groups", cwd=seven)

    letters = dict(zip(NAMES, "abcdefg", strict=True))
    lines = [line.split() for line in better.out.splitlines()[1 : 1 + len(NAMES)]]
    rows = {name: (letter, cells) for letter, name, *cells in lines}
    assert {name: letter for name, (letter, _) in rows.items()} == letters
    for place, measure in enumerate(["AP", "P@1"]):
        marks = {name: cells[place].lstrip("0123456789.*") for name, (_, cells) in rows.items()}
        # counted by the verdicts of the pairs alone
        wins = {name: set() for name in NAMES}
        for pair in found.pairs:
            verdict = pair[measure].verdict
            if verdict == "better":
                wins[pair.b].add(letters[pair.a])
            if verdict == "worse":
                wins[pair.a].add(letters[pair.b])
        assert {name: spelled(mark) for name, mark in marks.items()} == wins
    assert any(rows[name][1][0].lstrip("0123456789.*") for name in NAMES)
    assert "Superscript letters count verdicts" in " ".join(better.out.split())
    by_ap = found.groups("AP").letters
    for line in groups.out.splitlines()[1 : 1 + len(NAMES)]:
        name, cell, _ = line.split()
        assert cell.lstrip("0123456789.*") == by_ap[name]
    assert better.out == found.paper_table("table", letters="better")


def test_without_a_baseline_the_first_run_is_it_as_in_the_command(say: Say, seven: Path) -> None:
    runs = [seven / f"{name}.run" for name in ("bm25", "dense")]
    pair = ir.compare(seven / "qrels.txt", *runs, measures=["AP", "P@1"])
    command = ("compare", "qrels.txt", "bm25.run", "dense.run", "-m", "AP,P@1", "--table", "paper")

    assert pair.paper_table("table") == say(*command, cwd=seven).out

    every = ir.compare(
        seven / "qrels.txt", *(seven / f"{name}.run" for name in NAMES), measures="AP"
    )
    signs = {"better": "▲", "worse": "▼", "too few judgments": "?", "undecided": ""}
    rows = [line.split() for line in every.paper_table("table").splitlines()[1 : 1 + len(NAMES)]]
    assert {name: cell.lstrip("0123456789.*") for name, cell in rows} == {
        "bm25": "",
        **{pair.b: signs[pair["AP"].verdict] for pair in every.pairs if pair.a == "bm25"},
    }
    assert f"{len(every.pairs)} tests of AP corrected together" in every.paper_table("markdown")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--letters better --baseline bm25", "--letters better: found --baseline, expected every"),
        ("--letters groups --baseline bm25", "--letters groups: found --baseline, expected every"),
    ],
)
def test_letters_need_every_pair(options: str, message: str, say: Say, seven: Path) -> None:
    said = say(
        *("compare", "qrels.txt", "bm25.run", "dense.run", "-m", "RR", "--table", "paper"),
        *options.split(),
        cwd=seven,
    )

    assert said.code == 2
    assert message in said.err


def test_letters_against_a_baseline_are_refused_in_python(seven: Path) -> None:
    runs = [seven / f"{name}.run" for name in ("bm25", "dense")]
    found = ir.compare(seven / "qrels.txt", *runs, measures="AP", baseline="bm25")

    with pytest.raises(ir.OptionError, match="expected every pair of runs"):
        found.paper_table("table", letters="groups")
    with pytest.raises(ir.OptionError, match="letters 'all': expected one of"):
        found.paper_table("table", letters="all")  # type: ignore[arg-type]


def test_a_table_wider_than_a_page_is_split_with_every_cell_once() -> None:
    numbers: list[Column[str]] = [
        Column(
            title=f"nDCG@{place}", kind="number", cell=lambda run, p=place: Cell(f"0.{run}{p:02}")
        )
        for place in range(10, 30)
    ]
    columns: list[Column[str]] = [Column(title="run", cell=lambda run: f"run{run}"), *numbers]
    narrow = as_latex(Table.of(columns[:4], ["1", "2"]), split=True)
    wide = as_latex(Table.of(columns, ["1", "2"], notes=["Below."]), split=True)

    assert narrow.count("begin{tabular}") == 1
    assert wide.count("begin{tabular}") == 3
    assert wide.count("run1 & ") == wide.count("\nrun & ") == 3
    for place in range(10, 30):
        assert wide.count(f"nDCG@{place}") == wide.count(f"0.1{place}") == 1
    assert wide.count("Below.") == 1
    assert wide.count("needs \\usepackage") == 1
