"""Means next to their chance level and their ceiling, with the lift."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from idealrank.bounds.lift import Lift, MeasureLift
from idealrank.bounds.random_orders import Chance
from idealrank.evaluation.evaluate import Evaluation
from idealrank.reports.table.cells import (
    Column,
    Table,
    count_cell,
    counted,
    decimals,
    interval_cell,
    number_cell,
)
from idealrank.reports.table.text import Part

MEANING = (
    "chance: mean value of a random order of the candidates; ceiling: value of their best order; "
    "lift: (value - chance) / (ceiling - chance), with its {level:g} % interval"
)


class _LiftRow(NamedTuple):
    measure: str
    run: str
    lift: MeasureLift


def lift_table(lifts: Sequence[Lift], digits: int | None = None, *, title: str = "") -> Table:
    """Build the table of all measures and runs; it may have no row."""
    rows = [
        _LiftRow(text, lift.run, lift.measures[text])
        for text in dict.fromkeys(text for lift in lifts for text in lift.measures)
        for lift in lifts
    ]
    places = decimals((row.lift.interval for row in rows), digits=digits)
    usual = decimals([], digits=digits)
    columns: list[Column[_LiftRow]] = [Column(title="measure", cell=lambda row: row.measure)]
    if len(lifts) > 1:
        columns.append(Column(title="run", cell=lambda row: row.run))
    columns += [
        Column(title="value", kind="number", cell=lambda row: number_cell(row.lift.value, usual)),
        Column(title="chance", kind="number", cell=lambda row: number_cell(row.lift.chance, usual)),
        Column(
            title="ceiling", kind="number", cell=lambda row: number_cell(row.lift.ceiling, usual)
        ),
        Column(title="lift", kind="number", cell=lambda row: number_cell(row.lift.lift, places)),
        Column(
            title="lift interval",
            kind="number",
            cell=lambda row: interval_cell(row.lift.interval, places),
        ),
        Column(title="queries", kind="number", cell=lambda row: count_cell(row.lift.n)),
    ]
    return Table.of(columns, rows, title=title, notes=_notes(lifts))


def lift_parts(lift: Lift) -> list[Part]:
    """Build the report of one run."""
    return [lift_table([lift])]


def chance_parts(chance: Chance) -> list[Part]:
    """Build the report of chance levels alone."""
    means = chance.mean()
    ceilings = chance.mean_ceiling()
    usual = decimals([])
    columns: list[Column[str]] = [
        Column(title="measure", cell=str),
        Column(title="chance", kind="number", cell=lambda text: number_cell(means[text], usual)),
        Column(
            title="ceiling", kind="number", cell=lambda text: number_cell(ceilings[text], usual)
        ),
    ]
    return [Table.of(columns, means, notes=[*chance.cautions, *_reasons(chance.not_offered)])]


def _notes(lifts: Sequence[Lift]) -> list[str]:
    notes = [MEANING.format(level=100 * lifts[0].level)]
    left_out = _left_out(lifts)
    notes += [left_out] if left_out else []
    notes += dict.fromkeys(caution for lift in lifts for caution in lift.cautions)
    return notes + _reasons(lifts[0].not_offered)


def _left_out(lifts: Sequence[Lift]) -> str:
    """Sentence about queries with one value whatever the order; empty if there are none."""
    most: Counter[str] = Counter()
    for lift in lifts:
        for text, row in lift.measures.items():
            most[text] = max(most[text], row.left_out)
    by_count: dict[int, list[str]] = {}
    for text, count in most.items():
        if count:
            by_count.setdefault(count, []).append(text)
    if not by_count:
        return ""
    parts = (
        f"{counted(count, 'query', 'queries')} ({', '.join(texts)})"
        for count, texts in by_count.items()
    )
    return f"left out of the lift, for every order has the same value: {'; '.join(parts)}"


def _reasons(not_offered: Mapping[str, str]) -> list[str]:
    """Say why measures have no chance level, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for text, reason in not_offered.items():
        by_reason.setdefault(reason, []).append(text)
    return [f"no chance level of {', '.join(texts)}: {why}" for why, texts in by_reason.items()]


def candidate_notes(evaluations: Iterable[Evaluation]) -> list[str]:
    """Say how many candidates the runs were ranked from, and how many judged documents are none."""
    notes = []
    for evaluation in evaluations:
        counts = evaluation.provenance.candidates
        if counts is None:
            continue
        note = f"candidates: {counts.documents:,} in {counted(counts.queries, 'query', 'queries')}"
        if counts.judged_outside:
            verb = "document is" if counts.judged_outside == 1 else "documents are"
            note += f"; {counts.judged_outside:,} judged {verb} not among them"
        notes.append(note)
    return list(dict.fromkeys(notes))
