"""Shares at which unjudged documents are likely to be relevant: gaps, new documents, and a declared
sampling of negatives.
"""

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import idealrank as ir
from idealrank.analysis.comparison.pair_tippings import Tippings
from idealrank.analysis.comparison.places import Places, matches, unjudged_keys
from idealrank.analysis.comparison.query_table import queries_of, rows_in
from idealrank.analysis.comparison.reach import Gaps, Reach, RunRates
from idealrank.analysis.comparison.tipping import (
    Question,
    Tipping,
    critical_t,
    tipping_point,
)
from idealrank.stats.design import Design

Judgments = dict[str, dict[str, int]]
Ranked = dict[str, list[str]]


def evaluated(qrels: Judgments, runs: tuple[Ranked, Ranked], measure: str) -> list[Any]:
    shared = ir.Qrels(qrels)
    return [ir.evaluate(shared, run, measure, keep_unjudged=True) for run in runs]


def reach_of(evaluations: list[Any]) -> Reach:
    queries = queries_of(evaluations)
    rows = [rows_in(one, queries) for one in evaluations]
    places = [
        Places.of(one, one.measures[0], at) for one, at in zip(evaluations, rows, strict=True)
    ]
    matched = matches(*(unjudged_keys(one, at) for one, at in zip(evaluations, rows, strict=True)))
    return Reach.of(*places, len(queries), matched)  # type: ignore[arg-type]


def tipping_of(evaluations: list[Any], sampled_negatives: float | None = None) -> Tipping:
    queries = queries_of(evaluations)
    a, b = (one.values[:, 0] for one in evaluations)
    tippings = Tippings(
        evaluations,
        evaluations[0].measures,
        queries,
        every_measure=True,
        sampled_negatives=sampled_negatives,
    )
    question = Question(critical_t(0.05, len(queries) - 1, 2))
    reach = tippings.reach((0, 1), 0)
    assert isinstance(reach, Reach)
    return tipping_point(
        reach, b - a, np.ones(len(queries), np.bool_), Design.of(len(queries)), question
    )


def index_that_grew(
    seed: int, n_queries: int = 80
) -> tuple[Judgments, Judgments, tuple[Ranked, Ranked]]:
    """Two runs that are equally good; all is judged but two new documents of b, which are as
    relevant as the two of a that they replace.

    Both show five documents, of which four in five are relevant, and three of their own, of which
    one in ten is.
    """
    rng = np.random.default_rng(seed)
    everything: Judgments = {}
    judged: Judgments = {}
    a: Ranked = {}
    b: Ranked = {}
    for number in range(n_queries):
        query = f"q{number:02d}"
        shares = {"both": (5, 0.8), "a": (3, 0.1), "b": (3, 0.1), "old": (2, 0.6), "new": (2, 0.6)}
        grades = {
            f"{kind}{at}": int(rng.random() < share)
            for kind, (count, share) in shares.items()
            for at in range(count)
        }
        everything[query] = grades
        judged[query] = {
            document: grade for document, grade in grades.items() if not document.startswith("new")
        }
        own = {run: [f"{run}{at}" for at in range(3)] for run in "ab"}
        both = [f"both{at}" for at in range(5)]
        a[query] = rng.permutation([*both, "old0", "old1", *own["a"]]).tolist()
        b[query] = rng.permutation([*both, "new0", "new1", *own["b"]]).tolist()
    return everything, judged, (a, b)


def test_new_documents_that_no_pool_could_hold_do_not_make_a_run_worse() -> None:
    everything, judged, runs = index_that_grew(3)

    with_all = ir.compare(*evaluated(everything, runs, "P@10"), rng=1)["P@10"]
    row = ir.compare(*evaluated(judged, runs, "P@10"), rng=1)["P@10"]

    assert with_all.verdict == "undecided"
    assert row.p < 0.001
    assert row.verdict == "too few judgments"
    # The documents that b alone shows are rarely relevant: their rate would have carried the
    # verdict.
    assert row.tipping is not None
    assert row.tipping.rate_exclusive is not None
    assert row.tipping.rate_exclusive + 0.1 < (row.tipping.significance or 1.0) < row.tipping.likely


def test_documents_that_lack_judgments_by_chance_are_not_taken_as_new() -> None:
    everything, _, runs = index_that_grew(4)
    rng = np.random.default_rng(5)
    thinned = {
        query: {d: grade for d, grade in grades.items() if rng.random() < 0.8}
        for query, grades in everything.items()
    }

    reach = reach_of(evaluated(thinned, runs, "P@10"))
    _, limits_of_b = reach.limits

    smaller = min(
        limits_of_b.judged.limit(norm.ppf(0.9)), limits_of_b.exclusive.limit(norm.ppf(0.9))
    )
    assert limits_of_b.high == pytest.approx(smaller, abs=0.02)


@pytest.mark.parametrize("seed", range(3))
def test_gaps_are_unjudged_documents_above_a_judged_one_that_the_run_alone_shows(seed: int) -> None:
    everything, _, (a, b) = index_that_grew(seed, 20)
    rng = np.random.default_rng(seed)
    judged = {
        query: {d: grade for d, grade in grades.items() if rng.random() < 0.5}
        for query, grades in everything.items()
    }
    missing = filled = 0
    for query, documents in b.items():
        alone = [document for document in documents if document not in a[query]]
        deepest = max(
            (at for at, document in enumerate(alone) if document in judged[query]), default=0
        )
        missing += sum(document not in judged[query] for document in alone[:deepest])
        filled += sum(document in judged[query] for document in alone[:deepest])

    reach = reach_of(evaluated(judged, (a, b), "P@10"))

    assert reach._rates(reach.b, reach.judged_alone[1], reach.own_b).gaps == Gaps(missing, filled)


