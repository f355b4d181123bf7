"""Two runs: SciPy live, the numbers of other programs as recorded by `record_pairs`, and ircor's
own cases.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

import idealrank as ir
from idealrank.testing import runs
from tests.conftest import PYDOCS, shared_file

# random lists often have none
pytestmark = pytest.mark.filterwarnings("ignore:.*no document in common")
RECORDED: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("pairs_recorded.json").read_text(encoding="utf-8")
)
VARIANTS = {"w": "shared", "a": "expected"}


def run_of(groups: list[list[str]]) -> dict[str, dict[str, float]]:
    return {
        "q": {document: -float(place) for place, group in enumerate(groups) for document in group}
    }


@pytest.mark.parametrize("case", RECORDED, ids=map(str, range(len(RECORDED))))
def test_rbo_is_that_of_other_programs(case: dict[str, Any]) -> None:
    """Corsi and Urbano's four scores in two variants for ties, and the package rbo: 12 digits."""
    a, b, p = run_of(case["run_a"]), run_of(case["run_b"]), case["p"]
    for variant in VARIANTS.keys() & case.keys():
        for estimate, theirs in case[variant].items():
            ours = ir.overlap(a, b, ir.RBO(p=p, estimate=estimate), ties=VARIANTS[variant]).values[
                0, 0
            ]
            assert ours == pytest.approx(theirs, abs=1e-12), (variant, estimate)
    if "rbo" in case:
        assert ir.overlap(a, b, ir.RBO(p=p)).values[0, 0] == pytest.approx(case["rbo"], abs=1e-12)


def test_something_was_recorded() -> None:
    assert sum(len(case.get(variant, {})) for case in RECORDED for variant in VARIANTS) == 132
    assert sum("rbo" in case for case in RECORDED) == 9


@given(a=runs(queries=["q1"]), b=runs(queries=["q1"]))
def test_tau_and_weighted_tau_are_scipys(
    a: dict[str, dict[str, float]], b: dict[str, dict[str, float]]
) -> None:
    """Scores of the common documents, with ties and near-ties."""
    common = sorted(a["q1"].keys() & b["q1"].keys())
    x, y = (np.array([run["q1"][document] for document in common]) for run in (a, b))
    theirs = [np.nan, np.nan]
    if len(common) > 1:
        theirs = [stats.kendalltau(x, y).statistic, stats.weightedtau(x, y).statistic]

    ours = ir.overlap(a, b, ["tau", "wtau"]).values[0]

    assert ours == pytest.approx(theirs, abs=1e-12, nan_ok=True)


def test_real_runs() -> None:
    """Sixty queries of a hundred documents, one run full of ties: SciPy's correlations, and
    Python's sets for the overlap.
    """
    first, second = (ir.read_run(PYDOCS / f"{name}.run") for name in ("bm25", "minilm"))
    found = ir.overlap(first, second, ["tau", "wtau"])
    ordered = ir.overlap(first, second, ["overlap@10", "Jaccard@10"], ties="docid")
    for query, values in found.per_query().items():
        a, b = first.ranking(query), second.ranking(query)
        scores = [
            dict(zip(ranking.documents, ranking.scores.tolist(), strict=True)) for ranking in (a, b)
        ]
        common = sorted(scores[0].keys() & scores[1].keys())
        x, y = ([side[document] for document in common] for side in scores)
        assert values["tau"] == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
        assert values["wtau"] == pytest.approx(stats.weightedtau(x, y).statistic, abs=1e-12)
        top_a, top_b = set(a.documents[:10]), set(b.documents[:10])
        expected = {
            "overlap@10": len(top_a & top_b) / 10,
            "Jaccard@10": len(top_a & top_b) / len(top_a | top_b),
        }
        assert ordered.per_query()[query] == expected


MEASURE_OF = {
    "tau": ("tau", "shared"),
    "tau_a": ("tau", "expected"),
    "tau_b": ("tau", "shared"),
    "tauAP": ("tauAP", "docid"),
    "tauAP_a": ("tauAP", "expected"),
    "tauAP_b": ("tauAP(reference=both)", "shared"),
}


def test_correlations_are_those_of_ircor() -> None:
    """The R package's own test values, four digits: systems as documents, in two rankings of them;
    the first is the reference.
    """
    table = json.loads(
        shared_file("data", "peer-cases", "rank_correlation_ircor.json").read_text(encoding="utf-8")
    )
    for case in table["cases"]:
        columns = table["sets"][case["set"]]
        a, b = (
            {"q": {f"s{i}": score for i, score in enumerate(columns[case[side]])}}
            for side in ("x", "y")
        )
        measure, ties = MEASURE_OF[case["fn"].partition(" ")[0]]
        ours = ir.overlap(a, b, measure, ties=ties).values[0, 0]
        assert ours == pytest.approx(case["expected"], abs=case["tol"]), case["fn"]
