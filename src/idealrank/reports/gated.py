"""What a gate says, for people and as JSON: the verdict first, then every check, the worst queries, contracts, and how it was found out."""

import json
import math
import textwrap
from collections.abc import Sequence

from idealrank.reports.digits import p_text
from idealrank.reports.layout import WIDTH, clipped, columns, fitted, wrapped
from idealrank.reports.records import SCHEMA
from idealrank.reports.words import paragraph, unanswered
from idealrank.verdict import Check, Gated, Kept
from idealrank.version import __version__

_NAME = 24
_SHOWN_OPEN = 3  # worst queries of an open gate


def gate_text(gated: Gated, notes: Sequence[str] = (), policy_file: str = "") -> str:
    """The whole report.

    Parameters
    ----------
    gated : Gated
        What was found.
    notes : sequence of str
        What else there is to say: of baselines whose judgments changed, of one that was replaced.
    policy_file : str
        Where the policy stands; empty where it was typed.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(6)}
    >>> good, bad = (ir.evaluate(qrels, {query: ranking for query in qrels}, "RR") for ranking in (["x", "y"], ["y", "x"]))
    >>> print(gate_text(ir.gate(bad, good)).splitlines()[0])
    The gate is closed: run is worse than run (2) by RR, 0.5000 against 1.0000: a drop of 0.5000 is
    """
    parts = [_filled([verdict(gated), *unanswered(gated.missing), *_could_have_seen(gated)])]
    if gated.checks:
        parts.append(fitted(_rows(gated.checks)))
    parts += [_worst(check, len(gated.baselines)) for check in _with_worst(gated)]
    parts += [lines for lines in (_unjudged(gated.checks), _contracts(gated), _left_out(gated.checks), _notes(notes)) if lines]
    parts += [_rule(gated, policy_file), paragraph(gated.convention, list(dict.fromkeys(check.measure for check in gated.checks)))]
    return "\n\n".join("\n".join(lines) for lines in parts) + "\n"


def gate_json(gated: Gated, notes: Sequence[str] = (), policy_file: str = "") -> str:
    """JSON text; float64 in the shortest form that reads back, null for what is not finite.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> json.loads(gate_json(ir.gate(one, one)))["passed"]
    True
    """
    said = {"notes": list(notes), "policy_file": policy_file or None, "schema": SCHEMA, "version": __version__}
    return json.dumps(gated.as_dict() | said, indent=2) + "\n"


def verdict(gated: Gated) -> str:
    """Whether the gate is open, and why, in one sentence.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> verdict(ir.gate(one, one))
    'The gate is open: run has the same value as run (2) on every query, by RR.'
    """
    if gated.passed:
        return f"The gate is open: {_why_open(gated)}."
    failed = [check for check in gated.checks if not check.passed]
    broken = [kept for kept in gated.contracts if not kept.passed]
    contracts = f"{_count(len(broken), 'contract')} broken" if broken else ""
    if not failed:
        return f"The gate is closed: {contracts}, first that of {_of_contract(broken[0])}."
    others = [f"{_count(len(failed) - 1, 'other check')} failed"] if len(failed) > 1 else []
    more = [*others, contracts] if contracts else others
    return f"The gate is closed: {_why_closed(gated, failed[0])}." + (f" Besides, {' and '.join(more)}." if more else "")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _why_closed(gated: Gated, check: Check) -> str:
    means = f"{check.mean_run:.4f} against {check.mean_baseline:.4f}"
    if not gated.policy.strict:
        return f"{gated.run} is worse than {check.baseline} by {check.measure}, {means}: {check.reason}"
    drop, margin = _drop(check), f"{gated.policy.margin:g}"
    start = f"it is not shown that {gated.run} is within {margin} of {check.baseline} by {check.measure}, {means}"
    if math.isinf(check.bound):
        return f"{start}: so few queries cannot show it"
    return f"{start}: the true {drop} may be {abs(check.bound):.4f}"


