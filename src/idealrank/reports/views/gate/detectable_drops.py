"""Sentences on the power of a gate: the drop that it detects, and what may change unseen."""

import math

from idealrank.analysis.gate import Check, Gated
from idealrank.reports.table.cells import counted, number
from idealrank.reports.views.comparison.verdicts import is_identical
from idealrank.reports.views.gate.sentences import drop_word, few_flips


def seen_text(gated: Gated, places: int) -> list[str]:
    """State the drop that the gate detects by the first changed check whose power is known, or that
    there is none.
    """
    if not gated.checks:
        return []
    changed = [check for check in gated.deciding if not is_identical(check)]
    if not changed:
        return [_nothing_changed(gated)]
    with_power = [check for check in changed if not math.isnan(check.detectable)]
    check = with_power[0] if with_power else changed[0]
    by = f" by {check.measure}" if len(gated.checks) > 1 else ""
    if check is not changed[0] and check.measure == changed[0].measure:
        by += f" against {check.baseline}"
    # Without an end towards better values, the one-sided interval of `bound` excludes no value: no
    # drop can be significant.
    if check.detectable == math.inf or check.bound == math.inf * check.direction:
        passes = ": this gate passes every run" if gated.passed else ""
        if flips := few_flips(check):
            return [f"{flips} {gated.policy.alpha:.2g}{by}{passes}."]
        if gated.weighted:
            return [
                "The queries count as too few of equal weight to give a detectable "
                f"{drop_word(check)}{by}."
            ]
        return [
            f"{counted(check.n, 'query is', 'queries are')} too few to show any "
            f"{drop_word(check)}{by}, however large{passes}."
        ]
    if math.isinf(check.detectable) or math.isinf(check.bound):
        return ["With so few queries, a strict gate passes only an identical run."]
    return _power(gated, check, places, by)


def _power(gated: Gated, check: Check, places: int, by: str) -> list[str]:
    """State the drop that the gate finds 80% of the time."""
    if math.isnan(check.detectable):
        return [f"No power is stated{by}, since {check.detectable_reason}."]
    if check.detectable < 0:
        return [
            f"Even a run that is truly better by {number(-check.detectable, places)}{by} fails 80% "
            "of the time: so few queries need a larger margin."
        ]
    queries = "this query" if check.n == 1 else f"these {check.n:,} queries"
    size = f"a true {drop_word(check)} of {number(check.detectable, places)}{by}"
    if gated.policy.strict:
        return [f"With {queries}, {size} fails this gate 80% of the time."]
    return [f"With {queries}, {size} would be found 80% of the time; smaller ones may be missed."]


def _nothing_changed(gated: Gated) -> str:
    """State the share of queries that may change although none of these did."""
    n = gated.checks[0].n
    unchanged = f"No value changed on {counted(n, 'query', 'queries')}"
    if gated.clustered:  # queries of one cluster are not independent
        return f"{unchanged}, so the gate says nothing about changes on other queries."
    return (
        f"{unchanged}, but a change that affects up to {_unseen_share(gated)} of such queries can "
        "pass unseen."
    )


def _unseen_share(gated: Gated) -> str:
    # If more than this share s of all queries changed, (1 - s)^n, the probability that none of n
    # did, would be below alpha.
    n, alpha = gated.checks[0].n, gated.policy.alpha
    return f"{100 * (1 - alpha ** (1 / n)):.2g}%"


def unseen_share_level(gated: Gated) -> list[str]:
    """State the level of the share that can change unseen, if nothing changed."""
    unchanged = all(is_identical(check) for check in gated.deciding)
    if not gated.checks or gated.clustered or not unchanged:
        return []
    level = f"{1 - gated.policy.alpha:g}"
    return [f"The share of {_unseen_share(gated)} is an upper limit at level {level}."]
