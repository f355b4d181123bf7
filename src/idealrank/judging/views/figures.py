"""Figures about judgments as Vega-Lite specifications: labels until a comparison is settled, and
bounds of every query. Nothing is drawn.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from idealrank.judging import Bounds, BoundsReport, DifferenceBounds, LabelReplay
from idealrank.pages.figures.theme import LIGHT, SCHEMA_URL, Row, Spec, titled_config

_WIDTH, _HEIGHT = 560, 280
_BOUNDS_HEIGHT = 260
_DIGITS = 5  # more would only lengthen the file
_POINTS = 250  # of a line at most: more cannot be seen at this width
_COLOURS = {
    "oracle": LIGHT["other"],
    "queries, by test": LIGHT["worse"],
    "bounds": LIGHT["accent"],
    "change": "#7B5EA7",
    "move-to-front": "#3A8A5F",
    "uncertainty": "#B8860B",
    "depth": LIGHT["ink"],
    "random": LIGHT["run"],
    "queries": "#C77CA0",
}
# Sides of the difference of one query: the second run is lower, or higher, whatever the grades of
# unjudged documents are; or either.
_SIDES = ("lower at all grades", "either", "higher at all grades")


def replay_spec(replay: LabelReplay, *, interactive: bool = False) -> Spec:
    """Plot the lowest possible difference of the better run against the number of labels, a line
    for each strategy that stops by bounds. A line ends above 0, where the comparison is settled.
    """
    b_is_better = replay.difference > 0
    ahead = replay.b if b_is_better else replay.a
    behind = replay.a if b_is_better else replay.b
    rows: list[Row] = []
    for curve in replay.curves:
        if curve.stop == "bounds":
            bound = curve.low if b_is_better else -curve.high
            rows += [
                {
                    "strategy": curve.strategy,
                    "labels": n_labels,
                    "bound": round(float(bound[n_labels]), _DIGITS),
                }
                for n_labels in _spread(bound.size)
            ]
    title = f"Labels until {ahead} is known to be better than {behind}"
    subtitle = [
        f"Lowest possible difference of the mean {replay.measure}, {ahead} less {behind},",
        "after so many labels; settled above 0.",
    ]
    return _lines(
        title=title,
        subtitle=subtitle,
        rows=rows,
        x_title="labels",
        y="bound",
        y_title="lowest difference",
        interactive=interactive,
        layers=[_zero_line()],
    )


def settled_spec(
    shares: Mapping[str, Sequence[float]], title: str, subtitle: str, *, interactive: bool = False
) -> Spec:
    """Plot the share of comparisons that are settled by labels, as a share of the labels of depth
    pooling, a line for each strategy.

    Examples
    --------
    >>> spec = settled_spec({"depth": [0.8, 0.9]}, "Two comparisons", "As replayed.")
    >>> [row["settled"] for row in spec["data"]["values"]]
    [0.0, 0.5, 1.0, 1.0]
    """
    rows: list[Row] = []
    for name, needed in shares.items():
        ordered = np.sort(np.asarray(needed, np.float64))
        settled = np.arange(1, ordered.size + 1) / ordered.size
        label_shares = [0.0, *ordered.tolist(), 1.0]
        settled_shares = [0.0, *settled.tolist(), 1.0]
        rows += [
            {"strategy": name, "labels": round(labels, 4), "settled": round(share, 4)}
            for labels, share in zip(label_shares, settled_shares, strict=True)
        ]
    spec = _lines(
        title=title,
        subtitle=[subtitle],
        rows=rows,
        x_title="share of the labels of depth pooling",
        y="settled",
        y_title="comparisons settled",
        interactive=interactive,
        layers=[],
    )
    line = spec["layer"][-1]
    line["mark"]["interpolate"] = "step-after"
    for channel in ("x", "y"):
        line["encoding"][channel]["axis"] = {"format": ".0%"}
    return spec


def _zero_line() -> Spec:
    """Return a horizontal line at 0."""
    return {
        "data": {"values": [{"zero": 0}]},
        "mark": {"type": "rule", "color": LIGHT["ink"], "strokeWidth": 1},
        "encoding": {"y": {"field": "zero", "type": "quantitative"}},
    }


def _spread(size: int) -> list[int]:
    """Return the places of a line that are drawn: the first, the last, and some between."""
    places = np.linspace(0, size - 1, min(size, _POINTS)).round()
    return [int(place) for place in np.unique(places)]


def _lines(
    title: str,
    subtitle: Sequence[str],
    rows: list[Row],
    y: str,
    *,
    x_title: str,
    y_title: str,
    interactive: bool,
    layers: list[Spec],
) -> Spec:
    """Return a plot of the field `y` by labels, a line for each strategy, over other layers; a row
    of data for each point.
    """
    names = list(dict.fromkeys(row["strategy"] for row in rows))
    colours = [_COLOURS.get(name, LIGHT["run"]) for name in names]
    line: Spec = {
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": {"field": "labels", "type": "quantitative", "title": x_title},
            "y": {"field": y, "type": "quantitative", "title": y_title},
            "color": {
                "field": "strategy",
                "type": "nominal",
                "scale": {"domain": names, "range": colours},
                "legend": {"title": None, "orient": "bottom", "columns": 5, "columnPadding": 24},
            },
        },
    }
    if interactive:
        line["encoding"]["tooltip"] = [
            {"field": field, "type": "nominal" if field == "strategy" else "quantitative"}
            for field in ("strategy", "labels", y)
        ]
    return {
        "$schema": SCHEMA_URL,
        "description": f"{title}. {' '.join(subtitle)}",
        "title": {"text": title, "subtitle": list(subtitle)},
        "data": {"values": rows},
        "width": _WIDTH,
        "height": _HEIGHT,
        "layer": [*layers, line],
        "config": titled_config(),
    }


def bounds_spec(report: BoundsReport, *, interactive: bool = False) -> Spec:
    """Plot the bounds by the first measure: for each query a line from the lowest to the highest
    value, and a mark at the value as judged.

    One run has its values, two runs their difference, in which lines that cross 0 are grey.
    """
    bounds: Bounds | DifferenceBounds = report.runs[0]
    if report.differences:
        bounds = report.differences[0]
    ordered = sorted(_rows(bounds), key=lambda row: (row["value"], row["low"]))
    rows = [row | {"place": place} for place, row in enumerate(ordered, 1)]
    if isinstance(bounds, DifferenceBounds):
        title = f"Bounds of the difference of {bounds.measure}"
        axis = f"{bounds.b} less {bounds.a}"
    else:
        title = f"Bounds of {bounds.measure}, {bounds.name}"
        axis = bounds.measure
    within = "" if report.depth is None else f" in the first {report.depth:,} ranks"
    subtitle = (
        f"Lines: all grades from 0 to {report.max_grade:g} of unjudged documents{within}. Dots: as "
        f"judged."
    )
    mean = f"Mean {bounds.mean:.3f}, between {bounds.mean_low:.3f} and {bounds.mean_high:.3f}."
    layers = _lines_and_dots(axis, has_sides=bool(report.differences), interactive=interactive)
    return {
        "$schema": SCHEMA_URL,
        "description": f"{title}, query by query. {subtitle} {mean}",
        "title": {"text": title, "subtitle": [subtitle, mean]},
        "data": {"values": rows},
        "width": _WIDTH,
        "height": _BOUNDS_HEIGHT,
        "encoding": {
            "x": {
                "field": "place",
                "type": "quantitative",
                "title": "queries, by their value as judged",
                "axis": {"tickMinStep": 1},
            }
        },
        "layer": [*([_zero_line()] if report.differences else []), *layers],
        "config": titled_config(),
    }


def _lines_and_dots(axis: str, *, has_sides: bool, interactive: bool) -> list[Spec]:
    """Return the layers of the queries; only differences have sides, and a legend of them."""
    y: Spec = {"type": "quantitative", "title": axis, "axis": {"tickCount": 5}}
    colours = [LIGHT["worse"], LIGHT["run"], LIGHT["accent"]]
    colour: Spec = {
        "field": "side",
        "type": "nominal",
        "scale": {"domain": list(_SIDES), "range": colours},
        "legend": {"title": None, "orient": "bottom"} if has_sides else None,
    }
    lines: Spec = {
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}, "color": colour},
    }
    dots: Spec = {
        "mark": {"type": "point", "filled": True, "size": 26, "opacity": 1},
        "encoding": {"y": {"field": "value", **y}, "color": colour},
    }
    if interactive:
        tooltip = [
            {"field": name, "type": "nominal" if name == "query" else "quantitative"}
            for name in ("query", "low", "value", "high")
        ]
        lines["encoding"]["tooltip"] = tooltip
        dots["encoding"]["tooltip"] = tooltip
    return [lines, dots]


def _rows(bounds: "Bounds | DifferenceBounds") -> Iterable[Row]:
    """Yield the queries that have a value and finite bounds."""
    lower, either, higher = _SIDES
    has_sides = isinstance(bounds, DifferenceBounds)
    columns = zip(
        bounds.query_ids,
        bounds.low.tolist(),
        bounds.value.tolist(),
        bounds.high.tolist(),
        strict=True,
    )
    for query, low, value, high in columns:
        if all(map(math.isfinite, (low, value, high))):
            side = either
            if has_sides and low > 0:
                side = higher
            elif has_sides and high < 0:
                side = lower
            yield {
                "query": query,
                "low": round(low, _DIGITS),
                "value": round(value, _DIGITS),
                "high": round(high, _DIGITS),
                "side": side,
            }
