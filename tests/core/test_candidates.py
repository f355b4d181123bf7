"""Candidates of an evaluation: recorded, checked against the run, and the lift that they give."""

import math
import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats as scipy_stats

import idealrank as ir
from idealrank.bounds.lift import ratio_interval
from idealrank.errors import InputError, OptionError

QRELS = {"q": {"a": 1, "z": 2}, "r": {"a": 1}}
RUN = {"q": ["a", "b"], "r": ["b", "a"]}
CANDIDATES = {"q": ["a", "b", "c"], "r": ["a", "b"]}


def test_candidates_are_recorded() -> None:
    evaluation = ir.evaluate(QRELS, RUN, ["RR"], candidates=CANDIDATES)

    counts = evaluation.provenance.candidates
    assert counts is not None
    assert (counts.form, counts.queries, counts.documents) == ("by query", 2, 5)
    assert counts.judged_outside == 1
    assert ir.evaluate(QRELS, RUN, ["RR"]).provenance.candidates is None
    for candidates, form, documents in ((["a", "b", "z"], "shared", 6), (9, "number", 18)):
        counts = ir.evaluate(QRELS, RUN, "RR", candidates=candidates).provenance.candidates
        assert counts is not None
        assert (counts.form, counts.documents, counts.judged_outside) == (form, documents, 0)


def test_candidates_change_no_value() -> None:
    plain = ir.evaluate(QRELS, RUN, ["RR", "nDCG@10"])
    given = ir.evaluate(QRELS, RUN, ["RR", "nDCG@10"], candidates=CANDIDATES)

    np.testing.assert_array_equal(plain.values, given.values)


def test_a_file_of_candidates_is_an_input(tmp_path: Path) -> None:
    path = tmp_path / "candidates.tsv"
    path.write_text("query\tdocument\nq\ta\nq\tb\nr\ta\nr\tb\n", encoding="utf-8")

    evaluation = ir.evaluate(QRELS, RUN, "RR", candidates=path)

    (record,) = evaluation.provenance.inputs
    assert record.path == str(path)
    assert len(record.sha256) == 64


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        (
            {"q": ["a"], "r": ["a"]},
            r"run 'run', query 'q': found document 'b', which is not a candidate \(2 queries have",
        ),
        (["b", "z"], r"run 'run', query 'q': found document 'a', which is not a candidate"),
        ({"q": ["a", "b"]}, r"candidates: found none for query 'r' \(1 of 2 queries\)"),
        (
            1,
            r"candidates: found 1 documents, but query 'q' has 2 judged ones|at most 1, the number",
        ),
    ],
)
def test_a_run_that_returns_others_is_an_error(candidates: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ir.evaluate(QRELS, RUN, "RR", candidates=candidates)


def test_a_list_longer_than_the_number_of_candidates_is_an_error() -> None:
    with pytest.raises(InputError, match=r"query 'q': found 3 documents, expected at most 2, the"):
        ir.evaluate({"q": {"a": 1}}, {"q": ["a", "b", "c"]}, "RR", candidates=2)


def test_arrays_and_preferences_have_no_candidates() -> None:
    with pytest.raises(InputError, match="candidates: found arrays"):
        ir.evaluate(np.array([[1, 0]]), np.array([[0.2, 0.1]]), "RR", candidates=4)
    preferences = ir.PreferenceQrels({"q": {"g": {"a": 2, "b": 1}}})
    with pytest.raises(OptionError, match=r"candidates: found PreferenceQrels, expected grades"):
        ir.evaluate(preferences, {"q": ["a", "b"]}, candidates=4)


def test_a_run_read_in_parts_cannot_be_compared_with_candidates(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q Q0 a 1 2 x\nr Q0 a 1 2 x\n", encoding="utf-8")

    with pytest.raises(InputError, match=r"found a run that is read in parts, expected one in mem"):
        ir.evaluate(QRELS, path, "RR", candidates=CANDIDATES, memory="8GB")


def test_the_chance_of_an_evaluation_is_that_of_its_queries() -> None:
    evaluation = ir.evaluate(QRELS, RUN, ["RR", "MeanNDCG"], candidates=CANDIDATES)

    chance = evaluation.chance()

    assert chance.per_query() == ir.chance(QRELS, CANDIDATES, "RR").per_query()
    assert list(chance.not_offered) == ["MeanNDCG"]
    part = evaluation.on(["r"])
    assert part.chance().per_query() == {"r": {"RR": 0.75}}


def test_queries_without_judgments_have_a_chance_level_where_they_count() -> None:
    evaluation = ir.evaluate(
        {"q": {"a": 1}},
        {"q": ["a"], "new": ["a"]},
        ["RR", "P@1"],
        "standard,without_judgments=evaluated",
        candidates=2,
    )
    assert evaluation.chance().per_query() == {
        "q": {"RR": 0.75, "P@1": 0.5},
        "new": {"RR": 0.0, "P@1": 0.0},
    }
    assert evaluation.lift()["RR"].left_out == 1


def test_without_candidates_there_is_no_chance_level() -> None:
    evaluation = ir.evaluate(QRELS, RUN, "RR")
    for ask in (evaluation.chance, evaluation.lift):
        with pytest.raises(
            InputError, match=r"run: found no candidates, .*; evaluate with candidates="
        ):
            ask()


def test_candidates_are_not_sent_to_another_process() -> None:
    evaluation = ir.evaluate(QRELS, RUN, "RR", candidates=CANDIDATES)
    copy = pickle.loads(pickle.dumps(evaluation))
    assert copy.candidates is None
    assert copy.provenance.candidates == evaluation.provenance.candidates


def test_the_lift_is_0_at_chance_level_and_1_at_the_ceiling() -> None:
    documents = ["a", "b", "c"]
    grades = {"a": 2, "b": 1}
    orders = ["abc", "acb", "bac", "bca", "cab", "cba"]
    qrels = dict.fromkeys(orders, grades)
    all_orders = {order: list(order) for order in orders}
    best = {order: ["a", "b", "c"] for order in orders}
    measures = ["nDCG", "RR", "AP", "P@1", "DCG@2"]

    average = ir.evaluate(qrels, all_orders, measures, candidates=documents).lift()
    top = ir.evaluate(qrels, best, measures, candidates=documents).lift()

    for text in measures:
        assert average[text].lift == pytest.approx(0, abs=1e-12)
        assert top[text].lift == pytest.approx(1, abs=1e-12)
        assert top[text].interval == pytest.approx((1, 1), abs=1e-12)
        assert average[text].value == pytest.approx(average[text].chance)


def test_queries_that_say_nothing_are_left_out_and_counted() -> None:
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 1, "b": 1}, "s": {"a": 0, "b": 0}}
    run = {query: ["b", "a"] for query in qrels}
    evaluation = ir.evaluate(qrels, run, ["P@1", "RR"], candidates=["a", "b"])

    lift = evaluation.lift()["P@1"]

    assert (lift.n, lift.left_out) == (1, 2)
    assert (lift.value, lift.chance, lift.ceiling) == pytest.approx((1 / 3, 0.5, 2 / 3))
    assert lift.lift == pytest.approx(-1)
    assert lift.interval == (-math.inf, math.inf)


