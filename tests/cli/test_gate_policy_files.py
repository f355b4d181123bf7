"""`idealrank gate` with the files and columns that the policy of a project names."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.terminal import Said

Say = Callable[..., Said]

POLICY = """\
[tool.idealrank.gate]
baseline = "main.csv"
qrels = ["eval/labels.csv", "eval/more.csv"]
run = "new.csv"
qrels_columns = "query=need,document=page,grade=stars"
run_columns = "query=need,document=page,score=sureness"
"""
COLUMNS = (
    "--qrels-columns",
    "query=need,document=page,grade=stars",
    "--run-columns",
    "query=need,document=page,score=sureness",
)
QUERIES = [f"q{number:02}" for number in range(20)]


def run_csv(first: str, second: str) -> str:
    rows = [f"{query},{first},2\n{query},{second},1\n" for query in QUERIES]
    return "need,page,sureness\n" + "".join(rows)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose tables have columns that nobody can guess, and a run that is worse."""
    (tmp_path / "eval").mkdir()
    halves = {"labels.csv": QUERIES[:10], "more.csv": QUERIES[10:]}
    for name, queries in halves.items():
        rows = "".join(f"{query},x,1\n{query},y,0\n" for query in queries)
        (tmp_path / "eval" / name).write_text(f"need,page,stars\n{rows}", encoding="utf-8")
    (tmp_path / "main.csv").write_text(run_csv("x", "y"), encoding="utf-8")
    (tmp_path / "new.csv").write_text(run_csv("y", "x"), encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def record(said: Said) -> dict[str, object]:
    """The JSON of a gate without its policy file, which a typed command may lack."""
    found: dict[str, object] = json.loads(said.out)
    return {name: value for name, value in found.items() if name != "policy_file"}


def test_a_gate_without_arguments_reads_what_the_policy_names(say: Say, project: Path) -> None:
    files = ("eval/labels.csv", "new.csv", "--qrels", "eval/more.csv", "--baseline", "main.csv")
    said = say("gate", "--format", "json", cwd=project)
    (project / "pyproject.toml").unlink()
    typed = say("gate", *files, *COLUMNS, "--format", "json", cwd=project)

    assert (said.code, typed.code) == (1, 1)
    assert record(said) == record(typed)
    assert len(record(said)["checks"][0]["worst"]) == 10  # type: ignore[index]


def test_one_argument_is_the_run(say: Say, project: Path) -> None:
    (project / "same.csv").write_text(run_csv("x", "y"), encoding="utf-8")

    said = say("gate", "same.csv", "--format", "json", cwd=project)

    assert (said.code, json.loads(said.out)["run"]) == (0, "same")


def test_paths_of_the_policy_are_those_of_its_folder(say: Say, project: Path) -> None:
    (project / "src").mkdir()

    said = say("gate", "--format", "json", cwd=project / "src")

    assert (said.code, json.loads(said.out)["run"]) == (1, "new")


@pytest.mark.parametrize("option", ["--qrels-columns", "--columns"])
def test_columns_that_are_typed_win(say: Say, project: Path, option: str) -> None:
    said = say("gate", option, "query=need,document=page,grade=points", cwd=project)

    assert said.code == 2
    assert "points" in said.err


def test_typed_judgments_stand_alone(say: Say, project: Path) -> None:
    said = say("gate", "eval/labels.csv", "new.csv", "--format", "json", cwd=project)

    assert json.loads(said.out)["checks"][0]["n"] == 10


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("qrels", "3", "qrels: found 3, expected a path, or a list of paths"),
        ("run", '["new.csv"]', "run: found ['new.csv'], expected a path"),
        ("run_columns", '"need"', "run_columns: found 'need', expected query=NAME,document=NAME"),
        ("qrels_columns", '"query=a,user=b"', "expected query=NAME,document=NAME"),
    ],
)
def test_a_wrong_value_of_the_policy_is_named(
    say: Say, project: Path, key: str, value: str, expected: str
) -> None:
    lines = [line for line in POLICY.splitlines() if not line.startswith(f"{key} ")]
    text = "\n".join([*lines, f"{key} = {value}"])
    (project / "pyproject.toml").write_text(text, encoding="utf-8")

    said = say("gate", cwd=project)

    assert said.code == 2
    assert f"pyproject.toml: [tool.idealrank.gate]: {key}: found" in said.err
    assert expected in said.err


