"""The first page: what the store holds, one measure over time, and the newest evaluations."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from idealrank.errors import InputError, OptionError
from idealrank.measures.parse import canonical_text, parse_measure
from idealrank.reports.table.cells import decimals, interval, number
from idealrank.store import Store
from idealrank.store.timeline import Step, Timeline
from idealrank.store.views.history import minute, short_commit
from idealrank.store.web.site import Site, status_of
from idealrank.store.web.timelines import Drawing

SHOWN = 100  # evaluations over time, by default
_MOST_SHOWN = 1000
_LISTED = 25  # evaluations in the table
_VERDICTS = 8  # comparisons and gates in the list
_CHOICES = 200  # runs, measures and tags to choose from
_NO_INTERVAL = (math.nan, math.nan)


def overview(request: Request) -> Response:
    """Answer ``/``."""
    site = Site.of(request)
    chosen = {
        name: request.query_params.get(name, "").strip()
        for name in ("measure", "run", "tag", "show")
    }
    with site.folder.opened() as store:
        counts: dict[str, int] = {}
        if store is not None:
            counts = dict(store.rows("SELECT kind, count(*) FROM entry GROUP BY kind"))
        if store is None or not counts.get("evaluation"):
            empty = {
                "title": "Overview",
                "counts": counts,
                "folder": site.folder.path,
                "is_empty": True,
            }
            return site.page("overview.html", empty)
        shown = _shown(chosen["show"])
        context = {
            "title": "Overview",
            "counts": counts,
            "is_empty": False,
            "asked": chosen | {"show": str(shown)},
            "choices": _choices(store),
            "verdicts": _verdicts(store),
            "monitors": site.monitors(store),
        }
        try:
            timeline = _timeline(store, chosen, shown)
        except (InputError, OptionError) as error:
            if isinstance(error, InputError) and status_of(error) != 404:
                raise
            return site.page("overview.html", context | {"lacking": str(error)}, 404)
        return site.page("overview.html", context | _over_time(site, store, timeline))


def _shown(text: str) -> int:
    is_number = text.isascii() and text.isdigit() and len(text) < 9
    return min(max(int(text), 1), _MOST_SHOWN) if is_number else SHOWN


def _choices(store: Store) -> dict[str, list[str]]:
    statements = {
        "runs": "SELECT name FROM entry WHERE kind = 'evaluation' GROUP BY name ORDER BY max(time) "
        "DESC LIMIT ?",
        "measures": "SELECT measure FROM mean GROUP BY measure ORDER BY count(*) DESC, min(place), "
        "measure LIMIT ?",
        "tags": "SELECT tag FROM tag GROUP BY tag ORDER BY count(*) DESC, tag LIMIT ?",
    }
    choices: dict[str, list[str]] = {}
    for name, sql in statements.items():
        choices[name] = [str(word) for (word,) in store.rows(sql, [_CHOICES])]
    return choices


def _verdicts(store: Store) -> list[dict[str, str]]:
    """The newest comparisons and gates."""
    sql = (
        "SELECT id, kind, name, time FROM entry WHERE kind <> 'evaluation' ORDER BY time DESC, id "
        "LIMIT ?"
    )
    names = ("id", "kind", "name", "when")
    rows = [dict(zip(names, map(str, row), strict=True)) for row in store.rows(sql, [_VERDICTS])]
    return [row | {"when": minute(row["when"])} for row in rows]


def _timeline(store: Store, chosen: Mapping[str, str], shown: int) -> Timeline:
    """The newest values that a request chooses. The time of the oldest one is looked up first, so
    that older records are not read.
    """
    conditions = "kind = 'evaluation'"
    parameters = []
    if chosen["run"]:
        conditions += " AND name = ?"
        parameters.append(chosen["run"])
    if chosen["tag"]:
        conditions += " AND id IN (SELECT id FROM tag WHERE tag = ?)"
        parameters.append(chosen["tag"])
    measure = chosen["measure"] and canonical_text(chosen["measure"])
    if measure:
        conditions += " AND id IN (SELECT id FROM mean WHERE measure = ?)"
        parameters.append(measure)
    # Conditions are constants of this file; the words of a user are parameters.
    sql = f"SELECT time FROM entry WHERE {conditions} ORDER BY time DESC LIMIT 1 OFFSET ?"  # noqa: S608
    since = None
    for (time,) in store.rows(sql, [*parameters, shown - 1]):
        since = str(time)
    return store.history(
        measure or None, run=chosen["run"] or None, tag=chosen["tag"] or None, since=since
    )


def _over_time(site: Site, store: Store, timeline: Timeline) -> dict[str, Any]:
    ends = intervals_of(site, store, timeline)
    lines = timeline.lines()
    together = len(lines) > 1 and all(len(points) == 1 for points in lines.values())
    steps = timeline.steps(together=together)
    newest = [steps[point.id] for point in reversed(timeline.points)]
    return {
        "measure": timeline.measure,
        "drawing": Drawing.of(timeline, ends, together=together),
        "n_points": len(timeline.points),
        "rows": _rows(newest[:_LISTED], ends),
        "n_rows": len(newest),
        "newest": newest[0],
        "headline": _headline(newest[0], timeline.measure),
    }


def _headline(newest: Step, measure: str) -> str:
    return f"{newest.point.run} is at {measure} {number(newest.point.value)}"


def intervals_of(site: Site, store: Store, timeline: Timeline) -> dict[str, tuple[float, float]]:
    """95 % intervals of the means of a timeline, by id; none of a measure that is not averaged.

    Examples
    --------
    >>> from idealrank.store.web.site import StoreFolder
    >>> from idealrank.store.web.guard import Guard
    >>> intervals_of(Site(folder=StoreFolder(None), guard=Guard()), None, Timeline(measure="AP"))
    {}
    """
    if not timeline.points or timeline.query or not _is_averaged(timeline.measure):
        return {}
    from idealrank.stats import mean_interval  # noqa: PLC0415  (SciPy; an empty overview needs none)
    from idealrank.store.history import counted_values  # noqa: PLC0415

    keys = {point.id: (point.id, timeline.measure) for point in timeline.points}
    lacking = [key for key in keys if site.intervals.known(keys[key]) is None]
    if lacking:
        for key, values in counted_values(store, timeline.measure, lacking).items():
            ends = _NO_INTERVAL
            if values is not None and values.size:
                mean = mean_interval(values)
                ends = float(mean.low), float(mean.high)
            site.intervals.put(keys[key], ends)
    known = {key: site.intervals.known(keys[key]) for key in keys}
    return {key: ends for key, ends in known.items() if ends is not None}


def _is_averaged(measure: str) -> bool:
    try:
        return parse_measure(measure).aggregate == "mean"
    except OptionError:
        return False


def _rows(newest: Sequence[Step], ends: Mapping[str, tuple[float, float]]) -> list[dict[str, Any]]:
    """Rows of the table, as templates write them."""
    places = decimals(list(ends.values()))
    return [
        {
            "id": step.point.id,
            "run": step.point.run,
            "value": number(step.point.value),
            "interval": interval(ends.get(step.point.id, _NO_INTERVAL), places),
            "change": step.change,
            "breaks": step.breaks,
            "when": minute(step.point.when),
            "stamp": step.point.when,
            "commit": short_commit(step.point),
            "tags": step.point.tags,
            "convention": step.point.convention,
        }
        for step in newest
    ]