def test_without_any_room_there_is_no_lift() -> None:
    run = ir.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "Success@5", candidates=5)
    lift = run.lift()
    assert math.isnan(lift["Success@5"].lift)
    assert lift.cautions == ("Success@5 of 5 candidates is 1 whatever the ranking",)
    assert lift.as_dict()["measures"]["Success@5"]["lift"] is None


def test_the_interval_is_that_of_a_regression_through_the_origin_where_weights_agree() -> None:
    """With room of one size, the ratio is a mean, and its interval is Student's."""
    rise = np.random.default_rng(3).normal(0.3, 0.2, 25)
    room = np.full(25, 0.5)
    ratio, interval = ratio_interval(rise, room, level=0.9)
    expected = scipy_stats.t.interval(
        0.9, 24, loc=(rise / 0.5).mean(), scale=scipy_stats.sem(rise / 0.5)
    )
    assert ratio == pytest.approx((rise / 0.5).mean())
    assert interval == pytest.approx(expected)


def test_the_interval_is_near_that_of_the_bootstrap() -> None:
    rng = np.random.default_rng(4)
    room = rng.uniform(0.2, 0.9, 200)
    rise = room * rng.beta(2, 2, 200)
    ratio, (low, high) = ratio_interval(rise, room, level=0.95)
    drawn = rng.integers(0, 200, (20_000, 200))
    ratios = rise[drawn].mean(axis=1) / room[drawn].mean(axis=1)
    assert ratio == pytest.approx(rise.mean() / room.mean())
    assert (low, high) == pytest.approx(np.quantile(ratios, [0.025, 0.975]), abs=0.006)


def test_the_lift_of_a_measure_is_found_by_any_spelling() -> None:
    with warnings.catch_warnings(action="error"):
        lift = ir.evaluate(QRELS, RUN, ["Success@1"], candidates=CANDIDATES).lift()
    assert lift["HR@1"] == lift["Success@1"]
    assert list(lift.to_frame().columns) == [
        "measure",
        "value",
        "chance",
        "ceiling",
        "lift",
        "low",
        "high",
        "n",
        "left_out",
    ]
