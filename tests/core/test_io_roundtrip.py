"""The same data, written by other people's writers in every format, reads back as the same data."""

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from idealrank import _kernel
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.io.dataframes import qrels_from_frame, run_from_frame
from idealrank.io.read import read_qrels, read_run
from tests.conftest import examples

Nested = dict[str, dict[str, float]]
Row = tuple[str, str, float]

# Ids that every format can hold: no blanks, no control characters; '#' would make a comment, a byte
# order mark would be skipped.
PLAIN = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Z"), exclude_characters="\ufeff"),
    min_size=1,
    max_size=8,
).filter(lambda text: not text.startswith("#"))
# Ids that formats with typed or quoted cells can hold besides.
ANY = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8).filter(
    lambda text: text.strip() == text
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-5, 5).map(float)


def collections(ids: st.SearchStrategy[str]) -> st.SearchStrategy[Nested]:
    return st.dictionaries(
        ids, st.dictionaries(ids, NUMBERS, min_size=1, max_size=4), min_size=1, max_size=4
    )


def rows_of(data: Nested) -> list[Row]:
    return [
        (query, document, value)
        for query, documents in data.items()
        for document, value in documents.items()
    ]


def contents(source: Qrels | Run) -> dict[str, list[tuple[str, float]]]:
    """Ids and values in the order they were read, whatever holds them."""
    table = source.table if isinstance(source, Qrels) else source.source
    if isinstance(table, _kernel.Text):
        table = _kernel.read_text(table, duplicates="keep")
    documents = [table.document_id(row).decode() for row in range(table.n_rows)]
    bounds = table.offsets
    return {
        query.decode(): [
            (documents[row], float(table.values[row])) for row in range(bounds[i], bounds[i + 1])
        ]
        for i, query in enumerate(table.query_ids())
    }


def expected(data: Nested) -> dict[str, list[tuple[str, float]]]:
    return {query: list(documents.items()) for query, documents in data.items()}


def write_trec(path: Path, data: Nested, value: str) -> None:
    lines = [
        f"{q} 0 {d} {v!r}" if value == "grade" else f"{q} Q0 {d} 1 {v!r} a tag"
        for q, d, v in rows_of(data)
    ]
    path.write_text("\n".join(lines), "utf-8", newline="")


def write_tabs(path: Path, data: Nested, value: str) -> None:
    lines = [
        f"{q}\t0\t{d}\t{v!r}" if value == "grade" else f"{q}\tQ0\t{d}\t1\t{v!r}\ttag"
        for q, d, v in rows_of(data)
    ]
    path.write_text("\r\n".join(lines) + "\r\n", "utf-8", newline="")


def write_json(path: Path, data: Nested, _: str) -> None:
    path.write_text(json.dumps(data, indent=1), "utf-8")


def write_raw_json(path: Path, data: Nested, _: str) -> None:
    path.write_text(json.dumps(data, ensure_ascii=False), "utf-8")


def write_json_lines(path: Path, data: Nested, _: str) -> None:
    path.write_text(
        "\n".join(json.dumps({query: documents}) for query, documents in data.items()), "utf-8"
    )


def write_records(path: Path, data: Nested, value: str) -> None:
    path.write_text(
        "\n".join(json.dumps({"query_id": q, "doc_id": d, value: v}) for q, d, v in rows_of(data)),
        "utf-8",
    )


def write_columns(
    delimiter: str, names: tuple[str, str, str] | None = None
) -> Callable[[Path, Nested, str], None]:
    def write(path: Path, data: Nested, value: str) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter=delimiter)
            writer.writerow(names or ("query_id", "note", "doc_id", value))
            writer.writerows(
                (q, d, repr(v)) if names else (q, 'a "note",\nof two lines', d, repr(v))
                for q, d, v in rows_of(data)
            )

    return write


def as_arrow(data: Nested, value: str) -> pa.Table:
    queries, documents, values = zip(*rows_of(data), strict=True)
    return pa.table({"qid": queries, "docno": documents, value: values})


