"""Figures of values by query: how they are distributed; and what all figures of two runs share. Nothing is drawn."""

import math
from collections.abc import Sequence

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.reports.figures.theme import SCHEMA_URL, Row, Spec, config
from idealrank.reports.table.digits import USUAL
from idealrank.stats.tolerance import ROUNDING

_STEPS = 300  # corners of a line of shares: more than that are less than two pixels apart
_DIGITS = 6
_HALF = 0.5
_SIDES = ["better", "worse", "equal"]
_OTHER_DASHES = ([1, 0], [2, 2], [6, 2, 1, 2], [1, 3])
_DASHES = {"b": [1, 0], "a": [7, 3]} | {str(place): pattern for place, pattern in enumerate(_OTHER_DASHES)}
_MOST_TOLD = 12  # runs whose shares the pointer tells
_SAMPLE = 24  # pixels of a line beside its name

COUNTED = "Of @n queries, @b is better on @wins, worse on @losses and equal on @ties."
SIGNED: Spec = {"format": "+.2~f", "labelExpr": "datum.value === 0 ? '0' : datum.label"}


def line_of(role: str, place: int) -> str:
    """Return a key for a run's line that no name can equal: "a" and "b" of the pair, else "r" and its place.

    Examples
    --------
    >>> line_of("b", 1), line_of("other", 7)
    ('b', 'r7')
    """
    return role if role in ("a", "b") else f"r{place}"


def dash_of(role: str, place: int) -> str:
    """Return the dash pattern of a line: "b" none, "a" long dashes, the others in turn.

    Examples
    --------
    >>> dash_of("a", 0), dash_of("other", 7)
    ('a', '3')
    """
    return role if role in ("a", "b") else str(place % len(_OTHER_DASHES))


def distribution_rows(values: Sequence[tuple[str, str, FloatArray]], least: float = math.nan) -> list[Row]:
    """For each run the share of its queries that reach a value, at every value at which a share changes.

    The area below the line of a run is its mean, for values from 0 up.

    Parameters
    ----------
    values : sequence of (run, role, float array)
        Values that count; the role is "a", "b" or "other".
    least : float
        The lowest that the measure can give, where lines begin; NaN or infinite where there is none.

    Examples
    --------
    >>> [(row["value"], row["share"]) for row in distribution_rows([("bm25", "a", np.array([0.0, 0.5, 0.5, 1.0]))])]
    [(0.0, 1.0), (0.5, 0.75), (1.0, 0.25)]
    """
    begin = [np.array([least])] if math.isfinite(least) else []
    every = np.unique(np.concatenate([np.zeros(0), *begin, *(one for _, _, one in values)]))
    if every.size > _STEPS:
        every = every[np.unique(np.floor(np.linspace(0, every.size - 1, _STEPS) + 0.5).astype(np.int64))]
    rows = []
    for place, (run, role, found) in enumerate(values):
        line = {"run": run, "role": role, "line": line_of(role, place), "dash": dash_of(role, place)}
        shares = (found.size - np.searchsorted(np.sort(found), every, side="left")) / max(found.size, 1)
        rows += [
            line | {"value": round(value, _DIGITS), "share": round(share, _DIGITS)}
            for value, share in zip(every.tolist(), shares.tolist(), strict=True)
        ]
    return rows


def half_said(rows: Sequence[Row]) -> str:
    """The highest value that half of the queries reach, in words, of the run in colour and of the one it is held against.

    Examples
    --------
    >>> half_said(distribution_rows([("bm25", "b", np.array([0.0, 0.5, 1.0]))]))
    '0.5000 by bm25'
    """
    reached = {(row["role"], row["run"]): row["value"] for row in rows if row["share"] >= _HALF}
    return " and ".join(f"{value:.4f} by {run}" for (role, run), value in sorted(reached.items(), reverse=True) if role in ("a", "b"))


