"""A map of all pairs of runs as a Vega-Lite specification: from a comparison to plain dicts, nothing is drawn here."""

import math
from collections.abc import Sequence

from idealrank.analysis.comparison import Comparison, Difference
from idealrank.reports.figures.theme import SCHEMA_URL, Spec, titled_config
from idealrank.reports.table.digits import p_text
from idealrank.reports.table.text import clipped
from idealrank.reports.views.comparison.verdicts import correction_word, look

# Brown to blue-green through near white: ColorBrewer's BrBG, which people who see few colours tell apart.
_COLOURS = ("#8C510A", "#D8B365", "#F6E8C3", "#F5F5F5", "#C7EAE5", "#5AB4AC", "#01665E")
_SIDE, _LEAST, _MOST = 600, 6, 34  # pixels: of the whole map, and of a cell
_NAME = 28  # letters of a run's name
_NAMED = 50  # runs: of more, only some have their name beside the map
_DIGITS = 5
_SOME = 4  # runs named in the subtitle


def pairs_spec(comparison: Comparison, measure: str) -> Spec:
    """All pairs by one measure: how much better the run of the line is than that of the column, the best run first.

    Pairs that cannot be told apart, by the corrected p, have a dot, so that the colour alone claims nothing.

    Parameters
    ----------
    comparison : Comparison
        Of every two runs.
    measure : str
        Text of one of its measures.

    Raises
    ------
    OptionError
        The runs were compared with a baseline alone.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(9)}
    >>> bad, good = (ir.evaluate(qrels, dict.fromkeys(qrels, ranking), "RR") for ranking in (["y", "x"], ["x", "y"]))
    >>> spec = pairs_spec(ir.compare(bad, good), "RR")
    >>> [(row["line"], row["difference"], row["differ"]) for row in spec["data"]["values"]]
    [('1  run (2)', 0.5, True), ('2  run', -0.5, True)]
    """
    groups = comparison.groups(measure)
    order = list(groups.letters)
    labels = {run: f"{place}  {clipped(run, _NAME)}" for place, run in enumerate(order, 1)}
    rows = _rows(comparison, measure, labels)
    cell = max(_LEAST, min(_MOST, _SIDE // len(order)))
    largest = max((abs(row["difference"]) for row in rows), default=0.0) or 1.0
    lines = {**_axis("line", list(labels.values()), _steps(len(order), _NAMED)), "title": None}
    columns = {**_axis("column", list(range(1, len(order) + 1)), _steps(len(order), _NAMED // 2)), "title": None}
    columns["axis"] |= {"orient": "top", "labelAngle": 0}
    return {
        "$schema": SCHEMA_URL,
        "description": _in_words(measure, order, groups.top),
        "title": {"text": f"All pairs of {len(order):,} runs by {measure}", "subtitle": _subtitle(comparison, groups.top)},
        "data": {"values": rows},
        "width": cell * len(order),
        "height": cell * len(order),
        "encoding": {"x": columns, "y": lines},
        "layer": [_colours(measure, largest), _dots(cell)],
        "config": titled_config() | {"view": {"stroke": "#BDBDBD"}, "axisX": {}, "axisY": {"domain": False}},
    }


def _rows(comparison: Comparison, measure: str, labels: dict[str, str]) -> list[Spec]:
    """Two cells a pair, one on each side of the diagonal."""
    alpha = round(1 - comparison.method.level, 12)
    place = {run: number for number, run in enumerate(labels, 1)}
    rows = []
    for pair in comparison.pairs:
        row = pair.measures[measure]
        for line, column, sign in ((pair.b, pair.a, row.direction), (pair.a, pair.b, -row.direction)):
            rows.append(
                {
                    "line": labels[line],
                    "column": place[column],
                    "against": labels[column],
                    "difference": round(sign * row.difference, _DIGITS) + 0.0,
                    "differ": row.p_corrected <= alpha and look(row.verdict).decided,
                    "p": p_text(row.p_corrected),
                    "interval": _interval(row, sign),
                }
            )
    return sorted(rows, key=lambda cell: (place_of(cell["line"]), cell["column"]))


def place_of(label: str) -> int:
    """The number at the beginning of a label.

    Examples
    --------
    >>> place_of("12  bm25")
    12
    """
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
    named = [label for place, label in enumerate(labels, 1) if step == 1 or place == 1 or place % step == 0]
    axis = {"values": named, "labelLimit": 260, "ticks": False, "labelPadding": 4, "grid": False, "domain": False}
    return {"field": field, "type": "ordinal", "sort": None, "scale": {"domain": list(labels), "padding": 0}, "axis": axis}


def _colours(measure: str, largest: float) -> Spec:
    tip = [
        {"field": "line", "type": "nominal", "title": "run"},
        {"field": "against", "type": "nominal", "title": "against"},
        {"field": "difference", "type": "quantitative", "title": "better by", "format": "+.4f"},
        {"field": "interval", "type": "nominal", "title": "interval"},
        {"field": "p", "type": "nominal", "title": "p, corrected"},
    ]
    scale = {"domain": [-largest, largest], "range": list(_COLOURS), "interpolate": "lab"}
    legend = {
        "title": ["row better than column,", f"in {measure}"], "gradientLength": 160, "format": "+~r", "values": _ticks(largest),
        "titleFontSize": 11, "titleFontWeight": "normal", "labelFontSize": 11, "titleColor": "#333333", "labelColor": "#333333",
        "titleLimit": 300, "offset": 14,
    }  # fmt: skip
    colour = {"field": "difference", "type": "quantitative", "scale": scale, "legend": legend}
    return {"mark": {"type": "rect", "aria": False}, "encoding": {"color": colour, "tooltip": tip}}


def _ticks(largest: float) -> list[float]:
    """Two round differences on either side of 0."""
    unit = 10.0 ** math.floor(math.log10(largest))
    most = math.floor(largest / unit) * unit
    return [round(share * most, 12) for share in (-1.0, -0.5, 0.0, 0.5, 1.0)]


def _dots(cell: int) -> Spec:
    size = max(1.2, 0.02 * cell * cell)
    return {
        "transform": [{"filter": "!datum.differ"}],
        "mark": {"type": "point", "shape": "circle", "filled": True, "size": size, "color": "#5A5A5A", "tooltip": False, "aria": False},
    }


def _subtitle(comparison: Comparison, top: Sequence[str]) -> list[str]:
    level, tests = comparison.method.level, sum(comparison.method.families.values())
    found = [clipped(run, _NAME) for run in top[:_SOME]]
    more = f" and {len(top) - _SOME:,} more" if len(top) > _SOME else ""
    correction = correction_word(comparison.method.correction)
    return [
        f"Runs in the order of their means; a dot marks pairs without a significant difference (p above {1 - level:g}",
        f"after correction for {tests:,} tests, {correction}).",
        f"Top group: {', '.join(found)}{more}.",
    ]


def _in_words(measure: str, order: Sequence[str], top: Sequence[str]) -> str:
    first = ", ".join(clipped(run, _NAME) for run in order[:_SOME])
    return f"All pairs of {len(order)} runs by {measure}, the best first: {first}. The top group has {len(top)} of them."
