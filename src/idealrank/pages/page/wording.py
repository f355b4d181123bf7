"""The sentences of a page, mostly from other reports, and its glossary: the measures for a reader
new to them, and more terms.

A measure is described by the facts of its class.
"""

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from idealrank.analysis.comparison import Comparison
from idealrank.analysis.gate import Gated
from idealrank.measures.facts import facts_of
from idealrank.measures.measure import Measure
from idealrank.reports.subject import Subject, leading_pairs
from idealrank.reports.table.cells import counted, decimals, interval, number
from idealrank.reports.table.text import one_line
from idealrank.reports.views.comparison.columns import Shown
from idealrank.reports.views.comparison.comparison import method_text, pair_lines
from idealrank.reports.views.comparison.league import headline as of_many
from idealrank.reports.views.comparison.league import is_many, verdict_limits
from idealrank.reports.views.comparison.pair_sentences import (
    Told,
    judge_sentences,
    numbers_text,
    verdict_sentences,
    verdict_text,
)
from idealrank.reports.views.comparison.phrases import (
    BOTH_RUNS,
    BY_COMMAND,
    plain_sentence,
    unchanged,
)
from idealrank.reports.views.conventions import design_phrases, unanswered, warned
from idealrank.reports.views.gate.gate import gate_sentences
from idealrank.reports.views.gate.sentences import could_see, gate_places, reasons
from idealrank.reports.views.gate.sentences import method as gate_method
from idealrank.reports.views.gate.sentences import verdict as of_gate
from idealrank.reports.views.measures import direction_words, plain, range_words

_NAMED = 3  # runs named in a headline
_SAID = 600  # letters of the sentence about an accepted run
_REASONS = 6  # of a closed gate; the tables have all

Kind: TypeAlias = Literal["evaluation", "comparison", "gate"]


def kind(subject: Subject) -> Kind:
    """Return the subject of a page."""
    if subject.gated is not None:
        return "gate"
    return "evaluation" if subject.comparison is None else "comparison"


def page_title(subject: Subject) -> str:
    """Return the title of the window and of a bookmark."""
    names = [one_line(name) for name in subject.names]
    if subject.gated is not None:
        return f"Gate: {one_line(subject.gated.run)}"
    if len(names) == 1:
        return names[0]
    return f"{names[1]} against {names[0]}" if len(names) == 2 else f"{len(names):,} runs"


def headline(subject: Subject) -> str:
    """Return the verdict in a sentence without its numbers."""
    if subject.gated is not None:
        verdict = of_gate(subject.gated)
        accepted = subject.gated.acceptance
        return verdict if accepted is None else f"{one_line(accepted.headline, _SAID)} {verdict}"
    comparison = subject.comparison
    first = str(subject.measures[0])
    if comparison is None:
        only, *others = subject.evaluations
        if others:
            return f"{counted(len(subject.evaluations), 'run')}, evaluated, not compared"
        run_mean = subject.means.get(first, {}).get(only.name)
        mean = only.mean().get(first, math.nan) if run_mean is None else run_mean.mean
        return f"{one_line(subject.names[0])} reaches {first} {number(mean)}"
    if len(comparison.pairs) == 1:
        (pair,) = comparison.pairs
        return verdict_text(pair, next(iter(pair.measures.values())), comparison.method)
    return _of_many(comparison, first).removesuffix(".")


def _of_many(comparison: Comparison, measure: str) -> str:
    """The headline of several runs. If more than a few do not differ significantly from the best,
    it has their number, and tables name them.
    """
    if comparison.method.baseline is not None:
        return of_many(comparison, measure)
    groups = comparison.groups(measure)
    best, *others = groups.top
    if len(others) <= _NAMED or len(groups.top) == len(comparison.names):
        return of_many(comparison, measure)
    runs = f"{len(comparison.names):,} runs"
    limits = verdict_limits(comparison, measure)
    first = (
        f"By {measure}, {one_line(best)} has the best mean of {runs}; {len(others):,} others do "
        f"not differ significantly from it"
    )
    if not limits:
        return f"{first}."
    return f"{first}. It is better than {len(groups.better_than[best]):,}: {limits}."


