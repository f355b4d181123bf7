"""The rules of a line, case by case with results written down by hand, and numbers against Python's
own float.
"""

from __future__ import annotations

import math
import struct
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from idealrank._kernel import ParseError, Table, Text, read_text

# Enough ordinary lines behind a line let the fast way see it; alone in a short text it is read the
# careful way.
PADDING = {"run": b"pad Q0 pad 1 1.5 tag\n" * 12, "qrels": b"pad 0 pad 1\n" * 16}


def read(kind: Literal["qrels", "run"], line: bytes, *, padded: bool) -> Table:
    """The table of one line; the padding, when there is some, is left out."""
    data = line + b"\n" + PADDING[kind] if padded else line
    table = read_text(Text([data], kind), duplicates="keep")
    assert table.n_queries == 1 + padded
    return table


def failure(kind: Literal["qrels", "run"], line: bytes, *, padded: bool) -> tuple[str, bytes]:
    """Kind and detail of the error of the second line."""
    first = PADDING[kind].splitlines(keepends=True)[0]
    data = first + line + (b"\n" + PADDING[kind] if padded else b"")
    with pytest.raises(ParseError) as error:
        read_text(Text([data], kind), duplicates="keep")
    problem, source, number, text, detail = error.value.args
    assert (source, number, text) == (0, 2, line[:120])
    return problem, detail


GOOD_RUN = [
    (b"q1 Q0 d1 1 2.5 tag", b"q1", b"d1", 2.5),
    (b"q1 Q0 d1 1 2.5 tag\r", b"q1", b"d1", 2.5),
    (b"q1 Q0 d1 1 2.5 a tag of  many words ", b"q1", b"d1", 2.5),
    (b"  q1   Q0\td1 \t 1 2.5\ttag\t", b"q1", b"d1", 2.5),
    (b"q1\tQ0\td 1\t1\t2.5\ttag", b"q1", b"d 1", 2.5),
    (b"q 1\t Q0\td1 \t1\t 2.5 \tmy tag", b"q 1", b"d1", 2.5),
    (b"q1\tQ0\td1\t1\t2.5\ttag", b"q1", b"d1", 2.5),
    (b"q1\tQ0\td1\t1\t2.5\ttag\ttail", b"q1", b"d1", 2.5),
    (b"q1\t\tQ0 d1 1 2.5 tag", b"q1", b"d1", 2.5),
    (b"q1 Q0 d1 first -2.5e-1 tag", b"q1", b"d1", -0.25),
    (b"q1 Q0 \xe6\x96\x87\xe6\x9b\xb8 0 1 tag", b"q1", "文書".encode(), 1.0),
    (b"q1 Q0 \xff\xfe\x80 0 1 tag", b"q1", b"\xff\xfe\x80", 1.0),
    (b"q1 Q0 " + b"d" * 500 + b" 0 1 tag", b"q1", b"d" * 500, 1.0),
    (b"q" * 500 + b" Q0 d 0 1 tag", b"q" * 500, b"d", 1.0),
    (b"q1 Q0 #d1 0 1 #tag", b"q1", b"#d1", 1.0),
]


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize(("line", "query", "document", "score"), GOOD_RUN)
def test_a_run_line_is_read(
    line: bytes, query: bytes, document: bytes, score: float, padded: bool
) -> None:
    table = read("run", line, padded=padded)
    assert (table.query_id(0), table.document_id(0), table.values[0]) == (query, document, score)


GOOD_QRELS = [
    (b"q1 0 d1 2", b"q1", b"d1", 2.0),
    (b"q1 0 d1 2 \r", b"q1", b"d1", 2.0),
    (b"q1 any d1 -1", b"q1", b"d1", -1.0),
    (b"q1\t0\td 1\t2", b"q1", b"d 1", 2.0),
    (b"q1\t0\td1\t2\t", b"q1", b"d1", 2.0),
    (b"q1\t0\td1 2", b"q1", b"d1", 2.0),
    (b"q1 0\td1\t\t2", b"q1", b"d1", 2.0),
    (b"q1 0 d1 99999999999999999999", b"q1", b"d1", 1e20),
]


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize(("line", "query", "document", "grade"), GOOD_QRELS)
def test_a_qrels_line_is_read(
    line: bytes, query: bytes, document: bytes, grade: float, padded: bool
) -> None:
    table = read("qrels", line, padded=padded)
    assert (table.query_id(0), table.document_id(0), table.values[0]) == (query, document, grade)


