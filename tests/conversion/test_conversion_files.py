"""Files of `convert`: strictness, what is written where, messages about broken files, and runs."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import idealrank as ir
from tests.conversion.test_conversion import BOOK, convert, losses, written

# --- strictness, files, errors --------------------------------------------------------------------


def test_strict_refuses_every_loss_and_writes_nothing(tmp_path: Path) -> None:
    path, target = written(tmp_path, BOOK, "book.csv"), tmp_path / "a.qrels"
    target.write_text("before", encoding="utf-8")
    with pytest.raises(ir.InputError) as caught:
        convert(path, target, assessors="majority", strict=True)
    assert (
        "6 grades lose the name of their assessor (Ann, Ben, Cid); 2 documents have "
        "grades by several assessors" in str(caught.value)
    )
    assert (target.read_text(), sorted(one.name for one in tmp_path.iterdir())) == (
        "before",
        ["a.qrels", "book.csv"],
    )
    assert convert(path, tmp_path / "a.jsonl", strict=True).is_lossless


def test_a_loss_names_three_things_and_says_whether_there_are_more(tmp_path: Path) -> None:
    named = []
    for people in ("Ann,Ben,Cid", "Ann,Ben,Cid,Dan"):
        grades = ",".join("1" for _ in people.split(","))
        path = written(tmp_path, f"query,docid,{people}\nq,a,{grades}\n", "book.csv")
        loss = convert(path, tmp_path / "a.qrels", assessors="majority").losses[0]
        named.append((loss.text.partition("(")[2], loss.examples))
    three = ("Ann", "Ben", "Cid")
    assert named == [("Ann, Ben, Cid)", three), ("Ann, Ben, Cid, ...)", three)]


def test_a_conversion_that_fails_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    path, target = (
        written(tmp_path, "query_id,doc_id,grade\nq,a,1\nq,b,many\n", "a.csv"),
        tmp_path / "a.qrels",
    )
    target.write_text("before", encoding="utf-8")
    with pytest.raises(
        ir.FileFormatError,
        match=r'a\.csv:3: found "many" as grade in column \'grade\', expected a number',
    ):
        convert(path, target)
    assert (target.read_text(), len(list(tmp_path.iterdir()))) == ("before", 2)


def test_a_file_may_be_replaced_by_its_conversion(tmp_path: Path) -> None:
    path = written(tmp_path, "q 0 a 1\n", "a.qrels")
    convert(path, path, target_format="csv")
    assert path.read_text() == "query_id,doc_id,grade\nq,a,1\n"


@pytest.mark.parametrize("name", ["case.csv", "a.qrels", "texts.tsv"])
def test_texts_of_queries_never_take_the_place_of_another_file(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, "query,docid,rating\nred shoes,7,3\n", "case.csv")
    texts = written(tmp_path, "red shoes\tred shoes\n", "texts.tsv")
    with pytest.raises(
        ir.OptionError, match=r"write_queries=.*: found the path of .*, expected another name"
    ):
        convert(path, tmp_path / "a.qrels", queries=texts, write_queries=tmp_path / name)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["case.csv", "texts.tsv"]
    assert path.read_text() == "query,docid,rating\nred shoes,7,3\n"


@pytest.mark.skipif(os.name != "posix", reason="other systems have no such pipes")
def test_a_pipe_gets_the_whole_file(tmp_path: Path) -> None:
    path, pipe = written(tmp_path, "q 0 a 1\n", "a.qrels"), tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        convert(path, pipe, target_format="beir")
        assert os.read(reader, 100) == b"query-id\tcorpus-id\tscore\nq\ta\t1\n"
    finally:
        os.close(reader)


WRONG = [
    ({"target_format": "xml"}, "target_format=xml: expected one of auto | trec"),
    ({"source_format": "xml"}, "source_format=xml: expected one of auto | trec"),
    ({"scale": [0, float("nan")]}, "scale=[0, nan]: expected finite grades, such as [0, 1, 2, 3]"),
    ({"content": "all"}, "content=all: expected one of auto | judgments | run"),
    (
        {"content": "run", "target_format": "beir"},
        "found a run to write, expected one of trec | csv",
    ),
    ({}, "found no ending that names a format, expected one of .csv, .tsv"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[message for _, message in WRONG])
def test_the_message_about_options(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ir.OptionError) as caught:
        convert(written(tmp_path, "q 0 a 1\n", "a.qrels"), tmp_path / "out", **options)
    assert message in str(caught.value)


def rated(ratings: str) -> str:
    return f'{{"judgmentRatings": [{{"query": "q", "ratings": [{ratings}]}}]}}'


BROKEN = [
    ("opensearch", rated('{"docId": "a", "rating": "high"}'), '"high" as grade of document "a"'),
    ("opensearch", rated('{"docId": "", "rating": 1}'), "an empty id of a document"),
    ("opensearch", '{"judgmentRatings": [{"query": "q"}]}', "found null as ratings"),
    ("opensearch", '{"judgmentRatings": [3]}', "null as id of a query"),
    ("opensearch", '{"judgmentRatings": 3}', "found 3, expected"),
    ("opensearch", "[]", "found no judgment lists, expected one"),
    (
        "opensearch",
        rated('{"docId": "a", "rating": 1}, {"docId": "a", "rating": 2}'),
        "a second time",
    ),
    (
        "ubi",
        '{"query_id": "q", "query": "q", "document": "a", "judgment": "x"}',
        "\"x\" as grade in field 'judgment'",
    ),
    ("ubi", '{"query_id": "q", "document": null, "judgment": 1}', "null as id in field 'document'"),
    ("ubi", '{"a": 1}', "found fields 'a', expected a record with query_id"),
    (
        "ubi",
        '{"query_id": "q", "document": "d", "judgment": 1}\n[',
        ":2: found text that is not JSON",
    ),
    ("ubi", "3", "found 3, expected hits, an array, or a record"),
    ("label-studio", '{"a": 1}', "found null as data"),
    ("label-studio", "3", "found 3, expected an array of tasks"),
    ("label-studio", '[{"data": {"query": "q", "doc_id": [1]}}]', "a list as id in field 'doc_id'"),
    ("label-studio", "[" * 3000, "nested too deeply"),
    (
        "jsonl",
        '{"query_id": "q", "doc_id": "a", "grade": 1}\n{"query_id": "q"}\n',
        ":2: found no field 'doc_id'",
    ),
    (
        "jsonl",
        '{"query_id": "q", "doc_id": "a", "grade": true}\n',
        "found true as grade in column 'grade'",
    ),
    (
        "jsonl",
        '{"query_id": "q", "doc_id": "a", "grade": 1}\n' * 2,
        ':2: found document "a" a second time for query "q"',
    ),
    ("csv", "query_id,doc_id,grade\nq,a,nan\n", "found grade NaN"),
    (
        "jsonl",
        '{"query_id": "q", "doc_id": "a", "grade": 1, "grade": 2}',
        "a.txt:1: found a duplicate field in a record",
    ),
    (
        "json",
        '[{"query_id": "q", "doc_id": "a", "grade": 1, "note": 1, "note": 2}]',
        "record 1: found a duplicate field in a record",
    ),
    (
        "csv",
        "query_id,doc_id,grade,note,note\nq,a,1,x,y\n",
        'a.txt: found 2 columns "note", expected one; rename or drop the others',
    ),
    ("csv", "query_id,doc_id,grade\nq,a\n", "a.txt:2: found 2 cells, expected 3"),
    ("csv", "query_id,doc_id,grade\n", "found no judgments to write"),
    ("json", "[1]", "record 1: found 1, expected a record"),
    ("json", "[", "text that is not JSON"),
    ("letor", "1 qid:1 x:1\n", "expected FEATURE:VALUE"),
    (
        "qrels_jg",
        "q ann a 1\nq ann a 2\n",
        'found document "a" a second time for query "q" by "ann"',
    ),
    ("qrels_jg", "q ann a 1 3\n", "found 5 fields"),
    (
        "rre",
        '{"queries": [{"placeholders": {"$query": "q"}, "relevant_documents": {"": [1.5]}}]}',
        "1.5 as id of a document",
    ),
]


@pytest.mark.parametrize(
    ("kind", "text", "message"), BROKEN, ids=[f"{kind} {message}" for kind, _, message in BROKEN]
)
def test_the_message_about_a_broken_file(
    tmp_path: Path, kind: str, text: str, message: str
) -> None:
    with pytest.raises(ir.InputError) as caught:
        convert(written(tmp_path, text, "a.txt"), tmp_path / "out.jsonl", source_format=kind)
    assert message in str(caught.value)
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


# --- runs -----------------------------------------------------------------------------------------

RUN = "q1 Q0 a 1 2.5 mine\nq1 Q0 b 2 2.5 mine\nq2 Q0 a 1 -0.125 mine\n"


@pytest.mark.parametrize("between", ["csv", "tsv", "json", "jsonl", "parquet", "trec"])
def test_a_run_there_and_back(tmp_path: Path, between: str) -> None:
    path = written(tmp_path, RUN, "a.run")
    done = convert(path, tmp_path / "between", target_format=between)
    assert (done.content, done.n_written, done.n_queries) == ("run", 3, 2)
    assert losses(done) == ({} if between == "trec" else {"tags": 1})
    convert(
        tmp_path / "between",
        tmp_path / "back.run",
        source_format=between,
        content="run",
        name="mine",
    )
    assert sorted((tmp_path / "back.run").read_text().splitlines()) == sorted(
        ["q1 Q0 b 1 2.5 mine", "q1 Q0 a 2 2.5 mine", "q2 Q0 a 1 -0.125 mine"]
    )


def test_responses_become_a_run(tmp_path: Path) -> None:
    hits = [{"_index": "i", "_id": "a", "_score": 2.0}, {"_index": "i", "_id": "b", "_score": 1.5}]
    path = written(tmp_path, json.dumps({"q1": {"hits": {"hits": hits}}}), "response.json")
    done = convert(path, tmp_path / "a.run")
    assert (done.content, done.source_format, (tmp_path / "a.run").read_text()) == (
        "run",
        "elasticsearch",
        "q1 Q0 a 1 2 response\nq1 Q0 b 2 1.5 response\n",
    )
