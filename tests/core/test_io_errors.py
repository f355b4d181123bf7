"""What is wrong with a file is said in one sentence: where, what was found, what was expected, what
to do.
"""

import gzip
import json
import os
import re
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from idealrank.errors import (
    FileFormatError,
    IdealrankError,
    InputError,
    MissingExtraError,
    OptionError,
    install_command,
)
from idealrank.io.dataframes import qrels_from_frame, run_from_frame
from idealrank.io.read import read_qrels, read_run

LINE = "4 fields: QUERY ITERATION DOCUMENT GRADE"
RUN_LINE = "6 fields: QUERY Q0 DOCUMENT RANK SCORE TAG"
ORDER = "judgments come first, then runs"
ONCE = "each document once per query; allow it with duplicates=first, last or best"
NUMBER = "a number, since NaN has no order"
# file name, content, what is read, the message after the folder
BAD = [
    (
        "a.qrels",
        "q1 0 d1 1\nq1 0 d2\n",
        "qrels",
        f'a.qrels:2: found 3 fields in "q1 0 d2", expected {LINE}',
    ),
    (
        "a.qrels",
        "q1 0 d1 1\n\nq1 0 d2 many\n",
        "qrels",
        'a.qrels:3: found "many" in "q1 0 d2 many", expected a number as grade (field 4)',
    ),
    (
        "a.qrels",
        "q1 0 d1 1\nq1 0 d2 1_0\n",
        "qrels",
        'a.qrels:2: found "1_0" in "q1 0 d2 1_0", expected a number as grade (field 4)',
    ),
    (
        "a.qrels",
        "q1 Q0 d1 1 0.5 tag",
        "qrels",
        f'a.qrels:1: found a line of a run, "q1 Q0 d1 1 0.5 tag", expected {LINE}; {ORDER}',
    ),
    (
        "a.run",
        "# note\nq1 0 d1 1",
        "run",
        f'a.run:2: found a line of judgments, "q1 0 d1 1", expected {RUN_LINE}; {ORDER}',
    ),
    ("a.qrels", "", "qrels", "a.qrels: found no judgments, expected at least one"),
    ("a.csv", "", "qrels", "a.csv: found an empty file, expected a header line with column names"),
    ("a.csv", "qid,docid,rel\n", "qrels", "a.csv: found no judgments, expected at least one"),
    (
        "a.csv",
        "qid,docid,rel\nq1,d1,1\n\nq1,d2\n",
        "qrels",
        "a.csv:4: found 2 cells, expected 3, as in the header line",
    ),
    (
        "a.csv",
        "qid,docid,rel\nq1,d1,\n",
        "qrels",
        "a.csv:2: found no grade in column 'rel', expected a number",
    ),
    (
        "a.csv",
        "qid,docid,rel\nq1,d1,1_0\n",
        "qrels",
        "a.csv:2: found \"1_0\" as grade in column 'rel', expected a number",
    ),
    (
        "a.csv",
        "qid,docid,rel\nq1,d1,\u0661\n",
        "qrels",
        "a.csv:2: found \"\\u0661\" as grade in column 'rel', expected a number",
    ),
    (
        "a.csv",
        "qid,docid,rel\nq1,d1,NaN\n",
        "qrels",
        f'a.csv:2: found grade "NaN", expected {NUMBER}; remove the line, or give the '
        f"document a grade",
    ),
    (
        "a.csv",
        "qid,docid,rel\nq1,d1,inf\n",
        "qrels",
        'a.csv:2: found grade "inf", expected a finite grade',
    ),
    (
        "a.csv",
        "qid,docid,rel\nq1,,1\n",
        "qrels",
        "a.csv:2: found an empty cell in column 'docid', expected an id",
    ),
    (
        "a.csv",
        'qid,docid,rel\nq1,d0,1\nq1,"d1,1\nq1,d2",2\n',
        "qrels",
        'a.csv:3: found a line break in the id "d1,1\\nq1,d2", expected an id on one line; is '
        "a quotation mark missing?",
    ),
    (
        "a.csv",
        'qid,docid,rel\nq1,"d1,1\nq1,d2,2\n',
        "qrels",
        "a.csv:3: found a cell that cannot be read (unexpected end of data), "
        "expected cells quoted as in RFC 4180, of at most 67,108,864 letters",
    ),
    (
        "a.csv",
        "qid,docid,rel\nq1,d1,1\nq2,d1,1\nq1,d1,0\n",
        "qrels",
        f'a.csv:4: found "q1 d1" a second time (first on line 2), expected {ONCE}',
    ),
    (
        "a.csv",
        "q1,d1,1\nq1,d2,0\n",
        "qrels",
        "a.csv:1: found data ('q1', 'd1', '1'), expected a header line such as query_id, "
        "doc_id, grade; "
        "add a header line; without one, TREC lines can be read",
    ),
    (
        "a.csv",
        "qid,text,rel\nq1,x,1\n",
        "qrels",
        "a.csv: found columns 'qid', 'text', 'rel', expected one for the document "
        "(documentid, docid, docno, corpusid, passageid, document, doc, ...); "
        "name them, for example with columns={'query': 'qid', 'document': 'text', 'grade': "
        "'rel'} (in evaluate, qrels_columns=)",
    ),
    (
        "a.json",
        '{"q1": {"d1": 1}',
        "qrels",
        "a.json:1: found text that is not JSON (Expecting ',' delimiter, column 17), expected JSON",
    ),
    (
        "a.json",
        '{"q1": {"d1": null}}',
        "qrels",
        'a.json: query "q1": found null as grade for document "d1", expected a number',
    ),
    (
        "a.json",
        '{"q1": {"d1": "2"}}',
        "qrels",
        'a.json: query "q1": found "2" as grade for document "d1", expected a number',
    ),
    (
        "a.json",
        '{"q1": {"d1": NaN}}',
        "run",
        f'a.json: query "q1": found score NaN for document "d1", expected {NUMBER}',
    ),
    (
        "a.json",
        '{"q1": {"d1": 1, "d1": 2}}',
        "qrels",
        f'a.json: query "q1": found "q1 d1" a second time, expected {ONCE}',
    ),
    ("a.json", '{"q1": {"": 1}}', "qrels", 'a.json: query "q1": found an empty id, expected an id'),
    (
        "a.json",
        '{"": {"d": 1}}',
        "qrels",
        'a.json: query "": found an empty id of a query, expected an id',
    ),
    (
        "a.json",
        '{"q1": ["d1", 2.5]}',
        "run",
        'a.json: query "q1": found 2.5 as id, expected text or a whole number',
    ),
    (
        "a.json",
        '{"q1": ["\\ud800"]}',
        "run",
        'a.json: query "q1": found the id "\\ud800" with half a surrogate pair, expected '
        "valid Unicode",
    ),
    ("a.json", "{}", "qrels", "a.json: found no judgments, expected at least one"),
    (
        "a.json",
        "[" * 100_000,
        "qrels",
        "a.json: found JSON nested too deeply, expected at most two levels",
    ),
    (
        "a.json",
        '[{"qid": "q", "docid": "d", "rel": 1}, {"qid": "q", "docid": "e"}]',
        "qrels",
        "a.json: record 2: found no field 'rel', expected all fields of the first record",
    ),
    (
        "a.jsonl",
        '{"q1": {"d1": 1}}\n{"q2": {"d1": 1}\n',
        "qrels",
        "a.jsonl:2: found text that is not JSON (Expecting ',' delimiter, column 17), "
        "expected JSON",
    ),
    (
        "a.jsonl",
        '{"q1": {"d1": 1}}\n{"q1": {"d2": 1}}\n{"q1": {"d1": 0}}\n',
        "qrels",
        f'a.jsonl:3: found "q1 d1" a second time, expected {ONCE}',
    ),
    (
        "a.jsonl",
        '{"q1": {"d1": 1}}\n{"q2": {"d1": []}}\n',
        "qrels",
        'a.jsonl:2: found a list as grade for document "d1" of query "q2", expected a number',
    ),
    (
        "a.jsonl",
        '{"qid": "q1", "docid": "d1", "rel": 1}\n{"qid": "q1", "docid": 2.0, "rel": 1}\n',
        "qrels",
        "a.jsonl:2: found 2.0 as id in field 'docid', expected text or a whole number",
    ),
    (
        "a.jsonl",
        '{"qid": "q1", "docid": "d1", "rel": 1}\n{"q2": {"d1": 1}}\n',
        "qrels",
        "a.jsonl:2: found queries with their documents, expected a record, as on the other lines",
    ),
    (
        "a.letor",
        "2 qid:1 1:0.5\n1 qid:1 nonsense\n",
        "qrels",
        'a.letor:2: found "1 qid:1 nonsense", expected GRADE qid:QUERY FEATURE:VALUE ...',
    ),
    (
        "a.letor",
        "2 qid:1 1:0.5\n1 1:0.2\n",
        "qrels",
        "a.letor:2: found a line without qid:, expected a line with it, as the others",
    ),
    (
        "a.letor",
        "2 1:0.5\n1 1:0.2\n",
        "qrels",
        "a.letor: found lines without qid:, expected qid: on every line, or a group file; "
        "name it with group=, or call it a.letor.query",
    ),
    (
        "a.txt",
        b"\xff\xfeq\x001\x00",
        "qrels",
        "a.txt: found UTF-16 text, expected UTF-8; convert it, for example with: iconv -f "
        "UTF-16 -t UTF-8",
    ),
    (
        "a.txt",
        b"PK\x03\x04zip",
        "qrels",
        "a.txt: found a zip archive, expected a file, plain or compressed with gzip, bzip2, "
        "xz or zstandard; unpack it",
    ),
    (
        "a.gz",
        gzip.compress(b"q1 0 d1 1\n" * 9)[:-9],
        "qrels",
        "a.gz: found truncated gzip data, expected a whole gzip file; copy or download it again",
    ),
    (
        "a.zst",
        zstandard.ZstdCompressor().compress(os.urandom(9999))[:-9],
        "qrels",
        "a.zst: found truncated zstandard data, expected a whole zstandard file; copy or "
        "download it again",
    ),
]


