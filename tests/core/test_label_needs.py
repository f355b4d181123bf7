"""Measures that compare judged documents alone, under labels that name only what is relevant."""

import warnings

import numpy as np
import pytest

import idealrank as ir
from idealrank.evaluation.label_needs import look_like_ratings
from idealrank.measures import MEASURES
from idealrank.measures.facts import example_of

QUERIES = [f"q{number}" for number in range(12)]
GOLD = {query: {"a": 1, "c": 1} for query in QUERIES}
LIST = {query: ["a", "b", "c", "d"] for query in QUERIES}
REVERSED = {query: ["d", "c", "b", "a"] for query in QUERIES}
RATINGS = {query: {"a": 5, "b": 1, "c": 4, "d": 2} for query in QUERIES}


def values(qrels, run, measure):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IdealrankWarning)
        return ir.evaluate(qrels, run, [measure]).values


@pytest.mark.parametrize("name", [name for name, cls in MEASURES.items() if cls.compares])
def test_a_list_and_its_reverse_have_one_value_where_judged_documents_are_alike(name: str) -> None:
    measure = example_of(MEASURES[name])
    np.testing.assert_array_equal(values(GOLD, LIST, measure), values(GOLD, REVERSED, measure))


@pytest.mark.parametrize("name", [name for name, cls in MEASURES.items() if cls.compares])
def test_a_measure_that_compares_judged_documents_sees_their_order_where_they_differ(
    name: str,
) -> None:
    measure, qrels = (
        example_of(MEASURES[name]),
        {query: {"a": 1, "b": 1, "c": 0, "d": 0} for query in QUERIES},
    )
    assert (values(qrels, LIST, measure) != values(qrels, REVERSED, measure)).all()


@pytest.mark.parametrize("text", ["AUC", "RankingLoss"])
def test_a_query_without_a_judged_document_that_is_not_relevant_is_left_out(text: str) -> None:
    qrels = {"p": {"a": 1, "b": 0}, "q": {"a": 1}}
    run = ir.evaluate(qrels, {"p": ["a", "b"], "q": ["a", "x"]}, text)
    assert run.scored[:, 0].tolist() == [True, False]
    assert np.isnan(run.values[1, 0])


def test_auc_of_positive_only_labels_is_no_number_with_one_warning_that_says_why() -> None:
    with pytest.warns(ir.IdealrankWarning) as caught:
        run = ir.evaluate(GOLD, LIST, ["AUC", "R@2"])
    assert [str(warning.message) for warning in caught] == [
        "AUC: judged documents are all alike under positive-only labels, so a list and its "
        "reverse have the same value; "
        "Accuracy counts documents without a label as not relevant"
    ]
    assert np.isnan(run.mean()["AUC"])
    assert run.coverage.by_measure["AUC"].scored == 0


def test_bpref_and_judged_only_keep_their_values_with_one_warning() -> None:
    with pytest.warns(
        ir.IdealrankWarning,
        match=r"Bpref, nDCG\(judged_only=True\)@5: judged documents are all alike",
    ) as caught:
        run = ir.evaluate(GOLD, LIST, ["Bpref", "nDCG(judged_only=True)@5"])
    assert len(caught) == 1
    assert run.mean() == {"Bpref": 1.0, "nDCG(judged_only=True)@5": 1.0}


@pytest.mark.parametrize(
    ("qrels", "measure"),
    [
        (RATINGS, "AUC(rel=4)"),  # ratings below 4 are judged not relevant
        (RATINGS, "OPA"),
        (RATINGS, "nDCG(judged_only=True)@5"),
        ({query: {"a": 1, "b": 0} for query in QUERIES}, "AUC"),
        (ir.Qrels(GOLD, labels_are="complete"), "Bpref"),
    ],
)
def test_there_is_no_warning_where_judged_documents_differ_or_the_labels_are_declared(
    qrels, measure: str
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ir.IdealrankWarning)
        ir.evaluate(qrels, LIST, measure)


def test_companions_of_a_comparison_raise_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ir.IdealrankWarning)
        ir.compare(GOLD, LIST, REVERSED, measures="nDCG@5")


def test_arrays_keep_the_value_of_the_policy() -> None:
    assert ir.evaluate([1, 1], [0.2, 0.1], "AUC").mean()["AUC"] == 0.0


