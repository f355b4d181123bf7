"""What users do that nobody meant: odd arguments, functions of one name, grades below the threshold, values sent to another process."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir

QRELS = {"q1": {"a": 1, "b": 2}, "q2": {"ü": 1}}
RUN = {"q1": {"b": 0.5, "a": 0.5}, "q2": {"x": 2.0, "ü": 1.0}}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ir.evaluate(QRELS, RUN, threads=-1), "threads=-1: expected a whole number, 0 for all cores"),
        (lambda: ir.evaluate(QRELS, RUN, threads="a"), "threads='a': expected a whole number"),  # type: ignore[arg-type]
        (lambda: ir.ndcg([1, 0], [1, 2], threads=1.5), "threads=1.5: expected a whole number"),  # type: ignore[arg-type]
        (lambda: ir.evaluate(QRELS, RUN, ["AP"], None), "convention: found NoneType, expected the name of one"),  # type: ignore[arg-type]
        (lambda: ir.ndcg([1], [1], ties=[]), r"ties=\[\]: expected one of docid"),  # type: ignore[arg-type]
        (lambda: ir.read_qrels("a\0b"), "found a NUL byte in a path"),
        (lambda: ir.ndcg([1, 2], [1, 2], gain=lambda grade: 1 if grade > 0 else 0), "expected a vectorised function"),
    ],
)
def test_an_odd_argument_is_named(call: Callable[[], Any], message: str) -> None:
    """In our words, not those of a library below."""
    with pytest.raises(ir.IdealrankError, match=message):
        call()


def test_means_are_found_by_any_spelling() -> None:
    """By `in` and `get` as by brackets."""
    means = ir.evaluate(QRELS, RUN, ["nDCG@10", "AP"]).mean()
    assert "ndcg_cut_10" in means
    assert "map" in means
    assert ir.AP() in means
    assert "RR" not in means
    assert "no such measure" not in means
    assert means.get("MAP") == means["AP"]
    assert means.get("RR", 7.0) == 7.0


def test_functions_of_one_name_have_fingerprints_of_their_own() -> None:
    """And the same function, written twice, has one."""
    halves, thirds, again = (ir.Convention.of("standard", gain=gain) for gain in (lambda g: g / 2, lambda g: g / 3, lambda g: g / 2))
    assert halves.fingerprint != thirds.fingerprint
    assert halves.fingerprint == again.fingerprint
    scale = {factor: ir.Convention.of("standard", gain=lambda g, by=factor: g * by).fingerprint for factor in (2, 3)}
    assert scale[2] != scale[3]


def test_grades_below_the_threshold_are_pointed_out() -> None:
    """A probability as grade is relevant to nobody who asks for 1."""
    with pytest.warns(ir.IdealrankWarning, match=r"the best grade of qrels is 0.9, below the threshold rel=1 .* AP\(rel=0.9\)"):
        ir.evaluate({"q": {"a": 0.9, "b": 0.1}}, {"q": ["a", "b"]}, ["AP", "nDCG"])
    with pytest.warns(ir.IdealrankWarning, match="the best grade of the labels is 0.5"):
        ir.evaluate([0.5, 0.25], [1, 2], ["RR"])
    ir.evaluate({"q": {"a": 0.9, "b": 0.1}}, {"q": ["a", "b"]}, ["AP(rel=0.5)", "nDCG"])
    ir.evaluate({"q": {"a": 0}}, {"q": ["a"]}, ["AP"])


def test_tables_travel_to_another_process(tmp_path: Path) -> None:
    """Judgments and runs, in memory or in a file: the same numbers there."""
    path = tmp_path / "a.run"
    path.write_text("".join(f"{q} Q0 {d} 1 {s} t\n" for q, scores in RUN.items() for d, s in scores.items()), encoding="utf-8")
    here = ir.evaluate(QRELS, RUN)
    qrels = pickle.loads(pickle.dumps(ir.Qrels(QRELS)))
    assert dict(qrels["q2"]) == {"ü": 1.0}
    for run in (ir.Run(RUN), ir.read_run(path)):
        there = ir.evaluate(qrels, pickle.loads(pickle.dumps(run)))
        np.testing.assert_array_equal(there.values, here.values)
    assert pickle.loads(pickle.dumps(ir.read_run(path))).name == "a"


def test_values_cannot_be_changed_by_accident() -> None:
    """An evaluation is what was computed."""
    evaluation = ir.evaluate(QRELS, RUN)
    with pytest.raises(ValueError, match="read-only"):
        evaluation.values[0, 0] = 1.0
    assert evaluation.merge(ir.evaluate({"q3": {"a": 1}}, ir.Run({"q3": ["a"]}, name="late"))).name == "run+late"
