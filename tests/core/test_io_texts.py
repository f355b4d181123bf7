"""Texts by id: every format gives the same texts, only the wanted ones, and what is wrong is said
with file and line.
"""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from idealrank.errors import FileFormatError, InputError
from idealrank.io.texts import clipped, read_texts

# Titles and texts; the third holds what formats have to quote.
RECORDS = [
    ("q1", "", "sort a list"),
    ("q2", "Files", "copy a file"),
    ("d 3", "", 'the "quoted", the comma\tand the tab'),
    ("4", "", "é\u2028x"),
]
TEXTS = {
    name: " ".join((f"{title}: {text}" if title else text).split()) for name, title, text in RECORDS
}


def as_csv() -> str:
    quoted = (
        (f'"{part}"' for part in (name, title, text.replace('"', '""')))
        for name, title, text in RECORDS
    )
    return "\ufeffdoc_id,title,text\n" + "".join(",".join(parts) + "\n" for parts in quoted)


WRITTEN: dict[str, str] = {
    "headed.tsv": "_id\ttitle\ttext\n"
    + "".join(f"{name}\t{title}\t{text.replace(chr(9), ' ')}\n" for name, title, text in RECORDS),
    "bare.tsv": "".join(
        f"{name}\t{title}{': ' * bool(title)}{text}\r\n" for name, title, text in RECORDS
    ),
    "a.csv": as_csv(),
    "beir.jsonl": "".join(
        json.dumps({"_id": n, "title": t, "text": x, "metadata": {}}) + "\n\n"
        for n, t, x in RECORDS
    ),
    "last.jsonl": "".join(
        json.dumps({"title": t, "contents": x, "id": n}) + "\n" for n, t, x in RECORDS
    ),
    "array.json": json.dumps(
        [{"docid": int(n) if n.isdecimal() else n, "title": t, "body": x} for n, t, x in RECORDS]
    ),
    "mapping.json": json.dumps({n: f"{t}{': ' * bool(t)}{x}" for n, t, x in RECORDS}, indent=1),
    "records.json": json.dumps({n: {"title": t, "text": x} for n, t, x in RECORDS}),
}
PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@pytest.mark.parametrize("ending", PACKED)
@pytest.mark.parametrize("name", WRITTEN)
def test_every_format_gives_the_same_texts(name: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / (name + ending)
    path.write_bytes(PACKED[ending](WRITTEN[name].encode()))

    assert read_texts(path) == TEXTS
    assert read_texts(path, {"q2", "4", "absent"}) == {name: TEXTS[name] for name in ("q2", "4")}


def test_parquet_gives_the_same_texts(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = zip(*RECORDS, strict=True)
    parquet.write_table(
        pyarrow.table(dict(zip(("id", "title", "text"), map(list, columns), strict=True))),
        tmp_path / "a.parquet",
    )

    assert read_texts(tmp_path / "a.parquet", {"q1", "q2"}) == {
        name: TEXTS[name] for name in ("q1", "q2")
    }


def test_zstandard_is_unpacked_as_it_is_read(tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    (tmp_path / "a.tsv.zst").write_bytes(
        zstandard.ZstdCompressor().compress(WRITTEN["bare.tsv"].encode())
    )

    assert read_texts(tmp_path / "a.tsv.zst") == TEXTS


def test_reading_ends_with_the_last_text_wanted(tmp_path: Path) -> None:
    whole = gzip.compress(
        "".join(f"d{i}\ttext {i} {i * 7919 % 65536:x}\n" for i in range(60_000)).encode()
    )
    path = tmp_path / "cut.tsv.gz"
    path.write_bytes(whole[: len(whole) // 2])  # who reads on meets the end of the data

    assert read_texts(path, {"d1", "d1000"})["d1000"].startswith("text 1000")
    with pytest.raises(FileFormatError, match="truncated gzip data"):
        read_texts(path, {"d59999"})


BROKEN = {
    "a.tsv": (
        "q1\tone\nq2 two\n",
        "a.tsv:2: found 'q2 two', a line without a tab, expected ID<tab>TEXT",
    ),
    "twice.tsv": (
        "q1\tone\nq2\ttwo\nq1\tmore\n",
        "twice.tsv:3: found id 'q1' a second time, expected each id once",
    ),
    "nameless.tsv": (
        "q1\tone\n\ttwo\n",
        "nameless.tsv:2: found an empty id, expected an id before its text",
    ),
    "narrow.tsv": (
        "id\ttitle\ttext\nq1\tone\n",
        "narrow.tsv:2: found 2 cells, expected 3, as in the header line",
    ),
    "a.csv": (
        'id,text\n"q0\n",x\nq1,one,more\n',
        "a.csv:4: found 3 cells, expected 2, as in the header line",
    ),
    "bare.csv": (
        "q1,one\nq2,two\n",
        "bare.csv:1: found no id and no text among 'q1', 'one', expected a header line such "
        "as id,text",
    ),
    "open.csv": (
        'id,text\nq1,"one\n',
        "open.csv:2: found a cell that cannot be read (unexpected end of data), expected "
        "cells quoted",
    ),
    "a.jsonl": (
        '{"_id": "q1", "text": "one"}\n{"_id": "q2", "text"\n',
        "a.jsonl:2: found a line that is not JSON (",
    ),
    "fields.jsonl": (
        '{"_id": "q1", "words": "one"}\n',
        "fields.jsonl:1: found no id and no text among the fields '_id', 'words'",
    ),
    "number.jsonl": ('{"_id": "q1", "text": 7}\n', "number.jsonl:1: found text 7, expected a text"),
    "array.json": (
        '[{"_id": "q1", "text": "x"}, ["q2"]]',
        "array.json: record 2: found list, expected a record",
    ),
    "cut.json": ('{"q1": "one"', "cut.json: found text that is not JSON ("),
    "empty.tsv": ("\n", "empty.tsv: found an empty file, expected lines ID<tab>TEXT"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_said_with_its_place(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text, said = BROKEN[name]
    Path(name).write_text(text, encoding="utf-8")

    with pytest.raises(InputError) as refused:
        read_texts(name)

    assert str(refused.value).startswith(said)


def test_long_texts_end_with_an_ellipsis_and_none_is_longer() -> None:
    words = "word " * 1000

    assert clipped(words, 11) == "word word…"
    assert all(len(clipped(words[:n], 40)) <= 40 for n in range(1000))
    assert clipped("x" * 40, 40) == "x" * 40


def test_a_text_of_a_million_letters_is_read_from_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        f'id,text\nq1,"{"word " * 200_000}"\nq2,two\n', encoding="utf-8"
    )
    found = read_texts(tmp_path / "a.csv", length=12)
    assert found == {"q1": "word word w…", "q2": "two"}


def test_bytes_that_are_no_text_become_signs_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_bytes(b"q1\tcaf\xe9\nq\xff\tx\n")
    (tmp_path / "a.csv").write_bytes(b"id,text\nq1,caf\xe9\n")

    assert read_texts(tmp_path / "a.tsv")["q1"] == "caf\ufffd"
    assert read_texts(tmp_path / "a.tsv", {"q\udcff"}) == {"q\udcff": "x"}
    assert read_texts(tmp_path / "a.csv")["q1"].encode() == b"caf?"


def test_arrow_and_columns_with_semicolons_give_the_same_texts(tmp_path: Path) -> None:
    pyarrow, feather = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.feather")
    columns = dict(
        zip(("docid", "title", "text"), map(list, zip(*RECORDS, strict=True)), strict=True)
    )
    feather.write_feather(pyarrow.table(columns), tmp_path / "a.arrow")
    (tmp_path / "a.csv").write_text(
        "docid;title;text\nq1;;sort a list\nq2;Files;copy a file\n", encoding="utf-8"
    )

    assert read_texts(tmp_path / "a.arrow") == TEXTS
    assert read_texts(tmp_path / "a.csv") == {name: TEXTS[name] for name in ("q1", "q2")}


def test_a_spreadsheet_is_refused_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "texts.xlsx").write_bytes(b"PK\x03\x04 and so on")
    with pytest.raises(
        FileFormatError,
        match=r"texts\.xlsx: found a spreadsheet, expected text or Parquet; save the sheet as CSV",
    ):
        read_texts(tmp_path / "texts.xlsx")