def write_parquet(path: Path, data: Nested, value: str) -> None:
    pq.write_table(as_arrow(data, value), path)


def write_feather(path: Path, data: Nested, value: str) -> None:
    feather.write_feather(as_arrow(data, value), str(path), compression="zstd")


def write_stream(path: Path, data: Nested, value: str) -> None:
    table = as_arrow(data, value)
    with ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=2)


TEXTS = {"a.trec": write_trec, "b.txt": write_trec, "c.tsv": write_tabs}
TYPED = {
    "a.json": write_json,
    "b.txt": write_raw_json,
    "a.jsonl": write_json_lines,
    "b.jsonl": write_records,
    "a.csv": write_columns(","),
    "a.tsv": write_columns("\t"),
    "b.tsv": write_columns("\t", ("query-id", "corpus-id", "score")),
    "a.parquet": write_parquet,
    "a.feather": write_feather,
    "b.arrow": write_stream,
}

relaxed = settings(
    max_examples=examples(40),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)


def check(path: Path, write: Callable[[Path, Nested, str], None], data: Nested) -> None:
    # A single line of JSON lines could be JSON; the values are the same.
    write(path, data, "grade")
    assert contents(read_qrels(path, tell=lambda _: None)) == expected(data)
    write(path, data, "score")
    assert contents(read_run(path, tell=lambda _: None)) == expected(data)


@pytest.mark.parametrize("name", TEXTS)
@relaxed
@given(data=collections(PLAIN))
def test_trec_text_reads_back(tmp_path: Path, name: str, data: Nested) -> None:
    check(tmp_path / name, TEXTS[name], data)


@pytest.mark.parametrize("name", TYPED)
@relaxed
@given(data=collections(ANY))
def test_every_other_format_reads_back(tmp_path: Path, name: str, data: Nested) -> None:
    check(tmp_path / name, TYPED[name], data)


COMPRESSORS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda data: zstandard.ZstdCompressor().compress(data),
}


@pytest.mark.parametrize("ending", COMPRESSORS)
@settings(relaxed, max_examples=examples(15))
@given(data=collections(PLAIN), cut=st.integers(0, 200))
def test_compressed_files_read_back_in_one_or_several_streams(
    tmp_path: Path, ending: str, data: Nested, cut: int
) -> None:
    write_trec(tmp_path / "plain", data, "score")
    text = (tmp_path / "plain").read_bytes()
    compress = COMPRESSORS[ending]
    path = tmp_path / f"a.run{ending}"
    path.write_bytes(compress(text[:cut]) + compress(text[cut:]))
    assert contents(read_run(path)) == expected(data)


FRAMES: dict[str, Callable[[pa.Table], Any]] = {
    "pyarrow": lambda table: table,
    "record batches": lambda table: table.to_reader(max_chunksize=2),
    "sliced": lambda table: pa.concat_tables([table.slice(0, 1), table.slice(1)]),
    "pandas": lambda table: table.to_pandas(),
    "pandas objects": lambda table: table.to_pandas().astype({"qid": object, "docno": object}),
    "pandas categories": lambda table: table.to_pandas().astype(
        {"qid": "category", "docno": "category"}
    ),
    "polars": pl.from_arrow,
    "polars lazy": lambda table: pl.DataFrame(table).lazy(),
    "polars categories": lambda table: pl.DataFrame(table).with_columns(
        pl.col("qid").cast(pl.Categorical)
    ),
    "string views": lambda table: table.cast(
        pa.schema([("qid", pa.string_view()), ("docno", pa.string_view()), table.schema[2]])
    ),
    "dictionaries": lambda table: table.set_column(0, "qid", table["qid"].dictionary_encode()),
    "binary ids": lambda table: table.set_column(1, "docno", table["docno"].cast(pa.binary())),
}


