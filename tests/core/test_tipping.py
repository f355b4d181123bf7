"""Tipping points against slow oracles: enumeration of what unjudged documents may be, and a search
for the share by SciPy's t test.
"""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import ttest_rel

import idealrank as ir
from idealrank.analysis.comparison.places import Places, joined_ranks, matches, unjudged_keys
from idealrank.analysis.comparison.query_table import QueryTable, queries_of, rows_in
from idealrank.analysis.comparison.reach import Reach
from idealrank.analysis.comparison.tipping import Question, Tipping, critical_t, tipping_point
from idealrank.data.qrels import Qrels
from idealrank.stats.design import Design

Ranked = dict[str, list[str]]


def collection(
    seed: int, n_queries: int = 40, depth: int = 6
) -> tuple[dict[str, dict[str, int]], Ranked, Ranked]:
    """Two rankers, and judgments of the first ranks of one and the very first of the other."""
    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    runs: tuple[Ranked, Ranked] = ({}, {})
    for number in range(n_queries):
        query = f"q{number:02d}"
        grades = rng.integers(1, 4, 30) * (rng.random(30) < 0.35)
        for run in runs:
            run[query] = [
                f"d{place}" for place in np.argsort(-(grades + rng.normal(0, 1.5, 30)))[:depth]
            ]
        pool = {*runs[0][query], *runs[1][query][:2]}
        qrels[query] = {document: int(grades[int(document[1:])]) for document in sorted(pool)}
    return qrels, *runs


def tipping_of(
    qrels: Any, a: Ranked, b: Ranked, measure: str, question: Question | None = None
) -> tuple[Tipping, np.ndarray[Any, Any]]:
    evaluations = [ir.evaluate(qrels, run, measure, keep_unjudged=True) for run in (a, b)]
    queries = queries_of(evaluations)
    asked = evaluations[0].measures[0]
    places = [Places.of(one, asked, rows_in(one, queries)) for one in evaluations]
    assert all(isinstance(one, Places) for one in places), places
    first, second = (QueryTable.of(one, [asked], queries).values[:, 0] for one in evaluations)
    n = len(queries)
    matched = matches(*(unjudged_keys(one, rows_in(one, queries)) for one in evaluations))
    reach = Reach.of(*places, n, matched)  # type: ignore[arg-type]
    asked_of = question or Question(critical_t(0.05, n - 1, 2))
    return tipping_point(
        reach, second - first, np.ones(n, bool), Design.of(n), asked_of
    ), second - first


def gain_by_rank(
    qrels: dict[str, dict[str, int]], runs: tuple[Ranked, Ranked], depth: int
) -> list[float]:
    """Mean grade of the relevant judged documents at each rank of both runs, ranks with fewer than
    20 of them joined.
    """
    judged = [
        [qrels[q][run[q][rank]] for run in runs for q in qrels if qrels[q].get(run[q][rank], 0) > 0]
        for rank in range(depth)
    ]
    groups, current = [], []
    for rank in range(depth):
        current.append(rank)
        if sum(len(judged[one]) for one in current) >= 20:
            groups.append(current)
            current = []
    if current:
        groups = [*groups[:-1], [*(groups[-1] if groups else []), *current]]
    found = [0.0] * depth
    for group in groups:
        relevant = [grade for rank in group for grade in judged[rank]]
        for rank in group:
            found[rank] = sum(relevant) / len(relevant)
    return found