def _why_open(gated: Gated) -> str:
    if not gated.checks:
        return f"there is no baseline yet that {gated.run} could be held against"
    against, by = " or ".join(gated.baselines), _listed(dict.fromkeys(check.measure for check in gated.checks))
    if all(_is_same(check) for check in gated.checks):
        return f"{gated.run} has the same value as {against} on every query, by {by}"
    if gated.policy.strict:
        return f"it is ruled out that {gated.run} is worse than {against} by {gated.policy.margin:g} or more, by {by}"
    beyond = f" by more than {gated.policy.tolerance:g}" if gated.policy.tolerance else ""
    first = gated.checks[0]
    only = f", {first.mean_run:.4f} against {first.mean_baseline:.4f}, p {p_text(first.p_corrected)}" if len(gated.checks) == 1 else ""
    return f"{gated.run} is not shown to be worse than {against}{beyond}, by {by}{only}"


def _listed(texts: Sequence[str] | dict[str, None]) -> str:
    *most, last = texts
    return f"{', '.join(most)} and {last}" if most else last


def _is_same(check: Check) -> bool:
    return not check.wins and not check.losses


def _drop(check: Check) -> str:
    return "drop" if check.direction > 0 else "rise"


def _could_have_seen(gated: Gated) -> list[str]:
    """What the gate was blind to: by the first check in which anything differs, or by none."""
    if not gated.checks:
        return []
    check = next((one for one in gated.checks if not _is_same(one)), None)
    if check is None:
        return [_nothing_changed(gated)]
    by = f" by {check.measure}" if len(gated.checks) > 1 else ""
    if check.detectable == math.inf or check.bound == math.inf * check.direction:
        return [f"So few queries cannot show any {_drop(check)}{by}, however large: this gate would have let everything pass."]
    if math.isinf(check.detectable) or math.isinf(check.bound):
        return ["With so few queries a strict gate opens to no other run than the same one."]
    if check.detectable < 0:
        return [
            f"Even a run that is truly better by {-check.detectable:.4f}{by} is stopped four times in five: "
            "so few queries need a larger margin."
        ]
    return [f"A true {_drop(check)} of {check.detectable:.4f}{by} closes this gate four times in five, smaller ones less often."]


def _nothing_changed(gated: Gated) -> str:
    """As many queries as can change elsewhere, where none of these did: with a larger share, none among n has a chance below alpha."""
    n, alpha = gated.checks[0].n, gated.policy.alpha
    said = f"Nothing changed on {_queries(n)}, so the gate cannot have seen what changes on others"
    if gated.clustered:  # queries of one cluster are no independent witnesses
        return f"{said}."
    return f"{said}: up to {100 * (1 - alpha ** (1 / n)):.2g} % of such queries may (level {1 - alpha:g})."


def _unjudged(checks: Sequence[Check]) -> list[str]:
    """How far the judgments reach, where they do not reach everything."""
    if not any(check.unjudged_baseline or check.unjudged_run for check in checks):
        return []
    rows = [["unjudged", "baseline", "its share", "run's share", "difference on judged documents"]]
    for check in checks:
        shares = ["-" if share is None else f"{share:.1%}" for share in (check.unjudged_baseline, check.unjudged_run)]
        judged = "-" if check.difference_judged is None else f"{check.difference_judged:+.4f}"
        rows.append([check.measure, clipped(check.baseline, _NAME), *shares, judged])
    known = any(check.difference_judged is not None for check in checks)
    return fitted(rows if known else [row[:-1] for row in rows])


def _queries(number: int) -> str:
    return f"{number:,} {'query' if number == 1 else 'queries'}"


def _filled(sentences: Sequence[str]) -> list[str]:
    return textwrap.wrap(" ".join(sentences), WIDTH, break_long_words=False, break_on_hyphens=False)


def _rows(checks: Sequence[Check]) -> list[list[str]]:
    rows = [["measure", "baseline", "its mean", "run", "difference", "bound", "p", "+/=/-", "seen from", "verdict"]]
    return [*rows, *map(_row, checks)]


