"""Categories reach the kernel as codes: the same tables as plain text gives, without a copy of each
id for every row.
"""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idealrank.io.complaints import Notes, refuse
from idealrank.io.dataframes import run_from_frame
from idealrank.io.formats import arrow, arrow_columns
from idealrank.io.read import read_run
from idealrank.io.sources import open_sources

TEXT = {
    "qid": ["q2", "q1", "q2", "é"],
    "docno": ["b", "a", "a", "b"],
    "score": [0.5, 0.25, 1.0, 2.0],
}


def content(run: Any) -> list[tuple[bytes, bytes, float]]:
    table = run.source
    queries = np.repeat(np.arange(table.n_queries), np.diff(table.offsets)).tolist()
    return [
        (table.query_id(query), table.document_id(row), float(table.values[row]))
        for row, query in enumerate(queries)
    ]


PLAIN = content(run_from_frame(pl.DataFrame(TEXT)))


def categories(frame: pl.DataFrame, kind: Any) -> pl.DataFrame:
    return frame.with_columns(pl.col("qid").cast(kind), pl.col("docno").cast(kind))


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["é", "b", "z", "a", "q1", "q2"])])
def test_categories_of_polars_are_read_as_their_text(
    kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = categories(pl.DataFrame(TEXT), kind)
    assert content(run_from_frame(whole)) == PLAIN
    assert content(run_from_frame(pl.concat([whole[:1], whole[1:]], rechunk=False))) == PLAIN
    monkeypatch.setattr("idealrank.io.dataframes._MOST_CODES", 0)
    assert content(run_from_frame(whole)) == PLAIN


@pytest.mark.parametrize("most", [0, 1 << 18])
@pytest.mark.parametrize("block", [1, 3, 1 << 16])
def test_pieces_of_categories_are_read_as_one_and_an_error_names_its_row(
    most: int, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # from so many rows on each piece is read by itself
    monkeypatch.setattr("idealrank.io.dataframes._MOST_COPIED", most)
    monkeypatch.setattr("idealrank.io.dataframes._BLOCK", block)
    many = {
        "qid": [f"q{row // 9}" for row in range(40)],
        "docno": [f"d{row * 7 % 31}" for row in range(40)],
        "score": list(range(40)),
    }
    text = pl.DataFrame(many, schema_overrides={"score": pl.Float64})
    whole = categories(text, pl.Categorical)
    pieces = pl.concat([whole[:1], whole[1:1], whole[1:17], whole[17:]], rechunk=False)
    assert content(run_from_frame(pieces)) == content(run_from_frame(text))
    bad = pieces.with_columns(
        score=pl.when(pl.int_range(pl.len()) == 23).then(np.nan).otherwise("score")
    )
    with pytest.raises(Exception, match=r"run: row 23 .*NaN as score"):
        run_from_frame(bad)
    empty = text.with_columns(
        docno=pl.when(pl.int_range(pl.len()) == 23).then(pl.lit("")).otherwise("docno")
    )
    whole = categories(empty, pl.Categorical)
    with pytest.raises(Exception, match=r"run: row 23 .*an empty id in column 'docno'"):
        run_from_frame(pl.concat([whole[:1], whole[1:17], whole[17:]], rechunk=False))


def test_categories_are_read_without_pandas() -> None:
    script = (
        "import sys, polars as pl; from idealrank.io.dataframes import run_from_frame; "
        "frame = pl.DataFrame({'qid': ['q'], 'docno': ['d'], 'score': [1.0]}, schema={'qid': "
        "pl.Categorical, 'docno': pl.Categorical, "
        "'score': pl.Float64}); run_from_frame(frame); print({'pandas', 'pyarrow.compute'} & "
        "set(sys.modules))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", script], check=True, capture_output=True, text=True
        ).stdout
        == "set()\n"
    )


