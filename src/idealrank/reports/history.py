"""What a store remembers of one measure: every value with its change, a line for each run, and since when a query fails."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from idealrank.reports.layout import clipped, columns, filled
from idealrank.reports.records import SCHEMA, csv_row, finite
from idealrank.reports.sparkline import sparkline
from idealrank.timeline import Onset, Point, Step, Suspects, Timeline, steps
from idealrank.version import __version__

_RUN, _TAGS = 24, 30  # widths of names in a table


def history_table(timeline: Timeline, *, total: int, together: bool = False, plain: bool = False) -> str:
    """The table and the lines.

    Parameters
    ----------
    timeline : Timeline
        What is shown.
    total : int
        How many points there are in all, shown or not.
    together : bool
        Runs of different names are one line.
    plain : bool
        For terminals without UTF-8.

    Examples
    --------
    >>> points = (Point(id="3f2a9c41d07b", when="2026-01-01T00:00:00+00:00", run="bm25", value=0.5),)
    >>> print(history_table(Timeline(measure="AP", points=points), total=1).splitlines()[3])
    3f2a9c41d07b  2026-01-01 00:00  bm25       -  0.5000       -
    """
    lines = timeline.lines(together=together)
    by_id = {step.point.id: step for points in lines.values() for step in steps(points)}
    parts = [[_title(timeline, total)], _rows(timeline, by_id), _drawn(lines, plain=plain), _warnings(by_id.values())]
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def _title(timeline: Timeline, total: int) -> str:
    shown = len(timeline.points)
    count = f"{shown:,} of {total:,} evaluations, the newest" if shown < total else f"{total:,} evaluation{'s' * (total != 1)}"
    return f"{timeline.measure}{f' of query {timeline.query}' if timeline.query else ''}: {count}{'; newest last' * (shown > 1)}"


def _rows(timeline: Timeline, by_id: Mapping[str, Step]) -> list[str]:
    rows = [["id", "when", "run", "commit", timeline.measure, "change", "tags"]]
    rows += [_row(by_id[point.id]) for point in timeline.points]
    return columns(rows, left=(0, 1, 2, 6))


def _row(step: Step) -> list[str]:
    point = step.point
    change = "-" if step.change is None else f"{step.change:+.4f}"
    return [
        point.id,
        minute(point.when),
        clipped(point.run, _RUN),
        short_commit(point),
        f"{point.value:.4f}" if point.known else "-",
        f"{'/'.join(step.breaks)} changed" if step.breaks else change,
        clipped(", ".join(point.tags), _TAGS),
    ]


def minute(when: str) -> str:
    """A time for people: UTC, to the minute.

    Examples
    --------
    >>> minute("2026-01-01T09:30:15.123456+00:00")
    '2026-01-01 09:30'
    """
    return when[:16].replace("T", " ")


def short_commit(point: Point) -> str:
    """The beginning of its commit, with a + where files differed from it.

    Examples
    --------
    >>> short_commit(Point(id="", when="", run="", value=1.0, commit="1a2b3c4d5e6f", changed=True))
    '1a2b3c4d+'
    """
    return (point.commit[:8] or "-") + "+" * point.changed


def _drawn(lines: Mapping[str, Sequence[Point]], *, plain: bool) -> list[str]:
    """A sparkline for each line of two values or more, between its first value and its last."""
    rows = []
    for run, points in lines.items():
        known = [point.value for point in points if point.known]
        if len(known) > 1:
            drawn = sparkline([point.value for point in points], [bool(step.breaks) for step in steps(points)], plain=plain)
            rows.append(
                [clipped(run, _RUN) or "all", f"{known[0]:.4f}", drawn, f"{known[-1]:.4f}", f"{min(known):.4f} to {max(known):.4f}"]
            )
    return columns([["line", "first", "", "last", "range"], *rows], left=(0, 2)) if rows else []


def _warnings(found: Any) -> list[str]:
    """That a line is not of one question."""
    kinds = sorted({kind for step in found for kind in step.breaks})
    if not kinds:
        return []
    what = " and ".join(f"the {kind}" for kind in kinds)
    return filled(
        [
            f"Where a bar stands, {what} changed: values on its two sides answer different questions, and their difference says nothing "
            "of the runs. `idealrank diff ID ID` shows what changed."
        ]
    )


def since_report(run: str, found: Onset, suspects: Suspects | None = None, subject: str = "") -> str:
    """In words since when a query fails.

    Parameters
    ----------
    run : str
        Name of the line; empty for all runs together.
    found : Onset
        What was found.
    suspects : Suspects, optional
        The commits between, where a repository knows them.
    subject : str
        First line of the message of the first bad commit, where that one is found.

    Examples
    --------
    >>> from idealrank.timeline import Rule, onset
    >>> print(since_report("bm25", onset([], Rule(below=0.5))))
    bm25: no value, so that nothing can be said
    """
    head, rule = run or "all runs", found.rule.text
    words = {
        "unknown": "no value, so that nothing can be said",
        "fine": f"fine now: the newest value is not {rule}",
        "never fine": f"every value is {rule}: no evaluation is known that is fine; evaluate an older commit to find where it began",
        "fails": f"fails, which is: {rule}",
    }
    lines = [f"{head}: {words[found.state]}"]
    if found.last_good and found.first_bad:
        lines[0] += "; it began between" if found.state == "fails" else "; the last time it failed began between"
        lines += [
            f"  {line}" for line in columns([_side("last good", found.last_good), _side("first bad", found.first_bad)], left=(0, 1, 2, 4))
        ]
    if found.breaks:
        what = " and ".join(f"the {kind}" for kind in found.breaks)
        again = "evaluate the last good commit again as the first bad one was, before any commit is blamed."
        lines += filled([f"Between the two {what} changed, too: {again}"])
    return "\n".join([*lines, *(_suspects(suspects, subject) if suspects and found.state == "fails" else [])])


def _side(title: str, point: Point) -> list[str]:
    return [title, point.id, minute(point.when), f"{point.value:.4f}", f"commit {short_commit(point)}" if point.commit else ""]


def _suspects(suspects: Suspects, subject: str) -> list[str]:
    """What the commits between allow to say."""
    bad = suspects.bad[:12]
    if suspects.found:
        return [f"  {bad} is the first bad commit{f': {subject}' if subject else ''}"]
    if not suspects.next:
        return [f"  one of {suspects.between} commits up to {bad} is the first bad one; none of the others has a value"]
    return [
        f"  {suspects.between} commits may be the first bad one, up to {bad}; evaluate next, about {suspects.steps} more to go:",
        f"    {suspects.next}",
    ]


def history_csv(timeline: Timeline, *, together: bool = False) -> Iterator[str]:
    r"""CSV with a point a row; empty where there is no value.

    Examples
    --------
    >>> next(history_csv(Timeline(measure="AP")))
    'id,when,run,commit,changed,measure,query,value,change,breaks,convention,judgments,tags,note\n'
    """
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
    yield csv_row(names)
    for record in _records(timeline, together=together):
        yield csv_row([_cell((record | {"measure": timeline.measure, "query": timeline.query})[name]) for name in names])


def _cell(value: object) -> str:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else ",".join(value) if isinstance(value, tuple | list) else str(value)


def history_json(
    timeline: Timeline, since: Mapping[str, tuple[Onset, Suspects | None]] | None = None, *, total: int, together: bool = False
) -> Iterator[str]:
    """JSON with every point, and since when each line fails where that was asked.

    Examples
    --------
    >>> json.loads("".join(history_json(Timeline(measure="AP"), total=0)))["points"]
    []
    """
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "measure": timeline.measure,
        "query": timeline.query or None,
        "direction": timeline.direction,
        "total": total,
        "points": _records(timeline, together=together),
    }
    if since is not None:
        record["since"] = {run: since_record(found, suspects) for run, (found, suspects) in since.items()}
    yield json.dumps(record, indent=2) + "\n"


def since_record(found: Onset, suspects: Suspects | None) -> dict[str, Any]:
    """Since when a line fails, as JSON has it.

    Examples
    --------
    >>> from idealrank.timeline import Rule, onset
    >>> since_record(onset([], Rule(below=0.5)), None)["state"]
    'unknown'
    """
    sides = {
        name: None if point is None else _point(point) for name, point in (("last_good", found.last_good), ("first_bad", found.first_bad))
    }
    return {
        "rule": found.rule.text,
        "state": found.state,
        **sides,
        "breaks": list(found.breaks),
        "commits": None if suspects is None else asdict(suspects) | {"found": suspects.found},
    }


def _point(point: Point) -> dict[str, Any]:
    return {name: finite(value) for name, value in asdict(point).items()}


def _records(timeline: Timeline, *, together: bool) -> list[dict[str, Any]]:
    by_id = {step.point.id: step for points in timeline.lines(together=together).values() for step in steps(points)}
    found = []
    for point in timeline.points:
        step = by_id[point.id]
        change = None if step.change is None or math.isnan(step.change) else step.change
        found.append(_point(point) | {"change": change, "breaks": list(step.breaks)})
    return found
