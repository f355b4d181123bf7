"""A gate has one name for each state, in every form."""

import xml.etree.ElementTree as ET

import pytest

import idealrank as ir
from idealrank.analysis.gate import Gated
from idealrank.analysis.gate.checks import gate_beside
from idealrank.analysis.gate.outcome import WhenUnjudged
from idealrank.reports.views.gate.gate import gate_text
from idealrank.reports.views.gate.junit import gate_junit
from idealrank.reports.views.gate.pull_request import gate_markdown


def contradicted(policy: WhenUnjudged) -> Gated:
    """Return a gate that people's grades close, while the judge's grades show a gain."""
    a, b = {f"q{i}": ["x", "y"] for i in range(9)}, {f"q{i}": ["y", "x"] for i in range(9)}
    people, judge = (
        [ir.evaluate({query: {good: 1} for query in a}, run, "RR") for run in (b, a)]
        for good in "xy"
    )
    return gate_beside(ir.gate(*people, when_unjudged=policy), judge, people)


@pytest.mark.parametrize(
    ("policy", "said"),
    [("fail", "must not replace"), ("neutral", "People and the judge disagree on whether")],
)
def test_a_contradicted_check_is_undecided_in_every_form(policy: WhenUnjudged, said: str) -> None:
    gated = contradicted(policy)
    first = next(gate_markdown(gated)).splitlines()[0]

    assert "undecided" in gate_text(gated)
    assert said in first
    assert "failed" not in first
    if policy == "fail":
        (failure,) = ET.fromstring("".join(gate_junit(gated))).iter("failure")
        assert first.endswith("(1 of 1 check undecided)**")
        assert failure.get("type") == "undecided"
