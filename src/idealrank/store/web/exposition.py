"""The newest value of every run, and the rounds of monitors, as Prometheus reads them."""

import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain

from starlette.requests import Request
from starlette.responses import Response

from idealrank.store import Entry, Store
from idealrank.store.encoding import read_coverage
from idealrank.store.timeline import Point, Timeline
from idealrank.store.web.metrics_text import CONTENT_TYPE, Gauge, gauges_text
from idealrank.store.web.overview import intervals_of
from idealrank.store.web.site import Site

MOST_RUNS = 200  # runs with metrics, the newest ones


def metrics(request: Request) -> Response:
    """Answer ``/metrics``."""
    site = Site.of(request)
    with site.folder.opened() as store:
        gauges = list(newest_gauges(site, store))
        if store is not None:
            gauges += chain.from_iterable(feature.gauges(store) for feature in site.added)
    return Response(gauges_text(gauges), headers={"content-type": CONTENT_TYPE})


def newest_gauges(site: Site, store: Store | None) -> Iterator[Gauge]:
    """Yield all gauges of a store; without one only that there is none."""
    present = Gauge("idealrank_store_present", "1 if there is a store, else 0.")
    present.add(int(store is not None))
    yield present
    if store is None:
        return
    entries = Gauge("idealrank_entries", "Entries of the store by kind.", ["kind"])
    counts: dict[str, int] = dict(store.rows("SELECT kind, count(*) FROM entry GROUP BY kind"))
    for kind in ("evaluation", "comparison", "gate"):
        entries.add(int(counts.get(kind, 0)), kind)
    yield entries
    newest = _newest(store)
    yield from _values(site, store, newest)
    yield from _coverage(store, newest)


def _newest(store: Store) -> list[Entry]:
    """The newest evaluation of each run."""
    # SQLite takes other columns from the row of the only max.
    sql = (
        "SELECT id, max(time) FROM entry WHERE kind = 'evaluation' GROUP BY name ORDER BY "
        "max(time) DESC LIMIT ?"
    )
    return [store.entry(str(key)) for key, _ in store.rows(sql, [MOST_RUNS])]


def _values(site: Site, store: Store, newest: Sequence[Entry]) -> Iterator[Gauge]:
    labels = ["run", "measure", "convention"]
    value = Gauge("idealrank_evaluation_value", "Newest mean of a measure.", labels)
    low = Gauge(
        "idealrank_evaluation_value_low",
        "Lower end of the 95 % interval of the newest mean.",
        labels,
    )
    high = Gauge(
        "idealrank_evaluation_value_high",
        "Upper end of the 95 % interval of the newest mean.",
        labels,
    )
    by_measure: dict[str, list[Point]] = {}
    for entry in newest:
        for measure, mean in (entry.means or {}).items():
            number = math.nan if mean is None else float(mean)
            value.add(number, entry.name, measure, entry.convention)
            point = Point(
                id=entry.id,
                when=entry.record.time,
                run=entry.name,
                value=0.0,
                convention=entry.convention,
            )
            by_measure.setdefault(measure, []).append(point)
    for measure, points in by_measure.items():
        intervals = intervals_of(site, store, Timeline(measure=measure, points=tuple(points)))
        for point in points:
            lower, upper = intervals.get(point.id, (math.nan, math.nan))
            if math.isfinite(lower + upper):
                low.add(lower, point.run, measure, point.convention)
                high.add(upper, point.run, measure, point.convention)
    yield from (value, low, high)


def _coverage(store: Store, newest: Sequence[Entry]) -> Iterator[Gauge]:
    scored = Gauge(
        "idealrank_evaluation_scored_queries",
        "Queries that count in the newest evaluation.",
        ["run"],
    )
    missing = Gauge(
        "idealrank_evaluation_missing_queries",
        "Judged queries without an answer in the newest evaluation.",
        ["run"],
    )
    unjudged = Gauge(
        "idealrank_evaluation_unjudged_share",
        "Share of unjudged documents in the newest evaluation.",
        ["run"],
    )
    when = Gauge(
        "idealrank_evaluation_timestamp_seconds",
        "Time of the newest evaluation, in seconds since 1970.",
        ["run"],
    )
    for entry in newest:
        cover = read_coverage(store.evaluation(entry.id).fields, [])
        scored.add(cover.scored, entry.name)
        missing.add(cover.missing, entry.name)
        unjudged.add(float(cover.unjudged_share), entry.name)
        when.add(datetime.fromisoformat(entry.record.time).timestamp(), entry.name)
    yield from (scored, missing, unjudged, when)
