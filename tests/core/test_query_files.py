"""Categories, traffic and clusters of queries: every format and dataframe gives the same, and
errors have their place.
"""

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import idealrank as ir
from idealrank.errors import InputError, OptionError

ROWS = [("q1", "news"), ("q1", "short"), ("2", "news"), ("é", "a, b")]
FOUND = {"q1": ("news", "short"), "2": ("news",), "é": ("a, b",)}
TRAFFIC = {"q1": 900.0, "2": 12.5}


def parquet(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    return sink.getvalue().to_pybytes()


def arrow(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pyarrow.feather.write_feather(table, sink, compression="uncompressed")
    return sink.getvalue().to_pybytes()


TABLE = pa.table(
    {
        "query": [query for query, _ in ROWS],
        "other": [1] * 4,
        "category": [category for _, category in ROWS],
    }
)
WRITTEN: dict[str, bytes] = {
    "comma.csv": (
        "query,other,category\n" + "".join(f'{query},x,"{category}"\n' for query, category in ROWS)
    ).encode(),
    "semicolon.csv": (
        "Query;Category\n" + "".join(f"{query};{category}\n" for query, category in ROWS)
    ).encode(),
    "tab.tsv": (
        "query\tcategory\n" + "".join(f"{query}\t{category}\n" for query, category in ROWS)
    ).encode(),
    "bare.tsv": "".join(f"{query}\t{category}\n" for query, category in ROWS).encode(),
    "rows.jsonl": "\n".join(
        json.dumps({"category": category, "query_id": query}) for query, category in ROWS
    ).encode(),
    "lists.jsonl": "\n".join(
        json.dumps({"query": query, "category": list(names)}) for query, names in FOUND.items()
    ).encode(),
    "array.json": json.dumps(
        [{"query": int(q) if q.isdecimal() else q, "category": c} for q, c in ROWS]
    ).encode(),
    "object.json": json.dumps(
        {query: names[0] if len(names) == 1 else names for query, names in FOUND.items()}, indent=1
    ).encode(),
    "a.parquet": parquet(TABLE),
    "a.feather": arrow(TABLE),
    "lists.parquet": parquet(
        pa.table({"query": list(FOUND), "category": [list(names) for names in FOUND.values()]})
    ),
}


@pytest.mark.parametrize("packed", [bytes, gzip.compress], ids=["plain", "gzip"])
@pytest.mark.parametrize("name", WRITTEN)
def test_every_format_gives_the_same_categories(
    name: str, packed: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / (name + (".gz" if packed is gzip.compress else ""))
    path.write_bytes(packed(WRITTEN[name]))

    assert ir.read_categories(path) == FOUND


def test_dataframes_are_read_as_files_are() -> None:
    frame = {
        "qid": [query for query, _ in ROWS],
        "kind": [category for _, category in ROWS],
        "more": [1, 2, 3, 4],
    }
    for made in (
        pd.DataFrame(frame),
        pl.DataFrame(frame),
        pl.DataFrame(frame).lazy(),
        pa.table(frame),
    ):
        assert ir.read_categories(made, columns={"query": "qid", "category": "kind"}) == FOUND
    assert (
        ir.read_traffic(pd.DataFrame({"user": list(TRAFFIC), "count": list(TRAFFIC.values())}))
        == TRAFFIC
    )
    assert ir.read_clusters(pl.DataFrame({"query": [1, 2], "session": [7, 7]})) == {
        "1": "7",
        "2": "7",
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"query,traffic\nq1,900\n2,12.5\n"),
        ("a.txt", b"q1 900\n2 12.5\n"),
        ("a.jsonl", b'{"query": "q1", "weight": 900}\n{"query": 2, "weight": 12.5}\n'),
        ("a.json", b'{"q1": 900, "2": 12.5}'),
        ("a.parquet", parquet(pa.table({"topic": ["q1", "2"], "frequency": [900.0, 12.5]}))),
    ],
)
def test_every_format_gives_the_same_traffic(name: str, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)

    assert ir.read_traffic(tmp_path / name) == TRAFFIC


def test_columns_are_named_exactly_and_the_words_of_recommenders_are_known(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Query,query,Kind,category\nx,q1,news,long\n", encoding="utf-8")

    assert ir.read_categories(
        tmp_path / "a.csv", columns={"query": "query", "category": "Kind"}
    ) == {"q1": ("news",)}
    assert ir.read_categories(
        tmp_path / "a.csv", columns={"user": "Query", "slice": "category"}
    ) == {"x": ("long",)}
    with pytest.raises(
        InputError,
        match=r"a\.csv:1: found several columns for query among 'query', 'query', 'kind', "
        r"'category'",
    ):
        ir.read_categories(tmp_path / "a.csv")
    with pytest.raises(
        InputError, match=r"found columns 'Query', .*expected one column 'kind' for the category"
    ):
        ir.read_categories(tmp_path / "a.csv", columns={"query": "query", "category": "kind"})
    with pytest.raises(
        OptionError, match=r"columns: found 'grade', expected 'query' .or 'user'. and 'category'"
    ):
        ir.read_categories(tmp_path / "a.csv", columns={"grade": "Kind"})


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "a.jsonl",
            b'{"query": "q1", "category": "x"}\n{"query": "q2"}\n',
            "a.jsonl:2: found no field 'category'",
        ),
        (
            "a.jsonl",
            b'{"query": "q1", "category": "x"}\n{"query": 1.5, "category": "x"}\n',
            "a.jsonl:2: found query 1.5",
        ),
        (
            "a.jsonl",
            b'{"query": "q1", "category": null}\n{}',
            "a.jsonl:1: found an empty category, expected a name",
        ),
        (
            "a.jsonl",
            b'{"query": "q1", "category": "x"}\n{"query\n',
            "a.jsonl:2: found a line that is not JSON",
        ),
        (
            "a.json",
            b'[{"query": "q1", "category": {"x": 1}}]',
            "a.json: record 1: found dict, expected a text or a number",
        ),
        ("a.json", b'[["q1", "x"]]', "a.json: record 1: found list, expected a record"),
        (
            "a.parquet",
            parquet(pa.table({"query": ["q"], "weight": [2]})),
            "no column for category among 'query', 'weight'",
        ),
        (
            "a.parquet",
            parquet(pa.table({"query": ["q"], "category": pa.nulls(1, "string")})),
            r"row 0 .*: found an empty category",
        ),
        ("a.parquet", parquet(TABLE)[:-30], "a.parquet: found damaged data"),
        (
            "a.xlsx",
            b"PK\x03\x04 and so on",
            "a.xlsx: found a spreadsheet, expected text or Parquet; save the sheet as CSV",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(
    name: str, content: bytes, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).write_bytes(content)

    with pytest.raises(InputError, match=said):
        ir.read_categories(name)


def test_a_query_has_one_weight_in_every_format(tmp_path: Path) -> None:
    for name, content in (
        ("a.json", '{"q1": [1, 2]}'),
        ("a.jsonl", '{"query": "q1", "weight": [1, 2]}\n{"query": "q2", "weight": 1}'),
    ):
        (tmp_path / name).write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match="found 2 values for query 'q1', expected one value"):
            ir.read_traffic(tmp_path / name)


# --- what the functions take ----------------------------------------------------------------------

QRELS = {number: {"x": 1} for number in range(10)}
LOW, HIGH = (dict.fromkeys(QRELS, ranking) for ranking in (["y", "x"], ["x", "y"]))
KINDS, WEIGHTS = ["short", "long"] * 5, [float(number + 1) for number in QRELS]


def held(values: list[Any], column: str, folder: Path) -> list[Any]:
    """The same values as a user may hold them."""
    frame = pd.DataFrame({"query": list(QRELS), column: values})
    frame.to_parquet(folder / f"{column}.parquet")
    frame.to_csv(folder / f"{column}.csv", index=False)
    by_text = {str(query): value for query, value in zip(QRELS, values, strict=True)}
    return [
        by_text,
        dict(zip(QRELS, values, strict=True)),
        pd.Series(values),
        frame,
        folder / f"{column}.parquet",
        str(folder / f"{column}.csv"),
    ]


def test_slices_weights_and_clusters_may_be_mappings_series_frames_and_files(
    tmp_path: Path,
) -> None:
    def compared(**options: Any) -> Any:
        return ir.compare(QRELS, LOW, HIGH, measures="RR", **options).as_dict()

    for option, values, column in (
        ("slices", KINDS, "category"),
        ("weights", WEIGHTS, "weight"),
        ("clusters", KINDS, "cluster"),
    ):
        first, *others = [compared(**{option: given}) for given in held(values, column, tmp_path)]
        assert first != compared()
        assert all(other == first for other in others)


def test_gate_robust_and_by_take_the_same(tmp_path: Path) -> None:
    weights, kinds = held(WEIGHTS, "weight", tmp_path), held(KINDS, "category", tmp_path)
    gates = [ir.gate(QRELS, HIGH, LOW, weights=given).as_dict() for given in weights]
    variants = [
        ir.robust(QRELS, LOW, HIGH, "RR", variants=["cutoff"], weights=given).as_dict()
        for given in weights
    ]
    means = [ir.evaluate(QRELS, HIGH, "RR").by(given).as_dict() for given in kinds[:3]]

    for found in (gates, variants, means):
        assert all(one == found[0] for one in found)


def test_what_is_no_value_by_query_is_refused() -> None:
    evaluation = ir.evaluate(QRELS, HIGH, "RR")
    with pytest.raises(
        InputError,
        match=r"slices: found int, expected a mapping .*; read_categories, read_traffic and "
        r"read_clusters",
    ):
        evaluation.by(3)
    with pytest.raises(InputError, match=r"no-such-file\.csv: found no such file"):
        evaluation.by("no-such-file.csv")
    with pytest.raises(InputError, match=r"slices: found query 1\.5, expected an id"):
        evaluation.by({1.5: "x"})
    with pytest.raises(InputError, match="slices: found query '1' a second time"):
        evaluation.by({1: "x", "1": "y"})
    with pytest.raises(InputError, match="categories: found nan for query '0'"):
        evaluation.by(pd.Series([float("nan")]))