def added_by_own(
    qrels: dict[str, dict[str, int]], mine: Ranked, other: Ranked, gains: list[float], depth: int
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """nDCG that a run's own unjudged documents would add, query by query."""
    added = []
    for query in sorted(qrels):
        ideal = sum(
            grade / math.log2(rank + 2)
            for rank, grade in enumerate(sorted(qrels[query].values(), reverse=True)[:depth])
        )
        total = 0.0
        for rank, document in enumerate(mine[query][:depth]):
            if document not in qrels[query] and document not in other[query][:depth]:
                total += gains[rank] / math.log2(rank + 2)
        added.append(total / ideal if ideal else 0.0)
    return np.array(added)


@pytest.mark.parametrize("seed", range(6))
def test_the_share_is_the_one_at_which_scipys_t_test_stops_to_reject(seed: int) -> None:
    qrels, a, b = collection(seed)
    found, differences = tipping_of(qrels, a, b, "nDCG@6")
    gains = gain_by_rank(qrels, (a, b), 6)
    side, sign = ((b, a), 1) if differences.mean() < 0 else ((a, b), -1)
    added = sign * added_by_own(qrels, *side, gains, 6)

    def p(share: float) -> float:
        return float(ttest_rel(differences + share * added, np.zeros(differences.size)).pvalue)

    if p(0.0) > 0.05:
        assert found.significance == 0.0
    elif found.significance is None:
        assert all(p(share) <= 0.05 for share in np.linspace(0, 1, 201))
    else:
        assert p(found.significance) == pytest.approx(0.05, abs=1e-9)
        assert all(p(share) <= 0.05 + 1e-9 for share in np.linspace(0, found.significance, 50))
    flip = -differences.mean() / added.mean() if added.any() else math.inf
    assert found.sign == (pytest.approx(flip) if 0 <= flip <= 1 else None)


def test_judged_side_first_or_second_the_shares_are_the_same() -> None:
    qrels, a, b = collection(1)
    one, _ = tipping_of(qrels, a, b, "nDCG@6")
    other, _ = tipping_of(qrels, b, a, "nDCG@6")
    assert (one.side, other.side) in {("a", "b"), ("b", "a")}
    for name in (
        "significance",
        "sign",
        "significance_both",
        "sign_both",
        "rate_judged",
        "rate_exclusive",
        "likely",
    ):
        assert getattr(one, name) == pytest.approx(getattr(other, name)), name
    assert (one.unjudged_a, one.unjudged_b) == (other.unjudged_b, other.unjudged_a)


def test_a_document_unjudged_on_both_sides_at_one_rank_cancels() -> None:
    qrels = {f"q{i}": {"x": 1, "y": 0} for i in range(12)}
    a = {query: ["u", "y", "x"] for query in qrels}
    b = {query: ["u", "x", "y"] for query in qrels}
    found, _ = tipping_of(qrels, a, b, "nDCG@3")
    assert (found.unjudged_a, found.unjudged_b, found.unjudged_both) == (0, 0, 12)
    assert (found.significance, found.sign, found.significance_both, found.sign_both) == (
        None,
        None,
        None,
        None,
    )
    assert found.reaches


def test_a_shared_document_counts_by_the_ranks_it_has_where_both_sides_have_one_share() -> None:
    # b is behind by one relevant document at rank 2 instead of 1; the shared unjudged one stands at
    # rank 1 of b and 3 of a.
    qrels = {f"q{i}": {"x": 1, "y": 0} for i in range(12)}
    a = {query: ["x", "y", "u"] for query in qrels}
    b = {query: ["u", "x", "y"] for query in qrels}
    found, differences = tipping_of(qrels, a, b, "nDCG@3")
    shift = 1 - 1 / math.log2(4)
    assert found.sign_both == pytest.approx(-float(differences.mean()) / shift)
    assert found.sign is None  # neither run has unjudged documents of its own


def expected_by_enumeration(
    measure: str, lists: dict[str, list[str]], qrels: dict[str, dict[str, int]], share: float
) -> list[float]:
    """Mean value over all ways in which the unjudged documents may be relevant, each by its chance;
    what is divided by stays.
    """
    found = []
    for query in sorted(qrels):
        unjudged = [document for document in lists[query] if document not in qrels[query]]
        total = sum(grade > 0 for grade in qrels[query].values())
        mean = 0.0
        for chosen in itertools.product((0, 1), repeat=len(unjudged)):
            grades = dict(zip(unjudged, chosen, strict=True)) | qrels[query]
            relevant = [
                rank for rank, document in enumerate(lists[query], 1) if grades[document] > 0
            ]
            value = (
                sum((place + 1) / rank for place, rank in enumerate(relevant)) / total
                if measure == "AP"
                else 1 / min([*relevant, 1e9])
            )
            mean += math.prod(share if one else 1 - share for one in chosen) * value
        found.append(mean if total else 0.0)
    return found


@pytest.mark.parametrize("measure", ["AP", "RR"])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_expected_values_of_measures_that_are_no_sums_agree_with_enumeration(
    measure: str, share: float
) -> None:
    qrels, _, lists = collection(3, n_queries=12)
    one = ir.evaluate(qrels, lists, measure, keep_unjudged=True)
    judged, asked = one.judged, one.measures[0].under(one.convention)
    assert judged is not None
    assert judged.unjudged is not None
    curve = asked.expected(judged, judged.unjudged.as_hits())
    assert curve is not None
    values = curve(share)
    oracle = dict(
        zip(sorted(qrels), expected_by_enumeration(measure, lists, qrels, share), strict=True)
    )
    # 1e-9 stands for no relevant document
    np.testing.assert_allclose(values, [oracle[query] for query in judged.queries], atol=1e-8)


@pytest.mark.parametrize("measure", ["nDCG@6", "DCG@6", "P@6", "R@6", "RBP(p=0.7)@6"])
def test_what_documents_add_sums_to_the_value_of_a_list_with_them_judged(measure: str) -> None:
    # Of a measure that is a sum: the value with the hits' own gains is the sum of gain x weight
    # over the hits.
    qrels, lists, _ = collection(5, n_queries=9)
    one = ir.evaluate(qrels, lists, measure, keep_unjudged=True)
    asked, judged = one.measures[0].under(one.convention), one.judged
    assert judged is not None
    weights, worth = asked.weights(judged, judged.hits), asked.worth(judged.hits.grade)
    assert weights is not None
    assert worth is not None
    np.testing.assert_allclose(
        judged.sum_by_query(judged.hits.query, weights * worth), one[measure], rtol=1e-12
    )


def test_ranks_with_few_judged_documents_are_joined_to_their_neighbours() -> None:
    assert joined_ranks(np.array([0, 30, 12, 9, 25, 3])).tolist() == [0, 0, 1, 1, 2, 2]
    assert joined_ranks(np.array([0, 3, 4])).tolist() == [0, 0, 0]
    assert joined_ranks(np.array([0, 20, 20, 20])).tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("measure", "options", "words"),
    [
        ("nDCG@5", {}, "evaluations do not keep rankings"),
        ("ERR@5", {"keep_unjudged": True}, "ERR does not state"),
        ("nDCG(judged_only=True)@5", {"keep_unjudged": True}, "removed from the lists"),
        ("bpref", {"keep_unjudged": True}, "Bpref does not state"),
    ],
)
def test_where_nothing_can_be_said_the_reason_is(
    measure: str, options: dict[str, Any], words: str
) -> None:
    qrels, a, b = collection(2, n_queries=8)
    first, second = (ir.evaluate(qrels, run, measure, **options) for run in (a, b))
    row = ir.compare(first, second, measures=measure)[measure]
    assert row.tipping is None
    assert words in (row.tipping_reason or "")
    assert row.as_dict()["tipping"] is None
    assert words in row.as_dict()["tipping_reason"]


