"""Figures of differences with their intervals: on slices of the queries, and in every variant of a
comparison. Nothing is drawn.
"""

import math
from collections.abc import Sequence

from idealrank.analysis.comparison import Comparison, Difference
from idealrank.analysis.comparison.slice_differences import Slice
from idealrank.analysis.robustness import Robustness, Variant
from idealrank.pages.figures.mean_intervals import beside, names_axis, number
from idealrank.pages.figures.query_values import SIGNED, by_side, signed
from idealrank.pages.figures.theme import SCHEMA_URL, Row, Spec, config
from idealrank.reports.subject import leading_pairs
from idealrank.reports.table.cells import decimals
from idealrank.reports.table.text import clipped
from idealrank.reports.views.comparison.verdicts import mark, mark_of

_NAME = 30  # letters of a name beside a panel
_QUANTITATIVE: Spec = {"type": "quantitative"}


def slice_rows(comparison: Comparison) -> list[Row]:
    """Make rows for each measure and pair: all queries first, then each slice, the worst first;
    empty without slices.
    """
    rows: list[Row] = []
    for pair in leading_pairs(comparison):
        for difference in pair.measures.values():
            if difference.slices is None:
                continue
            same: Row = {"measure": difference.measure, "a": pair.a, "b": pair.b}
            p = number(difference.p_corrected)
            whole = {"slice": "all queries", "n": difference.n, "p": p, "all": True}
            places = _places([difference, *difference.slices])
            fields = _verdict_fields(difference) | _difference_fields(difference, places)
            rows.append(same | whole | fields)
            rows += [same | _slice_row(part, places) for part in difference.slices]
    return rows


def _slice_row(part: Slice, places: int) -> Row:
    row = {"slice": part.name, "n": part.n, "p": number(part.p_corrected), "all": False}
    return row | _verdict_fields(part) | _difference_fields(part, places)


def _verdict_fields(row: "Difference | Slice") -> Row:
    """Return the side of a difference, for its shape and colour, and its verdict in a word."""
    verdict_mark = mark_of(row)
    return {"side": verdict_mark.side, "verdict": verdict_mark.word}


def _places(rows: "Sequence[Difference | Slice]") -> int:
    """Choose the decimals of all texts of a figure: as many as its intervals allow, and enough that
    no interval on one side of 0 seems to contain it.
    """
    intervals = [row.interval for row in rows if row.about == "mean difference"]
    nearest_ends = [min(ends, key=abs) for ends in intervals if math.prod(ends) > 0]
    return decimals(intervals, apart=[(end, 0.0) for end in nearest_ends])


def _difference_fields(row: "Difference | Slice", places: int) -> Row:
    """Return numbers and text of a difference. Only an interval of the mean difference is drawn."""
    low, high = math.nan, math.nan
    if row.about == "mean difference":
        low, high = row.interval
    brief = signed(row.difference, places)
    ends = ""
    if math.isfinite(low) and math.isfinite(high):
        ends = f"[{signed(low, places)}, {signed(high, places)}]"
    return {
        "difference": number(row.difference),
        "low": number(low),
        "high": number(high),
        "brief": brief,
        "text": f"{brief}  {ends}".rstrip(),
    }


def slices_template(level: float) -> Spec:
    """Draw differences on slices with their intervals; a clear verdict is filled, in its colour."""
    y = {"field": "slice", "type": "nominal", "sort": None, "title": None, "axis": names_axis(150)}
    tip: list[Spec] = [
        {"field": "slice", "type": "nominal"},
        {"field": "n", "type": "quantitative", "title": "queries", "format": ",d"},
        {"field": "text", "type": "nominal", "title": "difference"},
        {"field": "p", "type": "quantitative", "title": "p, corrected", "format": ".3~g"},
        {"field": "verdict", "type": "nominal"},
    ]
    return {
        "$schema": SCHEMA_URL,
        "description": "Differences in @measure, @b minus @a, on slices of the queries. @said",
        "usermeta": {"height": {"step": 24}},
        "data": {"name": "rows"},
        "encoding": {"x": _differences(f"@measure, {100 * level:g} % interval"), "y": y},
        "layer": [*_forest(tip), beside()],
        "config": config(),
    }


def _differences(about: str) -> Spec:
    """Make an axis of differences. The names and `about` have a line each: long names on one line
    would be wider than a phone.
    """
    axis = {"tickCount": 5, "grid": True, **SIGNED}
    return {
        "field": "difference",
        "type": "quantitative",
        "title": ["@shortb minus @shorta", about],
        "scale": {"zero": True, "nice": True},
        "axis": axis,
    }