@pytest.mark.parametrize(
    ("own", "other"),
    [((30, 70), (15, 85)), ((18, 82), (15, 85)), ((3, 0), (0, 40)), ((0, 9), (0, 9))],
)
def test_gaps_exceed_others_by_the_log_odds_ratio(
    own: tuple[int, int], other: tuple[int, int]
) -> None:
    table = np.array([own, other]) + 0.5
    log_ratio = np.log(table[0, 0] * table[1, 1] / (table[0, 1] * table[1, 0]))
    assert Gaps(*own).exceeds(Gaps(*other)) == (
        log_ratio > norm.ppf(0.9) * np.sqrt((1 / table).sum())
    )


def rates_of_b(seed: int = 6) -> RunRates:
    everything, _, runs = index_that_grew(seed)
    rng = np.random.default_rng(seed)
    judged = {
        query: {d: grade for d, grade in grades.items() if rng.random() < 0.6}
        for query, grades in everything.items()
    }
    reach = reach_of(evaluated(judged, runs, "P@10"))
    return reach._rates(reach.b, reach.judged_alone[1], reach.own_b)


def test_the_lower_limit_falls_where_a_pool_misses_own_documents_and_has_shared_ones() -> None:
    rates = rates_of_b()
    odds = rates.gaps.odds
    alike, rarer, unknown = (
        Gaps(round(1000 * odds), 1000),
        Gaps(round(1000 * odds / 16), 1000),
        Gaps(1, 3),
    )

    lows = [rates.limits(shared, rates.gaps, None).low for shared in (alike, rarer, unknown)]

    assert lows[0] == pytest.approx(
        rates.limits(alike, alike, None).exclusive.limit(-norm.ppf(0.9)), abs=1e-3
    )
    # the fourth root of 16
    assert lows[1] / (1 - lows[1]) == pytest.approx(lows[0] / (1 - lows[0]) / 2, rel=0.01)
    assert lows[2] == 0


def sampled(seed: int, share: float) -> tuple[Judgments, tuple[Ranked, Ranked]]:
    """b is better; every relevant document has a label, and a share of the others."""
    rng = np.random.default_rng(seed)
    labelled: Judgments = {}
    runs: tuple[Ranked, Ranked] = ({}, {})
    for number in range(80):
        query = f"q{number:02d}"
        grades = {
            f"{run}{at}": int(rng.random() < rate)
            for run, rate in (("a", 0.3), ("b", 0.42))
            for at in range(10)
        }
        labelled[query] = {"other": 0} | {
            d: grade for d, grade in grades.items() if grade or rng.random() < share
        }
        for run, name in zip(runs, "ab", strict=True):
            run[query] = [f"{name}{at}" for at in range(10)]
    return labelled, runs


def test_a_declared_sampling_of_negatives_gives_the_verdict_back() -> None:
    labelled, runs = sampled(7, 0.3)
    evaluations = evaluated(labelled, runs, "P@10")

    undeclared, declared = tipping_of(evaluations), tipping_of(evaluations, 0.3)

    assert undeclared.side == declared.side == "a"
    assert not undeclared.reaches
    assert declared.reaches
    assert declared.likely < 0.05


def test_a_declaration_that_the_labels_contradict_does_not_carry_a_verdict() -> None:
    """Documents of a below rank 5 have no label at all, whatever they are: more than a sampling of
    negatives leaves.
    """
    labelled, runs = sampled(7, 0.3)
    cut = {
        query: {d: grade for d, grade in grades.items() if d not in runs[0][query][5:]}
        for query, grades in labelled.items()
    }

    tipping = tipping_of(evaluated(cut, runs, "P@10"), 0.3)

    assert tipping.side == "a"
    assert tipping.likely > 0.2
    assert not tipping.reaches


@pytest.mark.parametrize("cutoff", ["", "@5"])
def test_what_a_document_adds_to_rr_alone_is_what_grading_it_adds(cutoff: str) -> None:
    rng = np.random.default_rng(8)
    qrels = {
        f"q{i}": {f"d{at}": int(rng.random() < 0.2) for at in range(12) if rng.random() < 0.5}
        | {"never": 1}
        for i in range(30)
    }
    run = {query: rng.permutation([f"d{at}" for at in range(12)]).tolist() for query in qrels}
    evaluation = ir.evaluate(qrels, run, f"RR{cutoff}", keep_unjudged=True)
    judged = evaluation.judged
    assert judged is not None
    assert judged.unjudged is not None
    measure = evaluation.measures[0].under(evaluation.convention)
    within = judged.unjudged.part(judged.unjudged.above(5 if cutoff else 0)).as_hits()

    added = measure.added_alone(judged, within)

    assert added is not None
    assert added.size > 20
    for query, rank, adds in zip(
        within.query.tolist(), within.rank.tolist(), added.tolist(), strict=True
    ):
        name = judged.queries[query]
        graded = {name: qrels[name] | {run[name][rank - 1]: 1}}
        value = ir.evaluate(graded, {name: run[name]}, f"RR{cutoff}").values[0, 0]
        assert adds == pytest.approx(value - evaluation.values[query, 0])


def test_compare_and_gate_take_the_declaration() -> None:
    labelled, runs = sampled(7, 0.3)

    def verdicts(**declared: float) -> list[str]:
        evaluations = [
            ir.evaluate(labelled, run, "P@10", keep_unjudged=True, labels_are="pooled", **declared)
            for run in runs
        ]  # type: ignore[arg-type]
        return [
            ir.compare(*evaluations, rng=1)["P@10"].verdict,
            ir.gate(evaluations[0], evaluations[1], when_unjudged="neutral").outcome,
        ]

    assert verdicts() == ["too few judgments", "too few judgments"]
    assert verdicts(sampled_negatives=0.3) == ["better", "failed"]
