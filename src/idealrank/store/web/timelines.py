"""Values over time as drawings: one line per run, with the interval of each mean as a band, and
marks where commits, judgments or conventions change.

The line is drawn in a box that stretches with the page; dots, marks and texts are placed by shares
of its width, so that they are not distorted.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from typing import NamedTuple

from idealrank.reports.table.cells import decimals, interval, number
from idealrank.store.timeline import Point, Step, Timeline
from idealrank.store.views.history import minute, short_commit

WIDTH = 1000  # of the stretched box
_TALL = 220  # pixels of a panel alone
_LOW = 96  # pixels of a panel among several
_MOST_PANELS = 6
_LABELS = 8  # texts below a panel on a desk
_NARROW_LABELS = 3  # on a phone
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
    def description(self) -> str:
        """Description for screen readers; the table below the drawing has every number."""
        known = [dot.point.value for dot in self.dots]
        if not known:
            return f"{self.run or 'all runs'}: no value"
        return (
            f"{self.run or 'all runs'}: {len(known):,} value{'s' * (len(known) != 1)} from "
            f"{minute(self.dots[0].point.when)} to {minute(self.dots[-1].point.when)}, first "
            f"{number(known[0])}, last {number(known[-1])}, lowest {number(min(known))}, highest "
            f"{number(max(known))}"
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
        values = [point.value for point in points if point.known]
        if not values:
            return cls(panels=[], left_out=len(lines))

        # All panels have one scale, which holds the intervals, too.
        for point in points:
            values += filter(math.isfinite, intervals.get(point.id, ()))
        scale = _Scale.over(values, _TALL if len(shown) == 1 else _LOW)
        by_id = timeline.steps(together=together)
        x = {point.id: _share(place, len(points)) for place, point in enumerate(points)}
        panels = []
        for run in shown:
            line = [by_id[point.id] for point in lines[run]]
            panel = _panel(run, line, x, scale, intervals)
            ids = {point.id for point in lines[run]}
            for key, label in (marks or {}).items():
                if key in ids:
                    panel.alarms.append(Mark(x=x[key], label=label))
            panels.append(panel)
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
        low = min(values)
        high = max(values)
        # A margin of 5 %; equal values have 5 % of the value, and zeros half a unit.
        margin = (high - low) * 0.05 or abs(high) * 0.05 or 0.5
        bottom = low - margin
        top = high + margin
        fewest = 4 if height > _LOW else 2
        return cls(low=bottom, high=top, height=height, step=_step(bottom, top, fewest))

    def y(self, value: float) -> float:
        return round(
            _EDGE + (self.high - value) / (self.high - self.low) * (self.height - 2 * _EDGE), 1
        )

    @property
    def ticks(self) -> list[tuple[float, str]]:
        # A step such as 0.1 is inexact, so its logarithm may be just below a whole number.
        places = max(0, -math.floor(math.log10(self.step) + 1e-9))
        first = math.ceil(self.low / self.step)
        multiples = range(first, math.floor(self.high / self.step) + 1)
        values = [multiple * self.step for multiple in multiples]
        return [(self.y(value), f"{value:.{places}f}") for value in values]


def _step(low: float, high: float, fewest: int) -> float:
    """The largest of 1, 2 and 5 times a power of ten that has so many multiples between two
    values.
    """
    power = math.floor(math.log10(high - low))
    exponents = range(power, power - 3, -1)
    steps_down = (factor * 10.0**exponent for exponent, factor in product(exponents, (5, 2, 1)))
    return next(
        step for step in steps_down if math.floor(high / step) - math.ceil(low / step) + 1 >= fewest
    )


def _share(place: int, total: int) -> float:
    """Place of an evaluation in percent of the width: each has the same room, and its dot in the
    middle of it.
    """
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
        text = _tooltip(step, intervals.get(point.id), places)
        panel.dots.append(Dot(point=point, x=x[point.id], y=scale.y(point.value), text=text))
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


_HALF = 4  # of the width of the bar of a value alone, in the stretched box


class _Bar(NamedTuple):
    """An interval in the drawing: place in the box, and pixels of its ends from the top."""

    at: float
    top: float
    bottom: float


def _bands(
    known: Sequence[tuple[float, Point]],
    scale: _Scale,
    intervals: Mapping[str, tuple[float, float]],
) -> list[str]:
    """Polygons between the ends of the intervals of neighbours; a value alone has a bar of its own
    width.
    """
    stretches: list[list[_Bar]] = [[]]
    for at, point in known:
        low, high = intervals.get(point.id, (math.nan, math.nan))
        if math.isfinite(high - low):
            stretches[-1].append(_Bar(at, scale.y(high), scale.y(low)))
        else:
            stretches.append([])
    bands = []
    for stretch in filter(None, stretches):
        bars = stretch
        if len(stretch) == 1:
            (alone,) = stretch
            bars = [alone._replace(at=alone.at - _HALF), alone._replace(at=alone.at + _HALF)]
        # Around the polygon: the upper ends to the right, then the lower ends back to the left.
        upper = [f"{bar.at:.1f},{bar.top}" for bar in bars]
        lower = [f"{bar.at:.1f},{bar.bottom}" for bar in reversed(bars)]
        bands.append(" ".join(upper + lower))
    return bands


def _tooltip(step: Step, ends: tuple[float, float] | None, places: int) -> str:
    point = step.point
    words = [f"{point.run}: {number(point.value)}"]
    if ends is not None and math.isfinite(ends[1] - ends[0]):
        words.append(f"95 % interval {interval(ends, places)}")
    if step.change is not None:
        words.append(f"{step.change:+.4f}")
    words.append(minute(point.when))
    if point.commit:
        words.append(f"commit {short_commit(point)}")
    return ", ".join([*words, *point.tags])


def _thinned(marks: Sequence[Mark]) -> list[Mark]:
    """Keep every mark, and only so many labels that they have room."""
    last_shown = -math.inf
    last_major = -math.inf
    thinned = []
    for mark in marks:
        is_shown = mark.x - last_shown >= 100 / _LABELS
        is_major = mark.x - last_major >= 100 / _NARROW_LABELS
        if is_shown:
            last_shown = mark.x
        if is_shown and is_major:
            last_major = mark.x
        thinned.append(
            Mark(
                x=mark.x,
                label=mark.label if is_shown else "",
                anchor=_anchor(mark.x),
                is_minor=not is_major,
            )
        )
    return thinned


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
