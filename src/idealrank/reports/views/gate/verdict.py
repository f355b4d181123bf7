"""The verdict of a gate in one sentence: open, closed, or too few judgments, and why."""

import math
from collections.abc import Sequence

from idealrank.analysis.gate import Check, Gated, KeptContract
from idealrank.analysis.gate.outcome import TOO_FEW
from idealrank.reports.table.cells import USUAL, counted, number, p_text
from idealrank.reports.table.text import one_line
from idealrank.reports.views.comparison.label_phrases import listed_in_words
from idealrank.reports.views.comparison.verdicts import is_identical
from idealrank.reports.views.gate.sentences import (
    counts_by_state,
    drop_word,
    failed,
    is_anchored,
    is_contradicted,
    replaceable,
    short_of_judgments,
    subject_of,
    withheld,
)


def verdict(gated: Gated, places: int = USUAL) -> str:
    """State the outcome and its reason in one sentence, with a given number of decimals."""
    checks, broken = failed(gated)
    doubtful = withheld(gated)
    if gated.mismatches:
        contracts = f" Besides, {counted(len(broken), 'contract')} broken." if broken else ""
        return f"The gate is closed: {'; '.join(gated.unjoined)}{contracts}"
    if gated.passed and doubtful is None:
        return f"The gate is open: {_why_open(gated, places)}."
    if gated.outcome == TOO_FEW and doubtful is not None:
        others = len(short_of_judgments(gated)) - 1
        more = f"; the same holds for {counted(others, 'other check')}" if others else ""
        return f"{_doubt(gated, doubtful)}: {_size(gated, doubtful, places)}{more}."
    if gated.passed and doubtful is not None:
        return f"The gate is open, {_as_asked(gated, doubtful)}: {_size(gated, doubtful, places)}."

    return _closed(gated, checks, broken, places)


def _closed(
    gated: Gated, checks: Sequence[Check], broken: Sequence[KeptContract], places: int
) -> str:
    """State the first reason of a closed gate, then count the others."""
    contracts = f"{counted(len(broken), 'contract')} broken" if broken else ""
    besides = []
    if checks:
        further = "other check" if len(checks) == 2 else "other checks"
        besides += [*counts_by_state(gated, checks[1:], further), contracts]
        start = f"The gate is closed{_why_closed(gated, checks[0], places)}"
    else:
        start = f"The gate is closed: {contracts}, first that of {_of_contract(broken[0])}"
    short = len(short_of_judgments(gated))
    besides += [f"too few judgments for {counted(short, 'check')}"] if short else []
    other_reasons = " and ".join(filter(None, besides))
    return f"{start}; besides, {other_reasons}." if other_reasons else f"{start}."


def _doubt(gated: Gated, check: Check) -> str:
    """Describe the open question, in a clause."""
    may = f"{gated.run} may replace {' or '.join(replaceable(gated))}"
    if is_contradicted(check, gated.policy.alpha):
        return f"People and the judge disagree on whether {may}"
    return f"Too few judgments to say whether {may}"


def _as_asked(gated: Gated, check: Check) -> str:
    """Say that the policy decides, in a clause."""
    condition = "there are too few judgments"
    if is_contradicted(check, gated.policy.alpha):
        condition = "people and the judge disagree"
    return f"as the policy asks if {condition}"


def _size(gated: Gated, check: Check, places: int) -> str:
    """State both means, the drop and p, in a clause."""
    whose = f" for {subject_of(gated, check, str)}" if is_anchored(check) else ""
    means = f"{number(check.mean_run, places)}{whose} against {number(check.mean_baseline, places)}"
    drop = number(abs(check.difference), places)
    p = p_text(check.p_corrected, gated.policy.alpha)
    if gated.policy.strict:
        ruled_out = f"a {drop_word(check)} of {gated.policy.margin:g} or more is ruled out (p {p})"
        return f"by {check.measure}, {means} in {check.baseline}; {ruled_out}"
    if check.difference * check.direction > 0:  # a judge contradicts a gain
        gain = number(check.difference, places, signed=True)
        return (
            f"by {check.measure}, {means} in {check.baseline}, a difference of {gain} (p of a "
            f"{drop_word(check)}: {p})"
        )
    beyond = _beyond_accepted(gated)
    return (
        f"by {check.measure}, {means} in {check.baseline}, a {drop_word(check)} of {drop}{beyond} "
        f"(p {p})"
    )


def _beyond_accepted(gated: Gated) -> str:
    """Name the accepted drop, which is exceeded, in a clause; empty without one."""
    tolerance = gated.policy.tolerance
    return f", more than the accepted {tolerance:g}" if tolerance else ""


