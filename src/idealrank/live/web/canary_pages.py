"""The board of canary queries: each monitor with its rounds over time, and the alarms that are open
and were closed.
"""

import math
from collections.abc import Sequence
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from idealrank.live.alerts.round_metrics import round_gauges
from idealrank.live.monitoring import Monitoring, StoredAlarm, StoredRound
from idealrank.reports.table.cells import (
    Cell,
    Column,
    Table,
    interval_cell,
    number_cell,
    share_cell,
)
from idealrank.store import Store
from idealrank.store.timeline import Point, Timeline
from idealrank.store.views.history import minute
from idealrank.store.web.site import AddedPages, Site
from idealrank.store.web.timelines import Drawing

ROUNDS = 100  # rounds in the drawing
_LISTED = 20  # rounds in the table
_ALARMS = 50  # alarms in the drawing, and in the table of closed ones


def pages_of_canaries() -> AddedPages:
    """Return what canaries add to the pages of a store."""
    return AddedPages(
        package="idealrank.live.web",
        routes=[
            Route("/canaries", canaries_page, methods=["GET"]),
            Route("/canaries/{name:path}", canary_page, methods=["GET"]),
        ],
        listed=[("/canaries", "Canaries")],
        monitors=alarms_open,
        gauges=lambda store: round_gauges(store) if store.monitors() else [],
    )


def canaries_page(request: Request) -> Response:
    """Answer ``/canaries``."""
    site = Site.of(request)
    with site.folder.opened() as store:
        boards = [] if store is None else [_board(store, name) for name in store.monitors()]
        n_open = sum(len(board["opened"]) for board in boards)
        return site.page("canaries.html", {"title": "Canaries", "boards": boards, "n_open": n_open})


def canary_page(request: Request) -> Response:
    """Answer ``/canaries/NAME``: one monitor with its rounds and all its alarms."""
    site = Site.of(request)
    name = request.path_params["name"]
    with site.folder.required() as store:
        if name not in store.monitors():
            raise HTTPException(404, f"monitor {name!r}: found none of this name")
        rounds = Monitoring.of(store, name).rounds(limit=_LISTED)
        alarms = Monitoring.of(store, name).alarms(limit=_ALARMS)
        closed = [alarm for alarm in alarms if not alarm.is_open]
        context = {
            "title": f"Canaries of {name}",
            "board": _board(store, name),
            "rounds": _round_table(rounds),
            "closed": _alarm_table(closed, "Closed alarms") if closed else None,
        }
        return site.page("canary.html", context)


def alarms_open(store: Store) -> list[dict[str, Any]]:
    """Return every monitor with the number of its open alarms and its last round."""
    monitors = []
    for name in store.monitors():
        monitoring = Monitoring.of(store, name)
        last = monitoring.last("complete", "incomplete", "failed")
        monitors.append(
            {
                "name": name,
                "open": [alarm.rule for alarm in monitoring.alarms(only_open=True)],
                "outcome": "" if last is None else last.outcome,
                "when": "" if last is None else last.time,
            }
        )
    return monitors


def _board(store: Store, name: str) -> dict[str, Any]:
    monitoring = Monitoring.of(store, name)
    rounds = [stored for stored in monitoring.rounds(limit=ROUNDS) if stored.outcome != "running"]
    opened = monitoring.alarms(only_open=True)
    last = rounds[-1] if rounds else None
    complete = next((stored for stored in reversed(rounds) if stored.outcome == "complete"), None)
    return {
        "name": name,
        "drawing": drawing_of(name, rounds, monitoring.alarms(limit=_ALARMS)),
        "opened": opened,
        "last": last,
        "complete": complete,
        "measure": "" if complete is None else str(complete.record.get("measure", "")),
        "alarms": _alarm_table(opened, "Open alarms") if opened else None,
        "facts": _facts(complete),
        "when": "" if last is None else minute(last.time),
    }