def test_one_file_read_twice_is_one_set_of_judgments() -> None:
    qrels, a, b = collection(4)
    shared = Qrels(qrels)
    one, _ = tipping_of(shared, a, b, "nDCG@6")
    other, _ = tipping_of(qrels, a, b, "nDCG@6")  # a mapping is read anew for each run
    assert one == other


def test_the_first_run_better_only_where_the_other_was_not_judged_is_out_of_reach() -> None:
    # The rankers are equally good; a's whole lists are judged, and of b's only what both show.
    rng = np.random.default_rng(8)
    qrels: dict[str, dict[str, int]] = {}
    runs: tuple[Ranked, Ranked] = ({}, {})
    for number in range(60):
        query = f"q{number:02d}"
        grades = rng.integers(1, 4, 40) * (rng.random(40) < 0.3)
        for run in runs:
            run[query] = [
                f"d{place}" for place in np.argsort(-(grades + rng.normal(0, 1.5, 40)))[:12]
            ]
        qrels[query] = {document: int(grades[int(document[1:])]) for document in runs[0][query]}
    a, b = ({query: documents[:10] for query, documents in run.items()} for run in runs)
    first, second = (ir.evaluate(qrels, run, "nDCG@10", keep_unjudged=True) for run in (a, b))
    row = ir.compare(first, second)["nDCG@10"]
    assert row.p < 0.001
    assert row.verdict == "too few judgments"
    gated = ir.gate(second, first, when_unjudged="neutral")
    assert (gated.passed, gated.outcome) == (False, "too few judgments")
    assert ir.gate(second, first, when_unjudged="fail").outcome == "failed"
    assert ir.gate(second, first, when_unjudged="pass").passed


def ideal_by_hand(grades: dict[str, int], more: list[float], depth: int) -> float:
    return sum(
        gain / math.log2(rank + 2)
        for rank, gain in enumerate(sorted([*grades.values(), *more], reverse=True)[:depth])
    )


@pytest.mark.parametrize("options", ["", "gain=exp2"])
def test_an_ideal_with_more_documents_is_that_of_the_sorted_list(options: str) -> None:
    qrels, lists, _ = collection(6, n_queries=12)
    measure = f"nDCG({options})@6" if options else "nDCG@6"
    one = ir.evaluate(qrels, lists, measure, keep_unjudged=True)
    assert one.judged is not None
    asked = one.measures[0].under(one.convention)
    gain = np.random.default_rng(1).uniform(0.5, 3.5, len(qrels))
    found = asked.ideal_with(one.judged, gain, 8)
    assert found is not None
    for row, query in enumerate(one.judged.queries):
        gains = {
            document: 2**grade - 1 if options else grade for document, grade in qrels[query].items()
        }
        for count in range(9):
            assert found[row, count] == pytest.approx(
                ideal_by_hand(gains, [gain[row]] * count, 6), rel=1e-12
            )


