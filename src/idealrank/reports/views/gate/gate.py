"""Report of a gate, as text and JSON: the verdict first, then every check, the worst queries,
contracts, and the method.
"""

import math
from collections.abc import Sequence
from functools import partial

from idealrank.analysis.gate import Check, Gated, KeptContract
from idealrank.analysis.gate.outcome import TOO_FEW
from idealrank.evaluation.coverage import MANY_UNJUDGED
from idealrank.reports.table.cells import (
    USUAL,
    Cell,
    Column,
    Table,
    counted,
    number,
    number_cell,
    p_text,
    share_cell,
)
from idealrank.reports.table.records import SCHEMA, json_text
from idealrank.reports.table.text import (
    MethodLines,
    MoreLines,
    Part,
    clipped,
    filled,
    parts_text,
    wrapped,
)
from idealrank.reports.views.comparison.label_phrases import (
    counts_sentence,
    label_clause,
    labels_note,
    listed_in_words,
    sensitivity_sentence,
    suspected_sentence,
)
from idealrank.reports.views.comparison.pair_sentences import Told
from idealrank.reports.views.comparison.phrases import (
    IN_PYTHON,
    Asked,
    labels_command,
    sentence,
)
from idealrank.reports.views.comparison.verdicts import is_identical
from idealrank.reports.views.conventions import cautioned, design_phrases, paragraph, unanswered
from idealrank.reports.views.gate.check_tables import checks_table, with_worst, worst_table
from idealrank.reports.views.gate.sentences import (
    ANCHORED,
    counts_by_state,
    failed,
    families,
    few_flips,
    gate_places,
    hidden_drop,
    is_anchored,
    is_contradicted,
    judgments_step,
    next_step,
    one_sided,
    reach_text,
    reason_text,
    replaceable,
    rule_text,
    short_of_judgments,
    subject_of,
    unseen,
    why_withheld,
    withheld,
)
from idealrank.version import __version__

_NAME = 24  # letters of a baseline's name
_LOW = "unjudged documents count as not relevant: both means are too low if some are relevant"


def gate_parts(
    gated: Gated,
    notes: Sequence[str] = (),
    policy_file: str = "",
    digits: int | None = None,
    *,
    origin: Asked = IN_PYTHON,
) -> list[Part]:
    """Build the whole report."""
    places = gate_places(gated, digits)
    told = gate_sentences(gated, places, origin)
    parts: list[Part] = [filled(told.brief), MoreLines(filled(told.more))]
    parts += [checks_table(gated, places)] if gated.checks else []
    parts += [worst_table(check, many=len(gated.baselines) > 1) for check in with_worst(gated)]
    parts += [_unjudged(gated, places), _contracts(gated), _left_out(gated.checks), _notes(notes)]
    if not gated.mismatches:
        bases = [check.basis for check in gated.checks]
        parts.append(labels_note(gated.labels, bases, origin))
    doubtful = withheld(gated)
    if doubtful is not None and not is_anchored(doubtful):
        parts.append(labels_command(doubtful, doubtful.baseline, gated.run, "gate", origin))
    measures = list(dict.fromkeys(check.measure for check in gated.checks))
    return [*parts, _rule(gated, policy_file), paragraph(gated.convention, measures)]


def gate_text(
    gated: Gated, notes: Sequence[str] = (), policy_file: str = "", digits: int | None = None
) -> str:
    """Return the report as text."""
    return parts_text(gate_parts(gated, notes, policy_file, digits))


