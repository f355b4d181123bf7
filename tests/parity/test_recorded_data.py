"""Real data with recorded values of tools that are not run here, and cases from the tests of
others.
"""

import csv
import gzip
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from tests.conftest import SHARED, shared_file
from tests.golden.harness import quietly
from tests.twins import naive_measures

CASES = ("data", "peer-cases")


def rows_of(path: Path) -> Iterator[dict[str, str]]:
    """Rows of a CSV file, compressed or not."""
    text = (
        gzip.decompress(path.read_bytes()).decode()
        if path.suffix == ".gz"
        else path.read_text(encoding="utf-8")
    )
    return csv.DictReader(io.StringIO(text))


def cases_in(name: str) -> list[dict[str, Any]]:
    """Cases of a JSON or JSONL file; one empty case where it is absent, so that the skip shows."""
    path = SHARED.joinpath(*CASES, name)
    if not path.exists():
        return [{}]
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    cases: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return cases


# --- LightGBM's ranking example -------------------------------------------------------------------


def test_lightgbm_reference_values() -> None:
    """NDCG of a trained model's predictions on 50 queries, as LightGBM 4.7.0 logged it."""
    reference = json.loads(
        shared_file("data", "lightgbm-rank", "reference", "lightgbm_metrics.json").read_text()
    )["metrics"]
    rows = list(rows_of(shared_file("data", "lightgbm-rank", "reference", "test_predictions.csv")))
    labels, scores = (
        np.array([float(row["label"]) for row in rows]),
        np.array([float(row["score"]) for row in rows]),
    )
    names = [f"ndcg@{cutoff}" for cutoff in (1, 2, 3, 5, 10, 20, 100)]
    evaluation = ir.evaluate(labels, scores, names, "lightgbm", qid=[row["query"] for row in rows])
    for name in names:
        assert evaluation.mean()[name] == pytest.approx(reference[name], abs=1e-12)


# --- LensKit for Java: the 2002 discount ----------------------------------------------------------


def test_lenskit_java_values() -> None:
    """Eight recommenders x users: NDCG with gains as rated and no discount at ranks 1 and 2, and
    reciprocal rank.
    """
    folder = ("data", "lenskit")
    truth: dict[str, dict[str, float]] = {}
    for row in rows_of(shared_file(*folder, "topn-java-truth.csv")):
        truth.setdefault(row["user"], {})[row["item"]] = float(row["rating"])
    lists: dict[tuple[str, str], list[tuple[int, str]]] = {}
    for row in rows_of(shared_file(*folder, "topn-java-recs.csv.gz")):
        lists.setdefault((row["Algorithm"], row["user"]), []).append(
            (int(row["rank"]), row["item"])
        )
    compared = 0
    for row in rows_of(shared_file(*folder, "topn-java-metrics.csv")):
        ranked = [item for _, item in sorted(lists.get((row["Algorithm"], row["user"]), []))]
        if ranked and row["user"] in truth:
            # The Java program takes any rated item for relevant, also one rated 0.5.
            means = quietly(
                ir.evaluate,
                {"q": truth[row["user"]]},
                {"q": ranked},
                ["nDCG", "RR(rel=0.5)"],
                "lenskit",
            ).mean()
            assert means["nDCG"] == pytest.approx(float(row["Java.nDCG"]), abs=1e-12)
            assert means["RR(rel=0.5)"] == pytest.approx(float(row["Java.RecipRank"]), abs=1e-12)
            compared += 1
    assert compared >= 95


# --- ties in a shop's search ----------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["nDCG@5", "nDCG(gain=exp2)@3", "AP@5", "RR@3", "P@3", "R@5"])
def test_ties_of_a_real_run_against_all_orders(measure: str) -> None:
    """137 shop queries, about half with ties at the top: expected, best and worst against
    enumeration of the top ten.
    """
    grades: dict[str, dict[str, float]] = {}
    for line in shared_file("data", "haystack-quepid", "case.qrels").read_text().splitlines():
        query, _, document, grade = line.split()
        grades.setdefault(query, {})[document] = float(grade)
    rows: dict[str, list[tuple[str, float]]] = {}
    for line in (
        shared_file("data", "haystack-quepid", "solr-no-vector.run").read_text().splitlines()
    ):
        query, _, document, _, score, _ = line.split()
        rows.setdefault(query, []).append((document, float(score)))
    rows = {
        query: ranked[:8]
        for query, ranked in rows.items()
        if query in grades and len({s for _, s in ranked[:8]}) > 2
    }
    tied = 0
    for ties in ("expected", "best", "worst"):
        convention = ir.Convention.of("standard", ties=ties)
        run = {query: dict(ranked) for query, ranked in rows.items()}
        evaluation = ir.evaluate(
            {query: grades[query] for query in rows}, run, [measure], convention
        )
        tied = evaluation.coverage.tied_queries
        resolved = str(ir.parse_measure(measure).under(convention))
        for query, value in zip(evaluation.queries, evaluation[measure], strict=True):
            one = naive_measures.prepare(grades[query], rows[query], convention.switches())
            assert value == pytest.approx(naive_measures.value(resolved, one, ties), abs=1e-12)
    assert tied > 20


