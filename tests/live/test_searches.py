"""`idealrank.search`: the work of the command in Python, with runs, evaluations, and the backends
that failed.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.cli import main
from idealrank.live.search_configuration import SearchConfig
from idealrank.live.search_runs import input_files

ENGINE = """
def good(text, limit): return {f"{text}-{place}": 1 / (place + 1) for place in range(limit)}
def bad(text, limit): raise ValueError("no such field")
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("engine.py").write_text(ENGINE)
    Path("queries.tsv").write_text("q1\tone\nq2\ttwo\n")
    Path("qrels.txt").write_text("q1 0 one-1 1\nq2 0 two-0 1\n")
    return tmp_path


def config(*names: str, **keys: Any) -> dict[str, Any]:
    backends = {name: {"kind": "function", "function": f"engine.py:{name}"} for name in names}
    return {"backends": backends, "queries": "queries.tsv", "limit": 3, **keys}


def test_the_evaluation_is_that_of_the_written_run(folder: Path) -> None:
    results = ir.search(config("good"), "good.run", qrels="qrels.txt")
    evaluation = results.runs["good"].evaluation
    assert evaluation is not None
    assert evaluation.mean() == ir.evaluate("qrels.txt", "good.run", ["nDCG@10"]).mean()
    assert results.failures == {}


def test_judgments_may_be_of_any_kind_and_are_needed_by_nothing(folder: Path) -> None:
    given = (
        ir.search(config("good"), Path("a.run"), qrels={"q1": {"one-1": 1}, "q2": {"two-0": 1}})
        .runs["good"]
        .evaluation
    )
    named = ir.search(config("good", qrels="qrels.txt"), "b.run").runs["good"].evaluation
    assert given is not None
    assert named is not None
    assert given.mean() == named.mean()
    assert ir.search(config("good"), "c.run").runs["good"].evaluation is None


def test_a_backend_that_fails_is_named_and_stops_no_other(folder: Path) -> None:
    results = ir.search(config("bad", "good"), "runs")
    assert list(results.runs) == ["good"]
    assert list(results.failures) == ["bad"]
    assert isinstance(results.failures["bad"], ir.BackendError)
    with pytest.raises(ir.BackendError, match="1 of 2 backends failed: bad: all 2 queries failed"):
        results.check()


def test_without_any_answer_there_is_an_error(folder: Path) -> None:
    with pytest.raises(ir.BackendError, match=r"2 of 2 backends failed: a: .*; b: "):
        ir.search(
            {
                **config(),
                "backends": {
                    name: {"kind": "function", "function": "engine.py:bad"} for name in "ab"
                },
            },
            "runs",
        )


def test_a_missing_output_is_told_in_the_words_of_python(folder: Path) -> None:
    with pytest.raises(
        ir.OptionError,
        match="configuration: found no output, expected the name of a run; pass output=, or set "
        "`output: FILE`",
    ):
        ir.search(config("good"))


INPUTS = {
    "queries": "queries.tsv",
    "vectors": "vectors.npz",
    "qrels of the configuration": "qrels.txt",
    "qrels of the call": "more-qrels.txt",
    "configuration": "search.json",
    "replay": "old.run",
    "replay in a variable": "named.run",
    "function": "engine.py",
    "another name of a file": "link.txt",
    "journal": "old",
}


@pytest.mark.parametrize("command", [False, True], ids=["python", "command"])
@pytest.mark.parametrize("output", INPUTS.values(), ids=INPUTS)
def test_no_input_is_replaced(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: bool,
    output: str,
) -> None:
    for name in ("old.run", "named.run"):
        Path(name).write_text("q1 Q0 a 1 2 x\nq2 Q0 a 1 2 x\n")
    Path("more-qrels.txt").write_text("q1 0 one-1 1\n")
    Path("old.journal.jsonl").write_text('{"query": "q1", "documents": ["a"]}\n')
    Path("link.txt").symlink_to("qrels.txt")
    np.savez("vectors.npz", ids=np.array(["q1", "q2"]), vectors=np.eye(2))
    monkeypatch.setenv("NAMED_RUN", "named.run")
    backend = {
        "old.run": {"kind": "replay", "path": "old.run"},
        "named.run": {"kind": "replay", "path": "${NAMED_RUN}"},
        "old": {"kind": "replay", "path": "old.journal.jsonl"},
    }.get(output, {"kind": "function", "function": "engine.py:good"})
    queries = {"path": "queries.tsv", "vectors": "vectors.npz"}
    Path("search.json").write_text(
        json.dumps({"backend": backend, "queries": queries, "qrels": "qrels.txt"})
    )
    qrels = "more-qrels.txt" if output == "more-qrels.txt" else None
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    message = f"{output}: found an input file of this search"
    if command:
        assert (
            main.run(
                ["search", "search.json", "-o", output, *(["--qrels", qrels] if qrels else [])]
            )
            == 2
        )
        assert f"-o {message}" in capsys.readouterr().err
    else:
        with pytest.raises(ir.OptionError, match=f"output {message}"):
            ir.search("search.json", output, qrels=qrels)
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == before


def test_several_backends_replace_no_input(folder: Path) -> None:
    Path("runs").mkdir()
    Path("runs/good.run").write_text("q1 0 one-1 1\n")
    with pytest.raises(
        ir.OptionError, match=r"output runs/good.run: found an input file of this search"
    ):
        ir.search(config("good", "bad"), "runs", qrels=Path("runs/good.run"))
    assert Path("runs/good.run").read_text() == "q1 0 one-1 1\n"


def test_a_text_that_is_no_path_is_no_error(folder: Path) -> None:
    backend = {"kind": "function", "function": "engine.py:good"}
    chosen = SearchConfig.of(
        {
            "backend": {**backend, "a": "x" * 5000, "b": ["a\0b", {"c": "engine.py"}]},
            "queries": "queries.tsv",
        }
    )
    assert input_files(chosen, None, None) == ["queries.tsv", "engine.py", "engine.py"]
