"""Aggregation, gold questions and the alternative annotator test, against recorded numbers of other
tools and definitions.
"""

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest

from idealrank.errors import InputError, OptionError
from idealrank.judging import (
    aggregations,
    agreement,
    alt_test,
    dawid_skene,
    gold_accuracy,
    majority_vote,
)
from idealrank.judging.aggregation import lower_median
from tests.conftest import shared_file

NAN = math.nan


@pytest.fixture(scope="module")
def recorded() -> tuple[dict[str, Any], dict[str, Any]]:
    """Grades by judge, and what other tools compute from them."""
    lines = shared_file("data", "llm-judges", "judges.csv").read_text(encoding="utf-8").splitlines()
    grades = np.array([line.split(",")[2:] for line in lines[1:]], float)
    content = json.loads(shared_file("golden", "judges.json").read_text(encoding="utf-8"))
    return dict(zip(lines[0].split(",")[2:], grades.T, strict=True)), content


# --- aggregation ----------------------------------------------------------------------------------

VIEWS: dict[str, Any] = {
    "as_found": lambda x: x,
    "clipped_to_0_3": lambda x: np.clip(x, 0, 3),
    "binary_ge2": lambda x: (x >= 2).astype(float),
}


def workers(recorded: Any, group: str, view: str) -> tuple[Any, Any, dict[str, Any]]:
    """Ratings of a group of judges, the human's grades, and the record."""
    grades, content = recorded
    entry = content["dawid_skene"][group]
    names = list(entry["as_found"]["defaults"]["worker_diagonal_mean_weighted_by_prior"])
    return (
        np.stack([VIEWS[view](grades[name]) for name in names], axis=1),
        VIEWS[view](grades["human"]),
        entry[view],
    )


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("group", ["7_one_per_team", "22"])
def test_majority_votes_are_those_of_crowd_kit(recorded: Any, group: str, view: str) -> None:
    ratings, human, expected = workers(recorded, group, view)
    lowest, highest = majority_vote(ratings), majority_vote(ratings, ties="highest")

    assert (lowest.grades == human).mean() == pytest.approx(
        expected["majority_vote_accuracy"], abs=1e-12
    )
    assert (highest.grades == human).mean() == pytest.approx(
        expected["majority_vote_accuracy_ties_to_highest"], abs=1e-12
    )
    assert lowest.n_ties == highest.n_ties == expected["majority_vote_ties"]
    assert agreement(np.stack([human, lowest.grades], axis=1), "cohen_kappa") == pytest.approx(
        expected["majority_vote_kappa"], abs=1e-12
    )
    if "median_accuracy_lower_median" in expected:
        assert (lower_median(ratings) == human).mean() == pytest.approx(
            expected["median_accuracy_lower_median"], abs=1e-12
        )


@pytest.mark.parametrize(
    ("group", "view", "most"), [("7_one_per_team", "as_found", 10), ("22", "clipped_to_0_3", 5)]
)
def test_dawid_skene_is_that_of_crowd_kit_after_every_number_of_steps(
    recorded: Any, group: str, view: str, most: int
) -> None:
    check_steps(*workers(recorded, group, view), most)


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("group", ["7_one_per_team", "22"])
def test_dawid_skene_is_that_of_crowd_kit_after_a_hundred_steps(
    recorded: Any, group: str, view: str
) -> None:
    check_steps(*workers(recorded, group, view), 100)


def check_steps(ratings: Any, human: Any, expected: dict[str, Any], most: int) -> None:
    """Labels, priors and likelihoods after each recorded number of steps."""
    for steps, entry in expected["by_iterations"].items():
        if int(steps) > most:
            continue
        found = dawid_skene(ratings, steps=int(steps))
        assert (found.grades == human).mean() == pytest.approx(entry["accuracy"], abs=1e-12)
        assert {
            str(int(one)): int((found.grades == one).sum()) for one in found.categories
        } == entry["label_counts"]
        priors = {
            str(int(one)): share for one, share in zip(found.categories, found.priors, strict=True)
        }
        assert priors == pytest.approx(entry["priors"], abs=1e-9)
        for before, likelihood in expected["log_likelihood_before_iteration"].items():
            if int(before) <= int(steps) + 1:
                assert found.log_likelihoods[int(before) - 1] == pytest.approx(likelihood, abs=1e-6)
        assert min(np.diff(found.log_likelihoods), default=0) > -1e-6