@pytest.mark.parametrize(("name", "content", "table", "message"), BAD, ids=range(len(BAD)))
def test_the_message(
    tmp_path: Path, name: str, content: str | bytes, table: str, message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(IdealrankError) as caught:
        (read_qrels if table == "qrels" else read_run)(path)
    assert str(caught.value).replace(f"{tmp_path}{os.sep}", "") == message


def test_damage_inside_compressed_data_is_told(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(os.urandom(5000)))
    whole[2000] ^= 255
    (tmp_path / "a.gz").write_bytes(whole)
    with pytest.raises(
        FileFormatError, match=r"a\.gz: found damaged gzip data \(.*\), expected a whole gzip file"
    ):
        read_qrels(tmp_path / "a.gz")
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"q1 0 d1 1\n") + b"rubbish behind")
    with pytest.raises(FileFormatError, match="damaged gzip data"):
        read_qrels(tmp_path / "a.gz")


def test_padding_with_zeros_behind_compressed_data_is_fine(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(
        gzip.compress(b"q1 0 d1 1\n") + bytes(512) + gzip.compress(b"q1 0 d2 0\n") + bytes(70_000)
    )
    assert read_qrels(tmp_path / "a.gz")["q1"] == {"d1": 1.0, "d2": 0.0}


def test_a_name_that_promises_another_compression_is_told_and_the_bytes_win(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"q1 0 d1 1\n")
    (tmp_path / "a.qrels").write_bytes(gzip.compress(b"q1 0 d1 1\n"))
    (tmp_path / "a.bz2").write_bytes(zlib.compress(b""))
    said: list[str] = []
    assert read_qrels(tmp_path / "a.gz", tell=said.append)["q1"] == {"d1": 1.0}
    assert said == [
        f"{tmp_path / 'a.gz'}: found uncompressed data, expected gzip from the ending; its "
        f"content decides"
    ]
    assert read_qrels(tmp_path / "a.qrels")["q1"] == {"d1": 1.0}


def test_a_missing_file_suggests_its_neighbour(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")
    with pytest.raises(InputError) as caught:
        read_qrels(tmp_path / "qrel.txt")
    assert (
        str(caught.value) == f"{tmp_path / 'qrel.txt'}: found no such file; did you mean "
        f"{str(tmp_path / 'qrels.txt')!r}?"
    )
    with pytest.raises(InputError, match=r"found no such file$"):
        read_qrels(tmp_path / "nowhere" / "a.txt")


@pytest.mark.parametrize(
    ("typed", "near"), [("none.run", None), ("bm52.run", "bm25.run"), ("BM-25.run", "bm25.run")]
)
def test_only_a_file_with_a_similar_name_is_suggested(
    typed: str, near: str | None, tmp_path: Path
) -> None:
    for name in ("nan.run", "bm25.run"):
        (tmp_path / name).write_text("q1 Q0 d1 1 1 t\n")
    with pytest.raises(InputError) as caught:
        read_qrels(tmp_path / typed)
    hint = f"; did you mean {str(tmp_path / near)!r}?" if near else ""
    assert str(caught.value) == f"{tmp_path / typed}: found no such file{hint}"


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="found a directory, expected a file"):
        read_run(tmp_path)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything"
)
def test_a_file_without_permission(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q1 Q0 d1 1 1 t")
    path.chmod(0)
    with pytest.raises(InputError, match="no permission to read it"):
        read_run(path)


def test_errors_of_a_collection_name_the_right_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "b.qrels").write_text("q2 0 d1 1\nq2 0 d2 x\n")
    with pytest.raises(FileFormatError) as caught:
        read_qrels([tmp_path / "a.qrels", tmp_path / "b.qrels"])
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "b.qrels"), 2)
    (tmp_path / "a.csv").write_text("qid,docid,rel\nq1,d1,1\n")
    (tmp_path / "b.csv").write_text("docid,qid,rel\nd1,q2,1\nd1,q1,1\n")
    with pytest.raises(FileFormatError) as caught:
        read_qrels([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "b.csv"), 3)
    assert f"first in {tmp_path / 'a.csv'}:2" in str(caught.value)
    assert read_qrels([tmp_path / "a.csv", tmp_path / "b.csv"], duplicates="last")["q1"] == {
        "d1": 1.0
    }


