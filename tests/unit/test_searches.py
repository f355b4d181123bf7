"""`idealrank.search`: the work of the command in Python, with runs, evaluations, and the backends that failed."""

from pathlib import Path
from typing import Any

import pytest

import idealrank as ir

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
    given = ir.search(config("good"), Path("a.run"), qrels={"q1": {"one-1": 1}, "q2": {"two-0": 1}}).runs["good"].evaluation
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
        ir.search({**config(), "backends": {name: {"kind": "function", "function": "engine.py:bad"} for name in "ab"}}, "runs")


def test_a_missing_output_is_told_in_the_words_of_python(folder: Path) -> None:
    with pytest.raises(
        ir.OptionError, match="configuration: found no output, expected the name of a run; pass output=, or set `output: FILE`"
    ):
        ir.search(config("good"))
