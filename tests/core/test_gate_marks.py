"""Every form of a gate says the same outcome: 128 gates, of which each check is set to one
state.
"""

import itertools
import json
import xml.etree.ElementTree as ET
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple, cast

import pytest

import idealrank as ir
from idealrank.analysis.comparison.difference_rows import JudgeDifference
from idealrank.analysis.gate.outcome import TOO_FEW, Gated, Outcome
from idealrank.pages.page.tables import checks_grid
from idealrank.reports.views.comparison import verdicts
from idealrank.reports.views.gate import gate as gate_views
from idealrank.reports.views.gate import junit, pull_request
from idealrank.trackers.content import content_of

JUDGED: dict[str, Any] = {
    "mean_a": 0.5,
    "mean_b": 0.4,
    "difference": -0.1,
    "p": 0.001,
    "n": 12,
    "contradicts": True,
}
MEASURES = {1: ("RR", "AP"), -1: ("Unjudged@3", "Unjudged@2")}


class GateState(NamedTuple):
    """What each form of a gate must show for the outcome of its one deciding check."""

    word: str
    element: str
    command: str
    section: str
    tracker: str


OUTCOMES = {
    "passed": GateState("passed", "system-out", "", "passed", "open"),
    "failed": GateState("failed", "failure", "::error ", "closed", "closed"),
    TOO_FEW: GateState(TOO_FEW, "skipped", "::warning ", "unreached", TOO_FEW),
    "contradicted": GateState("undecided", "skipped", "::warning ", "unreached", TOO_FEW),
    # What the policy makes of a withheld answer is no reason to call it another name.
    "too few, closed": GateState(TOO_FEW, "failure", "::error ", "closed", "closed"),
    "too few, open": GateState(TOO_FEW, "system-out", "", "passed", "open"),
    "contradicted, closed": GateState("undecided", "failure", "::error ", "closed", "closed"),
    "contradicted, open": GateState("undecided", "system-out", "", "passed", "open"),
}
COMPANION_WORDS = {
    "passed": "companion",
    "failed": "companion, would fail",
    TOO_FEW: "companion, too few judgments",
    "contradicted": "companion, undecided",
    "too few, closed": "companion, too few judgments",
    "too few, open": "companion, too few judgments",
    "contradicted, closed": "companion, undecided",
    "contradicted, open": "companion, undecided",
}
POLICIES: dict[str, Outcome] = {"closed": "failed", "open": "passed"}
GATES = list(itertools.product(OUTCOMES, COMPANION_WORDS, (1, -1)))


@cache
def gate_of(deciding: str, companion: str, direction: int) -> Gated:
    """A gate whose first measure decides, with a companion in a state of its own."""
    qrels = {f"q{i}": {"x": 1} for i in range(12)}
    measures = MEASURES[direction]
    good, bad = (
        ir.evaluate(qrels, ir.Run(dict.fromkeys(qrels, ranking), name=name), measures)
        for ranking, name in ((["x"], "new"), (["y", "x"], "old"))
    )
    made = ir.gate(good, bad)
    checks = []
    for check, state in zip(made.checks, (deciding, companion), strict=True):
        found, _, policy = state.partition(", ")
        withheld = found in (TOO_FEW, "too few", "contradicted")
        outcome = POLICIES.get(policy, cast("Outcome", TOO_FEW if withheld else found))
        judge, reason = None, f"the reason of {check.measure}"
        if found == "contradicted":
            judge = JudgeDifference(**JUDGED)
            reason = f"{reason}, but undecided: both sides disagree on the sign"
        checks.append(
            replace(
                check,
                outcome=outcome,
                passed=outcome == "passed",
                carried=found not in (TOO_FEW, "too few"),
                reason=reason,
                judge=judge,
                p_corrected=0.001,
                worst=(),
            )
        )
    outcome = checks[0].outcome
    assert [check.decides for check in checks] == [True, False]
    return replace(made, outcome=outcome, passed=outcome == "passed", checks=tuple(checks))


def check_gate(deciding: str, companion: str, direction: int) -> None:
    gated = gate_of(deciding, companion, direction)
    wanted, beside = OUTCOMES[deciding], COMPANION_WORDS[companion]

    cases = ET.fromstring("".join(junit.gate_junit(gated))).findall("testsuite/testcase")
    assert [[part.tag for part in case] for case in cases] == [[wanted.element], ["system-out"]]

    comment = "".join(pull_request.gate_markdown(gated))
    rows = [line for line in comment.splitlines() if line.startswith("| ") and "<code>" in line]
    states = {line.split("|")[1].strip().strip("*") for line in rows}
    assert states == {wanted.word, beside}

    commands = "".join(pull_request.annotations(gated)).splitlines()
    assert [line for line in commands if not line.startswith("::notice")] == [
        line for line in commands if wanted.command and line.startswith(wanted.command)
    ]
    assert len(commands) == (2 if wanted.command else 1)

    text = gate_views.gate_text(gated)
    assert wanted.word in text
    assert beside in text

    record = json.loads(gate_views.gate_json(gated))
    assert record["outcome"] == gated.outcome
    assert [check["outcome"] for check in record["checks"]] == [
        check.outcome for check in gated.checks
    ]

    assert {row[0].text for row in checks_grid(gated).rows} == {wanted.word, beside}
    assert verdicts.mark(gated.outcome).section == wanted.section

    words = content_of(gated, page="").words
    assert (words["gate"], words["gate_outcome"]) == (wanted.tracker, gated.outcome)


@pytest.mark.parametrize(("deciding", "companion", "direction"), GATES)
def test_every_form_of_a_gate_says_its_outcome(
    deciding: str, companion: str, direction: int
) -> None:
    check_gate(deciding, companion, direction)


@pytest.mark.parametrize(
    ("module", "wrong"),
    [(junit, {"case": "failure"}), (pull_request, {"word": "failed"})],
)
def test_a_wrong_mark_of_a_check_is_found(
    monkeypatch: pytest.MonkeyPatch, module: Any, wrong: Any
) -> None:
    monkeypatch.setattr(
        module,
        "mark_of_check",
        lambda check, gated: replace(verdicts.mark_of_check(check, gated), **wrong),
    )

    with pytest.raises(AssertionError):
        check_gate(TOO_FEW, "passed", 1)


def test_the_words_of_states_are_those_of_analysis() -> None:
    assert verdicts.TOO_FEW == TOO_FEW
