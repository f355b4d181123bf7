"""The grades that answers of judges stand for."""

import math
from typing import Any

import pytest

from idealrank.live.judges.judge_answers import Scale, answer_of, answer_of_text

SCALE = Scale.of("0,1,2,3")


@pytest.mark.parametrize(
    ("value", "grade", "unreadable"),
    [
        (2, 2.0, ""),
        (True, 1.0, ""),
        ("3", 3.0, ""),
        ([0.1, 0.1, 0.1, 0.7], 3.0, ""),
        ({1: 0.5, 2: 0.5}, 1.0, ""),
        (None, None, ""),
        ({"2": "0.4", "1": 0.6}, 1.0, ""),
        (5, None, "grade 5"),
        (math.nan, None, "grade nan"),
        ([0.5, 0.5], None, "2 probabilities"),
        ({1: 0.5}, None, "sum to 0.5"),
        ({9: 1.0}, None, "grade 9"),
        ({1: -0.5, 2: 1.5}, None, "from 0 to 1"),
        ("good", None, "'good'"),
        (object, None, "expected a grade"),
        ({1: math.nan}, None, "sum to nan"),
    ],
)
def test_a_value_is_a_grade_probabilities_or_nothing(
    value: Any, grade: float | None, unreadable: str
) -> None:
    found = answer_of(value, SCALE)
    assert found.grade == grade
    assert (unreadable in found.unreadable) if unreadable else not found.unreadable


def test_grades_outside_the_scale_may_be_clipped() -> None:
    clipped = Scale(SCALE.words, outside="clip")
    assert [answer_of(value, clipped).grade for value in (5, -1, 1.4, 1.5)] == [3, 0, 1, 1]
    assert answer_of(math.inf, clipped).unreadable


def test_a_truth_value_of_a_model_is_no_grade() -> None:
    for text in ('{"grade": true}', 'I say {"grade": false}', "true"):
        found = answer_of_text(text, SCALE)
        assert (found.grade, found.status) == (None, "unreadable")
    assert (
        answer_of_text('{"grade": true}', SCALE).unreadable
        == "found the grade true, expected one of 0, 1, 2, 3"
    )


def test_a_number_inside_a_sentence_is_no_grade() -> None:
    assert answer_of_text("of 3 criteria, 1 is met", SCALE).grade is None
    assert answer_of_text('thinking {"grade": 1} no, {"grade": 2}', SCALE).grade == 2
