"""Quality against latency of several search backends, as a page of its own: points with intervals,
the Pareto front, and a table.
"""

import html
import math
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from idealrank.pages.figures.theme import DARK, FONT, LIGHT

LONGEST = 34  # letters of a name; the table has it in full
LINE = 17.0  # height of a name of 12 px, with its ascenders and descenders
_RADIUS, _GAP = 7.0, 10.0  # px: free space around a point, and from a point to its name
_ABOVE = 12  # px from a point up to the middle of its name
_STEPS = 40  # half lines up and down at which a name is tried
_CROSSED = 40.0  # cost of a name across the interval of a point, in px of distance
# Widths of a letter of 12 px, rather too many.
_NARROW = 4.5
_USUAL = 7.2
_BROAD = 10.5
_WIDE = 13.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Box:
    """Rectangle with its left, top, right and bottom edge in px."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Return True if the two have an area in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def holds(self, other: "Box") -> bool:
        """Return True if the other is inside."""
        return (
            self.left <= other.left
            and self.top <= other.top
            and self.right >= other.right
            and self.bottom >= other.bottom
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class NamedPoint:
    """Point with its name, and the ends of its interval."""

    name: str
    x: float
    y: float
    top: float
    bottom: float


def shortened(name: str) -> str:
    """Return a name of at most 34 letters; the end of a longer one, where settings of a sweep
    differ, is kept.
    """
    return name if len(name) <= LONGEST else f"{name[:10]}…{name[-(LONGEST - 11) :]}"


def width(name: str) -> float:
    """Return the width of a name of 12 px in px, rather too large."""

    def of(letter: str) -> float:
        if unicodedata.east_asian_width(letter) in "WF":
            return _WIDE
        if letter in "ijlrtf.,:;'|!()[] ":
            return _NARROW
        return _BROAD if letter.isupper() or letter in "mw@%—…=+" else _USUAL

    return sum(map(of, name))


def label_boxes(points: Sequence[NamedPoint], inside: Box) -> list[Box | None]:
    """Choose a box for the name of each point: near its point, inside the drawing, and free of
    points and other names.

    Names of the first points are placed first. A name that has no room is None.
    """
    circles = []
    intervals = []
    for point in points:
        x, y = point.x, point.y
        circles.append(
            Box(left=x - _RADIUS, top=y - _RADIUS, right=x + _RADIUS, bottom=y + _RADIUS)
        )
        intervals.append(Box(left=x - 1, top=point.top, right=x + 1, bottom=point.bottom))
    placed: list[Box | None] = []
    for point in points:
        obstacles = [*circles, *(box for box in placed if box is not None)]
        best = None
        least_cost = math.inf
        for distance, box in _candidates(point):
            if not inside.holds(box) or any(box.meets(obstacle) for obstacle in obstacles):
                continue
            cost = distance + _CROSSED * sum(box.meets(interval) for interval in intervals)
            if cost < least_cost:  # of equal costs the first candidate
                best = box
                least_cost = cost
        placed.append(best)
    return placed


def _candidates(point: NamedPoint) -> Iterator[tuple[float, Box]]:
    """Boxes at the right and the left of a point, and above and below it, with their distance from
    the nearest.
    """
    name_width = width(point.name)
    for step in range(_STEPS):
        for up in (-1, 1) if step else (-1,):
            middle = point.y - _ABOVE + up * step * LINE / 2
            # right, left and centred, with the cost of each in px of distance
            for cost, left in (
                (0, point.x + _GAP),
                (1, point.x - _GAP - name_width),
                (12, point.x - name_width / 2),
            ):
                top = middle - LINE / 2
                bottom = middle + LINE / 2
                box = Box(left=left, top=top, right=left + name_width, bottom=bottom)
                yield abs(middle - point.y + _ABOVE) + cost, box


_WIDTH, _HEIGHT = 720, 400  # px of the figure
# Margins in px.
_LEFT = 66
_TOP = 18
_BOTTOM = 46
_RIGHT = 24
_FAR = 26.0  # px between a point and its name from which a line joins them
_LOG_FROM = 5.0  # ratio of the latencies from which their axis is logarithmic
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Quality and latency</title>
<style>
:root {{ color-scheme: light dark; {light} }}
@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
body {{ font-family: {font}; color: var(--ink); background: var(--paper); margin: 2rem auto; max-width: 60rem; padding: 0 1rem; }}
svg {{ max-width: 100%; height: auto; font-size: 12px; }}
svg text {{ fill: var(--quiet); }}
svg text.name {{ fill: var(--ink); }}
.grid {{ stroke: var(--line); }}
.front {{ stroke: var(--accent); fill: none; stroke-width: 1.5; stroke-dasharray: 4 3; }}
.interval {{ stroke: var(--run); stroke-width: 1.5; }}
.leader {{ stroke: var(--quiet); stroke-width: .75; }}
.point {{ fill: var(--paper); stroke: var(--run); stroke-width: 2; }}
.point.best {{ fill: var(--accent); stroke: var(--accent); }}
.table {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; margin: 1.5rem 0; }}
caption {{ text-align: left; color: var(--quiet); margin-bottom: .4rem; }}
th, td {{ border-bottom: 1px solid var(--line); padding: .35rem .6rem; text-align: right; white-space: nowrap; }}
th:first-child {{ text-align: left; }}
@media print {{ body {{ max-width: none; margin: 0; }} }}
</style>
</head>
<body>
<main>
<h1>Quality and latency</h1>
<p>{summary}</p>
{figure}
<div class="table" tabindex="0" role="region" aria-label="All backends">
{table}
</div>
</main>
</body>
</html>
"""  # noqa: E501


