"""Categories reach the kernel as codes: the same tables as plain text gives, without a copy of each id for every row."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from idealrank.io.dataframes import run_from_frame
from idealrank.io.formats import arrow
from idealrank.io.read import read_run

TEXT = {"qid": ["q2", "q1", "q2", "é"], "docno": ["b", "a", "a", "b"], "score": [0.5, 0.25, 1.0, 2.0]}


def content(run: Any) -> list[tuple[bytes, bytes, float]]:
    table = run.source
    queries = np.repeat(np.arange(table.n_queries), np.diff(table.offsets)).tolist()
    return [(table.query_id(query), table.document_id(row), float(table.values[row])) for row, query in enumerate(queries)]


PLAIN = content(run_from_frame(pl.DataFrame(TEXT)))


def categories(frame: pl.DataFrame, kind: Any) -> pl.DataFrame:
    return frame.with_columns(pl.col("qid").cast(kind), pl.col("docno").cast(kind))


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["é", "b", "z", "a", "q1", "q2"])])
def test_categories_of_polars_are_read_as_their_text(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = categories(pl.DataFrame(TEXT), kind)
    assert content(run_from_frame(whole)) == PLAIN
    assert content(run_from_frame(pl.concat([whole[:1], whole[1:]], rechunk=False))) == PLAIN
    monkeypatch.setattr("idealrank.io.dataframes._MOST_CODES", 0)
    assert content(run_from_frame(whole)) == PLAIN


def test_chunks_with_dictionaries_of_their_own_are_read_as_their_text(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pa.table(TEXT)
    for name in ("qid", "docno"):
        chunks = [data.column(name).slice(start, 2).combine_chunks().dictionary_encode() for start in (0, 2)]
        data = data.set_column(data.schema.get_field_index(name), name, pa.chunked_array(chunks))
    monkeypatch.setattr(arrow, "_decoded", lambda column, *_: pytest.fail("decoded") if "dict" in str(column.type) else column)
    assert content(run_from_frame(data)) == PLAIN


def test_parquet_files_of_a_collection_are_read_as_their_text(tmp_path: Path) -> None:
    data = pa.table(TEXT)
    paths = [tmp_path / f"{part}.parquet" for part in (0, 1)]
    for part, path in enumerate(paths):
        pq.write_table(data.slice(2 * part, 2), path, row_group_size=1)
    assert content(read_run([str(path) for path in paths])) == PLAIN


def test_a_null_and_an_empty_id_among_categories_are_named() -> None:
    for bad, found in ((None, "null in column 'docno'"), ("", "an empty id in column 'docno'")):
        frame = categories(pl.DataFrame(TEXT | {"docno": ["b", bad, "a", "b"]}), pl.Categorical)
        with pytest.raises(Exception, match=f"row 1 .*{found}"):
            run_from_frame(frame)
