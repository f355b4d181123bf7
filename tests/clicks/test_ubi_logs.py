"""The two stores of User Behavior Insights, in each layout in which they leave OpenSearch."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from idealrank.clicks import grades_of_actions
from idealrank.clicks.files.ubi_logs import read_ubi
from idealrank.errors import FileFormatError

QUERIES: list[dict[str, Any]] = [
    {
        "query_id": "1",
        "user_query": "red shoes",
        "query_response_hit_ids": ["a", "b", "c"],
        "client_id": "u",
        "timestamp": "2024-05-01",
    },
    {
        "query_id": "2",
        "user_query": "red shoes",
        "query_response_hit_ids": ["b", "a"],
        "client_id": "v",
    },
    {"query_id": "3", "user_query": "nothing", "query_response_hit_ids": None, "client_id": "v"},
]
EVENTS: list[dict[str, Any]] = [
    {
        "action_name": "impression",
        "query_id": "1",
        "event_attributes": {"object": {"object_id": "a"}, "position": {"ordinal": 1}},
    },
    {"action_name": "click", "query_id": "1", "event_attributes": {"object": {"object_id": "b"}}},
    {
        "action_name": "purchase",
        "query_id": "1",
        "event_attributes": {"object": {"object_id": "b"}},
    },
    {"action_name": "click", "query_id": "1", "event_attributes": {"object": {"object_id": "b"}}},
    {"action_name": "click", "query_id": "2", "event_attributes": {"object": {"object_id": "z"}}},
    {"action_name": "login", "query_id": "2"},
]


def wrapped(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"_index": "ubi", "_id": str(number), "_source": row} for number, row in enumerate(rows)
    ]


def flat(row: dict[str, Any]) -> dict[str, Any]:
    own = {name: value for name, value in row.items() if name != "event_attributes"}
    object_id = row.get("event_attributes", {}).get("object", {}).get("object_id")
    return own | ({} if object_id is None else {"event_attributes.object.object_id": object_id})


def lines(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


LAYOUTS: dict[str, Callable[[list[dict[str, Any]]], str]] = {
    "lines": lines,
    "array": json.dumps,
    "dump": lambda rows: lines(wrapped(rows)),
    "answer": lambda rows: json.dumps(
        {"took": 1, "hits": {"total": {"value": len(rows)}, "hits": wrapped(rows)}}
    ),
    "flat": lambda rows: lines([flat(row) for row in rows]),
}


def stores(folder: Path, queries: str, events: str) -> tuple[Path, Path]:
    (folder / "queries.jsonl").write_text(queries, encoding="utf-8")
    (folder / "events.jsonl").write_text(events, encoding="utf-8")
    return folder / "queries.jsonl", folder / "events.jsonl"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_result_is_a_row_with_the_actions_on_it(tmp_path: Path, layout: str) -> None:
    notes: list[str] = []
    rows = read_ubi(
        *stores(tmp_path, LAYOUTS[layout](QUERIES), LAYOUTS[layout](EVENTS)), tell=notes.append
    )
    columns = (
        rows.session,
        rows.query,
        rows.document,
        rows.rank,
        rows.click,
        rows.user or (),
        rows.action or (),
    )
    assert list(zip(*columns, strict=True)) == [
        ("1", "red shoes", "a", 1, 0, "u", "impression"),
        ("1", "red shoes", "b", 2, 1, "u", "click|purchase"),
        ("1", "red shoes", "c", 3, 0, "u", "none"),
        ("2", "red shoes", "b", 1, 0, "v", "none"),
        ("2", "red shoes", "a", 2, 0, "v", "none"),
    ]
    assert [note.split(";")[0] for note in notes] == [
        "1 queries have no result",
        "1 events name a query or a result that no list has",
        "1 events name no query or no result, such as a filter or a login",
    ]
    checked = rows.check()
    assert (checked.n_lists, checked.n_kept) == (2, 2)


def test_a_parquet_export_is_the_same_log(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    json_stores = stores(tmp_path, lines(QUERIES), lines(EVENTS))
    for path, rows in zip(
        (tmp_path / "q.parquet", tmp_path / "e.parquet"), (QUERIES, EVENTS), strict=True
    ):
        parquet.write_table(pa.Table.from_pylist(rows), path)
    from_json, from_parquet = (
        read_ubi(*paths, tell=lambda _: None)
        for paths in (json_stores, (tmp_path / "q.parquet", tmp_path / "e.parquet"))
    )
    assert (from_parquet.document, from_parquet.action, from_parquet.click.tolist()) == (
        from_json.document,
        from_json.action,
        from_json.click.tolist(),
    )


def test_the_best_of_several_actions_is_the_grade(tmp_path: Path) -> None:
    rows = read_ubi(*stores(tmp_path, lines(QUERIES), lines(EVENTS)), tell=lambda _: None)
    assert rows.action is not None
    table = {"none": 0, "impression": 0, "click": 1, "purchase": 4}
    assert dict(grades_of_actions(rows.query, rows.document, rows.action, table)["red shoes"]) == {
        "a": 0.0,
        "b": 4.0,
        "c": 0.0,
    }


@pytest.mark.parametrize(
    ("queries", "events", "message"),
    [
        (
            QUERIES,
            EVENTS[2:3],
            r"no event on a result with the action click; actions on results: purchase \(1\)",
        ),
        (QUERIES, [{"query_id": "1"}], r"events.jsonl:1: found no field 'action_name'"),
        (
            [{"user_query": "red"}],
            EVENTS,
            r"queries.jsonl:1: found fields 'user_query', expected a query of UBI: query_id",
        ),
        (
            [{"query_id": "1", "query_response_hit_ids": "a,b"}],
            EVENTS,
            r"queries.jsonl:1: found fields",
        ),
    ],
)
def test_stores_that_make_no_sense_are_refused(
    tmp_path: Path, queries: list[dict[str, Any]], events: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(FileFormatError, match=message):
        read_ubi(*stores(tmp_path, lines(queries), lines(events)), tell=lambda _: None)


def test_other_actions_may_be_clicks(tmp_path: Path) -> None:
    rows = read_ubi(
        *stores(tmp_path, lines(QUERIES), lines(EVENTS)),
        clicks=["purchase", "impression"],
        tell=lambda _: None,
    )
    assert rows.click.tolist() == [1, 1, 0, 0, 0]
