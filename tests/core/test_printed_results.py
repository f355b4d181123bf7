"""`print` of a result shows what its command prints."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from idealrank._lazy import PRINTED_BY
from tests.in_process import run as command

PYDOCS = Path(__file__).resolve().parents[2] / "examples" / "pydocs"
QRELS, BM25, MINILM, SLICES = (
    str(PYDOCS / name) for name in ("qrels.txt", "bm25.run", "minilm.run", "categories.csv")
)

RESULTS: dict[str, tuple[Callable[[], Any], list[str]]] = {
    "Advice": (lambda: ir.advise(QRELS, BM25), ["measures", "advise", QRELS, BM25]),
    "Attribution": (
        lambda: ir.why(QRELS, BM25, MINILM, "RR"),
        ["why", QRELS, BM25, MINILM, "-m", "RR"],
    ),
    "Chance": (lambda: ir.chance(QRELS, 500, ["nDCG@10", "RR"]), []),
    "DifferenceSplit": (
        lambda: ir.split_difference(QRELS, BM25, "nDCG@10", "standard", "lightgbm"),
        ["reconcile", QRELS, BM25, "--versus", "lightgbm"],
    ),
    "Evaluation": (
        lambda: ir.evaluate(QRELS, BM25),
        ["evaluate", QRELS, BM25, "--explain-method"],
    ),
    "Explanation": (lambda: ir.explain(QRELS, BM25, "q01"), []),
    "Lift": (
        lambda: ir.evaluate(QRELS, BM25, ["nDCG@10", "RR"], candidates=500).lift(),
        ["evaluate", QRELS, BM25, "-m", "nDCG@10,RR", "--candidates", "500", "--chance"],
    ),
    "Overlap": (lambda: ir.overlap(BM25, MINILM), []),
    "OverlapMatrix": (lambda: ir.overlap_matrix([BM25, MINILM]), []),
    "Reconciliation": (
        lambda: ir.reconcile(QRELS, BM25, "0.5047"),
        ["reconcile", QRELS, BM25, "--value", "0.5047"],
    ),
    "SliceMeans": (
        lambda: ir.evaluate(QRELS, BM25, "RR").by(SLICES),
        ["evaluate", QRELS, BM25, "-m", "RR", "--slices", SLICES],
    ),
    "SystemComparison": (
        lambda: ir.seeds(QRELS, [BM25, MINILM], [MINILM, MINILM], measures="RR"),
        [],
    ),
}


def words(text: str) -> set[str]:
    return set(text.split())


def test_every_class_that_prints_is_tried() -> None:
    assert set(RESULTS) == set(PRINTED_BY)


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_prints_what_its_command_prints(name: str) -> None:
    make, arguments = RESULTS[name]
    text = str(make())
    assert not text.startswith(name)
    assert max(map(len, text.splitlines())) <= 110
    if arguments:
        code, out, _ = command(arguments)
        assert code == 0
        assert len(words(text) - words(out)) <= len(words(text)) / 10


def test_an_evaluation_prints_its_table_and_is_one_line_in_a_list() -> None:
    evaluation = ir.evaluate(QRELS, BM25, "nDCG@10")

    printed = str(evaluation).splitlines()
    assert [line.split() for line in printed[:2]] == [["run", "nDCG@10"], ["bm25", "0.5047"]]
    assert any(line.startswith("convention standard [") for line in printed)
    assert any(line.startswith("coverage ") for line in printed)
    assert "\n" not in repr(evaluation)
