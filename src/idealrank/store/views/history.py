"""History of one measure in a store: every value with its change, one line a run, and the start of
a failure.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

from idealrank.data.interchange import finite
from idealrank.reports.table.cells import Cell, Column, Table, number, number_cell
from idealrank.reports.table.forms import as_text
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import clipped, columns, filled, parts_text, printable, sparkline
from idealrank.store.timeline import Onset, Point, Step, Suspects, Timeline, Trace, steps

_RUN, _TAGS = 24, 24  # widths of names in a table
_WIDTH = 120


def history_table(
    timeline: Timeline, *, shown: int = 0, together: bool = False, plain: bool = False
) -> str:
    """The table and the lines."""
    lines = timeline.lines(together=together)
    by_id = timeline.steps(together=together)
    points = timeline.points[-shown:]
    parts = [
        [_title(timeline, len(points))],
        _rows(points, by_id),
        _drawn(lines, plain=plain),
        _warnings(by_id.values()),
    ]
    return parts_text(parts)


def _title(timeline: Timeline, shown: int) -> str:
    total = len(timeline.points)
    count = f"{total:,} evaluation{'s' * (total != 1)}"
    if shown < total:
        count = f"{shown:,} of {total:,} evaluations, the newest (--show 0 lists all)"
    of_query = f" of query {printable(timeline.query)}" if timeline.query else ""
    order = "; newest last" if shown > 1 else ""
    return f"{timeline.measure}{of_query}: {count}{order}"


def _rows(points: Sequence[Point], by_id: Mapping[str, Step]) -> list[str]:
    columns: list[Column[Step]] = [
        Column(title="id", cell=lambda step: step.point.id),
        Column(title="when", cell=lambda step: minute(step.point.when), rank=2),
        Column(title="run", cell=lambda step: clipped(step.point.run, _RUN)),
        Column(title="commit", cell=lambda step: short_commit(step.point), rank=3),
        Column(title="value", kind="number", cell=lambda step: number_cell(step.point.value)),
        Column(title="change", kind="number", cell=_change, rank=1),
        Column(title="tags", cell=lambda step: clipped(", ".join(step.point.tags), _TAGS), rank=4),
    ]
    return as_text(Table.of(columns, [by_id[point.id] for point in points]), _WIDTH).splitlines()


def _change(step: Step) -> Cell:
    if step.breaks:
        return Cell(f"| {' and '.join(step.breaks)}", tone="worse")
    return number_cell(step.change, signed=True)


def minute(when: str) -> str:
    """A time for people: UTC, to the minute."""
    return when[:16].replace("T", " ")


def short_commit(point: Point) -> str:
    """The beginning of its commit, with a + where files differed from it."""
    return (point.commit[:8] or "-") + "+" * point.changed


def _drawn(lines: Mapping[str, Sequence[Point]], *, plain: bool) -> list[str]:
    """A sparkline for each line of two values or more, between its first value and its last."""
    rows = []
    for run, points in lines.items():
        known = [point.value for point in points if point.known]
        if len(known) < 2:
            continue
        values = [point.value for point in points]
        breaks = [bool(step.breaks) for step in steps(points)]
        drawn = sparkline(values, breaks, plain=plain)
        name = printable(clipped(run, _RUN)) or "all runs"
        ends = f"{number(min(known))} to {number(max(known))}"
        rows.append([name, number(known[0]), drawn, number(known[-1]), ends])
    return (
        columns(
            [["line", "first", "", "last", "range"], *rows], left=(0, 2, 4), ranks=(0, 0, 0, 0, 1)
        )
        if rows
        else []
    )


def _warnings(line_steps: Iterable[Step]) -> list[str]:
    """Warn that values before and after a break cannot be compared."""
    kinds = sorted(set(chain.from_iterable(step.breaks for step in line_steps)))
    if not kinds:
        return []
    bar = (
        f"A bar marks a change of the {' or the '.join(kinds)}: values on its two sides cannot be "
        f"compared."
    )
    return filled([bar, "`idealrank store diff ID ID` shows the other changes."])


def since_report(run: str, trace: Trace) -> str:
    """Report since when a line fails, and which commit to evaluate next."""
    onset = trace.onset
    head = printable(run) or "all runs"
    rule = trace.onset.rule.text
    words = {
        "unknown": "no value, so the state is unknown",
        "fine": f"the newest value passes (a failure is {rule})",
        "never fine": f"every value fails (it is {rule}); evaluate an older commit to find where "
        f"it began",
        "fails": f"fails (it is {rule})",
    }
    lines = [f"{head}: {words[onset.state]}"]
    if onset.last_good and onset.first_bad:
        which = "it" if onset.state == "fails" else "the last time it failed"
        lines[0] += f"; {which} began between"
        sides = [_side("last good", onset.last_good), _side("first bad", onset.first_bad)]
        lines += columns(sides, left=(0, 1, 2, 4), indent="  ")
    suspects = _suspects(trace.suspects, trace.subject) if trace.suspects else []
    return "\n".join([*lines, *_doubts(trace), *suspects, *_later(onset)])


def _later(onset: Onset) -> list[str]:
    """Suggest another rule when a line falls deeper after it began to fail."""
    if onset.state != "fails" or onset.later_fall is None:
        return []
    before, after = onset.later_fall
    floor = f"{(before.value + after.value) / 2:.3g}"
    sentence = (
        f"The largest fall came later, from {number(before.value)} ({before.id}) to "
        f"{number(after.value)} ({after.id})."
    )
    return filled([f"{sentence} To find it, use --below {floor}."])


def _side(title: str, point: Point) -> list[str]:
    return [
        title,
        point.id,
        minute(point.when),
        number(point.value),
        f"commit {short_commit(point)}" if point.commit else "",
    ]


def _doubts(trace: Trace) -> list[str]:
    lines = []
    if trace.onset.breaks and trace.onset.state == "fails":
        what = " and the ".join(trace.onset.breaks)
        sentence = (
            f"The {what} changed between the two, too: evaluate the last good commit again, like "
            "the first bad commit."
        )
        lines += filled([sentence])
    if trace.left_out:
        many = f"{trace.left_out:,} evaluation{'s' * (trace.left_out != 1)}"
        sentence = (
            f"In the order of commits, without {many} that had uncommitted changes or no commit of "
            "this repository."
        )
        lines += filled([sentence])
    return lines


def _suspects(suspects: Suspects, subject: str) -> list[str]:
    """Describe the conclusion from the commits in between."""
    bad = suspects.bad[:12]
    if suspects.found:
        return [f"  {bad} is the first bad commit{f': {printable(subject)}' if subject else ''}"]
    if not suspects.next:
        return [
            f"  one of {suspects.between} commits up to {bad} is the first bad one; none of the "
            "others has a value"
        ]
    more = f"about {suspects.steps} evaluation{'s' * (suspects.steps != 1)} to go"
    return [
        f"  {suspects.between} commits may be the first bad one, up to {bad}; evaluate next, "
        f"{more}:",
        f"    {suspects.next}",
    ]


def history_rows(timeline: Timeline, *, shown: int = 0, together: bool = False) -> Iterator[Row]:
    """Titles, and one row per point; a missing value is an empty cell."""
    names = (
        "id",
        "when",
        "run",
        "commit",
        "changed",
        "measure",
        "query",
        "value",
        "change",
        "breaks",
        "convention",
        "judgments",
        "tags",
        "note",
    )
    yield names
    for record in _records(timeline, together=together)[-shown:]:
        record |= {"measure": timeline.measure, "query": timeline.query}
        yield [_cell(record[name]) for name in names]


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple | list) else str(value)


def history_json(
    timeline: Timeline,
    since: Mapping[str, Trace] | None = None,
    *,
    shown: int = 0,
    together: bool = False,
) -> Iterator[str]:
    """JSON with every point, and since when each line fails where that was asked."""
    record: dict[str, Any] = {
        "measure": timeline.measure,
        "query": timeline.query or None,
        "direction": timeline.direction,
        "total": len(timeline.points),
        "points": _records(timeline, together=together)[-shown:],
    }
    if since is not None:
        record["since"] = {run: since_record(trace) for run, trace in since.items()}
    yield result_json(record)


def since_record(trace: Trace) -> dict[str, Any]:
    """Start of the failure of a line, as JSON has it."""
    onset, suspects = trace.onset, trace.suspects
    later_fall = None
    if onset.later_fall is not None:
        later_fall = [_point(point) for point in onset.later_fall]
    return {
        "rule": onset.rule.text,
        "state": onset.state,
        "last_good": None if onset.last_good is None else _point(onset.last_good),
        "first_bad": None if onset.first_bad is None else _point(onset.first_bad),
        "breaks": list(onset.breaks),
        "later_fall": later_fall,
        "order": trace.order,
        "left_out": trace.left_out,
        "commits": None if suspects is None else asdict(suspects) | {"found": suspects.found},
    }


def _point(point: Point) -> dict[str, Any]:
    return {name: finite(value) for name, value in asdict(point).items()}


def _records(timeline: Timeline, *, together: bool) -> list[dict[str, Any]]:
    by_id = timeline.steps(together=together)
    records = []
    for point in timeline.points:
        step = by_id[point.id]
        change = None if step.change is None or math.isnan(step.change) else step.change
        records.append(_point(point) | {"change": change, "breaks": list(step.breaks)})
    return records