def _why_closed(gated: Gated, check: Check, places: int) -> str:
    """Say why the gate is closed, in a clause that begins with its punctuation."""
    if check is withheld(gated):
        return _not_shown_harmless(gated, check, places)
    means = f"{number(check.mean_run, places)} against {number(check.mean_baseline, places)}"
    if not gated.policy.strict:
        drop = number(abs(check.difference), places)
        p = p_text(check.p_corrected, gated.policy.alpha)
        size = f"{means}, a {drop_word(check)} of {drop}{_beyond_accepted(gated)} (p {p})"
        return (
            f": by {check.measure}, {subject_of(gated, check, str)} is worse than "
            f"{check.baseline}: {size}"
        )
    start = (
        f": by {check.measure}, {gated.run} may be more than {gated.policy.margin:g} worse than "
        f"{check.baseline} ({means})"
    )
    if math.isinf(check.bound):
        return f"{start}: these queries are too few to exclude it"
    largest = number(abs(check.bound), places)
    return f"{start}: the true {drop_word(check)} may be as large as {largest}"


def _not_shown_harmless(gated: Gated, check: Check, places: int) -> str:
    """Say why a gate is closed whose judgments decide nothing, in a clause that begins with its
    punctuation.
    """
    if is_contradicted(check, gated.policy.alpha):
        about = f"{subject_of(gated, check, str)} is better or worse than {check.baseline}"
        return f": people and the judge disagree on whether {about}: {_size(gated, check, places)}"
    means = (
        f"{number(check.mean_run, places)} against {number(check.mean_baseline, places)} in "
        f"{check.baseline}"
    )
    p = p_text(check.p_corrected, gated.policy.alpha)
    if gated.policy.strict:
        margin = f"{gated.policy.margin:g}"
        ruled_out = f"a {drop_word(check)} of {margin} or more is ruled out"
        return (
            f", with too few judgments: {check.measure} is {means}, and {ruled_out} only if "
            f"unjudged documents are not relevant (p {p})"
        )
    drop = number(abs(check.difference), places)
    beyond = _beyond_accepted(gated)
    if beyond:
        beyond += ","  # the end of the inserted clause
    harm = f"a {drop_word(check)} of {drop}{beyond} that cannot be shown to be harmless (p {p})"
    whose = f" of {subject_of(gated, check, str)}" if is_anchored(check) else ""
    return f", with too few judgments: {check.measure}{whose} is {means}, {harm}"


def _why_open(gated: Gated, places: int) -> str:
    """Say why the gate is open, in a clause."""
    if not gated.checks:
        return f"there is no baseline yet to compare {gated.run} with"
    against = " or ".join(replaceable(gated))
    by = listed_in_words(dict.fromkeys(check.measure for check in gated.deciding))
    if all(is_identical(check) for check in gated.deciding):
        return f"by {by}, {gated.run} has the same value as {against} on every query"
    if gated.policy.strict:
        return (
            f"by {by}, {gated.run} is shown to be less than {gated.policy.margin:g} worse than "
            f"{against}"
        )

    # The numbers of a single check are in brackets; a gain is a clause of its own.
    numbers = ""
    if len(gated.deciding) == 1:
        check = gated.deciding[0]
        means = f"{number(check.mean_run, places)} against {number(check.mean_baseline, places)}"
        if (check.mean_run - check.mean_baseline) * check.direction > 0:
            size = number(abs(check.difference), places)
            word = "higher" if check.direction > 0 else "lower"
            return f"by {by}, {gated.run} is {size} {word} than {against} ({means})"
        p = p_text(check.p_corrected, gated.policy.alpha)
        numbers = f" ({means}; p of a {drop_word(check)}: {p})"

    anchors = [check.baseline for check in gated.deciding if is_anchored(check)]
    of_anchor = ""
    if gated.policy.tolerance:
        larger = f"is not shown to be larger than {gated.policy.tolerance:g}"
        if anchors:
            of_anchor = f", nor is that of its mean with the last accepted runs, from {anchors[0]}"
        return f"by {by}, the drop from {against} to {gated.run} {larger}{numbers}{of_anchor}"
    if anchors:
        of_anchor = f", nor is its mean with the last accepted runs, than {anchors[0]}"
    return f"by {by}, {gated.run} is not shown to be worse than {against}{numbers}{of_anchor}"


def _of_contract(kept: KeptContract) -> str:
    value = f"{kept.found:.4f}"
    if math.isnan(kept.found):
        value = "no value, because no such query is scored"
    demanded = "some" if math.isnan(kept.demanded) else f"{kept.demanded:.4f}"
    text = f' "{one_line(kept.text)}"' if kept.text else ""
    return f"query {kept.contract.query}{text}: {kept.measure} {value}, demanded {demanded}"