def latency_quality_page(systems: Sequence[Mapping[str, Any]]) -> str:
    """Draw the page.

    Examples
    --------
    >>> def system(name, mean, p95):
    ...     measures = {"nDCG@10": {"mean": mean, "low": mean - 0.1, "high": mean + 0.1}}
    ...     latency = {"p50": p95 / 2, "p95": p95, "p99": p95}
    ...     return {
    ...         "name": name,
    ...         "queries": 50,
    ...         "failed": {},
    ...         "empty": 0,
    ...         "latency": latency,
    ...         "measures": measures,
    ...     }
    >>> page = latency_quality_page(
    ...     [system("flat", 0.5, 0.2), system("hnsw", 0.48, 0.02), system("slow", 0.4, 0.3)]
    ... )
    >>> page.count('class="point best"'), page.count('class="point"')
    (2, 1)
    """
    measure = next(iter(systems[0].get("measures", {})), "") if systems else ""
    drawn = [system for system in systems if measure and system["latency"]["p95"] is not None]
    summary = "Latency of each backend."
    figure = ""
    if drawn:
        best = pareto_front(
            [(system["latency"]["p95"], system["measures"][measure]["mean"]) for system in drawn]
        )
        names = ", ".join(html.escape(drawn[place]["name"]) for place in best)
        summary = f"On the Pareto front, no other backend is faster and at least as good: {names}."
        figure = _figure(drawn, measure, set(best))
    return _PAGE.format(
        light=_variables(LIGHT),
        dark=_variables(DARK),
        font=FONT,
        summary=summary,
        figure=figure,
        table=_table(systems),
    )


