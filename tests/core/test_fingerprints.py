"""Fingerprints of judgments: the kernel against its slow twin, and what they do and do not depend
on.
"""

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import idealrank as ir
from idealrank import _kernel
from idealrank.data.lists import Lists
from idealrank.data.qrels import added
from tests.conftest import examples
from tests.twins.fingerprint_twin import fingerprint_lists_twin, fingerprint_twin

ids = st.one_of(
    st.binary(min_size=1, max_size=20),
    st.sampled_from([b"1", b"q1", b"12345678", b"document-7", b"1234567812345678"]),
)
numbers = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 2.0, 3.0, 0.5, -1.0, 8.0, 7.0]),
    st.floats(allow_nan=False, allow_infinity=False),
)
judgments = st.dictionaries(ids, st.dictionaries(ids, numbers, max_size=4), max_size=5)

GRADES = {
    "q1": {"a": 2, "b": 0, "c": 1},
    "q2": {"a": 1, "a-document-of-many-bytes": 3},
    "q3": {"z": 0.5},
}
LINES = [
    f"{query} 0 {document} {grade}\n"
    for query, graded in GRADES.items()
    for document, grade in graded.items()
]


@settings(max_examples=examples(100))
@given(grades=judgments, threads=st.sampled_from([1, 2, 0]))
def test_the_kernel_gives_the_sums_of_the_definition(
    grades: dict[bytes, dict[bytes, float]], threads: int
) -> None:
    assert _kernel.fingerprint(_kernel.from_mapping(grades), threads=threads) == fingerprint_twin(
        grades
    )


@settings(max_examples=examples(100))
@given(
    labels=st.lists(st.lists(numbers, max_size=5), max_size=6),
    kind=st.sampled_from([np.float64, np.float32, np.int8, np.int64]),
    names=st.sampled_from(["none", "numbers", "texts"]),
    seed=st.integers(0, 9),
)
def test_the_kernel_gives_the_sums_of_the_definition_for_lists(
    labels: list[list[float]], kind: Any, names: str, seed: int
) -> None:
    whole = np.dtype(kind).kind == "i"
    held = [
        [
            float(
                kind(np.clip(label, -100, 100))
                if whole
                else np.float64(kind(np.clip(label, -1e30, 1e30)))
            )
            for label in one
        ]
        for one in labels
    ]
    offsets = np.cumsum([0, *map(len, held)]).astype(np.int64)
    flat = np.array([label for one in held for label in one], kind)
    shuffled = np.random.default_rng(seed).permutation(flat.size)
    scattered = np.empty_like(flat)
    scattered[shuffled] = flat
    numbered = [3 * number - 4 for number in range(len(held))]
    queries: Any = {
        "none": None,
        "numbers": np.array(numbered, np.int64),
        "texts": [f"q{number}" for number in range(len(held))],
    }[names]
    named = [
        str(name).encode()
        for name in (
            range(len(held)) if queries is None else numbered if names == "numbers" else queries
        )
    ]
    expected = fingerprint_lists_twin(zip(named, held, strict=True))
    assert _kernel.fingerprint_lists(flat, offsets, queries=queries, threads=1) == expected
    assert (
        _kernel.fingerprint_lists(
            scattered, offsets, order=shuffled.astype(np.int64), queries=queries, threads=2
        )
        == expected
    )


def test_many_queries_have_one_fingerprint_for_any_number_of_threads() -> None:
    # More than one block of work, so that threads have something to share.
    table = _kernel.from_mapping(
        {f"q{number}": {f"d{number}": number % 3} for number in range(10_000)}
    )
    expected = fingerprint_twin(
        {b"q%d" % number: {b"d%d" % number: number % 3} for number in range(10_000)}
    )
    assert [_kernel.fingerprint(table, threads=threads) for threads in (1, 2, 5, 0)] == [
        expected
    ] * 4


def test_a_fingerprint_never_changes() -> None:
    """Stores and baselines keep these: another hash would call every stored evaluation one of other
    judgments.
    """
    assert ir.Qrels(GRADES).fingerprint == "abb71d9ce48ef0032aa5707b8e550a26"
    assert ir.Qrels({}).fingerprint == "0" * 32
    assert (
        Lists.from_arrays([[1, 0], [2, 0.5]], [[1, 2], [3, 4]]).fingerprint()
        == "591237069f3b9125e5ed4aaf7379506d"
    )
    assert (
        ir.AssessorQrels({"q": {"ann": {"a": 1}, "ben": {"a": 0}}}).fingerprint
        == "db0e13cef4c3895653634004dafcd551"
    )
    assert (
        ir.PreferenceQrels({"q": {"ann": [{"a": 1, "b": 0}, {"c": 2, "a": 1}]}}).fingerprint
        == "6488afdb3c9f27aee84e63d686071b7e"
    )


