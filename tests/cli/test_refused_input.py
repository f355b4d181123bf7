"""Input that no file should hold ends as an error of the input, with code 2 and one line, never as
a fault of idealrank.
"""

import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idealrank.cli import main
from idealrank.errors import FileFormatError
from idealrank.io.texts import read_texts
from tests.cli.terminal import DATA, Said, idealrank

Say = Callable[..., Said]
QRELS, BM25, NEURAL = (str(DATA / name) for name in ("qrels.txt", "bm25.run", "neural.run"))
QRELS_TYPED, BM25_TYPED, NEURAL_TYPED = map(shlex.quote, (QRELS, BM25, NEURAL))
PYTHON = shlex.quote(sys.executable)


def refused(say: Say, folder: Path, command: str, words: str) -> None:
    said = say(*shlex.split(command), cwd=folder)
    assert (said.code, "Traceback" in said.err) == (2, False), said.err
    assert words in said.err + said.out


def deep(depth: int = 1500) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize(
    "text",
    [deep(), deep() + '\n{"q": {"d": 1}}\n', "[" * 1500 + "]" * 1500, '{"q": {"d": 1}}\n' + deep()],
)
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a"])
def test_json_nested_too_deeply(say: Say, tmp_path: Path, text: str, name: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    for command in ("evaluate", "validate"):
        assert say(command, name, BM25, cwd=tmp_path).code == 2
    with pytest.raises(FileFormatError):
        read_texts(tmp_path / name)


def test_grades_beyond_64_bits_are_validated(say: Say, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        f'{{"q1": {{"d1": {2**64}, "d2": {2**70}}}}}', encoding="utf-8"
    )
    assert say("validate", "a.json", cwd=tmp_path).code == 0


@pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.arrows"])
def test_column_names_that_are_not_utf_8(say: Say, tmp_path: Path, name: str) -> None:
    table = pa.table({"qid": ["q"], "docid": ["d"], "rel": [1], "NAMED": [1]})
    path = tmp_path / name
    if name == "a.parquet":
        pq.write_table(table, path)
    else:
        with (
            pa.OSFile(str(path), "wb") as file,
            (pa.ipc.new_file if name == "a.arrow" else pa.ipc.new_stream)(
                file, table.schema
            ) as writer,
        ):
            writer.write_table(table)
    path.write_bytes(path.read_bytes().replace(b"NAMED", b"N\xff\xfeED"))
    refused(
        say,
        tmp_path,
        f"evaluate {name} {BM25_TYPED}",
        f"{name}: found column names that are not UTF-8, expected UTF-8",
    )
    refused(say, tmp_path, f"validate {name}", "found column names that are not UTF-8")


def test_links_that_lead_round_in_a_circle(say: Say, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "loop.html").symlink_to("loop.html")
    words = "found a circle of links, expected a folder"
    for command in ("-o loop", "--store loop", "-o loop --report loop.html", "--report loop.html"):
        refused(say, tmp_path, f"evaluate {QRELS_TYPED} {BM25_TYPED} {command}", words)
    refused(
        say,
        tmp_path,
        f"gate {QRELS_TYPED} {BM25_TYPED} --baseline {NEURAL_TYPED} --junit loop",
        words,
    )
    refused(say, tmp_path, f"evaluate loop {BM25_TYPED}", "loop: cannot be read")


@pytest.mark.parametrize(
    "command",
    ["evaluate Q A", "compare Q A B", "robust Q A B", "why Q A B", "reconcile Q A --value 0.5"],
)
def test_values_whose_sum_is_no_number(say: Say, tmp_path: Path, command: str) -> None:
    (tmp_path / "Q").write_text("q1 0 d1 1.5e308\nq2 0 d1 1.5e308\n", encoding="utf-8")
    (tmp_path / "A").write_text("q1 Q0 d1 1 1 t\nq2 Q0 d1 1 1 t\n", encoding="utf-8")
    (tmp_path / "B").write_text("q1 Q0 d2 1 1 t\nq2 Q0 d1 1 1 t\n", encoding="utf-8")
    refused(say, tmp_path, f"{command} -m DCG@1", "larger than a number can be (1.8e308)")


def test_one_value_near_the_largest_number_is_fine(say: Say, tmp_path: Path) -> None:
    (tmp_path / "Q").write_text("q1 0 d1 1.5e308\n", encoding="utf-8")
    (tmp_path / "A").write_text("q1 Q0 d1 1 1 t\n", encoding="utf-8")
    assert (
        say("evaluate", "Q", "A", "-m", "DCG@1", "--format", "csv", cwd=tmp_path)
        .out.splitlines()[1]
        .split(",")[-2]
        == "1.5e+308"
    )


@pytest.mark.parametrize(
    "text", ["margin = " + "9" * 5000, "a = " + "[" * 3000 + "]" * 3000, "\ufeff[tool", "a = \x00"]
)
def test_a_policy_file_that_cannot_be_read(say: Say, tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"[tool.idealrank.gate]\n{text}\n", encoding="utf-8")
    refused(
        say,
        tmp_path,
        f"gate {QRELS_TYPED} {BM25_TYPED} --baseline {NEURAL_TYPED}",
        "pyproject.toml: found a file that is not TOML",
    )


def test_names_that_have_no_utf_8_form(say: Say, tmp_path: Path) -> None:
    assert say("evaluate", QRELS, BM25, "--store", "results", cwd=tmp_path).code == 0
    refused(
        say,
        tmp_path,
        "store sql \udcff --store results",
        "sql: found '\\udcff', text that has no UTF-8 form",
    )
    refused(
        say,
        tmp_path,
        f"evaluate {'x' * 5000} {BM25_TYPED}",
        "cannot be read: File name too long",
    )
    refused(
        say,
        tmp_path,
        f"evaluate \ud800 {BM25_TYPED}",
        "found half a surrogate pair in a path",
    )
    refused(
        say,
        tmp_path,
        f"explain {QRELS_TYPED} {BM25_TYPED} --query \ud800",
        "found in neither the judgments nor the run",
    )


def test_group_sizes_that_are_infinite(say: Say, tmp_path: Path) -> None:
    (tmp_path / "a.letor").write_text("1 1:1\n0 1:2\n", encoding="utf-8")
    (tmp_path / "a.letor.query").write_text("inf\n", encoding="utf-8")
    (tmp_path / "a.scores").write_text("1\n2\n", encoding="utf-8")
    refused(
        say,
        tmp_path,
        "evaluate a.letor a.scores",
        'a.letor.query:1: found "inf", expected a group size',
    )


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("can't start new thread"), "not enough memory, or too many threads"),
        (
            ImportError("x.so: failed to map segment from shared object"),
            "failed to map segment from shared object; is there enough memory",
        ),
    ],
)
def test_a_system_without_memory_or_threads_is_said_in_a_line(
    error: Exception, words: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """No fault of the input, so the code is 70; nothing for a traceback to tell either."""

    def fail(_: object) -> None:
        raise error

    monkeypatch.setattr(main, "_dispatch", fail)
    assert main.run(["evaluate"]) == 70
    said = capfd.readouterr().err
    assert words in said
    assert "Traceback" not in said


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the address space is the system's")
def test_a_library_that_does_not_fit_is_not_said_to_be_missing(tmp_path: Path) -> None:
    """The drawing library is installed; under a tight limit it cannot be mapped."""
    command = (
        f"ulimit -c 0; ulimit -v 300000; exec {PYTHON} -m idealrank evaluate {QRELS_TYPED} "
        f"{BM25_TYPED} --report {tmp_path}/a.html"
    )
    ended = subprocess.run(
        ["bash", "-c", command],
        check=False,
        capture_output=True,
        text=True,
        env={"OPENBLAS_NUM_THREADS": "1"},
    )
    assert "pip install" not in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.returncode in (2, 70), ended


@pytest.mark.spread(1)
@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the address space is the system's")
@pytest.mark.parametrize("option", ["--report", "--figures"])
def test_a_drawing_library_without_room_is_found_out_before_the_work(
    tmp_path: Path, option: str
) -> None:
    """Its engine reserves more addresses than the limit allows, and would end the process with a
    signal.
    """
    command = (
        f"ulimit -c 0; ulimit -v 4000000; exec {PYTHON} -m idealrank compare {QRELS_TYPED} "
        f"{BM25_TYPED} {NEURAL_TYPED} {option} {tmp_path}/a.html"
    )
    ended = subprocess.run(
        ["bash", "-c", command],
        check=False,
        capture_output=True,
        text=True,
        env={"OPENBLAS_NUM_THREADS": "1"},
    )
    assert ended.returncode == 2, ended
    assert "found an address space limited to 3.8 GiB (ulimit -v)" in " ".join(ended.stderr.split())
    assert ended.stdout == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_limits_of_a_handful_of_documents(say: Say, tmp_path: Path) -> None:
    """Where a sample drawn again has all its documents at one place, no line can be laid through
    it; their share is a level.
    """
    (tmp_path / "run.json").write_text(
        '{"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1, "d3": 1}}', encoding="utf-8"
    )
    said = say("theory", "limits", QRELS, "run.json", "--length", "1000", cwd=tmp_path)
    assert said.code == 0, said.err


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
def test_a_damaged_table_is_one_line_to_the_end_of_the_process(kind: str) -> None:
    """The kernel reported what the error still held when the process ended: mapped files."""
    said = idealrank("evaluate", "qrels.txt", "bm25.run", "--input-format", kind)
    assert said.code == 2
    assert said.err.startswith("error: qrels.txt: found data that cannot be read ")
    assert said.err.count("\n") == 1
