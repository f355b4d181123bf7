"""Reusability of judgments, as tables, Markdown, JSON and CSV."""

import json
from collections.abc import Iterator

from idealrank.data.interchange import finite
from idealrank.judging import Reusability, RunLeftOut
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import Column, Table, count_cell, number_cell
from idealrank.reports.table.forms import parts_markdown
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.reports.views.conventions import paragraph
from idealrank.version import __version__

_SAID = {
    "reusable": "Reusable: a run of this kind that was not pooled would be ranked nearly as if it "
    "had "
    "been.",
    "reusable with care": "Reusable with care: a run of this kind that was not pooled may be "
    "ranked too low.",
    "not reusable": "Not reusable: the judgments favour runs that were pooled; judge what a new "
    "run returns "
    "before it is compared.",
    "too few runs": "No verdict: it takes at least three runs.",
}


def reuse_parts(found: Reusability, *, digits: int | None = None) -> list[Part]:
    """The verdict and a table of runs."""
    places = 4 if digits is None else digits
    tau = (
        f"Kendall's tau is {found.tau:.2f}."
        if finite(found.tau) is not None
        else "Kendall's tau is not defined."
    )
    moves = f"{found.largest_change} rank{'s' if found.largest_change != 1 else ''}"
    text = (
        f"{_SAID[found.verdict]} {tau} At most, a run moves by {moves}, and its mean falls by "
        f"{found.largest_fall:.{places}f}."
    )
    return [
        filled(text),
        _runs(found, places),
        _notes(found),
        paragraph(found.convention, [found.measure]),
    ]


def _runs(found: Reusability, places: int) -> Table:
    columns: list[Column[RunLeftOut]] = [Column(title="run", cell=lambda one: one.run)]
    if any(one.group != one.run for one in found.runs):
        columns.append(Column(title="group", cell=lambda one: one.group))
    more: list[Column[RunLeftOut]] = [
        Column(title="unique", kind="number", cell=lambda one: count_cell(one.unique)),
        Column(title="relevant", kind="number", cell=lambda one: count_cell(one.unique_relevant)),
        Column(
            title=found.measure,
            kind="number",
            cell=lambda one: number_cell(finite(one.value), places),
        ),
        Column(
            title="left out",
            kind="number",
            cell=lambda one: number_cell(finite(one.value_without), places),
        ),
        Column(title="rank", kind="number", cell=lambda one: count_cell(one.rank)),
        Column(title="rank left out", kind="number", cell=lambda one: count_cell(one.rank_without)),
    ]
    return Table.of([*columns, *more], found.runs)


def _notes(found: Reusability) -> list[str]:
    phrases = [
        f"unique: judged documents that only this run (or its group) returns in the first "
        f"{found.depth:,} ranks",
        "relevant: those above grade 0",
        "left out: all runs evaluated without the judgments of these documents",
        "reusable: tau of at least 0.9, and no run moves by more than a tenth of the runs (or "
        "one rank); with care: tau of at least 0.8",
    ]
    return ["method", *wrapped("; ".join(phrases))]


def reuse_markdown(found: Reusability, *, digits: int | None = None) -> str:
    """The report as Markdown."""
    return parts_markdown(reuse_parts(found, digits=digits))


def reuse_json(found: Reusability, *, digits: int | None = None) -> str:  # noqa: ARG001  (all of it)
    """JSON text."""
    convention = {"name": found.convention.name, "fingerprint": found.convention.fingerprint}
    return (
        json.dumps(
            {"version": __version__, "schema": SCHEMA, "convention": convention} | found.as_dict(),
            indent=2,
        )
        + "\n"
    )


def reuse_rows(found: Reusability, *, digits: int | None = None) -> Iterator[Row]:  # noqa: ARG001  (all of it)
    """Titles, and a row for each run."""
    yield [
        "run",
        "group",
        "measure",
        "unique",
        "unique_relevant",
        "value",
        "value_without",
        "rank",
        "rank_without",
    ]
    for one in found.runs:
        values = (
            number_text(one.value),
            number_text(one.value_without),
            str(one.rank),
            str(one.rank_without),
        )
        yield [
            one.run,
            one.group,
            found.measure,
            str(one.unique),
            str(one.unique_relevant),
            *values,
        ]
