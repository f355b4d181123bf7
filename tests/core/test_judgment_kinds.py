"""Judgments by people and by models in one file or in several: they are never joined without a
message.
"""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import idealrank as ir
from idealrank.io.judgment_files import Label, write_judgments, write_labels

JOINED = "were joined; --judge-qrels keeps a judge apart"
BOTH = [
    ("q1", "d1", 2, "ann", "people"),
    ("q1", "d2", 0, "tiny", "model"),
    ("q2", "d1", 1, "tiny", "model"),
]
NAMES = ("query", "document", "grade", "assessor", "kind")


def csv_text(rows: list[tuple[object, ...]], delimiter: str = ",") -> str:
    return "".join(f"{delimiter.join(map(str, row))}\n" for row in (NAMES, *rows))


def records(rows: list[tuple[object, ...]]) -> list[dict[str, object]]:
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


def to_csv(path: Path, rows: list[tuple[object, ...]]) -> None:
    path.write_text(csv_text(rows), encoding="utf-8")


def to_tsv(path: Path, rows: list[tuple[object, ...]]) -> None:
    path.write_text(csv_text(rows, "\t"), encoding="utf-8")


def to_lines(path: Path, rows: list[tuple[object, ...]]) -> None:
    path.write_text("".join(f"{json.dumps(one)}\n" for one in records(rows)), encoding="utf-8")


def to_array(path: Path, rows: list[tuple[object, ...]]) -> None:
    path.write_text(json.dumps(records(rows)), encoding="utf-8")


def to_parquet(path: Path, rows: list[tuple[object, ...]]) -> None:
    pl.DataFrame(records(rows)).write_parquet(path)


def to_arrow(path: Path, rows: list[tuple[object, ...]]) -> None:
    pl.DataFrame(records(rows)).write_ipc(path)


WRITERS: dict[str, Callable[[Path, list[tuple[object, ...]]], None]] = {
    "a.csv": to_csv,
    "a.tsv": to_tsv,
    "a.jsonl": to_lines,
    "a.json": to_array,
    "a.parquet": to_parquet,
    "a.arrow": to_arrow,
}


def messages(path: object) -> list[str]:
    said: list[str] = []
    assert ir.read_qrels(path, tell=said.append).n_judgments
    return [one for one in said if "kind" in one]


@pytest.mark.parametrize("name", WRITERS)
def test_a_table_that_mixes_people_and_a_model_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path, BOTH)
    expected = f"the judgments are of different kinds ({path}: people and model) and {JOINED}"
    assert messages(path) == [expected]
    with pytest.warns(ir.IdealrankWarning, match="different kinds"):
        ir.read_qrels(path)
    WRITERS[name](path, BOTH[1:])
    assert messages(path) == [f"{path}: all judgments are of kind model, none by people"]
    WRITERS[name](path, BOTH[:1])
    assert messages(path) == []


@pytest.mark.parametrize("library", ["polars", "lazy", "pandas", "pyarrow"])
def test_a_dataframe_that_mixes_people_and_a_model_is_named(library: str) -> None:
    def made(rows: list[tuple[object, ...]]) -> object:
        frame = pl.DataFrame(records(rows))
        return {
            "polars": lambda: frame,
            "lazy": frame.lazy,
            "pandas": frame.to_pandas,
            "pyarrow": frame.to_arrow,
        }[library]()

    said = messages(made(BOTH))
    assert len(said) == 1
    assert "qrels: people and model" in said[0]
    assert messages(made(BOTH[1:])) == ["qrels: all judgments are of kind model, none by people"]
    assert messages(made(BOTH[:1])) == []


def test_a_column_of_another_meaning_is_none_of_assessors(tmp_path: Path) -> None:
    to_csv(tmp_path / "a.csv", [("q1", "d1", 2, "ann", "news"), ("q1", "d2", 0, "ben", "sports")])
    assert messages(tmp_path / "a.csv") == []


def test_labels_of_a_model_alone_are_named_and_those_of_people_are_not(tmp_path: Path) -> None:
    path = tmp_path / "a.qrels.labels.csv"
    write_labels(
        str(path),
        [
            Label(query="q1", document="d1", grade=2.0, assessor="tiny", kind="model"),
            Label(query="q1", document="d2", grade=0.0, assessor="tiny", kind="model"),
        ],
    )
    assert messages(path) == [f"{path}: all judgments are of kind model, none by people"]
    write_labels(
        str(path), [Label(query="q1", document="d1", grade=2.0, assessor="ann", kind="people")]
    )
    assert messages(path) == []


def test_files_that_were_written_one_after_the_other_are_read_like_several(tmp_path: Path) -> None:
    people, model, both = (
        tmp_path / name for name in ("people.qrels", "model.qrels", "both.qrels")
    )
    write_judgments(
        str(people), [("q1", "ann", "d1", 2.0)], {"kind": "people", "assessors": ["ann"]}
    )
    write_judgments(
        str(model), [("q1", "tiny", "d2", 0.0)], {"kind": "model", "assessors": ["tiny"]}
    )
    both.write_bytes(people.read_bytes() + model.read_bytes())
    assert messages(both) == [
        f"the judgments are of different kinds ({both}: people and model) and {JOINED}"
    ]
    assert messages([people, model]) == [
        f"the judgments are of different kinds ({people}: people, {model}: model) and {JOINED}"
    ]
    both.write_bytes(
        b"# a remark\n" + people.read_bytes() + people.read_bytes().replace(b"d1", b"d3")
    )
    assert [messages(people), messages(model), messages(both)] == [[], [], []]
