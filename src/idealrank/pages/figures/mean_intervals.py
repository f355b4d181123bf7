"""Figures of means with their intervals: by run and by cutoff. Nothing is drawn."""

import math
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from idealrank.analysis.comparison import RunMean
from idealrank.pages.figures.theme import SCHEMA_URL, Row, Spec, config, spread_out
from idealrank.pages.figures.value_shares import by_role, dash_of, line_of
from idealrank.reports.subject import CutoffCurve
from idealrank.reports.table import cells
from idealrank.reports.table.short_names import NARROW, WIDE, told_apart

_DIGITS = 6
_CURVE_HEIGHT = 230
_THREAD = 14  # pixels between the end of a line and the name of its run
_GAP = 15.0  # pixels between the names of two lines


def means_rows(
    means: Mapping[str, Mapping[str, RunMean]], directions: Mapping[str, int]
) -> list[Row]:
    """Make a row for each measure and run; the best run first if there are more than two."""
    rows = []
    for measure, runs in means.items():
        places = cells.decimals(run_mean.interval for run_mean in runs.values())
        order = list(runs)
        direction = directions.get(measure, 1)
        if len(runs) > 2:
            order.sort(key=lambda run: -direction * runs[run].mean)
        names = names_by_width(list(runs))
        for run in order:
            mean, (low, high) = runs[run].mean, runs[run].interval
            row = {
                "measure": measure,
                "run": run,
                "mean": number(mean),
                "low": number(low),
                "high": number(high),
                "n": runs[run].n,
            }
            brief = f"{mean:.{places}f}"
            ends = ""
            if math.isfinite(low) and math.isfinite(high):
                ends = f"[{low:.{places}f}, {high:.{places}f}]"
            rows.append(row | names[run] | {"brief": brief, "text": f"{brief}  {ends}".rstrip()})
    return rows


