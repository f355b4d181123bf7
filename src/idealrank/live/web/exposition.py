"""The newest value of every run in Prometheus' text format, version 0.0.4."""

import math
from collections.abc import Iterator, Sequence
from datetime import datetime

from starlette.requests import Request
from starlette.responses import Response

from idealrank.analysis.history import Point, Timeline
from idealrank.errors import MissingExtraError
from idealrank.live.alerts.round_metrics import metrics_text
from idealrank.live.web.overview import intervals_of
from idealrank.live.web.site import Site
from idealrank.store import Entry, Store
from idealrank.store.encoding import read_coverage

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
MOST_RUNS = 200


class Family:
    r"""Samples of one name.

    Examples
    --------
    >>> family = Family("idealrank_evaluation_value", "Newest mean.")
    >>> family.add(0.5, run='a "b"')
    >>> print(family.text(), end="")
    # HELP idealrank_evaluation_value Newest mean.
    # TYPE idealrank_evaluation_value gauge
    idealrank_evaluation_value{run="a \"b\""} 0.5
    """

    def __init__(self, name: str, meaning: str) -> None:
        self._name, self._meaning = name, meaning
        self._samples: list[str] = []

    def add(self, value: float, **labels: str) -> None:
        """Add a sample."""
        inside = ",".join(f'{name}="{escaped(text)}"' for name, text in labels.items())
        self._samples.append(f"{self._name}{f'{{{inside}}}' if inside else ''} {written(value)}")

    def text(self) -> str:
        """Lines of the family; empty without a sample."""
        if not self._samples:
            return ""
        return "\n".join([f"# HELP {self._name} {self._meaning}", f"# TYPE {self._name} gauge", *self._samples]) + "\n"


def escaped(text: str) -> str:
    r"""Value of a label: a backslash, a quote and the end of a line are escaped.

    Examples
    --------
    >>> escaped('a"b\\c\n')
    'a\\"b\\\\c\\n'
    """
    plain = text.encode("utf-8", "backslashreplace").decode()
    return plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def written(value: float) -> str:
    """Number as Prometheus reads it.

    Examples
    --------
    >>> written(0.5), written(float("nan")), written(float("-inf")), written(3)
    ('0.5', 'NaN', '-Inf', '3')
    """
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "+Inf" if value > 0 else "-Inf"
    return repr(value)


def metrics(request: Request) -> Response:
    """Answer ``/metrics``."""
    site = Site.of(request)
    with site.folder.opened() as store:
        text = "".join(family.text() for family in families(site, store)).encode()
        if store is not None and store.monitors():
            text += _of_monitors(store)
    return Response(text, headers={"content-type": CONTENT_TYPE})


def _of_monitors(store: Store) -> bytes:
    """Metrics of the rounds of canary queries; their names are other ones."""
    try:
        return metrics_text(store)
    except MissingExtraError as error:
        return f"# {error}\n".encode()


def families(site: Site, store: Store | None) -> Iterator[Family]:
    """All samples of a store; without one only that there is none.

    Examples
    --------
    >>> from idealrank.live.web.access import StoreFolder
    >>> from idealrank.live.web.guard import Guard
    >>> print(next(families(Site(StoreFolder(None), Guard()), None)).text().splitlines()[-1])
    idealrank_store_present 0
    """
    present = Family("idealrank_store_present", "1 if there is a store, else 0.")
    present.add(int(store is not None))
    yield present
    if store is None:
        return
    entries = Family("idealrank_entries", "Entries of the store by kind.")
    counts: dict[str, int] = dict(store.rows("SELECT kind, count(*) FROM entry GROUP BY kind"))
    for kind in ("evaluation", "comparison", "gate"):
        entries.add(int(counts.get(kind, 0)), kind=kind)
    yield entries
    newest = _newest(store)
    yield from _values(site, store, newest)
    yield from _coverage(store, newest)


def _newest(store: Store) -> list[Entry]:
    """The newest evaluation of each run."""
    # SQLite takes other columns from the row of the only max.
    sql = "SELECT id, max(time) FROM entry WHERE kind = 'evaluation' GROUP BY name ORDER BY max(time) DESC LIMIT ?"
    return [store.entry(str(key)) for key, _ in store.rows(sql, [MOST_RUNS])]


def _values(site: Site, store: Store, newest: Sequence[Entry]) -> Iterator[Family]:
    value = Family("idealrank_evaluation_value", "Newest mean of a measure.")
    low = Family("idealrank_evaluation_value_low", "Lower end of the 95 % interval of the newest mean.")
    high = Family("idealrank_evaluation_value_high", "Upper end of the 95 % interval of the newest mean.")
    by_measure: dict[str, list[Point]] = {}
    for entry in newest:
        for measure, mean in (entry.means or {}).items():
            labels = {"run": entry.name, "measure": measure, "convention": entry.convention}
            value.add(math.nan if mean is None else float(mean), **labels)
            point = Point(id=entry.id, when=entry.record.time, run=entry.name, value=0.0, convention=entry.convention)
            by_measure.setdefault(measure, []).append(point)
    for measure, points in by_measure.items():
        ends = intervals_of(site, store, Timeline(measure=measure, points=tuple(points)))
        for point in points:
            if math.isfinite(sum(ends.get(point.id, (math.nan,)))):
                for family, end in zip((low, high), ends[point.id], strict=True):
                    family.add(end, run=point.run, measure=measure, convention=point.convention)
    yield from (value, low, high)


def _coverage(store: Store, newest: Sequence[Entry]) -> Iterator[Family]:
    scored = Family("idealrank_evaluation_scored_queries", "Queries that count in the newest evaluation.")
    missing = Family("idealrank_evaluation_missing_queries", "Judged queries without an answer in the newest evaluation.")
    unjudged = Family("idealrank_evaluation_unjudged_share", "Share of unjudged documents in the newest evaluation.")
    when = Family("idealrank_evaluation_timestamp_seconds", "Time of the newest evaluation, in seconds since 1970.")
    for entry in newest:
        cover = read_coverage(store.evaluation(entry.id).fields["coverage"], [])
        scored.add(cover.scored, run=entry.name)
        missing.add(cover.missing, run=entry.name)
        unjudged.add(float(cover.unjudged_share), run=entry.name)
        when.add(datetime.fromisoformat(entry.record.time).timestamp(), run=entry.name)
    yield from (scored, missing, unjudged, when)
