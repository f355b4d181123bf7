"""A gate as JUnit XML, which every build server reads: a test case for each check and each
contract.
"""

import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from typing import Any

from idealrank.analysis.gate.contracts import KeptContract
from idealrank.analysis.gate.outcome import Check, Gated, QueryDrop
from idealrank.reports.table.cells import USUAL, number
from idealrank.reports.table.text import one_line
from idealrank.reports.views.comparison.phrases import sentence
from idealrank.reports.views.comparison.verdicts import (
    RATE_UNKNOWN,
    VerdictMark,
    mark,
    mark_of_check,
    mark_of_contract,
    state_of_check,
)
from idealrank.reports.views.conventions import cautioned
from idealrank.reports.views.gate.sentences import (
    ANCHORED,
    COMPANION,
    demand,
    is_anchored,
    method,
    reach_text,
    reason_text,
    unjudged,
    verdict,
    visible,
)
from idealrank.version import __version__

# Characters that XML 1.0 cannot contain, and control characters, which it can and no reader shows;
# a carriage return would come back as a line feed. Section 2.2 of the recommendation.
_UNFIT = re.compile("[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def gate_junit(gated: Gated) -> Iterator[str]:
    r"""Write JUnit XML as Jenkins, GitLab and other build servers read it.
    A check is a test case: its class is the baseline, its name the measure. A contract is one of
    the class ``contracts``. The schema junit-10.xsd of Jenkins' xUnit plug-in.
    """
    marks = [mark("failed") for _ in gated.mismatches]
    marks += [mark_of_check(check, gated) for check in gated.checks]
    marks += [mark_of_contract(kept, gated) for kept in gated.contracts]
    cases = Counter(shown.case for shown in marks)
    attributes = {"tests": str(len(marks)), "failures": str(cases["failure"]), "errors": "0"}
    skipped = str(cases["skipped"])
    root = ET.Element("testsuites", {"name": "idealrank gate", **attributes})
    of_suite = {"name": _fit(f"idealrank gate {gated.run}"), **attributes}
    suite = ET.SubElement(root, "testsuite", {**of_suite, "skipped": skipped, "time": "0"})
    properties = ET.SubElement(suite, "properties")
    for name, value in _properties(gated).items():
        ET.SubElement(properties, "property", {"name": name, "value": _fit(value)})

    for name, phrase in gated.mismatches.items():
        named = ("judgments", name, "mismatch")
        _case(suite, mark("failed"), named, phrase, f"run {name} {phrase}")
    for check in gated.checks:
        state = state_of_check(check, gated)
        named = (check.baseline, check.measure, "drop" if state == "failed" else mark(state).word)
        message = _message(gated, _reason(gated, check), passed=check.passed or not check.decides)
        _case(suite, mark_of_check(check, gated), named, message, _numbers(gated, check))
    for kept in gated.contracts:
        against = f" against {kept.baseline}" if kept.baseline else ""
        about = f"{kept.contract.query}: {kept.measure}"
        named = ("contracts", about + against, "contract")
        message = _message(gated, f"{about} {demand(kept)}", passed=kept.passed)
        _case(suite, mark_of_contract(kept, gated), named, message, _place(kept))

    accepted = [gated.acceptance.headline] if gated.acceptance is not None else []
    ET.SubElement(suite, "system-out").text = _fit(
        "\n".join([*accepted, verdict(gated), *cautioned(gated.cautions)])
    )
    ET.indent(root)
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield ET.tostring(root, encoding="unicode") + "\n"


def _case(
    suite: ET.Element, shown: VerdictMark, named: tuple[str, str, str], message: str, body: str
) -> None:
    """Add a case that failed, or was skipped since there are too few judgments, or passed; `named`
    has its class, its name, and the type of a failure.
    """
    group, name, kind = named
    case = ET.SubElement(
        suite, "testcase", {"classname": _fit(group), "name": _fit(name), "time": "0"}
    )
    if shown.case == "skipped":
        ET.SubElement(case, "skipped", {"message": _fit(message)}).text = _fit(body)
    elif shown.case == "failure":
        ET.SubElement(case, "failure", {"type": kind, "message": _fit(message)}).text = _fit(body)
    else:
        ET.SubElement(case, "system-out").text = _fit(body)


def _properties(gated: Gated) -> dict[str, str]:
    policy, convention = gated.policy, gated.convention
    properties: dict[str, Any] = {}
    if gated.acceptance is not None:
        properties["accepted.by"] = gated.acceptance.by
        properties["accepted.reason"] = gated.acceptance.reason
    properties |= {
        "version": __version__,
        "run": gated.run,
        "baselines": ", ".join(gated.baselines),
        "policy": policy.asked,
        "tolerance": policy.tolerance,
        "strict": str(policy.strict).lower(),
        "margin": policy.margin,
        "alpha": policy.alpha,
        "when_unjudged": policy.when_unjudged,
        "outcome": gated.outcome,
        "correction": gated.correction,
        "draws": gated.n_resamples,
        "seed": gated.seed,
        "method": method(gated),
        "convention": convention.name,
        "convention.fingerprint": convention.fingerprint,
    }
    return {name: str(value) for name, value in properties.items() if value is not None}


def _message(gated: Gated, message: str, *, passed: bool) -> str:
    """Return the message of a case, after the acceptance of a case that closed the gate; nothing is
    capitalised, so that ids stay as they are.
    """
    return (
        message if passed or gated.acceptance is None else f"{gated.acceptance.headline} {message}"
    )


def _reason(gated: Gated, check: Check) -> str:
    return reason_text(gated, check, USUAL, str)


def _numbers(gated: Gated, check: Check) -> str:
    """Write the numbers of a check, its support by the judgments, and the queries that fell."""
    lines = [
        _reason(gated, check),
        *([] if check.decides else [COMPANION]),
        *([] if check.error_rate_known else [sentence(RATE_UNKNOWN)]),
        *([ANCHORED] if is_anchored(check) else []),
        f"mean {number(check.mean_run)}, in {check.baseline} {number(check.mean_baseline)}, "
        f"difference {number(check.difference, signed=True)}",
        f"bound of the difference {number(check.bound, signed=True)}; one-sided p {check.p:.4g}, "
        f"corrected {check.p_corrected:.4g}; two-sided p, as in compare, {check.p_two_sided:.4g}",
        f"queries {check.n}: better {check.wins}, equal {check.ties}, worse {check.losses}; left "
        f"out {check.excluded_queries}",
        f"true drop detectable with 80 % power: {visible(check)}",
    ]
    if shares := unjudged(check):
        lines.append(f"unjudged documents, {check.baseline} / run: {shares}")
    if check.carried and (clause := reach_text(gated, check, str)):
        lines.append(sentence(clause))
    if check.worst:
        lines.append(f"worst queries ({check.baseline}, run, difference):")
    lines += [_fallen(drop) for drop in check.worst]
    return "\n".join(lines)


def _fallen(drop: QueryDrop) -> str:
    """Format a query that fell, in a line with its text."""
    values = f"{number(drop.baseline)}  {number(drop.run)}  {number(drop.difference, signed=True)}"
    text = f"  {one_line(drop.text)}" if drop.text else ""
    return f"  {drop.query}  {values}{text}"


def _place(kept: KeptContract) -> str:
    place = f"\ndemanded in {kept.contract.place}" if kept.contract.place else ""
    text = f"  {one_line(kept.text)}" if kept.text else ""
    return f"{kept.measure} {demand(kept)}{text}{place}"


def _fit(text: str) -> str:
    r"""Spell out characters that XML 1.0 cannot contain."""
    return _UNFIT.sub(lambda match: ascii(match[0])[1:-1], text)
