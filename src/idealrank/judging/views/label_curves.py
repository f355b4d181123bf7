"""Labels until a comparison is settled, as Vega-Lite specifications: from replays to plain dicts,
nothing is drawn here.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from idealrank.judging import LabelReplay
from idealrank.pages.figures.theme import LIGHT, SCHEMA_URL, Row, Spec, titled_config

_WIDTH, _HEIGHT = 560, 280
_POINTS = 250  # of a line
_COLOURS = {
    "oracle": LIGHT["other"],
    "queries, by test": LIGHT["worse"],
    "bounds": LIGHT["accent"],
    "change": "#7B5EA7",
    "move-to-front": "#3A8A5F",
    "uncertainty": "#B8860B",
    "depth": LIGHT["ink"],
    "random": LIGHT["run"],
    "queries": "#C77CA0",
}


def replay_spec(found: LabelReplay, *, interactive: bool = False) -> Spec:
    """Bound that has to pass 0 by labels, a line for each strategy that stops by bounds; it ends
    where the comparison is settled.
    """
    sign = 1 if found.difference > 0 else -1
    behind, ahead = (found.a, found.b) if sign > 0 else (found.b, found.a)
    rows: list[Row] = []
    for curve in found.curves:
        if curve.stop == "bounds":
            bound = curve.low if sign > 0 else -curve.high
            rows += [
                {
                    "strategy": curve.strategy,
                    "labels": place,
                    "bound": round(float(bound[place]), 5),
                }
                for place in _spread(bound.size)
            ]
    title = f"Labels until {ahead} is known to be better than {behind}"
    said = [
        f"Lowest possible difference of the mean {found.measure}, {ahead} less {behind},",
        "after so many labels; settled above 0.",
    ]
    zero: Spec = {
        "data": {"values": [{"zero": 0}]},
        "mark": {"type": "rule", "color": LIGHT["ink"], "strokeWidth": 1},
    }
    zero["encoding"] = {"y": {"field": "zero", "type": "quantitative"}}
    return _lines(
        title=title,
        said=said,
        rows=rows,
        x="labels",
        y="bound",
        y_title="lowest difference",
        interactive=interactive,
        layers=[zero],
    )


def settled_spec(
    shares: Mapping[str, Sequence[float]], title: str, said: str, *, interactive: bool = False
) -> Spec:
    """Share of comparisons that are settled by labels, as a share of the labels of depth pooling, a
    line for each strategy.

    Examples
    --------
    >>> spec = settled_spec({"depth": [0.8, 0.9]}, "Two comparisons", "As replayed.")
    >>> [row["settled"] for row in spec["data"]["values"]]
    [0.0, 0.5, 1.0, 1.0]
    """
    rows: list[Row] = []
    for name, needed in shares.items():
        ordered = np.sort(np.asarray(needed, np.float64))
        settled = np.arange(1, ordered.size + 1) / ordered.size
        steps = [(0.0, 0.0), *zip(ordered.tolist(), settled.tolist(), strict=True), (1.0, 1.0)]
        rows += [
            {"strategy": name, "labels": round(share, 4), "settled": round(part, 4)}
            for share, part in steps
        ]
    spec = _lines(
        title=title,
        said=[said],
        rows=rows,
        x="labels",
        y="settled",
        y_title="comparisons settled",
        interactive=interactive,
        layers=[],
    )
    line = spec["layer"][-1]
    line["mark"]["interpolate"] = "step-after"
    for channel in ("x", "y"):
        line["encoding"][channel]["axis"] = {"format": ".0%"}
    line["encoding"]["x"]["title"] = "share of the labels of depth pooling"
    return spec


def _spread(size: int) -> list[int]:
    """Places of a line with the last one, at most so many."""
    return [int(place) for place in np.unique(np.linspace(0, size - 1, min(size, _POINTS)).round())]


def _lines(
    title: str,
    said: Sequence[str],
    rows: list[Row],
    x: str,
    y: str,
    y_title: str,
    *,
    interactive: bool,
    layers: list[Spec],
) -> Spec:
    names = list(dict.fromkeys(row["strategy"] for row in rows))
    colours = [_COLOURS.get(name, LIGHT["run"]) for name in names]
    line: Spec = {
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": {"field": x, "type": "quantitative", "title": "labels"},
            "y": {"field": y, "type": "quantitative", "title": y_title},
            "color": {
                "field": "strategy",
                "type": "nominal",
                "scale": {"domain": names, "range": colours},
                "legend": {"title": None, "orient": "bottom", "columns": 5, "columnPadding": 24},
            },
        },
    }
    if interactive:
        line["encoding"]["tooltip"] = [
            {"field": field, "type": "nominal" if field == "strategy" else "quantitative"}
            for field in ("strategy", x, y)
        ]
    return {
        "$schema": SCHEMA_URL,
        "description": f"{title}. {' '.join(said)}",
        "title": {"text": title, "subtitle": list(said)},
        "data": {"values": rows},
        "width": _WIDTH,
        "height": _HEIGHT,
        "layer": [*layers, line],
        "config": titled_config(),
    }
