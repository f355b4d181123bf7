"""The repr of a result is one line, as that of an evaluation; `print` shows the result."""

from collections.abc import Callable
from typing import Any

import pytest

import idealrank as ir

QUERIES = [f"q{number}" for number in range(8)]
QRELS = {query: {"x": 1, "y": 0} for query in QUERIES}
WORSE, BETTER = (dict.fromkeys(QUERIES, ranked) for ranked in (["y", "x"], ["x", "y"]))
ENDING = "convention standard [50871d00])"


def evaluated(name: str) -> ir.Evaluation:
    ranked = WORSE if name == "old" else BETTER
    return ir.evaluate(QRELS, ir.Run(ranked, name=name), ["RR", "P@2"])


RESULTS: dict[str, Callable[[], Any]] = {
    f"Comparison('new' against 'old': RR better, P@2 undecided; {ENDING}": lambda: ir.compare(
        evaluated("old"), evaluated("new")
    ),
    "Comparison(2 runs against 'old': RR better (2 pairs), P@2 undecided (2 pairs); "
    + ENDING: lambda: ir.compare(*map(evaluated, ("old", "new", "third")), baseline="old"),
    f"Gated('old' against 'new': failed; 2 checks, {ENDING}": lambda: ir.gate(
        evaluated("old"), evaluated("new")
    ),
    f"Robustness('B' against 'A': RR better; 8 variants, {ENDING}": lambda: ir.robust(
        QRELS, WORSE, BETTER, "RR", variants=["cutoff"]
    ),
    f"Attribution('B' against 'A': RR +0.5000; 8 queries, {ENDING}": lambda: ir.attribute(
        QRELS, WORSE, BETTER, "RR"
    ),
    f"SystemComparison('B' against 'A': RR better, P@2 undecided; {ENDING}": lambda: (
        ir.compare_systems([evaluated("old")] * 2, [evaluated("new")] * 2)
    ),
}


@pytest.mark.parametrize("text", RESULTS)
def test_a_repr_is_one_line(text: str) -> None:
    result = RESULTS[text]()
    assert repr(result) == text
    assert str(result) != text