@pytest.mark.slow
def test_more_steps_of_dawid_skene_fit_better_and_agree_less_with_the_human(recorded: Any) -> None:
    ratings, human, _ = workers(recorded, "22", "clipped_to_0_3")
    found = {one.name: one.accuracy for one in aggregations(ratings, human, steps=(2, 20))}

    assert round(found["majority vote"], 3) == 0.514
    assert round(found["Dawid-Skene, 2 steps"], 3) == 0.487  # .488 where the two grades of 5 stay
    assert found["Dawid-Skene, 20 steps"] < found["Dawid-Skene, 2 steps"] < found["majority vote"]


def test_dawid_skene_finds_a_rater_who_says_the_opposite() -> None:
    rng = np.random.default_rng(1)
    true = rng.integers(0, 2, 400)
    ratings = np.stack(
        [np.where(rng.random(400) < 0.1, 1 - true, true) for _ in range(3)] + [1 - true], axis=1
    ).astype(float)
    ratings[::7, 1] = NAN
    found = dawid_skene(ratings, steps=30)

    assert (found.grades == true).mean() > 0.97
    assert found.errors[3, 0, 1] > 0.95
    assert found.errors.sum(axis=2) == pytest.approx(np.ones((4, 2)))


def test_units_without_a_rating_have_no_grade() -> None:
    ratings = [[0, 1], [NAN, NAN], [1, 1]]
    assert np.isnan(majority_vote(ratings).grades).tolist() == [False, True, False]
    assert np.isnan(dawid_skene(ratings, steps=2).grades).tolist() == [False, True, False]


# --- gold questions -------------------------------------------------------------------------------


def test_the_interval_of_an_accuracy_is_wilsons() -> None:
    """Newcombe (1998), Statistics in Medicine 17, table I, method 3: 81 of 263 gives .2553 to
    .3662, 15 of 148 gives .0624 to .1605.
    """
    for right, n, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        ratings = np.repeat([1.0, 0.0], [right, n - right])[:, None]
        one = gold_accuracy(ratings, np.ones(n)).assessors[0]
        assert one.interval == pytest.approx((low, high), abs=6e-5)


def test_who_is_below_the_target_or_drifts_is_named_and_so_is_a_question_that_splits() -> None:
    rng = np.random.default_rng(2)
    gold = rng.integers(0, 3, 200).astype(float)
    batches = np.repeat(["week 1", "week 2", "week 3", "week 4"], 50)

    def with_errors(share: Any) -> Any:
        return np.where(rng.random(200) < share, (gold + 1) % 3, gold)

    drifting = np.where(batches == "week 4", 0.5, 0.05)
    ratings = np.stack([with_errors(0.05), with_errors(0.4), with_errors(drifting)], axis=1)
    ratings[17] = (gold[17] + 1) % 3
    report = gold_accuracy(
        ratings, gold, assessors=["ann", "ben", "cat"], batches=batches, target=0.9
    )

    assert report.to_retrain == ("ben", "cat")
    assert 17 in report.splitting
    assert [[one.drifts for one in of.batches] for of in report.assessors] == [
        [False] * 4,
        [False] * 4,
        [False, False, False, True],
    ]


def test_an_assessor_who_is_always_wrong_is_named_with_clusters_too() -> None:
    """Without variation between queries each query counts as one question: Wilson's interval of 0
    of 6.
    """
    report = gold_accuracy([[0, 1]] * 12, [1] * 12, clusters=np.repeat(np.arange(6), 2), target=0.8)

    z2 = 1.959963984540054**2
    assert report.to_retrain == ("0",)
    assert report.assessors[0].interval == pytest.approx((0, z2 / (6 + z2)), abs=1e-12)
    assert report.assessors[1].interval == pytest.approx((6 / (6 + z2), 1), abs=1e-12)


def test_an_assessor_with_gold_questions_of_one_query_does_not_stop_the_report() -> None:
    ratings = [[0, 1], [1, 1], [NAN, 1], [NAN, 0]]
    report = gold_accuracy(ratings, [1, 1, 1, 1], clusters=["p", "p", "q", "r"])

    assert report.assessors[0].accuracy == 0.5
    assert report.assessors[0].interval[0] < 0.15
    assert report.assessors[0].interval[1] > 0.85