@pytest.mark.parametrize("seed", range(4))
def test_where_the_ideal_moves_the_share_is_the_one_at_which_scipys_t_test_stops_to_reject(
    seed: int,
) -> None:
    qrels, a, b = collection(seed)
    found, differences = tipping_of(qrels, a, b, "nDCG@6")
    gains = gain_by_rank(qrels, (a, b), 6)
    mine, other, sign = (b, a, 1) if differences.mean() < 0 else (a, b, -1)
    added = sign * added_by_own(qrels, mine, other, gains, 6)

    def moved(share: float) -> np.ndarray[Any, np.dtype[np.float64]]:
        values = []
        for row, query in enumerate(sorted(qrels)):
            own = [
                gains[at]
                for at, name in enumerate(mine[query])
                if name not in qrels[query] and name not in other[query]
            ]
            ideal, wanted = ideal_by_hand(qrels[query], [], 6), share * len(own)
            mean = sum(own) / max(len(own), 1)
            low, high = (
                ideal_by_hand(qrels[query], [mean] * count, 6)
                for count in (math.floor(wanted), math.floor(wanted) + 1)
            )
            raised = low + (wanted - math.floor(wanted)) * (high - low) if own else ideal
            values.append(
                (differences[row] + share * added[row]) * (ideal / raised if ideal else 1.0)
            )
        return np.array(values)

    shares = np.linspace(0, 1, 21)
    p = [float(ttest_rel(moved(share), np.zeros(differences.size)).pvalue) for share in shares]
    means = [float(moved(share).mean()) for share in shares]
    gone = next((at for at, one in enumerate(p) if one >= 0.05), None)
    turned = next((at for at, one in enumerate(means) if one * means[0] <= 0), None)
    for share, at in ((found.significance_moved, gone), (found.sign_moved, turned)):
        if at in (None, 0):
            assert share == at
        else:
            assert share is not None
            assert shares[at - 1] < share <= shares[at]
    assert gone is not None


def test_no_ideal_moves_of_measures_without_one() -> None:
    qrels, a, b = collection(1)
    for measure in ("P@6", "DCG@6", "R@6", "nDCG"):
        found, _ = tipping_of(qrels, a, b, measure)
        assert (found.significance_moved, found.sign_moved) == (None, None)


def lists_of(
    rng: np.random.Generator, noises: tuple[float, ...], n_queries: int = 30
) -> tuple[dict[str, dict[str, int]], list[Ranked]]:
    """Judged lists of ten, ranked by grade and noise."""
    qrels = {
        f"q{i:02d}": {f"d{place}": int(grade) for place, grade in enumerate(rng.integers(0, 3, 10))}
        for i in range(n_queries)
    }
    runs: list[Ranked] = []
    for noise in noises:
        order = {
            q: np.argsort(-(np.array(list(grades.values())) + rng.normal(0, noise, 10)))
            for q, grades in qrels.items()
        }
        runs.append({query: [f"d{place}" for place in places] for query, places in order.items()})
    return qrels, runs


@pytest.mark.parametrize(("test", "first"), [("t", 44), ("wilcoxon", 16)])
def test_one_harmless_document_takes_no_verdict_that_holms_method_gives(
    test: Any, first: int
) -> None:
    names, met = ["base", "one", "two", "three"], 0
    for seed in range(first, 80):
        qrels, runs = lists_of(np.random.default_rng(seed), (2.0, 0.5, 0.5, 1.4))

        def found(*, unjudged: bool, qrels: Any = qrels, runs: list[Ranked] = runs) -> list[Any]:
            listed = [
                {**run, "q00": [*run["q00"][:9], f"x{number}"]} if unjudged else run
                for number, run in enumerate(runs)
            ]
            every = [
                ir.evaluate(qrels, ir.Run(run, name=name), "nDCG@10", keep_unjudged=True)
                for name, run in zip(names, listed, strict=True)
            ]
            return [
                pair["nDCG@10"]
                for pair in ir.compare(*every, baseline="base", correction="holm", test=test).pairs
            ]

        for before, after in zip(found(unjudged=False), found(unjudged=True), strict=True):
            # Significant after Holm's correction by more than a hair, and not after Bonferroni's.
            if before.p_corrected < 0.025 and after.p_corrected < 0.025 and 3 * after.p > 0.05:
                met += 1
                assert after.verdict == before.verdict
                assert after.tipping is not None
                assert after.tipping.reaches
        if met:
            return
    pytest.fail("no run was significant by Holm's method alone")


