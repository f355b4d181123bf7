"""Judgments of several assessors are read from tables with a column of assessors, whose ids may be
any text.
"""

from pathlib import Path

import pandas as pd
import pytest

import idealrank as ir
from idealrank.io.formats.preferences import read_assessors
from tests.in_process import run as command

TABLE = pd.DataFrame(
    {
        "query": ["phone cord", "phone cord", "#1 mug "],
        "sku": ["s 1", "s 1", "s2"],
        "label": ["Exact", "0", "Exact"],
        "rater": ["ann", "ben", "ann"],
        "note": ["", "", "x"],
    }
)


def written(folder: Path, ending: str, table: pd.DataFrame = TABLE) -> str:
    path = folder / f"raters{ending}"
    if ending in (".csv", ".tsv"):
        table.to_csv(path, index=False, sep="," if ending == ".csv" else "\t")
    elif ending == ".jsonl":
        table.to_json(path, orient="records", lines=True)
    else:
        table.to_parquet(path, index=False)
    return str(path)


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_the_assessor_is_a_column(tmp_path: Path, ending: str) -> None:
    raters = read_assessors(written(tmp_path, ending), labels={"Exact": 3}, tell=lambda _: None)
    assert raters.assessors == ("ann", "ben")
    ann = raters.of("ann")
    assert {query: ann[query] for query in ann.queries} == {
        "phone cord": {"s 1": 3.0},
        "#1 mug ": {"s2": 3.0},
    }
    assert raters.of("ben")["phone cord"] == {"s 1": 0.0}


def test_the_agreement_of_a_table_is_that_of_lines(tmp_path: Path) -> None:
    rows = [("q 1", f"d{n}", n % 3, rater) for n in range(6) for rater in ("ann", "ben")]
    rows[3] = ("q 1", "d1", 0, "ben")
    names = ["query", "document", "grade", "assessor"]
    table = written(tmp_path, ".csv", pd.DataFrame(rows, columns=names))
    lines = tmp_path / "raters.txt"
    lines.write_text("".join(f"q_1 {rater} {doc} {grade}\n" for _, doc, grade, rater in rows))
    code, of_table, _ = command(["judge", "agreement", table])
    assert (code, of_table.replace("q 1", "q_1")) == command(["judge", "agreement", str(lines)])[:2]


def test_what_is_wrong_with_a_table_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ir.InputError, match=r"raters.csv:2: found \"Exact\" as grade in column"):
        read_assessors(written(tmp_path, ".csv"), tell=lambda _: None)
    table = written(tmp_path, ".csv", TABLE.drop(columns="rater"))
    with pytest.raises(ir.InputError, match=r"expected one for the assessor \(assessor, rater"):
        read_assessors(table, labels={"Exact": 3})
    twice = written(tmp_path, ".csv", TABLE.iloc[[0, 0]])
    with pytest.raises(ir.FileFormatError, match=r"raters.csv:3: "):
        read_assessors(twice, labels={"Exact": 3}, tell=lambda _: None)
    none = written(tmp_path, ".csv", TABLE.assign(label=""))
    with pytest.raises(ir.InputError, match="found no judgments, expected at least one"):
        read_assessors(none, tell=lambda _: None)
    Path(none).write_text("query,document,grade,rater\nq,d,1\n")
    with pytest.raises(ir.FileFormatError, match=r"raters.csv:2: found 3 cells, expected 4"):
        read_assessors(none, tell=lambda _: None)
    Path(none).write_text("query,document,grade,rater\nq,,1,ann\n")
    with pytest.raises(ir.FileFormatError, match=r"raters.csv:2: found an empty id in column"):
        read_assessors(none, tell=lambda _: None)
