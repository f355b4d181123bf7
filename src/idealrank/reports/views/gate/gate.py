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
    number_cell,
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
from idealrank.reports.views.gate.check_tables import TEXT, checks_table, with_worst, worst_table
from idealrank.reports.views.gate.detectable_drops import seen_text, unseen_share_level
from idealrank.reports.views.gate.sentences import (
    ANCHORED,
    failed,
    families,
    gate_places,
    hidden_drop,
    is_anchored,
    is_contradicted,
    judgments_step,
    next_step,
    one_sided,
    reach_text,
    reason_text,
    rule_text,
    subject_of,
    unseen,
    why_withheld,
    withheld,
)
from idealrank.reports.views.gate.verdict import verdict
from idealrank.version import __version__

_NAME = 24  # letters of a baseline's name
_MEANS_TOO_LOW = (
    "unjudged documents count as not relevant: both means are too low if some are relevant"
)


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
    detectable = seen_text(gated, places)
    more = [_reason(gated, check, places) for check in gated.deciding if not is_identical(check)]
    more += [
        *gated.margin_scales,
        *_labels_of_others(gated),
        *one_sided(gated, more),
        *detectable,
        *unseen(gated),
        *unseen_share_level(gated),
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

    basis_of_first = [_basis(gated, check) for check in gated.deciding[:1]]
    if hidden := hidden_drop(gated, str, origin):
        caution, step = hidden
        return Told.of([*brief, caution, *basis_of_first, step], more)
    return Told.of([*brief, *basis_of_first, *detectable, *_larger(gated)], more)


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
    is_cautioned = (
        max(shares) >= MANY_UNJUDGED
        and not has_clause
        and not hidden_drop(gated)
        and gated.convention.alignment.unjudged != "skipped"
    )
    return Table.of(columns, checks, notes=(_MEANS_TOO_LOW,) if is_cautioned else ())


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
    if any(kept.text for kept in broken):
        columns.append(Column(title="text", cell=lambda kept: clipped(kept.text or "", TEXT)))
    return Table.of(columns, broken, title=title)


def _demanded(value: float, without: str) -> Cell:
    return Cell(without, value) if math.isnan(value) else number_cell(value)


def _demanded_by(kept: KeptContract) -> str:
    own_value = f"its value in {kept.baseline}" if kept.baseline else ""
    return ", ".join(filter(None, [kept.contract.place, own_value]))


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
