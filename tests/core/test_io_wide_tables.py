"""Tables with a list of documents in each row, of every library and in every file, against the same
lists as plain dicts.
"""

import ast
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

import idealrank as ir
from idealrank.io.formats.wide_tables import list_of_cell

RNG = np.random.default_rng(0)
QRELS = {
    f"u{user}": {f"i{item}": int(RNG.integers(0, 4)) for item in RNG.permutation(40)[:8]}
    for user in range(30)
}
ITEMS = {user: [f"i{item}" for item in RNG.permutation(40)[:12]] for user in QRELS}
ITEMS["u3"] = []
SCORES = {user: RNG.random(len(items)).tolist() for user, items in ITEMS.items()}
MEASURES = ["nDCG@10", "RR", "P@5"]
BY_PLACE = ir.evaluate(QRELS, ITEMS, MEASURES).per_query()
SCORED = {user: dict(zip(ITEMS[user], SCORES[user], strict=True)) for user in ITEMS}
BY_SCORE = ir.evaluate(QRELS, SCORED, MEASURES).per_query()

PLAIN = {"user": list(ITEMS), "items": list(ITEMS.values())}
WITH_SCORES = {**PLAIN, "n": list(map(len, SCORES.values())), "scores": list(SCORES.values())}
TABLES = [(PLAIN, BY_PLACE), (WITH_SCORES, BY_SCORE)]


def of_arrow_types(columns: dict[str, Any]) -> pd.DataFrame:
    schema = pa.table(columns).schema
    return pd.DataFrame(
        {
            name: pd.Series(cells, dtype=pd.ArrowDtype(schema.field(name).type))
            for name, cells in columns.items()
        }
    )


def with_items(kind: Callable[[list[str]], Any]) -> Callable[[dict[str, Any]], pd.DataFrame]:
    return lambda columns: pd.DataFrame(columns).assign(items=[kind(c) for c in columns["items"]])


FRAMES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "pandas": pd.DataFrame,
    "pandas of arrays": with_items(np.array),
    "pandas of tuples": with_items(tuple),
    "pandas of Arrow types": of_arrow_types,
    "polars": pl.DataFrame,
    "lazy polars": lambda columns: pl.DataFrame(columns).lazy(),
    "pyarrow": pa.table,
}


@pytest.mark.parametrize(("columns", "expected"), TABLES, ids=["by place", "by score"])
@pytest.mark.parametrize("library", FRAMES)
def test_frames_of_lists(library: str, columns: dict[str, Any], expected: Any) -> None:
    assert ir.evaluate(QRELS, FRAMES[library](columns), MEASURES).per_query() == expected


def to_stream(table: pa.Table, path: Path) -> None:
    with ipc.new_stream(path, table.schema) as writer:
        writer.write_table(table)


FILES: dict[str, Callable[[pa.Table, Path], object]] = {
    "run.parquet": parquet.write_table,
    "run.feather": feather.write_feather,
    "run.arrows": to_stream,
    "run.csv": lambda table, path: (
        table.to_pandas(types_mapper=None)
        .map(lambda cell: cell.tolist() if isinstance(cell, np.ndarray) else cell)
        .to_csv(path, index=False)
    ),
    "run.json": lambda table, path: table.to_pandas().to_json(
        path, orient="records", double_precision=15
    ),
    "run.jsonl": lambda table, path: pl.DataFrame(table).write_ndjson(path),
}


@pytest.mark.parametrize(("columns", "expected"), TABLES, ids=["by place", "by score"])
@pytest.mark.parametrize("name", FILES)
def test_files_of_lists(tmp_path: Path, name: str, columns: dict[str, Any], expected: Any) -> None:
    FILES[name](pa.table(columns), tmp_path / name)

    assert ir.evaluate(QRELS, tmp_path / name, MEASURES).per_query() == expected


HITS = pa.table(
    {
        "query": list(ITEMS),
        "hits": [
            [{"sku": item, "score": score} for item, score in SCORED[user].items()]
            for user in ITEMS
        ],
    }
)


