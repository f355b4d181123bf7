"""Figures 1 to 4 of Wang et al. (2013), and theory against simulation, as Vega-Lite specifications:
from numbers to plain dicts.
"""

import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.errors import OptionError
from idealrank.pages.figures.theme import LIGHT, SCHEMA_URL, Spec, spread_out, titled_config

# Okabe and Ito's colours, told apart by people who see few of them; grey is for what is random.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
_CHANCE = "#767676"
_WIDTH, _HEIGHT = 500, 290  # of a figure, in pixels
_PANEL = 262  # width of each of two panels
_FIELD_SIGNS = re.compile(r"[\\.\[\]'\"]")  # which Vega would take for a path into a record
_LABEL_GAP = 13.5  # pixels between the names of two lines
_DIGITS = 5  # of a value in a specification: finer than a pixel of any axis
_ENLARGED_FROM = 0.2  # share of the documents from which on the enlarged panel looks


@dataclass(frozen=True, kw_only=True)
class PaperFigure:
    """One figure of the paper."""

    number: int  # As in the paper's appendix A
    measure: str  # On its y axis
    title: str  # Discount and cutoff, in words
    theory: str  # Its theorems, in words
    enlarged: bool = False  # Whether a second panel stretches the values of long lists


FIGURES: Mapping[int, PaperFigure] = {
    figure.number: figure
    for figure in (
        PaperFigure(
            number=1,
            measure="nDCG",
            title="NDCG with the logarithmic discount, D(r) = 1 / log(1 + r)",
            theory="Theorem 4: every ranker converges to 1. Theorem 6: from some n on, one ranker "
            "is always ahead.",
            enlarged=True,
        ),
        PaperFigure(
            number=2,
            measure="nDCG(discount=zipf(0.5))",
            title="NDCG with the discount D(r) = 1 / \u221ar",
            theory="Theorem 7: each ranker has a limit. Theorem 8: if the limits differ, one "
            "ranker is always ahead from some n on.",
        ),
        PaperFigure(
            number=3,
            measure="nDCG(discount=geometric(2))",
            title="NDCG with the discount D(r) = 1 / 2\u02b3",
            theory="Theorem 10: the first few documents decide, so values do not converge, even on "
            "long lists.",
        ),
        PaperFigure(
            number=4,
            measure="nDCG@0.2n",
            title="NDCG@k with k = n/5 and the logarithmic discount",
            theory="Theorem 12: each ranker has a limit, and the limits distinguish the rankers.",
        ),
    )
}


@dataclass(frozen=True, kw_only=True, eq=False)
class SimulatedMeans:
    """Content of a figure: one mean value a ranker and list length."""

    sizes: IntArray  # shape (n_sizes,): documents in the list
    # shape (n_sizes,): by the ranker's name; NaN where no query has a value
    means: Mapping[str, FloatArray]
    queries: int  # Number of queries of each mean
    source: str  # Origin of the data, as a sentence of the caption


def figure_spec(figure: PaperFigure, curves: SimulatedMeans, *, interactive: bool = False) -> Spec:
    """The specification of one figure."""
    if len(curves.means) > len(_COLOURS):
        raise OptionError(
            f"found {len(curves.means)} rankers, expected at most {len(_COLOURS)}: more lines "
            f"cannot be distinguished apart"
        )
    if figure.enlarged:
        start = round(_ENLARGED_FROM * int(curves.sizes[-1]))
        near = _domain(curves, start)
        whole: Spec = {**_panel(curves, (0.0, 1.0), interactive=interactive), "width": _PANEL}
        whole["layer"] = [_frame(start, int(curves.sizes[-1]), near), *whole["layer"]]
        enlarged: Spec = {
            **_panel(curves, near, start=start, named=True, interactive=interactive),
            "width": _PANEL,
        }
        picture: Spec = {"hconcat": [whole, enlarged], "spacing": 40}
    else:
        picture = _panel(curves, _domain(curves), named=True, interactive=interactive)
    return {
        "$schema": SCHEMA_URL,
        "description": f"Figure {figure.number}. {figure.title}: {_in_words(curves)}.",
        "title": {"text": f"Figure {figure.number}. {figure.title}", "subtitle": figure.theory},
        "vconcat": [picture, _note(_caption(curves, figure), 128 if figure.enlarged else 106)],
        "config": titled_config(),
    }


def _panel(
    curves: SimulatedMeans,
    domain: tuple[float, float],
    *,
    start: int = 1,
    named: bool = False,
    interactive: bool = False,
) -> Spec:
    """The lines from list length `start` on, with their names at the right end or without."""
    names = list(curves.means)
    last = int(curves.sizes[-1])
    colours = {
        "domain": names,
        "range": [colour_of(name, place) for place, name in enumerate(names)],
    }
    layers: list[Spec] = [{"mark": {"type": "line", "clip": True}}]
    if named:
        layers.append(
            {
                "data": {"values": _names_at_end(curves, domain)},
                "mark": {"type": "text", "align": "left", "dx": 7, "fontSize": 12},
            }
        )
        layers[-1]["encoding"] = {"text": {"field": "ranker"}}
    if interactive:
        layers += _pointer(names)
    return {
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": _rows(curves, start)},
        "encoding": {
            "x": {
                "field": "n",
                "type": "quantitative",
                "title": "documents in the list, n",
                "scale": {"domain": [start, last], "nice": False, "zero": False},
                "axis": {"values": _ticks(start, last), "format": ",d"},
            },
            "y": {
                "field": "value",
                "type": "quantitative",
                "title": f"mean NDCG over {curves.queries:,} queries",
                "scale": {"domain": list(domain), "nice": False, "zero": False},
                "axis": {"tickCount": 6},
            },
            "color": {"field": "ranker", "type": "nominal", "scale": colours, "legend": None},
        },
        "layer": layers,
    }


