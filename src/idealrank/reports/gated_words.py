"""What every output of a gate says in the same words: the verdict, its numbers, and what it could not have seen."""

import math
from collections.abc import Callable, Iterable

from idealrank.reports.digits import USUAL, decimals, number
from idealrank.reports.layout import clipped
from idealrank.verdict.gated import Check, Gated, Kept

_NAME = 60
_NAMED = 6


def one_line(text: str, width: int = _NAME) -> str:
    r"""A name or id as a report shows it: printable, on one line, and no longer than that.

    Examples
    --------
    >>> one_line("q1\n::error::"), len(one_line("x" * 1000))
    ('q1\\n::error::', 60)
    """
    if len(text) > 2 * width:  # what is left out need not be made printable
        text = text[:width] + text[-width:]
    return clipped("".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text), width)


def gate_places(gated: Gated, asked: int | None = None) -> int:
    """Decimals of the means, differences and bounds of a gate: one number for all of it.

    A check has the end of a one-sided interval; its distance from the difference stands for the half-width.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> gate_places(ir.gate(one, one)), gate_places(ir.gate(one, one), 2)
    (4, 2)
    """
    widths = [abs(check.bound - check.difference) for check in gated.checks if check.wins or check.losses]
    limit = -(gated.policy.margin or 0.0) if gated.policy.strict else -gated.policy.tolerance
    apart = [(check.bound, limit * check.direction) for check in gated.checks if check.wins or check.losses]
    apart += [(check.mean_baseline, check.mean_run) for check in gated.checks if not check.passed and not gated.policy.strict]
    return decimals([(-width, width) for width in widths], apart=apart, asked=asked)


def reason_text(check: Check, places: int) -> str:
    """Why a check passed or failed, its drop with as many decimals as the means beside it.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> good, bad = (ir.evaluate(qrels, {query: ranking for query in qrels}, "RR") for ranking in (["x", "y"], ["y", "x"]))
    >>> reason_text(ir.gate(bad, good).checks[0], 2)
    'a drop of 0.50 is shown, p 0.0039'
    """
    return check.reason.replace(f" of {number(abs(check.difference))} ", f" of {number(abs(check.difference), places)} ", 1)


def reasons(gated: Gated) -> list[str]:
    """Why the gate is closed, as the result itself says it, but with the digits of its tables.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> good, bad = (ir.evaluate(qrels, {query: ranking for query in qrels}, "RR") for ranking in (["x", "y"], ["y", "x"]))
    >>> reasons(ir.gate(bad, good))
    ['RR against run (2): a drop of 0.5000 is shown, p 0.0039']
    """
    places = gate_places(gated)
    closed = [check for check in gated.checks if not check.passed]
    checks = [f"{check.measure} against {check.baseline}: {reason_text(check, places)}" for check in closed]
    first = len(gated.mismatches)
    return [*gated.reasons[:first], *checks, *gated.reasons[first + len(closed) :]]


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "check"), counted(2000, "query", "queries")
    ('1 check', '2,000 queries')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def names(several: Iterable[str], shown: Callable[[str], str] = one_line) -> str:
    """The first few of some names, made fit by `shown`.

    Examples
    --------
    >>> names(["main", "best"]), names(map(str, range(9)))
    ('main, best', '0, 1, 2, 3, 4, 5, ...')
    """
    listed = list(several)
    return ", ".join([*map(shown, listed[:_NAMED]), *(["..."] if len(listed) > _NAMED else [])])


def verdict(gated: Gated, shown: Callable[[str], str] = one_line) -> str:
    """The verdict in one line; `shown` makes names fit for the place where it stands.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> good, bad = (ir.evaluate(qrels, {query: ranking for query in qrels}, "RR") for ranking in (["x", "y"], ["y", "x"]))
    >>> verdict(ir.gate(bad, good))
    'The gate is closed: run must not take the place of run (2) (1 of 1 check failed)'
    """
    place = f"take the place of {names(gated.baselines, shown)}" if gated.baselines else "become the first baseline"
    about = f"{shown(gated.run)} {'may' if gated.passed else 'must not'} {place}"
    if gated.passed:
        return f"The gate is open: {about}"
    checks, broken = sum(not check.passed for check in gated.checks), sum(not kept.passed for kept in gated.contracts)
    why = [f"it {phrase.partition(';')[0]}" for phrase in gated.mismatches.values()]
    why += [f"{checks} of {counted(len(gated.checks), 'check')} failed"] if checks else []
    why += [f"{broken} of {counted(len(gated.contracts), 'contract')} broken"] if broken else []
    return f"The gate is closed: {about} ({', '.join(why)})"


