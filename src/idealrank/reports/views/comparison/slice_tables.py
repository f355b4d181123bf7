"""Slices of the queries: a table for each pair by the first measure, and the differences by the
other measures in brief.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from idealrank.analysis.comparison import Comparison, Pair
from idealrank.reports.table.cells import (
    Cell,
    Column,
    NamedCells,
    Table,
    count_cell,
    counted,
    number_cell,
)
from idealrank.reports.table.text import Part, clipped
from idealrank.reports.views.comparison.columns import Line, Shown, difference_columns
from idealrank.reports.views.comparison.verdicts import decided_tone, mark_of, stars_text

if TYPE_CHECKING:
    from idealrank.analysis.comparison.slice_differences import Slice, Slices

NAME = 14  # letters of a run's name
_SLICE = 28  # letters of a slice's name


def slice_parts(comparison: Comparison, shown: Shown, *, with_pairs: bool = True) -> list[Part]:
    r"""Build, for each pair, the slices by the first measure, the worst first, and the differences
    by other measures; nothing without slices.
    """
    if comparison.method.slices is None:
        return []
    first = next(iter(comparison.pairs[0].measures))
    if not with_pairs:
        rows = {f"{pair.b} - {pair.a}": _by_name(_of(pair, first)) for pair in comparison.pairs}
        names = _names_of(rows.values())
        return [_brief(f"differences on slices by {first}", "pair", names, rows, shown)]
    parts = []
    for pair in comparison.pairs:
        parts += [slice_table(pair, first, shown), _other_slices(pair, first, shown)]
    return parts


def _of(pair: Pair, measure: str) -> "Sequence[Slice]":
    slices = pair.measures[measure].slices
    return () if slices is None else slices.rows


def _by_name(rows: "Sequence[Slice]") -> "dict[str, Slice]":
    return {row.name: row for row in rows}


def _names_of(slices: "Iterable[Mapping[str, Slice]]") -> list[str]:
    """List the names of slices, each once, in the order in which they come first."""
    return list(dict.fromkeys(name for by_name in slices for name in by_name))


def slice_table(pair: Pair, measure: str, shown: Shown, *, clip: int | None = NAME) -> Part:
    """Build the table of the slices of one pair by one measure, the worst first; names of runs have
    at most `clip` letters.
    """
    title = f"slices by {measure}: {pair.b} against {pair.a}, the worst first"
    rows, row = _of(pair, measure), pair.measures[measure]
    if not rows:
        return [title, "  no slice has a query that counts in both runs"]
    names = [name if clip is None else clipped(name, clip) for name in (pair.a, pair.b)]
    return _slices(
        title=title, rows=rows, direction=row.direction, names=names, level=row.level, shown=shown
    )


def _slices(
    title: str,
    rows: "Sequence[Slice]",
    direction: int,
    names: Sequence[str],
    level: float,
    shown: Shown,
) -> Table:
    lines = [Line(row, direction, clipped(row.name, _SLICE)) for row in rows]
    return Table.of(_slice_columns(names, level, shown), lines, title=title)


def _slice_columns(names: Sequence[str], level: float, shown: Shown) -> list[Column[Line]]:
    return [
        Column(title="slice", cell=lambda line: line.name),
        *difference_columns("slices", shown, level, *names),
    ]


def _other_slices(pair: Pair, first: str, shown: Shown) -> Part:
    """Build the table of differences by other measures, slices ordered by the first."""
    others = [measure for measure in pair.measures if measure != first]
    rows = {measure: _by_name(_of(pair, measure)) for measure in others}
    names = _names_of([_by_name(_of(pair, first)), *rows.values()])
    if not others or not names:
        return []
    by_slice: dict[str, dict[str, Slice]] = {name: {} for name in names}
    for measure, by_name in rows.items():
        for name, row in by_name.items():
            by_slice[name][measure] = row
    return _brief("differences by other measures", "slice", others, by_slice, shown)


def _brief(
    title: str,
    corner: str,
    head: Sequence[str],
    rows: "Mapping[str, Mapping[str, Slice]]",
    shown: Shown,
) -> Table:
    """Build a table with a row for each name in `rows`, and a column for each name in `head`; the
    title explains the marks.
    """
    names: Column[str] = Column(title=corner, cell=lambda row: clipped(row, _SLICE))
    table = Table.of([names, *(_brief_column(name, rows, shown) for name in head)], rows)
    marks = {cell.mark for cell in table.cells()}
    return replace(table, title=f"{title} ({stars_text(marks)})")


def _brief_column(
    name: str, rows: "Mapping[str, Mapping[str, Slice]]", shown: Shown
) -> Column[str]:
    return Column(
        title=clipped(name, NAME),
        kind="number",
        cell=lambda row: _difference(rows[row].get(name), shown),
    )


def _difference(row: "Slice | None", shown: Shown) -> Cell:
    if row is None:
        return Cell("-")
    text, tone = shown.signed(row.difference), decided_tone(row.verdict)
    return Cell(text, row.difference, mark=mark_of(row).star, tone=tone)


def slice_phrases(comparison: Comparison) -> list[str]:
    """Describe the queries in no slice, or in several; nothing without slices."""
    counts = comparison.method.slices
    if counts is None:
        return []
    phrases: list[str] = []
    if n := counts["in_several"]:
        one_counts = "is in several slices and counts in each"
        several_count = "are in several slices and count in each"
        phrases.append(f"{_queries(n)} {one_counts if n == 1 else several_count}")
    if n := counts["in_none"]:
        phrases.append(f"{_queries(n)} {'is' if n == 1 else 'are'} in no slice")
    if n := counts["unknown"]:
        phrases.append(f"{_queries(n)} with a category {'is' if n == 1 else 'are'} not compared")
    slices = [part for _, row in comparison.rows() for part in row.slices or ()]
    if any(math.isinf(part.detectable) for part in slices):
        few = "cannot detect any difference by this test, however large"
        if comparison.method.weighted:
            few = "count as too few of equal weight"
        phrases.append(f"detectable none: so few queries {few}")
    return phrases


def _queries(n: int) -> str:
    return counted(n, "query", "queries")


def slices_cells(slices: "Slices") -> Table:
    """Build the table of the result of `idealrank.slices`, the worst slice first."""
    shown = Shown.of_rows(slices.rows, slices.level)
    lines: list[Line | NamedCells] = [
        Line(row, 1, clipped(row.name, _SLICE)) for row in slices.rows
    ]
    total = NamedCells(
        slice=Cell("all"),
        queries=count_cell(slices.n),
        difference=number_cell(slices.difference, shown.places, signed=True),
    )
    return Table.of(_slice_columns(["a", "b"], slices.level, shown), [*lines, total])
