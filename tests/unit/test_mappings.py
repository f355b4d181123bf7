"""Judgments and runs from mappings: what is refused, and in which words."""

from typing import Any

import pytest

from idealrank import InputError, Qrels, Run


@pytest.mark.parametrize(
    ("grades", "words"),
    [
        ({"q": ["d1", "d2"]}, "query 'q': found a list of documents, expected {document: grade}"),
        ({"q": {"d": "x"}}, "query q, document d: expected a number, found str"),
        ({"q": {"d": float("nan")}}, "found grade NaN"),
        ({"q": {"d": float("inf")}}, "expected a finite number"),
        ({"q": {"": 1}}, "an empty id"),
    ],
)
def test_judgments_that_are_none_are_refused(grades: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        Qrels(grades)
    assert words in str(caught.value)


@pytest.mark.parametrize(("scores", "words"), [({"q": {"d": None}}, "found NoneType"), ({"q": {"d": float("nan")}}, "NaN has no order")])
def test_scores_that_are_none_are_refused(scores: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        Run(scores)
    assert words in str(caught.value)
