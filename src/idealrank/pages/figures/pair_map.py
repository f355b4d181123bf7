"""A map of all pairs of runs as a Vega-Lite specification: from a comparison to plain dicts,
nothing is drawn here.
"""

import math
import textwrap
from collections.abc import Sequence

from idealrank.analysis.comparison import Comparison, Difference
from idealrank.pages.figures.theme import SCHEMA_URL, Spec, titled_config
from idealrank.reports.table.cells import p_text
from idealrank.reports.table.text import clipped
from idealrank.reports.views.comparison.verdicts import correction_word, mark, mark_of, state_of

# Brown to blue-green through near white: ColorBrewer's BrBG, which people who see few colours tell
# apart.
_COLOURS = ("#8C510A", "#D8B365", "#F6E8C3", "#F5F5F5", "#C7EAE5", "#5AB4AC", "#01665E")
_SIDE, _LEAST, _MOST = 600, 6, 34  # pixels: of the whole map, of the smallest and largest cell
_NAME = 28  # letters of a run's name
_NAMED = 50  # runs: of more, only some have their name beside the map
_DIGITS = 5  # of a difference, after the point
_SOME = 4  # runs named in the subtitle
_TURNED = {"better": "worse", "worse": "better"}
_LINE = 92  # letters of a line of the subtitle