def _row(check: Check) -> list[str]:
    return [
        check.measure,
        clipped(check.baseline, _NAME),
        f"{check.mean_baseline:.4f}",
        f"{check.mean_run:.4f}",
        f"{check.difference:+.4f}",
        f"{check.bound:+.4f}" if math.isfinite(check.bound) else "-",
        p_text(check.p_corrected),
        f"{check.wins}/{check.ties}/{check.losses}",
        f"{check.detectable:.4f}" if math.isfinite(check.detectable) else "-",
        "same" if _is_same(check) else "passed" if check.passed else "FAILED",
    ]


def _with_worst(gated: Gated) -> list[Check]:
    """Checks whose worst queries are shown: those that failed, or the first."""
    failed = [check for check in gated.checks if not check.passed]
    return [check for check in (failed or gated.checks[:1]) if check.worst]


def _worst(check: Check, baselines: int) -> list[str]:
    against = f" against {check.baseline}" if baselines > 1 else ""
    shown = check.worst if not check.passed else check.worst[:_SHOWN_OPEN]
    rows = [["query", "baseline", "run", "difference"]]
    rows += [[clipped(one.query, 40), f"{one.baseline:.4f}", f"{one.run:.4f}", f"{one.difference:+.4f}"] for one in shown]
    return [f"worst queries by {check.measure}{against} ({len(shown)} of {check.losses:,} that are worse)", *columns(rows)]


def _contracts(gated: Gated) -> list[str]:
    broken = [kept for kept in gated.contracts if not kept.passed]
    if not gated.contracts:
        return []
    kept = f"contracts: {len(gated.contracts) - len(broken):,} kept, {len(broken):,} broken"
    if not broken:
        return [kept]
    rows = [["query", "measure", "demanded", "found", "demanded by"]]
    for one in broken:
        found = "no value" if math.isnan(one.found) else f"{one.found:.4f}"
        demanded = "a value" if math.isnan(one.demanded) else f"{one.demanded:.4f}"
        rows.append([clipped(one.contract.query, 40), one.measure, demanded, found, _demanded_by(one)])
    return [kept, *columns(rows, left=(0, 1, 4))]


def _demanded_by(kept: Kept) -> str:
    return ", ".join(part for part in (kept.contract.place, f"its value in {kept.baseline}" if kept.baseline else "") if part)


def _of_contract(kept: Kept) -> str:
    found = "no value, for no such query is scored" if math.isnan(kept.found) else f"{kept.found:.4f}"
    demanded = "some" if math.isnan(kept.demanded) else f"{kept.demanded:.4f}"
    return f"query {kept.contract.query}: {kept.measure} {found}, demanded {demanded}"


def _left_out(checks: Sequence[Check]) -> list[str]:
    return [
        f"{check.measure}: {_queries(check.excluded_queries)} left out, not scored in both {check.baseline} and the run"
        for check in checks
        if check.excluded_queries
    ]


def _notes(notes: Sequence[str]) -> list[str]:
    return [line for note in notes for line in textwrap.wrap(f"note: {note}", WIDTH, break_long_words=False, break_on_hyphens=False)]


def _rule(gated: Gated, policy_file: str) -> list[str]:
    """What was asked, and how it was looked at."""
    phrases = [f"open where {gated.policy.asked}"]
    if gated.checks:
        drawn = f"{gated.n_resamples:,} draws, seed {gated.seed} made from the values" if gated.n_resamples else "all signs looked at"
        phrases += ["sign-flip permutation test of each difference, one-sided", drawn]
        phrases += [f"p corrected for {len(gated.checks)} checks (Holm)"] if gated.correction == "holm" and len(gated.checks) > 1 else []
        end = "worse" if gated.policy.strict else "better"
        phrases += [
            f"bound: the end of the one-sided interval nearer to {end}, of each check alone",
            "+/=/-: queries on which the run is better, equal, worse",
            "seen from: the smallest true drop that closes the gate four times in five",
        ]
    weighting = [word for word, used in (("weighted", gated.weighted), ("in clusters", gated.clustered)) if used]
    phrases += [f"queries {' and '.join(weighting)}"] if weighting else []
    phrases += [f"policy from {policy_file}"] if policy_file else []
    return ["rule", *wrapped("; ".join(phrases))]