# --- cases of others' test suites -----------------------------------------------------------------

OURS = (
    "nDCG",
    "P",
    "R",
    "AP",
    "RR",
    "NumQ",
    "NumRel",
    "NumRet",
    "SetR",
    "Rprec",
    "Success",
    "IPrec",
    "SetP",
    "SetF",
    "SetAP",
)
CONVENTIONS = {"pytrec_eval": "ir_measures", "gdeval": "gdeval", "cwl_eval": "ir_measures"}


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in cases_in("ir_measures_cases.json")
        if case.get("measure", "P").split("@")[0].split("(")[0] in OURS
    ],
)
def test_cases_of_ir_measures(case: dict[str, Any]) -> None:
    """Its own test suite, where the measure is one of ours; NumRet(rel=1) is our NumRelRet, SetR
    our R.
    """
    data = json.loads(shared_file(*CASES, "ir_measures_cases.json").read_text())["data"][
        case["data"]
    ]
    qrels: dict[str, dict[str, float]] = {}
    run: dict[str, dict[str, float]] = {}
    for query, document, grade, *_ in data[0]:
        qrels.setdefault(query, {})[document] = grade
    for query, document, score, *_ in data[1]:
        run.setdefault(query, {})[document] = score
    text, convention = case["measure"], CONVENTIONS[case["provider"]]
    if text == "nDCG(gains={0:1,1:4})":
        # Grades that the table lacks are their own gain; a negative one is worth nothing, also
        # where grade 0 is worth something.
        text, convention = "nDCG(gain={-1:0,0:1,1:4,2:2})", f"{convention},negative=kept"
    text = text.replace("NumRet(rel", "NumRelRet(rel").replace("SetR", "R")
    measure = ir.parse_measure(text)
    evaluation = ir.evaluate(qrels, run, [measure], convention)
    value = (
        evaluation.mean()[str(measure)]
        if case["query"] == "all"
        else evaluation.per_query()[case["query"]][str(measure)]
    )
    assert value == pytest.approx(case["expected"], abs=case["tol"])


def test_cases_of_scikit_learn() -> None:
    """Its tests and docstrings of dcg_score and ndcg_score."""
    content = json.loads(shared_file(*CASES, "sklearn_ndcg.json").read_text())
    for case in content["cases"]:
        labels, scores, options = case["y_true"], case["y_score"], case["params"]
        if isinstance(case["expected"], str):
            with pytest.raises(ir.InputError, match=r"found grade -0\.89"):
                ir.ndcg(labels, scores, convention="sklearn")
            continue
        discount = f"log({options['log_base']})" if "log_base" in options else None
        if case["metric"].startswith("dcg"):
            ties = "input" if "ignore_ties" in case["metric"] else "expected"
            if ties == "input":  # it takes the last of tied items first
                labels, scores = [row[::-1] for row in labels], [row[::-1] for row in scores]
            values = ir.dcg(labels, scores, discount=discount, ties=ties)
        else:
            values = ir.ndcg(labels, scores, options.get("k"), convention="sklearn")
        expected = case["expected"]
        found = values.tolist() if isinstance(expected, list) else float(values.mean())
        assert found == pytest.approx(expected, abs=1e-12)


TF = {
    "NDCGMetric": "nDCG",
    "DCGMetric": "DCG",
    "MRRMetric": "RR",
    "PrecisionMetric": "P",
    "RecallMetric": "R",
    "MeanAveragePrecisionMetric": "AP",
}


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in cases_in("tf_ranking_metrics.jsonl")
        if not case
        or (case["metric"] in TF and case["what"] == "value" and case["weights"] is None)
    ],
)
def test_cases_of_tf_ranking(case: dict[str, Any]) -> None:
    """Its own test suite, where neither weights nor other measures are asked for; labels below 0
    and masked items are padding.
    """
    shared_file(*CASES, "tf_ranking_metrics.jsonl")
    table = case["params"].get("rank_discount_fn", {}).get("function_table")
    for row, (labels, scores) in enumerate(zip(case["labels"], case["scores"], strict=True)):
        mask = case["mask"][row] if case["mask"] else [True] * len(labels)
        length = sum(kept and label >= 0 for kept, label in zip(mask, labels, strict=True))
        name = TF[case["metric"]]
        cutoff = case["params"]["topn"] or (length if name == "P" else None)
        # its precision divides by no more than the list has
        cutoff = min(cutoff, length) if name == "P" and cutoff else cutoff
        options = (
            {"discount": [table[str(rank)] for rank in range(1, len(labels) + 1)]} if table else {}
        )
        measure = ir.MEASURES[name](cutoff=cutoff, **options)
        found = ir.evaluate([labels], [scores], [measure], "keras-rs", mask=[mask]).values[0, 0]
        assert found == pytest.approx(case["expected"][row][0], abs=1e-6)
