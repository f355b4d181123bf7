"""Figure of the distribution of values by query: the share of each run's queries that reach a
value. Nothing is drawn.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from idealrank.data.types import FloatArray
from idealrank.pages.figures.query_values import COUNTED, evenly
from idealrank.pages.figures.theme import SCHEMA_URL, Row, Spec, config

_DIGITS = 6  # of a value, after the point
_STEPS = 300  # corners of a line of shares: more than that are less than two pixels apart
_HALF = 0.5
# Dash patterns in pixels of line and gap, by the key of `dash_of`.
_OTHER_DASHES = ([1, 0], [2, 2], [6, 2, 1, 2], [1, 3])
_DASHES = {"b": [1, 0], "a": [7, 3]} | {
    str(place): pattern for place, pattern in enumerate(_OTHER_DASHES)
}
_MOST_TOLD = 12  # other runs whose shares the pointer shows
_SAMPLE = 24  # pixels of a line beside its name


def line_of(role: str, place: int) -> str:
    """Return a key for a run's line that no name can equal: "a" and "b" of the pair, else "r" and
    its place.
    """
    return role if role in ("a", "b") else f"r{place}"


def dash_of(role: str, place: int) -> str:
    """Return the dash pattern of a line: "b" none, "a" long dashes, the others in turn."""
    return role if role in ("a", "b") else str(place % len(_OTHER_DASHES))


class CountedValues(NamedTuple):
    """Values of a run that count, with its name and its role: "a", "b" or "other"."""

    name: str
    role: str
    values: FloatArray


def distribution_rows(runs: Sequence[CountedValues], least: float = math.nan) -> list[Row]:
    """Make rows of the share of each run's queries that reach a value, at every value at which a
    share changes.

    The area below the line of a run is its mean, for values from 0 up.
    """
    begin = [np.array([least])] if math.isfinite(least) else []
    of_runs = [run.values for run in runs]
    corners = np.unique(np.concatenate([np.zeros(0), *begin, *of_runs]))
    if corners.size > _STEPS:
        corners = corners[evenly(corners.size - 1, _STEPS)]
    rows = []
    for place, run in enumerate(runs):
        line = {
            "run": run.name,
            "role": run.role,
            "line": line_of(run.role, place),
            "dash": dash_of(run.role, place),
        }
        n_below = np.searchsorted(np.sort(run.values), corners, side="left")
        shares = (run.values.size - n_below) / max(run.values.size, 1)
        rows += [
            line | {"value": round(value, _DIGITS), "share": round(share, _DIGITS)}
            for value, share in zip(corners.tolist(), shares.tolist(), strict=True)
        ]
    return rows


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
    labels: list[Spec] = []
    for place, entry in enumerate(_LEGEND[:runs]):
        labels += _label(entry, place)
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


class _LegendEntry(NamedTuple):
    name: str
    colour: str
    dash: str  # Key of its pattern in `_DASHES`
    width: float  # As in `by_role`


_LEGEND = (
    _LegendEntry(name="@shortb", colour="@accent", dash="b", width=2.2),
    _LegendEntry(name="@shorta", colour="@run", dash="a", width=1.8),
    _LegendEntry(name="other runs", colour="@axis", dash="0", width=1),
)


def _label(entry: _LegendEntry, place: int) -> list[Spec]:
    """The name of a run and a piece of its line, at the upper right, where shares are low."""
    y = 10 + 17 * place
    # The grey of axes is too light for text.
    ink = "@quiet" if entry.colour == "@axis" else entry.colour
    text = {
        "type": "text",
        "align": "right",
        "dx": -_SAMPLE - 8,
        "color": ink,
        "fontWeight": "normal" if place else "bold",
    }
    line = {
        "type": "rule",
        "color": entry.colour,
        "strokeDash": _DASHES[entry.dash],
        "strokeWidth": entry.width,
        "xOffset": -_SAMPLE,
    }
    ends = {"x": {"value": "width"}, "x2": {"value": "width"}, "y": {"value": y}}
    return [
        {"data": {"values": [{}]}, "mark": line | {"aria": False}, "encoding": ends},
        {
            # The name comes in as data: as a text of the mark itself, "toString" and the like are
            # looked up, and break the drawing.
            "data": {"values": [{"name": entry.name}]},
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
    opacity = {"condition": {"param": "pointer", "empty": False, "value": 1}, "value": 0}
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
            "encoding": {"y": None, "tooltip": tip, "opacity": opacity},
        }
    ]
