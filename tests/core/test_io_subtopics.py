"""Judgments by sub-topic have a number of it in the second column, and are no repetition."""

from pathlib import Path

import pytest

import idealrank as ir
from tests.in_process import run as command

BY_SUBTOPIC = """\
201 1 d1 1
201 1 d2 0
201 2 d1 0
201 2 d2 2
201 2 d3 1
202 1 d4 1
"""
RUN = {"201": ["d1", "d3", "d2"], "202": ["d5", "d4"]}


@pytest.fixture
def qrels(tmp_path: Path) -> str:
    path = tmp_path / "diversity.qrels"
    path.write_text(BY_SUBTOPIC)
    return str(path)


def test_they_are_named_and_no_policy_for_duplicates_is_offered(qrels: str) -> None:
    with pytest.raises(ir.FileFormatError) as caught:
        ir.evaluate(qrels, RUN, "nDCG@10")

    assert str(caught.value).startswith(
        f'{qrels}:3: found document "d1" of "201" judged for sub-topic 2 and, on line 1, for '
        "sub-topic 1, expected one grade for a document; these are judgments by sub-topic (TREC "
        "diversity): "
    )
    assert "duplicates" not in str(caught.value)
    assert caught.value.switch == ""


@pytest.mark.parametrize("verb", ["evaluate", "validate"])
def test_the_command_has_the_option_that_reads_them(tmp_path: Path, qrels: str, verb: str) -> None:
    run = tmp_path / "bm25.run"
    run.write_text("201 Q0 d1 1 3 t\n201 Q0 d3 2 2 t\n201 Q0 d2 3 1 t\n202 Q0 d4 1 1 t\n")

    code, out, err = command([verb, qrels, str(run)])

    assert code == 2
    assert "`idealrank evaluate --judgments qrels_jg QRELS RUN -m P_avgjg@10,AP_avgjg`" in out + err
    assert "duplicates=" not in out + err


def test_the_way_that_is_named_averages_over_subtopics(qrels: str) -> None:
    by_subtopic = [
        ({"201": {"d1": 1, "d2": 0}, "202": {"d4": 1}}, {"201", "202"}),
        ({"201": {"d1": 0, "d2": 2, "d3": 1}}, {"201"}),
    ]
    values: dict[str, list[float]] = {"201": [], "202": []}
    for judged, topics in by_subtopic:
        alone = ir.evaluate(judged, RUN, "P@2").per_query()
        for topic in topics:
            values[topic].append(alone[topic]["P@2"])

    found = ir.evaluate(ir.read_assessors(qrels), RUN, "P_avgjg@2").per_query()

    for topic, each in values.items():
        assert found[topic]["P_avgjg@2"] == sum(each) / len(each)


def test_a_policy_that_is_asked_for_warns(qrels: str) -> None:
    with pytest.warns(ir.IdealrankWarning, match="for sub-topic 1; the highest grade counts"):
        found = ir.read_qrels(qrels, duplicates="best")

    assert found["201"] == {"d1": 1.0, "d2": 2.0, "d3": 1.0}


def test_words_in_the_second_column_are_assessors(tmp_path: Path) -> None:
    path = tmp_path / "people.qrels"
    path.write_text("1 ann d1 1\n1 ben d1 0\n")

    with pytest.raises(ir.FileFormatError, match="for assessor ben and, on line 1, for assessor"):
        ir.read_qrels(path)


def test_a_document_twice_with_one_second_column_is_a_repetition(tmp_path: Path) -> None:
    path = tmp_path / "twice.qrels"
    path.write_text("1 0 d1 1\n1 0 d1 0\n")

    with pytest.raises(ir.FileFormatError, match="allow it with duplicates=first, last or best"):
        ir.read_qrels(path)
