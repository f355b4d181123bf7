"""Figures of values by query of a pair: one run's against the other's, and wins and losses. Nothing
is drawn.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.pages.figures.theme import SCHEMA_URL, Row, Spec, config
from idealrank.reports.table.cells import USUAL
from idealrank.reports.table.short_names import TITLE, told_apart
from idealrank.stats.tolerance import ROUNDING

_DIGITS = 6  # of a value, after the point
_SIDES = ["better", "worse", "equal", "withheld"]

COUNTED = "Of @n queries, @b is better on @wins, worse on @losses and equal on @ties."
SIGNED: Spec = {"format": "+.2~f", "labelExpr": "datum.value === 0 ? '0' : datum.label"}


def evenly(last: int, count: int) -> IntArray:
    """Return whole numbers from 0 to `last`, evenly spaced; fewer if some are equal."""
    return np.unique(np.floor(np.linspace(0, last, count) + 0.5).astype(np.int64))


def paired(a: FloatArray, b: FloatArray, scored: BoolArray) -> tuple[IntArray, FloatArray]:
    """Return the queries that count in both runs, and b - a there, with 0 where the values are
    equal but for rounding.
    """
    shared = np.flatnonzero(scored & ~np.isnan(a) & ~np.isnan(b))
    difference = b[shared] - a[shared]
    largest = float(np.abs([a[shared], b[shared]]).max(initial=0.0))
    return shared, np.where(np.abs(difference) <= ROUNDING * largest, 0.0, difference)


def domain(values: Sequence[FloatArray], bounds: tuple[float, float]) -> list[float]:
    """Limits of an axis of values: the bounds of the measure if they are finite, otherwise the
    least and greatest value.
    """
    observed = np.concatenate([np.zeros(0), *values])
    least, greatest = bounds
    low = least if np.isfinite(least) else float(observed.min(initial=0.0))
    high = greatest if np.isfinite(greatest) else float(observed.max(initial=low))
    return [float(low), float(high) if high > low else float(low) + 1.0]


def signed(value: float, places: int = USUAL) -> str:
    r"""Write a difference with a sign; its minus is as wide as a plus."""
    return f"{value:+.{places}f}".replace("-", "\u2212")


def side_of(difference: float, direction: int = 1) -> str:
    """Return the side of b in a difference b - a."""
    gain = difference * direction
    if gain > 0:
        return "better"
    return "worse" if gain < 0 else "equal"


def by_side() -> Spec:
    """Encode colours of better, worse, equal, and withheld for too few judgments."""
    return {
        "field": "side",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": _SIDES, "range": ["@accent", "@worse", "@run", "@run"]},
    }


_COLUMNS = 400  # bars of wins and losses: with more queries, each bar is of several
_FEW_POINTS = 150  # points that have room to be large
_APART = 120  # bars that have gaps between them
_LARGEST = 1100  # area of a point, in square pixels
_TITLE_AT_START: Spec = {"titleAnchor": "start", "titleAlign": "left"}
_FIXED_WIDTH: Spec = {"minExtent": 34, "maxExtent": 34}


def scatter_rows(
    a: FloatArray, b: FloatArray, scored: BoolArray, queries: Sequence[str], direction: int = 1
) -> list[Row]:
    """Make a row for each pair of values with its number of queries; the more frequent first, so
    that no point hides another.
    """
    shared, differences = paired(a, b, scored)
    points: dict[tuple[float, float], Row] = {}
    columns = (shared, a[shared], b[shared], differences)
    for query, x, y, difference in zip(*(column.tolist() for column in columns), strict=True):
        values = (round(x, _DIGITS), round(y, _DIGITS))
        point = points.setdefault(values, {"count": 0, "query": queries[query]})
        point["count"] += 1
        point["side"] = side_of(difference, direction)
    rows = [
        {"a": float(x), "b": float(y), **point, "which": _which(point)}
        for (x, y), point in points.items()
    ]
    return sorted(rows, key=lambda row: -int(row["count"]))


def _which(row: Row) -> str:
    return row["query"] if row["count"] == 1 else f"{row['query']} and {row['count'] - 1:,} more"


def scatter_template() -> Spec:
    """Draw values of b against values of a, on equal scales, with the diagonal; the area of a point
    is the number of its queries.
    """
    # pixels: room for whole points at the ends
    scale = {"domain": "@domain", "nice": False, "zero": False, "padding": 10}
    axis = {"tickCount": 5}
    tip = [
        {"field": "which", "type": "nominal", "title": "query"},
        {"field": "b", "type": "quantitative", "title": "b", "format": ".4f"},
        {"field": "a", "type": "quantitative", "title": "a", "format": ".4f"},
    ]
    corners = {
        "x": {"value": 0},
        "y": {"value": "height"},
        "x2": {"value": "width"},
        "y2": {"value": 0},
    }
    diagonal = {"type": "rule", "strokeWidth": 1, "aria": False}
    size = {
        "field": "count",
        "type": "quantitative",
        "legend": None,
        "scale": {"range": "@sizes", "domain": [1, "@most"], "zero": False},
    }
    return {
        "$schema": SCHEMA_URL,
        "description": "Each query by its @measure of @a, to the right, and of @b, upwards. "
        + COUNTED,
        "usermeta": {"square": 50, "widest": 480},
        "data": {"name": "rows"},
        "layer": [
            {"data": {"values": [{}]}, "mark": diagonal, "encoding": corners},
            {
                "mark": {
                    "type": "circle",
                    "opacity": "@opacity",
                    "stroke": "@paper",
                    "strokeWidth": "@outline",
                    "cursor": "pointer",
                },
                "encoding": {
                    "x": {
                        "field": "a",
                        "type": "quantitative",
                        "title": "@shorta, @measure",
                        "scale": scale,
                        "axis": axis | _TITLE_AT_START,
                    },
                    "y": {
                        "field": "b",
                        "type": "quantitative",
                        "title": "@shortb, @measure",
                        "scale": scale,
                        "axis": axis | _FIXED_WIDTH,
                    },
                    "size": size,
                    "color": by_side(),
                    "tooltip": tip,
                },
            },
            _corner("better on @wins", "@accent", {"x": "width", "y": -15, "align": "right"}),
            _corner(
                "better on @lost",
                "@worse",
                {"x": "width", "y": "height", "dy": "@below", "align": "right"},
            ),
        ],
        "config": config(),
    }


def _corner(text: str, colour: str, place: Spec) -> Spec:
    return {
        "data": {"values": [{}]},
        "mark": {"type": "text", "text": text, "color": colour, "aria": False, **place},
        "encoding": {},
    }


def winloss_rows(
    a: FloatArray, b: FloatArray, scored: BoolArray, queries: Sequence[str], direction: int = 1
) -> list[Row]:
    """Make bars of differences b - a from the highest down, one for each query. Of more than 400
    queries a bar stands for a few, by the difference farthest from 0.
    """
    shared, differences = paired(a, b, scored)
    order = np.argsort(-differences, kind="stable")
    edges = evenly(order.size, min(order.size, _COLUMNS) + 1)
    rows = []
    for first, last in pairwise(edges.tolist()):
        group = order[first:last]
        farthest = int(group[np.argmax(np.abs(differences[group]))])
        difference = float(differences[farthest])
        query = int(shared[farthest])
        row = {
            "first": first,
            "last": last,
            "count": last - first,
            "query": queries[query],
            "side": side_of(difference, direction),
        }
        numbers = {"difference": difference, "a": float(a[query]), "b": float(b[query])}
        rows.append(row | {name: round(value, _DIGITS) for name, value in numbers.items()})
        rows[-1]["which"] = _which(rows[-1])
    return rows


def winloss_template() -> Spec:
    """Draw bars from the largest gain to the largest loss, and the mean."""
    tip = [
        {"field": "which", "type": "nominal", "title": "query"},
        {"field": "difference", "type": "quantitative", "title": "difference", "format": "+.4f"},
        {"field": "b", "type": "quantitative", "title": "b", "format": ".4f"},
        {"field": "a", "type": "quantitative", "title": "a", "format": ".4f"},
    ]
    scale = {"domain": [0, "@n"], "nice": False}
    bars = {
        "mark": {"type": "rect", "cursor": "pointer", "strokeWidth": 0.6},
        "encoding": {
            "x": {"field": "first", "type": "quantitative", "scale": scale, "axis": None},
            "x2": {"field": "last"},
            "y": {
                "field": "difference",
                "type": "quantitative",
                "title": "@shortb minus @shorta, @measure",
                "scale": {"domain": "@spread", "nice": False},
                "axis": {"tickCount": 5, "titleLimit": {"expr": "width"}, **SIGNED},
            },
            "y2": {"datum": 0},
            "fill": by_side(),
            "tooltip": tip,
            # Few bars are apart; many touch, since gaps of less than a pixel would make stripes.
            "stroke": {"condition": {"test": "@apart", "value": "@paper"}, **by_side()},
        },
    }
    only: Spec = {"data": {"values": [{}]}}
    return {
        "$schema": SCHEMA_URL,
        "description": "Differences in @measure, @b minus @a, one bar per query, the highest "
        "first. Mean difference @meantext. " + COUNTED,
        "usermeta": {"height": 190},
        "data": {"name": "rows"},
        "layer": [
            bars,
            only
            | {
                "mark": {"type": "rule", "strokeWidth": 1, "aria": False},
                "encoding": {"y": {"datum": 0}},
            },
            only
            | {
                "mark": {"type": "rule", "color": "@ink", "strokeDash": [3, 3], "aria": False},
                "encoding": {"y": {"datum": "@mean"}},
            },
            only | {"mark": _mean_text(), "encoding": {"y": {"datum": "@mean"}}},
            _corner("@upper", "@uppercolour", {"x": "width", "y": 8, "align": "right"}),
            _corner("@lower", "@lowercolour", {"x": 2, "y": "height", "dy": -8, "align": "left"}),
        ],
        "config": config(),
    }


def _mean_text() -> Spec:
    return {
        "type": "text",
        "text": "mean @meantext",
        "x": "@meanx",
        "align": "@meanalign",
        "dy": "@meanside",
        "color": "@ink",
        "aria": False,
    }


def pair_words(
    a: FloatArray,
    b: FloatArray,
    scored: BoolArray,
    names: tuple[str, str],
    *,
    direction: int = 1,
    bounds: tuple[float, float],
    labels: tuple[str, str] | None = None,
) -> dict[str, Any]:
    """Return the words for the templates of a pair of runs."""
    shared, differences = paired(a, b, scored)
    if labels is None:
        labels = names
        if names[0] != names[1]:
            short_a, short_b = told_apart(names, TITLE)
            labels = (short_a, short_b)
    short_a, short_b = labels
    higher = int((differences > 0).sum())
    lower = int((differences < 0).sum())
    ties = shared.size - higher - lower
    mean = float(differences.mean()) if shared.size else 0.0
    # bars above 0 are better by a measure whose higher values are better, otherwise worse
    if direction > 0:
        wins, losses = higher, lower
        up, down = "better", "worse"
    else:
        wins, losses = lower, higher
        up, down = "worse", "better"
    colours = {"better": "accent", "worse": "worse"}
    equal = f", equal on {ties:,}" if ties else ""
    # 4 % of room beyond the longest bar; where nothing differs, any axis will do
    reach = (float(np.abs(differences).max(initial=0.0)) or 1.0) * 1.04
    many = shared.size > 2 * _FEW_POINTS
    return {
        "lost": f"{losses:,}{equal}",
        "a": names[0],
        "b": names[1],
        "shorta": short_a,
        "shortb": short_b,
        "n": shared.size,
        "wins": f"{wins:,}",
        "losses": f"{losses:,}",
        "ties": f"{ties:,}",
        "upper": f"{short_b} {up} on {higher:,}",
        "lower": f"{short_b} {down} on {lower:,}{equal}",
        "uppercolour": colours[up],
        "lowercolour": colours[down],
        "mean": mean,
        "meantext": signed(mean),
        **_place_of_mean_text(mean),
        "domain": domain([a[shared], b[shared]], bounds),
        "spread": [-reach if lower else -0.3 * reach, reach if higher else 0.3 * reach],
        "apart": "true" if shared.size <= _APART else "false",
        "opacity": 0.5 if many else 0.8,
        "outline": 0 if many else 0.5,
    }


def _place_of_mean_text(mean: float) -> dict[str, Any]:
    """Place the text of the mean where no bar is: above its line at the right, or below it at the
    left.
    """
    if mean >= 0:
        return {"meanx": "width", "meanalign": "right", "meanside": -7}
    return {"meanx": 2, "meanalign": "left", "meanside": 9}


def size_words(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the sizes of the points of a scatter plot, by number of queries, up to a limit."""
    most_queries = max((int(row["count"]) for row in rows), default=1)
    most_queries = max(most_queries, 2)  # the scale of sizes begins at 1, and needs two ends
    # the area of a point of one query, in square pixels
    if len(rows) <= _FEW_POINTS:
        smallest = 44
    elif len(rows) <= 10 * _FEW_POINTS:
        smallest = 26
    else:
        smallest = 16
    return {"most": most_queries, "sizes": [smallest, min(smallest * most_queries, _LARGEST)]}