def _variables(theme: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {value};" for name, value in theme.items())


def pareto_front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return the places of points (latency, quality) that no other point surpasses, by rising
    latency.
    """

    def surpassed(point: tuple[float, float]) -> bool:
        latency, quality = point
        return any(
            other_latency <= latency
            and other_quality >= quality
            and (other_latency, other_quality) != point
            for other_latency, other_quality in points
        )

    return sorted(
        (place for place, point in enumerate(points) if not surpassed(point)),
        key=lambda place: points[place],
    )


def _figure(systems: Sequence[Mapping[str, Any]], measure: str, best: set[int]) -> str:
    """Draw axes, Pareto front, points and names; names of the front are placed first."""
    across, ticks = _axis([system["latency"]["p95"] * 1000 for system in systems])
    means = [system["measures"][measure] for system in systems]
    low = min(_inside(mean["low"], mean["mean"]) for mean in means)
    high = max(_inside(mean["high"], mean["mean"]) for mean in means)
    margin = (high - low) * 0.06 or 0.01
    low -= margin
    high += margin

    def up(value: float) -> float:
        return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * (value - low) / (high - low)

    drawn = []
    right = _WIDTH - _RIGHT
    for part in range(5):
        value = low + (high - low) * part / 4
        y = up(value)
        drawn.append(
            f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
            f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{value:.3f}</text>'
        )
    below = _HEIGHT - _BOTTOM + 18
    drawn += [
        f'<text x="{across(tick):.1f}" y="{below}" text-anchor="middle">{tick:g}</text>'
        for tick in ticks
    ]
    middle = (_LEFT + right) / 2
    drawn.append(
        f'<text x="{middle:.1f}" y="{_HEIGHT - 8}" text-anchor="middle">p95 latency in ms</text>'
    )

    front = sorted(
        (across(systems[place]["latency"]["p95"] * 1000), up(means[place]["mean"]))
        for place in best
    )
    drawn.append(
        f'<polyline class="front" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in front)}"/>'
    )

    points: list[NamedPoint] = []
    for place, (system, mean) in enumerate(zip(systems, means, strict=True)):
        x = across(system["latency"]["p95"] * 1000)
        y = up(mean["mean"])
        top = up(_inside(mean["high"], mean["mean"]))
        bottom = up(_inside(mean["low"], mean["mean"]))
        drawn.append(
            f'<line class="interval" x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}"/>'
        )
        kind = "point best" if place in best else "point"
        drawn.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
        points.append(NamedPoint(name=shortened(system["name"]), x=x, y=y, top=top, bottom=bottom))

    order = sorted(range(len(points)), key=lambda place: (place not in best, place))
    boxes = label_boxes(
        [points[place] for place in order],
        Box(left=_LEFT, top=2, right=_WIDTH - 2, bottom=_HEIGHT - _BOTTOM),
    )
    drawn += [
        _label(points[place], box)
        for place, box in zip(order, boxes, strict=True)
        if box is not None
    ]
    title = (
        f"{html.escape(measure)} with 95 % intervals against p95 latency of {len(systems)} backends"
    )
    return (
        f'<h2>{html.escape(measure)}</h2>\n<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" '
        f'aria-label="{title}">{"".join(drawn)}</svg>'
    )


def _label(point: NamedPoint, box: Box) -> str:
    """Name of a point, with a line to it if the two are apart."""
    middle = (box.top + box.bottom) / 2
    if box.left < point.x < box.right:
        x, anchor = point.x, "middle"
    elif (box.left + box.right) / 2 < point.x:
        x, anchor = box.right, "end"
    else:
        x, anchor = box.left, "start"
    line = ""
    if abs(middle - point.y) > _FAR:
        start = f'x1="{point.x:.1f}" y1="{point.y:.1f}"'
        line = f'<line class="leader" {start} x2="{x:.1f}" y2="{middle:.1f}"/>'
    place = f'x="{x:.1f}" y="{middle + 4:.1f}" text-anchor="{anchor}"'
    return f'{line}<text class="name" {place}>{html.escape(point.name)}</text>'


def _inside(bound: float, mean: float) -> float:
    """Bound of an interval; the mean for an infinite one, which cannot be drawn."""
    return bound if math.isfinite(bound) else mean


def _axis(values: Sequence[float]) -> tuple[Callable[[float], float], list[float]]:
    """Places of latencies across the figure, and where to write numbers."""
    low = min(values)
    high = max(values)
    span = _WIDTH - _LEFT - _RIGHT
    if low > 0 and high / low >= _LOG_FROM:
        first = math.log10(low / 1.3)
        last = math.log10(high * 1.3)
        powers = range(math.floor(first), math.ceil(last) + 1)
        ticks = [step * 10**power for power in powers for step in (1, 2, 5)]
        ticks = [float(f"{tick:.4g}") for tick in ticks if first <= math.log10(tick) <= last]

        def logarithmic(latency: float) -> float:
            return _LEFT + span * (math.log10(max(latency, 1e-9)) - first) / (last - first)

        return logarithmic, ticks
    end = high * 1.15 or 1.0
    # the largest of 1, 1/2, 1/5 and 1/10 of a power of ten that gives four ticks or more
    power = 10 ** math.floor(math.log10(end))
    step = next(power / part for part in (1, 2, 5, 10) if end / (power / part) >= 4)
    ticks = [float(f"{step * number:.4g}") for number in range(int(end / step) + 1)]
    return (lambda latency: _LEFT + span * latency / end), ticks


def _table(systems: Sequence[Mapping[str, Any]]) -> str:
    texts = list(dict.fromkeys(text for system in systems for text in system.get("measures", {})))
    head = [
        "backend",
        *(word for text in texts for word in (text, "95 % interval")),
        "queries",
        "failed",
        "empty",
        "p50",
        "p95",
        "p99",
    ]
    rows = []
    for system in systems:
        cells = []
        for text in texts:
            mean = system["measures"][text]
            cells += [f"{mean['mean']:.4f}", f"[{mean['low']:.4f}, {mean['high']:.4f}]"]
        failed = len(system["failed"])
        cells += [
            str(system["queries"]),
            f"{failed} ({100 * failed / system['queries']:.1f} %)",
            str(system["empty"]),
        ]
        percentiles = [system["latency"][name] for name in ("p50", "p95", "p99")]
        cells += ["-" if time is None else f"{time * 1000:.1f} ms" for time in percentiles]
        name = f'<th scope="row">{html.escape(system["name"])}</th>'
        rows.append(f"<tr>{name}{''.join(f'<td>{html.escape(cell)}</td>' for cell in cells)}</tr>")
    titles = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in head)
    caption = (
        "<caption>Means with intervals, failed queries, and percentiles of the latency of answered "
        "queries.</caption>"
    )
    return f"<table>{caption}<thead><tr>{titles}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
