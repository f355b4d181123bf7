"""One question has one answer: compare, gate, robust, why, the page and the trackers say the same p and the same verdict of 20 pairs."""

from typing import Any

import numpy as np
import pytest

import idealrank as ir
from idealrank.reporting.comparing import with_gate
from idealrank.reporting.found import Found
from idealrank.trackers.content import content_of

PAIRS = range(20)


def pair(seed: int) -> tuple[ir.Qrels, ir.Run, ir.Run]:
    """Two rankers of all qualities, judged by one of five kinds of pools."""
    rng = np.random.default_rng(seed)
    quality = rng.uniform(0.3, 1.5, 2)
    qrels: dict[str, dict[str, int]] = {}
    runs: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})
    depths = [(30, 30), (8, 2), (2, 8), (5, 5), (12, 0)][seed % 5]
    for number in range(30):
        grades = rng.integers(1, 4, 30) * (rng.random(30) < 0.3)
        pool = set()
        for run, good, depth in zip(runs, quality, depths, strict=True):
            order = [f"d{place}" for place in np.argsort(-(good * grades + rng.normal(0, 1, 30)))]
            run[f"q{number:02d}"] = order[:10]
            pool |= set(order[:depth])
        qrels[f"q{number:02d}"] = {document: int(grades[int(document[1:])]) for document in sorted(pool)}
    return ir.Qrels(qrels), ir.Run(runs[0], name="old"), ir.Run(runs[1], name="new")


def answers(seed: int) -> dict[str, tuple[float, str]]:
    """The two-sided p and the verdict on the new run, from each."""
    qrels, old, new = pair(seed)
    before, after = (ir.evaluate(qrels, run, ["nDCG@10", "P@10"], keep_unjudged=True) for run in (old, new))
    comparison = ir.compare(before, after)
    row: Any = comparison.pairs[0]["nDCG@10"]
    gated = ir.gate(after, before)
    robust = ir.robust(qrels, old, new, "nDCG@10", variants=["cutoff"])
    why = ir.attribute(qrels, old, new, "nDCG@10").as_dict()
    page: Any = with_gate(Found(evaluations=(after, before), measures=after.measures), gated).comparison
    shown = page.pairs[0]["nDCG@10"]
    content = content_of(comparison, page="")
    logged = next(value for name, value in content.metrics.items() if "nDCG" in name and name.endswith("_difference_p"))
    return {
        "compare": (row.p_corrected, row.verdict),
        "gate": (gated.checks[0].p_two_sided, row.verdict if _agrees(gated.checks[0], row) else gated.outcome),
        "robust": (robust.asked.p, robust.verdict),
        "why": (why["p"], why["verdict"]),
        "page": (shown.p_corrected, shown.verdict),
        "tracker": (logged, row.verdict),
    }


def _agrees(check: Any, row: Any) -> bool:
    """Whether the outcome of a gate is what the verdict of the comparison demands: its test is the one-sided half of the same."""
    if row.verdict == "worse":
        return bool(check.outcome == "failed")
    if row.verdict == "better":
        return bool(check.outcome == "passed")
    if row.verdict == "judgments do not reach":
        return bool(check.outcome == ("passed" if row.difference > 0 else "judgments do not reach"))
    return bool(check.p_corrected > 0.025)  # undecided on two sides


@pytest.mark.parametrize("seed", PAIRS)
def test_every_command_says_the_same_of_one_pair(seed: int) -> None:
    found = answers(seed)
    assert len(set(found.values())) == 1, found


def test_the_pairs_have_every_verdict() -> None:
    verdicts = {answers(seed)["compare"][1] for seed in PAIRS}
    assert {"better", "worse", "undecided", "judgments do not reach"} <= verdicts