BAD_RUN = [
    (b"q1 Q0 d1 1 2.5", "fields", b"5"),
    (b"q1 Q0 d1 1 2.5 ", "fields", b"5"),
    (b"q1", "fields", b"1"),
    (b"q1\tQ0\t\t1\t2.5\ttag", "fields", b"5"),
    (b"q1 Q0 d1 1 2,5 tag", "number", b"2,5"),
    (b"q1 Q0 d1 1 0x1p3 tag", "number", b"0x1p3"),
    (b"q1 Q0 d1 1 1e tag", "number", b"1e"),
    (b"q1 Q0 d1 1 . tag", "number", b"."),
    (b"q1 Q0 d1 1 - tag", "number", b"-"),
    (b"q1 Q0 d1 1 1_0 tag", "number", b"1_0"),
    (b"q1 Q0 d1 1 infinit tag", "number", b"infinit"),
    (b"q1 Q0 d1 1 nan(1) tag", "number", b"nan(1)"),
    (b"q1 Q0 d1 1 --1 tag", "number", b"--1"),
    (b"q1 Q0 d1 1 1.2.3 tag", "number", b"1.2.3"),
    (b"q1 Q0 d1 1 -NaN tag", "nan", b"-NaN"),
    (b"q1 Q0 d\x001 1 2.5 tag", "control", b"0x00"),
    (b"q1 Q0 d1 1 2.5 t\rg", "control", b"0x0d"),
    (b"q1 Q0 d1 1 2.5 tag\x0b", "control", b"0x0b"),
    (b"\x1bq1 Q0 d1 1 2.5 tag", "control", b"0x1b"),
    (b"q1 Q0 " + b"d" * 200 + b" 1 x tag", "number", b"x"),
    (b"q1 Q0 d1 1 " + b"x" * 200 + b" tag", "number", b"x" * 120),
]


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize(("line", "problem", "detail"), BAD_RUN)
def test_a_bad_run_line_is_told(line: bytes, problem: str, detail: bytes, padded: bool) -> None:
    assert failure("run", line, padded=padded) == (problem, detail)


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize(
    ("line", "problem", "detail"),
    [
        (b"q1 0 d1", "fields", b"3"),
        (b"q1 0 d1 1 1", "fields", b"5"),
        (b"q1 0 d1 one", "number", b"one"),
    ],
)
def test_a_bad_qrels_line_is_told(line: bytes, problem: str, detail: bytes, padded: bool) -> None:
    assert failure("qrels", line, padded=padded) == (problem, detail)


def test_comments_blank_lines_and_the_byte_order_mark_are_passed_over_and_counted() -> None:
    data = (
        b"\xef\xbb\xbf# made by hand\n\nq1 0 d1 1\r\n \t \n#q1 0 d2 1\n # no comment 1\nq "
        b"2\t0\td1\t2"
    )
    table = read_text(Text([data], "qrels"), duplicates="error")
    assert table.query_ids() == [b"q1", b"#", b"q 2"]
    expected = {
        "lines": 7,
        "rows": 3,
        "comments": 2,
        "comments_like_data": 1,
        "blank": 2,
        "tab_lines": 1,
        "duplicates": 0,
    }
    assert table.counters == expected


def test_several_buffers_are_read_as_one_and_lines_are_counted_in_each() -> None:
    text = Text(
        [b"q1 0 d1 1", bytearray(b""), memoryview(b"\xef\xbb\xbfq1 0 d2 2\nq1 0 d1 3\n")], "qrels"
    )
    assert text.nbytes == 9 + 23
    assert read_text(text, duplicates="last").values.tolist() == [2, 3]
    with pytest.raises(ParseError) as error:
        read_text(text, duplicates="error")
    assert error.value.args == ("duplicate", 2, 2, b"q1 0 d1 3", b"0:1")