def distribution_template(*, runs: int) -> Spec:
    """Lines of shares: that of b in the accent colour, that of a in grey and dashed, the others thin.

    Parameters
    ----------
    runs : int
        How many there are.

    Examples
    --------
    >>> distribution_template(runs=2)["layer"][0]["mark"]["interpolate"]
    'step-before'
    """
    names = [("@shortb", "@accent", "b"), ("@shorta", "@run", "a"), ("other runs", "@axis", "0")][: min(runs, 3)]
    labels = [part for at, named in enumerate(names) for part in _label(*named, at)]
    counted = COUNTED if runs > 1 else "@n queries."
    return {
        "$schema": SCHEMA_URL,
        "description": f"How many queries reach each value of @measure; half of them reach @half. {counted}",
        "usermeta": {"height": 210},
        "data": {"name": "rows"},
        "encoding": {
            "x": {
                "field": "value", "type": "quantitative", "title": "@measure", "scale": {"domain": "@domain", "nice": False},
                "axis": {"tickCount": 5},
            },
            "y": {
                "field": "share", "type": "quantitative", "title": "queries that reach this value",
                "scale": {"domain": [0, 1]}, "axis": {"format": ".0%", "tickCount": 5},
            },
        },
        "layer": [{"mark": {"type": "line", "interpolate": "step-before"}, "encoding": by_role()}, *labels, *_pointed(runs)],
        "config": config(),
    }  # fmt: skip


def by_role(channel: str = "color") -> Spec:
    """Colours, widths, dashes and order of the lines of runs by their role: the pair stands out in shades of grey, too.

    Examples
    --------
    >>> by_role()["color"]["scale"]["domain"]
    ['other', 'a', 'b']
    """
    roles = ["other", "a", "b"]
    scale = {"domain": roles, "range": ["@axis", "@run", "@accent"]}
    return {
        channel: {"field": "role", "type": "nominal", "scale": scale, "legend": None},
        # The width of a line: `strokeWidth` would give way to the config; without its type the scale would space widths evenly.
        "size": {"field": "role", "type": "ordinal", "scale": {"type": "ordinal", "domain": roles, "range": [1, 1.8, 2.2]}, "legend": None},
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
    text = {"type": "text", "align": "right", "dx": -_SAMPLE - 8, "color": ink, "fontWeight": "normal" if at else "bold"}
    line = {"type": "rule", "color": colour, "strokeDash": _DASHES[dash], "strokeWidth": (2.2, 1.8, 1)[at], "xOffset": -_SAMPLE}
    ends = {"x": {"value": "width"}, "x2": {"value": "width"}, "y": {"value": y}}
    return [
        {"data": {"values": [{}]}, "mark": line | {"aria": False}, "encoding": ends},
        {
            # The name comes in as data: as a text of the mark itself, "toString" and the like are looked up, and break the drawing.
            "data": {"values": [{"name": name}]},
            "mark": text | {"aria": False},
            "encoding": {"x": {"value": "width"}, "y": {"value": y}, "text": {"field": "name"}},
        },
    ]


def _pointed(runs: int) -> list[Spec]:
    """A rule at the value nearest to the pointer, with the shares there; the names of other runs than a and b come in with the pointer."""
    nearest = {
        "name": "pointer", "select": {"type": "point", "fields": ["value"], "nearest": True, "on": "pointermove", "clear": "pointerout"},
    }  # fmt: skip
    shown = {"condition": {"param": "pointer", "empty": False, "value": 1}, "value": 0}
    lines = ["b", "a"][: min(runs, 2)] + [f"r{place}" for place in range(min(max(runs - 2, 0), _MOST_TOLD))]
    tip = [{"field": "value", "type": "quantitative", "title": "reach", "format": ".4~f"}]
    tip += [{"field": line, "type": "quantitative", "title": line, "format": ".1%"} for line in lines]
    return [
        {
            "transform": [{"pivot": "line", "value": "share", "groupby": ["value"]}],
            "mark": {"type": "rule", "aria": False},
            "params": [nearest],
            "encoding": {"y": None, "tooltip": tip, "opacity": shown},
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
    largest = float(np.abs([a[both], b[both]]).max(initial=0.0))
    return both, np.where(np.abs(difference) <= ROUNDING * largest, 0.0, difference)


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


def signed(value: float, places: int = USUAL) -> str:
    r"""A difference with so many decimals and a minus sign as wide as a plus.

    Examples
    --------
    >>> signed(0.25), ascii(signed(-0.25))
    ('+0.2500', "'\\u22120.2500'")
    """
    return f"{value:+.{places}f}".replace("-", "\u2212")


def side_of(difference: float, direction: int = 1) -> str:
    """Return the side of b in a difference b - a.

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
