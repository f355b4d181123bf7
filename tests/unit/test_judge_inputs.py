"""Lists of pairs that judges grade, and what an answer of a judge means."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest

from idealrank.errors import InputError
from idealrank.io.judgment_pairs import read_pairs
from idealrank.live.judges.judge_answers import Scale, answer_of, answer_of_text

SCALE = Scale.of("0,1,2,3")


@pytest.mark.parametrize(
    ("value", "grade", "unreadable"),
    [
        (2, 2.0, ""), (True, 1.0, ""), ("3", 3.0, ""), ([0.1, 0.1, 0.1, 0.7], 3.0, ""), ({1: 0.5, 2: 0.5}, 1.0, ""), (None, None, ""),
        ({"2": "0.4", "1": 0.6}, 1.0, ""), (5, None, "grade 5"), (math.nan, None, "grade nan"), ([0.5, 0.5], None, "2 probabilities"),
        ({1: 0.5}, None, "sum to 0.5"), ({9: 1.0}, None, "grade 9"), ({1: -0.5, 2: 1.5}, None, "from 0 to 1"), ("good", None, "'good'"),
        (object, None, "expected a grade"), ({1: math.nan}, None, "sum to nan"),
    ],
)  # fmt: skip
def test_a_value_is_a_grade_probabilities_or_nothing(value: Any, grade: float | None, unreadable: str) -> None:
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
    assert answer_of_text('{"grade": true}', SCALE).unreadable == "found the grade true, expected one of 0, 1, 2, 3"


def test_a_number_inside_a_sentence_is_no_grade() -> None:
    assert answer_of_text("of 3 criteria, 1 is met", SCALE).grade is None
    assert answer_of_text('thinking {"grade": 1} no, {"grade": 2}', SCALE).grade == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("query,document\n", "found no pair"), ("query,title\nq1,a\n", "found no document"),
        ("query,document\nq1,d1\nq1,d1\n", "a second time"),
        ("query,document\nq1\n", "found 1 cells"), ("query,document,priority\nq1,d1,high\n", "priority 'high'"), ("", "found no pair"),
        ('{"query": ["q"], "document": "d"}\n', "query"),
    ],
)  # fmt: skip
def test_a_list_that_cannot_be_read_is_named_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pairs.csv").write_text(text)
    with pytest.raises(InputError, match=r".*") as caught:
        read_pairs(tmp_path / "pairs.csv")
    assert said in str(caught.value)
    assert "pairs.csv" in str(caught.value)


@pytest.mark.parametrize("name", ["pairs.csv", "pairs.jsonl"])
def test_ids_that_are_no_utf8_are_refused_with_their_line_and_never_renamed(tmp_path: Path, name: str) -> None:
    rows = [b'{"query": "q1", "document": "d\\udcfe"}', b'{"query": "q1", "document": "d\\udcff"}']
    lines = [b"query,document", b"q1,d\xfe", b"q1,d\xff"] if name == "pairs.csv" else rows
    (tmp_path / name).write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(InputError, match=rf"{name}.*: found document 'd\\udcfe', expected an id in UTF-8; save the file as UTF-8"):
        read_pairs(tmp_path / name)


def test_lists_come_as_csv_tabs_json_and_with_titles_links_and_line_ends(tmp_path: Path) -> None:
    rows = {
        "query": "q1",
        "document": "d1",
        "query_text": "sort",
        "title": "T, t",
        "text": "one\n two",
        "url": "https://a.example/1",
        "priority": 2,
    }
    (tmp_path / "a.json").write_text(json.dumps([rows]))
    (tmp_path / "a.jsonl").write_text(json.dumps(rows) + "\n")
    with (tmp_path / "a.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows)
        writer.writeheader()
        writer.writerow(rows)
    expected = read_pairs(tmp_path / "a.json")
    assert (expected[0].content.text, expected[0].content.link, expected[0].priority) == ("one\n two", "https://a.example/1", 2.0)
    assert read_pairs(tmp_path / "a.jsonl") == read_pairs(tmp_path / "a.csv") == expected