def sentences(subject: Subject) -> list[str]:
    """Return the sentences after the verdict: its numbers, then further facts."""
    return _told(subject).brief


def more_sentences(subject: Subject) -> list[str]:
    """Return the sentences that the page folds away."""
    return _told(subject).more


def _told(subject: Subject) -> Told:
    gated, comparison = subject.gated, subject.comparison
    if gated is not None:
        return _of_gate(gated)
    if comparison is None:
        return Told.of(_of_evaluation(subject), [])
    pair = leading_pairs(comparison)[0]
    told = verdict_sentences(comparison, pair, None, BY_COMMAND)
    # the plain sentence has a place of its own on the page
    more = [text for text in told.more if text != plain_sentence(pair)]
    if len(comparison.pairs) > 1:
        others = [_of_many(comparison, str(measure)) for measure in subject.measures[1:]]
        judged = judge_sentences(comparison.rows(), Shown.of(comparison))
        unknown = [comparison.reach_unknown] if comparison.reach_unknown else []
        cautions = [*unanswered(comparison.missing), *unknown]
        brief = [*_of_leading(comparison), *cautions, *told.brief[1:]]
        return Told.of(brief, [*more, *others, *judged])
    if pair.mismatch:
        _, _, question = pair.mismatch.partition("; ")
        return Told.of([_capitalized(question), *warned(comparison.mismatches)[-1:]], [])
    first = next(iter(pair.measures.values()))
    size = f"{numbers_text(first, comparison.method, Shown.of(comparison))}."
    return Told.of([size, *told.brief[1:]], more)


