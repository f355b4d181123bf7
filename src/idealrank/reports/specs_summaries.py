"""Figures of means and differences with their intervals: by run, by cutoff, on slices, in every variant. Nothing is drawn."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from idealrank.reports.layout import clipped
from idealrank.reports.page.subject import Curve
from idealrank.reports.specs_queries import SIGNED, by_role, by_side, signed
from idealrank.reports.theme import SCHEMA_URL, Row, Spec, config
from idealrank.verdict import Comparison, Robustness, RunMean, Slice, Variant

_LETTER = 6.1  # pixels, on average, of a text of 12
_NAME = 30  # letters of a name beside a panel
_DIGITS = 6
_CURVE_HEIGHT = 230
_GAP = 15.0  # pixels between the names of two lines


def means_rows(means: Mapping[str, Mapping[str, RunMean]], directions: Mapping[str, int]) -> list[Row]:
    """A row a measure and run, the best run first where there are more than two.

    Parameters
    ----------
    means : mapping of str to mapping of str to RunMean
        By measure and run.
    directions : mapping of str to int
        By measure; 1 where higher is better.

    Examples
    --------
    >>> means_rows({"RR": {"bm25": RunMean(0.5, (0.25, 0.75), 40)}}, {"RR": 1})
    [{'measure': 'RR', 'run': 'bm25', 'mean': 0.5, 'low': 0.25, 'high': 0.75, 'n': 40, 'brief': '0.5000', 'text': '0.5000  [0.2500, 0.7500]'}]
    """
    rows = []
    for measure, runs in means.items():
        best = sorted(runs, key=lambda run: -directions.get(measure, 1) * runs[run].mean) if len(runs) > 2 else list(runs)
        for run in best:
            mean, (low, high) = runs[run].mean, runs[run].interval
            row = {"measure": measure, "run": run, "mean": _number(mean), "low": _number(low), "high": _number(high), "n": runs[run].n}
            ends = f"[{low:.4f}, {high:.4f}]" if math.isfinite(low) and math.isfinite(high) else ""
            rows.append(row | {"brief": f"{mean:.4f}", "text": f"{mean:.4f}  {ends}".rstrip()})
    return rows


def _number(value: float) -> float | None:
    return round(value, _DIGITS) if math.isfinite(value) else None


def means_template(level: float) -> Spec:
    """A dot a run with its interval, and the numbers beside it.

    Parameters
    ----------
    level : float
        Of the intervals.

    Examples
    --------
    >>> means_template(0.95)["encoding"]["x"]["title"]
    'mean @measure with its 95 % interval'
    """
    y = {"field": "run", "type": "nominal", "sort": None, "title": None, "axis": _names(170)}
    x = {
        "field": "mean", "type": "quantitative", "title": f"mean @measure with its {100 * level:g} % interval",
        "scale": {"zero": False, "nice": True}, "axis": {"tickCount": 5, "grid": True},
    }  # fmt: skip
    return {
        "$schema": SCHEMA_URL,
        "description": "Means by @measure with intervals. @said",
        "usermeta": {"height": {"step": 26}},
        "data": {"name": "rows"},
        "height": {"step": 26},
        "encoding": {"x": x, "y": y, "color": _role_colour()},
        "layer": [
            {"mark": {"type": "rule", "strokeWidth": 1.8, "aria": False}, "encoding": {"x": {"field": "low"} | _AGAIN, "x2": {"field": "high"}}},
            {"mark": {"type": "circle", "size": 62, "opacity": 1}, "encoding": {"tooltip": _mean_tip()}},
            _beside(),
        ],
        "config": config(),
    }  # fmt: skip


_AGAIN: Spec = {"type": "quantitative"}


def _role_colour() -> Spec:
    """As of lines, only that runs beside a and b are as dark as a: a dot has less ink than a line."""
    return {"field": "role", "type": "nominal", "legend": None, "scale": {"domain": ["other", "a", "b"], "range": ["@run", "@run", "@accent"]}}


def _mean_tip() -> list[Spec]:
    return [
        {"field": "run", "type": "nominal", "title": "run"},
        {"field": "text", "type": "nominal", "title": "mean"},
        {"field": "n", "type": "quantitative", "title": "queries", "format": ",d"},
    ]


def _names(limit: int) -> Spec:
    return {"grid": False, "labelColor": "@ink", "labelLimit": limit, "labelFontSize": 12, "labelPadding": 8}


def _beside() -> Spec:
    """Numbers at the right, in a column of their own: with the interval where there is room."""
    mark = {"type": "text", "align": "left", "dx": 12, "fontSize": 11.5, "color": "@ink", "aria": False}
    return {"mark": mark, "encoding": {"x": {"value": "width"}, "text": {"field": "@numbers"}, "color": {"value": "@ink"}}}


def cutoff_rows(curves: Sequence[Curve]) -> list[Row]:
    """A row a measure, run and cutoff.

    Examples
    --------
    >>> curve = Curve(measure="P", cutoffs=(5,), means={"bm25": (RunMean(0.5, (0.25, 0.75), 40),)})
    >>> cutoff_rows([curve])
    [{'measure': 'P', 'run': 'bm25', 'cutoff': 5, 'mean': 0.5, 'low': 0.25, 'high': 0.75, 'place': 0.5, 'last': True}]
    """
    rows = []
    for curve in curves:
        places = label_places(curve)
        for run, means in curve.means.items():
            for cutoff, found in zip(curve.cutoffs, means, strict=True):
                numbers = {"mean": found.mean, "low": found.interval[0], "high": found.interval[1], "place": places[run]}
                row = {"measure": curve.measure, "run": run, "cutoff": cutoff, **{name: _number(value) for name, value in numbers.items()}}
                rows.append(row | {"last": cutoff == curve.cutoffs[-1]})
    return rows


def label_places(curve: Curve) -> dict[str, float]:
    """Heights for the names at the ends of the lines: where the lines end, moved apart where they would cover each other.

    Examples
    --------
    >>> label_places(Curve(measure="P", cutoffs=(5,), means={"bm25": (RunMean(0.5, (0.4, 0.6), 40),)}))
    {'bm25': 0.5}
    """
    low, high = curve_domain(curve)
    ends = {run: means[-1].mean for run, means in curve.means.items()}
    return spread_out(ends, _GAP * (high - low) / _CURVE_HEIGHT)


def spread_out(wanted: Mapping[str, float], gap: float) -> dict[str, float]:
    """Places at least a gap apart, as near as can be to those wanted: what is too close is spread about its middle.

    Examples
    --------
    >>> spread_out({"a": 0.5, "b": 0.5, "c": 3.0}, 1.0)
    {'a': 0.0, 'b': 1.0, 'c': 3.0}
    """
    order = sorted(wanted, key=lambda name: wanted[name])
    # Least squares with a minimal distance is isotonic regression of the places less their number: neighbours that fall are pooled.
    pools: list[tuple[float, int]] = []
    for number, name in enumerate(order):
        pools.append((wanted[name] - number * gap, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (low, few), (high, more) = pools.pop(), pools.pop()
            pools.append(((low * few + high * more) / (few + more), few + more))
    level = [mean for mean, count in pools for _ in range(count)]
    return {name: level[number] + number * gap for number, name in enumerate(order)}


def curve_domain(curve: Curve) -> tuple[float, float]:
    """Limits of the axis of means, intervals included, to the next round number.

    Examples
    --------
    >>> curve_domain(Curve(measure="P", cutoffs=(5,), means={"bm25": (RunMean(0.5, (0.33, 0.61), 40),)}))
    (0.3, 0.65)
    """
    found = [value for means in curve.means.values() for one in means for value in (one.mean, *one.interval) if math.isfinite(value)]
    low, high = min(found, default=0.0), max(found, default=1.0)
    step = 10 ** math.floor(math.log10(max(high - low, 1e-9))) / 2
    return round(math.floor(low / step + 1e-9) * step, 9), round(math.ceil(high / step - 1e-9) * step + (step if high == low else 0), 9)


def cutoffs_template(level: float, cutoffs: Sequence[int], names: Sequence[str]) -> Spec:
    """Lines over cutoffs, bands about those of a and b, names at their ends.

    Parameters
    ----------
    level : float
        Of the intervals.
    cutoffs : sequence of int
        Where the x axis has its numbers.
    names : sequence of str
        Of all runs; the longest decides how much room there is.

    Examples
    --------
    >>> cutoffs_template(0.95, (1, 5, 10), ["bm25"])["encoding"]["x"]["axis"]["values"]
    [1, 5, 10]
    """
    x = {
        "field": "cutoff", "type": "quantitative", "title": "cutoff", "scale": {"type": "log", "nice": False, "zero": False, "domain": "@ends"},
        "axis": {"values": list(cutoffs), "grid": False, "format": ",d", "labelOverlap": True},
    }  # fmt: skip
    y = {
        "field": "mean", "type": "quantitative", "title": f"mean @curve, {100 * level:g} % interval",
        "scale": {"domain": "@domain", "nice": False, "zero": False}, "axis": {"tickCount": 5},
    }  # fmt: skip
    scale = {"domain": ["other", "a", "b"], "range": ["@quiet", "@run", "@accent"]}
    tip = [
        {"field": "run", "type": "nominal"},
        {"field": "cutoff", "type": "quantitative", "format": ",d"},
        {"field": "mean", "type": "quantitative", "format": ".4f"},
    ]
    name = {"type": "text", "align": "left", "dx": 9, "limit": int(_LETTER * _NAME), "aria": False}
    return {
        "$schema": SCHEMA_URL,
        "description": "Mean @curve by cutoff. @said",
        "usermeta": {"height": _CURVE_HEIGHT, "beside": round(_LETTER * min(max(map(len, names), default=0), _NAME)) + 12},
        "data": {"name": "rows"},
        "encoding": {"x": x, "y": y},
        "layer": [
            {
                "transform": [{"filter": "datum.role !== 'other'"}],
                "mark": {"type": "area", "opacity": 0.13, "aria": False},
                "encoding": {"y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}, "color": _role_colour(), "detail": {"field": "run"}},
            },
            {"mark": {"type": "line", "aria": False}, "encoding": by_role()},
            {"mark": {"type": "circle", "size": 36, "opacity": 1}, "encoding": {"color": by_role()["color"], "tooltip": tip}},
            {
                "transform": [{"filter": "datum.last"}], "mark": name,
                "encoding": {"y": {"field": "place", "type": "quantitative"}, "text": {"field": "run"},
                             "color": {"field": "role", "type": "nominal", "legend": None, "scale": scale}},
            },
        ],
        "resolve": {"scale": {"color": "independent"}},
        "config": config(),
    }  # fmt: skip


def curve_words(curve: Curve) -> dict[str, Any]:
    """What the template says of one curve.

    Examples
    --------
    >>> curve_words(Curve(measure="P", cutoffs=(1, 10), means={"x": (RunMean(0.5, (0, 1), 9), RunMean(0.25, (0, 1), 9))}))["said"]
    'x from 0.5000 at 1 to 0.2500 at 10.'
    """
    first, last = curve.cutoffs[0], curve.cutoffs[-1]
    said = [f"{run} from {means[0].mean:.4f} at {first:,} to {means[-1].mean:.4f} at {last:,}" for run, means in curve.means.items()]
    ends = [first, last if last > first else last + 1]
    return {"curve": curve.measure, "said": f"{'; '.join(said)}.", "domain": list(curve_domain(curve)), "ends": ends}


def slice_rows(comparison: Comparison) -> list[Row]:
    """For each measure and pair all queries first, then each slice, the worst first; empty without slices.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> [row["slice"] for row in slice_rows(ir.compare(one, one, slices={"q": "short"}))]
    ['all queries', 'short']
    """
    rows = []
    for pair, found in comparison.rows():
        if found.slices is None:
            continue
        same = {"measure": found.measure, "a": pair.a, "b": pair.b}
        side = found.verdict if found.verdict in ("better", "worse") else "equal"
        whole = {"slice": "all queries", "n": found.n, "p": _number(found.p_corrected), "side": side, "all": True}
        rows.append(same | whole | _effect(found.difference, found.interval if found.about == "mean difference" else None))
        rows += [same | _sliced(one) for one in found.slices]
    return rows


def _sliced(one: Slice) -> Row:
    side = one.verdict if one.verdict in ("better", "worse") else "equal"
    row = {"slice": one.name, "n": one.n, "p": _number(one.p_corrected), "side": side, "all": False}
    return row | _effect(one.difference, one.interval if one.about == "mean difference" else None)


def _effect(difference: float, interval: tuple[float, float] | None) -> Row:
    """Numbers and text of a difference; the interval only where it is of the mean difference, which is what is drawn."""
    low, high = interval or (math.nan, math.nan)
    ends = f"[{signed(low)}, {signed(high)}]" if math.isfinite(low) and math.isfinite(high) else ""
    text = f"{signed(difference)}  {ends}".rstrip()
    return {"difference": _number(difference), "low": _number(low), "high": _number(high), "brief": signed(difference), "text": text}


def slices_template(level: float) -> Spec:
    """Differences on slices with intervals; filled where the verdict is clear, in its colour.

    Examples
    --------
    >>> slices_template(0.95)["encoding"]["x"]["title"]
    '@b less @a, @measure, 95 % interval'
    """
    y = {"field": "slice", "type": "nominal", "sort": None, "title": None, "axis": _names(150)}
    tip = [
        {"field": "slice", "type": "nominal"},
        {"field": "n", "type": "quantitative", "title": "queries", "format": ",d"},
        {"field": "text", "type": "nominal", "title": "difference"},
        {"field": "p", "type": "quantitative", "title": "p, corrected", "format": ".3~g"},
    ]
    return {
        "$schema": SCHEMA_URL,
        "description": "Differences in @measure, @b less @a, on slices of the queries. @said",
        "usermeta": {"height": {"step": 24}},
        "data": {"name": "rows"},
        "height": {"step": 24},
        "encoding": {"x": _differences(f"@b less @a, @measure, {100 * level:g} % interval"), "y": y},
        "layer": [*_forest(tip), _beside()],
        "config": config(),
    }


def _differences(title: str) -> Spec:
    axis = {"tickCount": 5, "grid": True, **SIGNED}
    return {"field": "difference", "type": "quantitative", "title": title, "scale": {"zero": True, "nice": True}, "axis": axis}


def _forest(tip: list[Spec]) -> list[Spec]:
    """Zero, the interval over all queries as a band, intervals and marks: hollow where nothing is decided."""
    all_queries = [{"filter": "datum.all"}]
    fill = {"condition": {"test": "datum.side === 'equal'", "value": "@paper"}, **by_side()}
    return [
        {
            "transform": all_queries, "mark": {"type": "rect", "color": "@wash", "aria": False},
            "encoding": {"x": {"field": "low", **_AGAIN}, "x2": {"field": "high"}, "y": {"value": 0}, "y2": {"value": "height"}},
        },
        {"data": {"values": [{"difference": 0}]}, "mark": {"type": "rule", "color": "@ink", "strokeWidth": 1, "aria": False},
         "encoding": {"y": {"value": 0}, "y2": {"value": "height"}}},
        {"mark": {"type": "rule", "strokeWidth": 1.8, "aria": False},
         "encoding": {"x": {"field": "low", **_AGAIN}, "x2": {"field": "high"}, "color": by_side()}},
        {"mark": {"type": "point", "size": 52, "strokeWidth": 1.8, "opacity": 1}, "encoding": {
            "color": by_side(), "fill": fill, "tooltip": tip,
            "shape": {"field": "side", "type": "nominal", "legend": None, "scale": {
                "domain": ["better", "worse", "equal"], "range": ["triangle-up", "triangle-down", "circle"]}}}},
    ]  # fmt: skip


def robust_rows(found: Robustness) -> list[Row]:
    """The comparison as asked, then by group every variant that changes the numbers, and pairs of changes that turn the verdict.

    A group begins with a row that has its name alone.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels, ranked = {f"q{i}": {"x": 1} for i in range(6)}, (["y", "x"], ["x", "y"])
    >>> a, b = ({query: ranking for query in qrels} for ranking in ranked)
    >>> [row["label"] for row in robust_rows(ir.robust(qrels, a, b, "nDCG@10", variants=["cutoff"]))]
    ['as asked: nDCG@10', 'cutoff', '1']
    """
    rows = [_variant(found.reference, "", f"as asked: {found.measure}") | {"all": True}]
    for group, members in found.groups().items():
        shown = [one for one in members if one.status == "changes the numbers"]
        rows += [_heading(group)] if shown else []
        rows += [_variant(one, group, one.change.removeprefix(f"{group}=")) for one in shown]
    rows += [_heading("two at once")] if found.pairs else []
    rows += [_variant(one, one.group, one.change.replace(",", ", ")) for one in found.pairs]
    return [row | {"row": f"{number:03d}"} for number, row in enumerate(rows)]


def _heading(group: str) -> Row:
    return {"group": group, "change": "", "label": group, "heading": True, "all": False, "side": "equal", "brief": "", "text": ""}


def _variant(one: Variant, group: str, label: str) -> Row:
    row: Row = {"group": group, "change": one.change, "label": clipped(label, 2 * _NAME), "heading": False, "all": False, "side": "equal"}
    if one.row is None:
        return row
    side = one.row.verdict if one.row.verdict in ("better", "worse") else "equal"
    about = one.row.interval if one.row.about == "mean difference" else None
    return row | {"side": side, "verdict": one.row.verdict, "turns": one.verdict_turns or one.sign_turns} | _effect(one.row.difference, about)


def robust_template(rows: Sequence[Row], level: float) -> Spec:
    """Every variant as a line of a table: what is changed, the difference with its interval, the numbers.

    Parameters
    ----------
    rows : sequence of dict
        Of `robust_rows`; the longest label decides how much room there is.
    level : float
        Of the intervals.

    Examples
    --------
    >>> robust_template([{"label": "as asked"}], 0.95)["usermeta"]
    {'height': {'step': 17}, 'letters': 8}
    """
    letters = max((len(row["label"]) for row in rows), default=0)
    tip = [
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
        "height": {"step": 17},
        "encoding": {
            "x": _differences(f"@b less @a, {100 * level:g} % interval"),
            "y": {"field": "row", "type": "nominal", "title": None, "axis": None},
        },
        "layer": [
            *_forest(tip),
            _left("datum.heading", "@left", label | {"color": "@quiet"}),
            _left("datum.all", "@left", label),
            _left("!datum.heading && !datum.all", "@indented", label),
            _beside(),
        ],
        "config": config(),
    }  # fmt: skip


def _left(which: str, place: str, mark: Spec) -> Spec:
    """Labels of some of the lines, left-aligned so that what is in a group stands below its name."""
    return {"transform": [{"filter": which}], "mark": mark, "encoding": {"x": {"value": place}, "text": {"field": "label"}}}
