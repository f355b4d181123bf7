"""Bounds of every query as a Vega-Lite specification: from a report to plain dicts, nothing is
drawn here.
"""

import math
from collections.abc import Iterable

from idealrank.judging import Bounds, BoundsReport, DifferenceBounds
from idealrank.pages.figures.theme import LIGHT, SCHEMA_URL, Row, Spec, titled_config

_WIDTH, _HEIGHT = 560, 260
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
        "width": _WIDTH,
        "height": _HEIGHT,
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
