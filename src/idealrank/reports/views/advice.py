"""Advice as text and as JSON: fitting measures with reasons, cautions, and statistics."""

from typing import Any

from idealrank.analysis.advice import Advice, Observed, Spread
from idealrank.data.label_kinds import MEANINGS
from idealrank.measures.measure_texts import number_text
from idealrank.reports.table.records import result_json
from idealrank.reports.table.text import filled

_LABEL = 20  # width of the labels of the data


def advice_report(advice: Advice) -> str:
    """Write the whole report."""
    ranks = f"the first {' and '.join(map(str, advice.cutoffs))} ranks"
    if advice.cutoffs == (1,):
        ranks = "rank 1 only"
    width = max((len(fit.measure) for fit in advice.fits), default=0)
    lines = filled(f"run {advice.run}: look at {ranks}, because {advice.why}")
    lines += ["", "what fits"]
    for fit in advice.fits:
        lines += filled(fit.why, f"  {fit.measure.ljust(width)}  ")
    if not advice.fits:
        lines += ["  nothing: there is no relevant document to find"]
    if advice.warnings:
        lines += ["", "cautions"]
        for warning in advice.warnings:
            lines += filled(warning, "  * ")

    lines += ["", "data"]
    for label, text in _rows(advice.observed):
        lines += filled(text, f"  {label.ljust(_LABEL)}  ")
    measures = ",".join(fit.measure for fit in advice.fits)
    lines += ["", f"idealrank evaluate ... -m '{measures}'" if measures else ""]
    lines += filled(
        "with several runs, `idealrank measures choose QRELS RUN...` finds the discount and cutoff "
        "that best distinguish them"
    )
    return "\n".join(lines).rstrip() + "\n"


def _rows(seen: Observed) -> list[tuple[str, str]]:
    """Describe the data, with a label for each line."""
    queries = (
        f"{seen.queries:,}; {seen.unanswered:,} not answered, {seen.no_relevant:,} without a "
        "relevant document"
    )
    relevant = (
        f"{_spread(seen.relevant_per_query)}; exactly one in {seen.one_relevant:.0%} of the "
        "queries that have some"
    )
    longest = seen.list_lengths.greatest
    shares = [f"@{depth} {share:.0%}" for depth, share in seen.unjudged.items() if depth <= longest]
    judged = "not even rank 1"
    if seen.complete:
        judged = "everything is judged"
    elif seen.judged_depth:
        judged = f"rank {seen.judged_depth}: nine in ten documents down to it are judged"
    return [
        ("queries", queries),
        ("grades", _grades(seen)),
        ("labels", f"{seen.labels}: {MEANINGS[seen.labels]}"),
        ("judgments", f"{seen.judgments:,}; per query {_spread(seen.judgments_per_query)}"),
        ("relevant per query", relevant),
        ("list lengths", _spread(seen.list_lengths)),
        ("unjudged", ", ".join(shares) or "nothing was returned"),
        ("judged down to", judged),
        ("tied scores", f"in {seen.tied:.0%} of the queries, somewhere in the list"),
    ]


def _grades(seen: Observed) -> str:
    if not seen.grades:
        return (
            f"{seen.n_grades:,} different ones from {number_text(seen.lowest)} to "
            f"{number_text(seen.highest)}"
        )
    return ", ".join(f"{number_text(grade)} ({share:.1%})" for grade, share in seen.grades.items())


def _spread(spread: Spread) -> str:
    least, median, greatest = map(number_text, (spread.least, spread.median, spread.greatest))
    return f"{least} to {greatest}, median {median}"


def advice_record(advice: Advice) -> str:
    """Write advice as JSON; maps by grade and by depth have their keys as text."""
    record: dict[str, Any] = advice.as_dict()
    observed = record["observed"]
    observed["grades"] = {number_text(grade): share for grade, share in observed["grades"].items()}
    return result_json(record)
