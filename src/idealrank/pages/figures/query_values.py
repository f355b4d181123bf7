"""Figures of values by query: their distribution, the values of one run against another's, wins
and losses. Nothing is drawn.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.pages.figures.theme import SCHEMA_URL, Row, Spec, config
from idealrank.reports.table.cells import USUAL
from idealrank.reports.table.text import TITLE, told_apart
from idealrank.stats.tolerance import ROUNDING

_STEPS = 300  # corners of a line of shares: more than that are less than two pixels apart
_DIGITS = 6  # of a value, after the point
_HALF = 0.5
_SIDES = ["better", "worse", "equal", "withheld"]
# Dash patterns in pixels of line and gap, by the key of `dash_of`.
_OTHER_DASHES = ([1, 0], [2, 2], [6, 2, 1, 2], [1, 3])
_DASHES = {"b": [1, 0], "a": [7, 3]} | {
    str(place): pattern for place, pattern in enumerate(_OTHER_DASHES)
}
_MOST_TOLD = 12  # other runs whose shares the pointer shows
_SAMPLE = 24  # pixels of a line beside its name

COUNTED = "Of @n queries, @b is better on @wins, worse on @losses and equal on @ties."
SIGNED: Spec = {"format": "+.2~f", "labelExpr": "datum.value === 0 ? '0' : datum.label"}


def line_of(role: str, place: int) -> str:
    """Return a key for a run's line that no name can equal: "a" and "b" of the pair, else "r" and
    its place.
    """
    return role if role in ("a", "b") else f"r{place}"


def dash_of(role: str, place: int) -> str:
    """Return the dash pattern of a line: "b" none, "a" long dashes, the others in turn."""
    return role if role in ("a", "b") else str(place % len(_OTHER_DASHES))


def distribution_rows(
    values: Sequence[tuple[str, str, FloatArray]], least: float = math.nan
) -> list[Row]:
    """Make rows of the share of each run's queries that reach a value, at every value at which a
    share changes.

    The area below the line of a run is its mean, for values from 0 up.
    """
    begin = [np.array([least])] if math.isfinite(least) else []
    of_runs = [of_run for _, _, of_run in values]
    every = np.unique(np.concatenate([np.zeros(0), *begin, *of_runs]))
    if every.size > _STEPS:
        every = every[_evenly(every.size - 1, _STEPS)]
    rows = []
    for place, (run, role, of_run) in enumerate(values):
        line = {
            "run": run,
            "role": role,
            "line": line_of(role, place),
            "dash": dash_of(role, place),
        }
        below = np.searchsorted(np.sort(of_run), every, side="left")
        shares = (of_run.size - below) / max(of_run.size, 1)
        rows += [
            line | {"value": round(value, _DIGITS), "share": round(share, _DIGITS)}
            for value, share in zip(every.tolist(), shares.tolist(), strict=True)
        ]
    return rows


def _evenly(last: int, count: int) -> IntArray:
    """Whole numbers from 0 to `last`, evenly spaced; fewer if some are equal."""
    return np.unique(np.floor(np.linspace(0, last, count) + 0.5).astype(np.int64))


def half_said(rows: Sequence[Row]) -> str:
    """Write the highest value that half of the queries reach in runs b and a."""
    reached = {(row["role"], row["run"]): row["value"] for row in rows if row["share"] >= _HALF}
    return " and ".join(
        f"{value:.4f} by {run}"
        for (role, run), value in sorted(reached.items(), reverse=True)
        if role in ("a", "b")
    )


def distribution_template(*, runs: int) -> Spec:
    """Draw lines of shares: b in the accent colour, a in grey and dashed, the others thin."""
    names = [("@shortb", "@accent", "b"), ("@shorta", "@run", "a"), ("other runs", "@axis", "0")]
    labels: list[Spec] = []
    for at, (name, colour, dash) in enumerate(names[:runs]):
        labels += _label(name, colour, dash, at)
    counted = COUNTED if runs > 1 else "@n queries."
    return {
        "$schema": SCHEMA_URL,
        "description": f"Number of queries that reach each value of @measure; half of them reach "
        f"@half. {counted}",
        "usermeta": {"height": 210},
        "data": {"name": "rows"},
        "encoding": {
            "x": {
                "field": "value",
                "type": "quantitative",
                "title": "@measure",
                "scale": {"domain": "@domain", "nice": False},
                "axis": {"tickCount": 5},
            },
            "y": {
                "field": "share",
                "type": "quantitative",
                "title": "queries that reach this value",
                "scale": {"domain": [0, 1]},
                "axis": {"format": ".0%", "tickCount": 5},
            },
        },
        "layer": [
            {"mark": {"type": "line", "interpolate": "step-before"}, "encoding": by_role()},
            *labels,
            *_pointed(runs),
        ],
        "config": config(),
    }


def by_role(channel: str = "color") -> Spec:
    """Encode colour, width, dashes and order of the lines of runs by their role; the pair differs
    from the others in shades of grey, too.
    """
    roles = ["other", "a", "b"]
    scale = {"domain": roles, "range": ["@axis", "@run", "@accent"]}
    return {
        channel: {"field": "role", "type": "nominal", "scale": scale, "legend": None},
        # The width of a line: `strokeWidth` would give way to the config; without its type the
        # scale would space widths evenly.
        "size": {
            "field": "role",
            "type": "ordinal",
            "scale": {"type": "ordinal", "domain": roles, "range": [1, 1.8, 2.2]},
            "legend": None,
        },
        "strokeDash": {
            "field": "dash",
            "type": "nominal",
            "scale": {"domain": list(_DASHES), "range": list(_DASHES.values())},
            "legend": None,
        },
        "detail": {"field": "line"},
    }


def _label(name: str, colour: str, dash: str, at: int) -> list[Spec]:
    """The name of a run and a piece of its line, at the upper right, where shares are low."""
    y = 10 + 17 * at
    ink = "@quiet" if colour == "@axis" else colour
    text = {
        "type": "text",
        "align": "right",
        "dx": -_SAMPLE - 8,
        "color": ink,
        "fontWeight": "normal" if at else "bold",
    }
    line = {
        "type": "rule",
        "color": colour,
        "strokeDash": _DASHES[dash],
        "strokeWidth": (2.2, 1.8, 1)[at],
        "xOffset": -_SAMPLE,
    }
    ends = {"x": {"value": "width"}, "x2": {"value": "width"}, "y": {"value": y}}
    return [
        {"data": {"values": [{}]}, "mark": line | {"aria": False}, "encoding": ends},
        {
            # The name comes in as data: as a text of the mark itself, "toString" and the like are
            # looked up, and break the drawing.
            "data": {"values": [{"name": name}]},
            "mark": text | {"aria": False},
            "encoding": {"x": {"value": "width"}, "y": {"value": y}, "text": {"field": "name"}},
        },
    ]


def _pointed(runs: int) -> list[Spec]:
    """A rule at the value nearest to the pointer, with the shares there; the names of other runs
    than a and b come in with the pointer.
    """
    nearest = {
        "name": "pointer",
        "select": {
            "type": "point",
            "fields": ["value"],
            "nearest": True,
            "on": "pointermove",
            "clear": "pointerout",
        },
    }
    shown = {"condition": {"param": "pointer", "empty": False, "value": 1}, "value": 0}
    n_others = min(max(runs - 2, 0), _MOST_TOLD)
    lines = [*["b", "a"][:runs], *(f"r{place}" for place in range(n_others))]
    tip = [{"field": "value", "type": "quantitative", "title": "reach", "format": ".4~f"}]
    tip += [
        {"field": line, "type": "quantitative", "title": line, "format": ".1%"} for line in lines
    ]
    return [
        {
            "transform": [{"pivot": "line", "value": "share", "groupby": ["value"]}],
            "mark": {"type": "rule", "aria": False},
            "params": [nearest],
            "encoding": {"y": None, "tooltip": tip, "opacity": shown},
        }
    ]


def paired(a: FloatArray, b: FloatArray, scored: BoolArray) -> tuple[IntArray, FloatArray]:
    """Return the queries that count in both runs, and b - a there, with 0 where the values are
    equal but for rounding.
    """
    both = np.flatnonzero(scored & ~np.isnan(a) & ~np.isnan(b))
    difference = b[both] - a[both]
    largest = float(np.abs([a[both], b[both]]).max(initial=0.0))
    return both, np.where(np.abs(difference) <= ROUNDING * largest, 0.0, difference)


def domain(values: Sequence[FloatArray], bounds: tuple[float, float]) -> list[float]:
    """Limits of an axis of values: the bounds of the measure if they are finite, otherwise the
    least and greatest value.
    """
    seen = np.concatenate([np.zeros(0), *values])
    least, greatest = bounds
    low = least if np.isfinite(least) else float(seen.min(initial=0.0))
    high = greatest if np.isfinite(greatest) else float(seen.max(initial=low))
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
_FEW = 150  # points that have room to be large
_APART = 120  # bars that have gaps between them
_LARGEST = 1100  # pixels: area of a point
_FIRST: Spec = {"titleAnchor": "start", "titleAlign": "left"}
_FIXED: Spec = {"minExtent": 34, "maxExtent": 34}


def scatter_rows(
    a: FloatArray, b: FloatArray, scored: BoolArray, queries: Sequence[str], direction: int = 1
) -> list[Row]:
    """Make a row for each pair of values with its number of queries; the more frequent first, so
    that no point hides another.
    """
    both, differences = paired(a, b, scored)
    points: dict[tuple[float, float], Row] = {}
    columns = (both, a[both], b[both], differences)
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
                        "axis": axis | _FIRST,
                    },
                    "y": {
                        "field": "b",
                        "type": "quantitative",
                        "title": "@shortb, @measure",
                        "scale": scale,
                        "axis": axis | _FIXED,
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
    both, differences = paired(a, b, scored)
    order = np.argsort(-differences, kind="stable")
    edges = _evenly(order.size, min(order.size, _COLUMNS) + 1)
    rows = []
    for first, last in pairwise(edges.tolist()):
        group = order[first:last]
        place = int(group[np.argmax(np.abs(differences[group]))])
        difference = float(differences[place])
        query = int(both[place])
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
    both, differences = paired(a, b, scored)
    short = labels or (names if names[0] == names[1] else told_apart(names, TITLE))
    higher = int((differences > 0).sum())
    lower = int((differences < 0).sum())
    wins, losses = (higher, lower) if direction > 0 else (lower, higher)
    ties = both.size - wins - losses
    mean = float(differences.mean()) if both.size else 0.0
    # bars above 0 are better by a measure whose higher values are better, otherwise worse
    better = ("better", "accent")
    worse = ("worse", "worse")
    (up, up_colour), (down, down_colour) = (better, worse) if direction > 0 else (worse, better)
    equal = f", equal on {ties:,}" if ties else ""
    # 4 % of room beyond the longest bar; where nothing differs, any axis will do
    reach = (float(np.abs(differences).max(initial=0.0)) or 1.0) * 1.04
    many = both.size > 2 * _FEW
    short_a, short_b = short
    return {
        "lost": f"{losses:,}{equal}",
        "a": names[0],
        "b": names[1],
        "shorta": short_a,
        "shortb": short_b,
        "n": both.size,
        "wins": f"{wins:,}",
        "losses": f"{losses:,}",
        "ties": f"{ties:,}",
        "upper": f"{short_b} {up} on {higher:,}",
        "lower": f"{short_b} {down} on {lower:,}{equal}",
        "uppercolour": up_colour,
        "lowercolour": down_colour,
        "mean": mean,
        "meantext": signed(mean),
        **_mean_place(mean),
        "domain": domain([a[both], b[both]], bounds),
        "spread": [-reach if lower else -0.3 * reach, reach if higher else 0.3 * reach],
        "apart": "true" if both.size <= _APART else "false",
        "opacity": 0.5 if many else 0.8,
        "outline": 0 if many else 0.5,
    }


def _mean_place(mean: float) -> dict[str, Any]:
    """Place the text of the mean where no bar is: above its line at the right, or below it at the
    left.
    """
    if mean >= 0:
        return {"meanx": "width", "meanalign": "right", "meanside": -7}
    return {"meanx": 2, "meanalign": "left", "meanside": 9}


def size_words(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the sizes of the points of a scatter plot, by number of queries, up to a limit."""
    most = max((int(row["count"]) for row in rows), default=1)
    # the area of a point of one query, in square pixels
    if len(rows) <= _FEW:
        least = 44
    elif len(rows) <= 10 * _FEW:
        least = 26
    else:
        least = 16
    return {"most": max(most, 2), "sizes": [least, min(least * max(most, 2), _LARGEST)]}
