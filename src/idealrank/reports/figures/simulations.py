"""Theory against simulation, as a Vega-Lite specification: the limit, the mean at every length, and where simulated lists lie."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from idealrank.data.types import FloatArray, IntArray
from idealrank.reports.figures.theme import LIGHT, SCHEMA_URL, Spec, titled_config

_WIDTH, _HEIGHT, _SPACE = 196, 210, 26
_BLUE, _BAND, _DASHED, _INK = LIGHT["accent"], LIGHT["accent"], LIGHT["quiet"], LIGHT["ink"]


@dataclass(frozen=True, eq=False)
class Simulated:
    """One panel: a measure of lists of growing length.

    Attributes
    ----------
    measure : str
        Text of the measure.
    says : str
        What the theory says of it, in some words.
    sizes : int64 array, shape (n_sizes,)
        Documents in the list.
    values : float64 array, shape (n_lists, n_sizes)
        NDCG of simulated lists; NaN where it is undefined.
    means : float64 array, shape (n_sizes,)
        N*, the mean by theory.
    limit : float or None
        What they tend to, if they do.
    """

    measure: str
    says: str
    sizes: IntArray
    values: FloatArray
    means: FloatArray
    limit: float | None


def simulated_spec(panels: Sequence[Simulated], model: str) -> Spec:
    """Panels side by side on one scale.

    Parameters
    ----------
    panels : sequence of Simulated
        One a measure.
    model : str
        The chance of relevance at canonical score s, in words.

    Examples
    --------
    >>> panel = Simulated("nDCG", "tends to 1", np.array([10, 100]), np.array([[0.8, 0.9]]), np.array([0.8, 0.9]), 1.0)
    >>> len(simulated_spec([panel], "s")["vconcat"][0]["hconcat"])
    1
    """
    lists = panels[0].values.shape[0]
    caption = (
        f"Blue line: N*, the mean by theory. Dots: means of {lists:,} simulated lists; nine in ten of these lists lie in the band. "
        "Dashed: the limit, where there is one. Synthetic lists of one query; the mean over many queries is another matter."
    )
    width = len(panels) * (_WIDTH + _SPACE)
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
    note = {"data": {"values": [{}]}, "width": width, "height": 13 * len(lines), "mark": mark, "view": {"stroke": None}}
    return {
        "$schema": SCHEMA_URL,
        "description": f"Theory against simulation: {'; '.join(f'{panel.measure} {panel.says}' for panel in panels)}.",
        "title": {
            "text": "One query with more and more documents: what converges and what does not",
            "subtitle": f"Chance of relevance at canonical score s: {model}",
        },
        "vconcat": [{"hconcat": [_panel(panel) for panel in panels], "spacing": _SPACE}, note],
        "config": titled_config(),
    }  # fmt: skip


def _panel(panel: Simulated) -> Spec:
    low, middle, high = (
        np.nanquantile(panel.values, 0.05, axis=0),
        np.nanmean(panel.values, axis=0),
        np.nanquantile(panel.values, 0.95, axis=0),
    )
    rows = [
        {"n": int(n), "low": round(a, 5), "mean": round(m, 5), "high": round(b, 5), "theory": round(t, 5)}
        for n, a, m, b, t in zip(panel.sizes, low.tolist(), middle.tolist(), high.tolist(), panel.means.tolist(), strict=True)
    ]
    y = {"type": "quantitative", "title": "NDCG of one query", "scale": {"domain": [0.4, 1]}, "axis": {"tickCount": 6}}
    layers: list[Spec] = [
        {"mark": {"type": "area", "color": _BAND, "opacity": 0.16}, "encoding": {"y": y | {"field": "low"}, "y2": {"field": "high"}}},
        {"mark": {"type": "line", "color": _BLUE}, "encoding": {"y": y | {"field": "theory"}}},
        {"mark": {"type": "circle", "color": _INK, "size": 13, "opacity": 1}, "encoding": {"y": y | {"field": "mean"}}},
    ]
    if panel.limit is not None:
        line = {"type": "rule", "color": _DASHED, "strokeDash": [5, 4], "strokeWidth": 1.2}
        layers.append(
            {"data": {"values": [{"limit": round(panel.limit, 6)}]}, "mark": line, "encoding": {"x": None, "y": y | {"field": "limit"}}}
        )
    head = {"text": panel.measure, "subtitle": panel.says, "fontSize": 12, "subtitleFontSize": 11}
    ticks = [10**power for power in range(1, 10) if panel.sizes[0] <= 10**power <= panel.sizes[-1]]
    scale = {"type": "log", "domain": [int(panel.sizes[0]), int(panel.sizes[-1])]}
    axis = {"values": ticks, "format": "~s"}
    return {
        "width": _WIDTH, "height": _HEIGHT, "title": head, "data": {"values": rows}, "layer": layers,
        "encoding": {"x": {"field": "n", "type": "quantitative", "scale": scale, "axis": axis, "title": "documents in the list, n"}},
    }  # fmt: skip
