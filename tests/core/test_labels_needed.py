"""The estimated number of labels: its outlook against the rule on the labels foreseen, and replays
with the true labels.
"""

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.analysis.comparison import labels_needed as module
from idealrank.analysis.comparison.places import Places, matches, unjudged_keys
from idealrank.analysis.comparison.query_table import QueryTable, queries_of, rows_in
from idealrank.analysis.comparison.reach import Reach
from idealrank.analysis.comparison.tipping import Question, critical_t, tipping_point
from idealrank.judging import next_labels
from idealrank.stats.design import Design
from tests.conftest import ROOT
from tests.pools import Grades, Lists, collection

MODULES = ("judged_pools", "labels_until_verdict")


@pytest.fixture(scope="module")
def scripts() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "experiments")
        yield [importlib.import_module(name) for name in MODULES]
    for name in (*MODULES, "models"):
        sys.modules.pop(name, None)


class Case:
    """A comparison of two runs from the inside."""

    def __init__(self, qrels: Grades, a: Lists, b: Lists, measure: str) -> None:
        evaluations = [ir.evaluate(qrels, run, measure, keep_unjudged=True) for run in (a, b)]
        queries = queries_of(evaluations)
        self.n, parsed = len(queries), evaluations[0].measures[0]
        rows = [rows_in(one, queries) for one in evaluations]
        places = [Places.of(one, parsed, at) for one, at in zip(evaluations, rows, strict=True)]
        keys = [unjudged_keys(one, at) for one, at in zip(evaluations, rows, strict=True)]
        tables = [QueryTable.of(one, [parsed], queries).values[:, 0] for one in evaluations]
        assert all(isinstance(one, Places) for one in places), places
        self.queries = queries
        self.reach = Reach.of(places[0], places[1], self.n, matches(*keys))  # type: ignore[arg-type]
        self.differences = tables[1] - tables[0]
        self.kept, self.design = np.ones(self.n, bool), Design.of(self.n)
        self.question = Question(critical_t(0.05, self.n - 1, 2))

    @property
    def arguments(self) -> tuple[Any, ...]:
        return self.reach, self.differences, self.kept, self.design, self.question


@pytest.mark.parametrize("measure", ["P@10", "RR@10"])
@pytest.mark.parametrize("n", [1, 17, 60])
def test_the_outlook_is_the_rule_on_the_labels_that_it_foresees(measure: str, n: int) -> None:
    """Binary grades, so that the mean gain of relevant documents is the gain of each."""
    _, pooled, a, b = collection()
    case = Case(pooled, a, b, measure)
    outlook = module._Outlook.of(*case.arguments)
    assert outlook is not None
    labelled = {query: dict(grades) for query, grades in pooled.items()}
    for of_a, of_b, relevant in zip(
        outlook.sheet.of_a[:n], outlook.sheet.of_b[:n], outlook.sheet.relevant[:n], strict=True
    ):
        side, place, lists = (case.reach.a, of_a, a) if of_a >= 0 else (case.reach.b, of_b, b)
        query = case.queries[int(side.document_rows[place])]
        labelled[query][lists[query][int(side.rank[place]) - 1]] = int(relevant)

    foreseen = tipping_point(
        outlook._reach_after(n, np.ones(case.n)),
        case.differences + outlook._changes(n)[0],
        case.kept,
        case.design,
        case.question,
    )

    as_labelled = Case(labelled, a, b, measure)
    actual = tipping_point(*as_labelled.arguments)
    assert case.differences + outlook._changes(n)[0] == pytest.approx(
        as_labelled.differences, abs=1e-12
    )
    for name in (
        "side",
        "unjudged_a",
        "unjudged_b",
        "unjudged_both",
        "likely",
        "likely_ahead",
        "likely_both",
        "significance",
        "reaches",
    ):
        assert getattr(foreseen, name) == pytest.approx(getattr(actual, name)), name


def test_a_relevant_document_raises_the_ideal_of_its_query() -> None:
    _, pooled, a, b = collection()
    case = Case(pooled, a, b, "nDCG@10")
    outlook = module._Outlook.of(*case.arguments)
    assert outlook is not None
    first = int(np.flatnonzero(outlook.sheet.relevant)[0])
    of_b = int(outlook.sheet.of_b[first])
    query = case.queries[int(case.reach.b.document_rows[of_b])]
    labelled = {one: dict(grades) for one, grades in pooled.items()}
    labelled[query][b[query][int(case.reach.b.rank[of_b]) - 1]] = 1

    factor = module._ideal_factor(
        case.reach, outlook.sheet.of_a[[first]], outlook.sheet.of_b[[first]]
    )

    weights = 1 / np.log2(np.arange(2, 12))
    ideals = [
        float(np.sum(weights[: min(10, sum(one[query].values()))])) for one in (pooled, labelled)
    ]
    assert factor[list(case.queries).index(query)] == pytest.approx(ideals[0] / ideals[1])
    assert np.count_nonzero(factor < 1) <= 1