def test_a_collection_has_one_format(tmp_path: Path) -> None:
    (tmp_path / "a.qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "b.csv").write_text("qid,docid,rel\nq1,d1,1\n")
    with pytest.raises(
        InputError, match=r"found different formats in one collection .*expected one; set format="
    ):
        read_qrels([tmp_path / "a.qrels", tmp_path / "b.csv"])
    with pytest.raises(InputError, match="found an empty list of paths"):
        read_qrels([])
    with pytest.raises(InputError, match=r"'-' \(standard input\) more than once"):
        read_run(["-", "-"])


def test_an_unknown_format_lists_those_there_are(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("q1 0 d1 1\n")
    with pytest.raises(OptionError, match=r"format=xml: expected one of auto \| trec \| json"):
        read_qrels(tmp_path / "a.txt", format="xml")  # type: ignore[arg-type]


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "pyarrow": pa.table,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_null_names_its_row_and_column(kind: str) -> None:
    make = FRAMES[kind]
    with pytest.raises(
        InputError,
        match=r"^run: row 1 \(counted from 0\): found null.* in column 'docno', expected (an "
        r"id|text or a whole number)$",
    ):
        run_from_frame(make({"qid": ["a", "b"], "docno": ["x", None], "score": [1.0, 2.0]}))
    with pytest.raises(
        InputError,
        match=r"^qrels: row 0 \(counted from 0\): found (null|grade NaN|NaN as grade).* in column "
        r"'label', expected a number",
    ):
        qrels_from_frame(make({"qid": ["a", "b"], "docno": ["x", "y"], "label": [None, 2.0]}))


def test_cells_of_a_frame_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"row 1 .*NaN as score in column 'score', expected a number"
    ):
        run_from_frame(
            pl.DataFrame({"qid": ["a", "b"], "docno": ["x", "y"], "score": [1.0, float("nan")]})
        )
    with pytest.raises(InputError, match=r"row 0 .*found grade inf, expected a finite grade"):
        qrels_from_frame(pl.DataFrame({"qid": ["a"], "docno": ["x"], "rel": [float("inf")]}))
    with pytest.raises(InputError, match=r"row 0 .*an empty id in column 'docno'"):
        qrels_from_frame(pa.table({"qid": ["a"], "docno": [""], "rel": [1]}))
    with pytest.raises(
        InputError,
        match=r"found column 'qid' of type double, expected ids, which are text or whole numbers",
    ):
        qrels_from_frame(pd.DataFrame({"qid": [1.0, 2.0], "docno": ["a", "b"], "rel": [1, 1]}))
    with pytest.raises(
        InputError, match=r"found column 'rel' of type .*string.*, expected numbers"
    ):
        qrels_from_frame(pa.table({"qid": ["a"], "docno": ["b"], "rel": ["1"]}))
    with pytest.raises(
        InputError,
        match=r'row 1 .*found "b d" a second time, expected each document once per query',
    ):
        qrels_from_frame(pd.DataFrame({"qid": ["b", "b"], "docno": ["d", "d"], "rel": [1, 0]}))
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"qid": ["a", None], "docno": ["b", "c"], "rel": [1, 2]}), path)
    with pytest.raises(
        InputError,
        match=r"a\.parquet: row 1 \(counted from 0\): found null in column 'qid', expected an id",
    ):
        read_qrels(path)


