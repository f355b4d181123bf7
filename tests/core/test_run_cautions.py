"""Warnings of evaluations that limit a verdict: comparisons and gates repeat them, and pages have
them once.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.reports.views.comparison.markup import comparison_markdown
from idealrank.reports.views.gate.pull_request import gate_markdown

pytestmark = pytest.mark.filterwarnings("ignore::idealrank.IdealrankWarning")
QUERIES = [f"q{number}" for number in range(12)]
RATED = {query: dict(zip("abcde", [1, 2, 3, 4, 5], strict=True)) for query in QUERIES}


def rated() -> tuple[Any, list[Any], str]:
    """Ratings, the lowest of which count as relevant for P@2."""
    rng = np.random.default_rng(1)
    runs = [{query: rng.permutation(list("abcdexyz")).tolist() for query in QUERIES} for _ in "ab"]
    return ir.Qrels(RATED), runs, "P@2"


def deep() -> tuple[Any, list[Any], str]:
    """A run whose judged documents are all below the cutoff."""
    far = [f"d{number}" for number in range(5)]
    runs = [{query: ["a", "x"] for query in QUERIES}, {query: [*far, "a"] for query in QUERIES}]
    return ir.Qrels({query: {"a": 1, "x": 0} for query in QUERIES}), runs, "P@2"


def rising() -> tuple[Any, list[Any], Any]:
    """A discount that rises, by which a value is above 1."""
    runs = [{query: list(order) for query in QUERIES} for order in ("abc", "bca")]
    grades = {query: {"a": 1, "b": 0, "c": 0} for query in QUERIES}
    return ir.Qrels(grades), runs, ir.NDCG(discount=[1, 2, 4])


CASES: dict[str, tuple[Callable[[], tuple[Any, list[Any], Any]], str]] = {
    "ratings": (rated, "1 to 5 look like ratings: every rated item counts as relevant"),
    "deep": (deep, "new has no judged document in the first 2 ranks"),
    "rising": (rising, "values lie outside the bounds of their measure"),
}


def evaluated(case: str, new: str = "new") -> tuple[list[ir.Evaluation], str]:
    (made, words) = CASES[case]
    qrels, runs, measure = made()
    names = ("old", new)
    evaluations = [
        ir.evaluate(qrels, run, measure, name=name, keep_unjudged=True)
        for run, name in zip(runs, names, strict=True)
    ]
    return evaluations, words


def asked(case: str, **named: str) -> tuple[list[Any], str]:
    (old, new), words = evaluated(case, **named)
    return [ir.compare(old, new), ir.gate(new, old)], words


def times(text: str, words: str) -> int:
    return " ".join(text.split()).count(words)


@pytest.mark.parametrize("case", CASES)
def test_comparisons_and_gates_repeat_it_in_records_and_texts(case: str) -> None:
    results, words = asked(case)
    for found in results:
        assert [times(text, words) for text in found.warnings] == [1]
        assert [
            times(text, words) for text in json.loads(json.dumps(found.as_dict()))["warnings"]
        ] == [1]
        assert times(str(found), words) == 1


@pytest.mark.parametrize("case", CASES)
def test_pages_have_it_once(case: str, tmp_path: Path) -> None:
    results, words = asked(case)
    evaluations, _ = evaluated(case)
    for number, found in enumerate(results):
        page = tmp_path / f"{number}.html"
        held = evaluations if number == 0 else evaluations[::-1]
        ir.report(found, page, evaluations=held)
        assert times(page.read_text(encoding="utf-8"), words) == 1


def test_evaluations_that_join_and_stay_within_bounds_have_none() -> None:
    run = {query: ["a", "x"] for query in QUERIES}
    old, new = (
        ir.evaluate({query: {"a": 1, "x": 0} for query in QUERIES}, run, "P@2") for _ in "ab"
    )
    assert ir.compare(old, new).warnings == ir.gate(new, old).warnings == ()


def test_a_name_in_a_caution_is_not_live_in_markdown() -> None:
    (compared, gated), _ = asked("deep", new="<b>@me")
    for text in (comparison_markdown(compared), "".join(gate_markdown(gated))):
        assert "has no judged document in the first 2 ranks" in text
        assert "<b>" not in text
        assert "@me" not in text