@pytest.mark.parametrize(("typed", "missing"), [((), "QRELS"), (("new.csv",), "QRELS")])
def test_without_a_policy_both_files_must_be_typed(
    say: Say, project: Path, typed: tuple[str, ...], missing: str
) -> None:
    (project / "pyproject.toml").unlink()

    said = say("gate", *typed, "--baseline", "main.csv", cwd=project)

    assert said.code == 2
    assert f"found no {missing}" in said.err
    assert "[tool.idealrank.gate]" in said.err


def test_an_output_never_replaces_a_file_of_the_policy(say: Say, project: Path) -> None:
    before = (project / "new.csv").read_bytes()

    said = say("gate", "-o", "new.csv", cwd=project)

    assert said.code == 2
    assert (project / "new.csv").read_bytes() == before


# --- texts of queries ---------------------------------------------------------------------------


@pytest.fixture
def titled(project: Path) -> Path:
    """The same project, whose policy names the texts of its queries; one query has none."""
    texts = [f"{query}\thow to do task {query[1:]} | <b>" for query in QUERIES if query != "q03"]
    (project / "eval" / "queries.tsv").write_text("\n".join(texts), encoding="utf-8")
    (project / "pyproject.toml").write_text(
        f'{POLICY}queries = "eval/queries.tsv"\n', encoding="utf-8"
    )
    return project


def test_the_message_names_the_queries_that_fell_by_their_text(say: Say, titled: Path) -> None:
    said = say("gate", cwd=titled)

    rows = [line.split(maxsplit=4) for line in said.out.splitlines() if line.startswith("q0")]
    assert said.code == 1
    assert ["q00", "1.0000", "0.6309", "-0.3691", "how to do task 00 | <b>"] in rows
    assert ["q03", "1.0000", "0.6309", "-0.3691"] in rows


def test_json_junit_markdown_and_annotations_have_the_texts(say: Say, titled: Path) -> None:
    said = say(
        "gate",
        "--format",
        "json",
        "--junit",
        "gate.xml",
        "--markdown",
        "gate.md",
        "--github",
        cwd=titled,
    )

    worst = json.loads(said.out)["checks"][0]["worst"]
    assert worst[0]["text"] == "how to do task 00 | <b>"
    assert [drop["query"] for drop in worst if "text" not in drop] == ["q03"]
    suite = ET.parse(titled / "gate.xml").getroot()  # written by this test
    assert "q00  1.0000  0.6309  -0.3691  how to do task 00 | <b>" in suite.find(".//failure").text  # type: ignore[operator, union-attr]
    comment = (titled / "gate.md").read_text(encoding="utf-8")
    assert "| query | before | now | difference | text |" in comment
    assert "<b>" not in comment
    assert "how to do task 00 &#124; &#60;b&#62;" in comment
    (error,) = [line for line in said.err.splitlines() if line.startswith("::error")]
    assert 'q00 "how to do task 00 | <b>" (-0.3691)' in error


def test_typed_texts_win_and_need_no_page(say: Say, titled: Path) -> None:
    (titled / "short.tsv").write_text("q00\tfirst\n", encoding="utf-8")

    said = say("gate", "--queries", "short.tsv", "--format", "json", cwd=titled)

    worst = json.loads(said.out)["checks"][0]["worst"]
    assert [drop["text"] for drop in worst if "text" in drop] == ["first"]


def test_without_texts_no_output_mentions_them(say: Say, project: Path) -> None:
    said = say("gate", "--format", "json", cwd=project)

    assert set(json.loads(said.out)["checks"][0]["worst"][0]) == {
        "query",
        "baseline",
        "run",
        "difference",
    }


def test_texts_that_are_missing_are_an_error_before_the_work(say: Say, titled: Path) -> None:
    (titled / "eval" / "queries.tsv").unlink()

    said = say("gate", cwd=titled)

    assert (said.code, said.out) == (2, "")
    assert "queries: found no file eval/queries.tsv, expected one that exists" in said.err


def test_standard_input_has_no_texts_for_a_gate(say: Say, titled: Path) -> None:
    said = say("gate", "--queries", "-", cwd=titled)

    assert said.code == 2
    assert "--queries -: found standard input, expected a file" in said.err


def test_the_page_shows_the_texts_that_the_policy_names(say: Say, titled: Path) -> None:
    said = say("gate", "--report", "gate.html", "--no-robust", cwd=titled)

    assert said.code == 1
    assert "how to do task 00" in (titled / "gate.html").read_text(encoding="utf-8")
