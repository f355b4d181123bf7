"""Reusability of judgments, as tables, Markdown, JSON and CSV."""

from collections.abc import Iterator

from idealrank.data.interchange import finite
from idealrank.judging import Reusability, RunLeftOut
from idealrank.judging.views.agreement import number_text
from idealrank.reports.table.cells import Column, Table, count_cell, number_cell
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part, filled, wrapped
from idealrank.reports.views.conventions import paragraph

_VERDICTS = {
    "reusable": "Reusable: a run of this kind that was not pooled would be ranked nearly as if it "
    "had been.",
    "reusable with care": "Reusable with care: a run of this kind that was not pooled may be "
    "ranked too low.",
    "not reusable": "Not reusable: the judgments favour runs that were pooled; judge what a new "
    "run returns before it is compared.",
    "too few runs": "No verdict: it takes at least three runs.",
}


def reuse_parts(reusability: Reusability, *, digits: int | None = None) -> list[Part]:
    """Return the verdict and a table of runs."""
    places = 4 if digits is None else digits
    tau = "not defined" if finite(reusability.tau) is None else f"{reusability.tau:.2f}"
    tau = f"Kendall's tau is {tau}."
    moves = f"{reusability.largest_change} rank{'s' if reusability.largest_change != 1 else ''}"
    text = (
        f"{_VERDICTS[reusability.verdict]} {tau} At most, a run moves by {moves}, and its mean "
        f"falls by {reusability.largest_fall:.{places}f}."
    )
    return [
        filled(text),
        _runs(reusability, places),
        _notes(reusability),
        paragraph(reusability.convention, [reusability.measure]),
    ]


def _runs(reusability: Reusability, places: int) -> Table:
    columns: list[Column[RunLeftOut]] = [Column(title="run", cell=lambda run: run.run)]
    if any(run.group != run.run for run in reusability.runs):
        columns.append(Column(title="group", cell=lambda run: run.group))
    more: list[Column[RunLeftOut]] = [
        Column(title="unique", kind="number", cell=lambda run: count_cell(run.unique)),
        Column(title="relevant", kind="number", cell=lambda run: count_cell(run.unique_relevant)),
        Column(
            title=reusability.measure,
            kind="number",
            cell=lambda run: number_cell(finite(run.value), places),
        ),
        Column(
            title="left out",
            kind="number",
            cell=lambda run: number_cell(finite(run.value_without), places),
        ),
        Column(title="rank", kind="number", cell=lambda run: count_cell(run.rank)),
        Column(title="rank left out", kind="number", cell=lambda run: count_cell(run.rank_without)),
    ]
    return Table.of([*columns, *more], reusability.runs)


def _notes(reusability: Reusability) -> list[str]:
    phrases = [
        f"unique: judged documents that only this run (or its group) returns in the first "
        f"{reusability.depth:,} ranks",
        "relevant: those above grade 0",
        "left out: all runs evaluated without the judgments of these documents",
        "reusable: tau of at least 0.9, and no run moves by more than a tenth of the runs (or one "
        "rank); with care: tau of at least 0.8",
    ]
    return ["method", *wrapped("; ".join(phrases))]


def reuse_json(reusability: Reusability) -> str:
    """Return JSON text."""
    under = reusability.convention
    convention = {"name": under.name, "fingerprint": under.fingerprint}
    return result_json({"convention": convention} | reusability.as_dict())


def reuse_rows(reusability: Reusability) -> Iterator[Row]:
    """Yield titles, and a row for each run."""
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
    for run in reusability.runs:
        yield [
            run.run,
            run.group,
            reusability.measure,
            str(run.unique),
            str(run.unique_relevant),
            number_text(run.value),
            number_text(run.value_without),
            str(run.rank),
            str(run.rank_without),
        ]