def decimal_texts() -> st.SearchStrategy[str]:
    digits = st.text("0123456789", max_size=25)
    exponent = st.one_of(
        st.just(""),
        st.builds(
            "{}{}{}".format,
            st.sampled_from("eE"),
            st.sampled_from(["", "+", "-"]),
            st.integers(0, 400),
        ),
    )
    shapes = st.builds(
        "{}{}{}{}{}".format,
        st.sampled_from(["", "+", "-"]),
        digits,
        st.sampled_from(["", "."]),
        digits,
        exponent,
    )
    return shapes.filter(lambda text: any(byte.isdigit() for byte in text.lower().split("e")[0]))


def all_doubles() -> st.SearchStrategy[str]:
    return st.builds(
        format,
        st.floats(allow_nan=False),
        st.sampled_from(["r", ".6f", ".17g", ".3e", "g"]).map(
            lambda form: "" if form == "r" else form
        ),
    )


@given(numbers=st.lists(st.one_of(decimal_texts(), all_doubles()), min_size=1, max_size=20))
def test_numbers_are_rounded_as_python_rounds_them(numbers: list[str]) -> None:
    data = "".join(f"q 0 d{i} {number}\n" for i, number in enumerate(numbers)) + "q 0 pad 0\n" * 12
    values = read_text(Text([data.encode()], "qrels"), duplicates="keep").values[: len(numbers)]
    assert [struct.pack("d", value) for value in values] == [
        struct.pack("d", float(number)) for number in numbers
    ]


def test_halfway_cases_and_the_ends_of_the_range_are_rounded_as_python_rounds_them() -> None:
    hard = [
        "9007199254740993",
        "9007199254740993.0",
        "1e23",
        "8.41e21",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e309",
        "-1e400",
        "4.9e-324",
        "2.4703282292062328e-324",
        "2.4703282292062327e-324",
        "3e-324",
        "1e-400",
        "2.2250738585072011e-308",
        "0." + "0" * 330 + "1",
        "1" + "0" * 308,
        "0" * 400 + "1",
        "1" * 400,
        "0.1" + "0" * 800 + "1",
        "1e999999999999999999999",
        "0e999999999999999999999",
        "123456789012345678901234567890e-10",
        "1234567.12345678",
        "9999999.99999999",
        "12345678.5",
        "0.000000001",
        "-0",
        "-0.0",
        "INF",
        "-Infinity",
        "+inf",
    ]
    data = "".join(f"q 0 d{i} {number}\n" for i, number in enumerate(hard)) + "q 0 pad 0\n" * 12
    values = read_text(Text([data.encode()], "qrels"), duplicates="keep").values[: len(hard)]
    for value, number in zip(values, hard, strict=True):
        assert struct.pack("d", value) == struct.pack("d", float(number)), number


def test_a_number_of_a_million_digits_is_read() -> None:
    table = read_text(Text([b"q 0 d 0." + b"3" * 1_000_000], "qrels"), duplicates="keep")
    assert table.values[0] == 1 / 3


@pytest.mark.parametrize("size", [*range(1, 40), *range(50, 100), 1000])
def test_a_line_of_any_length_at_the_end_of_the_text_is_read(size: int) -> None:
    data = b"q Q0 " + b"d" * size + b" 1 0.5 t"
    for text in (data, data + b"\n", data + b"\r\n", b"p Q0 d 1 1 t\n" + data):
        table = read_text(Text([text], "run"), duplicates="error")
        assert table.document_id(table.n_rows - 1) == b"d" * size


@pytest.mark.parametrize("size", range(1, 40))
def test_queries_are_told_apart_at_every_byte(size: int) -> None:
    ids = [b"x" * size] + [b"x" * at + b"y" + b"x" * (size - at - 1) for at in range(size)]
    data = (
        b"".join(query + b" 0 d 1\n" + query + b" 0 e 1\n" for query in ids) + b"pad 0 d 1\n" * 12
    )
    table = read_text(Text([data], "qrels"), duplicates="keep")
    assert table.query_ids() == [*ids, b"pad"]
    assert np.diff(table.offsets).tolist() == [2] * len(ids) + [12]


def test_infinite_scores_are_scores() -> None:
    assert math.isinf(read("run", b"q1 Q0 d1 1 Infinity tag", padded=True).values[0])
