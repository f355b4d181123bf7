"""Judges against a human: recorded numbers of 22 language models, planted faults, and what each
trap of such data does.
"""

import csv
import json
import math
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.data.qrels import Qrels
from idealrank.errors import InputError, OptionError
from idealrank.judging import (
    LabelTable,
    alt_test,
    check_judge,
    correct,
    correct_run,
    label_worth,
    system_orders,
)
from idealrank.judging.leniency import Pairs, by_length, by_rank
from idealrank.judging.system_changes import tau_ap, verdict_changes
from idealrank.stats import paired_t
from tests.conftest import shared_file

# --- recorded numbers -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judges() -> tuple[dict[str, Qrels], dict[str, Any], dict[str, Any]]:
    """Judgments by name, twelve runs, and what other tools compute from them."""
    head, *rows = csv.reader(
        shared_file("data", "llm-judges", "judges.csv").read_text(encoding="utf-8").splitlines()
    )
    queries, documents = [row[0] for row in rows], [row[1] for row in rows]
    grades = np.array([row[2:] for row in rows], float).T
    labels = {
        name: Qrels.from_columns(queries, documents, of, name=name)
        for name, of in zip(head[2:], grades, strict=True)
    }
    runs = {
        f"s{n:02}": ir.read_run(shared_file("data", "llm-judges", "runs", f"s{n:02}.run"))
        for n in range(1, 13)
    }
    return (
        labels,
        runs,
        json.loads(shared_file("golden", "judges.json").read_text(encoding="utf-8")),
    )


NAMES = {
    "percent": "percent_agreement",
    "cohen_kappa": "cohen_kappa",
    "cohen_kappa_linear": "kappa_linear",
    "cohen_kappa_quadratic": "kappa_quadratic",
    "scott_pi": "scott_pi",
    "krippendorff_alpha_nominal": "alpha_nominal",
    "krippendorff_alpha_ordinal": "alpha_ordinal",
    "krippendorff_alpha_interval": "alpha_interval",
    "gwet_ac1": "gwet_ac1",
    "gwet_ac2_quadratic": "gwet_ac2_quadratic",
}


@pytest.mark.parametrize("judge", ["willia-umbrela1", "TREMA-4prompts", "NISTRetrieval-instruct0"])
def test_a_check_has_the_recorded_numbers_of_a_judge(judges: Any, judge: str) -> None:
    labels, runs, recorded = judges
    expected, systems = recorded["agreement"][judge], recorded["systems"][judge]

    found = check_judge(labels["human"], labels[judge], runs, name=judge)

    assert found.n == expected["n"]
    assert {name: one.value for name, one in found.agreement.items()} == pytest.approx(
        {name: expected[record] for name, record in NAMES.items()}, abs=1e-11
    )
    assert (found.bias[0], found.correlation) == pytest.approx(
        (expected["mean_error"], expected["pearson"]), abs=1e-12
    )
    assert found.confusion.tolist() == [
        [
            row[expected["categories"].index(grade)] if grade in expected["categories"] else 0
            for grade in range(4)
        ]
        for row in expected["confusion_human_rows"]
    ]
    assert found.systems is not None
    assert dict(
        zip(found.systems.systems, found.systems.judge.tolist(), strict=True)
    ) == pytest.approx(systems["ndcg10"], abs=1e-12)


def test_orders_of_systems_under_every_judge_are_the_recorded_ones(judges: Any) -> None:
    _, _, recorded = judges
    human = recorded["systems"]["human"]["ndcg10"]
    names = list(human)
    truth = np.array([human[name] for name in names])
    judges_recorded = {name: of for name, of in recorded["systems"].items() if name != "human"}
    assert len(judges_recorded) == 23  # 22, and one of them clipped
    for judge, expected in judges_recorded.items():
        listed = np.array([expected["ndcg10"][name] for name in names])
        assert tau_ap(truth, listed) == pytest.approx(expected["tau_ap"], abs=1e-12), judge
        assert tau_ap(listed, truth) == pytest.approx(expected["tau_ap_swapped"], abs=1e-12), judge