def test_limits_of_the_chart_hold_what_chance_explains() -> None:
    """Each batch of a steady assessor leaves its limits with a chance of 0.27 %: of 1,900 batches
    5.1, more than 14 once in 3,000 tries.
    """
    rng = np.random.default_rng(3)
    gold = np.zeros(500)
    out = 0
    for _ in range(100):
        ratings = (rng.random(500) < 0.2).astype(float)[:, None]
        out += sum(
            one.drifts
            for one in gold_accuracy(ratings, gold, batches=np.repeat(np.arange(20), 25))
            .assessors[0]
            .batches
        )
    assert out <= 14


# --- the alternative annotator test ---------------------------------------------------------------


def test_every_number_of_the_alt_test_is_the_recorded_one() -> None:
    content = json.loads(shared_file("golden", "judges.json").read_text(encoding="utf-8"))[
        "alt_test"
    ]["standin"]
    data = json.loads(
        shared_file("data", "llm-judges", "alttest-standin.json").read_text(encoding="utf-8")
    )
    people, models = data["human_annotations"], data["llm_annotations"]
    instances = sorted({one for of in (*people.values(), *models.values()) for one in of})
    ratings = np.array(
        [[people[name].get(one, NAN) for name in people] for one in instances], float
    )
    n = 0
    for scoring, judges in content["by_scoring"].items():
        for judge, expected in judges.items():
            grades = np.array([models[judge].get(one, NAN) for one in instances], float)
            for epsilon in (0.2, 0.15, 0.1):
                found = alt_test(
                    ratings,
                    grades,
                    epsilon=epsilon,
                    scoring="accuracy" if scoring == "accuracy" else "rmse",
                    annotators=list(people),
                )
                entry = expected[f"eps_{epsilon}"]
                n += 1
                assert (found.winning_rate, found.passed) == (
                    pytest.approx(entry["winning_rate"]),
                    entry["passed"],
                )
                assert found.advantage == pytest.approx(
                    expected["average_advantage_probability"], abs=1e-12
                )
                assert {one.annotator: one.n for one in found.annotators} == expected["instances"]
                for one in found.annotators:
                    assert one.advantage == pytest.approx(
                        expected["advantage_probability"][one.annotator], abs=1e-12
                    )
                    assert one.p == pytest.approx(entry["p_values"][one.annotator], abs=1e-12)
                assert found.skipped == {"a6": found.skipped["a6"]}
    assert n == 36


def slow_wins(ratings: Any, judge: Any, left_out: int) -> list[tuple[bool, bool]]:
    """Whether the judge, and the annotator, agree with the others at least as well, instance by
    instance.
    """
    found = []
    for row, grade in zip(ratings, judge, strict=True):
        others = [one for place, one in enumerate(row) if place != left_out and not math.isnan(one)]
        if others and not math.isnan(row[left_out]):
            model, person = (
                sum(one == mine for one in others) / len(others) for mine in (grade, row[left_out])
            )
            found.append((model >= person, person >= model))
    return found


def test_the_judge_wins_where_it_agrees_at_least_as_well() -> None:
    rng = np.random.default_rng(4)
    ratings = rng.integers(0, 3, (80, 4)).astype(float)
    ratings[rng.random((80, 4)) < 0.2] = NAN
    judge = rng.integers(0, 3, 80).astype(float)
    found = alt_test(ratings, judge, least=20)
    for place, one in enumerate(found.annotators):
        wins = slow_wins(ratings, judge, place)
        assert (one.n, one.advantage) == (
            len(wins),
            pytest.approx(np.mean([model for model, _ in wins])),
        )


def test_a_dropped_instance_has_a_grade() -> None:
    ratings = [[0, 1]] * 40 + [[0, NAN], [0, 1], [NAN, NAN], [NAN, NAN]]
    judge = [0.0] * 41 + [NAN, 0.0, NAN]
    assert alt_test(ratings, judge).n_dropped == 3


