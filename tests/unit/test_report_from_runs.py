"""`report` takes judgments and runs, as `compare`, `robust` and `why` do."""

import re
from pathlib import Path

import numpy as np
import pytest

import idealrank as ir

QRELS = {f"q{number}": {"x": 2, "z": 1} for number in range(8)}
OLD = {query: ["y", "z", "x"] for query in QRELS}
NEW = {query: ["x", "z", "y"] for query in QRELS}


@pytest.fixture(autouse=True)
def _reproducible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


def test_judgments_and_two_runs_give_the_page_of_their_comparison() -> None:
    runs = [ir.Run(OLD, name="old"), ir.Run(NEW, name="new")]
    both = [ir.evaluate(QRELS, run, ["nDCG@10", "RR"], keep_unjudged=True) for run in runs]
    by_hand = ir.report(ir.compare(*both), evaluations=both, qrels=QRELS, runs=runs)

    page = ir.report(QRELS, OLD, NEW, measures=["nDCG@10", "RR"], names=["old", "new"])

    assert "new is better than old" in page
    assert re.findall(r"<h2[^>]*>(.*?)</h2>", page) == re.findall(r"<h2[^>]*>(.*?)</h2>", by_hand)


def test_judgments_and_one_run_give_the_page_of_its_evaluation(tmp_path: Path) -> None:
    page = ir.report(QRELS, OLD, measures="RR", path=tmp_path / "page.html")

    run = ir.Run(OLD)
    assert page == ir.report(ir.evaluate(QRELS, run, "RR"), qrels=QRELS, runs=run)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page


def test_three_runs_are_compared_pair_by_pair() -> None:
    page = ir.report(QRELS, OLD, NEW, {query: ["x"] for query in QRELS}, measures="nDCG@10")

    assert "run 1" in page
    assert "run 3" in page


def test_files_are_read_and_named_after_themselves(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 x 2\n" for query in QRELS), encoding="utf-8")
    for name, score in (("bm25", 1), ("neural", 3)):
        lines = (f"{query} Q0 x 1 {score} t\n{query} Q0 y 2 2 t\n" for query in QRELS)
        (tmp_path / f"{name}.run").write_text("".join(lines), encoding="utf-8")

    page = ir.report(tmp_path / "qrels.txt", tmp_path / "bm25.run", tmp_path / "neural.run", measures="nDCG@10")

    assert "neural is better than bm25" in page


def test_evaluations_one_after_the_other_are_compared() -> None:
    old, new = (ir.evaluate(QRELS, run, "nDCG@10", name=name) for run, name in ((OLD, "old"), (NEW, "new")))

    assert "new is better than old" in ir.report(old, new)


def test_a_path_may_still_follow_a_result(tmp_path: Path) -> None:
    found = ir.evaluate(QRELS, OLD, "RR")

    assert ir.report(found, tmp_path / "page.html") == (tmp_path / "page.html").read_text(encoding="utf-8")
    with pytest.raises(ir.OptionError, match="expected one output file"):
        ir.report(found, "a.html", path="b.html")


def test_options_of_the_other_form_are_refused() -> None:
    with pytest.raises(ir.OptionError, match=r"expected them with a result alone"):
        ir.report(QRELS, OLD, NEW, qrels=QRELS)
    with pytest.raises(ir.OptionError, match=r"names: found a result"):
        ir.report(ir.evaluate(QRELS, OLD, "RR"), names=["old"])
    with pytest.raises(ir.InputError, match=r"or report\(qrels, run\) or report\(qrels, run_a, run_b\)"):
        ir.report(QRELS)
    with pytest.raises(ir.InputError, match=r"qrels: found arrays"):
        ir.report(np.array([1, 0]), np.array([0.5, 0.1]))
