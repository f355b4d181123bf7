"""Figures of two runs query by query: one value against the other, and wins and losses. Rows, words and templates; nothing is drawn."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from idealrank.data.types import BoolArray, FloatArray
from idealrank.reports.figures.query_values import COUNTED, SIGNED, by_side, domain, paired, side_of, signed
from idealrank.reports.figures.theme import SCHEMA_URL, Row, Spec, config
from idealrank.reports.table.short_names import TITLE, told_apart

_COLUMNS = 400  # bars of wins and losses: of more queries, each bar stands for several
_FEW = 150  # points that have room to be large
_APART = 120  # bars that have gaps between them
_LARGEST = 1100  # pixels: area of a point
_DIGITS = 6
_FIRST: Spec = {"titleAnchor": "start", "titleAlign": "left"}
_FIXED: Spec = {"minExtent": 34, "maxExtent": 34}


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


def scatter_template() -> Spec:
    """Values of b against values of a, on equal scales, with the diagonal; the area of a point is the number of its queries.

    Examples
    --------
    >>> scatter_template()["layer"][1]["encoding"]["size"]["field"]
    'count'
    """
    scale = {"domain": "@domain", "nice": False, "zero": False, "padding": 10}  # pixels: room for whole points at the ends
    axis = {"tickCount": 5}
    tip = [
        {"field": "which", "type": "nominal", "title": "query"},
        {"field": "b", "type": "quantitative", "title": "b", "format": ".4f"},
        {"field": "a", "type": "quantitative", "title": "a", "format": ".4f"},
    ]
    corners = {"x": {"value": 0}, "y": {"value": "height"}, "x2": {"value": "width"}, "y2": {"value": 0}}
    diagonal = {"type": "rule", "strokeWidth": 1, "aria": False}
    size = {"field": "count", "type": "quantitative", "legend": None, "scale": {"range": "@sizes", "domain": [1, "@most"], "zero": False}}
    return {
        "$schema": SCHEMA_URL,
        "description": "Each query by its @measure of @a, to the right, and of @b, upwards. " + COUNTED,
        "usermeta": {"square": 50, "widest": 480},
        "data": {"name": "rows"},
        "layer": [
            {"data": {"values": [{}]}, "mark": diagonal, "encoding": corners},
            {
                "mark": {"type": "circle", "opacity": "@opacity", "stroke": "@paper", "strokeWidth": "@outline", "cursor": "pointer"},
                "encoding": {
                    "x": {"field": "a", "type": "quantitative", "title": "@shorta, @measure", "scale": scale, "axis": axis | _FIRST},
                    "y": {"field": "b", "type": "quantitative", "title": "@shortb, @measure", "scale": scale, "axis": axis | _FIXED},
                    "size": size, "color": by_side(), "tooltip": tip,
                },
            },
            _corner("better on @wins", "@accent", {"x": "width", "y": -15, "align": "right"}),
            _corner("better on @lost", "@worse", {"x": "width", "y": "height", "dy": "@below", "align": "right"}),
        ],
        "config": config(),
    }  # fmt: skip


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
        {"field": "b", "type": "quantitative", "title": "b", "format": ".4f"},
        {"field": "a", "type": "quantitative", "title": "a", "format": ".4f"},
    ]
    scale = {"domain": [0, "@n"], "nice": False}
    bars = {
        "mark": {"type": "rect", "cursor": "pointer", "strokeWidth": 0.6},
        "encoding": {
            "x": {"field": "first", "type": "quantitative", "scale": scale, "axis": None}, "x2": {"field": "last"},
            "y": {
                "field": "difference", "type": "quantitative", "title": "@shortb less @shorta, @measure",
                "scale": {"domain": "@spread", "nice": False}, "axis": {"tickCount": 5, "titleLimit": {"expr": "width"}, **SIGNED},
            },
            "y2": {"datum": 0}, "fill": by_side(), "tooltip": tip,
            # Few bars stand apart; many touch, for gaps of less than a pixel would make stripes.
            "stroke": {"condition": {"test": "@apart", "value": "@paper"}, **by_side()},
        },
    }  # fmt: skip
    only: Spec = {"data": {"values": [{}]}}
    return {
        "$schema": SCHEMA_URL,
        "description": "Differences in @measure, @b less @a, one bar per query, the highest first. Mean difference @meantext. " + COUNTED,
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
    a: FloatArray, b: FloatArray, scored: BoolArray, names: tuple[str, str], *, direction: int = 1, bounds: tuple[float, float],
    labels: tuple[str, str] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Return the words for the templates of a pair of runs.

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
    labels : tuple of str, optional
        The names as titles have them, short; default the names, shortened.

    Examples
    --------
    >>> words = pair_words(np.array([0.0, 1.0]), np.array([0.5, 1.0]), np.ones(2, bool), ("bm25", "minilm"), bounds=(0, 1))
    >>> words["upper"], words["meantext"], words["domain"]
    ('minilm better on 1', '+0.2500', [0.0, 1.0])
    """
    both, differences = paired(a, b, scored)
    short = labels or (names if names[0] == names[1] else told_apart(names, TITLE))
    higher, lower = int((differences > 0).sum()), int((differences < 0).sum())
    wins, losses = (higher, lower) if direction > 0 else (lower, higher)
    ties = both.size - wins - losses
    mean = float(differences.mean()) if both.size else 0.0
    up, down = (("better", "accent"), ("worse", "worse"))[:: 1 if direction > 0 else -1]
    colours = {"uppercolour": up[1], "lowercolour": down[1]}
    equal = f", equal on {ties:,}" if ties else ""
    reach = (float(np.abs(differences).max(initial=0.0)) or 1.0) * 1.04  # where nothing differs, any axis will do
    return {
        "lost": f"{losses:,}{equal}",
        "a": names[0], "b": names[1], "shorta": short[0], "shortb": short[1],
        "n": both.size, "wins": f"{wins:,}", "losses": f"{losses:,}", "ties": f"{ties:,}",
        "upper": f"{short[1]} {up[0]} on {higher:,}", "lower": f"{short[1]} {down[0]} on {lower:,}{equal}", **colours,
        "mean": mean, "meantext": signed(mean), **_mean_place(mean),
        "domain": domain([a[both], b[both]], bounds), "spread": [-reach if lower else -0.3 * reach, reach if higher else 0.3 * reach],
        "apart": "true" if both.size <= _APART else "false",
        **({"opacity": 0.8, "outline": 0.5} if both.size <= 2 * _FEW else {"opacity": 0.5, "outline": 0}),
    }  # fmt: skip


def _mean_place(mean: float) -> dict[str, Any]:
    """Where no bar is: above the line at the right, or below it at the left."""
    if mean >= 0:
        return {"meanx": "width", "meanalign": "right", "meanside": -7}
    return {"meanx": 2, "meanalign": "left", "meanside": 9}


def size_words(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the sizes of the points of a scatter plot, by number of queries, up to a limit.

    Examples
    --------
    >>> size_words([{"count": 3}, {"count": 1}])
    {'most': 3, 'sizes': [44, 132]}
    """
    most = max((int(row["count"]) for row in rows), default=1)
    least = 44 if len(rows) <= _FEW else 26 if len(rows) <= 10 * _FEW else 16
    return {"most": max(most, 2), "sizes": [least, min(least * max(most, 2), _LARGEST)]}