@pytest.mark.parametrize(
    "measure", ["AUC", "Bpref", "RankingLoss", "nDCG(judged_only=True)@5", "OPA"]
)
def test_compare_refuses_a_measure_that_sees_no_order(measure: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IdealrankWarning)
        with pytest.raises(
            ir.OptionError, match="judged documents are all alike under positive-only labels"
        ):
            ir.compare(GOLD, LIST, REVERSED, measures=measure)


def test_gate_refuses_a_measure_that_sees_no_order() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IdealrankWarning)
        with pytest.raises(
            ir.OptionError, match="judged documents are all alike under positive-only labels"
        ):
            ir.gate(GOLD, LIST, REVERSED, measures="Bpref")


def test_compare_takes_the_measure_where_the_labels_are_declared_complete() -> None:
    assert (
        ir.compare(GOLD, LIST, REVERSED, measures="Bpref", labels_are="complete")[
            "Bpref"
        ].difference
        == 0.0
    )


def test_compare_of_evaluations_leaves_out_measures_that_see_no_order() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ir.IdealrankWarning)
        runs = [
            ir.evaluate(GOLD, run, ["R@2", "Bpref", "AUC"], name=name)
            for name, run in (("a", LIST), ("b", REVERSED))
        ]
    assert list(ir.compare(*runs).means) == ["R@2"]


def test_the_difference_on_judged_documents_is_unknown_where_they_are_alike() -> None:
    row = ir.compare(GOLD, LIST, REVERSED, measures="nDCG@2")["nDCG@2"]
    assert row.difference < 0
    assert row.difference_judged is None
    assert row.judged_reason == "judged documents all alike"


def test_the_difference_on_judged_documents_of_ratings_says_how_rated_items_are_ordered() -> None:
    qrels = {query: {"a": 5, "c": 2} for query in QUERIES}
    row = ir.compare(qrels, LIST, REVERSED, measures="nDCG@2")["nDCG@2"]
    assert row.difference_judged is not None
    assert row.difference_judged < 0


def test_a_gate_has_no_difference_on_judged_documents_where_they_are_alike() -> None:
    check = ir.gate(GOLD, LIST, REVERSED, measures="nDCG@2").checks[0]
    assert check.difference_judged is None


def test_ratings_raise_one_warning_that_names_the_threshold() -> None:
    with pytest.warns(ir.IdealrankWarning) as caught:
        ir.evaluate(RATINGS, LIST, ["nDCG@10", "R@20", "RR"])
    assert [str(warning.message) for warning in caught] == [
        "grades 1 to 5 look like ratings: every rated item counts as relevant for R@20; set "
        "rel, as in R(rel=4)@20"
    ]


@pytest.mark.parametrize(
    ("qrels", "measures"),
    [
        (RATINGS, ["R(rel=4)@20", "nDCG@10"]),
        ({"q": {"a": 0, "b": 1, "c": 2, "d": 3}}, ["R@20"]),
        ({"q": {"a": 1, "b": 2}}, ["R@20"]),
        ({"q": {"a": 1, "b": 2, "c": 3}}, ["R@20"]),
        ({"q": {"a": 1, "b": 5}}, ["R@20"]),
        ({"q": {"a": 0, "b": 2, "c": 3, "d": 4, "e": 5}}, ["R@20"]),
    ],
)
def test_other_grades_and_set_thresholds_raise_no_warning_of_ratings(
    qrels, measures: list[str]
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", ir.IdealrankWarning)
        ir.evaluate(qrels, {query: ["a", "b", "c"] for query in qrels}, measures)


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ([1, 2, 3, 4, 5], True),
        ([0.5, 1, 3.5, 5], True),
        ([1, 3, 5, 7, 9, 10], True),
        ([1, 2, 3, 4], False),
        ([1, 2, 3, 5.25], False),
        ([1, 2.3, 4, 5], False),
        ([1, 2, 4, 10], False),
        ([0, 1, 2, 3, 5], False),
        ([], False),
    ],
)
def test_ratings_are_told_from_grades_and_counts(grades: list[float], expected: bool) -> None:
    assert look_like_ratings(np.array(grades, float)) is expected
