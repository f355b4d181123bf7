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
_AGAIN: Spec = {"type": "quantitative"}


def slice_rows(comparison: Comparison) -> list[Row]:
    """For each measure and pair all queries first, then each slice, the worst first; empty without
    slices.
    """
    rows: list[Row] = []
    for pair, found in (
        (one, row) for one in leading_pairs(comparison) for row in one.measures.values()
    ):
        if found.slices is None:
            continue
        same: Row = {"measure": found.measure, "a": pair.a, "b": pair.b}
        whole = {
            "slice": "all queries",
            "n": found.n,
            "p": number(found.p_corrected),
            "all": True,
        } | _sided(found)
        places = _places([found, *found.slices])
        rows.append(same | whole | _effect(found, places))
        rows += [same | _sliced(one, places) for one in found.slices]
    return rows


def _sliced(one: Slice, places: int) -> Row:
    row = {"slice": one.name, "n": one.n, "p": number(one.p_corrected), "all": False}
    return row | _sided(one) | _effect(one, places)


def _sided(row: "Difference | Slice") -> Row:
    """The side of a difference for its shape and colour, and its verdict in a word."""
    shown = mark_of(row)
    return {"side": shown.side, "verdict": shown.word}


def _places(rows: "Sequence[Difference | Slice]") -> int:
    """Decimals of all texts of a figure: what its intervals allow, and an end beside 0 stays on its
    side.
    """
    intervals = [row.interval for row in rows if row.about == "mean difference"]
    return decimals(
        intervals, apart=[(min(ends, key=abs), 0.0) for ends in intervals if ends[0] * ends[1] > 0]
    )


def _effect(row: "Difference | Slice", places: int) -> Row:
    """Numbers and text of a difference; the interval only where it is of the mean difference, which
    is what is drawn.
    """
    low, high = row.interval if row.about == "mean difference" else (math.nan, math.nan)
    brief = signed(row.difference, places)
    ends = (
        f"[{signed(low, places)}, {signed(high, places)}]"
        if math.isfinite(low) and math.isfinite(high)
        else ""
    )
    return {
        "difference": number(row.difference),
        "low": number(low),
        "high": number(high),
        "brief": brief,
        "text": f"{brief}  {ends}".rstrip(),
    }


def slices_template(level: float) -> Spec:
    """Differences on slices with intervals; filled where the verdict is clear, in its colour."""
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
    """An axis of differences; names and what they are about have a line each, or long ones would be
    wider than a phone.
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
    """Zero, the interval over all queries as a band, intervals and marks.

    Marks are hollow where nothing is decided, and a hollow cross where judgments are too few.
    """
    all_queries = [{"filter": "datum.all"}]
    fill = {
        "condition": {
            "test": "datum.side === 'equal' || datum.side === 'withheld'",
            "value": "@paper",
        },
        **by_side(),
    }
    return [
        {
            "transform": all_queries,
            "mark": {"type": "rect", "color": "@wash", "aria": False},
            "encoding": {
                "x": {"field": "low", **_AGAIN},
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
                "x": {"field": "low", **_AGAIN},
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
                "shape": {
                    "field": "side",
                    "type": "nominal",
                    "legend": None,
                    "scale": {
                        "domain": ["better", "worse", "equal", "withheld"],
                        "range": ["triangle-up", "triangle-down", "circle", "cross"],
                    },
                },
            },
        },
    ]


def robust_rows(found: Robustness) -> list[Row]:
    """The comparison as asked, then by group every variant that changes the numbers, and pairs of
    changes that turn the verdict.

    A group begins with a row that has its name alone.
    """
    places = _places(
        [one.row for one in (found.reference, *found.changing, *found.pairs) if one.row is not None]
    )
    rows = [
        _variant(found.reference, "as asked", f"as asked: {found.measure}", places) | {"all": True}
    ]
    for group, members in found.groups().items():
        shown = [one for one in members if one.status == "changes the numbers"]
        rows += [_heading(group)] if shown else []
        rows += [
            _variant(one, group, one.change.removeprefix(f"{group}="), places) for one in shown
        ]
    rows += [_heading("two at once")] if found.pairs else []
    rows += [_variant(one, one.group, one.change.replace(",", ", "), places) for one in found.pairs]
    return [row | {"row": f"{number:03d}"} for number, row in enumerate(rows)]


def _heading(group: str) -> Row:
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


def _variant(one: Variant, group: str, label: str, places: int) -> Row:
    row: Row = {
        "group": group,
        "change": one.change,
        "label": clipped(label, 2 * _NAME),
        "heading": False,
        "all": False,
        "side": "equal",
    }
    if one.row is None:
        return row
    turns = one.verdict_turns or one.sign_turns
    return (
        row
        | {"side": mark(one.row.verdict).side, "verdict": one.row.verdict, "turns": turns}
        | _effect(one.row, places)
    )


def robust_template(rows: Sequence[Row], level: float) -> Spec:
    """Every variant as a line of a table: what is changed, the difference with its interval, the
    numbers.
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


def _left(which: str, place: str, mark: Spec) -> Spec:
    """Labels of some of the lines, left-aligned so that what is in a group stands below its
    name.
    """
    return {
        "transform": [{"filter": which}],
        "mark": mark,
        "encoding": {"x": {"value": place}, "text": {"field": "label"}},
    }
