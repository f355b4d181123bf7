"""Slices of the queries: a table a pair for the first measure, and in brief what the other measures
say of them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from idealrank.analysis.comparison import Comparison, Pair
from idealrank.reports.table.cells import Cell, Column, NamedCells, Table, count_cell, number_cell
from idealrank.reports.table.text import Part, clipped
from idealrank.reports.views.comparison.columns import Line, Shown, difference_columns
from idealrank.reports.views.comparison.verdicts import decided_tone, mark_of, stars_text

if TYPE_CHECKING:
    from idealrank.analysis.comparison.slice_differences import Slice, Slices

NAME = 14  # letters of a run's name
_SLICE = 28  # letters of a slice's name


def slice_parts(comparison: Comparison, shown: Shown, *, with_pairs: bool = True) -> list[Part]:
    r"""For each pair the slices by the first measure, worst first, and differences by the others;
    nothing without slices.
    """
    if comparison.method.slices is None:
        return []
    first = next(iter(comparison.pairs[0].measures))
    if not with_pairs:
        rows = {f"{pair.b} - {pair.a}": _by_name(_of(pair, first)) for pair in comparison.pairs}
        names = list(dict.fromkeys(name for found in rows.values() for name in found))
        return [_brief(f"differences on slices by {first}", "pair", names, rows, shown)]
    return [
        part
        for pair in comparison.pairs
        for part in (slice_table(pair, first, shown), _other_slices(pair, first, shown))
    ]


def _of(pair: Pair, measure: str) -> "Sequence[Slice]":
    found = pair.measures[measure].slices
    return () if found is None else found.rows


def _by_name(rows: "Sequence[Slice]") -> "dict[str, Slice]":
    return {row.name: row for row in rows}


def slice_table(pair: Pair, measure: str, shown: Shown, *, clip: int | None = NAME) -> Part:
    """The slices of one pair by one measure, the worst first; names of runs of at most `clip`
    letters.
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
    """Differences by the other measures, slices in the order of the first."""
    others = [measure for measure in pair.measures if measure != first]
    rows = {measure: _by_name(_of(pair, measure)) for measure in others}
    names = list(
        dict.fromkeys(
            name for found in (_by_name(_of(pair, first)), *rows.values()) for name in found
        )
    )
    if not others or not names:
        return []
    by_slice = {
        name: {measure: rows[measure][name] for measure in others if name in rows[measure]}
        for name in names
    }
    return _brief("differences by other measures", "slice", others, by_slice, shown)


def _brief(
    title: str,
    corner: str,
    head: Sequence[str],
    rows: "Mapping[str, Mapping[str, Slice]]",
    shown: Shown,
) -> Table:
    """A row each of `rows`, by its name, and a column each of `head`; the title explains the
    marks.
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
    if counts["in_several"]:
        phrases.append(
            _counted(
                counts["in_several"],
                "{} is in several slices and counts in each",
                "{} are in several slices and count in each",
            )
        )
    if counts["in_none"]:
        phrases.append(_counted(counts["in_none"], "{} is in no slice", "{} are in no slice"))
    if counts["unknown"]:
        phrases.append(
            _counted(
                counts["unknown"],
                "{} with a category is not compared",
                "{} with a category are not compared",
            )
        )
    if any(math.isinf(one.detectable) for _, row in comparison.rows() for one in row.slices or ()):
        few = (
            "count as too few of equal weight"
            if comparison.method.weighted
            else "cannot detect any difference by this test, however large"
        )
        phrases.append(f"detectable none: so few queries {few}")
    return phrases


def _counted(number: int, one: str, several: str) -> str:
    return one.format("1 query") if number == 1 else several.format(f"{number:,} queries")


def slices_cells(found: "Slices") -> Table:
    """Slices of `idealrank.slices` as a table, the worst first."""
    shown = Shown.of_rows(found.rows, found.level)
    lines: list[Line | NamedCells] = [Line(row, 1, clipped(row.name, _SLICE)) for row in found.rows]
    total = NamedCells(
        slice=Cell("all"),
        queries=count_cell(found.n),
        difference=number_cell(found.difference, shown.places, signed=True),
    )
    return Table.of(_slice_columns(["a", "b"], found.level, shown), [*lines, total])
