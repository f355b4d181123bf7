"""The figures of the chapter 'Is B better than A?': differences of every query, flipped signs, and
four answers. Takes some seconds.

differences   One dot for each query of the demo: nDCG@10 of MiniLM less that of BM25; the mean, and
its interval. flips         The mean difference of 100,000 sign vectors for two pairs of runs, and
where the observed one lies. answers       Intervals of four comparisons on the demo, beside a
margin: better, undecided, equivalent.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from stable_queries import demo_runs

from idealrank.data.types import FloatArray
from idealrank.pages.figures import drawings
from idealrank.pages.figures.theme import LIGHT, SCHEMA_URL, Spec, titled_config
from idealrank.stats import permutation_test

FOLDER = Path("figures")
MARGIN = 0.05
DRAWS = 100_000
UP, DOWN, EQUAL, INK, FAINT = (LIGHT[name] for name in ("accent", "worse", "run", "ink", "other"))
RULE = {"type": "rule", "color": INK, "strokeWidth": 1.2}
LEFT = {
    "type": "text",
    "align": "left",
    "baseline": "middle",
    "dx": 6,
    "fontSize": 11,
    "color": INK,
}


def figure(parts: Mapping[str, object], title: str, *lines: str) -> Spec:
    """A whole specification with a title; its lines are what a screen reader says, too."""
    head = {"text": title, "subtitle": list(lines)}
    return {
        "$schema": SCHEMA_URL,
        "description": " ".join([title, *lines]),
        "title": head,
        "config": titled_config(),
        **parts,
    }


def dots(change: FloatArray) -> list[dict[str, float | str]]:
    """Queries in the order of their differences."""
    order = np.sort(change)[::-1]
    kinds = np.where(order > 0, "better", np.where(order < 0, "worse", "equal"))
    pairs = zip(order.tolist(), kinds.tolist(), strict=True)
    return [
        {"place": place, "change": round(value, 5), "kind": kind}
        for place, (value, kind) in enumerate(pairs, 1)
    ]


def differences_spec(change: FloatArray) -> Spec:
    """A dot a query, the mean and its interval."""
    rows = dots(change)
    found = permutation_test(np.zeros_like(change), change, rng=1)
    x = {
        "field": "place",
        "type": "quantitative",
        "title": "queries, in the order of their differences",
        "scale": {"domain": [0, change.size + 1], "nice": False},
    }
    y = {"field": "change", "type": "quantitative", "title": "nDCG@10 of minilm less bm25"}
    colour = {
        "field": "kind",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": ["better", "equal", "worse"], "range": [UP, EQUAL, DOWN]},
    }
    line = {"low": float(found.low), "high": float(found.high), "mean": float(found.difference)}
    layers = [
        {
            "data": {"values": [line]},
            "mark": {"type": "rect", "color": UP, "opacity": 0.14},
            "encoding": {
                "y": {"field": "low", "type": "quantitative", "title": y["title"]},
                "y2": {"field": "high"},
            },
        },
        {
            "data": {"values": [line]},
            "mark": {**RULE, "color": UP},
            "encoding": {"y": {"field": "mean", "type": "quantitative", "title": y["title"]}},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 1},
            "encoding": {"x": x, "y": y, "y2": {"datum": 0}, "color": colour},
        },
        {
            "mark": {"type": "circle", "size": 42, "opacity": 1},
            "encoding": {"x": x, "y": y, "color": colour},
        },
    ]
    wins, ties, losses = (
        sum(row["kind"] == kind for row in rows) for kind in ("better", "equal", "worse")
    )
    return figure(
        {"width": 560, "height": 260, "data": {"values": rows}, "layer": layers},
        "One mean, sixty queries",
        f"minilm is better on {wins} queries, equal on {ties} and worse on {losses}.",
        f"Line and band: the mean difference, {found.difference:+.3f}, and its 95 % interval.",
    )


def flipped_means(change: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The mean under random signs."""
    parts = [
        (1 - 2.0 * rng.integers(0, 2, (10_000, change.size))) @ change / change.size
        for _ in range(DRAWS // 10_000)
    ]
    return np.concatenate(parts)


def flips_panel(names: str, change: FloatArray, reach: float) -> Spec:
    """One histogram, and the observed difference."""
    means = flipped_means(change, np.random.default_rng(1))
    counts, edges = np.histogram(means, bins=np.linspace(-reach, reach, 61))
    observed = float(change.mean())
    rows = [
        {
            "from": round(float(low), 5),
            "to": round(float(high), 5),
            "share": count / DRAWS,
            "far": bool(abs(low + high) / 2 >= abs(observed)),
        }
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    p = float(permutation_test(np.zeros_like(change), change, rng=1).p)
    x = {
        "field": "from",
        "type": "quantitative",
        "title": "mean difference",
        "scale": {"domain": [-reach, reach], "nice": False},
        "axis": {"format": "+.2f", "values": [-reach, -reach / 2, 0, reach / 2, reach]},
    }
    share = {
        "field": "share",
        "type": "quantitative",
        "title": None,
        "axis": None,
        "scale": {"nice": False},
    }
    colour = {
        "field": "far",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": [False, True], "range": [FAINT, DOWN]},
    }
    seen = [{"at": observed, "text": f"observed: {observed:+.3f}", "y": float(max(counts)) / DRAWS}]
    at = {"field": "at", "type": "quantitative"}
    layers = [
        {
            "data": {"values": rows},
            "mark": {"type": "rect"},
            "encoding": {
                "x": x,
                "x2": {"field": "to"},
                "y": share,
                "y2": {"datum": 0},
                "color": colour,
            },
        },
        {"data": {"values": seen}, "mark": RULE, "encoding": {"x": at}},
        {
            "data": {"values": seen},
            "mark": {**LEFT, "align": "right", "dx": -6} if observed > reach / 2 else LEFT,
            "encoding": {
                "x": at,
                "y": {"field": "y", "type": "quantitative"},
                "text": {"field": "text"},
            },
        },
    ]
    says = "p below 0.0001" if p < 0.0001 else f"p = {p:.2f}"
    return {
        "width": 270,
        "height": 170,
        "title": {"text": names, "fontSize": 12, "subtitle": [says]},
        "layer": layers,
    }


def flips_spec(values: Mapping[str, FloatArray]) -> Spec:
    """A large difference and a small one."""
    pairs = [("bm25", "minilm", 0.24), ("fused 2:1", "fused 1:1", 0.06)]
    panels = [
        flips_panel(f"{b} against {a}", values[b] - values[a], reach) for a, b, reach in pairs
    ]
    return figure(
        {"hconcat": panels},
        "What chance alone would make of it",
        f"Mean differences of {DRAWS:,} random choices of which run had which value of each query.",
        "Coloured: those as far from 0 as the one that was seen. Their share is p.",
    )


def answers() -> list[dict[str, float | str]]:
    """An interval a comparison, and what it says."""
    asked = [
        ("nDCG@10", "bm25", "minilm"),
        ("nDCG@10", "fused 1:1", "minilm"),
        ("nDCG@5", "fused 1:1", "minilm"),
        ("nDCG@10", "fused 2:1", "fused 1:1"),
    ]
    rows = []
    for measure, a, b in asked:
        values = demo_runs(measure)
        found, inner = (
            permutation_test(values[a], values[b], rng=1, level=level) for level in (0.95, 0.9)
        )
        equivalent = inner.low > -MARGIN and inner.high < MARGIN
        verdict = (
            "equivalent"
            if equivalent
            else "better"
            if found.low > 0
            else "worse"
            if found.high < 0
            else "undecided"
        )
        ends = {"low": float(found.low), "high": float(found.high), "mean": float(found.difference)}
        rows.append({"pair": f"{b} against {a}, {measure}", "verdict": verdict, **ends})
    return rows


def answers_spec() -> Spec:
    """Intervals, and the margin."""
    y = {
        "field": "pair",
        "type": "nominal",
        "title": None,
        "sort": None,
        "axis": {"labelLimit": 320, "grid": False},
    }
    colour = {
        "field": "verdict",
        "type": "nominal",
        "legend": None,
        "scale": {"domain": ["better", "equivalent", "undecided"], "range": [UP, "#009E73", EQUAL]},
    }
    low = {
        "field": "low",
        "type": "quantitative",
        "title": "difference",
        "axis": {"format": "+.2f"},
        "scale": {"domain": [-0.07, 0.31], "nice": False},
    }
    layers = [
        {
            "data": {"values": [{"low": -MARGIN, "high": MARGIN}]},
            "mark": {"type": "rect", "color": "#009E73", "opacity": 0.13},
            "encoding": {"x": low, "x2": {"field": "high"}},
        },
        {
            "data": {"values": [{"low": 0}]},
            "mark": {**RULE, "strokeDash": [4, 3]},
            "encoding": {"x": low},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 3},
            "encoding": {"y": y, "x": low, "x2": {"field": "high"}, "color": colour},
        },
        {
            "mark": {"type": "circle", "size": 70, "opacity": 1},
            "encoding": {"y": y, "x": {"field": "mean", "type": "quantitative"}, "color": colour},
        },
        {
            "mark": LEFT,
            "encoding": {
                "y": y,
                "x": {"field": "high", "type": "quantitative"},
                "text": {"field": "verdict"},
                "color": colour,
            },
        },
    ]
    return figure(
        {"width": 420, "height": {"step": 34}, "data": {"values": answers()}, "layer": layers},
        "Four comparisons, three answers",
        f"Lines: 95 % intervals. Green: differences below {MARGIN}, which somebody said do "
        f"not matter.",
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Draw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out", type=Path, default=FOLDER, help="where the figures go (default: %(default)s)"
    )
    parser.add_argument(
        "--format",
        choices=("svg", "png", "json"),
        default="svg",
        help="of the files (default: %(default)s)",
    )
    arguments = parser.parse_args(argv)
    values = demo_runs()
    specs = {
        "differences": differences_spec(values["minilm"] - values["bm25"]),
        "flips": flips_spec(values),
        "answers": answers_spec(),
    }
    print(*drawings.save(specs, arguments.out, arguments.format), sep="\n")


if __name__ == "__main__":
    main()
