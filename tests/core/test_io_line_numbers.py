"""Errors name the line that is bad, also if it is the first and of another kind than all others."""

import json
from pathlib import Path

import pytest

import idealrank as ir

LETOR = [f"{number % 3} qid:{number // 4} 1:0.5 2:{number}" for number in range(12)]
PLAIN = [f"{number % 3} 1:0.5 2:{number}" for number in range(12)]
RECORDS = [
    json.dumps({"qid": f"q{number // 4}", "docid": f"d{number}", "score": 1})
    for number in range(12)
]
NESTED = [json.dumps({f"q{number}": {"d1": 1, "d2": 0}}) for number in range(12)]
LISTS = [json.dumps({f"q{number}": ["d1", "d2"]}) for number in range(12)]

OF_LETOR = [
    "1 1:0.5 2:1",
    "x qid:1 1:2",
    "1 qid: 1:2",
    "nan qid:1 1:2",
    "1 qid:1 z",
    "qid:1 1:2",
    "1",
]
OF_ANY_JSON = [
    '{"qid": "q1"',
    "[1",
    "{",
    "}",
    "7",
    '"x"',
    "null",
    "[]",
    '{"a": 1}{"b": 2}',
    '[{"qid": "q9"}]',
    "nothing",
]
OF_RECORDS = [
    '{"q9": {"d1": 1}}',
    '{"q9": ["d1"]}',
    '{"qid": "q9", "docid": "d9", "score": "x"}',
    '{"qid": "q9", "qid": "q", "docid": "d", "score": 1}',
]
OF_NESTED = [
    '{"qid": "q9", "docid": "d9", "score": 1}',
    '{"q99": 7}',
    '{"q99": {"d1": "x"}}',
    '{"qid": [], "docid": "d9", "score": 1}',
]
CASES = [
    *(("a.letor", LETOR, bad) for bad in OF_LETOR),
    ("a.letor", PLAIN, "1 qid:1 1:2"),
    *(("a.jsonl", RECORDS, bad) for bad in (*OF_ANY_JSON, *OF_RECORDS)),
    *(("a.jsonl", lines, bad) for lines in (NESTED, LISTS) for bad in (*OF_ANY_JSON, *OF_NESTED)),
]


@pytest.mark.parametrize("at", [0, 1, 2, 7, 11])
def test_the_bad_line_is_named(tmp_path: Path, at: int) -> None:
    named = {}
    for name, lines, bad in CASES:
        path = tmp_path / name
        path.write_text("\n".join([*lines[:at], bad, *lines[at + 1 :]]) + "\n", encoding="utf-8")
        with pytest.raises(ir.InputError) as error:
            ir.read_qrels(path)
        named[lines[0], bad] = str(error.value).partition(": found")[0].removeprefix(str(path))

    assert set(named.values()) == {f":{at + 1}"}, {
        case: place for case, place in named.items() if place != f":{at + 1}"
    }


@pytest.mark.parametrize(
    "text",
    [
        '{\n  "q1": {\n    "d1": 1\n  }\n}\n',
        '[\n{"qid": "q1", "docid": "d1", "rel": 1}\n]\n',
        '{"q1":\n{"d1": 1}\n}\n',
    ],
)
def test_a_value_over_several_lines_is_json(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8")

    assert ir.read_qrels(path)["q1"] == {"d1": 1.0}