def _facts(complete: StoredRound | None) -> list[str]:
    """Facts of the last complete round, in words."""
    if complete is None:
        return []
    record = complete.record
    facts = []
    if (value := _number(record, "value")) is not None:
        low = _number(record, "low")
        high = _number(record, "high")
        ends = "" if low is None or high is None else f" [{low:.4f}, {high:.4f}]"
        facts.append(f"{record.get('measure', 'value')} {value:.4f}{ends}")
    for key, words in (("coverage", "judged"), ("failed", "failed")):
        if (share := _number(record, key)) is not None:
            facts.append(f"{words} {share:.1%}")
    if (delay := record.get("latency", {}).get("p95")) is not None:
        facts.append(f"p95 {delay:.1f} ms")
    if (days := _number(record, "label_days")) is not None:
        facts.append(f"labels {days:.0f} days old")
    return facts


def _number(record: Any, key: str) -> float | None:
    value = record.get(key)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _value(stored: StoredRound) -> float:
    value = _number(stored.record, "value")
    return math.nan if value is None else value


def drawing_of(name: str, rounds: Sequence[StoredRound], alarms: Sequence[StoredAlarm]) -> Drawing:
    """Lay out the rounds of a monitor, with a mark where an alarm opened."""
    ids = {stored.number: stored.evaluation or f"round {stored.number}" for stored in rounds}
    points: list[Point] = []
    ends: dict[str, tuple[float, float]] = {}
    measure = "value"
    for stored in rounds:
        key = ids[stored.number]
        record = stored.record
        value = _value(stored)
        points.append(Point(id=key, when=stored.time, run=name, value=value))
        low = _number(record, "low")
        high = _number(record, "high")
        if low is not None and high is not None:
            ends[key] = (low, high)
        measure = str(record.get("measure", measure))
    marks = {}
    for alarm in alarms:
        if alarm.opened in ids:
            group = f" of {alarm.slice}" if alarm.slice else ""
            marks[ids[alarm.opened]] = f"alarm {alarm.rule}{group}"
    return Drawing.of(Timeline(measure=measure, points=tuple(points)), ends, marks=marks)


def _alarm_table(alarms: Sequence[StoredAlarm], title: str) -> Table:

    def closed(alarm: StoredAlarm) -> str:
        return f"{minute(str(alarm.closed_time))}, round {alarm.closed}: {alarm.closing}"

    columns: list[Column[StoredAlarm]] = [
        Column(
            title="alarm",
            cell=lambda alarm: Cell(alarm.rule, tone="worse" if alarm.is_open else ""),
        ),
        Column(title="slice", cell=lambda alarm: alarm.slice or "all queries"),
        Column(
            title="opened (UTC)",
            cell=lambda alarm: f"{minute(alarm.opened_time)}, round {alarm.opened}",
        ),
    ]
    if any(not alarm.is_open for alarm in alarms):
        columns.append(Column(title="closed (UTC)", cell=closed))
    columns.append(Column(title="why", cell=lambda alarm: str(alarm.record.get("text", ""))))
    return Table.of(columns, alarms, title=title)


def _round_table(rounds: Sequence[StoredRound]) -> Table:
    def ends(stored: StoredRound) -> tuple[float, float]:
        low = _number(stored.record, "low")
        high = _number(stored.record, "high")
        if low is None or high is None:
            return math.nan, math.nan
        return low, high

    def outcome(stored: StoredRound) -> Cell:
        is_good = stored.outcome in ("complete", "running")
        return Cell(stored.outcome, tone="" if is_good else "worse")

    def shown(stored: StoredRound, key: str) -> Cell:
        value = _number(stored.record, key)
        return Cell("-") if value is None else share_cell(value)

    columns: list[Column[StoredRound]] = [
        Column(title="round", cell=lambda stored: str(stored.number)),
        Column(title="started (UTC)", cell=lambda stored: minute(stored.time)),
        Column(title="outcome", cell=outcome),
        Column(title="value", kind="number", cell=lambda stored: number_cell(_value(stored))),
        Column(
            title="95 % interval", kind="number", cell=lambda stored: interval_cell(ends(stored))
        ),
        Column(title="judged", kind="number", cell=lambda stored: shown(stored, "coverage")),
        Column(title="failed", kind="number", cell=lambda stored: shown(stored, "failed")),
        Column(title="p95 ms", kind="number", cell=_delay),
    ]
    return Table.of(columns, list(reversed(rounds)), title="Rounds, the newest first")


def _delay(stored: StoredRound) -> Cell:
    value = stored.record.get("latency", {}).get("p95")
    return Cell("-") if value is None else Cell(f"{value:.1f}", float(value))
