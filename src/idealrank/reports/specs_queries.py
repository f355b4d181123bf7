"""Figures of values by query: how they are distributed, pair by pair, and won and lost. Rows, words and templates; nothing is drawn."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.reports.theme import SCHEMA_URL, Row, Spec, config

_STEPS = 300  # corners of a line of shares: more than that are less than two pixels apart
_COLUMNS = 400  # bars of wins and losses: of more queries, each bar stands for several
_EQUAL = 1e-12  # two values that differ by less are equal, as in comparisons
_DIGITS = 6
_FEW = 150  # points that have room to be large
_LARGEST = 1100  # pixels: area of a point
_SIDES = ["better", "worse", "equal"]


def distribution_rows(values: Sequence[tuple[str, str, FloatArray]]) -> list[Row]:
    """For each run the share of its queries that reach a value, at every value at which a share changes.

    The area below the line of a run is its mean, for values from 0 up.

    Parameters
    ----------
    values : sequence of (run, role, float array)
        Values that count; the role is "a", "b" or "other".

    Examples
    --------
    >>> [(row["value"], row["share"]) for row in distribution_rows([("bm25", "a", np.array([0.0, 0.5, 0.5, 1.0]))])]
    [(0.0, 1.0), (0.5, 0.75), (1.0, 0.25)]
    """
    every = np.unique(np.concatenate([np.zeros(0), *(one for _, _, one in values)]))
    if every.size > _STEPS:
        every = every[np.unique(np.floor(np.linspace(0, every.size - 1, _STEPS) + 0.5).astype(np.int64))]
    rows = []
    for run, role, found in values:
        shares = (found.size - np.searchsorted(np.sort(found), every, side="left")) / max(found.size, 1)
        rows += [
            {"run": run, "role": role, "value": round(value, _DIGITS), "share": round(share, _DIGITS)}
            for value, share in zip(every.tolist(), shares.tolist(), strict=True)
        ]
    return rows


def distribution_template(*, runs: int) -> Spec:
    """Lines of shares: that of b in the accent colour, that of a in grey.

    Parameters
    ----------
    runs : int
        How many there are.

    Examples
    --------
    >>> distribution_template(runs=2)["layer"][0]["mark"]["interpolate"]
    'step-before'
    """
    names = ["@b", "@a", "other runs"][: min(runs, 3)]
    colours = ["@accent", "@run", "@quiet"]
    labels = [_label(name, at, colour) for at, (name, colour) in enumerate(zip(names, colours, strict=False))]
    return {
        "$schema": SCHEMA_URL,
        "description": "How many queries reach each value of @measure. " + (_COUNTED if runs > 1 else "@n queries."),
        "usermeta": {"height": 210},
        "data": {"name": "rows"},
        "encoding": {
            "x": {"field": "value", "type": "quantitative", "title": "@measure", "scale": {"domain": "@domain", "nice": False}},
            "y": {
                "field": "share", "type": "quantitative", "title": "queries that reach this value",
                "scale": {"domain": [0, 1]}, "axis": {"format": ".0%", "tickCount": 5},
            },
        },
        "layer": [{"mark": {"type": "line", "interpolate": "step-before"}, "encoding": by_role()}, *labels, *_pointed(runs)],
        "config": config(),
    }  # fmt: skip


def by_role(channel: str = "color") -> Spec:
    """Colours, widths and order of the lines of runs by their role.

    Examples
    --------
    >>> by_role()["color"]["scale"]["domain"]
    ['other', 'a', 'b']
    """
    roles = ["other", "a", "b"]
    scale = {"domain": roles, "range": ["@other", "@run", "@accent"]}
    return {
        channel: {"field": "role", "type": "nominal", "scale": scale, "legend": None},
        "strokeWidth": {"field": "role", "type": "nominal", "scale": {"domain": roles, "range": [1, 1.8, 2.2]}, "legend": None},
        "detail": {"field": "run"},
    }


def _label(name: str, at: int, colour: str) -> Spec:
    """The name of a run in its colour, at the upper right, where shares are low."""
    mark = {"type": "text", "text": name, "align": "right", "dx": -4, "color": colour, "fontWeight": "bold" if at == 0 else "normal"}
    return {"data": {"values": [{}]}, "mark": mark | {"aria": False}, "encoding": {"x": {"value": "width"}, "y": {"value": 10 + 17 * at}}}


def _pointed(runs: int) -> list[Spec]:
    """A rule at the value nearest to the pointer, with the shares there."""
    nearest = {
        "name": "pointer", "select": {"type": "point", "fields": ["value"], "nearest": True, "on": "pointermove", "clear": "pointerout"},
    }  # fmt: skip
    shown = {"condition": {"param": "pointer", "empty": False, "value": 1}, "value": 0}
    tip = [
        {"field": "value", "type": "quantitative", "title": "reach", "format": ".4~f"},
        {"field": "b", "type": "quantitative", "title": "@b", "format": ".1%"},
        {"field": "a", "type": "quantitative", "title": "@a", "format": ".1%"},
    ]
    return [
        {
            "transform": [{"pivot": "role", "value": "share", "groupby": ["value"]}],
            "mark": {"type": "rule", "aria": False},
            "params": [nearest],
            "encoding": {"y": None, "tooltip": tip[: min(runs, 2) + 1], "opacity": shown},
        }
    ]


def paired(a: FloatArray, b: FloatArray, scored: BoolArray) -> tuple[IntArray, FloatArray]:
    """Queries that count in both runs, and b - a there, with 0 where the values are equal but for rounding.

    Examples
    --------
    >>> paired(np.array([0.5, 1.0]), np.array([0.5 + 1e-15, np.nan]), np.array([True, True]))
    (array([0]), array([0.]))
    """
    both = np.flatnonzero(scored & ~np.isnan(a) & ~np.isnan(b))
    difference = b[both] - a[both]
    return both, np.where(np.abs(difference) <= _EQUAL, 0.0, difference)


def scatter_rows(a: FloatArray, b: FloatArray, scored: BoolArray, queries: Sequence[str], direction: int = 1) -> list[Row]:
    """A row for each two values that occur, with how many queries have them; the more frequent first, so that none hides another.

    Parameters
    ----------
    a, b : float array, shape (n_queries,)
        Values of the two runs.
    scored : bool array, shape (n_queries,)
        Which count in both.
    queries : sequence of str
        Ids.
    direction : int
        1 where higher is better, -1 where lower is.

    Examples
    --------
    >>> rows = scatter_rows(np.array([0, 1, 0]), np.array([1, 1, 1]), np.ones(3, bool), ["p", "q", "r"])
    >>> [(row["a"], row["b"], row["count"], row["query"], row["side"]) for row in rows]
    [(0.0, 1.0, 2, 'p', 'better'), (1.0, 1.0, 1, 'q', 'equal')]
    """
    both, differences = paired(a, b, scored)
    points: dict[tuple[float, float], Row] = {}
    for query, x, y, difference in zip(both.tolist(), a[both].tolist(), b[both].tolist(), differences.tolist(), strict=True):
        found = points.setdefault((round(x, _DIGITS), round(y, _DIGITS)), {"count": 0, "query": queries[query]})
        found["count"] += 1
        found["side"] = side_of(difference, direction)
    rows = [{"a": float(x), "b": float(y), **found, "which": _which(found)} for (x, y), found in points.items()]
    return sorted(rows, key=lambda row: -int(row["count"]))


def _which(row: Row) -> str:
    return row["query"] if row["count"] == 1 else f"{row['query']} and {row['count'] - 1:,} more"


def side_of(difference: float, direction: int = 1) -> str:
    """What a difference b - a says of b.

    Examples
    --------
    >>> side_of(0.1), side_of(0.1, -1), side_of(0.0)
    ('better', 'worse', 'equal')
    """
    gain = difference * direction
    return "better" if gain > 0 else "worse" if gain < 0 else "equal"


def by_side() -> Spec:
    """Colours of what is better, worse and equal.

    Examples
    --------
    >>> by_side()["scale"]["range"]
    ['@accent', '@worse', '@run']
    """
    return {"field": "side", "type": "nominal", "legend": None, "scale": {"domain": _SIDES, "range": ["@accent", "@worse", "@run"]}}


def scatter_template() -> Spec:
    """Values of b against those of a, on equal scales, with the diagonal; the area of a point is the number of its queries.

    Examples
    --------
    >>> scatter_template()["layer"][1]["encoding"]["size"]["field"]
    'count'
    """
    scale = {"domain": "@domain", "nice": False, "zero": False, "padding": 10}  # pixels: room for whole points at the ends
    axis = {"tickCount": 5}
    tip = [
        {"field": "which", "type": "nominal", "title": "query"},
        {"field": "b", "type": "quantitative", "title": "@b", "format": ".4f"},
        {"field": "a", "type": "quantitative", "title": "@a", "format": ".4f"},
    ]
    corners = {"x": {"value": 0}, "y": {"value": "height"}, "x2": {"value": "width"}, "y2": {"value": 0}}
    diagonal = {"type": "rule", "strokeWidth": 1, "aria": False}
    size = {"field": "count", "type": "quantitative", "legend": None, "scale": {"range": "@sizes", "domain": [1, "@most"], "zero": False}}
    return {
        "$schema": SCHEMA_URL,
        "description": "Each query by its @measure of @a, to the right, and of @b, upwards. " + _COUNTED,
        "usermeta": {"square": 50, "widest": 480},
        "data": {"name": "rows"},
        "layer": [
            {"data": {"values": [{}]}, "mark": diagonal, "encoding": corners},
            {
                "mark": {"type": "circle", "opacity": "@opacity", "stroke": "@paper", "strokeWidth": 0.5, "cursor": "pointer"},
                "encoding": {
                    "x": {"field": "a", "type": "quantitative", "title": "@a, @measure", "scale": scale, "axis": {**axis, "grid": True}},
                    "y": {"field": "b", "type": "quantitative", "title": "@b, @measure", "scale": scale, "axis": axis | _FIXED},
                    "size": size, "color": by_side(), "tooltip": tip,
                },
            },
            _corner("@upper", "@uppercolour", {"x": 6, "y": 12, "align": "left"}),
            _corner("@lower", "@lowercolour", {"x": "width", "dx": -6, "y": "height", "dy": -10, "align": "right"}),
        ],
        "config": config(),
    }  # fmt: skip


_COUNTED = "Of @n queries, @b is better on @wins, worse on @losses and equal on @ties."
SIGNED: Spec = {"format": "+.2~f", "labelExpr": "datum.value === 0 ? '0' : datum.label"}
_FIXED: Spec = {"minExtent": 34, "maxExtent": 34}


def _corner(text: str, colour: str, place: Spec) -> Spec:
    return {"data": {"values": [{}]}, "mark": {"type": "text", "text": text, "color": colour, "aria": False, **place}, "encoding": {}}


def winloss_rows(a: FloatArray, b: FloatArray, scored: BoolArray, queries: Sequence[str], direction: int = 1) -> list[Row]:
    """Bars of differences b - a from the highest down: one a query, or of more than 400 queries one for each few, the farthest from 0.

    Parameters
    ----------
    a, b, scored, queries, direction
        As for `scatter_rows`.

    Examples
    --------
    >>> rows = winloss_rows(np.array([0.0, 1.0]), np.array([0.5, 1.0]), np.ones(2, bool), ["p", "q"])
    >>> [(row["first"], row["last"], row["query"], row["difference"]) for row in rows]
    [(0, 1, 'p', 0.5), (1, 2, 'q', 0.0)]
    """
    both, differences = paired(a, b, scored)
    order = np.argsort(-differences, kind="stable")
    edges = np.unique(np.floor(np.linspace(0, order.size, min(order.size, _COLUMNS) + 1) + 0.5).astype(np.int64)).tolist()
    rows = []
    for first, last in pairwise(edges):
        group = order[first:last]
        place = int(group[np.argmax(np.abs(differences[group]))])
        difference, query = float(differences[place]), int(both[place])
        row = {"first": first, "last": last, "count": last - first, "query": queries[query], "side": side_of(difference, direction)}
        numbers = {"difference": difference, "a": float(a[query]), "b": float(b[query])}
        rows.append(row | {name: round(value, _DIGITS) for name, value in numbers.items()})
        rows[-1]["which"] = _which(rows[-1])
    return rows


def winloss_template() -> Spec:
    """Bars from the largest gain to the largest loss, and the mean.

    Examples
    --------
    >>> winloss_template()["layer"][0]["mark"]["type"]
    'rect'
    """
    tip = [
        {"field": "which", "type": "nominal", "title": "query"},
        {"field": "difference", "type": "quantitative", "title": "difference", "format": "+.4f"},
        {"field": "b", "type": "quantitative", "title": "@b", "format": ".4f"},
        {"field": "a", "type": "quantitative", "title": "@a", "format": ".4f"},
    ]
    scale = {"domain": [0, "@n"], "nice": False}
    bars = {
        "mark": {"type": "rect", "cursor": "pointer", "stroke": "@paper", "strokeWidth": "@gap"},
        "encoding": {
            "x": {"field": "first", "type": "quantitative", "scale": scale, "axis": None}, "x2": {"field": "last"},
            "y": {
                "field": "difference", "type": "quantitative", "title": "@b less @a, @measure",
                "scale": {"domain": "@spread", "nice": False}, "axis": {"tickCount": 5, **SIGNED},
            },
            "y2": {"datum": 0}, "color": by_side(), "tooltip": tip,
        },
    }  # fmt: skip
    only: Spec = {"data": {"values": [{}]}}
    return {
        "$schema": SCHEMA_URL,
        "description": "Differences in @measure, @b less @a, a bar a query, the highest first. Mean difference @meantext. " + _COUNTED,
        "usermeta": {"height": 190},
        "data": {"name": "rows"},
        "layer": [
            bars,
            only | {"mark": {"type": "rule", "strokeWidth": 1, "aria": False}, "encoding": {"y": {"datum": 0}}},
            only | {"mark": {"type": "rule", "color": "@ink", "strokeDash": [3, 3], "aria": False}, "encoding": {"y": {"datum": "@mean"}}},
            only | {"mark": _mean_text(), "encoding": {"y": {"datum": "@mean"}}},
            _corner("@upper", "@uppercolour", {"x": "width", "y": 8, "align": "right"}),
            _corner("@lower", "@lowercolour", {"x": 2, "y": "height", "dy": -8, "align": "left"}),
        ],
        "config": config(),
    }


def _mean_text() -> Spec:
    return {"type": "text", "text": "mean @meantext", "x": "width", "align": "right", "dy": "@meanside", "color": "@ink", "aria": False}


def pair_words(
    a: FloatArray, b: FloatArray, scored: BoolArray, names: tuple[str, str], *, direction: int = 1, bounds: tuple[float, float]
) -> dict[str, Any]:
    """What the templates of a pair of runs say.

    Parameters
    ----------
    a, b, scored
        As for `scatter_rows`.
    names : tuple of str
        Of a and b.
    direction : int
        1 where higher is better, -1 where lower is.
    bounds : tuple of float
        Of the measure; an end that is not finite gives way to the values.

    Examples
    --------
    >>> words = pair_words(np.array([0.0, 1.0]), np.array([0.5, 1.0]), np.ones(2, bool), ("bm25", "minilm"), bounds=(0, 1))
    >>> words["upper"], words["meantext"], words["domain"]
    ('minilm better on 1', '+0.2500', [0.0, 1.0])
    """
    both, differences = paired(a, b, scored)
    higher, lower = int((differences > 0).sum()), int((differences < 0).sum())
    wins, losses = (higher, lower) if direction > 0 else (lower, higher)
    ties = both.size - wins - losses
    mean = float(differences.mean()) if both.size else 0.0
    up, down = (("better", "accent"), ("worse", "worse"))[:: 1 if direction > 0 else -1]
    colours = {"uppercolour": up[1], "lowercolour": down[1]}
    equal = f", equal on {ties:,}" if ties else ""
    reach = max(float(np.abs(differences).max(initial=0.0)), 1e-9) * 1.04
    return {
        "a": names[0], "b": names[1], "n": both.size, "wins": f"{wins:,}", "losses": f"{losses:,}", "ties": f"{ties:,}",
        "upper": f"{names[1]} {up[0]} on {higher:,}", "lower": f"{names[1]} {down[0]} on {lower:,}{equal}", **colours,
        "mean": mean, "meantext": signed(mean), "meanside": -7 if mean >= 0 else 8,
        "domain": domain([a[both], b[both]], bounds), "spread": [-reach if lower else -0.3 * reach, reach if higher else 0.3 * reach],
        "gap": 0.0 if both.size > 120 else 0.6, "opacity": 0.8 if both.size <= 300 else 0.5,
    }  # fmt: skip


def signed(value: float) -> str:
    r"""A difference with four digits and a minus sign as wide as a plus.

    Examples
    --------
    >>> signed(0.25), ascii(signed(-0.25))
    ('+0.2500', "'\\u22120.2500'")
    """
    return f"{value:+.4f}".replace("-", "\u2212")


def size_words(rows: Sequence[Row]) -> dict[str, Any]:
    """How large the points of a scatter are: as their number of queries, up to a limit.

    Examples
    --------
    >>> size_words([{"count": 3}, {"count": 1}])
    {'most': 3, 'sizes': [44, 132]}
    """
    most = max((int(row["count"]) for row in rows), default=1)
    least = 44 if len(rows) <= _FEW else 26 if len(rows) <= 10 * _FEW else 16
    return {"most": max(most, 2), "sizes": [least, min(least * max(most, 2), _LARGEST)]}


def domain(values: Sequence[FloatArray], bounds: tuple[float, float]) -> list[float]:
    """Limits of an axis of values: the bounds of the measure where it has them, else what is seen.

    Examples
    --------
    >>> domain([np.array([0.2, 3.0])], (0.0, float("inf")))
    [0.0, 3.0]
    """
    seen = np.concatenate([np.zeros(0), *values])
    low = bounds[0] if np.isfinite(bounds[0]) else float(seen.min(initial=0.0))
    high = bounds[1] if np.isfinite(bounds[1]) else float(seen.max(initial=low))
    return [float(low), float(high) if high > low else float(low) + 1.0]
