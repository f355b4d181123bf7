"""Order against grades and measures of labels: scikit-learn, SciPy and ir_measures live, and the
values of TF-Ranking's tests.
"""

import json
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.data.lists import Lists
from idealrank.evaluation.evaluate import evaluate_lists
from tests.conftest import shared_file
from tests.golden.harness import Fixture, quietly
from tests.parity.agreement import random_fixture
from tests.parity.calls import judged, returned
from tests.parity.test_live_peers import pydocs

Column = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def of_one_list(text: str, labels: Column, scores: Column, convention: str = "standard") -> float:
    """A measure of one list held as arrays."""
    return float(
        evaluate_lists(Lists.from_arrays(labels, scores), [ir.parse_measure(text)], convention)[
            text
        ][0]
    )


@pytest.mark.parametrize(
    "levels", [5, *(pytest.param(many, marks=pytest.mark.slow) for many in (2, 10_000))]
)
def test_scikit_learn(levels: int) -> None:
    """LRAP, coverage error, ranking loss and the area under the ROC curve, with many, some and no
    tied scores.
    """
    from sklearn import metrics

    rng = np.random.default_rng(levels)
    for _ in range(60):
        labels, scores = rng.integers(0, 2, 12), rng.integers(0, levels, 12) / 10
        lrap = metrics.label_ranking_average_precision_score(labels[np.newaxis], scores[np.newaxis])
        assert of_one_list("LRAP(no_relevant=one)", labels, scores) == pytest.approx(
            lrap, abs=1e-12
        )
        assert of_one_list("CoverageError", labels, scores) == metrics.coverage_error(
            labels[np.newaxis], scores[np.newaxis]
        )
        loss = metrics.label_ranking_loss(labels[np.newaxis], scores[np.newaxis])
        assert of_one_list("RankingLoss", labels, scores) == pytest.approx(loss, abs=1e-12)
        if 0 < labels.sum() < 12:
            assert of_one_list("AUC", labels, scores) == pytest.approx(
                metrics.roc_auc_score(labels, scores), abs=1e-12
            )


def test_scipy() -> None:
    """Tau-b and weighted tau of graded labels against scores that differ."""
    from scipy import stats

    rng = np.random.default_rng(5)
    for _ in range(60):
        labels, scores = rng.integers(0, 4, 15), rng.permutation(15) / 7
        assert of_one_list("GradeTau", labels, scores) == pytest.approx(
            stats.kendalltau(scores, labels).statistic, abs=1e-12
        )
        assert of_one_list("GradeWTau", labels, scores) == pytest.approx(
            stats.weightedtau(scores, labels).statistic, abs=1e-12
        )


TF_RANKING = {"ARPMetric": "ARP", "OPAMetric": "OPA", "PWAMetric": "PWA"}


def tf_ranking_cases() -> list[dict[str, Any]]:
    """Cases without weights on items, or with weights on lists, which change no list's value."""
    lines = (
        shared_file("data", "peer-cases", "tf_ranking_metrics.jsonl")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    cases = [
        case
        for case in map(json.loads, lines)
        if case["metric"] in TF_RANKING and case["what"] == "value"
    ]
    return [
        case
        for case in cases
        if not case["weights"] or all(len(row) == 1 for row in case["weights"])
    ]


def test_tf_ranking() -> None:
    """To the 6 decimals of its tests; masked and padded items are left out."""
    cases = tf_ranking_cases()
    assert len(cases) == 14
    for case in cases:
        top = case["params"].get("topn")
        text = TF_RANKING[case["metric"]] + (f"@{top}" if top else "")
        for number, (labels, scores, expected) in enumerate(
            zip(case["labels"], case["scores"], case["expected"], strict=True)
        ):
            real = np.array(
                case["mask"][number] if case["mask"] else [label >= 0 for label in labels]
            )
            found = of_one_list(text, np.array(labels)[real], np.array(scores)[real])
            assert found == pytest.approx(expected[0], abs=case["tol"]), case["test"]


IR_MEASURES = [
    "Accuracy",
    "Accuracy@3",
    "Accuracy(rel=2)",
    "Accuracy(rel=2)@5",
    "Compat",
    "Compat(p=0.8)",
    "Compat(normalize=False)",
]


def untied(fixture: Fixture) -> dict[str, dict[str, float]]:
    """The run with scores that differ and are above 0: the order in which ir_measures puts ties,
    and what it takes for an unreturned document's score, is no part of either definition.
    """
    return {
        query: {
            document: 1.0 - place / 1000
            for place, document in enumerate(sorted(scores, key=lambda d: -scores[d]))
        }
        for query, scores in returned(fixture).items()
    }


def accuracy_divides_by_zero(run: dict[str, float], grades: dict[str, int], text: str) -> bool:
    """Where nothing but relevant documents is looked at, ir_measures fails."""
    rel, _, cutoff = text.removeprefix("Accuracy").partition("@")
    ranked = sorted(run, key=lambda d: -run[d])[: int(cutoff or len(run))]
    return all(grades.get(document, 0) >= (2 if rel else 1) for document in ranked)


@pytest.mark.parametrize("text", IR_MEASURES)
@pytest.mark.parametrize(
    "fixture", [*map(random_fixture, range(12)), pydocs("bm25.run")], ids=lambda fixture: ""
)
def test_ir_measures(text: str, fixture: Fixture) -> None:
    """Every query that it gives a value for."""
    import ir_measures

    run = untied(fixture)
    grades = {
        query: {d: int(max(grade, 0)) for d, grade in documents.items()}
        for query, documents in judged(fixture).items()
    }
    if text.startswith("Accuracy"):
        run = {
            query: scores
            for query, scores in run.items()
            if not accuracy_divides_by_zero(scores, grades.get(query, {}), text)
        }
    # Its own parser takes no truth values.
    measure = (
        ir_measures.Compat(normalize=False) if "False" in text else ir_measures.parse_measure(text)
    )
    values = quietly(ir.evaluate, grades, run, [text]).per_query()
    found = {
        metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], grades, run)
    }
    for query, value in found.items():
        assert values[query][text] == pytest.approx(value, abs=1e-12)


def test_the_cases_of_ir_measures() -> None:
    """Values of its own tests, per query and over all."""
    table = json.loads(
        shared_file("data", "peer-cases", "ir_measures_cases.json").read_text(encoding="utf-8")
    )
    cases = [case for case in table["cases"] if case["measure"].startswith(("Accuracy", "Compat"))]
    assert len(cases) == 7
    for case in cases:
        qrels, run = (table["data"][case["data"]][part] for part in (0, 1))
        grades: dict[str, dict[str, float]] = {}
        scores: dict[str, dict[str, float]] = {}
        for query, document, grade, *_ in qrels:
            grades.setdefault(query, {})[document] = grade
        for query, document, score in run:
            scores.setdefault(query, {})[document] = score
        evaluation = quietly(ir.evaluate, grades, scores, [case["measure"]], "ir_measures")
        value = (
            evaluation.mean() if case["query"] == "all" else evaluation.per_query()[case["query"]]
        )
        assert value[case["measure"]] == pytest.approx(case["expected"], abs=case["tol"]), case
