"""Large files of JSON lines: pyarrow's parser and the reader of lines give the same rows, and the
same error where there is one.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from idealrank.errors import InputError
from idealrank.io.complaints import Notes
from idealrank.io.formats import json_columns
from idealrank.io.formats.json_columns import like_records
from idealrank.io.read import read_qrels, read_run
from idealrank.io.sources import Source

LINE = b'{"qid": "q1", "docno": "d\xc3\xa9", "score": 0.1}'
LIKE = [
    LINE,
    LINE + b'\n{"score": 2, "docno": "d2", "qid": "q1"}\n',  # fields in another order
    b'{"qid": 7, "docno": 12, "score": 0.0}\n{"qid": 8, "docno": 9007199254740993, "score": '
    b"1e-300}",
    b'{"qid": "q1", "docno": "\\u00e9\\n\\"", "score": 1, "title": "a", "year": 3}\n{"qid": '
    b'"q1", "docno": "b", "score": 4.9e-324}',
    b'{"qid": "q", "docno": "2024-01-01", "score": 17.25}\r\n{"qid": "q", "docno": "true", '
    b'"score": 1}\r\n',
    b'{"qid": "q", "docno": "a", "score": 1, "clicked": true}\n{"qid": "q", "docno": "b", '
    b'"score": 2, "clicked": false}',
    b'{"qid": "q", "docno": "a", "rank": 1}\n{"qid": "q", "docno": "b", "rank": 2}\n',
]
UNLIKE = [
    b'{"qid": "q", "docno": "a", "score": -0}\n{"qid": "q", "docno": "b", "score": 1}',
    b'{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "b", "score": 2, "x":\n'
    b'{"y": 1}}\n'
    b'{"qid": "q", "docno": "c", "score": 2}{"qid": "q", "docno": "d", "score": 2}',
    b'{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "b", "score": 2, "x": 1}',
    b'{"qid": "q", "docno": "a", "score": 1, "x": {"y": 1}}',
    b'{"qid": "q", "docno": "a", "score": 1, "text": "' + b"word " * 30 + b'"}',
    b'{"qid": "q", "docno": "a", "score": 1, "x": 1}\n{"qid": "q", "docno": "b", "score": 2, '
    b'"x": true}',
    b'{"qid": "q", "docno": 7, "score": 1}\n{"qid": "q", "docno": "a", "score": 1}',
    b'{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "b"}',
    b'{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "b", "score": null}',
    b'{"qid": "q", "docno": "a", "score": NaN}',
    b'{"qid": "q", "docno": "a", "score": 9007199254740993}',
    b'{"qid": "q", "docno": "a", "score": 1.5}\n\n{"qid": "q", "docno": "b", "score": 1}',
    b'{"qid": "q", "docno": "a", "score": 1}{"qid": "q", "docno": "b", "score": 1}',
    b'{"qid": "q",\n"docno": "a", "score": 1}',
    b'{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "b", "score": 1, "x": 1, '
    b'"x": 2}',
    b'{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "", "score": 1}',
    b'{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "\\ud800", "score": 1}',
    b'{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "\xff", "score": 1}',
    b'{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "b", "score": "2"}',
    b'{"qid": "q", "docno": "a", "score": 1}\n{"qid": "q", "docno": "b", "score": 1} x',
    b'{"qid": "q", "docno": "a", "score": true}',
    b'{"qid": true, "docno": "a", "score": 1}',
    b'{"q": {"a": 1}}\n{"p": {"b": 2}}',
    b'{"qid": "q", "docno": "a", "score": 1}\n[1, 2]',
    b"",
    b"\n",
    b"{}",
    b"[]",
    b"nothing",
]


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_columns, "_FEWEST", 0)
    monkeypatch.setattr(json_columns, "_BLOCK", 1 << 10)


def outcome(path: Path, table: str) -> Any:
    """Ids and values as the table has them, with the notes; or the error."""
    said: list[str] = []
    try:
        if table == "qrels":
            qrels = read_qrels(path, format="jsonl", tell=said.append)
            return {query: dict(qrels[query]) for query in qrels}, said
        run = read_run(path, format="jsonl", tell=said.append)
    except InputError as error:
        return str(error)
    table_of_run: Any = run.source
    queries = np.repeat(np.arange(table_of_run.n_queries), np.diff(table_of_run.offsets)).tolist()
    rows = [
        (table_of_run.query_id(query), table_of_run.document_id(row))
        for row, query in enumerate(queries)
    ]
    return rows, table_of_run.values.tolist(), said


def both(path: Path, table: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    found = outcome(path, table)
    with monkeypatch.context() as patched:
        patched.setattr(json_columns, "like_records", lambda *_: None)
        return found, outcome(path, table)


@pytest.mark.parametrize("table", ["run", "qrels"])
@pytest.mark.parametrize("lines", LIKE + UNLIKE)
def test_lines_are_read_as_by_the_reader_of_lines(
    lines: bytes, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines if table == "run" else lines.replace(b'"score"', b'"grade"'))
    by_pyarrow, by_line = both(path, table, monkeypatch)
    assert repr(by_pyarrow) == repr(by_line)


@pytest.mark.parametrize("lines", LIKE)
def test_like_records_are_read_by_pyarrow(lines: bytes) -> None:
    rows = like_records(Source("a.jsonl", lines), "run", None, Notes())
    assert rows is not None
    assert rows.place(0) == ("a.jsonl", 1)


@pytest.mark.parametrize("lines", UNLIKE)
def test_what_is_unusual_is_left_to_the_reader_of_lines(lines: bytes) -> None:
    assert like_records(Source("a.jsonl", lines), "run", None, Notes()) is None


def test_damaged_files_say_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, path = np.random.default_rng(23), tmp_path / "a.jsonl"
    whole = b"".join(
        json.dumps({"qid": f"q{row % 3}", "docno": f"d{row}", "score": float(score)}).encode()
        + b"\n"
        for row, score in enumerate(rng.normal(size=40))
    )
    parsed = 0
    for _ in range(300):
        data = bytearray(whole)
        for place in rng.integers(0, len(data), int(rng.integers(1, 3))):
            data[place] = int(
                rng.choice(np.frombuffer(b'0123456789abcdefghij"{}:,. \n\r\\E-\xff\x00', np.uint8))
            )
        path.write_bytes(bytes(data))
        fast, slow = both(path, "run", monkeypatch)
        assert repr(fast) == repr(slow), bytes(data)
        parsed += like_records(Source("a.jsonl", bytes(data)), "run", None, Notes()) is not None
    assert parsed > 20


@pytest.mark.parametrize(
    "tag",
    [b'["a", "b"]', b'{"a": 1}', b"[" * 20_000 + b"]" * 20_000],
    ids=["list", "object", "deep"],
)
def test_a_field_whose_type_changes_after_many_lines_does_not_end_the_process(
    tag: bytes, tmp_path: Path
) -> None:
    path, line = tmp_path / "a.jsonl", b'{"qid": "q", "docno": "d%d", "score": 1%s}\n'
    tags = [b', "tag": "a"'] * 9 + [b""] * 200 + [b', "tag": ' + tag]
    path.write_bytes(b"".join(line % (row, one) for row, one in enumerate(tags)))
    program = (
        "import sys; from idealrank import read_run; from idealrank.io.formats import "
        "json_columns as columns;"
        "columns._FEWEST, columns._BLOCK = 0, 512; read_run(sys.argv[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], check=False, capture_output=True, text=True
    )
    assert done.returncode in (0, 1), done
    assert done.returncode == 0 or "nested too deeply" in done.stderr


def test_no_thread_reads_a_refused_file_any_more_when_the_lines_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_columns, "_FEWEST", 0)
    monkeypatch.setattr(json_columns, "_BLOCK", 512)
    line = b'{"qid": "q", "docno": "d1", "score": 1, "tag": %s}\n'
    for _ in range(50):
        data = bytearray(line % b'"a"' * 200 + line % (b"[" * 20_000 + b"]" * 20_000))
        assert like_records(Source("a.jsonl", cast("bytes", data)), "run", None, Notes()) is None
        data.clear()  # refused as long as somebody holds the bytes


def test_a_small_file_needs_no_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_columns, "_FEWEST", 1 << 20)
    monkeypatch.setattr(json_columns, "load_extra", lambda *_: pytest.fail("loaded"))
    assert like_records(Source("a.jsonl", LINE), "run", None, Notes()) is None
