"""Columns of differences: beside its title and cell stands what a column means; the fields of a
difference are those of its slices.
"""

from dataclasses import fields, replace
from typing import get_args

import pytest

import idealrank as ir
from idealrank.analysis.comparison import Comparison, Difference, DifferenceRow
from idealrank.analysis.comparison.slice_differences import Slice
from idealrank.reports.table.cells import Cell
from idealrank.reports.table.text import parts_text
from idealrank.reports.views.comparison import columns
from idealrank.reports.views.comparison.columns import (
    COLUMNS,
    Compared,
    Line,
    Shown,
    Where,
    difference_columns,
    meanings,
)
from idealrank.reports.views.comparison.comparison import comparison_parts

QUERIES = {f"q{i}": {"x": 1, "y": 0} for i in range(8)}


@pytest.fixture
def comparison() -> Comparison:
    good = {query: ["x", "y"] if place else ["y", "x"] for place, query in enumerate(QUERIES)}
    a, b = (
        ir.evaluate(QUERIES, run, ["RR", "P@1"])
        for run in ({query: ["y", "x"] for query in QUERIES}, good)
    )
    return ir.compare(
        a, b, slices={query: "even" if int(query[1]) % 2 == 0 else "odd" for query in QUERIES}
    )


def test_no_column_fails_on_a_slice_whatever_table_it_stands_in(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = comparison.pairs[0]["RR"]
    assert row.slices is not None
    everywhere = dict.fromkeys(get_args(Where), "title")
    monkeypatch.setattr(
        columns, "COLUMNS", [column._replace(titles=everywhere) for column in COLUMNS]
    )

    for where in get_args(Where):
        for column in difference_columns(where, Shown(2, 2, 0.05), 0.95):
            assert isinstance(column.beside(Line(row.slices["odd"], 1)), Cell)
            assert isinstance(column.beside(Line.of(row)), Cell)


def test_the_method_says_what_a_new_column_means(
    comparison: Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = Compared(
        "new",
        {"slices": "new"},
        lambda line, _: Cell(str(line.row.n)),
        meaning="queries, at {power} power",
    )
    monkeypatch.setattr(columns, "COLUMNS", [*COLUMNS, new])

    assert "new: queries, at 80 % power" in " ".join(
        parts_text(comparison_parts(comparison)).split()
    )


def test_the_method_says_nothing_of_columns_that_are_not_shown() -> None:
    both, of_baseline = (
        [one.partition(":")[0] for one in meanings(tables)]
        for tables in (["pair", "slices"], ["baseline"])
    )

    assert len(set(both)) == len(both)
    assert set(of_baseline) >= {"+/=/-", "detectable"}
    assert {"d_z"} == {"d_z", "tips at"} & set(both) - set(of_baseline)
    assert any("90 % power" in one for one in meanings(["baseline"], 0.9))


def test_every_number_of_a_row_is_in_the_records_of_a_difference_and_of_its_slices(
    comparison: Comparison,
) -> None:
    shared = [one.name for one in fields(DifferenceRow)]
    row = comparison.pairs[0]["RR"]
    assert row.slices is not None

    for record in (row.as_dict(), row.slices["odd"].as_dict()):
        assert set(shared) <= set(record)
    assert set(shared) - {"interval"} | {"interval_low", "interval_high"} <= set(
        next(comparison.records())
    )


def test_a_row_is_turned_back_by_turning_it_twice(comparison: Comparison) -> None:
    row = comparison.pairs[0]["RR"]
    assert row.slices is not None
    rows: list[Difference | Slice] = [
        replace(row, unjudged_a=0.5, unjudged_b=0.25, difference_judged=0.125),
        row.slices["odd"],
    ]

    for one in rows:
        back = one.reversed()
        assert back != one
        assert (back.mean_a, back.wins, back.losses) == (one.mean_b, one.losses, one.wins)
        assert back.reversed() == one


def test_every_field_that_is_turned_names_a_field_that_is_turned_to_it() -> None:
    for kind in (Difference, Slice):
        metadata = {one.name: one.metadata for one in fields(kind)}
        swapped = {name: str(one["swapped"]) for name, one in metadata.items() if "swapped" in one}
        assert {other: name for name, other in swapped.items()} == swapped
        assert {"mean_a", "wins"} <= set(swapped)
