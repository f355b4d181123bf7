"""Sentences that every output of a gate shares: the verdict, its numbers, and the detectable
drop.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable

from idealrank.analysis.comparison.families import COMPANIONS, PRIMARY
from idealrank.analysis.gate.contracts import KeptContract
from idealrank.analysis.gate.outcome import NOT_CARRIED, TOO_FEW, Check, Gated
from idealrank.analysis.gate.series import ANCHOR
from idealrank.reports.table.cells import USUAL, counted, decimals, number
from idealrank.reports.table.text import one_line
from idealrank.reports.views.comparison.label_phrases import (
    label_clause,
    one_sided_step,
    one_sided_why,
)
from idealrank.reports.views.comparison.phrases import (
    IN_PYTHON,
    Asked,
    Phrases,
    tipping_text,
    unknown_text,
    why_too_few,
)
from idealrank.reports.views.comparison.phrases import next_step as judging_step
from idealrank.reports.views.comparison.verdicts import (
    CAUTION,
    CONTRADICTED,
    RATE_UNKNOWN,
    is_identical,
    mark,
    state_of_check,
)
from idealrank.stats.comparison import FEW_FLIPS

COMPANION = "companion: cannot fail the gate without --also MEASURE"
ANCHORED = (
    "anchor: the run with which the baseline file was made, against the mean of this run and the "
    "last accepted ones"
)
RATE_MARKED = f"{CAUTION} {RATE_UNKNOWN}"
_NAMED = 6  # names or checks that a sentence lists
_RULED_OUT = Phrases(
    goes="this drop would no longer be ruled out",
    stays="this drop would still be ruled out",
    weak="by the paired t test this drop is not ruled out",
    turns="",
)
_DROP = Phrases(
    "this drop would no longer be significant",
    "this drop would stay significant",
    "by the paired t test this drop is not significant",
)
_AGAIN = "run the gate again"
_JUDGE_STEP = (
    "Let people grade again what they and the judge grade differently; 'idealrank judge check' "
    "says where that is."
)
_NEITHER = "The run neither passed nor failed (exit code 3 of the command)."
# A drop may be hidden if the baseline's unjudged share exceeds the run's by at least this.
_FEWER = 0.1
# What the policy makes of a check with too few judgments, at the end of a sentence.
_ASKED = {
    "neutral": "",
    "fail": ", so that the gate is closed",
    "pass": "; the policy lets that pass",
}


def gate_places(gated: Gated, digits: int | None = None) -> int:
    """Choose the decimals of the means, differences and bounds of a gate, one number for all.

    A check has the end of a one-sided interval; its distance from the difference stands for the
    half-width.
    """
    changed = [check for check in gated.checks if check.wins or check.losses]
    widths = [abs(check.bound - check.difference) for check in changed]
    limit = -(gated.policy.margin or 0.0) if gated.policy.strict else -gated.policy.tolerance
    apart = [(check.bound, limit * check.direction) for check in changed]
    if not gated.policy.strict:
        failed_checks = [check for check in gated.checks if not check.passed]
        apart += [(check.mean_baseline, check.mean_run) for check in failed_checks]
    return decimals([(-width, width) for width in widths], apart=apart, digits=digits)


def reason_text(
    gated: Gated, check: Check, places: int, shown: Callable[[str], str] = one_line
) -> str:
    """Say why a check passed or failed, with as many decimals as the table; `shown` makes names fit
    for their place.
    """
    drop = abs(check.difference)
    # The reason of the result has the usual decimals.
    reason = check.reason.replace(f" of {number(drop)} ", f" of {number(drop, places)} ", 1)
    clause = "" if check.carried else _clause(gated, check, shown)
    if not clause:
        return reason
    measured, _, _ = reason.partition(NOT_CARRIED)
    if not gated.policy.strict:
        measured = f"the values show {measured.replace(' is significant', '', 1)}"
    consequence = _ASKED[gated.policy.when_unjudged] if check.decides else ""
    return f"{measured}{NOT_CARRIED} to support it: {clause}{consequence}"


def _clause(gated: Gated, check: Check, shown: Callable[[str], str]) -> str:
    """Say what the judgments lack, in a clause; empty if that is not known."""
    a, b = shown(check.baseline), shown(gated.run)
    if check.basis is not None and check.basis.one_sided is not None:
        clause = one_sided_why(check.basis.one_sided, a, b).removesuffix(".")
        # Other clauses begin with the name of a run.
        if clause.startswith("The labels come"):
            clause = f"the {clause.removeprefix('The ')}"
        return clause
    if check.tipping is None:
        return ""
    answer = _DROP
    if gated.policy.strict:
        answer = _RULED_OUT
    elif gated.policy.tolerance:
        answer = _DROP._replace(turns="")
    return tipping_text(check.tipping, a, b, answer)


def why_withheld(gated: Gated, check: Check, shown: Callable[[str], str] = one_line) -> str:
    """Say in one sentence why the judgments do not support the answer of a check; empty if they
    do.

    Examples
    --------
    >>> import idealrank as ir
    >>> evaluation = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> gated = ir.gate(evaluation, evaluation)
    >>> why_withheld(gated, gated.checks[0])
    ''
    """
    if check.carried:
        return ""
    a, b = shown(check.baseline), shown(gated.run)
    if check.basis is not None and check.basis.one_sided is not None:
        return one_sided_why(check.basis.one_sided, a, b)
    if check.tipping is None:
        return "Unjudged documents may explain the result."
    lost = "the drop could be chance"
    if gated.policy.strict:
        lost = "the drop would no longer be ruled out"
    return why_too_few(check.tipping, a, b, lost)


def one_sided(gated: Gated, sentences: Iterable[str]) -> list[str]:
    """Write a sentence on the shares in other sentences; none if these state no share of a
    one-sided test.
    """
    if gated.policy.strict or not any(_DROP.goes in clause for clause in sentences):
        return []
    return ["'idealrank compare' reports a different share, because its test is two-sided."]


def hidden_drop(
    gated: Gated, shown: Callable[[str], str] = one_line, origin: Asked = IN_PYTHON
) -> list[str]:
    """Return a caution and a next step if a check passes though the judgments favour the run:
    labels may come from the run, or the baseline has many more unjudged documents.
    """
    for check in () if gated.policy.strict else gated.deciding:
        before, now = check.unjudged_baseline, check.unjudged_run
        source = None if check.basis is None else check.basis.one_sided
        if check.passed and source is not None and source.run == "b":
            caution = (
                f"Caution: a drop by {shown(check.measure)} may be hidden: "
                f"{_clause(gated, check, shown)}."
            )
            return [caution, one_sided_step(source, _AGAIN, origin)]
        # Under other labels, documents without one count as not relevant, as declared.
        if check.basis is not None and check.basis.kind != "pooled":
            continue
        if not check.passed or before is None or now is None:
            continue
        if round(before - now, 9) >= _FEWER:
            baseline = shown(check.baseline)
            run = shown(gated.run)
            before_text = f"{before:.1%} of the documents of {baseline} are unjudged"
            return [
                f"Caution: by {shown(check.measure)} {before_text}, and {now:.1%} of {run}, which "
                "may hide a drop.",
                f"Judge the documents that only {baseline} returns, the highest ranks first, and "
                f"{_AGAIN}.",
            ]
    return []


def reach_text(gated: Gated, check: Check, shown: Callable[[str], str] = one_line) -> str:
    """Describe the basis of a check with unjudged documents; empty if nothing is significant or all
    is judged.
    """
    if is_identical(check) or check.p_corrected > gated.policy.alpha:
        return ""
    if check.tipping is not None or not check.carried:
        return _clause(gated, check, shown)
    if check.basis is not None and check.basis.kind != "pooled":
        return label_clause(check.basis)
    has_unjudged = check.unjudged_baseline or check.unjudged_run
    return unknown_text(check.tipping_reason) if has_unjudged else ""


def reasons(gated: Gated) -> list[str]:
    """List the reasons that the gate is not open, or only by its policy, as in the result itself
    but with the digits of its tables.
    """
    places = gate_places(gated)
    # `Gated.reasons` has the mismatches first, then the checks that did not pass, then the rest.
    n_mismatches = len(gated.mismatches)
    n_failed = sum(not check.passed for check in gated.deciding)
    unclear = [check for check in gated.deciding if not (check.passed and check.carried)]
    checks = [
        f"{check.measure} against {check.baseline}: {reason_text(gated, check, places, str)}"
        for check in unclear
    ]
    mismatches = gated.reasons[:n_mismatches]
    rest = gated.reasons[n_mismatches + n_failed :]
    return [*mismatches, *checks, *rest]


def next_step(
    gated: Gated, shown: Callable[[str], str] = one_line, origin: Asked = IN_PYTHON
) -> list[str]:
    """Explain exit code 3, and write the next step; none if there are enough judgments."""
    return [_NEITHER, judgments_step(gated, shown, origin)] if gated.outcome == TOO_FEW else []


def judgments_step(
    gated: Gated, shown: Callable[[str], str] = one_line, origin: Asked = IN_PYTHON
) -> str:
    """Write the next step for the first check whose answer is withheld; empty without one.

    Examples
    --------
    >>> import idealrank as ir
    >>> evaluation = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> judgments_step(ir.gate(evaluation, evaluation))
    ''
    """
    check = withheld(gated)
    if check is None:
        return ""
    if is_contradicted(check, gated.policy.alpha):
        return _JUDGE_STEP
    if check.basis is not None and check.basis.one_sided is not None:
        return one_sided_step(check.basis.one_sided, _AGAIN, origin)
    if check.tipping is None or is_anchored(check):
        return f"Judge the unjudged documents, the highest ranks first, and {_AGAIN}."
    return judging_step(check.tipping, shown(check.baseline), shown(gated.run), "gate", origin)


def withheld(gated: Gated) -> Check | None:
    """Return the first deciding check whose answer is not supported, by the judgments or by a
    judge; None without one.
    """
    doubtful = [
        check
        for check in gated.deciding
        if not check.carried or is_contradicted(check, gated.policy.alpha)
    ]
    # If another check has clearly failed, the gate is closed whatever further labels show.
    clear = any(check.outcome == "failed" and check not in doubtful for check in gated.deciding)
    return None if clear or not doubtful else doubtful[0]


def is_contradicted(check: Check, alpha: float) -> bool:
    """Return whether a judge alone withholds the answer of a check."""
    return check.carried and check.is_contradicted(alpha)


def names(several: Iterable[str], shown: Callable[[str], str] = one_line) -> str:
    """List the first few of some names, made fit by `shown`."""
    listed = list(several)
    dots = ["..."] if len(listed) > _NAMED else []
    return ", ".join([*map(shown, listed[:_NAMED]), *dots])


def is_anchored(check: Check) -> bool:
    """Return whether a check is against the anchor of a series."""
    return check.baseline.endswith(ANCHOR)


def subject_of(gated: Gated, check: Check, shown: Callable[[str], str] = one_line) -> str:
    """Name the subject of a check: the run, or against an anchor its mean with the last accepted
    runs.
    """
    return check.subject(shown(gated.run))


def replaceable(gated: Gated) -> list[str]:
    """Names of the baselines that the run may replace: an anchor stays."""
    return [name for name in gated.baselines if not name.endswith(ANCHOR)]


def verdict(gated: Gated, shown: Callable[[str], str] = one_line) -> str:
    """State the verdict in one line; `shown` makes names fit for their place."""
    place = "become the first baseline"
    if gated.baselines:
        place = f"replace {names(replaceable(gated), shown)}"
    if gated.outcome == TOO_FEW:
        short = short_of_judgments(gated)
        by_judge = bool(short) and state_of_check(short[0], gated) == CONTRADICTED
        doubt = "People and the judge disagree on" if by_judge else "Too few judgments to say"
        return (
            f"{doubt} whether {shown(gated.run)} may {place} ({len(short)} of "
            f"{counted(len(gated.deciding), 'check')})"
        )
    about = f"{shown(gated.run)} {'may' if gated.passed else 'must not'} {place}"
    if gated.passed:
        return f"The gate is open: {about}"
    checks, contracts = failed(gated)
    why = [f"it {phrase.partition(';')[0]}" for phrase in gated.mismatches.values()]
    why += counts_by_state(gated, checks, f"of {counted(len(gated.deciding), 'check')}")
    if contracts:
        why.append(f"{len(contracts)} of {counted(len(gated.contracts), 'contract')} broken")
    return f"The gate is closed: {about} ({', '.join(why)})"


def counts_by_state(gated: Gated, checks: Iterable[Check], of_checks: str) -> list[str]:
    """Count checks by state, in the words of the verdict column."""
    counts = Counter(mark(state_of_check(check, gated)).word for check in checks)
    return [
        f"{number} {of_checks}{' with' if word == TOO_FEW else ''} {word}"
        for word, number in counts.items()
    ]


def visible(check: Check, places: int = USUAL) -> str:
    """State the smallest true drop that a check finds 80% of the time, in a few words."""
    drop = check.detectable
    if not check.wins and not check.losses:
        return f"unknown: nothing changed on {counted(check.n, 'query', 'queries')}"
    if math.isnan(drop):
        return f"unknown: {check.detectable_reason}"
    if drop == math.inf:
        return f"none: {few_flips(check) or 'too few queries'}"
    if drop == -math.inf:
        return "any: only equal values can pass"
    if drop > 0:
        return number(drop, places)
    return f"any, and an improvement below {number(-drop, places)}"


def drop_word(check: Check) -> str:
    """Return the word for a change to the worse: a rise if low values are good."""
    return "drop" if check.direction > 0 else "rise"


def few_flips(check: Check) -> str:
    """Say that no p value of the sign flips is as small as the level of a check; empty if some
    are.
    """
    reason = check.detectable_reason or ""
    return reason if reason.endswith(FEW_FLIPS) else ""


def unjudged(check: Check) -> str:
    """Format the unjudged shares of the baseline and of the run; empty if not measured."""
    if check.unjudged_baseline is None or check.unjudged_run is None:
        return ""
    return f"{check.unjudged_baseline:.1%} / {check.unjudged_run:.1%}"


def could_see(
    gated: Gated, shown: Callable[[str], str] = one_line, places: int | None = None
) -> str:
    """State the smallest true drops that the gate detects, in a sentence."""
    if not gated.checks:
        return "No measure was compared with a baseline."
    places = gate_places(gated) if places is None else places
    phrases = []
    for check in gated.deciding[:_NAMED]:
        whose = f" of {subject_of(gated, check, shown)}" if is_anchored(check) else ""
        against = f" against {shown(check.baseline)}" if len(gated.baselines) > 1 else ""
        phrases.append(f"{shown(check.measure)}{whose}{against} {visible(check, places)}")
    if len(gated.deciding) > _NAMED:
        phrases.append(f"and so on for {len(gated.deciding) - _NAMED} more")
    sentence = f"True drop that would be found 80% of the time: {'; '.join(phrases)}."
    if any(math.isfinite(check.detectable) for check in gated.deciding):
        sentence += " Smaller drops may be missed."
    return sentence


def failed(gated: Gated) -> tuple[list[Check], list[KeptContract]]:
    """Return checks and contracts that closed the gate; checks that are withheld come last."""
    checks = [check for check in gated.deciding if check.outcome == "failed"]
    checks.sort(key=lambda check: state_of_check(check, gated) != "failed")
    return checks, [kept for kept in gated.contracts if not kept.passed]


def short_of_judgments(gated: Gated) -> list[Check]:
    """Return checks that would close the gate, or under `strict` open it, with enough judgments."""
    return [check for check in gated.deciding if check.outcome == TOO_FEW]


def demand(kept: KeptContract, shown: Callable[[str], str] = one_line) -> str:
    """State the demand of a contract and the value found."""
    value = "no value" if math.isnan(kept.found) else number(kept.found)
    source = f", its value in {shown(kept.baseline)}" if kept.baseline else ""
    return f"{value}, demanded {number(kept.demanded)}{source}"


def method(gated: Gated) -> str:
    """Describe the method in phrases."""
    drawn = "exact, over all signs"
    if gated.n_resamples is not None:
        drawn = f"{gated.n_resamples:,} draws, seed {gated.seed}"
    return "; ".join([rule_text(gated), *families(gated), drawn])


def rule_text(gated: Gated) -> str:
    """Describe the policy, the place of this look in its series, and the queries held out."""
    phrases = [gated.policy.asked]
    if gated.series is not None and not gated.policy.strict:
        begins = "" if gated.checks else ", from the next run on"
        phrases = [f"{gated.policy.asked}{begins}", gated.series.sentence]
    if gated.holdout:
        phrases.append(
            f"{gated.held_out:,} of {gated.n_queries:,} queries held out (share {gated.holdout:g})"
        )
    return "; ".join(phrases)


def unseen(gated: Gated) -> list[str]:
    """Say how large a lasting drop must be to be seen in a series, and how many queries would see
    half of it.
    """
    checks = [check for check in gated.deciding if 0 < check.detectable < math.inf]
    if gated.series is None or gated.policy.strict or not checks:
        return []
    check = checks[-1]  # against the anchor, if there is one
    # The detectable drop falls with the square root of the number of queries.
    return [
        f"A lasting drop of {check.measure} below {check.detectable:.3f} against {check.baseline} "
        f"may stay unseen on these {check.n:,} queries; {4 * check.n:,} such queries would show "
        "half of it."
    ]


def families(gated: Gated) -> list[str]:
    """Describe which checks were tested alone, and which were corrected together."""
    primary, companions = (
        [check for check in gated.checks if check.family == family]
        for family in (PRIMARY, COMPANIONS)
    )
    phrases = [f"{one_line(primary[0].measure)} {_over(primary)}"] if primary else []
    if gated.policy.strict:
        phrases = ["every deciding check has to pass"] if len(gated.deciding) > 1 else []
    elif len(companions) == 1:
        phrases.append(f"{one_line(companions[0].measure)}, a companion, tested alone")
    elif companions:
        phrases.append(f"{len(companions):,} checks of companions corrected together (max-T)")
    deciding = list(dict.fromkeys(one_line(check.measure) for check in companions if check.decides))
    if companions and not deciding:
        phrases.append("companions cannot fail the gate")
    elif deciding:
        phrases.append(f"of the companions, {names(deciding)} may fail the gate")
    return phrases


def _over(checks: list[Check]) -> str:
    if len(checks) == 1:
        return "tested alone"
    return f"corrected over {counted(len(checks), 'baseline')} (max-T)"