def test_the_estimate_is_the_first_number_that_decides_to_a_twentieth() -> None:
    _, pooled, a, b = collection()
    case = Case(pooled, a, b, "P@10")
    outlook = module._Outlook.of(*case.arguments)
    assert outlook is not None

    needed = module.labels_needed(*case.arguments)

    assert needed is not None
    assert outlook.decided_after(needed)
    assert not outlook.decided_after(needed - max(1, needed // 20))


def test_no_estimate_where_there_is_a_verdict_or_no_significant_difference() -> None:
    everything, _, a, b = collection()
    _, close, first, second = collection(better=0.0)
    assert module.labels_needed(*Case(everything, a, b, "P@10").arguments) is None
    undecided = Case({query: {**close[query]} for query in close}, first, first, "P@10")
    assert module.labels_needed(*undecided.arguments) is None
    assert module.labels_needed(*Case(close, second, second, "P@10").arguments) is None


@pytest.mark.parametrize("measure", ["nDCG@10", "RR@10", "AP@10"])
def test_the_order_of_the_runs_does_not_matter(measure: str) -> None:
    _, pooled, a, b = collection()
    one, other = (ir.compare(pooled, *runs, measures=measure)[measure] for runs in ((a, b), (b, a)))
    assert one.tipping is not None
    assert other.tipping is not None
    assert one.verdict == "too few judgments"
    assert one.tipping.labels_needed == other.tipping.labels_needed
    assert one.tipping.labels_needed is not None
    assert 1 <= one.tipping.labels_needed <= 99


def test_the_primary_measure_alone_is_estimated_and_json_has_the_number() -> None:
    _, pooled, a, b = collection()
    rows = ir.compare(pooled, a, b, measures=["nDCG@10", "P@10"]).pairs[0].measures
    assert [row.verdict for row in rows.values()] == ["too few judgments"] * 2
    primary, companion = (row.tipping for row in rows.values())
    assert primary is not None
    assert companion is not None
    assert companion.labels_needed is None
    assert primary.as_dict()["labels_needed"] == primary.labels_needed


@pytest.mark.parametrize("policy", [{}, {"tolerance": 0.05}, {"strict": True, "margin": 0.6}])
def test_the_checks_of_a_gate_have_an_estimate_under_their_own_rule(policy: dict[str, Any]) -> None:
    _, pooled, a, b = collection()
    evaluated = [
        ir.evaluate(pooled, run, ir.with_companions("nDCG@10"), keep_unjudged=True, name=name)
        for run, name in ((a, "a"), (b, "b"))
    ]
    check = ir.gate(evaluated[1], evaluated[0], **policy).checks[0]
    assert check.tipping is not None
    assert (check.tipping.labels_needed is None) == check.carried


def test_an_equivalence_that_is_withheld_has_an_estimate() -> None:
    rng = np.random.default_rng(5)
    qrels = {f"q{i}": {"x": 1, "y": 0, "z": int(rng.random() < 0.5)} for i in range(60)}
    a = {query: ["x", "y", f"new-a-{query}", "z"] for query in qrels}
    b = {query: ["x", "z", f"new-b-{query}", "y"] for query in qrels}
    row = ir.compare(qrels, a, b, measures="P@4", margin=0.03, largest_loss=0.5)["P@4"]
    assert row.verdict == "too few judgments"
    assert row.tipping is not None
    assert row.tipping.labels_needed is not None


@pytest.mark.parametrize("by", ["compare", "gate"])
def test_the_verdict_of_the_shop_comes_after_about_as_many_labels(by: str) -> None:
    everything, pooled, a, b = collection(queries=40)
    labelled = {query: dict(grades) for query, grades in pooled.items()}
    measure, estimate, given = "nDCG@10", None, 0
    for _ in range(400):
        evaluated = [
            ir.evaluate(labelled, run, ir.with_companions(measure), keep_unjudged=True, name=name)
            for run, name in ((a, "a"), (b, "b"))
        ]
        result = (
            ir.compare(*evaluated, measures=measure)[measure]
            if by == "compare"
            else ir.gate(*evaluated[::-1], measures=measure).checks[0]
        )
        found = next_labels(labelled, a, b, measure, until=result, budget=4)
        assert found.stop is not None
        if found.stop.decided:
            break
        estimate = estimate or found.stop.labels_needed
        given += len(found.labels)
        for label in found.labels:
            labelled[label.query][label.document] = everything[label.query][label.document]
    assert estimate is not None
    assert estimate / 2 <= given <= 2 * estimate


@pytest.mark.slow
@pytest.mark.parametrize("measure", ["P@10", "nDCG@10"])
def test_most_estimates_are_within_a_factor_of_two(scripts: Any, measure: str) -> None:
    pools, script = scripts
    drawn = pools.bank(pools.WORLDS["many relevant"], 100, np.random.default_rng(3))
    judged = pools.judged_by(drawn, pools.POOLS["A 12, B 4"])
    ratios = [
        replay.ratio
        for replay in script.replays(drawn, judged, measure, queries=30, times=4, seed=1)
    ]
    assert len(ratios) >= 3
    within = sum(0.5 <= ratio <= 2 for ratio in ratios)
    assert within > len(ratios) / 2
