"""Gain measures of trec_eval, against its outputs and pytrec_eval."""

import pytest
import pytrec_eval

import idealrank as ir
from tests.golden.harness import quietly
from tests.parity.test_bpref import collection
from tests.parity.trec_folder import (
    OUTPUTS,
    differences,
    dl19_file,
    dl19_output,
    folder_file,
    folder_output,
    offered,
)

PRINTED = {"G", "binG", "Rndcg", "ndcg_rel"}


@pytest.mark.parametrize(
    "name", [name for name in OUTPUTS if name not in ("out.test", "out.comment.test")]
)
def test_outputs_of_trec_eval_10(name: str) -> None:
    """Every value at its printed digits, per query and in the summary."""
    printed, made = folder_output(name), OUTPUTS[name]
    measures = {
        text: measure for text, measure in offered(printed, rel=made.rel).items() if text in PRINTED
    }
    assert set(measures) == PRINTED
    evaluation = ir.evaluate(
        folder_file(made.qrels), folder_file(made.run), measures.values(), "trec_eval-10"
    )
    assert differences(printed, measures, evaluation) == []


@pytest.mark.parametrize(
    ("version", "convention"), [("9.0.4", "trec_eval-9"), ("10", "trec_eval-10")]
)
@pytest.mark.parametrize("level", [1, 2])
def test_dl19(version: str, convention: str, level: int) -> None:
    """43 queries with four grades; the relevance level moves binG, and Rndcg where nothing reaches
    it.
    """
    printed = dl19_output(version, level)
    measures = {
        text: measure
        for text, measure in offered(printed, rel=float(level)).items()
        if text in PRINTED
    }
    assert set(measures) == PRINTED
    files = (
        dl19_file("qrels.dl19-passage.txt.gz"),
        dl19_file("run.msmarco-v1-passage.bm25-default.dl19.txt.gz"),
    )
    evaluation = ir.evaluate(*files, measures.values(), f"{convention},missing=zero")
    assert differences(printed, measures, evaluation) == []


@pytest.mark.parametrize("level", [1, 2])
def test_pytrec_eval_on_lists_of_every_length(level: int) -> None:
    """To 1e-12: lists shorter than the relevant documents, longer by one and by more, with ties and
    negative grades.
    """
    for seed in range(60):
        qrels, run = collection(seed)
        expected = pytrec_eval.RelevanceEvaluator(qrels, PRINTED, relevance_level=level).evaluate(
            run
        )
        measures = {name: ir.parse_measure(name) for name in PRINTED}
        measures |= {"binG": ir.BinG(rel=level), "Rndcg": ir.RNDCG(rel=level)}
        found = quietly(ir.evaluate, qrels, run, measures.values(), "trec_eval-9").per_query()
        for query, values in expected.items():
            for name, measure in measures.items():
                assert found[query][str(measure)] == pytest.approx(values[name], abs=1e-12), (
                    seed,
                    query,
                    name,
                )