@pytest.mark.parametrize("judge", ["willia-umbrela2", "RMITIR-llama70B"])
def test_tau_swaps_and_the_best_system_are_the_recorded_ones(judges: Any, judge: str) -> None:
    labels, runs, recorded = judges
    expected = recorded["systems"][judge]

    found = system_orders(labels["human"], labels[judge], runs)

    assert (found.tau, found.tau_ap) == pytest.approx(
        (expected["kendall_tau"], expected["tau_ap"]), abs=1e-12
    )
    assert (found.swapped, found.best_judge) == (expected["discordant_pairs"], expected["best"])


def test_rows_in_another_order_are_joined_by_id(judges: Any) -> None:
    labels, _, _ = judges
    path, ours = (
        shared_file("data", "llm-judges", name) for name in ("Olz-halfbin.qrels", "human.qrels")
    )
    original = ir.read_qrels(path)

    given, joined = (
        check_judge(labels["human"], one, name="j") for one in (original, labels["Olz-halfbin"])
    )

    rows = [
        [line.split()[:3] for line in one.read_text(encoding="utf-8").splitlines()]
        for one in (path, ours)
    ]
    assert rows[0] != rows[1]
    assert sorted(rows[0]) == sorted(rows[1])
    assert given.confusion.tolist() == joined.confusion.tolist()
    assert given.agreement == joined.agreement


def test_grades_outside_the_scale_are_refused_clipped_or_dropped_and_counted(judges: Any) -> None:
    labels, _, _ = judges
    judge, human = (
        ir.read_qrels(shared_file("data", "llm-judges", "RMITIR-llama70B.qrels")),
        labels["human"],
    )

    with pytest.raises(
        InputError, match=r"found grade 5, and 1 more outside the scale, expected one of 0, 1, 2, 3"
    ):
        check_judge(human, judge, name="llama")
    clipped, dropped = (
        check_judge(human, judge, name="llama", outside=policy) for policy in ("clip", "drop")
    )  # type: ignore[arg-type]

    assert (clipped.n_outside, clipped.n, dropped.n_outside, dropped.n) == (2, 4423, 2, 4421)
    assert round(clipped.agreement["gwet_ac2_quadratic"].value, 2) == 0.64


def test_errors_by_query_are_several_times_those_of_pairs_as_independent(judges: Any) -> None:
    labels, _, _ = judges

    found = check_judge(labels["human"], labels["willia-umbrela1"], name="j")

    width = found.bias[1][1] - found.bias[1][0]
    # of errors with a standard deviation of 1, which these nearly have
    pairs = 2 * 1.96 * math.sqrt((4 * 0.25) / found.n)
    assert found.n_clusters == 25
    assert width > 2 * pairs


