"""Judgments and runs that do not meet: refused in the words of `validate`, or named at the top of
every report.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import idealrank as ir
from tests.cli.terminal import Said

Say = Callable[..., Said]

QUERIES = 8
COMMANDS = {
    "compare": "compare {qrels} {a} {b} -m nDCG@10",
    "gate": "gate {qrels} {b} --baseline {a}",
    "why": "why {qrels} {a} {b}",
    "robust": "robust {qrels} {a} {b} --try cutoff",
    "choose": "measures choose {qrels} {a} {b} --cutoff 1,10",
}
REFUSED = {
    "nothing relevant": (
        "nothing.txt",
        "old.run",
        "new.run",
        "8 of 8 queries have no grade above 0; their NDCG is 0, 1 or left out, by convention",
    ),
    "no document": (
        "qrels.txt",
        "upper.run",
        "lower.run",
        "8 of 8 answered queries list no judged document",
    ),
    "no query": (
        "qrels.txt",
        "elsewhere.run",
        "nowhere.run",
        "8 judged queries, and the run answers none of them",
    ),
}
ALONE = {
    "upper": "upper has no judged document; do the document ids of both match?",
    "elsewhere": "elsewhere answers none of the 8 judged queries; do the query ids of both match?",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for name, grade in (("qrels", 1), ("nothing", 0)):
        lines = [f"q{number} 0 a {grade}\nq{number} 0 b 0\n" for number in range(QUERIES)]
        (folder / f"{name}.txt").write_text("".join(lines), encoding="utf-8")
    rankings = {
        "old": ("q", "ab"),
        "new": ("q", "ba"),
        "upper": ("q", "AB"),
        "lower": ("q", "BA"),
        "elsewhere": ("Q", "ab"),
        "nowhere": ("p", "ba"),
    }
    for name, (query, documents) in rankings.items():
        lines = [
            f"{query}{number} Q0 {one} {rank} {9 - rank} t\n"
            for number in range(QUERIES)
            for rank, one in enumerate(documents)
        ]
        (folder / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    return folder


def asked(command: str, qrels: str, a: str, b: str) -> list[str]:
    return COMMANDS[command].format(qrels=qrels, a=a, b=b).split()


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("command", COMMANDS)
def test_data_that_carry_no_verdict_are_refused_in_the_words_of_validate(
    command: str, case: str, files: Path, say: Say
) -> None:
    qrels, a, b, words = REFUSED[case]

    said = say(*asked(command, qrels, a, b), cwd=files)

    assert (said.code, said.out) == (2, "")
    assert words in said.err
    assert words in say("validate", qrels, a, b, cwd=files).out


@pytest.mark.spread(4)
@pytest.mark.parametrize("run", ALONE)
@pytest.mark.parametrize("command", [one for one in COMMANDS if one != "gate"])
def test_one_run_that_does_not_join_is_named_before_anything_else(
    command: str, run: str, files: Path, say: Say
) -> None:
    words = asked(command, "qrels.txt", "old.run", f"{run}.run")

    report = say(*words, cwd=files)
    record = say(*words, "--format", "json", cwd=files)

    assert report.code == record.code == 0
    opening = f"No verdict on {run} against old: run" if command == "compare" else "Run"
    assert " ".join(report.out.split()).startswith(
        f"{opening} {ALONE[run]} `idealrank validate QRELS RUN` shows how they differ."
    )
    assert json.loads(record.out)["warnings"][0] == f"run {ALONE[run]}"
    assert f"warning: run {ALONE[run]}" in report.err


def test_a_comparison_in_markdown_names_it_above_the_table(files: Path, say: Say) -> None:
    said = say(
        *asked("compare", "qrels.txt", "old.run", "upper.run"), "--format", "markdown", cwd=files
    )
    assert said.out.startswith(
        f"**Run {ALONE['upper']}**\n\n**`idealrank validate QRELS RUN` shows how they "
        f"differ.**\n\n| measure"
    )


def test_of_several_runs_each_that_does_not_join_is_named(files: Path, say: Say) -> None:
    said = say(
        "compare", "qrels.txt", "old.run", "new.run", "upper.run", "elsewhere.run", cwd=files
    )
    assert said.out.replace("\n", " ").startswith(f"Run {ALONE['upper']} Run {ALONE['elsewhere']} ")


@pytest.mark.parametrize("run", ALONE)
def test_a_gate_is_closed_to_a_run_that_does_not_join(
    run: str, files: Path, say: Say, tmp_path: Path
) -> None:
    junit, markdown = tmp_path / "gate.xml", tmp_path / "gate.md"
    words = asked("gate", "qrels.txt", "old.run", f"{run}.run")

    report = say(*words, "--junit", str(junit), "--markdown", str(markdown), "--github", cwd=files)
    record = json.loads(say(*words, "--format", "json", cwd=files).out)

    assert report.code == 1
    assert report.out.replace("\n", " ").startswith(f"The gate is closed: run {ALONE[run]} ")
    assert record["passed"] is False
    assert record["reasons"][0] == record["warnings"][0] == f"run {ALONE[run]}"
    phrase = ALONE[run].removeprefix(f"{run} ")
    assert f'<failure type="mismatch" message="{phrase}">' in junit.read_text(encoding="utf-8")
    assert f"Run <code>{run}</code> {phrase}" in markdown.read_text(encoding="utf-8")
    assert f"::error title=Run {run}::{phrase}" in report.err


@pytest.mark.parametrize("contract", ["--tolerance 0.5", "--strict --margin 0.5"])
def test_no_tolerance_lets_a_run_pass_that_does_not_join(
    contract: str, files: Path, say: Say
) -> None:
    # One query: no drop could be shown, and the drop is smaller than what the policy accepts.
    (files / "one.txt").write_text("q0 0 a 1\n", encoding="utf-8")
    (files / "deep.run").write_text(
        "".join(f"q0 Q0 {one} {9 - rank} {9 - rank} t\n" for rank, one in enumerate("xyza")),
        encoding="utf-8",
    )
    said = say(
        "gate",
        "one.txt",
        "upper.run",
        "--baseline",
        "deep.run",
        "-m",
        "RR",
        *contract.split(),
        cwd=files,
    )
    assert said.code == 1


@pytest.mark.parametrize(
    ("run", "found"),
    [
        ("upper", "no judged document in 8 answered queries"),
        ("elsewhere", "an answer to none of the 8 judged queries"),
    ],
)
def test_nothing_is_held_to_a_baseline_that_does_not_join(
    run: str, found: str, files: Path, say: Say
) -> None:
    said = say(*asked("gate", "qrels.txt", f"{run}.run", "new.run"), cwd=files)
    assert said.code == 2
    assert f"baseline {run}: found {found}, expected a run with judged documents" in said.err


def test_a_run_that_does_not_join_never_becomes_the_first_baseline(
    files: Path, say: Say, tmp_path: Path
) -> None:
    said = say(
        "gate",
        "qrels.txt",
        "upper.run",
        "--baseline",
        str(tmp_path / "best.run.gz"),
        "--update-baseline",
        cwd=files,
    )
    assert (said.code, list(tmp_path.iterdir())) == (2, [])
    assert "8 of 8 answered queries list no judged document" in said.err


@pytest.mark.slow
def test_a_page_names_it(files: Path, say: Say, tmp_path: Path) -> None:
    for command in ("compare", "gate"):
        page = tmp_path / f"{command}.html"
        say(*asked(command, "qrels.txt", "old.run", "upper.run"), "--report", str(page), cwd=files)
        assert f"Run {ALONE['upper']}" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "command", ["evaluate qrels.txt upper.run", "compare qrels.txt old.run upper.run"]
)
def test_the_warning_names_the_command_that_shows_how_the_ids_differ(
    command: str, files: Path, say: Say
) -> None:
    said = say(*command.split(), cwd=files)
    assert (
        f"warning: run {ALONE['upper']} `idealrank validate QRELS upper.run` shows how they differ"
        in said.err
    )
    if command.startswith("compare"):
        first = (
            f"No verdict on upper against old: run {ALONE['upper']} `idealrank validate QRELS "
            f"RUN` shows how they differ. "
        )
        assert " ".join(said.out.split()).startswith(first)


def test_a_comparison_in_python_names_a_run_that_does_not_join_first(files: Path) -> None:
    with pytest.warns(ir.IdealrankWarning, match="idealrank validate QRELS RUN"):
        found = ir.compare(
            *(str(files / name) for name in ("qrels.txt", "old.run", "upper.run")),
            measures="nDCG@10",
        )
    assert str(found) == f"No verdict on upper against old: run {ALONE['upper']}"


def test_a_warning_of_data_in_memory_names_no_command_for_files() -> None:
    with pytest.warns(
        ir.IdealrankWarning, match=r"has no judged document; do the document ids of both match\?$"
    ):
        ir.evaluate({"q": {"a": 1}}, {"q": ["A"]}, "RR")
