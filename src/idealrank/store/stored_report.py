"""Report of stored results: rebuilt evaluations and verdicts, and rankings as far as judged
documents were kept.
"""

from collections.abc import Sequence
from dataclasses import replace

from idealrank.analysis.comparison import compare
from idealrank.analysis.comparison.comparisons import distinct
from idealrank.analysis.comparison.requirements import JudgmentsOption
from idealrank.errors import InputError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.measures.measure import Measure
from idealrank.pages.report.material import ReportMaterial, hashed, moment, shown_measures
from idealrank.pages.report.side_verdicts import with_gate
from idealrank.reports.subject import Made
from idealrank.store import Store, Stored


def found_in(
    store: Store,
    ids: Sequence[str],
    measures: Sequence[Measure] = (),
    *,
    judgments: JudgmentsOption = "same",
    command: str = "",
) -> ReportMaterial:
    """Results of a store, as a page takes them."""
    entries = [store.entry(one) for one in ids]
    first = entries[0]
    if len(entries) > 1 and (verdicts := [one for one in entries if one.kind != "evaluation"]):
        raise InputError(
            f"{verdicts[0].id}: found a {verdicts[0].kind} among {len(ids)} results, expected "
            f"it alone, or evaluations"
        )
    parts = [
        store.evaluation(one)
        for one in (first.parts if first.kind != "evaluation" else [one.id for one in entries])
    ]
    found = _as_compared(parts, measures)
    made = _made(
        parts,
        [one.id for one in entries],
        first.record.commit if len(entries) == 1 else "",
        command,
    )
    found = replace(found, made=made, hits=tuple(part.hits for part in parts))
    if first.kind == "evaluation":
        compared = (
            None
            if len(parts) == 1
            else compare(*found.evaluations, measures=found.measures, judgments=judgments)
        )
        return replace(found, comparison=compared)
    options = (
        store.comparison(first.id).options
        if first.kind == "comparison"
        else store.gate(first.id).options
    )
    found = replace(found, weights=options.get("weights"), clusters=options.get("clusters"))
    if first.kind == "comparison":
        comparison = store.compare_again(first.id)
        asked = tuple(measures) or _by_text(parts[0].evaluation, list(comparison.pairs[0].measures))
        return replace(
            found, measures=asked, comparison=comparison, categories=options.get("slices")
        )
    gated = store.gate_again(first.id)
    texts = list(dict.fromkeys(check.measure for check in gated.checks)) or list(
        map(str, found.measures)
    )
    asked = tuple(measures) or _by_text(parts[0].evaluation, texts)
    return with_gate(replace(found, measures=asked), gated)


def _as_compared(parts: Sequence[Stored], measures: Sequence[Measure]) -> ReportMaterial:
    """Evaluations on the measures that all have, with names that tell them apart: of one name, by
    their ids.
    """
    evaluations = [part.evaluation for part in parts]
    names = [one.name for one in evaluations]
    told = [
        f"{name} {part.id[:6]}" if names.count(name) > 1 else name
        for name, part in zip(names, parts, strict=True)
    ]
    common = [
        measure
        for measure in evaluations[0].measures
        if all(measure in one.measures for one in evaluations)
    ]
    if lacking := [measure for measure in measures if measure not in common]:
        raise OptionError(
            f"-m {lacking[0]}: found no values of it, expected one of "
            f"{', '.join(map(str, common)) or 'none at all'}"
        )
    if not common:
        raise InputError(
            f"{', '.join(part.id for part in parts)}: found no measure that all of them have, "
            f"expected one at least"
        )
    held = tuple(
        replace(one.select(common), name=name)
        for one, name in zip(evaluations, distinct(told), strict=True)
    )
    return ReportMaterial(evaluations=held, measures=tuple(measures) or shown_measures(common))


def _by_text(evaluation: Evaluation, texts: Sequence[str]) -> tuple[Measure, ...]:
    return tuple(
        measure for text in texts for measure in evaluation.measures if str(measure) == text
    )


def _made(parts: Sequence[Stored], ids: Sequence[str], commit: str, command: str) -> Made:
    """Files by the hashes that were kept; the commit of the work, where all parts have one and the
    same.
    """
    commits = {part.record.commit for part in parts}
    inputs = dict.fromkeys(
        one for part in parts for one in hashed(part.evaluation.provenance.inputs)
    )
    return Made(
        command=command,
        inputs=tuple(inputs),
        commit=commit or (commits.pop() if len(commits) == 1 else ""),
        when=moment(),
        store_ids=tuple(dict.fromkeys([*ids, *(part.id for part in parts)])),
    )
