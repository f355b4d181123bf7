"""Sentences on a comparison: the verdict on a pair in at most four, and all others."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from idealrank.analysis.comparison import Comparison, Difference, Method, Pair
from idealrank.analysis.comparison.differences import about_equivalence
from idealrank.analysis.comparison.tipping import Tipping
from idealrank.reports.table.cells import counted
from idealrank.reports.views.comparison.columns import Shown
from idealrank.reports.views.comparison.label_phrases import (
    counts_sentence,
    label_clause,
    one_sided_sentences,
    sensitivity_in_full,
    sensitivity_sentence,
    suspected_sentence,
)
from idealrank.reports.views.comparison.phrases import (
    IN_PYTHON,
    Asked,
    next_step,
    plain_sentence,
    reach_text,
    sentence,
    unchanged,
    why_too_few,
)
from idealrank.reports.views.comparison.verdicts import is_identical, word
from idealrank.reports.views.conventions import cautioned, unanswered
from idealrank.stats.seen_changes import FEWEST_CHANGED

_CONTRADICTED = 6  # sentences on signs that a judge contradicts; the others are counted
_SENTENCES = 4  # sentences of a verdict
_AGAIN = "compare again"  # ends a next step


class Told(NamedTuple):
    """Sentences on a result."""

    # At most four: the verdict with its size, cautions, its basis, and the next step
    brief: list[str]
    more: list[str]  # All others

    @classmethod
    def of(cls, brief: Sequence[str], more: Sequence[str]) -> "Told":
        """Keep at most four sentences, of which the last is the next step, and all others; each
        once.
        """
        first_sentences = [text for text in dict.fromkeys(brief) if text]
        if len(first_sentences) > _SENTENCES:
            first_sentences = [*first_sentences[: _SENTENCES - 1], first_sentences[-1]]
        besides = [
            text for text in dict.fromkeys([*brief, *more]) if text and text not in first_sentences
        ]
        return cls(first_sentences, besides)


def sentences(
    comparison: Comparison, pair: Pair, shown: Shown | None = None, origin: Asked = IN_PYTHON
) -> list[str]:
    """Return at most four sentences on a pair by the first measure: the verdict with its size, its
    basis, and the next step.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> found = ir.compare(one, one)
    >>> sentences(found, found.pairs[0])[0].split(":")[0]
    'run (2) and run are identical in every value'
    """
    return verdict_sentences(comparison, pair, shown, origin).brief


def verdict_sentences(
    comparison: Comparison, pair: Pair, shown: Shown | None = None, origin: Asked = IN_PYTHON
) -> Told:
    """Return all sentences on a pair: the verdict by the first measure in at most four, then
    everything else.
    """
    if pair.mismatch:
        return Told([f"No verdict on {pair.b} against {pair.a}: run {pair.mismatch}"], [])
    method = comparison.method
    shown = shown or Shown.of(comparison)
    first, *others = pair.measures.values()
    verdict = f"{verdict_text(pair, first, method)}: {numbers_text(first, method, shown)}."
    brief = [verdict, *_cautions(comparison, pair, first, shown)]
    if first.verdict == "too few judgments":
        brief += _too_few(pair, first, origin)
    else:
        brief += [_basis(pair, first), *_next_steps(comparison, pair, first, shown)]
    more = [
        plain_sentence(pair),
        first.margin_scale,
        *_basis_in_full(pair, first, shown),
        *bounds_sentences(first),
    ]
    more += judge_sentences(((pair, row) for row in pair.measures.values()), shown)
    more += [
        *unchanged(pair.rankings)[:1],
        _needed(first, method),
        power_text(comparison, first, shown),
        *_others(others),
    ]
    return Told.of(brief, more)


def _cautions(comparison: Comparison, pair: Pair, row: Difference, shown: Shown) -> list[str]:
    """Write sentences that qualify the verdict."""
    missing = {
        name: number for name, number in comparison.missing.items() if name in (pair.a, pair.b)
    }
    contradicted = row.judge is not None and row.judge.contradicts
    against = judge_sentences([(pair, row)], shown) if contradicted else []
    suspected = suspected_sentence(row.basis, pair.a, pair.b, row.difference)
    of_queries = [*unanswered(missing), *cautioned(comparison.cautions)]
    return [*against, *_unknown(comparison), *of_queries, suspected]


def _basis(pair: Pair, row: Difference) -> str:
    """Describe the basis of a verdict: the queries, and how unlabelled documents count."""
    clause = label_clause(row.basis)
    if is_identical(row):
        return sentence(clause)
    return counts_sentence(pair.b, row, clause)


def _basis_in_full(pair: Pair, row: Difference, shown: Shown) -> list[str]:
    """Describe the whole basis of a verdict: queries, judgments, and the sensitivity to unlabelled
    documents.
    """
    if row.basis is None or row.basis.kind == "pooled":
        return [_basis(pair, row), *reach_sentences(pair, row)]
    every = sensitivity_in_full(row.basis, pair.a, pair.b, row.difference, f"+.{shown.places}f")
    return [_basis(pair, row), every]


def _sensitivity(pair: Pair, row: Difference) -> str:
    return sensitivity_sentence(row.basis, pair.a, pair.b, row.difference)


def _too_few(pair: Pair, row: Difference, origin: Asked) -> list[str]:
    """Describe why there are too few judgments, and what to do."""
    if _is_one_sided(row) and row.basis is not None:
        why, step = one_sided_sentences(row.basis, pair.a, pair.b, _AGAIN, origin)
        return [why, _sensitivity(pair, row), step]
    if row.tipping is None:
        return [_basis(pair, row)]
    if about_equivalence(row):
        return _equivalence_sentences(row.tipping)
    return [
        why_too_few(row.tipping, pair.a, pair.b),
        next_step(row.tipping, pair.a, pair.b, "compare", origin),
    ]


def _next_steps(comparison: Comparison, pair: Pair, row: Difference, shown: Shown) -> list[str]:
    """Write the next step, and before it what a reader has to know for that."""
    if is_identical(row):
        return ["Check that these are the runs that you meant to compare."]
    if row.judge is not None and row.judge.contradicts:
        return [JUDGE_STEP]
    if row.verdict == "undecided":
        return [
            power_text(comparison, row, shown),
            _needed(row, comparison.method) or _more_queries(comparison.method, row),
        ]
    if row.verdict == "equivalent":
        return ["Choose between the runs by something else, such as cost or speed."]
    ahead, n_worse = pair.a, row.wins
    if row.verdict == "better":
        ahead, n_worse = pair.b, row.losses
    step = f"No query speaks against {ahead}: choose it if its cost allows."
    if n_worse:
        queries = counted(n_worse, "query", "queries")
        step = f"Before you choose {ahead}, look at the {queries} on which {ahead} is worse."
    return [_sensitivity(pair, row), step]


JUDGE_STEP = (
    "Let people grade again what they and the judge grade differently; 'idealrank judge check' "
    "says where that is."
)
"""Next step where a judge contradicts people."""


def _needed(row: Difference, method: Method) -> str:
    needed = needed_text(row, method)
    return f"{needed}." if needed else ""


def _more_queries(method: Method, row: Difference) -> str:
    if method.effect is None and row.detectable_reason is None:
        return (
            "State the smallest difference worth finding (--effect, or effect= in Python) to learn "
            "how many queries find it."
        )
    return "Add queries to find a smaller difference."


def power_text(comparison: Comparison, row: Difference, shown: Shown) -> str:
    """State the true difference that these queries find in most cases; empty without one."""
    if row.detectable_reason is not None:
        return undetectable(comparison, row)
    if not math.isfinite(row.detectable):
        return ""
    size = shown.number(row.detectable)
    power = f"{100 * comparison.method.power:g}%"
    return (
        f"With these {row.n:,} queries, a true difference of {size} in changes like these would be "
        f"found {power} of the time; smaller ones may be missed."
    )


def label_sentences(comparison: Comparison, origin: Asked, but: Pair | None = None) -> list[str]:
    """Write sentences on the labels of several pairs by the first measure: how unlabelled documents
    count, and labels from one run.
    """
    rows = [(pair, next(iter(pair.measures.values()))) for pair in comparison.pairs]
    clauses = [sentence(label_clause(row.basis)) for _, row in rows if row.basis is not None]
    on_labels = [clause for clause in dict.fromkeys(clauses) if clause]
    left_out = set[str]() if but is None else {but.a, but.b}
    withheld = [
        (pair, row) for pair, row in rows if _is_one_sided(row) and {pair.a, pair.b} != left_out
    ]
    for pair, row in withheld[:1]:
        if row.basis is not None:
            on_labels += one_sided_sentences(row.basis, pair.a, pair.b, _AGAIN, origin)
    if len(withheld) > 1:
        on_labels.append(f"The same holds for {counted(len(withheld) - 1, 'other pair')}.")
    return on_labels


def _is_one_sided(row: Difference) -> bool:
    return (
        row.verdict == "too few judgments"
        and row.basis is not None
        and row.basis.one_sided is not None
    )


def undetectable(comparison: Comparison, row: Difference) -> str:
    """Describe why no detectable difference is given, and what to do; empty if nothing differs."""
    if math.isnan(row.detectable):
        differs = row.wins or row.losses
        return f"No power is stated, since {row.detectable_reason}." if differs else ""
    if comparison.method.weighted:
        return "The queries count as too few of equal weight to give a detectable difference."
    if row.wins + row.losses >= FEWEST_CHANGED:
        power = f"{100 * comparison.method.power:g}%"
        return (
            f"Changes like these are found less than {power} of the time, however large their mean."
        )
    return (
        f"{counted(row.n, 'query is', 'queries are')} too few to show any difference by this test, "
        "however large."
    )


def _unknown(comparison: Comparison) -> list[str]:
    return [comparison.reach_unknown] if comparison.reach_unknown else []


def verdict_text(pair: Pair, row: Difference, method: Method) -> str:
    """Describe the verdict of one measure without numbers."""
    if pair.mismatch:
        return f"No verdict on {pair.b} against {pair.a}: run {pair.mismatch.partition(';')[0]}"
    if is_identical(row):
        every = all(map(is_identical, pair.measures.values()))
        of_measure = "" if every else f" of {row.measure}"
        return f"{pair.b} and {pair.a} are identical in every value{of_measure}"
    equivalent = (
        f"{pair.b} and {pair.a} are equivalent, within {method.margin or 0:g} of each other"
    )
    doubted = equivalent if about_equivalence(row) else f"{pair.b} is better than {pair.a}"
    return {
        "better": f"{pair.b} is better than {pair.a}",
        "worse": f"{pair.b} is worse than {pair.a}",
        "equivalent": equivalent,
        "undecided": f"{_undecided(row)} whether {pair.b} is better than {pair.a}",
        "too few judgments": f"Too few judgments to say whether {doubted}",
    }[row.verdict]


def _undecided(row: Difference) -> str:
    contradicted = row.judge is not None and row.judge.contradicts
    return "People and the judge disagree on" if contradicted else "These queries do not show"


def judge_sentences(rows: Iterable[tuple[Pair, Difference]], shown: Shown) -> list[str]:
    """Describe where a judge contradicts people, difference by difference; nothing without a
    judge.
    """
    n_queries: list[int] = []
    against: list[str] = []
    for pair, row in rows:
        judge = row.judge
        if judge is None:
            continue
        n_queries.append(judge.n)
        if judge.contradicts:
            people = shown.signed(row.difference)
            other = shown.signed(judge.difference)
            queries = counted(judge.n, "query", "queries")
            against.append(
                f"{pair.b} against {pair.a} by {row.measure} is undecided: people find {people} "
                f"and the judge {other} ({queries}), which disagree on the sign."
            )
    if len(against) > _CONTRADICTED:
        against[_CONTRADICTED:] = [
            f"People and the judge disagree on the sign of {len(against) - _CONTRADICTED:,} more "
            "differences."
        ]
    return against or ([_agreed(n_queries)] if n_queries else [])


def _agreed(queries: Sequence[int]) -> str:
    """Say that a judge contradicts no sign, and on how many queries."""
    fewest = min(queries)
    largest = max(queries)
    numbers = counted(largest, "query", "queries")
    if fewest < largest:
        numbers = f"{fewest:,} to {numbers}"
    contradicted = "contradicts no sign" if len(queries) > 1 else "does not contradict the sign"
    return f"The judge {contradicted} on {numbers}."


def reach_sentences(pair: Pair, row: Difference) -> list[str]:
    """Describe the tipping point under pooled labels, or the reason for its absence if unjudged
    documents could matter; nothing if no difference is claimed, which then cannot tip.
    """
    claims_difference = row.verdict not in ("undecided", "equivalent")
    claims_difference = claims_difference and not about_equivalence(row)
    if is_identical(row) or (row.tipping is not None and not claims_difference):
        return []
    unjudged = bool(row.unjudged_a or row.unjudged_b)
    clause = reach_text(row.tipping, row.tipping_reason if unjudged else None, pair.a, pair.b)
    return [sentence(clause)] if clause else []


def bounds_sentences(row: Difference) -> list[str]:
    """State the bounds of a difference over all grades of unjudged documents, if there are any."""
    bounds = row.bounds
    if bounds is None or is_identical(row):
        return []
    grades = (
        f"If unjudged documents down to rank {bounds.depth} may have any grade from 0 to "
        f"{bounds.max_grade:g}"
    )
    difference = f"the difference is between {bounds.low:+.3f} and {bounds.high:+.3f}"
    if bounds.either:
        difference += f", and either run may be ahead on {bounds.either:,} of {row.n:,} queries"
    return [f"{grades}, {difference}."]


def _equivalence_sentences(tipping: Tipping) -> list[str]:
    count = tipping.unjudged_a + tipping.unjudged_b + tipping.unjudged_both
    documents = f"the {counted(count, 'unjudged document')} within the cutoff"
    return [
        f"At the likely relevant share of {documents}, the runs would no longer be equivalent.",
        "Judge them, the highest ranks first, and compare again.",
    ]


def numbers_text(row: Difference, method: Method, shown: Shown | None = None) -> str:
    """State both means, the difference with its interval, and p."""
    shown = shown or Shown.of_rows([row], method.level)
    tests = method.tests
    if is_identical(row):
        return f"{row.measure} is {shown.number(row.mean_b)} in both"
    corrected = f" after correction for {tests:,} tests" if tests > 1 else ""
    p = f"p {shown.p(row.p_corrected)}"
    if about_equivalence(row):
        p = f"p {shown.p(row.p_equivalence or 0.0)} of a difference of the margin or more"
    means = f"{row.measure} is {shown.number(row.mean_b)} against {shown.number(row.mean_a)}"
    if math.isnan(row.interval[0]):
        details = (
            f"{p}{corrected}; no interval: the {row.about} has none if a difference is 0 or two "
            "are equal in size"
        )
    else:
        details = f"{_interval(row, shown)}, {p}{corrected}"
    return f"{means}, a difference of {shown.signed(row.difference)} ({details})"


def _interval(row: Difference, shown: Shown) -> str:
    low, high = row.interval
    level = f"{100 * row.level:g}%"
    if math.isinf(low) and math.isinf(high):
        return f"too few queries for a {level} interval"
    start, end = shown.interval(row).strip("[]()").split(", ")
    ends = f"{start} to {end}"
    if math.isinf(high):
        ends = f"from {start} up"
    elif math.isinf(low):
        ends = f"from {end} down"
    about = "" if row.about == "mean difference" else f" of the {row.about}"
    return f"{level} interval{about} {ends}"


def _others(rows: Sequence[Difference]) -> list[str]:
    by_verdict: dict[str, list[str]] = {}
    for row in rows:
        by_verdict.setdefault(word(row), []).append(row.measure)
    phrases = [f"{verdict} ({', '.join(measures)})" for verdict, measures in by_verdict.items()]
    return [f"Verdicts by other measures: {', '.join(phrases)}."] if phrases else []


def needed_text(row: Difference, method: Method) -> str:
    """State the number of queries that would find the effect, without a full stop; empty without
    one, or if too few queries differ.
    """
    if method.effect is None or (row.queries_needed is None and row.detectable_reason is not None):
        return ""
    size = f"a true difference of {method.effect:g}"
    power = f"{100 * method.power:g}% of the time"
    if row.queries_needed is None:
        return f"Changes like these do not add up to {size}, however many queries there are"
    if row.queries_needed <= row.n:
        return f"These {row.n:,} queries find {size} {power}"
    queries = counted(_rounded(row.queries_needed), "query", "queries")
    return f"About {queries} like these, instead of {row.n:,}, would find {size} {power}"


def _rounded(number: int) -> int:
    """Round a number up to two digits, since it is an estimate."""
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return math.ceil(number / unit) * unit