def test_another_process_finds_the_same() -> None:
    code = f"import idealrank as ir; print(ir.Qrels({GRADES!r}).fingerprint)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (
        found.stdout.strip()
        == ir.Qrels(GRADES).fingerprint
        == pickle.loads(pickle.dumps(ir.Qrels(GRADES))).fingerprint
    )


@pytest.mark.parametrize(
    "lines",
    [
        LINES,
        LINES[::-1],
        [line.replace(" ", "\t") for line in LINES],
        ["# a comment\n", *LINES, "\n"],
        [line.replace("\n", ".0\r\n") if line[-3] == " " else line for line in LINES],
    ],
)
def test_files_of_the_same_judgments_have_the_same_fingerprint(
    lines: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text("".join(lines), newline="")
    assert ir.read_qrels(path).fingerprint == ir.Qrels(GRADES).fingerprint


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_has_the_fingerprint_of_the_mapping(library: Any) -> None:
    rows = [line.split() for line in LINES[::-1]]
    frame = library.DataFrame(
        {
            "query": [row[0] for row in rows],
            "document": [row[2] for row in rows],
            "grade": [float(row[3]) for row in rows],
        }
    )
    one = ir.evaluate(frame, {"q1": ["a"]}, "RR")
    assert (
        one.provenance.judgments
        == ir.evaluate(GRADES, {"q1": ["a"]}, "RR").provenance.judgments
        == ir.Qrels(GRADES).fingerprint
    )


@pytest.mark.parametrize(
    "other",
    [
        GRADES | {"q1": {"a": 2, "b": 0, "c": 2}},
        GRADES | {"q1": {"a": 0, "b": 2, "c": 1}},
        GRADES | {"q1": {"a": 2, "b": 0}},
        GRADES | {"q1": {"a": 2, "b": 0, "d": 1}},
        {"q1": GRADES["q1"], "q2": GRADES["q3"], "q3": GRADES["q2"]},
        GRADES | {"q4": {}},
    ],
    ids=[
        "one grade",
        "two grades swapped",
        "one judgment less",
        "another document",
        "queries swapped",
        "a query without judgments",
    ],
)
def test_other_judgments_have_another_fingerprint(other: dict[str, dict[str, float]]) -> None:
    assert ir.Qrels(other).fingerprint != ir.Qrels(GRADES).fingerprint


def test_no_two_of_many_small_judgments_have_one_fingerprint() -> None:
    prints = {
        ir.Qrels({"q": {"a": a, "b": b, "c": c}, "r": {"a": d}}).fingerprint
        for a in range(7)
        for b in range(7)
        for c in range(7)
        for d in range(7)
    }
    assert len(prints) == 7**4


def test_zero_is_one_number() -> None:
    assert ir.Qrels({"q": {"a": -0.0}}).fingerprint == ir.Qrels({"q": {"a": 0}}).fingerprint
    assert (
        Lists.from_arrays([-0.0, 1.0], [1, 2]).fingerprint()
        == Lists.from_arrays([0, 1], [1, 2]).fingerprint()
    )


def test_the_fingerprints_of_parts_add_up_to_that_of_the_whole() -> None:
    parts = [{query: GRADES[query]} for query in GRADES]
    evaluations = [
        ir.evaluate(part, {query: ["a", "z"] for query in part}, "nDCG") for part in parts
    ]
    whole = ir.evaluate(GRADES, {query: ["a", "z"] for query in GRADES}, "nDCG")
    assert (
        evaluations[2].merge(evaluations[0]).merge(evaluations[1]).provenance.judgments
        == whole.provenance.judgments
    )


def test_parts_answered_by_the_same_judgments_keep_their_fingerprint() -> None:
    one, other = (
        ir.evaluate(GRADES, {query: ["a"]}, "nDCG", "standard,missing=left-out")
        for query in ("q1", "q2")
    )
    assert one.merge(other).provenance.judgments == ir.Qrels(GRADES).fingerprint


def test_sums_are_taken_in_each_half() -> None:
    assert added("f" * 16 + "0" * 15 + "1", "0" * 15 + "1" + "f" * 16) == "0" * 32


@given(seed=st.integers(0, 100))
def test_the_order_of_items_and_queries_of_arrays_does_not_count(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels, qid = rng.choice([0.0, 1.0, 2.0, 0.5], 30), rng.integers(0, 5, 30)
    order = rng.permutation(30)
    print_ = Lists.from_arrays(labels, rng.random(30), qid=qid).fingerprint()
    assert Lists.from_arrays(labels[order], rng.random(30), qid=qid[order]).fingerprint() == print_
    assert Lists.from_arrays(labels, rng.random(30), qid=qid.astype(str)).fingerprint() == print_
    swapped = labels.copy()
    swapped[np.argmin(labels)], swapped[np.argmax(labels)] = labels.max(), labels.min()
    same_query = qid[np.argmin(labels)] == qid[np.argmax(labels)] or labels.max() == labels.min()
    assert (
        Lists.from_arrays(swapped, rng.random(30), qid=qid).fingerprint() == print_
    ) == same_query


def test_one_layout_of_arrays_is_as_good_as_another() -> None:
    labels, scores = np.array([[1, 0, 2], [0, 3, 0]]), np.zeros((2, 3))
    found = {
        Lists.from_arrays(labels, scores).fingerprint(),
        Lists.from_arrays(
            labels.astype(np.float32).ravel(), scores.ravel(), group=[3, 3]
        ).fingerprint(),
        Lists.from_arrays(labels.ravel(), scores.ravel(), qid=[0, 0, 0, 1, 1, 1]).fingerprint(),
        Lists.from_arrays(labels.ravel(), scores.ravel(), qid=["0"] * 3 + ["1"] * 3).fingerprint(),
        Lists.from_arrays(
            np.array([[1, 0, 2, 9], [0, 3, 0, 9]]),
            np.zeros((2, 4)),
            mask=np.array([[1, 1, 1, 0]] * 2, bool),
        ).fingerprint(),
    }
    assert len(found) == 1


def test_an_id_that_no_utf_8_has_can_be_a_query_of_arrays() -> None:
    assert (
        ir.evaluate([1, 0], [0.5, 0.2], "RR", qid=["\ud800", "\ud800"]).provenance.judgments
        is not None
    )


def test_assessors_have_the_same_fingerprint_from_file_and_mapping(tmp_path: Path) -> None:
    path = tmp_path / "jg.qrels"
    path.write_text("q ben a 0\nq ann b 1\nq ann a 1.0\n")
    one = ir.AssessorQrels({"q": {"ann": {"a": 1, "b": 1}, "ben": {"a": 0}}})
    assert ir.read_assessors(path).fingerprint == one.fingerprint
    assert (
        one.fingerprint
        != ir.AssessorQrels({"q": {"ann": {"a": 0, "b": 1}, "ben": {"a": 1}}}).fingerprint
    )
    assert ir.evaluate(one, {"q": ["a"]}, "AP_avgjg").provenance.judgments == one.fingerprint


def test_preferences_have_the_same_fingerprint_from_file_and_mapping(tmp_path: Path) -> None:
    path = tmp_path / "prefs"
    path.write_text(
        "q ann second d2 5\nq ann first d2 2\nq ann first d1 3\nq ann second d4 4\nq ben 0 d2 "
        "1\nq ben 0 d1 0\n"
    )
    one = ir.PreferenceQrels(
        {"q": {"ann": [{"d1": 3, "d2": 2}, {"d2": 5, "d4": 4}], "ben": {"d2": 1, "d1": 0}}}
    )
    assert ir.read_preferences(path).fingerprint == one.fingerprint
    turned = ir.PreferenceQrels(
        {"q": {"ann": [{"d1": 3, "d2": 2}, {"d2": 4, "d4": 5}], "ben": {"d2": 1, "d1": 0}}}
    )
    joined = ir.PreferenceQrels(
        {"q": {"ann": [{"d1": 6, "d2": 5, "d4": 4}], "ben": {"d2": 1, "d1": 0}}}
    )
    assert len({one.fingerprint, turned.fingerprint, joined.fingerprint}) == 3
    assert ir.evaluate(one, {"q": ["d1"]}, "prefs_simp").provenance.judgments == one.fingerprint


def test_grades_of_assessors_are_no_preferences() -> None:
    grades = ir.AssessorQrels({"q": {"ann": {"a": 1, "b": 0}}})
    assert grades.fingerprint != ir.PreferenceQrels({"q": {"ann": {"a": 1, "b": 0}}}).fingerprint