def test_judgments_in_another_order_are_the_same_judgments() -> None:
    qrels, a, b = collection(4)
    for query in qrels:  # equal grades, so that offsets and grades of both tables are the same
        qrels[query] = dict.fromkeys(qrels[query], 1)
    turned = {query: dict(reversed(grades.items())) for query, grades in qrels.items()}
    expected, _ = tipping_of(Qrels(qrels), a, b, "nDCG@6")
    evaluations = [
        ir.evaluate(judged, run, "nDCG@6", keep_unjudged=True)
        for judged, run in ((qrels, a), (turned, b))
    ]
    found = ir.compare(*evaluations, labels_are="pooled")["nDCG@6"].tipping
    assert found is not None
    assert (found.rate_exclusive, found.n_exclusive) == (
        expected.rate_exclusive,
        expected.n_exclusive,
    )


def test_the_order_of_tied_documents_in_the_input_decides_nothing_where_all_orders_count() -> None:
    qrels, a, b = collection(2)
    convention = ir.Convention.of("standard", ties="expected")

    def found(*, turned: bool) -> Tipping:
        runs = []
        for run in (a, b):
            tied = {
                query: {doc: float(-(place // 3)) for place, doc in enumerate(listed)}
                for query, listed in run.items()
            }
            runs.append(
                {
                    query: dict(reversed(scored.items())) if turned else scored
                    for query, scored in tied.items()
                }
            )
        pair = [
            ir.evaluate(qrels, run, "nDCG@6", convention=convention, keep_unjudged=True)
            for run in runs
        ]
        tipping = ir.compare(*pair)["nDCG@6"].tipping
        assert tipping is not None
        return tipping

    one, other = found(turned=False), found(turned=True)
    assert one == other


def test_a_document_listed_twice_meets_itself_place_by_place() -> None:
    qrels, a, b = collection(3)
    twice = {query: [*listed[:5], listed[0]] for query, listed in a.items()}
    options: dict[str, Any] = {
        "convention": ir.Convention.of("standard", duplicates="twice"),
        "keep_unjudged": True,
    }
    one, other = (
        ir.evaluate({q: {"d0": 1} for q in qrels}, run, "P@6", **options) for run in (twice, b)
    )
    there, back = (
        ir.compare(*pair, labels_are="pooled")["P@6"].tipping
        for pair in ((one, other), (other, one))
    )
    assert there is not None
    assert back is not None
    assert there.unjudged_both
    assert (there.unjudged_both, there.unjudged_a, there.unjudged_b) == (
        back.unjudged_both,
        back.unjudged_b,
        back.unjudged_a,
    )


@pytest.mark.parametrize("measure", ["AP", "P@4", "nDCG@4"])
@pytest.mark.parametrize("spread", [False, True])
def test_a_difference_is_lost_before_it_turns_however_steep_its_path(
    measure: str, *, spread: bool
) -> None:
    """Of many queries that are alike one step of the shares leads from significant to significant
    with the other sign.
    """
    qrels = {f"q{i:03d}": {"x": 1, "y": 1, "n": 0, "z": 0} for i in range(400)}
    a = {query: ["n", "x", "z", "u"] for query in qrels}
    b = {
        query: ["v", "w", "n", "y" if spread and number % 20 == 0 else "z"]
        for number, query in enumerate(qrels)
    }

    found, differences = tipping_of(qrels, a, b, measure)

    assert (float(differences.std()) > 0.01) == spread
    assert (found.side, found.sign is None) == ("b", False)
    for lost, turned in (
        (found.significance, found.sign),
        (found.significance_both, found.sign_both),
    ):
        assert lost is not None
        assert turned is not None
        assert turned - 0.05 < lost <= turned


def test_too_few_queries_for_any_significance_give_no_warning() -> None:
    qrels, runs = (
        {"u1": ["a", "b"], "u2": ["c"]},
        ({"u1": ["a", "x", "b"], "u2": ["y", "c"]}, {"u1": ["x", "a"], "u2": ["c"]}),
    )
    found = ir.compare(qrels, *runs)  # warnings are errors
    assert {row.verdict for _, row in found.rows()} == {"undecided"}
    assert all(row.tipping is None or row.tipping.significance == 0 for _, row in found.rows())
