"""Values over time as drawings: a line a run, with the interval of each mean as a band, and marks
where commits and questions change.

The line is drawn in a box that stretches with the page; dots, marks and texts stand by shares of
its width, so that none is distorted.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from idealrank.reports.table.cells import decimals, interval, number
from idealrank.store.timeline import Point, Step, Timeline
from idealrank.store.views.history import minute, short_commit

WIDTH = 1000  # of the stretched box
_TALL, _LOW = 220, 96  # pixels of a panel alone, and of one among several
_MOST_PANELS = 6
_LABELS, _NARROW_LABELS = 8, 3  # texts below a panel, on a desk and on a phone
_EDGE = 6  # pixels between the values and the frame


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A value in the drawing."""

    point: Point  # The evaluation
    x: float  # Share of the width, in percent
    y: float  # Pixels from the top
    text: str  # Everything about it in a line, for a tooltip and for screen readers

    @property
    def address(self) -> str:
        """Page of the evaluation; empty if there is none, as of a round whose evaluation was
        removed.
        """
        return f"/runs/{self.point.id}" if re.fullmatch("[0-9a-f]{12}", self.point.id) else ""


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A mark on the axis: a date, a new commit, an alarm, or a change after which values cannot be
    compared.
    """

    x: float  # Share of the width, in percent
    label: str  # Its text; empty where there is no room
    anchor: str = "middle"  # Side of the text that is at the mark
    is_minor: bool = False  # Whether a narrow page leaves the text out


@dataclass(frozen=True, kw_only=True)
class Panel:
    """The line of one run."""

    run: str  # Its name; empty for all runs in one line
    height: int  # Pixels
    dots: list[Dot] = field(default_factory=list)  # The values
    # lines, bands: Coordinates of polylines and polygons in the stretched box, one for each stretch
    # without a gap
    lines: list[str] = field(default_factory=list)
    bands: list[str] = field(default_factory=list)
    # commits, breaks: Commits that are new, and what changed so that values on both sides cannot be
    # compared
    commits: list[Mark] = field(default_factory=list)
    breaks: list[Mark] = field(default_factory=list)
    alarms: list[Mark] = field(default_factory=list)  # Rounds that opened an alarm
    # Pixels from the top, and the number there
    ticks: list[tuple[float, str]] = field(default_factory=list)

    @property
    def said(self) -> str:
        """Description for screen readers; the table below the drawing has every number."""
        known = [dot.point.value for dot in self.dots]
        if not known:
            return f"{self.run or 'all runs'}: no value"
        return (
            f"{self.run or 'all runs'}: {len(known):,} value{'s' * (len(known) != 1)} from "
            f"{minute(self.dots[0].point.when)} to "
            f"{minute(self.dots[-1].point.when)}, first {number(known[0])}, last "
            f"{number(known[-1])}, "
            f"lowest {number(min(known))}, highest {number(max(known))}"
        )


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """All panels of one measure, with one axis of values and one of evaluations.

    Examples
    --------
    >>> Drawing.of(Timeline(measure="AP"), {}).panels
    []
    """

    panels: list[Panel]  # The runs with the newest values, the newest first
    left_out: int = 0  # Runs without a panel
    dates: list[Mark] = field(default_factory=list)  # When the evaluations were stored
    has_bands: bool = False  # Whether any value has an interval

    @property
    def has_commits(self) -> bool:
        """True if any commit is marked."""
        return any(panel.commits for panel in self.panels)

    @property
    def has_alarms(self) -> bool:
        """True if any alarm is marked."""
        return any(panel.alarms for panel in self.panels)

    @classmethod
    def of(
        cls,
        timeline: Timeline,
        intervals: Mapping[str, tuple[float, float]],
        *,
        together: bool = False,
        marks: Mapping[str, str] | None = None,
    ) -> "Drawing":
        """Lay out a timeline."""
        lines = timeline.lines(together=together)
        newest = {run: points[-1].when for run, points in lines.items()}
        shown = sorted(lines, key=lambda run: newest[run], reverse=True)[:_MOST_PANELS]
        points = [point for point in timeline.points if together or point.run in shown]
        ends = [
            end for point in points for end in intervals.get(point.id, ()) if math.isfinite(end)
        ]
        values = [point.value for point in points if point.known]
        if not values:
            return cls(panels=[], left_out=len(lines))
        scale = _Scale.over([*values, *ends], _TALL if len(shown) == 1 else _LOW)
        found = timeline.steps(together=together)
        x = {point.id: _share(place, len(points)) for place, point in enumerate(points)}
        panels = [
            _panel(run, [found[point.id] for point in lines[run]], x, scale, intervals)
            for run in shown
        ]
        for panel in panels:
            ids = {point.id for point in lines[panel.run]}
            panel.alarms.extend(
                Mark(x=x[one], label=label) for one, label in (marks or {}).items() if one in ids
            )
        return cls(
            panels=panels,
            left_out=len(lines) - len(shown),
            dates=_dates(points, x),
            has_bands=any(panel.bands for panel in panels),
        )


@dataclass(frozen=True, kw_only=True)
class _Scale:
    """Values to pixels, the highest on top."""

    low: float
    high: float
    height: int
    step: float

    @classmethod
    def over(cls, values: Sequence[float], height: int) -> "_Scale":
        low, high = min(values), max(values)
        room = (high - low) * 0.05 or abs(high) * 0.05 or 0.5
        return cls(
            low=low - room,
            high=high + room,
            height=height,
            step=_step(low - room, high + room, 4 if height > _LOW else 2),
        )

    def y(self, value: float) -> float:
        return round(
            _EDGE + (self.high - value) / (self.high - self.low) * (self.height - 2 * _EDGE), 1
        )

    @property
    def ticks(self) -> list[tuple[float, str]]:
        places = max(0, -math.floor(math.log10(self.step) + 1e-9))
        first = math.ceil(self.low / self.step)
        steps_up = range(first, math.floor(self.high / self.step) + 1)
        return [
            (self.y(place * self.step), f"{place * self.step:.{places}f}") for place in steps_up
        ]


def _step(low: float, high: float, fewest: int) -> float:
    """The largest of 1, 2 and 5 times a power of ten of which so many multiples lie between two
    values.
    """
    power = math.floor(math.log10(high - low))
    steps_down = (
        factor * 10.0**exponent for exponent in range(power, power - 3, -1) for factor in (5, 2, 1)
    )
    return next(
        step for step in steps_down if math.floor(high / step) - math.ceil(low / step) + 1 >= fewest
    )


def _share(place: int, total: int) -> float:
    """Each evaluation has the same room, half of it left of the first."""
    return round((place + 0.5) / total * 100, 3)


def _panel(
    run: str,
    line: Sequence[Step],
    x: Mapping[str, float],
    scale: _Scale,
    intervals: Mapping[str, tuple[float, float]],
) -> Panel:
    panel = Panel(run=run, height=scale.height, ticks=scale.ticks)
    places = decimals(list(intervals.values()))
    stretches: list[list[Point]] = [[]]
    before: Point | None = None
    for step in line:
        point = step.point
        if step.breaks:
            panel.breaks.append(Mark(x=x[point.id], label=" and ".join(step.breaks)))
            stretches.append([])
        if not point.known:
            stretches.append([])
            continue
        stretches[-1].append(point)
        panel.dots.append(
            Dot(
                point=point,
                x=x[point.id],
                y=scale.y(point.value),
                text=_said(step, intervals.get(point.id), places),
            )
        )
        if point.commit and (before is None or before.commit != point.commit):
            panel.commits.append(Mark(x=x[point.id], label=short_commit(point)))
        before = point
    for stretch in stretches:
        known = [(x[point.id] * WIDTH / 100, point) for point in stretch]
        if len(known) > 1:
            panel.lines.append(" ".join(f"{at:.1f},{scale.y(point.value)}" for at, point in known))
        panel.bands.extend(_bands(known, scale, intervals))
    panel.commits[:] = _thinned(panel.commits)
    return panel


def _bands(
    known: Sequence[tuple[float, Point]],
    scale: _Scale,
    intervals: Mapping[str, tuple[float, float]],
) -> list[str]:
    """Polygons between the ends of the intervals of neighbours; a value alone has a bar of its own
    width.
    """
    runs: list[list[tuple[float, float, float]]] = [[]]
    for at, point in known:
        low, high = intervals.get(point.id, (math.nan, math.nan))
        if math.isfinite(high - low):
            runs[-1].append((at, scale.y(high), scale.y(low)))
        else:
            runs.append([])
    bands = []
    for run in runs:
        ends = (
            [(at + side, high, low) for at, high, low in run for side in (-4, 4)]
            if len(run) == 1
            else run
        )
        around = [f"{at:.1f},{high}" for at, high, _ in ends] + [
            f"{at:.1f},{low}" for at, _, low in reversed(ends)
        ]
        bands += [" ".join(around)] if around else []
    return bands


def _said(step: Step, ends: tuple[float, float] | None, places: int) -> str:
    point = step.point
    words = [f"{point.run}: {number(point.value)}"]
    words += (
        [f"95 % interval {interval(ends, places)}"]
        if ends is not None and math.isfinite(ends[1] - ends[0])
        else []
    )
    words += [f"{step.change:+.4f}"] if step.change is not None else []
    words += [
        minute(point.when),
        *([f"commit {short_commit(point)}"] if point.commit else []),
        *point.tags,
    ]
    return ", ".join(words)


def _thinned(marks: Sequence[Mark]) -> list[Mark]:
    """Every mark stays; of the labels only so many that they have room."""
    last, last_major, found = -math.inf, -math.inf, []
    for mark in marks:
        is_shown = mark.x - last >= 100 / _LABELS
        is_major = mark.x - last_major >= 100 / _NARROW_LABELS
        last = mark.x if is_shown else last
        last_major = mark.x if is_shown and is_major else last_major
        found.append(
            Mark(
                x=mark.x,
                label=mark.label if is_shown else "",
                anchor=_anchor(mark.x),
                is_minor=not is_major,
            )
        )
    return found


def _dates(points: Sequence[Point], x: Mapping[str, float]) -> list[Mark]:
    """Days below the drawing, wherever there is room for the next."""
    marks = [Mark(x=x[points[0].id], label=points[0].when[:10])]
    marks += [
        Mark(x=x[after.id], label=after.when[:10])
        for before, after in pairwise(points)
        if before.when[:10] != after.when[:10]
    ]
    return [mark for mark in _thinned(marks) if mark.label]


def _anchor(x: float) -> str:
    if x < 6:
        return "start"
    return "end" if x > 94 else "middle"
