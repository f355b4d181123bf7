"""The figure of `idealrank measures choose` as a Vega-Lite specification: two small panels, cutoffs
on x, a line a discount.
"""

import textwrap
from typing import Any

from idealrank.analysis.tuning import Choice, Setting
from idealrank.errors import OptionError
from idealrank.pages.figures.theme import LIGHT, SCHEMA_URL, Spec, titled_config

# Okabe and Ito's colours, with dashes and shapes: nothing depends on colour alone.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_DASHES = ([1, 0], [6, 2], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3], [10, 3])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "triangle-down", "cross", "triangle-right")
_INK = LIGHT["ink"]
_GREY = LIGHT["quiet"]
_SHADE = LIGHT["wash"]
_STEP, _HEIGHT = 32, 230  # pixels of a cutoff, and of a panel
_SAMPLE, _LETTER = 28, 6.6  # pixels of a line in the key, and of a letter
_PANELS = (
    ("swap rate", "Swap rate", "lower is better"),
    ("share", "Share of significant pairs", "higher is better"),
)


def choice_spec(choice: Choice, *, interactive: bool = False) -> Spec:
    """Make the specification of the figure."""
    if len(choice.discounts) > len(_COLOURS):
        raise OptionError(
            f"found {len(choice.discounts)} discounts, expected at most {len(_COLOURS)} in a "
            f"figure: more lines cannot be distinguished"
        )
    panels = [_panel(choice, *panel, interactive=interactive) for panel in _PANELS]
    return {
        "$schema": SCHEMA_URL,
        "description": f"Swap rate and share of significant pairs by discount and cutoff. "
        f"{choice.recommendation}",
        "title": {
            "text": "Which discount and cutoff distinguish these runs",
            "subtitle": f"{len(choice.names)} runs, {choice.n:,} queries",
        },
        "data": {"values": [_row(setting, choice) for setting in choice.settings]},
        "vconcat": [
            _key(choice),
            {"hconcat": panels, "spacing": 58, "bounds": "flush"},
            _note(choice),
        ],
        "config": titled_config(),
    }


def _row(setting: Setting, choice: Choice) -> Spec:
    return {
        "measure": setting.measure,
        "discount": setting.discount,
        "cutoff": setting.depth,
        "swap rate": round(setting.swap_rate, 5),
        "share": round(setting.share, 5),
        "unjudged": round(setting.unjudged, 4),
        "told": "as good as the best" if setting.as_good else "not",
        "recommended": setting.measure == choice.recommended.measure,
    }


def _panel(choice: Choice, field: str, title: str, better: str, *, interactive: bool) -> Spec:
    x = {
        "field": "cutoff",
        "type": "ordinal",
        "title": "cutoff",
        "sort": list(choice.depths),
        "scale": {"type": "point", "padding": 0.6},
        "axis": {
            "labelAngle": 0,
            "labelOverlap": False,
            "labelFontSize": 10.5,
            "labelExpr": "replace(datum.label, '@', '')",
        },
    }
    y: Spec = {"field": field, "type": "quantitative", "title": None, **_scale(choice, field)}
    colour = _by_discount(choice, _COLOURS)
    dashes = _by_discount(choice, _DASHES)
    line = {
        "mark": {"type": "line", "strokeWidth": 1.5},
        "encoding": {"color": colour, "strokeDash": dashes},
    }
    ring = {
        "transform": [{"filter": "datum.recommended"}],
        "mark": {
            "type": "point",
            "shape": "circle",
            "size": 210,
            "stroke": _INK,
            "strokeWidth": 1.4,
            "fill": None,
        },
    }
    return {
        "width": _STEP * len(choice.depths),
        "height": _HEIGHT,
        "title": {
            "text": title,
            "subtitle": better,
            "fontSize": 12.5,
            "subtitleFontSize": 11,
            "offset": 8,
        },
        "encoding": {"x": x, "y": y},
        "layer": [*_shade(choice), line, _points(choice, field, interactive=interactive), ring],
    }


def _scale(choice: Choice, field: str) -> Spec:
    """Limits and ticks of a y axis, with room for a mark at the top."""
    top = 1.0 if field == "share" else max(setting.swap_rate for setting in choice.settings) or 0.5
    return {"scale": {"domain": [0, 1.06 * top], "nice": False}, "axis": {"tickCount": 5}}