def test_clusters_make_the_test_less_sure() -> None:
    rng = np.random.default_rng(5)
    queries = np.repeat(np.arange(12), 20)
    hard = rng.random(12) < 0.4  # the judge fails on whole queries
    people = rng.integers(0, 3, 240)
    ratings = np.stack(
        [np.where(rng.random(240) < 0.1, (people + 1) % 3, people) for _ in range(3)], axis=1
    ).astype(float)
    judge = np.where(hard[queries], (people + 1) % 3, people).astype(float)
    plain, clustered = (
        alt_test(ratings, judge, epsilon=0.6),
        alt_test(ratings, judge, epsilon=0.6, clusters=queries),
    )

    assert all(
        two.p > one.p for one, two in zip(plain.annotators, clustered.annotators, strict=True)
    )


def test_equal_differences_have_the_limits_of_p() -> None:
    same = [[0, 0], [1, 1]] * 20
    assert {one.p for one in alt_test(same, [0, 1] * 20, epsilon=0.2).annotators} == {0.0}
    assert {one.p for one in alt_test(same, [1, 0] * 20, epsilon=0.2).annotators} == {1.0}
    undefined = alt_test(same, [0, 1] * 20, epsilon=0.0)
    assert all(math.isnan(one.p) and not one.rejected for one in undefined.annotators)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: alt_test([[0, 1]] * 10, [0] * 10),
            InputError,
            r"at most 10 instances .* all rated, expected at least 30",
        ),
        (lambda: alt_test([[0, 1]] * 10, [0] * 9), InputError, r"found shape \(9,\)"),
        (lambda: alt_test([[0, 1]] * 40, [0] * 40, epsilon=1.5), OptionError, "epsilon=1.5"),
        (lambda: alt_test([[0, 1]] * 40, [0] * 40, scoring="kappa"), OptionError, "scoring"),  # type: ignore[arg-type]
        (lambda: alt_test([[0, 1]] * 40, [0] * 40, least=1), OptionError, "least=1"),
        (lambda: alt_test([[0, math.inf]] * 40, [0] * 40), InputError, "ratings: found inf"),
        (lambda: alt_test([[0, 1]] * 40, [math.inf] * 40), InputError, "judge: found inf"),
        (lambda: alt_test([["a", "b"]] * 40, [0] * 40), InputError, "found what is no number"),
        (lambda: gold_accuracy([["a"]], ["a"]), InputError, "found what is no number"),
        (lambda: gold_accuracy([[math.inf]], [1]), InputError, "ratings: found inf"),
        (
            lambda: gold_accuracy([[0], [1]], [0, 1], clusters=["q"]),
            InputError,
            "one label for each of the 2 units",
        ),
        (
            lambda: gold_accuracy([[0], [1]], [0, 1], batches=[1, NAN]),
            InputError,
            "batches, unit 1: found no label",
        ),
        (lambda: gold_accuracy([[0], [1]], [0, 1], confidence=2), OptionError, "confidence=2"),
        (lambda: majority_vote([["a"]]), InputError, "found what is no number"),
        (lambda: dawid_skene([[0, 1]], steps=1.5), OptionError, "steps=1.5"),  # type: ignore[arg-type]
        (lambda: dawid_skene([[0, 1]], tolerance=NAN), OptionError, "tolerance=nan"),
        (
            lambda: aggregations([[0, 1]], [0], raters=["a"]),
            InputError,
            "found 1 names, expected 2",
        ),
        (lambda: gold_accuracy([[0, 1]], [NAN]), InputError, "found no gold grade"),
        (lambda: gold_accuracy([[0, 1]], [0], assessors=["ann"]), InputError, "expected 2 names"),
        (lambda: gold_accuracy([[0, 1]], [0], target=90), OptionError, "target=90"),
        (lambda: dawid_skene([[0, 1]], steps=0), OptionError, "steps=0"),
        (lambda: majority_vote([[NAN, NAN]]), InputError, "found no grade"),
        (lambda: aggregations([[0, 1]], [0, 1]), InputError, r"found shape \(2,\)"),
    ],
)
def test_a_refusal_says_what_was_found(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()


def test_votes_are_counted_one_by_one() -> None:
    rng = np.random.default_rng(6)
    ratings = rng.integers(0, 3, (50, 5)).astype(float)
    for row, grade in zip(ratings.tolist(), majority_vote(ratings).grades, strict=True):
        votes = sorted(((-len(list(same)), one) for one, same in itertools.groupby(sorted(row))))
        assert grade == votes[0][1]
