"""Values and rankings as a page holds them."""

import base64
import json
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import idealrank as ir
from idealrank.pages.page.payload import fitted, payload, queries_of
from idealrank.pages.page.value_codes import STEPS, coded, decoded, packed, unpacked
from idealrank.reports.subject import Listing, QueryLists, Subject

SHAPES = arrays.array_shapes(min_dims=2, max_dims=2, max_side=12)


@given(
    values=arrays.arrays(
        np.float64, SHAPES, elements=st.floats(allow_nan=False, allow_infinity=False)
    ),
    seed=st.integers(0, 2**32 - 1),
)
def test_few_distinct_values_are_exact_to_the_last_bit(values, seed):
    counted = np.random.default_rng(seed).random(values.shape) < 0.7

    found = decoded(coded(values, counted), values.shape)

    assert np.array_equal(found[counted], values[counted])
    assert np.isnan(found[~counted]).all()


def test_many_distinct_values_are_rounded_by_no_more_than_is_stated():
    values = np.random.default_rng(5).random((4, 6000)) * 3 - 1
    found = coded(values, np.ones(values.shape, bool))

    largest = np.abs(decoded(found, values.shape) - values).max()

    assert found["table"] is None
    assert largest == pytest.approx(found["error"], rel=1e-12)
    assert found["error"] <= (values.max() - values.min()) / STEPS / 2 * (1 + 1e-9)


def test_values_that_are_no_numbers_do_not_count():
    values = np.array([[np.nan, np.inf, -np.inf, 0.25]])

    found = decoded(coded(values, np.ones(values.shape, bool)), values.shape)

    assert np.isnan(found[0, :3]).all()
    assert found[0, 3] == 0.25


def test_packed_text_is_zlib_in_base64_for_any_reader():
    content = bytes(range(256)) * 40

    assert zlib.decompress(base64.b64decode(packed(content))) == content
    assert unpacked(packed(content)) == content


def three_queries() -> Subject:
    qrels = {f"q{i}": {"x": 1, "z": 2} for i in range(3)}
    a = ir.evaluate(qrels, {query: ["y", "x"] for query in qrels}, ["RR", "nDCG@10"])
    b = ir.evaluate(qrels, {"q0": ["x"], "q1": ["y", "x"], "q2": ["y"]}, ["RR", "nDCG@10"])
    listing = Listing(
        documents=("y", "x", None),
        grades=(None, 1.0, None),
        tied=(False, True, True),
        added=(0.0, 0.5, None),
        length=9,
    )
    lists = {
        query: QueryLists(runs=(listing, None), relevant=(("z", 2.0), ("x", 1.0)))
        for query in ("q2", "q0")
    }
    return Subject(
        evaluations=(a, b),
        measures=a.measures,
        comparison=ir.compare(a, b),
        categories={"q0": ("short",), "q2": ("short", "long")},
        lists=lists,
        query_texts={"q2": "two", "q9": "unknown"},
        document_texts={"x": "about x"},
    )


def test_the_payload_has_the_layout_that_scripts_read():
    found = payload(three_queries())

    assert found["runs"] == ["run", "run (2)"]
    assert found["measures"][1] == {
        "text": "nDCG@10",
        "direction": 1,
        "low": 0.0,
        "high": 1.0,
        "cutoff": 10,
    }
    assert found["pairs"] == [(0, 1)]
    assert found["slices"] == {"short": [0, 2], "long": [2]}
    assert found["texts"] == {"2": "two"}
    assert found["documents"] == ["z", "x", "y"]
    assert found["documentTexts"] == {"1": "about x"}
    assert list(found["lists"]) == ["2", "0"]
    first = found["lists"]["2"]
    assert first["relevant"] == [[0, 2.0], [1, 1.0]]
    assert first["runs"] == [
        {"d": [2, 1, -1], "g": [None, 1.0, None], "t": [0, 1, 1], "a": [0.0, 0.5, None], "n": 9},
        None,
    ]
    assert decoded(found["values"][0], (2, 3)).tolist() == [[0.5, 0.5, 0.5], [1.0, 0.5, 0.0]]


def test_queries_of_one_run_alone_have_no_value_in_the_other():
    qrels = {"p": {"x": 1}, "q": {"x": 1}}
    a, b = (
        ir.evaluate(qrels, {query: ["x"]}, "RR", convention="standard,missing=left-out")
        for query in ("p", "q")
    )

    found = payload(Subject(evaluations=(a, b), measures=a.measures))

    assert found["queries"] == ["p", "q"]
    np.testing.assert_array_equal(decoded(found["values"][0], (2, 2)), [[1, np.nan], [np.nan, 1]])


def test_rankings_are_taken_in_their_order_until_the_room_is_used():
    subject = three_queries()
    ids = {query: query for query in queries_of(subject)}
    whole = fitted(subject, ids, 100_000)
    assert whole.rankings == 2
    assert whole.texts == 1

    less = fitted(subject, ids, len(whole.data) + len(whole.lists) - 1)

    assert less.rankings < 2
    lists = json.loads(unpacked(less.lists))["lists"]
    assert list(lists) == ["2", "0"][: less.rankings]
    assert len(less.data) + len(less.lists) < len(whole.data) + len(whole.lists)