def gate_json(gated: Gated, notes: Sequence[str] = (), policy_file: str = "") -> str:
    """Write JSON text; floats read back exactly, null for numbers that are not finite."""
    report_fields = {
        "notes": list(notes),
        "policy_file": policy_file or None,
        "schema": SCHEMA,
        "version": __version__,
    }
    return json_text(gated.as_dict() | report_fields)


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
    rest = " and ".join(filter(None, besides))
    return f"{start}; besides, {rest}." if rest else f"{start}."


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
        ruled_out = f"a {_drop(check)} of {gated.policy.margin:g} or more is ruled out (p {p})"
        return f"by {check.measure}, {means} in {check.baseline}; {ruled_out}"
    if check.difference * check.direction > 0:  # a judge contradicts a gain
        gain = number(check.difference, places, signed=True)
        return (
            f"by {check.measure}, {means} in {check.baseline}, a difference of {gain} (p of a "
            f"{_drop(check)}: {p})"
        )
    beyond = _beyond_accepted(gated)
    return (
        f"by {check.measure}, {means} in {check.baseline}, a {_drop(check)} of {drop}{beyond} (p "
        f"{p})"
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
        size = f"{means}, a {_drop(check)} of {drop}{_beyond_accepted(gated)} (p {p})"
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
    return f"{start}: the true {_drop(check)} may be as large as {number(abs(check.bound), places)}"


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
        short = f"{check.measure} is {means}, and a {_drop(check)} of {margin} or more is ruled out"
        return (
            f", with too few judgments: {short} only if unjudged documents are not relevant (p {p})"
        )
    drop = number(abs(check.difference), places)
    beyond = _beyond_accepted(gated)
    beyond += "," if beyond else ""
    harm = f"a {_drop(check)} of {drop}{beyond} that cannot be shown to be harmless (p {p})"
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

    # The numbers of a single check stand in brackets; a gain is a clause of its own.
    first = gated.deciding[0]
    numbers = f"{number(first.mean_run, places)} against {number(first.mean_baseline, places)}"
    is_gain = (first.mean_run - first.mean_baseline) * first.direction > 0
    if not is_gain:
        p = p_text(first.p_corrected, gated.policy.alpha)
        numbers += f"; p of a {_drop(first)}: {p}"
    only = f" ({numbers})" if len(gated.deciding) == 1 else ""
    if is_gain and only:
        size = number(abs(first.difference), places)
        word = "higher" if first.direction > 0 else "lower"
        return f"by {by}, {gated.run} is {size} {word} than {against}{only}"

    anchors = [check.baseline for check in gated.deciding if is_anchored(check)]
    beside = ""
    if gated.policy.tolerance:
        larger = f"is not shown to be larger than {gated.policy.tolerance:g}"
        if anchors:
            beside = f", nor is that of its mean with the last accepted runs, from {anchors[0]}"
        return f"by {by}, the drop from {against} to {gated.run} {larger}{only}{beside}"
    if anchors:
        beside = f", nor is its mean with the last accepted runs, than {anchors[0]}"
    return f"by {by}, {gated.run} is not shown to be worse than {against}{only}{beside}"


def gate_sentences(gated: Gated, places: int = USUAL, origin: Asked = IN_PYTHON) -> Told:
    """Return all sentences on a gate: the verdict, its basis and the next step in at most four,
    then everything else.
    """
    answer = verdict(gated, places)
    doubtful = withheld(gated)
    if gated.acceptance is not None:
        answer = f"{gated.acceptance.headline} {answer}"
    brief = [answer, *unanswered(gated.missing), *cautioned(gated.cautions)]
    if gated.mismatches:
        return Told.of(brief, [])
    seen = seen_text(gated, places)
    more = [_reason(gated, check, places) for check in gated.deciding if not is_identical(check)]
    more += [
        *gated.margin_scales,
        *_labels_of_others(gated),
        *one_sided(gated, more),
        *seen,
        *unseen(gated),
        *_level(gated),
    ]
    if doubtful is not None:
        brief += [_why_doubted(gated, doubtful), *_steps(gated, origin)]
        basis = [_basis(gated, doubtful)]
        if gated.outcome == TOO_FEW or doubtful.outcome == "failed":
            basis.append(
                "'idealrank why' lists the queries with unjudged documents, and 'idealrank "
                "explain' lists the documents of a query."
            )
        return Told.of(brief, [*basis, *more])

    checks, broken = failed(gated)
    if checks:
        brief += _basis_of_failure(gated, checks[0])
        step = "Add queries, or accept a larger drop."
        if checks[0].losses:
            step = (
                "The queries that fell most are listed below; 'idealrank why' shows the documents "
                "behind them."
            )
        return Told.of([*brief, step + _or_accept(gated)], more)
    if broken:
        step = "The contracts are listed below; 'idealrank explain' shows the documents of a query."
        return Told.of([*brief, step], more)

    of_first = [_basis(gated, check) for check in gated.deciding[:1]]
    if hidden := hidden_drop(gated, str, origin):
        caution, step = hidden
        return Told.of([*brief, caution, *of_first, step], more)
    return Told.of([*brief, *of_first, *seen, *_larger(gated)], more)


def _basis_of_failure(gated: Gated, check: Check) -> list[str]:
    """Write sentences on the basis of a failed check: suspected labels, queries, sensitivity."""
    names = (check.baseline, gated.run)
    return [
        suspected_sentence(check.basis, *names, check.difference),
        _basis(gated, check),
        sensitivity_sentence(check.basis, *names, check.difference),
    ]


def _steps(gated: Gated, origin: Asked) -> list[str]:
    """Explain the exit code if the gate is neither open nor closed, and write the next step."""
    steps = next_step(gated, str, origin)
    return steps or [f"{judgments_step(gated, str, origin)}{_or_accept(gated)}"]


def _or_accept(gated: Gated) -> str:
    """Offer to accept a drop by name, if a baseline file can record it."""
    if gated.series is None or gated.acceptance is not None:
        return ""
    return " --accept REASON records that you accept the drop."


def _why_doubted(gated: Gated, check: Check) -> str:
    judge = check.judge
    if judge is None or not is_contradicted(check, gated.policy.alpha):
        return why_withheld(gated, check, str)
    queries = counted(judge.n, "query", "queries")
    return (
        f"People find {check.difference:+.4f} and the judge {judge.difference:+.4f} on {queries}, "
        "which disagree on the sign."
    )


def _basis(gated: Gated, check: Check) -> str:
    """Describe the basis of an answer: the queries, and how unlabelled documents count."""
    clause = label_clause(check.basis)
    if is_identical(check):
        return sentence(clause)
    subject = subject_of(gated, check, str)
    return counts_sentence(f"T{subject[1:]}" if is_anchored(check) else subject, check, clause)


def _reason(gated: Gated, check: Check, places: int) -> str:
    return f"{check.measure} against {check.baseline}: {reason_text(gated, check, places, str)}."


def _labels_of_others(gated: Gated) -> list[str]:
    """Describe the basis of each check with unjudged documents, except for checks whose reason
    states it.
    """
    clauses = [(check, reach_text(gated, check, str)) for check in gated.checks if check.carried]
    return [
        f"{check.measure} against {check.baseline}: {clause}."
        for check, clause in clauses
        if clause
    ]


def _larger(gated: Gated) -> list[str]:
    """Say how to find what a gate that passes may miss."""
    if not gated.checks:
        return []
    if all(is_identical(check) for check in gated.deciding):
        return ["Add queries to find rarer changes."]
    return ["Add queries to find smaller drops."]


def _drop(check: Check) -> str:
    return "drop" if check.direction > 0 else "rise"


def seen_text(gated: Gated, places: int) -> list[str]:
    """State the drop that the gate detects by the first changed check whose power is known, or that
    there is none.
    """
    if not gated.checks:
        return []
    changed = [deciding for deciding in gated.deciding if not is_identical(deciding)]
    if not changed:
        return [_nothing_changed(gated)]
    with_power = [deciding for deciding in changed if not math.isnan(deciding.detectable)]
    check = with_power[0] if with_power else changed[0]
    by = f" by {check.measure}" if len(gated.checks) > 1 else ""
    if check is not changed[0] and check.measure == changed[0].measure:
        by += f" against {check.baseline}"
    if check.detectable == math.inf or check.bound == math.inf * check.direction:
        passes = ": this gate passes every run" if gated.passed else ""
        if flips := few_flips(check):
            return [f"{flips} {gated.policy.alpha:.2g}{by}{passes}."]
        if gated.weighted:
            return [
                "The queries count as too few of equal weight to give a detectable "
                f"{_drop(check)}{by}."
            ]
        return [
            f"{counted(check.n, 'query is', 'queries are')} too few to show any "
            f"{_drop(check)}{by}, however large{passes}."
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
    size = f"a true {_drop(check)} of {number(check.detectable, places)}{by}"
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
        f"{unchanged}, but a change that affects up to {_hidden(gated)} of such queries can pass "
        "unseen."
    )


def _hidden(gated: Gated) -> str:
    # If more than this share s of all queries changed, (1 - s)^n, the probability that none of n
    # did, would be below alpha.
    n, alpha = gated.checks[0].n, gated.policy.alpha
    return f"{100 * (1 - alpha ** (1 / n)):.2g}%"


def _level(gated: Gated) -> list[str]:
    """State the level of the share that can change unseen, if nothing changed."""
    unchanged = all(is_identical(check) for check in gated.deciding)
    if not gated.checks or gated.clustered or not unchanged:
        return []
    return [f"The share of {_hidden(gated)} is an upper limit at level {1 - gated.policy.alpha:g}."]


def _unjudged(gated: Gated, places: int) -> Part:
    """Build the table of unjudged documents, if there are any."""
    checks = gated.checks
    if not any(check.unjudged_baseline or check.unjudged_run for check in checks):
        return []
    columns: list[Column[Check]] = [
        Column(title="measure", cell=lambda check: check.measure),
        Column(title="baseline", cell=lambda check: clipped(check.baseline, _NAME), rank=1),
        Column(
            title="unjudged before",
            kind="number",
            cell=lambda check: share_cell(check.unjudged_baseline),
        ),
        Column(
            title="unjudged now", kind="number", cell=lambda check: share_cell(check.unjudged_run)
        ),
    ]
    if any(check.difference_judged is not None for check in checks):
        judged = partial(_judged, places=places)
        title = "difference on judged documents"
        columns.append(Column(title=title, kind="number", cell=judged, rank=2))
    shares = [max(check.unjudged_baseline or 0, check.unjudged_run or 0) for check in checks]
    # The sentences above say how unlabelled documents count.
    has_clause = any(label_clause(check.basis) for check in checks)
    many = (
        max(shares) >= MANY_UNJUDGED
        and not has_clause
        and not hidden_drop(gated)
        and gated.convention.alignment.unjudged != "skipped"
    )
    return Table.of(columns, checks, notes=(_LOW,) if many else ())


def _judged(check: Check, places: int) -> Cell:
    return number_cell(check.difference_judged, places, signed=True)


def _contracts(gated: Gated) -> Part:
    broken = [kept for kept in gated.contracts if not kept.passed]
    if not gated.contracts:
        return []
    title = f"contracts: {len(gated.contracts) - len(broken):,} kept, {len(broken):,} broken"
    if not broken:
        return [title]
    columns: list[Column[KeptContract]] = [
        Column(title="query", cell=lambda kept: clipped(kept.contract.query, 40)),
        Column(title="measure", cell=lambda kept: kept.measure),
        Column(
            title="demanded", kind="number", cell=lambda kept: _demanded(kept.demanded, "a value")
        ),
        Column(
            title="found",
            kind="number",
            cell=lambda kept: _demanded(kept.found, "no value")._replace(tone="worse"),
        ),
        Column(title="demanded by", cell=_demanded_by, rank=1),
    ]
    return Table.of(columns, broken, title=title)


def _demanded(value: float, without: str) -> Cell:
    return Cell(without, value) if math.isnan(value) else number_cell(value)


def _demanded_by(kept: KeptContract) -> str:
    own_value = f"its value in {kept.baseline}" if kept.baseline else ""
    return ", ".join(filter(None, [kept.contract.place, own_value]))


def _of_contract(kept: KeptContract) -> str:
    value = f"{kept.found:.4f}"
    if math.isnan(kept.found):
        value = "no value, because no such query is scored"
    demanded = "some" if math.isnan(kept.demanded) else f"{kept.demanded:.4f}"
    return f"query {kept.contract.query}: {kept.measure} {value}, demanded {demanded}"


def _left_out(checks: Sequence[Check]) -> list[str]:
    return [
        f"{check.measure}: {counted(check.excluded_queries, 'query', 'queries')} left out, not "
        f"scored in both {check.baseline} and the run"
        for check in checks
        if check.excluded_queries
    ]


def _notes(notes: Sequence[str]) -> list[str]:
    return [line for note in notes for line in filled([f"note: {note}"])]


def _rule(gated: Gated, policy_file: str) -> MethodLines:
    """Describe the rule and the method."""
    rule = f"passes if {rule_text(gated)}"
    phrases = [rule]
    tested = families(gated)
    if gated.checks:
        drawn = "exact, over all signs"
        if gated.n_resamples:
            drawn = f"{gated.n_resamples:,} draws, seed {gated.seed} derived from the values"
        phrases += ["sign-flip permutation test of each difference, one-sided", drawn]
        phrases += tested
        end = "worse" if gated.policy.strict else "better"
        phrases += [
            "1-sided p: the test of the gate; 2-sided p: the test of idealrank compare",
            f"bound: the end of the one-sided interval nearer to {end}",
            "before: mean of the baseline; now: mean of the run",
            *([ANCHORED] if any(map(is_anchored, gated.checks)) else []),
            "+/=/-: queries on which the run is better, equal, worse",
            "detectable: the smallest true drop that this gate finds 80% of the time",
        ]
    last = design_phrases(
        weighted=gated.weighted, clustered=gated.clustered, judgments=gated.judgments
    )
    last += [f"policy from {policy_file}"] if policy_file else []
    lines = ["rule", *wrapped("; ".join([*phrases, *last]))]
    # In brief, of the families only the phrase on companions, which is the last of several.
    return MethodLines(lines, rule, *tested[1:][-1:], *last)