def names_by_width(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Shorten names for figures: beside a wide panel, and beside a narrow one."""
    labels = told_apart(names, WIDE)
    shorts = told_apart(names, NARROW)
    return {
        name: {"label": label, "short": short}
        for name, label, short in zip(names, labels, shorts, strict=True)
    }


def number(value: float) -> float | None:
    """Round a number for a row to six digits after the point; None if it is not finite."""
    return round(value, _DIGITS) if math.isfinite(value) else None


def means_template(level: float) -> Spec:
    """Draw a dot for each run with its interval, and the numbers beside it."""
    y = {"field": "@names", "type": "nominal", "sort": None, "title": None, "axis": names_axis(200)}
    x = {
        "field": "mean",
        "type": "quantitative",
        "title": f"mean @measure with its {100 * level:g} % interval",
        "scale": {"zero": False, "nice": True},
        "axis": {"tickCount": 5, "grid": True},
    }
    return {
        "$schema": SCHEMA_URL,
        "description": "Means by @measure with intervals. @said",
        "usermeta": {"height": {"step": 26}},
        "data": {"name": "rows"},
        "transform": _ENDS,
        "encoding": {"x": x, "y": y, "color": _role_colour()},
        "layer": [
            {
                "mark": {"type": "rule", "opacity": 0, "aria": False},
                "encoding": {"x": {"field": "left", **_AGAIN}, "x2": {"field": "right"}},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 1.8, "aria": False},
                "encoding": {"x": {"field": "from", **_AGAIN}, "x2": {"field": "to"}},
            },
            {
                "mark": {"type": "circle", "size": 62, "opacity": 1},
                "encoding": {"tooltip": _mean_tip()},
            },
            beside(),
        ],
        "config": config(),
    }


_AGAIN: Spec = {"type": "quantitative"}
# Room about a mean without an interval, since Vega numbers an axis of no length wrongly.
_ALONE = "(abs(datum.mean) / 10 || 0.05)"
_ENDS = [
    {"calculate": calculated, "as": name}
    for name, calculated in {
        "from": "datum.low === null ? datum.mean : datum.low",
        "to": "datum.high === null ? datum.mean : datum.high",
        "left": f"datum.from < datum.to ? datum.from : datum.mean - {_ALONE}",
        "right": f"datum.from < datum.to ? datum.to : datum.mean + {_ALONE}",
    }.items()
]


def _role_colour() -> Spec:
    """Colours of dots by role. They differ from the colours of lines in one: other runs are as dark
    as a, since a dot has less ink than a line.
    """
    return {
        "field": "role",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": ["other", "a", "b"], "range": ["@run", "@run", "@accent"]},
    }


def _mean_tip() -> list[Spec]:
    return [
        {"field": "run", "type": "nominal", "title": "run"},
        {"field": "text", "type": "nominal", "title": "mean"},
        {"field": "n", "type": "quantitative", "title": "queries", "format": ",d"},
    ]


def names_axis(limit: int) -> Spec:
    """An axis of names, as dark as text."""
    return {
        "grid": False,
        "labelColor": "@ink",
        "labelLimit": limit,
        "labelFontSize": 12,
        "labelPadding": 8,
    }


def beside() -> Spec:
    """Numbers at the right, in a column of their own: with the interval where there is room."""
    mark = {
        "type": "text",
        "align": "left",
        "dx": 12,
        "fontSize": 11.5,
        "color": "@ink",
        "aria": False,
    }
    return {
        "mark": mark,
        "encoding": {
            "x": {"value": "width"},
            "text": {"field": "@numbers"},
            "color": {"value": "@ink"},
        },
    }


def cutoff_rows(curves: Sequence[CutoffCurve]) -> list[Row]:
    """Make a row for each measure, run and cutoff."""
    rows = []
    for curve in curves:
        heights = label_heights(curve)
        names = names_by_width(list(curve.means))
        for place, (run, means) in enumerate(curve.means.items()):
            line = {"line": line_of("other", place), "dash": dash_of("other", place)}
            for cutoff, mean in zip(curve.cutoffs, means, strict=True):
                low, high = mean.interval
                row = {
                    "measure": curve.measure,
                    "run": run,
                    "cutoff": cutoff,
                    "mean": number(mean.mean),
                    "low": number(low),
                    "high": number(high),
                    "place": number(heights[run]),
                }
                rows.append(row | names[run] | line | {"last": cutoff == curve.cutoffs[-1]})
    return rows


def label_heights(curve: CutoffCurve) -> dict[str, float]:
    """Choose heights for the names of runs: the ends of their lines, moved apart where names would
    cover each other.
    """
    low, high = curve_domain(curve)
    ends = {run: means[-1].mean for run, means in curve.means.items()}
    return spread_out(ends, _GAP * (high - low) / _CURVE_HEIGHT)


def curve_domain(curve: CutoffCurve) -> tuple[float, float]:
    """Limits of the axis of means, intervals included, to the next round number."""
    means = list(chain.from_iterable(curve.means.values()))
    values = chain.from_iterable((mean.mean, *mean.interval) for mean in means)
    finite = list(filter(math.isfinite, values))
    low = min(finite, default=0.0)
    high = max(finite, default=1.0)
    # Half a power of ten; a value that is round but for its last bits is not moved a step further.
    step = 10 ** math.floor(math.log10(max(high - low, 1e-9))) / 2
    bottom = math.floor(low / step + 1e-9) * step
    top = math.ceil(high / step - 1e-9) * step + (step if high == low else 0)
    return round(bottom, 9), round(top, 9)


def cutoffs_template(level: float, cutoffs: Sequence[int]) -> Spec:
    """Draw lines over cutoffs, and bands about the lines of a and b. A thread joins the end of each
    line to the name of its run.
    """
    x = {
        "field": "cutoff",
        "type": "quantitative",
        "title": "cutoff",
        "scale": {"type": "log", "nice": False, "domain": "@ends"},
        "axis": {"values": list(cutoffs), "grid": False, "format": ",d", "labelOverlap": True},
    }
    y = {
        "field": "mean",
        "type": "quantitative",
        "title": f"mean @curve, {100 * level:g} % interval",
        "scale": {"domain": "@domain", "nice": False, "zero": False},
        "axis": {"tickCount": 5},
    }
    tip = [
        {"field": "run", "type": "nominal"},
        {"field": "cutoff", "type": "quantitative", "format": ",d"},
        {"field": "mean", "type": "quantitative", "format": ".4f"},
    ]
    sizes = {"type": "ordinal", "domain": ["other", "a", "b"], "range": [12, 36, 36]}
    return {
        "$schema": SCHEMA_URL,
        "description": "Mean @curve by cutoff. @said",
        "usermeta": {"height": _CURVE_HEIGHT},
        "data": {"name": "rows"},
        "encoding": {"x": x, "y": y},
        "layer": [
            {
                "transform": [{"filter": "datum.role !== 'other'"}],
                "mark": {"type": "area", "opacity": 0.13, "aria": False},
                "encoding": {
                    "y": {"field": "low", **_AGAIN},
                    "y2": {"field": "high"},
                    "color": _role_colour(),
                    "detail": {"field": "line"},
                },
            },
            {"mark": {"type": "line", "aria": False}, "encoding": by_role()},
            {
                "mark": {"type": "circle", "size": 36, "opacity": 1},
                "encoding": {
                    "color": by_role()["color"],
                    "tooltip": tip,
                    "size": {"field": "role", "type": "ordinal", "legend": None, "scale": sizes},
                },
            },
            *_ends_of_lines(),
        ],
        "resolve": {"scale": {"color": "independent", "size": "independent"}},
        "config": config(),
    }


def _ends_of_lines() -> list[Spec]:
    """The name of each run beside the end of its line, and a thread that leads to it, since names
    are moved apart.
    """
    scale = {"domain": ["other", "a", "b"], "range": ["@quiet", "@run", "@accent"]}
    name = {"type": "text", "align": "left", "dx": _THREAD + 4, "limit": 200, "aria": False}
    return [
        {
            "transform": [{"filter": "datum.last"}],
            "mark": {"type": "rule", "strokeWidth": 0.8, "aria": False},
            "encoding": {
                "x2": {"value": {"expr": f"width + {_THREAD}"}},
                "y2": {"field": "place"},
                "color": by_role()["color"],
            },
        },
        {
            "transform": [{"filter": "datum.last"}],
            "mark": name,
            "encoding": {
                "y": {"field": "place", "type": "quantitative"},
                "text": {"field": "@names"},
                "color": {"field": "role", "type": "nominal", "legend": None, "scale": scale},
            },
        },
    ]


def curve_words(curve: CutoffCurve) -> dict[str, Any]:
    """Return the words for the template of one curve."""
    first, last = curve.cutoffs[0], curve.cutoffs[-1]
    sentences = []
    for run, means in curve.means.items():
        start = cells.number(means[0].mean)
        end = cells.number(means[-1].mean)
        sentences.append(f"{run} from {start} at {first:,} to {end} at {last:,}")
    ends = [first, last if last > first else last + 1]
    return {
        "curve": curve.measure,
        "said": f"{'; '.join(sentences)}.",
        "domain": list(curve_domain(curve)),
        "ends": ends,
    }
