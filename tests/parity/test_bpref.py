"""Measures that tell judged from unjudged documents, against trec_eval's outputs, pytrec_eval and
ir_measures.
"""

import random

import ir_measures
import pytest
import pytrec_eval

import idealrank as ir
from tests.golden.harness import quietly
from tests.parity.trec_folder import (
    OUTPUTS,
    differences,
    dl19_file,
    dl19_output,
    folder_file,
    folder_output,
    offered,
)

PRINTED = {
    "bpref",
    "gm_bpref",
    "infAP",
    "num_nonrel_judged_ret",
    "utility",
    "unj_5",
    "unj_10",
    "unj_20",
}
LIVE = ("bpref", "infAP", "num_nonrel_judged_ret", "utility")
Table = dict[str, dict[str, float]]


def collection(seed: int, *, top: float = 1.0) -> tuple[dict[str, dict[str, int]], Table]:
    """Queries with ties, documents without a judgment, some pooled but not judged, and relevant
    ones that were not returned.
    """
    rng = random.Random(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: Table = {}
    for query in map(str, range(8)):
        documents = [f"d{number}" for number in rng.sample(range(60), rng.randint(1, 25))]
        run[query] = {document: round(rng.uniform(0, top), 1) for document in documents}
        pool = [document for document in documents if rng.random() < 0.7] + [
            f"m{number}" for number in range(rng.randint(1, 4))
        ]
        qrels[query] = {document: rng.choice((-2, -1, 0, 0, 0, 1, 1, 2, 3)) for document in pool}
        # a query of negative grades alone hangs trec_eval 9
        qrels[query]["m0"] = rng.choice((0, 1))
    return qrels, run


@pytest.mark.parametrize("name", [name for name in OUTPUTS if name != "out.comment.test"])
def test_outputs_of_trec_eval_10(name: str) -> None:
    """Every value at its printed digits, per query and in the summary."""
    printed, made = folder_output(name), OUTPUTS[name]
    measures = {
        text: measure for text, measure in offered(printed, rel=made.rel).items() if text in PRINTED
    }
    assert set(measures) == (PRINTED if name != "out.test" else {"bpref"})
    evaluation = ir.evaluate(
        folder_file(made.qrels), folder_file(made.run), measures.values(), "trec_eval-10"
    )
    assert differences(printed, measures, evaluation) == []


@pytest.mark.parametrize(
    ("version", "convention"), [("9.0.4", "trec_eval-9"), ("10", "trec_eval-10")]
)
@pytest.mark.parametrize("level", [1, 2])
def test_dl19(version: str, convention: str, level: int) -> None:
    """43 queries, graded, a thousand documents each."""
    printed = dl19_output(version, level)
    measures = {
        text: measure
        for text, measure in offered(printed, rel=float(level)).items()
        if text in PRINTED
    }
    assert set(measures) >= PRINTED - {"unj_5", "unj_10", "unj_20"}
    files = (
        dl19_file("qrels.dl19-passage.txt.gz"),
        dl19_file("run.msmarco-v1-passage.bm25-default.dl19.txt.gz"),
    )
    evaluation = ir.evaluate(*files, measures.values(), f"{convention},missing=zero")
    assert differences(printed, measures, evaluation) == []


def test_strings_of_grades() -> None:
    """Grades, pooled but unjudged documents, those outside the pool, and an empty list."""
    compared = 0
    for name, text in (
        ("out.test.aq", "relstring"),
        ("out.test.aqc", "relstring"),
        ("out.test.aql", "relstring_20"),
    ):
        printed, made = folder_output(name), OUTPUTS[name]
        evaluation = ir.evaluate(
            folder_file(made.qrels), folder_file(made.run), [text], "trec_eval-10"
        )
        found = dict(
            zip(evaluation.queries, evaluation.texts[str(ir.parse_measure(text))], strict=True)
        )
        for query, letters in found.items():
            assert printed[text, query] == letters
            compared += 1
    assert compared == 9


def test_utility_with_coefficients() -> None:
    """-mutility.2,-1,0,0."""
    printed = folder_output("out.test.meas_params")
    measures = {"utility_2,-1,0,0": ir.Utility(a=2, b=-1, c=0, d=0)}
    assert measures["utility_2,-1,0,0"].trec_name in {name for name, _ in printed}
    evaluation = ir.evaluate(
        folder_file("qrels.test"), folder_file("results.test"), measures.values(), "trec_eval-10"
    )
    assert differences(printed, measures, evaluation) == []


@pytest.mark.parametrize("level", [1, 2])
def test_pytrec_eval_with_ties_and_pooled_but_unjudged_documents(level: int) -> None:
    """To 1e-12, at both relevance levels."""
    for seed in range(40):
        qrels, run = collection(seed)
        expected = pytrec_eval.RelevanceEvaluator(qrels, set(LIVE), relevance_level=level).evaluate(
            run
        )
        measures = {name: ir.parse_measure(name) for name in LIVE}
        measures = {name: type(measure)(rel=level) for name, measure in measures.items()}  # type: ignore[call-arg]
        found = quietly(ir.evaluate, qrels, run, measures.values(), "trec_eval-9").per_query()
        for query, values in expected.items():
            for name, measure in measures.items():
                assert found[query][str(measure)] == pytest.approx(values[name], abs=1e-12), (
                    seed,
                    query,
                    name,
                )


@pytest.mark.parametrize(
    "text",
    [
        "Bpref",
        "BPref(rel=2)",
        "infAP",
        "infAP(rel=2)",
        "Judged@3",
        "Judged",
        "Judged@100",
        "NumRet(rel=2)",
    ],
)
def test_ir_measures(text: str) -> None:
    """The same text gives the same number in both; without ties, which its Judged orders in its own
    way.
    """
    compared = 0
    for seed in range(10):
        qrels, run = collection(seed)
        run = {
            query: {d: score + place / 1000 for place, (d, score) in enumerate(scores.items())}
            for query, scores in run.items()
        }
        run["9"], qrels["10"] = {"d1": 1.0}, {"d1": 1}
        found = quietly(ir.evaluate, qrels, run, [text], "ir_measures").per_query()
        for metric in ir_measures.iter_calc([ir_measures.parse_measure(text)], qrels, run):
            assert next(iter(found[metric.query_id].values())) == pytest.approx(
                metric.value, abs=1e-12
            ), (seed, metric)
            compared += 1
    assert compared == 90
