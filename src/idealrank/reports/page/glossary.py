"""The measures of a page for a reader new to them, from the classes' own facts; and more terms."""

from dataclasses import dataclass

from idealrank.measures.facts import facts_of
from idealrank.measures.measure import Measure
from idealrank.reports.subject import Subject
from idealrank.reports.views.comparison.rankings import unchanged
from idealrank.reports.views.comparison.reach import BOTH_RUNS
from idealrank.reports.views.measures import direction_words, plain, range_words


@dataclass(frozen=True, kw_only=True)
class GlossaryEntry:
    """One measure in words.

    Attributes
    ----------
    names : tuple of str
        As the page writes it, with each of its options.
    summary, use, formula : str
        What it is, when to choose it, and how it is computed.
    range, direction : str
        Least and greatest value; whether more is better.

    Examples
    --------
    >>> from idealrank.measures.binary import RR
    >>> entry_of(RR, ("RR",)).range
    '0 to 1'
    """

    names: tuple[str, ...]
    summary: str
    use: str
    formula: str
    range: str
    direction: str


@dataclass(frozen=True, kw_only=True)
class Term:
    """A word of the page that is no measure of a run, in one sentence.

    Attributes
    ----------
    name, text : str
        The word, and what it means.

    Examples
    --------
    >>> Term(name="rank", text="1 is the top.").name
    'rank'
    """

    name: str
    text: str


_RBO = Term(
    name="RBO",
    text="Rank-biased overlap: how alike two rankings are, from 0 (nothing in common) to 1 (the same order), where the top counts most.",
)
_D_Z = Term(
    name="d_z",
    text="Effect size: the mean difference divided by the standard deviation of the differences of single queries.",
)

_TIPS = Term(name="tips at", text=f"Share of the unjudged documents of the run behind that would undo the significance; {BOTH_RUNS}.")


def terms(subject: Subject) -> list[Term]:
    """RBO, d_z and the tipping point, where the page has them.

    Parameters
    ----------
    subject : Subject
        What the page shows.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> [term.name for term in terms(Subject(evaluations=(one, one), measures=one.measures, comparison=ir.compare(one, one)))]
    ['d_z']
    """
    comparison = subject.comparison
    if comparison is None:
        return []
    alone = subject.gated is None and len(comparison.pairs) == 1  # the sentences of several pairs do not say how alike rankings are
    said = unchanged(comparison.pairs[0].rankings)[:1] if alone else []
    rows = [row for pair in comparison.pairs for row in pair.measures.values()]
    tips = any(row.tipping is not None and (row.unjudged_a or row.unjudged_b) for row in rows)
    return [_D_Z, *(_RBO for one in said if "RBO" in one), *([_TIPS] if tips else [])]


def glossary(subject: Subject) -> list[GlossaryEntry]:
    """An entry for each measure of the page; those that differ in options alone share one.

    Parameters
    ----------
    subject : Subject
        What the page shows.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, ["nDCG@10", "nDCG@20", "RR"])
    >>> [(entry.names, entry.direction) for entry in glossary(Subject(evaluations=(one,), measures=one.measures))]
    [(('nDCG@10', 'nDCG@20'), 'more is better'), (('RR',), 'more is better')]
    """
    names: dict[type[Measure], tuple[str, ...]] = {}
    for measure in subject.measures:
        names[type(measure)] = (*names.get(type(measure), ()), str(measure))
    return [entry_of(cls, texts) for cls, texts in names.items() if getattr(cls, "summary", "")]


def entry_of(cls: type[Measure], names: tuple[str, ...]) -> GlossaryEntry:
    """Describe a class in sentences from its own facts.

    Examples
    --------
    >>> from idealrank.measures.binary import P
    >>> entry_of(P, ("P@5",)).formula
    'P@k = |relevant in the top k| / k'
    """
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
    """A text with a full stop; its first letter stays, for it may be the name of a measure."""
    return text if not text or text.endswith((".", "?", "!")) else f"{text}."
