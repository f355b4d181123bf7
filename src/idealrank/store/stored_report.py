"""Report of stored results: rebuilt evaluations and verdicts, and rankings as far as judged
documents were kept.
"""

from collections.abc import Sequence
from dataclasses import replace

from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.comparison.requirements import JudgmentsOption
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.comparison import compare
from idealrank.measures.measure import Measure
from idealrank.pages.report.material import (
    ReportMaterial,
    hashed,
    moment,
    shown_measures,
    with_gate,
)
from idealrank.reports.subject import Made
from idealrank.store import Entry, Store, Stored


def found_in(
    store: Store,
    ids: Sequence[str],
    measures: Sequence[Measure] = (),
    *,
    judgments: JudgmentsOption = "same",
    command: str = "",
) -> ReportMaterial:
    """Results of a store, as a page takes them."""
    entries = [store.entry(key) for key in ids]
    keys = [entry.id for entry in entries]
    verdicts = [entry for entry in entries if entry.kind != "evaluation"]
    if len(entries) > 1 and verdicts:
        raise InputError(
            f"{verdicts[0].id}: found a {verdicts[0].kind} among {len(ids)} results, expected it "
            "alone, or evaluations"
        )
    evaluation_ids = verdicts[0].parts if verdicts else keys
    all_stored = [store.evaluation(key) for key in evaluation_ids]
    commit = entries[0].record.commit if len(entries) == 1 else ""
    material = replace(
        _as_compared(all_stored, measures),
        made=_made(all_stored, keys, commit, command),
        hits=tuple(stored.hits for stored in all_stored),
    )
    if verdicts:
        return _with_verdict(store, verdicts[0], material, all_stored[0].evaluation, measures)
    if len(all_stored) == 1:
        return material
    comparison = compare(*material.evaluations, measures=material.measures, judgments=judgments)
    return replace(material, comparison=comparison)


def _with_verdict(
    store: Store,
    entry: Entry,
    material: ReportMaterial,
    first: Evaluation,
    measures: Sequence[Measure],
) -> ReportMaterial:
    """Add a stored comparison or gate, computed again, on the measures that it tested."""
    is_comparison = entry.kind == "comparison"
    verdict = store.comparison(entry.id) if is_comparison else store.gate(entry.id)
    options = verdict.options
    material = replace(material, weights=options.get("weights"), clusters=options.get("clusters"))
    if is_comparison:
        comparison = store.compare_again(entry.id)
        shown = tuple(measures) or _by_text(first, list(comparison.pairs[0].measures))
        return replace(
            material, measures=shown, comparison=comparison, categories=options.get("slices")
        )
    gated = store.gate_again(entry.id)
    tested = list(dict.fromkeys(check.measure for check in gated.checks))
    shown = tuple(measures) or _by_text(first, tested or list(map(str, material.measures)))
    return with_gate(replace(material, measures=shown), gated)


def _as_compared(all_stored: Sequence[Stored], measures: Sequence[Measure]) -> ReportMaterial:
    """Evaluations on the measures that all have; evaluations of one name are told apart by their
    ids.
    """
    evaluations = [stored.evaluation for stored in all_stored]
    names = [evaluation.name for evaluation in evaluations]
    titles = []
    for name, stored in zip(names, all_stored, strict=True):
        titles.append(f"{name} {stored.id[:6]}" if names.count(name) > 1 else name)
    common = [
        measure
        for measure in evaluations[0].measures
        if all(measure in evaluation.measures for evaluation in evaluations)
    ]
    if lacking := [measure for measure in measures if measure not in common]:
        raise OptionError(
            f"-m {lacking[0]}: found no values of it, expected one of "
            f"{', '.join(map(str, common)) or 'none at all'}"
        )
    if not common:
        raise InputError(
            f"{', '.join(stored.id for stored in all_stored)}: found no measure that all of them "
            "have, expected one at least"
        )
    comparable = tuple(
        replace(evaluation.select(common), name=name)
        for evaluation, name in zip(evaluations, distinct(titles), strict=True)
    )
    return ReportMaterial(
        evaluations=comparable, measures=tuple(measures) or shown_measures(common)
    )


def _by_text(evaluation: Evaluation, texts: Sequence[str]) -> tuple[Measure, ...]:
    by_text = {str(measure): measure for measure in evaluation.measures}
    return tuple(by_text[text] for text in texts if text in by_text)


def _made(all_stored: Sequence[Stored], ids: Sequence[str], commit: str, command: str) -> Made:
    """Origin of a page: files by the hashes that were kept, and the commit, if all have the
    same.
    """
    commits = {stored.record.commit for stored in all_stored}
    if not commit and len(commits) == 1:
        (commit,) = commits
    inputs: list[tuple[str, str]] = []
    for stored in all_stored:
        inputs += hashed(stored.evaluation.provenance.inputs)
    return Made(
        command=command,
        inputs=tuple(dict.fromkeys(inputs)),
        commit=commit,
        when=moment(),
        store_ids=tuple(dict.fromkeys([*ids, *(stored.id for stored in all_stored)])),
    )