def test_assessors_who_agree_on_every_pair_move_neither_order_nor_verdict() -> None:
    rows = csv.DictReader(
        shared_file("data", "haystack-quepid", "judgements.csv")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    sides: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    for row in rows:
        if row["rating"]:
            sides[row["rater"] != "rater02"].setdefault(row["query_id"], {})[row["doc_id"]] = float(
                row["rating"]
            )
    run = ir.read_run(shared_file("data", "haystack-quepid", "solr-no-vector.run"))
    answered = {
        line.split()[0]
        for line in shared_file("data", "haystack-quepid", "solr-no-vector.run")
        .read_text(encoding="utf-8")
        .splitlines()
    }
    ranked = {
        query: list(run.ranking(query).documents)
        for query in sides[0]
        if query in sides[1] and query in answered
    }
    systems = {"solr": ranked, "upside-down": {query: of[::-1] for query, of in ranked.items()}}

    found = check_judge(*sides, systems, name="others")

    # Two people graded 562 pairs of this search box, and no grade differs: these data cannot show
    # that disagreement matters.
    assert (found.n, found.agreement["percent"].value, found.agreement["cohen_kappa"].value) == (
        562,
        1,
        1,
    )
    assert found.systems is not None
    assert np.array_equal(found.systems.human, found.systems.judge)
    assert found.systems.human[0] != found.systems.human[1]
    assert (found.systems.tau, found.systems.verdicts.flips) == (1, 0)


# --- what a label is worth ------------------------------------------------------------------------


def test_the_worth_of_a_label_is_what_the_corrected_estimate_gains_by_it() -> None:
    rng = np.random.default_rng(5)
    human = rng.integers(0, 4, 20_000).astype(float)
    judge = np.clip(human + rng.integers(-1, 2, human.size), 0, 3)
    n = 10_000

    worth = label_worth(human, judge)
    found = correct(human[:n], judge[:n], judge[n:], tuning="ppi++", ddof=0)

    assert found.effective_labels == pytest.approx(worth.of(n, human.size - n), rel=0.01)
    assert worth.interval[0] < worth.value < worth.interval[1]


def test_a_judge_without_information_is_worth_nothing_and_a_perfect_one_all() -> None:
    human = np.arange(40.0) % 4

    assert label_worth(human, np.ones(40)).value == 0
    # it says the opposite: weights below 0 are not used
    assert label_worth(human, 3 - human).value == 0
    assert label_worth(human, human).value == pytest.approx(1)
    assert (
        label_worth(human, human).most == pytest.approx(math.inf)
        or label_worth(human, human).most > 1e12
    )


def test_whole_queries_are_worth_what_their_totals_explain() -> None:
    rng = np.random.default_rng(3)
    queries = np.repeat(np.arange(50), 20)
    level = rng.normal(0, 1, 50)[queries]
    human, judge = level + rng.normal(0, 3, 1000), level + rng.normal(0, 3, 1000)

    pair, query = (label_worth(human, judge, queries, by=by).value for by in ("pair", "cluster"))

    assert pair < 0.1
    assert query > 0.3


# --- planted faults of a judge --------------------------------------------------------------------

HUMAN = {f"q{n}": {f"d{k}": (n + k) % 3 for k in range(20)} for n in range(8)}


def test_a_judge_that_is_kinder_to_the_top_is_found() -> None:
    judge = {
        query: {name: grade + (int(name[1:]) < 10 and grade < 2) for name, grade in of.items()}
        for query, of in HUMAN.items()
    }
    run = {query: [f"d{k}" for k in range(20)] for query in HUMAN}

    found = check_judge(HUMAN, judge, {"s": run}, name="kind").by_rank
    fair = check_judge(HUMAN, HUMAN, {"s": run}, name="fair").by_rank

    assert found is not None
    assert fair is not None
    assert found.interval[0] > 0.2
    assert (fair.difference, fair.interval) == (0, (0, 0))


def test_a_judge_that_hedges_is_not_called_harsh_at_the_top() -> None:
    judge = {query: dict.fromkeys(of, 1) for query, of in HUMAN.items()}
    run = {query: sorted(of, key=lambda name, of=of: -of[name]) for query, of in HUMAN.items()}

    found = check_judge(HUMAN, judge, {"s": run}, name="hedges").by_rank

    assert found is not None
    assert found.groups[0].error < -0.9  # every good document at the top has grade 1
    assert found.difference == pytest.approx(0, abs=1e-12)


def test_a_judge_that_is_kinder_to_long_documents_is_found() -> None:
    judge = {
        query: {name: min(grade + (int(name[1:]) >= 15), 2) for name, grade in of.items()}
        for query, of in HUMAN.items()
    }

    found = check_judge(
        HUMAN, judge, name="long", lengths={f"d{k}": k for k in range(20)}
    ).by_length

    assert found is not None
    assert found.interval[0] > 0.3


def test_groups_leave_out_documents_without_a_rank_or_length() -> None:
    pairs = Pairs(
        queries=("q", "q", "r"),
        documents=("a", "b", "a"),
        human=np.zeros(3),
        judge=np.ones(3),
        clusters=np.array([0, 0, 1]),
    )

    assert sum(one.n for one in by_rank(pairs, {"s": ir.Run({"q": ["a"], "r": ["z"]})}).groups) == 1
    assert by_length(pairs, {"a": 3}).groups == ()


def test_a_constant_judge_has_kappa_0_no_error_no_worth_and_a_warning() -> None:
    found = check_judge(
        HUMAN, {query: dict.fromkeys(of, 1) for query, of in HUMAN.items()}, name="one"
    )

    kappa = found.agreement["cohen_kappa"]
    assert (
        kappa.value,
        found.correlation,
        found.worth_of_pair.value,
        found.worth_of_query.value,
    ) == (0, 0, 0, 0)
    assert kappa.standard_error == 0 or math.isnan(kappa.standard_error)
    assert any("gives grade 1 to every document" in line for line in found.warnings)


def test_a_judge_of_the_family_of_a_ranker_is_warned_of() -> None:
    run = {query: list(of) for query, of in HUMAN.items()}
    given = {"families": {"m": "llama", "dense": "llama", "bm25": "none"}, "name": "m"}

    found = check_judge(HUMAN, HUMAN, {"dense": run, "bm25": run}, **given)  # type: ignore[arg-type]

    assert [line for line in found.warnings if "family" in line] == [
        "m is of the family llama, as dense: judges tend to prefer the work of their own family"
    ]


def test_pairs_that_one_side_lacks_are_counted_and_left_out() -> None:
    judge = {
        query: {name: grade for name, grade in of.items() if name != "d3"} | {"new": 1}
        for query, of in HUMAN.items()
    }

    found = check_judge(HUMAN, judge, name="j")

    assert (found.n, found.n_missing, found.n_extra) == (152, 8, 8)
    assert found.agreement["percent"].value == 1


# --- systems under two judges ---------------------------------------------------------------------


def test_a_policy_that_drops_every_grade_says_so() -> None:
    far = {query: dict.fromkeys(of, 9) for query, of in HUMAN.items()}
    with pytest.raises(
        InputError, match=r"judge: found no grade in the scale .* all \d+ were dropped"
    ):
        check_judge(HUMAN, far, outside="drop")


def test_verdicts_of_all_pairs_are_those_of_one_t_test_each() -> None:
    rng = np.random.default_rng(11)
    first = rng.random((6, 12)) + np.linspace(0, 0.6, 6)[:, None]
    second = rng.random((6, 12)) + np.linspace(0.5, 0, 6)[:, None]

    def verdict(table: Any, a: int, b: int) -> float:
        return (
            float(np.sign((table[b] - table[a]).mean()))
            if paired_t(table[a], table[b]).p <= 0.05
            else 0.0
        )

    pairs = [
        (verdict(first, a, b), verdict(second, a, b)) for a in range(6) for b in range(a + 1, 6)
    ]
    found = verdict_changes(first, second)

    assert found.n_pairs == 15
    assert found.same == sum(one == two for one, two in pairs)
    assert found.lost == sum(one != 0 and two == 0 for one, two in pairs) > 0
    assert found.gained == sum(one == 0 and two != 0 for one, two in pairs) > 0
    assert found.reversed == sum(one * two < 0 for one, two in pairs) > 0
    assert found.same + found.flips == 15


def test_tau_can_be_perfect_while_a_verdict_is_lost() -> None:
    strong, weak = (
        np.tile([0.1, 0.9], (1, 1)).T * np.ones((2, 6)),
        np.array([[0.1, 0.9] * 3, [0.9, 0.11] * 3]),
    )
    strong = strong + np.linspace(0, 0.05, 6)

    assert tau_ap(strong.mean(axis=1), weak.mean(axis=1)) == 1
    assert verdict_changes(strong + np.array([[0.01] * 6, [0.0, 0.02] * 3]), weak).lost == 1


# --- corrected values of runs ---------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["nDCG@3", "RR", "AP"])
def test_a_corrected_run_is_the_corrected_mean_of_its_values_by_query(measure: str) -> None:
    rng = np.random.default_rng(2)
    judge = {
        f"q{n}": {f"d{k}": int(rng.integers(0, 3)) for k in range(5)} | {"d9": 1} for n in range(30)
    }
    human = {
        query: {name: int(rng.integers(0, 3)) for name in judge[query]} | {"d9": 1}
        for query in list(judge)[:9]
    }
    a, b = ({query: list(rng.permutation(list(of))) for query, of in judge.items()} for _ in "ab")

    found = correct_run(human, judge, a, measure, against=b)

    values = [
        {query: of[measure] for query, of in ir.evaluate(qrels, run, measure).per_query().items()}
        for qrels in (human, judge)
        for run in (a, b)
    ]
    y = [values[0][query] - values[1][query] for query in human]
    f = [values[2][query] - values[3][query] for query in judge]
    expected = correct(y, f[:9], f[9:])
    assert found.found.estimate == pytest.approx(expected.estimate, abs=1e-14)
    assert found.found.interval == pytest.approx(expected.interval, abs=1e-14)
    assert found.signs_differ == (np.mean(y) * np.mean(f) < 0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: check_judge(HUMAN, {"x": {"d1": 1}}),
            InputError,
            "no pair of query and document with a human grade",
        ),
        (
            lambda: check_judge({"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 0}}),
            InputError,
            "judge: found one query with grades of both the human and the judge, expected at "
            "least two",
        ),
        (
            lambda: check_judge(HUMAN, HUMAN, clusters={"q0": "u"}),
            InputError,
            "found none for query 'q1'",
        ),
        (lambda: check_judge(HUMAN, HUMAN, scale=[math.nan, 1]), OptionError, "found nan"),
        (lambda: check_judge(HUMAN, HUMAN, confidence=2), OptionError, "confidence=2"),
        (lambda: label_worth([1, math.nan, 2], [1, 2, 3]), InputError, "human, unit 1: found nan"),
        (lambda: label_worth(["a", "b"], [1, 2]), InputError, "found what is no number"),
        (lambda: label_worth([1, 2], [1, 2], confidence=2), OptionError, "confidence=2"),
        (lambda: label_worth([1, 2], [1]), InputError, "expected one label for each"),
        (lambda: label_worth([1, 2], [1, 2], by="word"), OptionError, "expected pair or cluster"),
        (lambda: system_orders(HUMAN, HUMAN, {}), InputError, "runs: found none"),
        (
            lambda: system_orders(HUMAN, {"x": {"a": 1}}, {"s": {"q0": ["d1"]}}),
            InputError,
            "found no query of the human judgments",
        ),
        (
            lambda: correct_run(HUMAN, {"q0": {"a": 1}}, {"q0": ["a"]}),
            InputError,
            "query 'q1': found no judgment",
        ),
    ],
)
def test_a_refusal_says_what_was_found(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_the_test_against_annotators_keeps_the_clusters_of_the_check() -> None:
    rng = np.random.default_rng(5)
    queries = [f"q{number}" for number in range(24)]
    documents = [f"d{number}" for number in range(10)]

    def graded() -> dict[str, dict[str, float]]:
        return {query: {name: float(rng.integers(0, 3)) for name in documents} for query in queries}

    people = {name: graded() for name in ("ann", "ben", "cas")}
    judge = graded()
    clusters = {query: f"topic {number // 4}" for number, query in enumerate(queries)}
    table = LabelTable.of(people)

    check = check_judge(people["ann"], judge, clusters=clusters, annotators=table)

    wanted = alt_test(
        table.grades,
        [judge[query][name] for query, name in zip(table.queries, table.documents, strict=True)],
        annotators=table.raters,
        clusters=[clusters[query] for query in table.queries],
    )
    by_query = check_judge(people["ann"], judge, annotators=table).alt_test
    assert check.alt_test == wanted
    assert check.alt_test != by_query


def test_the_best_system_has_the_least_value_where_less_is_better() -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    runs = {"s": {"q": ["a", "b"]}, "t": {"q": ["b", "a"]}}

    orders = system_orders(qrels, qrels, runs, "CoverageError")

    assert orders.human.tolist() == [1.0, 2.0]
    assert (orders.best_human, orders.best_judge, orders.tau_ap) == ("s", "s", 1.0)
