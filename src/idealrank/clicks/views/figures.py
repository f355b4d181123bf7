"""Figures of a click log: propensities, perplexities, weights and values of policies, as Vega-Lite
specifications.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from idealrank.clicks import PolicyValue, Propensities
from idealrank.data.types import FloatArray
from idealrank.pages.figures.mean_intervals import number
from idealrank.pages.figures.theme import SCHEMA_URL, Row, Spec, config

_WIDTH, _HEIGHT = 560, 220
_BINS = 29  # odd, so that weights that are all equal fall inside the middle one
_PLACES = 5
# Pixels at the left of labels: the fonts of a reader may be wider than the measured ones.
_SPARE = 30
# Lines are told apart by their dashes, too.
_COLOURS = ["@accent", "@worse", "@ink", "@quiet", "@run", "@axis", "@other"]
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4], [1, 3], [10, 4]]


def propensity_rows(propensities: Propensities) -> list[Row]:
    """Make a row for each rank."""
    return [
        {
            "rank": rank,
            "propensity": number(float(value)),
            "low": number(float(low)),
            "high": number(float(high)),
        }
        for rank, (value, (low, high)) in enumerate(
            zip(propensities.relative, propensities.intervals, strict=True), 1
        )
    ]


def propensity_template() -> Spec:
    """Draw a line over the ranks, with a band."""
    y = {
        "type": "quantitative",
        "title": "propensity, relative to the first rank",
        "scale": {"zero": True},
        "axis": {"tickCount": 5},
    }
    return _plot(
        "Propensity by rank, relative to the first, with its interval.",
        {"x": _ranks()},
        [
            {
                "mark": {"type": "area", "color": "@accent", "opacity": 0.18},
                "encoding": {"y": {**y, "field": "low"}, "y2": {"field": "high"}},
            },
            {
                "mark": {"type": "line", "color": "@accent"},
                "encoding": {"y": {**y, "field": "propensity"}},
            },
            {
                "mark": {"type": "circle", "color": "@accent", "size": 40, "opacity": 1},
                "encoding": {"y": {**y, "field": "propensity"}},
            },
        ],
    )


def perplexity_rows(perplexity: Mapping[str, FloatArray]) -> list[Row]:
    """Make a row for each model and rank; ranks without a value are left out."""
    rows: list[Row] = []
    for model, values in perplexity.items():
        rows += [
            {"model": model, "rank": rank, "perplexity": number(float(value))}
            for rank, value in enumerate(values, 1)
            if np.isfinite(value)
        ]
    return rows


def perplexity_template(models: Sequence[str]) -> Spec:
    """Draw a line for each model over the ranks."""
    shared = {"field": "model", "type": "nominal", "legend": _LEGEND}
    colour = {**shared, "scale": {"domain": list(models), "range": _COLOURS[: len(models)]}}
    dash = {**shared, "scale": {"domain": list(models), "range": _DASHES[: len(models)]}}
    y = {
        "field": "perplexity",
        "type": "quantitative",
        "title": "perplexity on held-out lists",
        "scale": {"zero": False, "nice": True},
        "axis": {"tickCount": 5},
    }
    return _plot(
        "Perplexity by rank on held-out lists, a line for each model: 1 is certainty, 2 a coin.",
        {"x": _ranks(), "y": y, "color": colour},
        [
            {"mark": {"type": "line"}, "encoding": {"strokeDash": dash}},
            {
                "mark": {"type": "circle", "size": 30, "opacity": 1},
                "encoding": {"color": {**colour, "legend": None}},
            },
        ],
    )


def weight_rows(weights: Mapping[str, FloatArray]) -> list[Row]:
    """Share of the rows in each of some ranges of the weight, equal on a logarithmic scale; weights
    of 0 have none.
    """
    largest = max((float(column.max(initial=0.0)) for column in weights.values()), default=0.0)
    if largest == 0:
        return []
    smallest = min(float(column[column > 0].min(initial=largest)) for column in weights.values())
    # A little wider than the weights, so that rounding leaves none of them out.
    edges = np.geomspace(smallest / 1.05, largest * 1.05, _BINS + 1)
    rows: list[Row] = []
    for policy, column in weights.items():
        counts, _ = np.histogram(column, edges)
        rows += _range_rows("policy", policy, edges, counts / column.size)
    return rows


def _range_rows(field: str, name: str, edges: FloatArray, shares: FloatArray) -> list[Row]:
    """Make a row for each range between two edges that has a share."""
    return [
        {
            field: name,
            "low": float(f"{low:.6g}"),
            "high": float(f"{high:.6g}"),
            "share": number(share),
        }
        for (low, high), share in zip(pairwise(edges), shares.tolist(), strict=True)
        if share > 0
    ]


def weights_template(policies: Sequence[str]) -> Spec:
    """Draw bars over a logarithmic axis of weights, and a line at 1."""
    x = {
        "field": "low",
        "type": "quantitative",
        "title": "weight, on a logarithmic scale",
        "scale": {"type": "log"},
        "axis": {"tickCount": 6, "format": "~g", "grid": False},
    }
    y = {
        "field": "share",
        "type": "quantitative",
        "title": "share of rows",
        "axis": {"tickCount": 4, "format": "~%"},
    }
    colour = {
        "field": "policy",
        "type": "nominal",
        "legend": _LEGEND | {"symbolType": "square"} if len(policies) > 1 else None,
        "scale": {"domain": list(policies), "range": _COLOURS[: len(policies)]},
    }
    line_at_one = {
        "x": {"datum": 1.0, "type": "quantitative"},
        "x2": None,
        "y": None,
        "color": {"value": "@quiet"},
    }
    return _plot(
        "Distribution of the weights of the rows. @said",
        {"x": x, "color": colour},
        [
            {
                "mark": {"type": "rect", "opacity": 0.55},
                "encoding": {"x2": {"field": "high"}, "y": y, "y2": {"datum": 0}},
            },
            {"mark": {"type": "rule", "strokeDash": [5, 4]}, "encoding": line_at_one},
        ],
    )


def overlap_rows(logged: FloatArray, weights: Mapping[str, FloatArray]) -> list[Row]:
    """Share of the rows of the log, and of the weight of each policy, in ranges of the logged
    probability on a logarithmic scale.
    """
    edges = np.geomspace(float(logged.min()) / 1.05, float(logged.max()) * 1.05, _BINS + 1)
    rows: list[Row] = []
    for name, mass in {"log": np.ones(logged.size), **weights}.items():
        total = float(mass.sum())
        sums, _ = np.histogram(logged, edges, weights=mass)
        rows += _range_rows("of", name, edges, sums / (total or 1.0))
    return rows


def overlap_template(policies: Sequence[str]) -> Spec:
    """Draw bars of the log, and a line for each policy and range, over a logarithmic axis of the
    logged probability.
    """
    x = {
        "field": "low",
        "type": "quantitative",
        "title": "logged probability, on a logarithmic scale",
        "scale": {"type": "log"},
        "axis": {"tickCount": 6, "format": "~g", "grid": False},
    }
    y = {
        "field": "share",
        "type": "quantitative",
        "title": "share of rows, and of weight",
        "axis": {"tickCount": 4, "format": "~%"},
    }
    domain = ["log", *policies]
    shared = {"field": "of", "type": "nominal", "legend": _LEGEND}
    colour = {**shared, "scale": {"domain": domain, "range": ["@quiet", *_COLOURS][: len(domain)]}}
    dash = {**shared, "scale": {"domain": domain, "range": [[1, 0], *_DASHES][: len(domain)]}}
    bars = {"filter": "datum.of == 'log'"}
    lines = {"filter": "datum.of != 'log'"}
    return _plot(
        "Share of the rows of the log, and of the weight of each policy, by the logged "
        "probability. @said",
        {"x": x, "color": colour},
        [
            {
                "transform": [bars],
                "mark": {"type": "rect", "opacity": 0.3},
                "encoding": {"x2": {"field": "high"}, "y": y, "y2": {"datum": 0}},
            },
            {
                "transform": [lines],
                "mark": {"type": "rule", "strokeWidth": 2.4},
                "encoding": {"x2": {"field": "high"}, "y": y, "strokeDash": dash},
            },
        ],
    )


def estimate_rows(values: Mapping[str, Sequence[PolicyValue]]) -> list[Row]:
    """Make a row for each policy and estimator."""
    rows: list[Row] = []
    for policy, estimates in values.items():
        for estimate in estimates:
            low, high = map(number, estimate.interval)
            label = f"{policy} by {estimate.estimator}"
            rows.append({"label": label, "value": number(estimate.value), "low": low, "high": high})
    return rows


def estimates_template(confidence: float, logged: float) -> Spec:
    """Draw a dot for each estimate with its interval, and the mean reward of the log as a line."""
    x = {
        "type": "quantitative",
        "title": f"value with its {100 * confidence:g} % interval; dashed: mean reward of the log",
        "scale": {"zero": False, "nice": True},
        "axis": {"tickCount": 5},
    }
    y = {"field": "label", "type": "nominal", "sort": None, "title": None}
    mean = {
        "x": {"datum": round(logged, _PLACES), "type": "quantitative"},
        "y": None,
        "color": {"value": "@quiet"},
    }
    spec = _plot(
        "Estimated values with intervals. @said",
        {"x": {**x, "field": "value"}, "y": y},
        [
            {
                "mark": {"type": "rule", "color": "@accent", "strokeWidth": 1.8},
                "encoding": {"x": {**x, "field": "low"}, "x2": {"field": "high"}},
            },
            {"mark": {"type": "circle", "color": "@accent", "size": 62, "opacity": 1}},
            {"mark": {"type": "rule", "strokeDash": [5, 4]}, "encoding": mean},
        ],
    )
    return spec | {
        "height": {"step": 30},
        "padding": {"left": _SPARE, "top": 4, "right": 4, "bottom": 4},
    }


_LEGEND: Spec = {
    "orient": "bottom",
    "title": None,
    "labelFont": "@font",
    "labelFontSize": 12,
    "labelColor": "@ink",
    "symbolType": "stroke",
}


def _ranks() -> Spec:
    axis = {"tickMinStep": 1, "format": "d", "grid": False}
    return {
        "field": "rank",
        "type": "quantitative",
        "title": "rank",
        "scale": {"zero": False, "nice": False},
        "axis": axis,
    }


def _plot(description: str, encoding: Spec, layers: list[Spec]) -> Spec:
    return {
        "$schema": SCHEMA_URL,
        "description": description,
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"name": "rows"},
        "encoding": encoding,
        "layer": layers,
        "config": config(),
    }