@pytest.mark.parametrize("kind", ["arrow", "polars", "file"])
def test_lists_of_structs_are_read_by_paths(tmp_path: Path, kind: str) -> None:
    table: Any = HITS
    if kind == "polars":
        table = pl.from_arrow(HITS)
    elif kind == "file":
        table = tmp_path / "hits.parquet"
        parquet.write_table(HITS, table)
    by_place = {"document": "hits[].sku", "rank": "hits[]"}

    for columns, expected in (({"document": "hits[].sku"}, BY_SCORE), (by_place, BY_PLACE)):
        found = ir.evaluate(QRELS, table, MEASURES, run_columns=columns)
        assert found.per_query() == expected


def test_judgments_may_be_lists() -> None:
    graded = pd.DataFrame(
        {
            "user": list(QRELS),
            "items": [list(grades) for grades in QRELS.values()],
            "ratings": [list(grades.values()) for grades in QRELS.values()],
        }
    )
    plain = {user: list(grades) for user, grades in QRELS.items()}

    assert ir.read_qrels(graded).fingerprint == ir.Qrels(QRELS).fingerprint
    without = ir.read_qrels(pl.DataFrame(graded[["user", "items"]]))
    assert without.fingerprint == ir.Qrels(plain).fingerprint


def test_words_are_a_list_where_the_name_says_so(tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    words = [" ".join(items) for items in ITEMS.values()]
    pd.DataFrame({"user": list(ITEMS), "prediction": words}).to_csv(path, index=False)

    found = ir.evaluate(QRELS, path, MEASURES, run_columns={"document": "prediction[]"})

    assert found.per_query() == BY_PLACE


@pytest.mark.parametrize("cell", ["['x' 'y']", "[1 2 3]", "[np.str_('x')]", "['x', 'y'"])
def test_a_list_without_commas_is_refused(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "run.csv"
    pd.DataFrame({"user": ["a"], "items": [cell]}).to_csv(path, index=False)

    with pytest.raises(ir.FileFormatError, match="expected a list; write lists with commas"):
        ir.read_run(path, columns={"document": "items[]"})


def test_lists_of_other_lengths_are_refused() -> None:
    frame = pd.DataFrame({"user": ["a"], "items": [["x", "y"]], "scores": [[1.0]]})

    with pytest.raises(ir.FileFormatError, match=r"row 0 .*found 2 documents and 1 scores"):
        ir.read_run(frame, columns={"document": "items", "score": "scores"})


@pytest.mark.parametrize("name", ["run.parquet", "run.arrows", "run.csv"])
def test_lists_are_refused_within_a_budget(tmp_path: Path, name: str) -> None:
    FILES[name](pa.table(PLAIN), tmp_path / name)

    with pytest.raises(ir.InputError, match="found a list of documents in each row"):
        ir.evaluate(QRELS, tmp_path / name, "RR", memory="2GB")


def test_a_row_for_each_document_may_have_lists_beside() -> None:
    rows = [(user, item, score) for user in SCORED for item, score in SCORED[user].items()]
    frame = pl.DataFrame(
        {
            "user": [user for user, _, _ in rows],
            "item": [item for _, item, _ in rows],
            "score": [score for _, _, score in rows],
            "tags": [["new", "red"] for _ in rows],
        }
    )

    assert ir.evaluate(QRELS, frame, MEASURES).per_query() == BY_SCORE


@pytest.mark.parametrize(
    "cell", ["['a'" + " " * 200_000 + "x]", "[" + " " * 200_000 + "x y]", "['" + "\\" * 200_000]
)
def test_a_long_cell_that_is_no_list_takes_little_time(cell: str) -> None:
    begin = time.process_time()

    assert list_of_cell(cell) is None
    assert time.process_time() - begin < 2


@pytest.mark.parametrize("cell", ["[]", "[ ]", "['a']", "['a', ]", '["a"]', "[ 'it\\'s' , 7 ]"])
def test_lists_of_python_and_json_are_read(cell: str) -> None:
    assert list_of_cell(cell) == ast.literal_eval(cell)
