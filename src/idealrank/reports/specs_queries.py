"""Figures of values by query: how they are distributed; and what all figures of two runs share. Nothing is drawn."""

import math
from collections.abc import Sequence

import numpy as np

from idealrank.data.types import BoolArray, FloatArray, IntArray
from idealrank.reports.digits import USUAL
from idealrank.reports.theme import SCHEMA_URL, Row, Spec, config

_STEPS = 300  # corners of a line of shares: more than that are less than two pixels apart
EQUAL = 1e-12
"""Of the largest value of two runs: a difference that is no larger is rounding, and none, as in comparisons."""
_DIGITS = 6
_HALF = 0.5
_SIDES = ["better", "worse", "equal"]

COUNTED = "Of @n queries, @b is better on @wins, worse on @losses and equal on @ties."
SIGNED: Spec = {"format": "+.2~f", "labelExpr": "datum.value === 0 ? '0' : datum.label"}


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
    for run, role, found in values:
        shares = (found.size - np.searchsorted(np.sort(found), every, side="left")) / max(found.size, 1)
        rows += [
            {"run": run, "role": role, "value": round(value, _DIGITS), "share": round(share, _DIGITS)}
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
        "strokeWidth": {"field": "role", "type": "ordinal", "scale": {"domain": roles, "range": [1, 1.8, 2.2]}, "legend": None},
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
        {"field": "b", "type": "quantitative", "title": "b", "format": ".1%"},
        {"field": "a", "type": "quantitative", "title": "a", "format": ".1%"},
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
    largest = float(np.abs([a[both], b[both]]).max(initial=0.0))
    return both, np.where(np.abs(difference) <= EQUAL * largest, 0.0, difference)


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
