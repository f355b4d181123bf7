"""Figures about judgments as Vega-Lite specifications: labels until a comparison is settled, and
bounds of every query. Nothing is drawn.
"""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from idealrank.judging import Bounds, BoundsReport, DifferenceBounds, LabelReplay
from idealrank.pages.figures.theme import LIGHT, SCHEMA_URL, Row, Spec, titled_config

_WIDTH, _HEIGHT = 560, 280
_POINTS = 250  # of a line
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


def replay_spec(found: LabelReplay, *, interactive: bool = False) -> Spec:
    """Bound that has to pass 0 by labels, a line for each strategy that stops by bounds; it ends
    where the comparison is settled.
    """
    sign = 1 if found.difference > 0 else -1
    behind, ahead = (found.a, found.b) if sign > 0 else (found.b, found.a)
    rows: list[Row] = []
    for curve in found.curves:
        if curve.stop == "bounds":
            bound = curve.low if sign > 0 else -curve.high
            rows += [
                {
                    "strategy": curve.strategy,
                    "labels": place,
                    "bound": round(float(bound[place]), 5),
                }
                for place in _spread(bound.size)
            ]
    title = f"Labels until {ahead} is known to be better than {behind}"
    said = [
        f"Lowest possible difference of the mean {found.measure}, {ahead} less {behind},",
        "after so many labels; settled above 0.",
    ]
    zero: Spec = {
        "data": {"values": [{"zero": 0}]},
        "mark": {"type": "rule", "color": LIGHT["ink"], "strokeWidth": 1},
    }
    zero["encoding"] = {"y": {"field": "zero", "type": "quantitative"}}
    return _lines(
        title=title,
        said=said,
        rows=rows,
        x="labels",
        y="bound",
        y_title="lowest difference",
        interactive=interactive,
        layers=[zero],
    )


def settled_spec(
    shares: Mapping[str, Sequence[float]], title: str, said: str, *, interactive: bool = False
) -> Spec:
    """Share of comparisons that are settled by labels, as a share of the labels of depth pooling, a
    line for each strategy.

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
        steps = [(0.0, 0.0), *zip(ordered.tolist(), settled.tolist(), strict=True), (1.0, 1.0)]
        rows += [
            {"strategy": name, "labels": round(share, 4), "settled": round(part, 4)}
            for share, part in steps
        ]
    spec = _lines(
        title=title,
        said=[said],
        rows=rows,
        x="labels",
        y="settled",
        y_title="comparisons settled",
        interactive=interactive,
        layers=[],
    )
    line = spec["layer"][-1]
    line["mark"]["interpolate"] = "step-after"
    for channel in ("x", "y"):
        line["encoding"][channel]["axis"] = {"format": ".0%"}
    line["encoding"]["x"]["title"] = "share of the labels of depth pooling"
    return spec


def _spread(size: int) -> list[int]:
    """Places of a line with the last one, at most so many."""
    return [int(place) for place in np.unique(np.linspace(0, size - 1, min(size, _POINTS)).round())]


def _lines(
    title: str,
    said: Sequence[str],
    rows: list[Row],
    x: str,
    y: str,
    y_title: str,
    *,
    interactive: bool,
    layers: list[Spec],
) -> Spec:
    names = list(dict.fromkeys(row["strategy"] for row in rows))
    colours = [_COLOURS.get(name, LIGHT["run"]) for name in names]
    line: Spec = {
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": {"field": x, "type": "quantitative", "title": "labels"},
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
            for field in ("strategy", x, y)
        ]
    return {
        "$schema": SCHEMA_URL,
        "description": f"{title}. {' '.join(said)}",
        "title": {"text": title, "subtitle": list(said)},
        "data": {"values": rows},
        "width": _WIDTH,
        "height": _HEIGHT,
        "layer": [*layers, line],
        "config": titled_config(),
    }


_BOUNDS_WIDTH, _BOUNDS_HEIGHT = 560, 260
_DIGITS = 5
_SIDES = ("lower at all grades", "either", "higher at all grades")


def bounds_spec(found: BoundsReport, *, interactive: bool = False) -> Spec:
    """Bounds by the first measure: of each query a line from the lowest to the highest value, and a
    mark at the value as judged.

    One run has its values, two runs their difference, in which lines that cross 0 are grey.
    """
    one: Bounds | DifferenceBounds = found.differences[0] if found.differences else found.runs[0]
    rows = [
        row | {"place": place}
        for place, row in enumerate(
            sorted(_rows(one), key=lambda row: (row["value"], row["low"])), 1
        )
    ]
    if isinstance(one, DifferenceBounds):
        title, axis = f"Bounds of the difference of {one.measure}", f"{one.b} less {one.a}"
    else:
        title, axis = f"Bounds of {one.measure}, {one.name}", one.measure
    within = "" if found.depth is None else f" in the first {found.depth:,} ranks"
    said = (
        f"Lines: all grades from 0 to {found.max_grade:g} of unjudged documents{within}. Dots: as "
        f"judged."
    )
    mean = f"Mean {one.mean:.3f}, between {one.mean_low:.3f} and {one.mean_high:.3f}."
    tip = [
        {"field": name, "type": "nominal" if name == "query" else "quantitative"}
        for name in ("query", "low", "value", "high")
    ]
    y: Spec = {"type": "quantitative", "title": axis, "axis": {"tickCount": 5}}
    colours = [LIGHT["worse"], LIGHT["run"], LIGHT["accent"]]
    colour: Spec = {
        "field": "side",
        "type": "nominal",
        "scale": {"domain": list(_SIDES), "range": colours},
    }
    colour["legend"] = {"title": None, "orient": "bottom"} if found.differences else None
    zero: Spec = {
        "data": {"values": [{"zero": 0}]},
        "mark": {"type": "rule", "color": LIGHT["ink"], "strokeWidth": 1},
    }
    zero["encoding"] = {"y": {"field": "zero", "type": "quantitative"}}
    lines: Spec = {
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}, "color": colour},
    }
    dots: Spec = {
        "mark": {"type": "point", "filled": True, "size": 26, "opacity": 1},
        "encoding": {"y": {"field": "value", **y}, "color": colour},
    }
    if interactive:
        lines["encoding"]["tooltip"] = dots["encoding"]["tooltip"] = tip
    return {
        "$schema": SCHEMA_URL,
        "description": f"{title}, query by query. {said} {mean}",
        "title": {"text": title, "subtitle": [said, mean]},
        "data": {"values": rows},
        "width": _BOUNDS_WIDTH,
        "height": _BOUNDS_HEIGHT,
        "encoding": {
            "x": {
                "field": "place",
                "type": "quantitative",
                "title": "queries, by their value as judged",
                "axis": {"tickMinStep": 1},
            }
        },
        "layer": [*([zero] if found.differences else []), lines, dots],
        "config": titled_config(),
    }


def _rows(one: "Bounds | DifferenceBounds") -> Iterable[Row]:
    """Queries with a value and bounds."""
    lower, either, higher = _SIDES
    has_sides = isinstance(one, DifferenceBounds)
    columns = zip(
        one.query_ids, one.low.tolist(), one.value.tolist(), one.high.tolist(), strict=True
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
