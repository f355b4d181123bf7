"""Agreement by grade, by rater and by query."""

import itertools
import math

import numpy as np
import pytest

from idealrank.judging import agreement_by_cluster, agreement_by_grade, agreement_by_rater

NAN = math.nan


def test_specific_agreement_is_the_chance_that_another_rater_gives_the_grade() -> None:
    ratings = [[0, 0, 1], [1, 1, 1], [2, 0, NAN], [2, NAN, NAN]]
    units = [[one for one in row if not math.isnan(one)] for row in ratings]
    pairs = [
        (a, b, 1 / (len(unit) - 1)) for unit in units for a, b in itertools.permutations(unit, 2)
    ]
    for one in agreement_by_grade(ratings):
        expected = sum(w for a, b, w in pairs if a == b == one.grade) / sum(
            w for a, _, w in pairs if a == one.grade
        )
        assert one.agreement == pytest.approx(expected), one.grade


def test_the_rater_who_differs_and_the_lenient_one_are_found() -> None:
    rng = np.random.default_rng(1)
    true = rng.integers(0, 3, 200).astype(float)
    ratings = np.stack(
        [
            true,
            np.where(rng.random(200) < 0.1, rng.integers(0, 3, 200), true),
            np.minimum(true + 1, 3),
        ],
        axis=1,
    )

    found = {one.rater: one for one in agreement_by_rater(ratings, raters=["ann", "ben", "cat"])}

    assert min(found.values(), key=lambda one: one.value).rater == "cat"
    assert found["cat"].bias > 0.8
    assert found["ann"].bias < 0


def test_queries_that_split_the_raters_are_found() -> None:
    found = agreement_by_cluster([[0, 0], [1, 1], [0, 2], [2, 0]], ["q1", "q1", "q2", "q2"])
    assert [(one.cluster, one.value) for one in found] == [("q1", 1.0), ("q2", 0.0)]
