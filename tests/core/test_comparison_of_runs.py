"""`compare` and `gate` of judgments and runs give the answer of evaluations with unjudged
documents, as the commands do.
"""

from typing import Any

import polars as pl
import pytest

import idealrank as ir
from idealrank.errors import InputError
from tests.conftest import PYDOCS

PATHS = [str(PYDOCS / name) for name in ("qrels.txt", "bm25.run", "minilm.run")]
QRELS = {f"q{number}": {"x": 1, "y": 0} for number in range(8)}
LOW, HIGH = {query: ["y", "z", "x"] for query in QRELS}, {query: ["x", "y"] for query in QRELS}


def evaluated(measures: Any) -> list[ir.Evaluation]:
    return [
        ir.evaluate(PATHS[0], path, ir.with_companions(measures), keep_unjudged=True)
        for path in PATHS[1:]
    ]


def test_paths_are_compared_as_their_evaluations_are() -> None:
    assert (
        ir.compare(*PATHS, measures=["nDCG@10", "P@10"]).as_dict()
        == ir.compare(*evaluated(["nDCG@10", "P@10"])).as_dict()
    )


def test_dicts_are_compared_by_the_default_measures() -> None:
    found = ir.compare(QRELS, LOW, HIGH, LOW)

    assert found.names == ("run 1", "run 2", "run 3")
    assert list(found.means) == ["nDCG@10", "nDCG", "AP", "RR", "P@10", "R@100"]
    assert found.pair("run 1", "run 2")["RR"].tipping is not None


def test_frames_are_compared() -> None:
    qrels = pl.DataFrame(
        [
            {"query": q, "doc": d, "grade": grade}
            for q, docs in QRELS.items()
            for d, grade in docs.items()
        ]
    )
    runs = [
        pl.DataFrame(
            [
                {"query": q, "doc": d, "score": -float(rank)}
                for q, docs in run.items()
                for rank, d in enumerate(docs)
            ]
        )
        for run in (LOW, HIGH)
    ]
    assert (
        ir.compare(qrels, *runs, measures="RR").as_dict()
        == ir.compare(QRELS, LOW, HIGH, measures="RR").as_dict()
    )


def test_arrays_are_compared() -> None:
    labels = [[1, 0]] * 8
    assert (
        ir.compare(labels, [[0.1, 0.2]] * 8, [[0.2, 0.1]] * 8, measures="RR")["RR"].verdict
        == "better"
    )


def test_a_gate_of_paths_decides_as_that_of_evaluations() -> None:
    after, before = evaluated(["nDCG@10", "P@10"])
    contract = ir.Contract(query="q01", measure="RR")
    found = ir.gate(*PATHS, also="P@10")

    assert found.as_dict() == ir.gate(after, before, also="P@10").as_dict()
    assert [check.measure for check in ir.gate(*PATHS, contracts=[contract]).checks] == ["nDCG@10"]


def test_a_gate_of_dicts_names_the_run_and_its_baselines() -> None:
    found = ir.gate(QRELS, HIGH, LOW, LOW, measures="RR")

    assert (found.run, found.baselines, found.passed) == ("run", ("baseline", "baseline (2)"), True)


@pytest.mark.parametrize(
    ("call", "given", "form"),
    [
        (ir.compare, (QRELS, HIGH), r"compare\(qrels, run_a, run_b\)"),
        (ir.compare, (ir.evaluate(QRELS, HIGH, "RR"), HIGH), r"compare\(qrels, run_a, run_b\)"),
        (ir.gate, (QRELS, HIGH), r"gate\(qrels, run, baseline\)"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_the_form_to_write(
    call: Any, given: Any, form: str
) -> None:
    with pytest.raises(
        InputError,
        match=rf"^{call.__name__}: found .*; expected {form}, .*scores.*, group=...\) or "
        rf"{call.__name__}\(evaluation",
    ):
        call(*given)
