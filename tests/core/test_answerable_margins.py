"""Margins and tolerances over answerable queries: queries without a relevant document change no
verdict.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import idealrank as ir

ANSWERABLE = 60


def runs(
    unanswerable: int, seed: int = 1
) -> tuple[dict[str, dict[str, int]], list[dict[str, list[str]]]]:
    """Judgments and two runs: the first relevant document of the second one is often a rank
    higher.
    """
    rng = np.random.default_rng(seed)
    qrels = {f"q{place:03}": {"x": 1, "y": 0, "z": 0} for place in range(ANSWERABLE)}
    places = rng.integers(0, 2, ANSWERABLE)
    first = {query: ["y", "z", "x"] for query in qrels}
    second = {
        query: ["y", "x", "z"] if place else ["y", "z", "x"]
        for query, place in zip(qrels, places, strict=True)
    }
    for place in range(unanswerable):
        query = f"u{place:04}"
        qrels[query] = {"x": 0}
        first[query] = second[query] = ["x"]
    return qrels, [first, second]


def test_unanswerable_queries_do_not_make_runs_equivalent() -> None:
    alone, diluted = (
        ir.compare(qrels, *both, measures="RR", margin=0.07)
        for qrels, both in (runs(0), runs(1000))
    )
    margin = diluted["RR"].margin
    assert margin is not None
    assert (alone["RR"].verdict, diluted["RR"].verdict) == ("better", "better")
    assert (margin.answerable, margin.applied) == (60, pytest.approx(0.07 * 60 / 1060))
    assert diluted["RR"].difference == pytest.approx(alone["RR"].difference * 60 / 1060)
    assert diluted["RR"].margin_scale == (
        "The margin of 0.07 refers to the 60 of 1,060 queries that have a relevant document: "
        "0.003962 in the mean of all."
    )
    assert diluted["RR"].margin_scale in str(diluted)
    assert alone["RR"].margin is not None
    assert alone["RR"].margin.applied == 0.07


def test_the_scaled_margin_is_scipys_test_of_the_scaled_differences() -> None:
    qrels, both = runs(40)
    found = ir.compare(qrels, *both, measures="RR", margin=0.3, test="t", largest_loss=0.5)["RR"]
    evaluations = [ir.evaluate(qrels, run, "RR") for run in both]
    differences = evaluations[1]["RR"] - evaluations[0]["RR"]
    p = stats.ttest_1samp(differences, 0.3 * 0.6, alternative="less").pvalue
    unseen = max(
        ir.stats.unseen_loss_p(side, 0.3 * 0.6, 0.5) for side in (differences, -differences)
    )
    assert found.p_equivalence == pytest.approx(max(p, unseen), rel=1e-9)


@pytest.mark.parametrize(
    "rule", [{"tolerance": 0.05}, {"strict": True, "margin": 0.3, "largest_loss": 0.5}]
)
def test_unanswerable_queries_do_not_open_a_gate(rule: Mapping[str, Any]) -> None:
    gates = []
    for qrels, (better, worse) in (runs(0), runs(1000)):
        gates.append(ir.gate(qrels, better, worse, measures="RR", **rule))
    alone, diluted = gates
    check = diluted.checks[0]
    assert check.margin is not None
    assert check.margin.applied == pytest.approx(check.margin.margin * 60 / 1060)
    assert alone.passed == diluted.passed == ("strict" in rule)


def test_a_family_of_baselines_tests_each_tolerance_in_its_own_mean() -> None:
    """Two measures whose thresholds make other queries answerable: each tolerance is scaled by its
    own share.
    """
    qrels, (better, worse) = runs(0)
    for place, query in enumerate(qrels):
        qrels[query]["x"] = 2 if place % 3 else 1
    found = ir.gate(
        qrels, better, worse, worse, measures=["RR", "RR(rel=2)"], also="RR(rel=2)", tolerance=0.01
    )
    shares = {
        check.measure: check.margin.share for check in found.checks if check.margin is not None
    }
    assert shares == {"RR": 1.0, "RR(rel=2)": pytest.approx(40 / 60)}
    # The family of two equal baselines has other sign vectors; without the share, the bound would
    # be half as far again.
    apart = ir.gate(qrels, better, worse, measures="RR(rel=2)", tolerance=0.01).checks[0]
    assert [check.bound for check in found.checks if check.measure == "RR(rel=2)"] == [
        pytest.approx(apart.bound, abs=5e-4)
    ] * 2


def test_weights_count_in_the_share() -> None:
    qrels, both = runs(10)
    weights = {query: 3.0 if query.startswith("u") else 1.0 for query in qrels}
    margin = ir.compare(qrels, *both, measures="RR", margin=0.1, weights=weights)["RR"].margin
    assert margin is not None
    assert margin.share == pytest.approx(60 / 90)


def test_a_convention_that_leaves_them_out_has_the_margin_as_it_is() -> None:
    qrels, both = runs(20)
    found = ir.compare(
        qrels, *both, measures="RR", margin=0.1, convention="standard,no_relevant=left-out"
    )["RR"]
    assert found.margin is not None
    assert (found.n, found.margin.answerable, found.margin.applied) == (60, 60, 0.1)


def stored_and_read(
    folder: Path, qrels: dict[str, dict[str, int]], both: list[dict[str, list[str]]], *, old: bool
) -> list[ir.Evaluation]:
    """Both runs as a store gives them back; one of an earlier version keeps no counts by
    measure.
    """
    evaluations = [
        ir.evaluate(qrels, run, "RR", name=name) for run, name in zip(both, "ab", strict=True)
    ]
    if old:
        evaluations = [
            replace(one, coverage=replace(one.coverage, by_measure={})) for one in evaluations
        ]
    with ir.Store.open(folder) as store:
        keys = [store.add(one) for one in evaluations]
        return [store.evaluation(key).evaluation for key in keys]


def test_stored_runs_have_the_verdict_of_files(tmp_path: Path) -> None:
    qrels, both = runs(1000)
    files = ir.compare(qrels, *both, measures="RR", margin=0.07)["RR"]
    a, b = stored_and_read(tmp_path, qrels, both, old=False)
    stored = ir.compare(a, b, margin=0.07)["RR"]
    assert (stored.verdict, stored.margin, stored.p_equivalence) == (
        files.verdict,
        files.margin,
        files.p_equivalence,
    )
    assert stored.margin is not None
    assert stored.margin.answerable == 60
    policies: list[dict[str, Any]] = [{"strict": True, "margin": 0.07}, {"tolerance": 0.01}]
    for policy in policies:
        expected = ir.gate(*(ir.evaluate(qrels, run, "RR") for run in both), **policy).checks[0]
        check = ir.gate(a, b, **policy).checks[0]
        assert (check.outcome, check.p, check.margin) == (
            expected.outcome,
            expected.p,
            expected.margin,
        )


def test_a_stored_comparison_is_made_again_with_its_margin(tmp_path: Path) -> None:
    qrels, both = runs(100)
    evaluations = [
        ir.evaluate(qrels, run, "RR", name=name) for run, name in zip(both, "ab", strict=True)
    ]
    made = ir.compare(*evaluations, margin=0.07)
    with ir.Store.open(tmp_path) as store:
        key = store.add_comparison(made, [store.add(one) for one in evaluations])
        again = store.compare_again(key)["RR"]
    assert (again.verdict, again.margin, again.p_equivalence) == (
        made["RR"].verdict,
        made["RR"].margin,
        made["RR"].p_equivalence,
    )


def test_results_of_an_earlier_version_say_what_they_lack(tmp_path: Path) -> None:
    qrels, both = runs(1000)
    a, b = stored_and_read(tmp_path, qrels, both, old=True)
    found = ir.compare(a, b, margin=0.07)
    assert found["RR"].margin is not None
    assert (found["RR"].margin.answerable, found["RR"].margin.applied) == (None, 0.07)
    said = (
        "The queries that have a relevant document are not known: the margin of 0.07 refers "
        "to all 1,060 queries. "
        "Evaluate the runs again to refer it to those."
    )
    assert found["RR"].margin_scale == said
    assert said in str(found)
    assert said.replace("margin of 0.07", "tolerance of 0.01") in str(ir.gate(a, b, tolerance=0.01))