@pytest.mark.parametrize("kind", FRAMES)
@settings(relaxed, max_examples=examples(15))
@given(data=collections(ANY))
def test_every_dataframe_reads_back(kind: str, data: Nested) -> None:
    assert contents(qrels_from_frame(FRAMES[kind](as_arrow(data, "label")))) == expected(data)
    assert contents(run_from_frame(FRAMES[kind](as_arrow(data, "score")))) == expected(data)


@settings(relaxed, max_examples=examples(15))
@given(data=collections(ANY))
def test_a_relation_of_duckdb_reads_back(data: Nested) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed")
    table = as_arrow(data, "score")
    assert contents(run_from_frame(duckdb.connect().from_arrow(table))) == expected(data)


@relaxed
@given(data=collections(PLAIN), seed=st.randoms())
def test_scattered_rows_give_the_same_lists(tmp_path: Path, data: Nested, seed: Any) -> None:
    rows = rows_of(data)
    seed.shuffle(rows)
    text = "".join(f"{q} Q0 {d} 1 {v!r} t\n" for q, d, v in rows).encode()
    (tmp_path / "a.run").write_bytes(text)
    frame = pl.DataFrame(rows, schema=["qid", "docno", "score"], orient="row")
    assert contents(read_run(tmp_path / "a.run")) == contents(run_from_frame(frame))


@relaxed
@given(data=st.dictionaries(ANY, st.lists(ANY, unique=True, max_size=4), min_size=1, max_size=4))
def test_ordered_lists_read_back_with_their_order_and_with_empty_lists(
    tmp_path: Path, data: dict[str, list[str]]
) -> None:
    (tmp_path / "a.json").write_text(json.dumps(data), "utf-8")
    run = read_run(tmp_path / "a.json")
    assert {
        query: [document for document, _ in rows] for query, rows in contents(run).items()
    } == data
    assert all(run.ranking(query).documents == documents for query, documents in data.items())


def test_whole_numbers_as_ids_are_their_digits() -> None:
    frame = pd.DataFrame({"user_id": [7, 7], "item_id": [10**12, 2], "rating": [True, False]})
    assert contents(qrels_from_frame(frame)) == {"7": [("1000000000000", 1.0), ("2", 0.0)]}


def test_bytes_that_are_no_utf8_are_kept_in_every_text_format(tmp_path: Path) -> None:
    texts = {
        "a.qrels": b"q\xff 0 d\xfe 1\n",
        "a.csv": b"qid,docid,rel\nq\xff,d\xfe,1\n",
        "a.json": b'{"q\xff": {"d\xfe": 1}}',
    }
    texts["a.jsonl"] = b'{"qid": "q\xff", "docid": "d\xfe", "rel": 1}\n'
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
        table = read_qrels(tmp_path / name, tell=lambda _: None).table
        assert (table.query_ids(), table.document_id(0)) == ([b"q\xff"], b"d\xfe"), name


def test_a_buffer_of_columns_larger_than_one_batch_keeps_its_line_numbers(tmp_path: Path) -> None:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerow(["qid", "docid", "text", "score"])
    for row in range(40_000):
        writer.writerow([f"q{row % 7}", f"d{row}", "two\nlines" if row % 3 else "one", row / 8])
    text = buffer.getvalue()
    (tmp_path / "a.csv").write_text(text, "utf-8", newline="")
    read = contents(read_run(tmp_path / "a.csv"))
    assert read == {
        f"q{q}": [(f"d{row}", row / 8) for row in range(q, 40_000, 7)] for q in range(7)
    }
    broken = text.replace("d39999,", "d39999,x,")
    (tmp_path / "a.csv").write_text(broken, "utf-8", newline="")
    line = (
        broken[: broken.index("q1,d39999")].count("\n") + 1
        if "q1,d39999" in broken
        else broken[: broken.index(",d39999")].count("\n") + 1
    )
    with pytest.raises(ValueError, match=rf"a\.csv:{line}: found 5 cells, expected 4"):
        read_run(tmp_path / "a.csv")
