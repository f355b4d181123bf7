"""`idealrank validate`: what it prints, and its exit codes."""

import io
import json
from pathlib import Path

import pytest

from idealrank.cli.main import run
from tests.conftest import shared_file

DATA = Path(__file__).resolve().parents[1] / "data" / "validate"
# Arguments, exit code, and the file with what is printed. Each output was read line by line against
# the files named.
CASES = {
    "bad": (["bad.qrels", "bad.run", "bad.csv"], 2),
    "odd": (["good.qrels", "odd.run", "ties.json"], 0),
    "ids": (["good.qrels", "capitals.run", "queries.run"], 2),
    "clean": (["one.qrels", "clean.run"], 0),
}


@pytest.fixture(autouse=True)
def _in_the_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)


@pytest.mark.parametrize("name", CASES)
def test_the_report(name: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    arguments, code = CASES[name]
    assert run(["validate", *arguments]) == code
    out, err = capfdbinary.readouterr()
    assert out.decode() == (DATA / f"{name}.out").read_text("utf-8")
    assert err == b""


def test_the_report_for_programs_has_the_same_counts(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    assert run(["validate", "bad.qrels", "odd.run", "--format", "json", "--show", "1"]) == 2
    report = json.loads(capfdbinary.readouterr().out)
    judgments, answers = report["files"]
    counts = {
        problem["kind"]: (problem["severity"], problem["count"])
        for problem in judgments["problems"]
    }
    assert counts == {
        "fields": ("error", 1),
        "number": ("error", 4),
        "nan": ("error", 1),
        "control": ("error", 1),
        "duplicate": ("error", 1),
        "infinite": ("error", 1),
        "comment-like-data": ("warning", 1),
    }
    assert all(len(problem["examples"]) == 1 for problem in judgments["problems"])
    expected = "4 fields: QUERY ITERATION DOCUMENT GRADE"
    first = {
        "path": "bad.qrels",
        "line": 2,
        "found": '3 fields in "q1 0 d02"',
        "expected": expected,
        "hint": None,
    }
    assert judgments["problems"][0]["examples"][0] == first
    assert (report["errors"], report["warnings"]) == (
        9,
        1 + sum(problem["count"] for problem in answers["problems"]),
    )
    assert (judgments["paths"], judgments["kind"], judgments["format"]) == (
        ["bad.qrels"],
        "qrels",
        "trec",
    )


def test_files_that_cannot_be_opened_are_reported_with_the_others(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    assert run(["validate", "one.qrel", ".", "clean.run"]) == 2
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert "one.qrel: error: found no such file; did you mean 'one.qrels'?" in lines
    assert ".: error: found a directory, expected a file" in lines
    assert "clean.run: not compared with the judgments before its errors are fixed" in lines


def test_judgments_may_be_in_several_files(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    more = tmp_path / "more.qrels"
    more.write_text("q2 0 d1 1\nq1 0 d01 1\n")
    assert run(["validate", "one.qrels", "--qrels", str(more)]) == 2
    assert (
        f'{more}:2: error: found a document again, first on line 1 of one.qrels, in "q1 0 d01 1"'
        in capfdbinary.readouterr().out.decode()
    )


def test_standard_input_can_be_checked(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    class Stdin:
        buffer = io.BytesIO(b"q1 Q0 d01 1 1.0 a\nq1 Q0 d02 2 b a\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    assert run(["validate", "one.qrels", "-"]) == 2
    assert (
        '-:2: error: found "b" in "q1 Q0 d02 2 b a", expected a number as score (field 5)'
        in capfdbinary.readouterr().out.decode()
    )


def test_columns_can_be_named(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b,c\nq1,d01,2\nq1,d02,0\n")
    assert run(["validate", str(path)]) == 2
    assert "expected one for the query" in capfdbinary.readouterr().out.decode()
    assert run(["validate", str(path), "--columns", "query=a,document=b,grade=c"]) == 0
    assert "no problems" in capfdbinary.readouterr().out.decode()
    assert run(["validate", str(path), "--columns", "a"]) == 2
    assert capfdbinary.readouterr().err.startswith(
        b"error: --columns a: expected query=NAME,document=NAME and grade=NAME, score=NAME"
    )


def test_a_doubtful_guess_is_a_warning(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "a.csv"
    path.write_text("qid,docid,docno,rel\nq1,a,b,1\n")
    assert run(["validate", str(path), "--format", "json"]) == 0
    report = json.loads(capfdbinary.readouterr().out)
    assert (report["errors"], report["warnings"]) == (0, 1)
    assert "docno could be the document too" in report["files"][0]["doubts"][0]


def test_labels_and_scores_of_learning_to_rank(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    labels, scores = tmp_path / "a.letor", tmp_path / "scores.txt"
    labels.write_text("2 qid:1 1:0.5\n0 qid:1 1:0.1\n1 qid:2 1:0.5\n")
    scores.write_text("0.5\n0.25\n0.125\n")
    assert run(["validate", str(labels), str(scores)]) == 0
    scores.write_text("0.5\n0.25\n")
    assert run(["validate", str(labels), str(scores)]) == 2
    assert "found 2 scores, expected 3" in capfdbinary.readouterr().out.decode()


def test_real_files_have_no_problems(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    files = ["qrels.dl19-passage.txt.gz", "run.msmarco-v1-passage.bm25-default.dl19.txt.gz"]
    assert run(["validate", *(str(shared_file("data", "dl19", name)) for name in files)]) == 0
    assert (
        capfdbinary.readouterr()
        .out.decode()
        .endswith("0 errors, 0 warnings: all files can be evaluated\n")
    )
    folder = shared_file("data", "haystack-quepid")
    assert run(["validate", str(folder / "judgements.csv")]) == 2
    out = capfdbinary.readouterr().out.decode()
    # The data's own description: 13 raters, of whom several rated the same pairs.
    assert "found 13 raters ('rater01', " in out
    assert "expected one grade for a document" in out


@pytest.mark.parametrize(
    ("name", "head", "line"),
    [("bad.txt", "", "q{0} 0 d {1}\n"), ("bad.csv", "query,document,grade\n", "q{0},d,{1}\n")],
)
def test_many_bad_grades_are_counted_with_a_few_of_their_values(
    name: str, head: str, line: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    words = ("good", "bad", "fair", "poor", "none")
    path = tmp_path / name
    path.write_text(
        head + "".join(line.format(number, words[number % 5]) for number in range(360)),
        encoding="utf-8",
    )

    assert run(["validate", str(path)]) == 2

    *_, last, _, count = capfdbinary.readouterr().out.decode().splitlines()
    assert last == f'{path}: error: 357 more like this: "poor", "none", "good", "bad"'
    assert count == "360 errors, 0 warnings: not all files can be evaluated"


def test_notes_name_options_of_the_command_line(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    (tmp_path / "clicks.csv").write_text("user,item\nann,alien\n", encoding="utf-8")
    (tmp_path / "run.json").write_text('{"ann": ["alien"]}', encoding="utf-8")
    assert run(["validate", str(tmp_path / "clicks.csv"), str(tmp_path / "run.json")]) == 0
    out = capfdbinary.readouterr().out.decode()
    assert "to set the columns, use --qrels-columns user=user,item=item,grade=1" in out
    assert "columns={" not in out
