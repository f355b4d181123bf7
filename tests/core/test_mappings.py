"""Judgments and runs from mappings: what is refused, and in which words."""

import warnings
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import idealrank as ir
from idealrank import IdealrankWarning, InputError, Qrels, Run, evaluate, explain, read_qrels


@pytest.mark.parametrize(
    ("grades", "words"),
    [
        (
            {"q": ["d1", "d1"]},
            "query 'q': found document 'd1' twice in a list, expected each once, as in a set",
        ),
        ({"q": ["d1", "d2", "d3", "d2", "d1"]}, "query 'q': found document 'd2' twice in a list"),
        ({"q": iter(["d1"])}, "expected {document: grade}"),
        ({"q": 1}, "query 'q': found int, expected {document: grade}"),
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


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        ({"q": {"d": None}}, "found NoneType"),
        ({"q": {"d": float("nan")}}, "NaN has no order"),
        ({"q": {"a", "b"}}, "found a set, which has no order"),
    ],
)
def test_scores_that_are_none_are_refused(scores: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        Run(scores)
    assert words in str(caught.value)


def test_a_comment_of_a_run_that_looks_like_a_result_is_said(tmp_path: Path) -> None:
    run = tmp_path / "a.run"
    run.write_text("# made yesterday\n#q9 Q0 d1 1 2.5 tag\nq1 Q0 d1 1 2.5 tag\n", encoding="utf-8")
    with pytest.warns(IdealrankWarning, match="1 comment lines would be results without '#'"):
        evaluation = evaluate({"q1": {"d1": 1}}, run, "AP")
    assert evaluation.mean()["AP"] == 1.0


def test_a_query_named_by_a_number_is_explained() -> None:
    assert explain({7: {1: 1}}, {7: [1]}, 7, "nDCG@10").value == 1.0


def test_a_table_is_no_path() -> None:
    with pytest.raises(InputError, match="found dict, expected a path or a list of paths"):
        read_qrels({"q": {"d": 1}})  # type: ignore[arg-type]


def test_a_lazy_frame_is_known_without_a_warning() -> None:
    polars = pytest.importorskip("polars")
    grades = polars.LazyFrame({"qid": ["q"], "docno": ["d"], "label": [1]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate(grades, {"q": ["d"]}, "AP").mean()["AP"] == 1.0


QRELS_OF_ONE = {"q": {"d1": 1}}


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"d1": 0.3}, r"query 'd1': found float, expected \{query: \{document: score\}\}"),
        (
            {"bm25": {"q": {"d1": 0.3}}},
            r"expected \{query: \{document: score\}\}; give each run by itself",
        ),
        (
            {"bm25": {"q": ["d1"]}},
            r"expected \{query: \{document: score\}\}; give each run by itself",
        ),
    ],
)
def test_a_run_of_another_shape_is_refused_with_the_shape_of_a_run(run: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ir.evaluate(QRELS_OF_ONE, run)


@pytest.mark.parametrize("column", ["grade", "score"])
def test_a_document_twice_in_a_frame_names_what_evaluate_takes(column: str) -> None:
    frame = pl.DataFrame({"query": ["q", "q"], "doc": ["d1", "d1"], column: [1, 2]})
    given = (frame, QRELS_OF_ONE) if column == "grade" else (QRELS_OF_ONE, frame)
    with pytest.raises(InputError, match=r'allow it with convention="standard,duplicates=first"$'):
        ir.evaluate(*given)
    assert ir.evaluate(*given, "RR", "standard,duplicates=first").mean()["RR"] == 1.0