def visible(check: Check, places: int = USUAL) -> str:
    """The smallest drop that a check could have seen, in a few words.

    Examples
    --------
    >>> from idealrank.verdict.gated import Check
    >>> common = dict(baseline="main", measure="AP", direction=1, mean_baseline=0.4, mean_run=0.4, difference=0.0, bound=0.0, p=1.0)
    >>> common |= dict(p_corrected=1.0, passed=True, reason="", n=9, excluded_queries=0, identical_queries=7, wins=1, ties=7, losses=1)
    >>> [visible(Check(**common, worst=(), detectable=drop)) for drop in (0.0312, float("inf"), float("nan"), -0.01)]
    ['0.0312', 'none: too few queries', 'unknown: every difference is the same', 'any, and an improvement below 0.0100']
    """
    drop = check.detectable
    if not check.wins and not check.losses:
        return f"unknown: nothing changed on {counted(check.n, 'query', 'queries')}"
    if math.isnan(drop):
        return "unknown: every difference is the same"
    if drop == math.inf:
        return "none: too few queries"
    if drop == -math.inf:
        return "any: only equal values can pass"
    return number(drop, places) if drop > 0 else f"any, and an improvement below {number(-drop, places)}"


def unjudged(check: Check) -> str:
    """The shares of documents that nobody judged, of the baseline and of the run; empty where they were not measured.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> one = ir.evaluate(qrels, {query: ["x", "y"] for query in qrels}, ir.with_companions("RR@2"))
    >>> unjudged(ir.gate(one, one).checks[0])
    '50.0% / 50.0%'
    """
    if check.unjudged_baseline is None or check.unjudged_run is None:
        return ""
    return f"{check.unjudged_baseline:.1%} / {check.unjudged_run:.1%}"


def could_see(gated: Gated, shown: Callable[[str], str] = one_line, places: int | None = None) -> str:
    """The smallest drops that the gate could have seen, in a sentence.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> good, bad = (ir.evaluate(qrels, {query: ranking for query in qrels}, "RR") for ranking in (["x", "y"], ["y", "x"]))
    >>> could_see(ir.gate(good, good)).split(":")[0]
    'Smallest true drop that closes this gate four times in five'
    """
    if not gated.checks:
        return "No measure was held to a baseline."
    places = gate_places(gated) if places is None else places
    against = " against {}" if len(gated.baselines) > 1 else ""
    first = gated.checks[:_NAMED]
    phrases = [f"{shown(check.measure)}{against.format(shown(check.baseline))} {visible(check, places)}" for check in first]
    more = [f"and so on for {len(gated.checks) - _NAMED} more"] if len(gated.checks) > _NAMED else []
    below = " Smaller ones pass more often." if any(math.isfinite(check.detectable) for check in gated.checks) else ""
    return f"Smallest true drop that closes this gate four times in five: {'; '.join([*phrases, *more])}.{below}"


def failed(gated: Gated) -> tuple[list[Check], list[Kept]]:
    """Checks and contracts that closed the gate.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> good, bad = (ir.evaluate(qrels, {query: ranking for query in qrels}, "RR") for ranking in (["x", "y"], ["y", "x"]))
    >>> [check.measure for check in failed(ir.gate(bad, good))[0]]
    ['RR']
    """
    return [check for check in gated.checks if not check.passed], [kept for kept in gated.contracts if not kept.passed]


def demand(kept: Kept, shown: Callable[[str], str] = one_line) -> str:
    """What a contract demands and what was found.

    Examples
    --------
    >>> from idealrank.verdict.gated import Contract
    >>> demand(Kept(contract=Contract(query="q1"), measure="RR", baseline="main", demanded=1.0, found=0.5, passed=False))
    '0.5000, demanded 1.0000, its value in main'
    """
    found = "no value" if math.isnan(kept.found) else number(kept.found)
    return f"{found}, demanded {number(kept.demanded)}" + (f", its value in {shown(kept.baseline)}" if kept.baseline else "")


def method(gated: Gated) -> str:
    """How it was decided, in phrases.

    Examples
    --------
    >>> import idealrank as ir
    >>> qrels = {f"q{i}": {"x": 1} for i in range(8)}
    >>> good, bad = (ir.evaluate(qrels, {query: ranking for query in qrels}, "RR") for ranking in (["x", "y"], ["y", "x"]))
    >>> method(ir.gate(bad, good))
    'no drop is shown (one-sided, level 0.95); exact, over all signs'
    """
    phrases = [gated.policy.asked]
    if len(gated.checks) > 1:
        phrases.append(
            "every check has to pass by itself" if gated.correction == "none" else f"p corrected for {len(gated.checks)} checks (Holm)"
        )
    phrases.append("exact, over all signs" if gated.n_resamples is None else f"{gated.n_resamples:,} draws, seed {gated.seed}")
    return "; ".join(phrases)