def _ticks(start: int, last: int) -> list[int]:
    """Both ends, and round numbers between them that are not too near to an end."""
    step = _round_step((last - start) / 5)
    between = range(step * (start // step + 1), last, step)
    inside = [tick for tick in between if min(tick - start, last - tick) >= step / 2]
    return [start, *inside, last]


def colour_of(name: str, place: int) -> str:
    """The colour of the ranker at this place; one that is called random is grey."""
    return _CHANCE if name.lower().startswith("random") else _COLOURS[place]


def _rows(curves: SimulatedMeans, start: int) -> list[Spec]:
    """One row per ranker and list length, without lengths at which the mean is undefined."""
    return [
        {"n": int(n), "ranker": name, "value": round(float(value), _DIGITS)}
        for name, means in curves.means.items()
        for n, value in zip(curves.sizes, means, strict=True)
        if n >= start and not math.isnan(value)
    ]


def _names_at_end(curves: SimulatedMeans, domain: tuple[float, float]) -> list[Spec]:
    """Positions of the line names: at the ends of the lines, moved apart if they would overlap."""
    low, high = domain
    gap = _LABEL_GAP * (high - low) / _HEIGHT
    ends = {
        name: float(means[-1]) for name, means in curves.means.items() if not math.isnan(means[-1])
    }
    return [
        {"n": int(curves.sizes[-1]), "ranker": name, "value": round(place, 6)}
        for name, place in spread_out(ends, gap).items()
    ]


def _frame(start: int, last: int, domain: tuple[float, float]) -> Spec:
    """Area of the left panel that the right panel enlarges."""
    low, high = domain
    corners = [{"n": start, "to": last, "value": low, "top": high}]
    return {
        "data": {"values": corners},
        "mark": {
            "type": "rect",
            "fill": LIGHT["wash"],
            "stroke": LIGHT["axis"],
            "strokeWidth": 0.8,
        },
        "encoding": {"x2": {"field": "to"}, "y2": {"field": "top"}, "color": {"value": None}},
    }


def _pointer(names: Sequence[str]) -> list[Spec]:
    """A rule at the list length nearest to the pointer, with the values there."""
    tip = [{"field": "n", "type": "quantitative", "title": "n", "format": ",d"}]
    tip += [
        {
            "field": _FIELD_SIGNS.sub(r"\\\g<0>", name),
            "type": "quantitative",
            "format": ".4f",
            "title": name,
        }
        for name in names
    ]
    nearest = {
        "name": "pointer",
        "select": {
            "type": "point",
            "fields": ["n"],
            "nearest": True,
            "on": "pointermove",
            "clear": "pointerout",
        },
    }
    return [
        {
            "transform": [{"pivot": "ranker", "value": "value", "groupby": ["n"]}],
            "mark": {"type": "rule", "color": LIGHT["axis"]},
            "params": [nearest],
            "encoding": {
                "y": None,
                "color": None,
                "tooltip": tip,
                "opacity": {
                    "condition": {"param": "pointer", "empty": False, "value": 1},
                    "value": 0,
                },
            },
        }
    ]


def _domain(curves: SimulatedMeans, start: int = 1) -> tuple[float, float]:
    """Limits of the y axis: the values from this list length on, rounded outwards."""
    late = curves.sizes >= start
    values = np.concatenate([means[late & ~np.isnan(means)] for means in curves.means.values()])
    low = float(values.min()) if values.size else 0.0
    high = float(values.max()) if values.size else 1.0
    step = 0.05 if high - low > 0.25 else 0.01
    bottom = math.floor(low / step) * step
    top = math.ceil(high / step) * step
    return max(0.0, bottom), min(1.0, top)


def _round_step(least: float) -> int:
    """Smallest of 1, 2, 5, 10, 20, ... that is at least this number."""
    power = 10 ** math.floor(math.log10(max(least, 1.0)))
    return int(next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least))


def _caption(curves: SimulatedMeans, figure: PaperFigure) -> str:
    return (
        f"Each line is the mean over {curves.queries:,} queries of the NDCG of their first n "
        f"documents, in input order. "
        f"A query counts from its first relevant document on. "
        f"{'The right panel enlarges the grey area. ' if figure.enlarged else ''}"
        f"{curves.source}"
    )


def _note(text: str, width: int) -> Spec:
    """A caption below a figure."""
    lines = textwrap.wrap(text, width)
    mark = {
        "type": "text",
        "align": "left",
        "baseline": "top",
        "x": 0,
        "y": 0,
        "text": lines,
        "color": LIGHT["quiet"],
        "fontSize": 10.5,
    }
    return {
        "data": {"values": [{}]},
        "width": _WIDTH,
        "height": 13 * len(lines),
        "mark": mark | {"lineHeight": 13},
        "view": {"stroke": None},
    }


def _in_words(curves: SimulatedMeans) -> str:
    last = int(curves.sizes[-1])
    return "; ".join(
        f"{name} {float(means[-1]):.3f} at n = {last:,}" for name, means in curves.means.items()
    )


_SMALL_WIDTH, _SMALL_HEIGHT, _SPACE = 196, 210, 26  # of a panel of simulations, in pixels
_BLUE = LIGHT["accent"]
_BAND = LIGHT["accent"]
_DASHED = LIGHT["quiet"]
_INK = LIGHT["ink"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulated:
    """One panel: a measure of lists of growing length."""

    measure: str  # Text of the measure
    says: str  # Convergence by theory, in a few words
    sizes: IntArray  # shape (n_sizes,): documents in the list
    # shape (n_lists, n_sizes): NDCG of simulated lists; NaN where it is undefined
    values: FloatArray
    means: FloatArray  # shape (n_sizes,): N*, the mean by theory
    limit: float | None  # Their limit, if it exists


def simulated_spec(panels: Sequence[Simulated], model: str) -> Spec:
    """Panels side by side on one scale."""
    lists = panels[0].values.shape[0]
    caption = (
        f"Blue line: N*, the theoretical mean. Dots: means of {lists:,} simulated lists; the band "
        "holds 90 % of them. Dashed line: the limit, if it exists. Each list is of one query, not "
        "a mean over queries."
    )
    width = len(panels) * (_SMALL_WIDTH + _SPACE)
    lines = textwrap.wrap(caption, width // 5)
    mark = {
        "type": "text",
        "align": "left",
        "baseline": "top",
        "x": 0,
        "y": 0,
        "text": lines,
        "color": "#666666",
        "fontSize": 10.5,
        "lineHeight": 13,
    }
    note = {
        "data": {"values": [{}]},
        "width": width,
        "height": 13 * len(lines),
        "mark": mark,
        "view": {"stroke": None},
    }
    return {
        "$schema": SCHEMA_URL,
        "description": f"Theory against simulation: "
        f"{'; '.join(f'{panel.measure} {panel.says}' for panel in panels)}.",
        "title": {
            "text": "Convergence of NDCG as the list of one query grows",
            "subtitle": f"Probability of relevance at canonical score s: {model}",
        },
        "vconcat": [
            {"hconcat": [_simulated_panel(panel) for panel in panels], "spacing": _SPACE},
            note,
        ],
        "config": titled_config(),
    }


def _simulated_panel(panel: Simulated) -> Spec:
    low = np.nanquantile(panel.values, 0.05, axis=0)
    middle = np.nanmean(panel.values, axis=0)
    high = np.nanquantile(panel.values, 0.95, axis=0)
    columns = {"low": low, "mean": middle, "high": high, "theory": panel.means}
    rows = []
    for index, n in enumerate(panel.sizes.tolist()):
        numbers = {name: round(float(column[index]), 5) for name, column in columns.items()}
        rows.append({"n": n, **numbers})
    y = {
        "type": "quantitative",
        "title": "NDCG of one query",
        "scale": {"domain": [0.4, 1]},
        "axis": {"tickCount": 6},
    }
    layers: list[Spec] = [
        {
            "mark": {"type": "area", "color": _BAND, "opacity": 0.16},
            "encoding": {"y": y | {"field": "low"}, "y2": {"field": "high"}},
        },
        {"mark": {"type": "line", "color": _BLUE}, "encoding": {"y": y | {"field": "theory"}}},
        {
            "mark": {"type": "circle", "color": _INK, "size": 13, "opacity": 1},
            "encoding": {"y": y | {"field": "mean"}},
        },
    ]
    if panel.limit is not None:
        line = {"type": "rule", "color": _DASHED, "strokeDash": [5, 4], "strokeWidth": 1.2}
        layers.append(
            {
                "data": {"values": [{"limit": round(panel.limit, 6)}]},
                "mark": line,
                "encoding": {"x": None, "y": y | {"field": "limit"}},
            }
        )
    head = {"text": panel.measure, "subtitle": panel.says, "fontSize": 12, "subtitleFontSize": 11}
    ticks = [10**power for power in range(1, 10) if panel.sizes[0] <= 10**power <= panel.sizes[-1]]
    scale = {"type": "log", "domain": [int(panel.sizes[0]), int(panel.sizes[-1])]}
    axis = {"values": ticks, "format": "~s"}
    return {
        "width": _SMALL_WIDTH,
        "height": _SMALL_HEIGHT,
        "title": head,
        "data": {"values": rows},
        "layer": layers,
        "encoding": {
            "x": {
                "field": "n",
                "type": "quantitative",
                "scale": scale,
                "axis": axis,
                "title": "documents in the list, n",
            }
        },
    }
