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

ROUNDS = 100  # in the drawing
_LISTED = 20
_ALARMS = 50


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
        opened = sum(len(board["opened"]) for board in boards)
        return site.page("canaries.html", {"title": "Canaries", "boards": boards, "n_open": opened})


def canary_page(request: Request) -> Response:
    """Answer ``/canaries/NAME``: one monitor with its rounds and all its alarms."""
    site, name = Site.of(request), request.path_params["name"]
    with site.folder.required() as store:
        if name not in store.monitors():
            raise HTTPException(404, f"monitor {name!r}: found none of this name")
        rounds = Monitoring.of(store, name).rounds(limit=_LISTED)
        context = {
            "title": f"Canaries of {name}",
            "board": _board(store, name),
            "rounds": _round_table(rounds),
        }
        closed = [
            one for one in Monitoring.of(store, name).alarms(limit=_ALARMS) if not one.is_open
        ]
        return site.page(
            "canary.html",
            context | {"closed": _alarm_table(closed, "Closed alarms") if closed else None},
        )


def alarms_open(store: Store) -> list[dict[str, Any]]:
    """Return every monitor with the number of its open alarms and its last round."""
    found = []
    for name in store.monitors():
        monitoring = Monitoring.of(store, name)
        last = monitoring.last("complete", "incomplete", "failed")
        found.append(
            {
                "name": name,
                "open": [one.rule for one in monitoring.alarms(only_open=True)],
                "outcome": "" if last is None else last.outcome,
                "when": "" if last is None else last.time,
            }
        )
    return found


def _board(store: Store, name: str) -> dict[str, Any]:
    monitoring = Monitoring.of(store, name)
    rounds = [one for one in monitoring.rounds(limit=ROUNDS) if one.outcome != "running"]
    opened = monitoring.alarms(only_open=True)
    last = rounds[-1] if rounds else None
    complete = next((one for one in reversed(rounds) if one.outcome == "complete"), None)
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


def _facts(one: StoredRound | None) -> list[str]:
    """Facts of the last complete round, in words."""
    if one is None:
        return []
    record = one.record
    told = []
    if (value := _number(record, "value")) is not None:
        low, high = _number(record, "low"), _number(record, "high")
        told.append(
            f"{record.get('measure', 'value')} {value:.4f}"
            + ("" if low is None or high is None else f" [{low:.4f}, {high:.4f}]")
        )
    for key, words in (("coverage", "judged"), ("failed", "failed")):
        if (share := _number(record, key)) is not None:
            told.append(f"{words} {share:.1%}")
    if (delay := record.get("latency", {}).get("p95")) is not None:
        told.append(f"p95 {delay:.1f} ms")
    if (days := _number(record, "label_days")) is not None:
        told.append(f"labels {days:.0f} days old")
    return told


def _number(record: Any, key: str) -> float | None:
    value = record.get(key)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def drawing_of(name: str, rounds: Sequence[StoredRound], alarms: Sequence[StoredAlarm]) -> Drawing:
    """Lay out the rounds of a monitor, with a mark where an alarm opened."""
    ids = {one.number: one.evaluation or f"round {one.number}" for one in rounds}
    points = tuple(
        Point(
            id=ids[one.number], when=one.time, run=name, value=math.nan if value is None else value
        )
        for one in rounds
        for value in [_number(one.record, "value")]
    )
    measure = next(
        (str(one.record["measure"]) for one in reversed(rounds) if "measure" in one.record), "value"
    )
    ends = {
        ids[one.number]: (low, high)
        for one in rounds
        if (low := _number(one.record, "low")) is not None
        and (high := _number(one.record, "high")) is not None
    }
    marks = {
        ids[one.opened]: f"alarm {one.rule}{f' of {one.slice}' if one.slice else ''}"
        for one in alarms
        if one.opened in ids
    }
    return Drawing.of(Timeline(measure=measure, points=points), ends, marks=marks)


def _alarm_table(alarms: Sequence[StoredAlarm], title: str) -> Table:
    columns: list[Column[StoredAlarm]] = [
        Column(title="alarm", cell=lambda one: Cell(one.rule, tone="worse" if one.is_open else "")),
        Column(title="slice", cell=lambda one: one.slice or "all queries"),
        Column(
            title="opened (UTC)", cell=lambda one: f"{minute(one.opened_time)}, round {one.opened}"
        ),
    ]
    if any(not one.is_open for one in alarms):
        columns.append(
            Column(
                title="closed (UTC)",
                cell=lambda one: (
                    f"{minute(str(one.closed_time))}, round {one.closed}: {one.closing}"
                ),
            )
        )
    columns.append(Column(title="why", cell=lambda one: str(one.record.get("text", ""))))
    return Table.of(columns, alarms, title=title)


def _round_table(rounds: Sequence[StoredRound]) -> Table:
    lacking = (math.nan, math.nan)

    def ends(one: StoredRound) -> tuple[float, float]:
        low, high = _number(one.record, "low"), _number(one.record, "high")
        return lacking if low is None or high is None else (low, high)

    def shown(one: StoredRound, key: str) -> Cell:
        value = _number(one.record, key)
        return Cell("-") if value is None else share_cell(value)

    columns: list[Column[StoredRound]] = [
        Column(title="round", cell=lambda one: str(one.number)),
        Column(title="started (UTC)", cell=lambda one: minute(one.time)),
        Column(
            title="outcome",
            cell=lambda one: Cell(
                one.outcome, tone="" if one.outcome in ("complete", "running") else "worse"
            ),
        ),
        Column(
            title="value",
            kind="number",
            cell=lambda one: number_cell(
                math.nan if (value := _number(one.record, "value")) is None else value
            ),
        ),
        Column(title="95 % interval", kind="number", cell=lambda one: interval_cell(ends(one))),
        Column(title="judged", kind="number", cell=lambda one: shown(one, "coverage")),
        Column(title="failed", kind="number", cell=lambda one: shown(one, "failed")),
        Column(title="p95 ms", kind="number", cell=_delay),
    ]
    return Table.of(columns, list(reversed(rounds)), title="Rounds, the newest first")


def _delay(one: StoredRound) -> Cell:
    value = one.record.get("latency", {}).get("p95")
    return Cell("-") if value is None else Cell(f"{value:.1f}", float(value))
