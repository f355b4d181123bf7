"""The NDCG family against numbers recomputed from the papers, recorded beside the checkout; inputs
of the fingerprint are made here.
"""

import json
from functools import cache
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from tests.conftest import shared_file

GAINS = {"exp": "exp2", "lin": "linear"}
DISCOUNTS = {"log2": "log2", "jk2": "jarvelin(2)", "zipf": "reciprocal", "r^-0.5": "zipf(0.5)"}


@cache
def papers() -> dict[str, Any]:
    """The file, read once."""
    content: dict[str, Any] = json.loads(
        shared_file("golden", "papers.json").read_text(encoding="utf-8")
    )
    return content


def falling(count: int) -> list[float]:
    """Scores of a list that is in order."""
    return [-float(place) for place in range(count)]


def test_vectors_of_every_gain_and_discount() -> None:
    """Two gains, four discounts, with and without a cutoff: DCG, its ideal and NDCG."""
    for vector in papers()["ndcg"]["vectors"]:
        options = {
            "gain": GAINS[vector["gain"]],
            "discount": DISCOUNTS[vector["discount"]],
            "cutoff": vector["k"],
        }
        measures = [cls(**options) for cls in (ir.DCG, ir.IdealDCG, ir.NDCG)]
        dcg, ideal, ndcg = ir.evaluate(
            [vector["rel"]], [falling(len(vector["rel"]))], measures, "standard,no_relevant=nan"
        ).values[0]
        assert (dcg, ideal) == pytest.approx((vector["dcg"], vector["idcg"]), abs=1e-12)
        assert (
            np.isnan(ndcg)
            if vector["ndcg"] is None
            else ndcg == pytest.approx(vector["ndcg"], abs=1e-12)
        )


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_values_over_the_orders_of_ties(ties: str) -> None:
    """Two tied documents and more, with and without a cutoff."""
    for case in papers()["ndcg"]["ties"]:
        found = ir.ndcg(case["rel"], case["score"], case["k"], gain=GAINS[case["gain"]], ties=ties)[
            0
        ]
        assert found == pytest.approx(case[ties], abs=1e-12)


def test_the_ideal_of_all_judged_or_of_the_returned() -> None:
    """Judged 3, 3, 2, 1 and returned 3, 1."""
    for case in papers()["ndcg"]["ideal_pool"]:
        returned = {f"r{place}": grade for place, grade in enumerate(case["returned"])}
        others = list(case["judged"])
        for grade in case["returned"]:
            others.remove(grade)
        judged = {**returned, **{f"o{place}": grade for place, grade in enumerate(others)}}
        for ideal, key in (("judged", "corpus_ndcg"), ("returned", "retrieved_ndcg")):
            measure = ir.NDCG(cutoff=case["k"], gain=GAINS[case["gain"]], ideal=ideal)  # type: ignore[arg-type]
            assert ir.evaluate({"q": judged}, {"q": list(returned)}, [measure]).values[
                0, 0
            ] == pytest.approx(case[key], abs=1e-12)


def test_the_scale_of_labels_matters_to_the_exponential_gain() -> None:
    """Labels doubled or halved: linear NDCG stays, exponential NDCG does not."""
    case = papers()["ndcg"]["label_scale"]
    labels, scores = np.array(case["rel"], float), falling(len(case["rel"]))
    for scale in (0.5, 1.0, 2.0):
        assert ir.ndcg(labels * scale, scores)[0] == pytest.approx(case["lin"], abs=1e-12)
    for scale, key in ((1.0, "exp_scale1"), (2.0, "exp_scale2"), (0.5, "exp_scale_half")):
        assert ir.ndcg(labels * scale, scores, gain="exp2")[0] == pytest.approx(
            case[key], abs=1e-12
        )


def test_linear_ndcg() -> None:
    """Jin and Geng's lists: ideal, best and expected order of ties, worst order."""
    for case in papers()["linear_ndcg"]:
        labels, scores = case["r"], case["f"]
        assert ir.dcg(labels, scores, discount="linear", ties="best")[0] == case["dcg_opt"]
        assert ir.dcg(labels, scores, discount="linear", ties="worst")[0] == case["dcg_pes"]
        assert ir.dcg(sorted(labels), falling(len(labels)), discount="linear")[0] == case["worst"]
        assert ir.ndcg(labels, scores, convention="linear-2010")[0] == pytest.approx(
            case["ndcg_half"], abs=1e-12
        )
        assert ir.ndcg(labels, scores, convention="linear-2010", ties="best")[0] == pytest.approx(
            case["ndcg_opt"], abs=1e-12
        )


def test_a_thousand_documents_under_every_discount_and_cutoff() -> None:
    """Section 4.8: a sample of the model ybar = 0.1 + 0.8 s, seed 123; @200 is @0.2n and @31 is
    @sqrt(n) here.
    """
    case = papers()["theory"]["fingerprint"]
    rng = np.random.default_rng(case["seed"])
    steps = rng.standard_exponential(case["n"] + 1)
    place = np.cumsum(steps)[:-1] / steps.sum()
    labels = (rng.random(case["n"]) < 0.1 + 0.8 * (1 - place)).astype(np.int64)
    assert (labels.sum(), labels[:20].tolist()) == (case["l"], case["first20"])
    texts = {
        "log": "nDCG",
        "r^-0.5": "nDCG(discount=zipf(0.5))",
        "1/r": "nDCG(discount=reciprocal)",
        "2^-r": "nDCG(discount=geometric(2))",
        "log@200": "nDCG@0.2n",
        "log@10": "nDCG@10",
        "log@31": "nDCG@sqrt(n)",
    }
    means = ir.evaluate(labels, -place, list(texts.values())).mean()
    for key, text in texts.items():
        assert means[text] == pytest.approx(case[key], abs=1e-12)