def test_mixed_cells_of_a_pandas_column_of_objects_are_read_one_by_one() -> None:
    frame = pd.DataFrame({"qid": [7, "b"], "docno": ["x", 8], "rel": [True, 2]}, dtype=object)
    qrels = qrels_from_frame(frame)
    assert {query: qrels[query] for query in qrels} == {"7": {"x": 1.0}, "b": {"8": 2.0}}


def test_what_is_no_frame_is_named() -> None:
    with pytest.raises(InputError, match="found int, expected a dataframe"):
        run_from_frame(3)


def test_missing_extras_say_how_to_get_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.DataFrame({"qid": ["q"], "docno": ["d"], "rel": [1]})
    frame.write_parquet(tmp_path / "a.parquet")
    (tmp_path / "a.zst").write_bytes(zstandard.ZstdCompressor().compress(b"q 0 d 1"))

    for absent in ("pyarrow", "zstandard"):
        monkeypatch.setitem(sys.modules, absent, None)
    with pytest.raises(
        MissingExtraError,
        match=rf"^reading Parquet needs pyarrow; {re.escape(install_command('arrow'))}$",
    ):
        read_qrels(tmp_path / "a.parquet")
    with pytest.raises(
        MissingExtraError,
        match=rf"^reading Zstandard needs zstandard; {re.escape(install_command('zstd'))}$",
    ):
        read_qrels(tmp_path / "a.zst")
    # Dataframes need no pyarrow; it only makes them faster.
    assert qrels_from_frame(frame)["q"] == {"d": 1.0}
    assert qrels_from_frame(frame.lazy())["q"] == {"d": 1.0}
    assert qrels_from_frame(pd.DataFrame(frame.to_dict(as_series=False)))["q"] == {"d": 1.0}
    with pytest.raises(InputError, match=r"row 0 .*found null as grade in column 'rel'"):
        qrels_from_frame(frame.with_columns(rel=pl.lit(None, pl.Int64)))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_read_like_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(
        target=pipe.write_bytes, args=(gzip.compress(b"q1 Q0 d1 1 2.5 t\nq1 Q0 d2 1 x t\n"),)
    )
    writer.start()
    run = read_run(pipe)
    writer.join()
    with pytest.raises(FileFormatError) as caught:
        run.ranking("q1")
    assert (caught.value.path, caught.value.line) == (str(pipe), 2)


