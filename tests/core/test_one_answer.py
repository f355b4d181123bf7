"""One question has one answer: compare, gate, robust, why, the page and the trackers say the same p
and the same verdict of 20 pairs.
"""

import contextlib
import importlib
import io
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import idealrank as ir
from idealrank.reports.table.text import parts_text
from idealrank.reports.views.robustness import robust_parts
from tests.conftest import ROOT

PAIRS = range(20)


@pytest.fixture(scope="module")
def script() -> Iterator[Any]:
    """The script that prints the table of the page."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "experiments")
        yield importlib.import_module("one_answer")
    sys.modules.pop("one_answer", None)


def agrees(check: Any, row: Any) -> bool:
    """True if the outcome of a gate is what the verdict of the comparison demands: its test is the
    one-sided half of the same.
    """
    if row.verdict == "worse":
        return bool(check.outcome == "failed")
    if row.verdict == "better":
        return bool(check.outcome == "passed")
    if row.verdict == "too few judgments":
        return bool(check.outcome == ("passed" if row.difference > 0 else "too few judgments"))
    return bool(check.p_corrected > 0.025)  # undecided on two sides


@pytest.mark.spread(2)
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=() if seed % 6 == 0 else pytest.mark.slow) for seed in PAIRS]
)
def test_every_command_says_the_same_of_one_pair(script: Any, seed: int) -> None:
    asked = script.asked(seed)
    others = {name: answer for name, answer in asked.answers._asdict().items() if name != "gate"}

    assert len(set(others.values())) == 1, others
    assert asked.answers.gate.p == asked.answers.compare.p
    assert agrees(asked.check, asked.row), asked.answers


@pytest.mark.slow
def test_the_pairs_have_every_verdict(script: Any) -> None:
    verdicts = {script.asked(seed).answers.compare.said for seed in PAIRS}
    assert {"better", "worse", "undecided", "too few judgments"} <= verdicts


@pytest.mark.slow
def test_the_page_has_the_table_that_the_script_prints(script: Any) -> None:
    page = (ROOT / "docs" / "concepts" / "one-answer.md").read_text(encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        script.main([])

    assert len(PAIRS) == script.PAIRS
    assert printed.getvalue() in page


def test_the_text_of_robust_says_first_that_there_are_too_few_judgments(script: Any) -> None:
    found = ir.robust(*script.pair(4), "nDCG@10", variants=["cutoff"])
    text = " ".join(parts_text(robust_parts(found)).split())

    assert found.verdict == "too few judgments"
    assert text.startswith("Too few judgments to say whether new is better than old: nDCG@10 is ")
    assert "p 0.00001). " in text
    assert "As judged: old still leads by nDCG@10 in " in text
    assert str(found).startswith(
        "Too few judgments to say whether new is better than old. As judged: old still leads"
    )
