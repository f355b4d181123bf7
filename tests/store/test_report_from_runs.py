"""`report` takes judgments and runs, as `compare`, `robust` and `why` do."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
    (tmp_path / "qrels.txt").write_text(
        "".join(f"{query} 0 x 2\n" for query in QRELS), encoding="utf-8"
    )
    for name, score in (("bm25", 1), ("neural", 3)):
        lines = (f"{query} Q0 x 1 {score} t\n{query} Q0 y 2 2 t\n" for query in QRELS)
        (tmp_path / f"{name}.run").write_text("".join(lines), encoding="utf-8")

    page = ir.report(
        tmp_path / "qrels.txt", tmp_path / "bm25.run", tmp_path / "neural.run", measures="nDCG@10"
    )

    assert "neural is better than bm25" in page


def test_evaluations_one_after_the_other_are_compared() -> None:
    old, new = (
        ir.evaluate(QRELS, run, "nDCG@10", name=name) for run, name in ((OLD, "old"), (NEW, "new"))
    )

    assert "new is better than old" in ir.report(old, new)


def test_a_path_may_still_follow_a_result(tmp_path: Path) -> None:
    found = ir.evaluate(QRELS, OLD, "RR")

    assert ir.report(found, tmp_path / "page.html") == (tmp_path / "page.html").read_text(
        encoding="utf-8"
    )
    with pytest.raises(ir.OptionError, match="expected one output file"):
        ir.report(found, "a.html", path="b.html")


def test_options_of_the_other_form_are_refused() -> None:
    with pytest.raises(ir.OptionError, match=r"expected them with a result alone"):
        ir.report(QRELS, OLD, NEW, qrels=QRELS)
    with pytest.raises(ir.OptionError, match=r"names: found a result"):
        ir.report(ir.evaluate(QRELS, OLD, "RR"), names=["old"])
    with pytest.raises(
        ir.InputError, match=r"or report\(qrels, run\), report\(qrels, run_a, run_b\) or"
    ):
        ir.report(QRELS)
    with pytest.raises(ir.OptionError, match=r"convention: found a result"):
        ir.report(ir.evaluate(QRELS, OLD, "RR"), convention="lightgbm")
    with pytest.raises(ir.InputError, match="report: found group without arrays"):
        ir.report(QRELS, OLD, NEW, group=[2])
    with pytest.raises(
        ir.InputError,
        match="found one query of 2 items, expected group=, offsets= or qid= with the arrays",
    ):
        ir.report([1, 0], [0.5, 0.1], [0.1, 0.5])


def test_arrays_give_a_page_under_the_convention_asked_for() -> None:
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 4, 400)
    old, new = rng.random(400), labels + rng.random(400)
    layout = {"group": [10] * 40, "names": ["old", "new"], "measures": "nDCG@5"}

    page = ir.report(labels, old, new, convention="lightgbm", **layout)

    assert "new is better than old" in page
    assert "lightgbm" in page
    by_hand = [
        ir.evaluate(labels, run, "nDCG@5", "lightgbm", group=[10] * 40) for run in (old, new)
    ]
    difference = ir.compare(*by_hand)["nDCG@5"].difference
    assert f"{difference:+.3f}" in page
    assert (
        difference
        != ir.compare(labels, old, new, group=[10] * 40, measures="nDCG@5")["nDCG@5"].difference
    )
    found = ir.robust(
        labels, old, new, "nDCG@5", convention="lightgbm", group=[10] * 40, names=["old", "new"]
    )
    assert (found.run_a, found.run_b) == ("old", "new")
    assert "robust" in page.lower()
    assert ir.report(labels, old, measures="RR", group=[10] * 40, names=["old"]).startswith(
        "<!DOCTYPE html>"
    )


@pytest.mark.parametrize("call", [ir.compare, ir.gate])
def test_compare_and_gate_take_the_convention_of_judgments_and_runs(
    call: Callable[..., Any],
) -> None:
    both = [
        ir.evaluate(QRELS, run, ["nDCG@2"], "lightgbm", name=name, keep_unjudged=True)
        for run, name in ((OLD, "a"), (NEW, "b"))
    ]
    found = call(QRELS, OLD, NEW, convention="lightgbm", measures="nDCG@2", names=["a", "b"])
    assert str(found) == str(call(*both))
    assert str(found) != str(call(QRELS, OLD, NEW, measures="nDCG@2", names=["a", "b"]))
    with pytest.raises(
        ir.OptionError, match="convention=lightgbm: found evaluations, which have theirs"
    ):
        call(*both, convention="lightgbm")