def pairs_spec(comparison: Comparison, measure: str) -> Spec:
    """Draw all pairs by one measure: by how much the run of the line is better than the run of the
    column, the best run first.
    """
    groups = comparison.groups(measure)
    order = list(groups.letters)
    labels = {run: f"{place}  {clipped(run, _NAME)}" for place, run in enumerate(order, 1)}
    rows = _rows(comparison, measure, labels)
    cell = max(_LEAST, min(_MOST, _SIDE // len(order)))
    largest = max((abs(row["difference"]) for row in rows), default=0.0) or 1.0
    lines = _axis("line", list(labels.values()), _steps(len(order), _NAMED))
    numbers = list(range(1, len(order) + 1))
    columns = _axis("column", numbers, _steps(len(order), _NAMED // 2))
    columns["axis"] |= {"orient": "top", "labelAngle": 0}
    return {
        "$schema": SCHEMA_URL,
        "description": _in_words(measure, order, groups.top),
        "title": {
            "text": f"All pairs of {len(order):,} runs by {measure}",
            "subtitle": _subtitle(comparison, measure, groups.top),
        },
        "data": {"values": rows},
        "width": cell * len(order),
        "height": cell * len(order),
        "encoding": {"x": columns | {"title": None}, "y": lines | {"title": None}},
        "layer": [_colours(measure, largest), _shapes("dot", cell), _shapes("cross", cell)],
        "config": titled_config()
        | {"view": {"stroke": "#BDBDBD"}, "axisX": {}, "axisY": {"domain": False}},
    }


def _rows(comparison: Comparison, measure: str, labels: dict[str, str]) -> list[Spec]:
    """Make two cells for each pair, one on each side of the diagonal."""
    place = {run: number for number, run in enumerate(labels, 1)}
    rows = []
    for pair in comparison.pairs:
        row = pair.measures[measure]
        shown = mark_of(row)
        turned = _TURNED.get(shown.word, shown.word)
        for line, column, word in ((pair.b, pair.a, shown.word), (pair.a, pair.b, turned)):
            sign = row.direction if line == pair.b else -row.direction
            # + 0.0 turns -0.0 into 0.0
            rows.append(
                {
                    "line": labels[line],
                    "column": place[column],
                    "against": labels[column],
                    "difference": round(sign * row.difference, _DIGITS) + 0.0,
                    "verdict": word,
                    "shape": shown.shape,
                    "p": p_text(row.p_corrected),
                    "interval": _interval(row, sign),
                }
            )
    return sorted(rows, key=lambda cell: (place_of(cell["line"]), cell["column"]))


def place_of(label: str) -> int:
    """Return the number at the beginning of a label."""
    return int(label.partition(" ")[0])


def _interval(row: Difference, sign: int) -> str:
    if row.about != "mean difference":
        return "-"
    low, high = sorted(sign * end for end in row.interval)
    return f"{low:+.4f} to {high:+.4f}"


def _steps(count: int, most: int) -> int:
    """Return the number of runs between two named ones, so that names fit."""
    return next(step for step in (1, 5, 10, 20, 50, 100, 1000, count) if count / step <= most)


def _axis(field: str, labels: Sequence[str | int], step: int) -> Spec:
    places = enumerate(labels, 1)
    named = [label for place, label in places if place == 1 or place % step == 0]
    axis = {
        "values": named,
        "labelLimit": 260,
        "ticks": False,
        "labelPadding": 4,
        "grid": False,
        "domain": False,
    }
    return {
        "field": field,
        "type": "ordinal",
        "sort": None,
        "scale": {"domain": list(labels), "padding": 0},
        "axis": axis,
    }


def _colours(measure: str, largest: float) -> Spec:
    tip = [
        {"field": "line", "type": "nominal", "title": "run"},
        {"field": "against", "type": "nominal", "title": "against"},
        {"field": "difference", "type": "quantitative", "title": "better by", "format": "+.4f"},
        {"field": "interval", "type": "nominal", "title": "interval"},
        {"field": "p", "type": "nominal", "title": "p, corrected"},
        {"field": "verdict", "type": "nominal"},
    ]
    scale = {"domain": [-largest, largest], "range": list(_COLOURS), "interpolate": "lab"}
    legend = {
        "title": ["row better than column,", f"in {measure}"],
        "gradientLength": 160,
        "format": "+~r",
        "values": _ticks(largest),
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "labelFontSize": 11,
        "titleColor": "#333333",
        "labelColor": "#333333",
        "titleLimit": 300,
        "offset": 14,
    }
    colour = {"field": "difference", "type": "quantitative", "scale": scale, "legend": legend}
    return {"mark": {"type": "rect", "aria": False}, "encoding": {"color": colour, "tooltip": tip}}


def _ticks(largest: float) -> list[float]:
    """Two round differences on either side of 0."""
    unit = 10.0 ** math.floor(math.log10(largest))
    most = math.floor(largest / unit) * unit
    return [round(share * most, 12) for share in (-1.0, -0.5, 0.0, 0.5, 1.0)]


def _shapes(shape: str, cell: int) -> Spec:
    """Dots, or crosses, which need more room to be seen."""
    share, vega = {"dot": (0.02, "circle"), "cross": (0.06, "cross")}[shape]
    size = max(1.2, share * cell * cell)
    point = {"type": "point", "shape": vega, "filled": True, "size": size, "color": "#5A5A5A"}
    return {
        "transform": [{"filter": f"datum.shape === '{shape}'"}],
        "mark": point | {"tooltip": False, "aria": False},
    }


def _subtitle(comparison: Comparison, measure: str, top: Sequence[str]) -> list[str]:
    runs = [clipped(run, _NAME) for run in top[:_SOME]]
    more = f" and {len(top) - _SOME:,} more" if len(top) > _SOME else ""
    sentence = f"Runs in the order of their means; {shapes_text(comparison, measure)}."
    return [*textwrap.wrap(sentence, _LINE), f"Top group (by p alone): {', '.join(runs)}{more}."]


def shapes_text(comparison: Comparison, measure: str) -> str:
    """Say what dots and crosses mark: the states that the map has, with the p values behind
    them.
    """
    rows = [pair.measures[measure] for pair in comparison.pairs]
    by_state: dict[str, list[float]] = {}
    for row in rows:
        by_state.setdefault(state_of(row), []).append(row.p_corrected)
    marked = {state: values for state, values in by_state.items() if mark(state).shape}
    method = comparison.method
    tests = sum(comparison.method.families.values())
    level = f"{1 - method.level:g} after correction for {tests:,} tests, "
    words = {
        "level": level + correction_word(method.correction),
        "margin": f"{method.margin or 0:g}",
    }
    told: dict[str, list[str]] = {"dot": [], "cross": []}
    for state, values in marked.items():
        shown = mark(state)
        caption = shown.caption.format(p=_range(values), **words)
        told[shown.shape].append(caption)
    texts = [
        f"a {shape} marks pairs {' or '.join(captions)}"
        for shape, captions in told.items()
        if captions
    ]
    return "; ".join(texts) or "each pair has a better run"


def _range(values: Sequence[float]) -> str:
    """The smallest and largest of p values."""
    ends = dict.fromkeys((p_text(min(values)), p_text(max(values))))
    return " to ".join(ends)


def _in_words(measure: str, order: Sequence[str], top: Sequence[str]) -> str:
    first = ", ".join(clipped(run, _NAME) for run in order[:_SOME])
    return (
        f"All pairs of {len(order)} runs by {measure}, the best first: {first}. The top group has "
        f"{len(top)} of them."
    )