def _forest(tip: list[Spec]) -> list[Spec]:
    """Draw the line at 0, the interval over all queries as a band, then intervals and marks.

    Marks are hollow where nothing is decided, and a hollow cross where judgments are too few.
    """
    all_queries = [{"filter": "datum.all"}]
    is_hollow = "datum.side === 'equal' || datum.side === 'withheld'"
    fill = {"condition": {"test": is_hollow, "value": "@paper"}, **by_side()}
    shapes = {
        "domain": ["better", "worse", "equal", "withheld"],
        "range": ["triangle-up", "triangle-down", "circle", "cross"],
    }
    return [
        {
            "transform": all_queries,
            "mark": {"type": "rect", "color": "@wash", "aria": False},
            "encoding": {
                "x": {"field": "low", **_QUANTITATIVE},
                "x2": {"field": "high"},
                "y": {"value": 0},
                "y2": {"value": "height"},
            },
        },
        {
            "data": {"values": [{"difference": 0}]},
            "mark": {"type": "rule", "color": "@ink", "strokeWidth": 1, "aria": False},
            "encoding": {"y": {"value": 0}, "y2": {"value": "height"}},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 1.8, "aria": False},
            "encoding": {
                "x": {"field": "low", **_QUANTITATIVE},
                "x2": {"field": "high"},
                "color": by_side(),
            },
        },
        {
            "mark": {"type": "point", "size": 52, "strokeWidth": 1.8, "opacity": 1},
            "encoding": {
                "color": by_side(),
                "fill": fill,
                "tooltip": tip,
                "shape": {"field": "side", "type": "nominal", "legend": None, "scale": shapes},
            },
        },
    ]


def robust_rows(robustness: Robustness) -> list[Row]:
    """Make rows of the comparison as asked, then by group of every variant that changes the
    numbers, and of pairs of changes that turn the verdict.

    A group begins with a row that has its name alone.
    """
    reference, pairs = robustness.reference, robustness.pairs
    variants = (reference, *robustness.changing, *pairs)
    places = _places([variant.row for variant in variants if variant.row is not None])
    as_asked = _variant_row(reference, "as asked", f"as asked: {robustness.measure}", places)
    rows = [as_asked | {"all": True}]
    for group, members in robustness.groups().items():
        changing = [variant for variant in members if variant.status == "changes the numbers"]
        rows += [_heading_row(group)] if changing else []
        for variant in changing:
            label = variant.change.removeprefix(f"{group}=")
            rows.append(_variant_row(variant, group, label, places))
    rows += [_heading_row("two at once")] if pairs else []
    for variant in pairs:
        label = variant.change.replace(",", ", ")
        rows.append(_variant_row(variant, variant.group, label, places))
    return [row | {"row": f"{position:03d}"} for position, row in enumerate(rows)]


def _heading_row(group: str) -> Row:
    return {
        "group": group,
        "change": "",
        "label": group,
        "heading": True,
        "all": False,
        "side": "equal",
        "brief": "",
        "text": "",
    }


def _variant_row(variant: Variant, group: str, label: str, places: int) -> Row:
    row: Row = {
        "group": group,
        "change": variant.change,
        "label": clipped(label, 2 * _NAME),
        "heading": False,
        "all": False,
        "side": "equal",
    }
    if variant.row is None:
        return row
    verdict = variant.row.verdict
    turns = variant.verdict_turns or variant.sign_turns
    row |= {"side": mark(verdict).side, "verdict": verdict, "turns": turns}
    return row | _difference_fields(variant.row, places)


def robust_template(rows: Sequence[Row], level: float) -> Spec:
    """Draw every variant as a line of a table: the change, the difference with its interval, and
    the numbers.
    """
    letters = max((len(row["label"]) for row in rows), default=0)
    tip: list[Spec] = [
        {"field": "label", "type": "nominal", "title": "changed"},
        {"field": "text", "type": "nominal", "title": "difference"},
        {"field": "verdict", "type": "nominal"},
    ]
    label = {"type": "text", "align": "left", "limit": "@room", "fontSize": 11.5, "aria": False}
    return {
        "$schema": SCHEMA_URL,
        "description": "The difference in every variant. @said",
        "usermeta": {"height": {"step": 17}, "letters": min(letters, _NAME)},
        "data": {"name": "rows"},
        "encoding": {
            "x": _differences(f"{100 * level:g} % interval"),
            "y": {"field": "row", "type": "nominal", "title": None, "axis": None},
        },
        "layer": [
            *_forest(tip),
            _left("datum.heading", "@left", label | {"color": "@quiet"}),
            _left("datum.all", "@left", label),
            _left("!datum.heading && !datum.all", "@indented", label),
            beside(),
        ],
        "config": config(),
    }


def _left(which: str, place: str, label: Spec) -> Spec:
    """Draw the labels of some of the lines, left-aligned, so that the variants of a group are below
    its name.
    """
    return {
        "transform": [{"filter": which}],
        "mark": label,
        "encoding": {"x": {"value": place}, "text": {"field": "label"}},
    }
