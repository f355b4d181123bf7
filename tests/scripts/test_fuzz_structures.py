"""Files of every format whose structure is odd: they are read, or refused with a message that says
what was found.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import idealrank as ir
from idealrank.io import lint as linting

ROOT = Path(__file__).resolve().parents[2]
RESPONSE = {"numFound": 1, "docs": [{"id": "d1", "score": 1}]}


def written(folder: Path, value: object) -> Path:
    path = folder / "a.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "header",
    [
        1,
        ["q"],
        [["q"]],
        [["a", "b", "c"]],
        "q",
        True,
        {"params": ["q"]},
        {"params": 1},
        {"params": [["q"]]},
    ],
)
def test_a_response_of_solr_without_the_objects_that_name_its_query_is_refused(
    tmp_path: Path, header: object
) -> None:
    path = written(tmp_path, [{"responseHeader": header, "response": RESPONSE}])

    with pytest.raises(
        ir.FileFormatError,
        match=r"a\.json: record 1: found a response without its query, expected \{query: "
        r"response\}",
    ):
        ir.read_run(path)


@pytest.mark.parametrize(
    ("response", "message"),
    [
        ({"docs": 1}, "found fields 'responseHeader', 'response', expected"),
        ([["docs", []]], "found fields 'responseHeader', 'response', expected"),
        ({"docs": [1]}, "found 1 as a hit, expected an object"),
        ({"docs": [["id", "d1"]]}, "found a list as a hit, expected an object"),
    ],
)
def test_a_response_of_solr_with_rows_of_another_type_is_refused(
    tmp_path: Path, response: object, message: str
) -> None:
    path = written(tmp_path, [{"responseHeader": {"params": {"q": "shoes"}}, "response": response}])

    with pytest.raises(ir.FileFormatError, match=message):
        ir.read_run(path, format="solr")


@pytest.mark.parametrize("placeholder", [["x"], 7, {"a": 1}, True])
def test_a_placeholder_of_rre_that_is_no_name_is_refused(
    tmp_path: Path, placeholder: object
) -> None:
    query = {"placeholders": {"$query": "a"}, "relevant_documents": {"1": ["d"]}}
    path = written(tmp_path, {"query_placeholder": placeholder, "queries": [query]})

    with pytest.raises(
        ir.FileFormatError,
        match="as query_placeholder, expected the name of a placeholder, such as",
    ):
        ir.read_qrels(path)


def columnar(folder: Path, kind: str, names: list[str], *columns: list[Any]) -> Path:
    path = folder / f"a.{kind}"
    table = pa.Table.from_arrays([pa.array(column) for column in columns], names)
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        with (
            pa.OSFile(str(path), "wb") as file,
            pyarrow.ipc.new_stream(file, table.schema) as writer,
        ):
            writer.write_table(table)
    return path


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_column_without_a_name_is_no_column_of_the_query(tmp_path: Path, kind: str) -> None:
    path = columnar(tmp_path, kind, ["", "doc_id", "rel"], ["q1"], ["d1"], [1])

    for read in (ir.read_qrels, ir.read_run):
        with pytest.raises(
            ir.InputError, match=r"found columns '', 'doc_id', 'rel', expected one for the query"
        ):
            read(path)


@pytest.mark.parametrize(
    ("header", "role"),
    [(",doc_id,score", "query"), ("qid,,score", "document"), (",qid,doc_id", "score")],
)
def test_the_nameless_index_of_a_dataframe_is_no_column(
    tmp_path: Path, header: str, role: str
) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{header}\n0,1,2\n", encoding="utf-8")

    with pytest.raises(ir.InputError, match=f"expected one for the {role} "):
        ir.read_run(path)


def test_a_table_of_interactions_may_have_a_nameless_index(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(",user,item\n0,ann,d1\n1,ann,d2\n", encoding="utf-8")

    with pytest.warns(ir.IdealrankWarning, match="every row counts as grade 1"):
        assert ir.read_qrels(path)["ann"] == {"d1": 1.0, "d2": 1.0}


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_column_that_occurs_twice_is_refused_by_readers_and_by_convert(
    tmp_path: Path, kind: str
) -> None:
    path = columnar(tmp_path, kind, ["qid", "docid", "rel", "rel"], ["q1"], ["d1"], [1], [2])

    with pytest.raises(ir.InputError, match="expected one column 'rel', found it more than once"):
        ir.read_qrels(path)
    with pytest.raises(ir.InputError, match="more than once"):
        ir.convert(path, tmp_path / "out.qrels")


def test_a_stream_of_arrow_that_claims_more_than_there_is_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.arrows"
    path.write_bytes(b"\xff\xff\xff\xff" + (2**31 - 1).to_bytes(4, "little") + b"x" * 100)

    with pytest.raises(ir.FileFormatError, match="expected an Arrow IPC file or stream"):
        ir.read_run(path)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows refuses to shorten a mapped file")
def test_validate_refuses_a_file_that_becomes_shorter_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.qrels"
    path.write_text("q1 0 d1 1\n" * 5000, encoding="utf-8")
    monkeypatch.setattr(linting, "refuse_swapped", lambda *_: os.truncate(path, 0))

    report = linting.lint([path], "qrels")

    assert report.failure.startswith(f"{path}: found a file that became shorter during reading")


def fuzz(*options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, str(ROOT / "fuzz" / "structures.py"), *options],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )


def test_files_of_odd_structure_end_well() -> None:
    done = fuzz("--cases", "20", "--seed", "11")

    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("320 cases, 0 ended badly; arrow 20, beir 20, csv 20, ")


@pytest.mark.slow
def test_many_files_of_odd_structure_end_well() -> None:
    done = fuzz("--cases", "1000", "--seed", "12")

    assert done.returncode == 0, done.stdout
