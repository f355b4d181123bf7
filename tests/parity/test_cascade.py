"""ERR and RBP against gdeval, trec_eval, ir_measures' own test cases, and what trec_eval 10 said of
small inputs.
"""

import json
import shutil
from typing import Any

import ir_measures
import numpy as np
import pytest

import idealrank as ir
from tests.conftest import shared_file
from tests.parity.trec_folder import (
    OUTPUTS,
    differences,
    dl19_file,
    dl19_output,
    folder_file,
    folder_output,
)

TREC = {"rbp": ir.parse_measure("trec_rbp"), "rbp_resid": ir.parse_measure("rbp_resid")}


def test_the_spellings_of_trec_eval() -> None:
    assert {
        "rbp": ir.RBP(p=0.9, max_rel="query"),
        "rbp_resid": ir.RBP(p=0.9, of="residual-seen"),
    } == TREC
    assert {name: measure.trec_name for name, measure in TREC.items()} == {
        name: name for name in TREC
    }
    assert ir.RBP(p=0.95, max_rel="query").trec_name == "rbp_0.95"
    assert ir.parse_measure("rbp") == ir.RBP()


def test_a_threshold_which_rbp_of_trec_eval_lacks_keeps_the_measures_own_text() -> None:
    names = {rel: ir.RBP(p=0.9, max_rel="query", rel=rel).trec_name for rel in (0, 0.5, 2)}
    assert names == {
        0: "rbp",
        0.5: "RBP(max_rel=query,p=0.9,rel=0.5)",
        2: "RBP(max_rel=query,p=0.9,rel=2)",
    }
    assert ir.RBP(p=0.9, of="residual-seen", rel=2).trec_name == "rbp_resid"
    runs = {"q": ["b", "a"]}
    without, with_threshold = (
        ir.evaluate({"q": {"a": 2, "b": 1}}, runs, ir.RBP(p=0.9, max_rel="query", rel=rel))
        for rel in (0, 2)
    )
    assert list(without.mean().values()) > list(with_threshold.mean().values())


@pytest.mark.parametrize("name", ["out.test.a", "out.test.aq", "out.test.aqc", "out.test.aql"])
def test_trec_evals_own_folder(name: str) -> None:
    """Every query and the mean, printed digits; -l does not act on them."""
    printed, made = folder_output(name), OUTPUTS[name]
    assert {("rbp", "all"), ("rbp_resid", "all")} <= set(printed)
    evaluation = ir.evaluate(
        folder_file(made.qrels), folder_file(made.run), TREC.values(), "trec_eval-10"
    )
    assert differences(printed, TREC, evaluation) == []


@pytest.mark.parametrize("level", [1, 2])
def test_dl19_per_query(level: int) -> None:
    """43 queries of real judgments, twice."""
    printed = dl19_output("10", level)
    assert sum(name == "rbp" for name, _ in printed) == 44
    run, qrels = (
        dl19_file("run.msmarco-v1-passage.bm25-default.dl19.txt.gz"),
        dl19_file("qrels.dl19-passage.txt.gz"),
    )
    assert differences(printed, TREC, ir.evaluate(qrels, run, TREC.values(), "trec_eval-10")) == []


@pytest.mark.parametrize("name", TREC)
def test_small_inputs_that_trec_eval_10_was_run_on(name: str) -> None:
    """Unreturned, negative and all-zero judgments, at full precision."""
    content = json.loads(shared_file("golden", "conventions.json").read_text())
    records = [record for record in content["records"] if record["call"] == f"-m {name}"]
    assert len(records) >= 4
    for record in records:
        ((query, rows),) = content["fixtures"][record["fixture"]]["queries"].items()
        qrels = {query: {document: grade for document, _, grade in rows}}
        run = {query: {document: score for document, score, _ in rows if score is not None}}
        evaluation = ir.evaluate(qrels, run, [TREC[name]], "trec_eval-10")
        assert evaluation.mean()[str(TREC[name])] == pytest.approx(record["value"], abs=1e-14), (
            record["fixture"]
        )


def cases(*names: str) -> list[dict[str, Any]]:
    """Half of ir_measures' own test values, of these measures."""
    content = json.loads(shared_file("data", "peer-cases", "ir_measures_cases.json").read_text())
    found = [
        case
        for case in content["cases"]
        if case["measure"].partition("(")[0].partition("@")[0] in names
    ]
    return [{**case, "rows": content["data"][case["data"]]} for case in found]


def value_of(case: dict[str, Any]) -> float:
    """Our value of a case, under trec_eval's order of ties (C/W/L measures: as given, which only
    ties could tell).
    """
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    for query, document, grade, *_ in case["rows"][0]:
        qrels.setdefault(query, {})[document] = grade
    for query, document, score in case["rows"][1]:
        run.setdefault(query, {})[document] = score
    measure = ir.parse_measure(case["measure"])
    evaluation = ir.evaluate(
        qrels,
        run,
        [measure],
        "standard,ties=input" if case["provider"] == "cwl_eval" else "standard",
    )
    if case["query"] == "all":
        return evaluation.mean()[str(measure)]
    value = evaluation.per_query()[case["query"]][str(measure)]
    assert value is not None
    return value


def test_ir_measures_own_cases() -> None:
    found = cases("ERR", "RBP")
    assert len(found) >= 5
    assert [
        case for case in found if value_of(case) != pytest.approx(case["expected"], abs=case["tol"])
    ] == []


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl program")
@pytest.mark.parametrize("cutoff", [1, 3, 20])
def test_gdeval_live(cutoff: int) -> None:
    """gdeval.pl 1.2a through ir_measures: grades -1 to 4, unjudged documents, ties by document id;
    five decimals.
    """
    rng = np.random.default_rng(cutoff)
    qrels = {
        str(q): {f"d{d}": int(g) for d, g in enumerate(rng.integers(-1, 5, 12))}
        for q in range(1, 30)
    }
    run = {q: {f"d{d}": float(s) for d, s in enumerate(rng.integers(0, 12, 16))} for q in qrels}
    theirs = {
        m.query_id: m.value
        for m in ir_measures.gdeval.iter_calc([ir_measures.ERR @ cutoff], qrels, run)
    }
    ours = ir.evaluate(qrels, run, [ir.ERR(cutoff=cutoff)]).per_query()
    assert len(theirs) == 29
    assert {q: f"{v[f'ERR@{cutoff}']:.5f}" for q, v in ours.items()} == {
        q: f"{v:.5f}" for q, v in theirs.items()
    }


def test_a_grade_above_the_scale_is_an_error() -> None:
    """As in gdeval, which stops at it."""
    with pytest.raises(ir.InputError, match=r"found grade 5, expected at most 4"):
        ir.evaluate({"q": {"a": 5}}, {"q": ["a"]}, [ir.ERR()])
