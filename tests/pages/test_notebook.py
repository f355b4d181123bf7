"""Results in notebooks: every class finds who shows it, and what it shows is HTML that no name gets
out of.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank._lazy import SHOWN_BY
from tests.core.test_tables import html_elements

NAMES = ["bm25", "<script>alert(1)</script>"]
QUERIES = {f"<q{place}>": {"x&y": 1} for place in range(30)}
RNG = np.random.default_rng(3)
RUNS = [
    {query: ["x&y", "b"] if RNG.random() < share else ["b", "x&y"] for query in QUERIES}
    for share in (0.2, 0.9, 0.5)
]


def evaluations(runs: int = 2) -> list[ir.Evaluation]:
    return [
        ir.evaluate(QUERIES, ir.Run(run, name=f"{NAMES[place % 2]}{place}"), ["nDCG@10", "RR"])
        for place, run in enumerate(RUNS[:runs])
    ]


def values() -> list[dict[str, float]]:
    return [dict(zip(run.queries, run["RR"].tolist(), strict=True)) for run in evaluations()]


def lost() -> ir.Gated:
    better, worse = evaluations()[::-1]
    return ir.gate(worse, better)


RESULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "Comparison": (lambda: ir.compare(*evaluations()), "is better than bm250: nDCG@10 is 0."),
    "several": (lambda: ir.compare(*evaluations(3)), "bm252 is better than bm250"),
    "many": (lambda: ir.compare(*evaluations(), *evaluations(3), *evaluations()), "better than"),
    "baseline": (lambda: ir.compare(*evaluations(3), baseline="bm250"), "against bm250"),
    "sliced": (
        lambda: ir.compare(*evaluations(), slices=dict.fromkeys(QUERIES, "<i>short</i>")),
        "<i>short</i>",
    ),
    "Coverage": (lambda: evaluations()[0].coverage, "unjudged"),
    "Evaluation": (lambda: evaluations()[1], "95 % interval"),
    "Explanation": (lambda: ir.explain(QUERIES, RUNS[0], "<q1>", "nDCG@10"), "x&y"),
    "Gated": (lost, "The gate is closed"),
    "Overlap": (lambda: ir.overlap(RUNS[0], RUNS[1], "overlap@2"), "30 queries in both"),
    "OverlapMatrix": (lambda: ir.overlap_matrix(RUNS, "overlap@2"), "each mean covers the queries"),
    "Robustness": (
        lambda: ir.robust(QUERIES, RUNS[0], RUNS[1], "RR", variants=["cutoff", "nDCG@1"]),
        "leads by RR",
    ),
    "Slices": (lambda: ir.slices(*values(), dict.fromkeys(QUERIES, "<i>s</i>")), "<i>s</i>"),
    "SystemComparison": (
        lambda: ir.compare_systems(evaluations()[:1] * 2, evaluations()[1:] * 2),
        "Training makes up",
    ),
}
"""By class, or by what is special of it: a result, and what a reader must see."""


@pytest.mark.spread(5)
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself_and_nothing_gets_out(name: str) -> None:
    make, seen = RESULTS[name]

    found = html_elements(make()._repr_html_())

    assert found[0]["class"] == "idealrank"
    assert seen in (found[0]["text"] or "")
    assert {one["tag"] for one in found} <= {
        "div",
        "style",
        "p",
        "strong",
        "table",
        "caption",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "sup",
        "details",
        "summary",
        "figure",
        "svg",
        "g",
        "rect",
        "path",
        "line",
        "text",
        "tspan",
    }
    # of that the grid may have nothing to show
    assert name == "Robustness" or [one for one in found if one["tag"] == "table"]


def test_every_class_that_is_named_is_tested_and_made_by_a_function_that_exists() -> None:
    assert SHOWN_BY.keys() <= RESULTS.keys()
    for place in SHOWN_BY.values():
        module, _, function = place.partition(":")
        assert callable(getattr(import_module(module), function))


def test_exact_numbers_stand_beside_those_that_are_read() -> None:
    comparison = ir.compare(*evaluations())
    found = html_elements(comparison._repr_html_())

    exact = {
        float(one["data-value"] or "nan")
        for one in found
        if "data-value" in one and one["class"] != "number quiet"
    }
    row = comparison["RR"]
    assert {row.mean_a, row.mean_b, row.difference, row.p_corrected} <= exact
