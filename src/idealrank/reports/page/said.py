"""The sentences of a page, taken from where reports have them."""

import math
from typing import Literal, TypeAlias

from idealrank.reports.compared import numbers_text, pair_lines, verdict_text
from idealrank.reports.compared import sentences as of_pair
from idealrank.reports.compared_cells import Shown
from idealrank.reports.compared_many import headline as of_many
from idealrank.reports.compared_many import is_many
from idealrank.reports.compared_method import method_text
from idealrank.reports.digits import decimals, interval, number
from idealrank.reports.gated_words import could_see, counted, one_line, reasons
from idealrank.reports.gated_words import method as gate_method
from idealrank.reports.gated_words import verdict as of_gate
from idealrank.reports.page.subject import Subject
from idealrank.reports.words import unanswered

_REASONS = 6  # of a closed gate; the tables have all

Kind: TypeAlias = Literal["evaluation", "comparison", "gate"]


def kind(subject: Subject) -> Kind:
    """What the page is about.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> kind(Subject(evaluations=(one,), measures=one.measures))
    'evaluation'
    """
    if subject.gated is not None:
        return "gate"
    return "evaluation" if subject.comparison is None else "comparison"


def page_title(subject: Subject) -> str:
    """Of the window, and of a bookmark.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> page_title(Subject(evaluations=(one,), measures=one.measures))
    'run'
    """
    names = [one_line(name) for name in subject.names]
    if subject.gated is not None:
        return f"Gate: {one_line(subject.gated.run)}"
    if len(names) == 1:
        return names[0]
    return f"{names[1]} against {names[0]}" if len(names) == 2 else f"{len(names):,} runs"


def headline(subject: Subject) -> str:
    """The verdict in a sentence without its numbers.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> headline(Subject(evaluations=(one,), measures=one.measures))
    'run reaches RR 1.0000'
    """
    if subject.gated is not None:
        return of_gate(subject.gated)
    comparison, first = subject.comparison, str(subject.measures[0])
    if comparison is None:
        only, *others = subject.evaluations
        if others:
            return f"{counted(len(subject.evaluations), 'run')}, evaluated and not compared"
        return f"{one_line(subject.names[0])} reaches {first} {number(only.mean().get(first, math.nan))}"
    if len(comparison.pairs) == 1:
        (pair,) = comparison.pairs
        return verdict_text(pair, next(iter(pair.measures.values())), comparison.method)
    return of_many(comparison, first).removesuffix(".")


def sentences(subject: Subject) -> list[str]:
    """What follows the verdict: its numbers, then what else is to be known.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> sentences(Subject(evaluations=(one, one), measures=one.measures, comparison=ir.compare(one, one)))[0]
    'RR 1.0000 against 1.0000, +0.0000 (95 % interval +0.0000 to +0.0000), p 1.'
    """
    gated, comparison = subject.gated, subject.comparison
    if gated is not None:
        return [*(_opened(reason) for reason in reasons(gated)[:_REASONS]), *unanswered(gated.missing), could_see(gated)]
    if comparison is None:
        return _of_evaluation(subject)
    if len(comparison.pairs) == 1:
        (pair,) = comparison.pairs
        first = next(iter(pair.measures.values()))
        return [f"{numbers_text(first, comparison.method, Shown.of(comparison))}.", *of_pair(comparison, pair)[1:]]
    others = [of_many(comparison, str(measure)) for measure in subject.measures[1:]]
    return [*others, *unanswered(comparison.missing)]


def _opened(reason: str) -> str:
    """A reason as a sentence; the name of a measure stays what it is."""
    opened = f"{reason[:1].upper()}{reason[1:]}" if reason.startswith(("query ", "run ")) else reason
    return opened if opened.endswith("?") else f"{opened}."


def _of_evaluation(subject: Subject) -> list[str]:
    """How sure the first mean of a single run is; the table has the others."""
    found = subject.means.get(str(subject.measures[0]), {})
    if len(subject.evaluations) > 1 or not found:
        return []
    (mean,) = found.values()
    ends = " to ".join(interval(mean.interval, decimals([mean.interval])).strip("[]").split(", "))
    over = f"95 % interval {ends}, over" if math.isfinite(mean.interval[1] - mean.interval[0]) else "Over"
    return [f"{over} {counted(mean.n, 'query', 'queries')}."]


def pair_sentences(subject: Subject) -> list[str]:
    """A line for each of a few pairs; none for one pair, or for very many.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> pair_sentences(Subject(evaluations=(one, one), measures=one.measures, comparison=ir.compare(one, one)))
    []
    """
    comparison = subject.comparison
    if subject.gated is not None or comparison is None or len(comparison.pairs) == 1 or is_many(comparison):
        return []
    return [f"{line}." for line in pair_lines(comparison, str(subject.measures[0]))]


def method(subject: Subject) -> list[str]:
    """How it was found out, in phrases.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> method(Subject(evaluations=(one,), measures=one.measures))
    ["intervals of means: Student's, over queries like these"]
    """
    phrases = [f"the gate: {gate_method(subject.gated)}"] if subject.gated is not None else []
    if subject.comparison is not None:
        phrases += [f"differences: {method_text(subject.comparison)}"]
        phrases += ["better / equal / worse: queries on which the second run is that"]
        phrases += ["effect d_z: the difference over its standard deviation"]
        phrases += ["smallest visible difference: the true one that so many queries find four times in five"]
    return [*phrases, "intervals of means: Student's, over queries like these"]