def _capitalized(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _of_gate(gated: Gated) -> Told:
    """Sentences of a gate: the first reason in place of the verdict, which is the heading."""
    told = gate_sentences(gated, gate_places(gated), BY_COMMAND)
    why = [_opened(reason) for reason in reasons(gated)[:_REASONS]]
    first = why[0] if why else _capitalized(told.brief[0].removeprefix("The gate is open: "))
    several = [could_see(gated)] if len(gated.deciding) > 1 else []
    return Told.of([first, *told.brief[1:]], [*told.more, *why, *several])


def in_plain_words(subject: Subject) -> str:
    """Describe the difference of the pair shown first by the results that users get; empty if its
    measure counts no results.
    """
    if subject.comparison is None:
        return ""
    return plain_sentence(leading_pairs(subject.comparison)[0])


def _of_leading(comparison: Comparison) -> list[str]:
    """Name the pair that figures and lists of the page show at first."""
    pair = leading_pairs(comparison)[0]
    first = next(iter(pair.measures.values()))
    against = "runner-up" if comparison.method.baseline is None else "baseline"
    verdict = verdict_text(pair, first, comparison.method)
    # after a colon; a verdict with another first word begins with a name, which stays
    verdict = f"t{verdict[1:]}" if verdict.startswith("These ") else verdict
    numbers = numbers_text(first, comparison.method, Shown.of(comparison))
    return [
        f"Best run against {against}: {verdict}: {numbers}.",
        "The page shows this pair until you choose another.",
    ]


def _opened(reason: str) -> str:
    """Turn a reason into a sentence; the name of a measure at its beginning is not capitalized."""
    opened = _capitalized(reason) if reason.startswith(("query ", "run ")) else reason
    return opened if opened.endswith("?") else f"{opened}."


def _of_evaluation(subject: Subject) -> list[str]:
    """Describe the confidence of the first mean of a single run; the table holds the others."""
    means = subject.means.get(str(subject.measures[0]), {})
    if len(subject.evaluations) > 1 or not means:
        return []
    (mean,) = means.values()
    low, high = mean.interval
    ends = interval(mean.interval, decimals([mean.interval])).strip("[]").replace(", ", " to ")
    over = f"95% interval {ends}, over" if math.isfinite(high - low) else "Over"
    return [f"{over} {counted(mean.n, 'query', 'queries')}."]


def pair_sentences(subject: Subject) -> list[str]:
    """Write a line for each of a few pairs; none for one pair, or for very many."""
    comparison = subject.comparison
    if subject.gated is not None or comparison is None:
        return []
    if len(comparison.pairs) == 1 or is_many(comparison):
        return []
    return [f"{line}." for line in pair_lines(comparison, str(subject.measures[0]))]


def method(subject: Subject) -> list[str]:
    """Describe the method in phrases."""
    phrases = [f"the gate: {gate_method(subject.gated)}"] if subject.gated is not None else []
    if subject.comparison is not None:
        phrases += [
            f"differences: {method_text(subject.comparison)}",
            "better / equal / worse: number of queries on which the second run is better, "
            "equal or worse",
            "effect d_z: the difference over its standard deviation",
            "detectable with 80 % power: the smallest true difference that these queries find "
            "80% of the time",
        ]
        if subject.robustness is None:
            phrases += ["other conventions: not tested for this page; idealrank robust tests them"]
    elif subject.gated is None:
        phrases += design_phrases(
            weighted=subject.weighted, clustered=subject.clustered, judgments="same"
        )
    return [*phrases, "intervals of means: Student's, over queries like these"]


@dataclass(frozen=True, kw_only=True)
class GlossaryEntry:
    """One measure in words."""

    names: tuple[str, ...]  # As the page writes it, with each of its options
    # summary, use, formula: What it is, when to choose it, and how it is computed
    summary: str
    use: str
    formula: str
    # range, direction: Least and greatest value; whether more is better
    range: str
    direction: str


@dataclass(frozen=True, kw_only=True)
class Term:
    """A word of the page that is no measure of a run, in one sentence."""

    # name, text: The word, and what it means
    name: str
    text: str


_RBO = Term(
    name="RBO",
    text="Rank-biased overlap: similarity of two rankings, from 0 (no common document) to 1 (the "
    "same order); the top counts most.",
)
_D_Z = Term(
    name="d_z",
    text="Effect size: the mean difference divided by the standard deviation of the differences of "
    "single queries.",
)

_TIPS = Term(
    name="tips at",
    text=f"Relevant share of the unjudged documents of the run behind at which the difference is "
    f"no longer significant; {BOTH_RUNS}.",
)


def terms(subject: Subject) -> list[Term]:
    """Explain RBO, d_z and the tipping point, if the page has them."""
    comparison = subject.comparison
    if comparison is None:
        return []
    # the sentences of several pairs do not say how alike rankings are
    alone = subject.gated is None and len(comparison.pairs) == 1
    sentences = unchanged(comparison.pairs[0].rankings)[:1] if alone else []
    has_rbo = any("RBO" in sentence for sentence in sentences)
    rows = [row for _, row in comparison.rows()]
    tips = any(row.tipping is not None and (row.unjudged_a or row.unjudged_b) for row in rows)
    return [_D_Z, *([_RBO] if has_rbo else []), *([_TIPS] if tips else [])]


def glossary(subject: Subject) -> list[GlossaryEntry]:
    """Make an entry for each measure of the page; measures that differ in options only share
    one.
    """
    names: dict[type[Measure], tuple[str, ...]] = {}
    for measure in subject.measures:
        names[type(measure)] = (*names.get(type(measure), ()), str(measure))
    return [entry_of(cls, texts) for cls, texts in names.items() if getattr(cls, "summary", "")]


def entry_of(cls: type[Measure], names: tuple[str, ...]) -> GlossaryEntry:
    """Describe a class in sentences from its own facts."""
    facts = facts_of(cls)
    return GlossaryEntry(
        names=names,
        summary=_sentence(plain(facts.summary)),
        use=_sentence(plain(facts.use)),
        formula=plain(facts.formula),
        range=range_words(facts),
        direction=direction_words(facts),
    )


def _sentence(text: str) -> str:
    """End a text with a full stop; its first letter stays, since it may begin a measure's name."""
    return text if not text or text.endswith((".", "?", "!")) else f"{text}."