def test_an_empty_run_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_bytes(b"")
    said: list[str] = []
    run = read_run(tmp_path / "a.run", tell=said.append)
    assert said == [f"{tmp_path / 'a.run'}: found an empty file; the run answers no query"]
    with pytest.raises(KeyError):
        run.ranking("q1")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "a.json",
            '{"q": {"d": true}}',
            'a.json: query "q": found true as grade for document "d", expected a number',
        ),
        (
            "a.jsonl",
            '{"qid": "q", "docid": "d", "rel": false}',
            "a.jsonl:1: found false as grade in field 'rel', expected a number",
        ),
        (
            "a.json",
            '[{"qid": "q", "docid": "d", "rel": true}]',
            "a.json: record 1: found true as grade in field 'rel', expected a number",
        ),
    ],
)
def test_true_and_false_are_no_numbers_of_json(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        read_qrels(tmp_path / name)
    assert str(caught.value) == f"{tmp_path}/{message}"


def test_a_column_twice_is_refused(tmp_path: Path) -> None:
    """In every layout with columns, where the first or none of them was taken."""
    names, cells = ["qid", "docid", "rel", "rel"], ["q", "d", 1, 2]
    once = (
        "expected one column 'rel', found it more than once among 'qid', 'docid', 'rel', 'rel'; "
        "rename or drop the others"
    )
    (tmp_path / "a.csv").write_text("qid,docid,rel,rel\nq,d,1,2\n", encoding="utf-8")
    (tmp_path / "a.tsv").write_text("qid\tdocid\trel\trel\nq\td\t1\t2\n", encoding="utf-8")
    table = pa.table([pa.array([cell]) for cell in cells], names=names)
    pq.write_table(table, tmp_path / "a.parquet")
    with (
        pa.OSFile(str(tmp_path / "a.arrow"), "wb") as file,
        pa.ipc.new_file(file, table.schema) as writer,
    ):
        writer.write_table(table)
    for name in ("a.csv", "a.tsv", "a.parquet", "a.arrow"):
        with pytest.raises(InputError) as caught:
            read_qrels(tmp_path / name)
        assert str(caught.value) == f"{tmp_path}/{name}: {once}"
    for frame in (table, pd.DataFrame([cells], columns=names)):
        with pytest.raises(
            InputError,
            match=r"qrels: found column names more than once \('rel' 2 times\), expected each once",
        ):
            qrels_from_frame(frame)


def test_a_column_twice_that_nobody_asks_for_is_no_matter(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("qid,docid,rel,x,x,,\nq,d,1,2,3,,\n", encoding="utf-8")
    assert read_qrels(tmp_path / "a.csv")["q"] == {"d": 1.0}


def test_infinite_scores_and_json_numbers_beyond_double_have_an_order(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(
        json.dumps({"q": {"low": -(10**400), "mid": 5, "high": float("inf"), "huge": 10**300}})
    )
    assert read_run(tmp_path / "a.json").ranking("q").documents == ["high", "huge", "mid", "low"]


def test_reading_text_imports_no_dataframe_library() -> None:
    modules = ("pyarrow", "narwhals", "pandas", "polars", "zstandard", "tempfile", "csv", "json")
    script = (
        "import sys, numpy; before = set(sys.modules); from idealrank.io import dataframes, read; "
        f"print([name for name in {modules} if name in set(sys.modules) - before])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ},
    ).stdout
    assert printed == "[]\n"


def test_a_document_twice_in_two_files_names_both(tmp_path: Path) -> None:
    paths = [tmp_path / "f1.qrels", tmp_path / "f2.qrels"]
    paths[0].write_text("# more\nq1 0 d1 1\n", encoding="utf-8")
    paths[1].write_text("q1 0 d2 1\nq1 0 d1 0\n", encoding="utf-8")
    with pytest.raises(FileFormatError) as caught:
        read_qrels(paths)
    assert f"{paths[1]}:2: found a document a second time (first in {paths[0]}:2)" in str(
        caught.value
    )
    paths[1].write_text("q1 0 d2 1\nq1 0 d2 0\n", encoding="utf-8")
    with pytest.raises(FileFormatError, match=re.escape("a second time (first on line 1) in")):
        read_qrels(paths)