def _points(choice: Choice, field: str, *, interactive: bool) -> Spec:
    """Make a mark for each setting; for swap rates an empty one if it differs from the best."""
    colour = _by_discount(choice, _COLOURS)
    shape = _by_discount(choice, _SHAPES)
    points: Spec = {
        "mark": {"type": "point", "size": 42, "strokeWidth": 1.5, "opacity": 1},
        "encoding": {"color": colour, "shape": shape, "fill": colour},
    }
    if field == "swap rate":
        points["encoding"]["fill"] = {
            "condition": {"test": "datum.told == 'as good as the best'", **colour},
            "value": "white",
        }
    if interactive:
        points["encoding"]["tooltip"] = [
            {"field": "measure", "type": "nominal"},
            {"field": "swap rate", "type": "quantitative", "format": ".3f"},
            {
                "field": "share",
                "type": "quantitative",
                "format": ".2f",
                "title": "significant pairs",
            },
            {"field": "unjudged", "type": "quantitative", "format": ".0%"},
        ]
    return points


def _by_discount(choice: Choice, values: tuple[Any, ...]) -> Spec:
    """Encode one value for each discount; the legend is drawn once, above."""
    names = list(choice.discounts)
    return {
        "field": "discount",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": names, "range": list(values[: len(names)])},
    }


def _shade(choice: Choice) -> list[Spec]:
    """Shade cutoffs that are not considered."""
    # settings of one depth are considered together; the first of each decides
    considered = {setting.depth: setting.considered for setting in reversed(choice.settings)}
    grey = [depth for depth in choice.depths if not considered[depth]]
    if not grey:
        return []
    band: Spec = {
        "data": {"values": [{"cutoff": depth} for depth in grey]},
        "mark": {"type": "bar", "color": _SHADE, "width": _STEP},
        "encoding": {"y": {"value": 0}, "y2": {"value": _HEIGHT}},
    }
    return [band]


def _key(choice: Choice) -> Spec:
    """Draw the key of lines and ring above the panels."""
    rows = []
    at = 0.0
    for discount in choice.discounts:
        rows.append(
            {
                "discount": discount,
                "at": at,
                "to": at + _SAMPLE,
                "mid": at + _SAMPLE / 2,
                "text": at + _SAMPLE + 6,
            }
        )
        at += _SAMPLE + 30 + _LETTER * len(discount)
    scale: Spec = {
        "type": "quantitative",
        "axis": None,
        "scale": {"domain": [0, _width(choice)], "nice": False, "zero": False},
    }
    colour, shape, dashes = (
        _by_discount(choice, values) for values in (_COLOURS, _SHAPES, _DASHES)
    )
    ring = {
        "type": "point",
        "shape": "circle",
        "size": 150,
        "stroke": _INK,
        "strokeWidth": 1.4,
        "fill": None,
    }
    words = {"type": "text", "align": "left", "fontSize": 12, "color": _INK}
    alone = {"data": {"values": [{"mid": at + 10, "text": at + 24}]}}
    return {
        "data": {"values": rows},
        "width": _width(choice),
        "height": 16,
        "view": {"stroke": None},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 1.5},
                "encoding": {
                    "x": {"field": "at", **scale},
                    "x2": {"field": "to"},
                    "color": colour,
                    "strokeDash": dashes,
                },
            },
            {
                "mark": {"type": "point", "size": 42, "opacity": 1},
                "encoding": {
                    "x": {"field": "mid", **scale},
                    "color": colour,
                    "fill": colour,
                    "shape": shape,
                },
            },
            {
                "mark": words,
                "encoding": {"x": {"field": "text", **scale}, "text": {"field": "discount"}},
            },
            alone | {"mark": ring, "encoding": {"x": {"field": "mid", **scale}}},
            alone
            | {
                "mark": words | {"text": f"recommended: {choice.recommended.measure}"},
                "encoding": {"x": {"field": "text", **scale}},
            },
        ],
    }


def _width(choice: Choice) -> int:
    return 2 * _STEP * len(choice.depths) + 100


def _note(choice: Choice) -> Spec:
    text = (
        f"Swap rate: how often two random sets of {choice.method.size:,} queries order two runs in "
        f"opposite ways; 0.5 is a coin toss. Filled points: not significantly different from the "
        f"best."
    )
    if not all(setting.considered for setting in choice.settings):
        text += " Grey: cutoffs at which more than a tenth of the returned documents are unjudged."
    width = _width(choice)
    lines = textwrap.wrap(text, max(width // 5, 60))
    mark = {
        "type": "text",
        "align": "left",
        "baseline": "top",
        "x": 0,
        "y": 0,
        "text": lines,
        "color": _GREY,
        "fontSize": 10.5,
    }
    return {
        "data": {"values": [{}]},
        "width": width,
        "height": 13 * len(lines),
        "mark": mark | {"lineHeight": 13},
        "view": {"stroke": None},
    }
