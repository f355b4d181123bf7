"""Sets of documents, as candidates and exclusions have them: one result from every form."""

import gzip
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import idealrank as ir
from idealrank.errors import FileFormatError, InputError
from idealrank.io.document_sets import read_document_sets

SETS = {"q1": ("d1", "d2"), "7": ("d2", "13")}
PAIRS = [(query, document) for query, documents in SETS.items() for document in documents]


def parquet(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(table, buffer)
    return buffer.getvalue()


def feather(table: pa.Table) -> bytes:
    buffer = io.BytesIO()
    pyarrow.feather.write_feather(table, buffer, compression="uncompressed")
    return buffer.getvalue()


def lines(pattern: str, first: str = "") -> bytes:
    return (first + "".join(pattern.format(*pair) + "\n" for pair in PAIRS)).encode()


TABLE = pa.table({"qid": [q for q, _ in PAIRS], "n": [0] * 4, "item_id": [d for _, d in PAIRS]})
LISTS = {query: list(documents) for query, documents in SETS.items()}
WRITTEN = {
    "blanks.txt": lines("{}  {}"),
    "comment.txt": lines("{} {}", "# which were ranked\n\n"),
    "tabs": lines("{}\t{}"),
    "judgments.qrels": lines("{} 0 {} 1"),
    "judgments-twice.qrels": lines("{} 0 {} 1") + lines("{} 0 {} 1"),
    "stage.run": lines("{} Q0 {} 3 1.5 bm25"),
    "a.csv": lines("{},{}", "query,document\n"),
    "no-header.csv": lines("{},{}"),
    "more.csv": lines("5,{1},{0}", "count,item_id,user_id\n"),
    "other-name.csv": lines("{1};{0}", "film;user\n"),
    "quoted.csv": lines('"{}","{}"', '"query","document"\n'),
    "a.tsv": lines("{}\t{}", "query\tdoc\n"),
    "byte-order-mark.csv": "\ufeff".encode() + lines("{},{}", "query,document\n"),
    "a.json": json.dumps(LISTS).encode(),
    "grades.json": json.dumps({q: dict.fromkeys(d, 0.5) for q, d in SETS.items()}).encode(),
    "records.json": json.dumps([{"query": q, "document": d} for q, d in PAIRS]).encode(),
    "numbers.json": json.dumps(
        [{"q": q, "doc": int(d) if d == "13" else d} for q, d in PAIRS]
    ).encode(),
    "a.jsonl": b"".join(
        json.dumps({"query_id": q, "candidates": d}).encode() + b"\n" for q, d in SETS.items()
    ),
    "a.parquet": parquet(TABLE),
    "lists.parquet": parquet(pa.table({"query": list(SETS), "documents": list(LISTS.values())})),
    "a.feather": feather(TABLE),
}


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", WRITTEN)
def test_every_format_gives_the_same_sets(
    name: str, packed: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / (name + (".gz" if packed is gzip.compress else ""))
    path.write_bytes(packed(WRITTEN[name]))

    sets = read_document_sets(path, what="candidates")

    assert {query: set(documents) for query, documents in sets.by_query.items()} == {
        query: set(documents) for query, documents in SETS.items()
    }
    assert sets.shared is None
    assert sets.n_pairs == 4
    (record,) = sets.inputs
    assert record.path == str(path)
    assert record.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


SHARED = {
    "ids.txt": b"d1\nd2\n\nd1\n",
    "ids-with-comment.txt": b"# the catalogue\nd1\nd2\n",
    "a.csv": b"item_id\nd1\nd2\n",
    "titles.csv": b"price,sku,title\n3,d1,Red shoes\n4,d2,Blue shoes\n",
    "a.json": b'["d1", "d2"]',
    "a.jsonl": b'{"document": "d1"}\n{"document": "d2"}\n',
    "a.parquet": parquet(pa.table({"document": ["d1", "d2"]})),
}


@pytest.mark.parametrize("name", SHARED)
def test_one_column_of_documents_is_shared_and_said_to_be(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(SHARED[name])
    told: list[str] = []

    sets = read_document_sets(path, what="candidates", tell=told.append)

    assert (sets.shared, sets.by_query, sets.n_pairs) == (("d1", "d2"), {}, 2)
    assert sets.of("any") == ("d1", "d2")
    assert told == [f"{path}: read as 2 documents that all queries share, for candidates"]


def test_objects_are_read_as_files_are() -> None:
    frame = {"query": [q for q, _ in PAIRS], "document": [d for _, d in PAIRS]}
    for source in (
        SETS,
        LISTS,
        {query: dict.fromkeys(documents, 1.0) for query, documents in SETS.items()},
        {query: np.array(documents) for query, documents in SETS.items()},
        {"q1": ["d1", "d2", "d1"], 7: ["d2", 13]},
        PAIRS,
        iter(PAIRS),
        pd.DataFrame(frame),
        pl.DataFrame(frame),
        pl.DataFrame(frame).lazy(),
        pa.table(frame),
    ):
        sets = read_document_sets(source, what="candidates")
        assert sets.by_query == SETS
        assert sets.inputs == ()
        assert (sets.of("q1"), sets.of("none")) == (("d1", "d2"), ())


def test_judgments_and_runs_give_all_their_documents() -> None:
    expected = {query: set(documents) for query, documents in SETS.items()}
    grades = {query: dict.fromkeys(documents, 0) for query, documents in SETS.items()}

    for source in (ir.Qrels(grades), ir.Run(LISTS)):
        sets = read_document_sets(source, what="candidates")
        assert {query: set(documents) for query, documents in sets.by_query.items()} == expected


def test_documents_alone_are_shared_and_a_query_may_have_none() -> None:
    assert read_document_sets(["d1", 2], what="candidates").shared == ("d1", "2")
    assert read_document_sets({"d1"}, what="candidates").shared == ("d1",)
    assert read_document_sets({"q": [], "r": "d1"}, what="candidates").by_query == {
        "q": (),
        "r": ("d1",),
    }
    frame = pd.DataFrame({"document": ["d1", "d1"]})
    assert read_document_sets(frame, what="candidates").shared == ("d1",)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", "q1 d1\nq1\n", r"a\.txt:2: found 1 cell, expected 2, as in the first line"),
        ("a.txt", "", r"a\.txt: found an empty file, expected lines QUERY DOCUMENT"),
        ("a.csv", "a,b,c\n", r"a\.csv:1: found 3 cells without a header line, expected lines"),
        ("a.csv", "query,document\nq1,\n", r"a\.csv:2: found an empty id, expected an id"),
        (
            "a.csv",
            "query,title,price\nq1,x,3\n",
            r"a\.csv:1: found columns 'query', 'title', 'price', expected one for the document",
        ),
        ("a.qrels", "q1 0 d1 1\nq1 0 d2\n", r"a\.qrels:2: "),
        ("a.json", '{"q1": null}', r"a\.json: query 'q1': found null, expected a list of doc"),
        ("a.json", '{"q1": 1.5}', r"a\.json: query 'q1': found float, expected a list of doc"),
        ("a.json", '["d1", null]', r"a\.json: found null as id, expected text or a whole numb"),
        ("a.json", '["d1"', r"a\.json: found text that is not JSON"),
        ("a.jsonl", '{"query": 1, "doc": 2}\n{"doc": 3}\n', r"a\.jsonl:2: found no field 'query'"),
        ("a.json", "{}", r"a\.json: found nothing, expected lines QUERY DOCUMENT"),
    ],
)
def test_errors_name_the_place(name: str, content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")

    with pytest.raises(FileFormatError, match=message):
        read_document_sets(tmp_path / name, what="candidates")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (17.5, r"candidates: found float, expected a path, \{query: \[documents\]\}, a dataf"),
        ({"q": 2.5}, r"candidates: query 'q': found float, expected a list of documents"),
        ({"q": [""]}, r"candidates: query 'q': found an empty id"),
        ([("q", "a", "b")], r"candidates: item 0 \(counted from 0\): found 3 values"),
        ([("q", "a"), "b"], r"candidates: item 1 .*: found a pair and a document without a query"),
        (["b", ("q", "a")], r"candidates: item 1 .*: found a pair and a document without a query"),
    ],
)
def test_objects_of_other_forms_are_refused(source: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_document_sets(source, what="candidates")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "candidates.csv").write_text("query,document\nq,d\n", encoding="utf-8")

    with pytest.raises(InputError, match=r"found no such file; did you mean .*candidates\.csv"):
        read_document_sets(tmp_path / "candidate.csv", what="candidates")
