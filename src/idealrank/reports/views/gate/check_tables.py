"""Tables of a gate: its checks, and the queries that fell most."""

from idealrank.analysis.gate import Check, Gated
from idealrank.analysis.gate.outcome import QueryDrop
from idealrank.reports.table.cells import Cell, Column, Table, Tone, number_cell, p_cell
from idealrank.reports.table.text import clipped
from idealrank.reports.views.comparison.verdicts import (
    IDENTICAL,
    caution_mark_of_check,
    is_identical,
    mark_of_check,
)
from idealrank.reports.views.gate.sentences import COMPANION, RATE_MARKED

_NAME = 24  # letters of a baseline's name
TEXT = 60  # letters of a query that fell
_SHOWN_OPEN = 3  # worst queries of an open gate


def checks_table(gated: Gated, places: int, *, clip: int | None = _NAME) -> Table:
    """Build a table with a row for each check; names of baselines have at most `clip` letters."""

    def difference(check: Check) -> Cell:
        tone: Tone = "worse" if _shut(check) else ""
        return number_cell(check.difference, places, signed=True, tone=tone)

    columns: list[Column[Check]] = [
        Column(title="measure", cell=lambda check: check.measure),
        Column(
            title="baseline",
            cell=lambda check: check.baseline if clip is None else clipped(check.baseline, clip),
        ),
        Column(
            title="before",
            kind="number",
            cell=lambda check: number_cell(check.mean_baseline, places),
            rank=2,
        ),
        Column(
            title="now",
            kind="number",
            cell=lambda check: number_cell(check.mean_run, places),
            rank=2,
        ),
        Column(title="difference", kind="number", cell=difference),
        Column(
            title="bound",
            kind="number",
            cell=lambda check: number_cell(check.bound, places, signed=True),
        ),
        Column(
            title="1-sided p",
            kind="number",
            cell=lambda check: p_cell(check.p_corrected),
            rank=1,
        ),
        Column(
            title="2-sided p",
            kind="number",
            cell=lambda check: p_cell(check.p_two_sided),
            rank=4,
        ),
        Column(title="+/=/-", kind="number", cell=_wins, rank=3),
        Column(
            title="detectable",
            kind="number",
            cell=lambda check: number_cell(check.detectable, places, tone="quiet"),
            rank=5,
        ),
        Column(title="verdict", cell=lambda check: _verdict(check, gated)),
    ]
    notes = [] if all(check.decides for check in gated.checks) else [COMPANION]
    notes += [RATE_MARKED] if any(map(caution_mark_of_check, gated.checks)) else []
    return Table.of(columns, gated.checks, notes=notes)


def _shut(check: Check) -> bool:
    """Return whether a check fails the gate."""
    return check.decides and check.outcome == "failed"


def _wins(check: Check) -> Cell:
    counts = f"{check.wins}/{check.ties}/{check.losses}"
    return Cell(counts, counts, tone="quiet")


def _verdict(check: Check, gated: Gated) -> Cell:
    shut = _shut(check)
    tone: Tone = "quiet"
    if check.decides and not is_identical(check):
        if shut:
            tone = "worse"
        elif check.passed:
            tone = "better"
    # Equal values pass, unless a strict gate has too few queries: then its verdict matters more.
    same = check.decides and is_identical(check) and not shut
    verdict = IDENTICAL if same else mark_of_check(check, gated).word
    return Cell(
        verdict,
        mark=caution_mark_of_check(check),
        strong=check.decides and not check.passed,
        tone=tone,
    )


def with_worst(gated: Gated) -> list[Check]:
    """Checks whose worst queries are shown: deciding checks that did not pass, or the first."""
    stopped = [check for check in gated.deciding if not check.passed]
    return [check for check in (stopped or gated.checks[:1]) if check.worst]


def worst_table(check: Check, *, many: bool = False) -> Table:
    """Build the table of the queries that fell most; it names the baseline if there are `many`."""
    against = f" against {check.baseline}" if many else ""
    shown = check.worst if not check.passed else check.worst[:_SHOWN_OPEN]
    columns: list[Column[QueryDrop]] = [
        Column(title="query", cell=lambda drop: clipped(drop.query, 40)),
        Column(title="before", kind="number", cell=lambda drop: number_cell(drop.baseline)),
        Column(title="now", kind="number", cell=lambda drop: number_cell(drop.run)),
        Column(
            title="difference",
            kind="number",
            cell=lambda drop: number_cell(drop.difference, signed=True, tone="worse"),
        ),
    ]
    if any(drop.text for drop in shown):
        columns.append(Column(title="text", cell=lambda drop: clipped(drop.text or "", TEXT)))
    title = (
        f"worst queries by {check.measure}{against} ({len(shown)} of {check.losses:,} that are "
        "worse)"
    )
    return Table.of(columns, shown, title=title)