def test_chunks_with_dictionaries_of_their_own_are_read_as_their_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = pa.table(TEXT)
    for name in ("qid", "docno"):
        chunks = [
            data.column(name).slice(start, 2).combine_chunks().dictionary_encode()
            for start in (0, 2)
        ]
        data = data.set_column(data.schema.get_field_index(name), name, pa.chunked_array(chunks))
    monkeypatch.setattr(
        arrow_columns,
        "_decoded",
        lambda column, *_: pytest.fail("decoded") if "dict" in str(column.type) else column,
    )
    assert content(run_from_frame(data)) == PLAIN


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.large_binary()])
def test_parquet_files_of_a_collection_are_read_as_their_text(kind: Any, tmp_path: Path) -> None:
    data = pa.table(TEXT)
    data = data.set_column(0, "qid", data.column("qid").cast(kind))
    paths = [tmp_path / f"{part}.parquet" for part in (0, 1)]
    for part, path in enumerate(paths):
        pq.write_table(data.slice(2 * part, 2), path, row_group_size=1)
    assert content(read_run([str(path) for path in paths])) == PLAIN
    source = open_sources(str(paths[0]), Notes())[0]
    # a query's text stands there once
    assert (
        next(arrow.parquet_pieces(source, "run", None, Notes(), refuse)).queries.codes is not None
    )


@pytest.mark.parametrize("most", [arrow._MOST_ROWS, 0])
def test_a_parquet_file_of_many_groups_is_read_as_one_and_an_error_names_its_row(
    most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow, "_MOST_ROWS", most)  # above it a group is read in pieces
    monkeypatch.setattr(arrow, "_BATCH", 3)
    rng, path = np.random.default_rng(5), tmp_path / "run.parquet"
    rows = pa.table(
        {
            "qid": [f"q{query}" for query in np.sort(rng.integers(0, 4, 40))],
            "docno": [f"{document}{'x' * (document % 3)}" for document in range(40)],
            "score": rng.normal(size=40),
        }
    )
    for size in (1, 7, 40):
        pq.write_table(rows, path, row_group_size=size)
        assert content(read_run(str(path))) == content(run_from_frame(rows))
    bad = rows.set_column(
        1, "docno", pa.array(["" if row == 23 else f"d{row}" for row in range(40)])
    )
    pq.write_table(bad, path, row_group_size=7)
    with pytest.raises(Exception, match=r"row 23 .*an empty id"):
        read_run(str(path))


def test_a_parquet_file_without_rows_is_an_empty_run(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    pq.write_table(
        pa.table(
            {
                "qid": pa.array([], pa.string()),
                "docno": pa.array([], pa.string()),
                "score": pa.array([], pa.float64()),
            }
        ),
        path,
    )
    assert content(read_run(str(path))) == []


def test_categories_of_polars_with_codes_of_one_another_are_read_as_their_text() -> None:
    # the first codes are taken
    pl.Series([f"other{number}" for number in range(500)], dtype=pl.Categorical)
    whole = categories(pl.DataFrame(TEXT), pl.Categorical)
    assert content(run_from_frame(whole[2:])) == content(run_from_frame(pl.DataFrame(TEXT)[2:]))


def test_a_null_and_an_empty_id_among_categories_are_named() -> None:
    for bad, found in ((None, "null in column 'docno'"), ("", "an empty id in column 'docno'")):
        frame = categories(pl.DataFrame(TEXT | {"docno": ["b", bad, "a", "b"]}), pl.Categorical)
        with pytest.raises(Exception, match=f"row 1 .*{found}"):
            run_from_frame(frame)


@pytest.mark.parametrize(
    ("kind", "count"), [(np.int8, 300), (np.int16, 70_000), (np.int32, 5), (np.int64, 5)]
)
def test_a_negative_code_is_outside_however_many_words_there_are(kind: Any, count: int) -> None:
    assert arrow_columns.is_outside(np.array([1, -1], kind), count)
    assert not arrow_columns.is_outside(np.array([1, 2], kind), count)
    assert arrow_columns.is_outside(np.array([1, 5], kind), 5)
    assert not arrow_columns.is_outside(np.array([255], np.uint8), 256)
