"""The measures of a page for a reader who does not know them: what the classes say of themselves, and nothing else."""

from dataclasses import dataclass

from idealrank.measures.facts import facts_of
from idealrank.measures.measure import Measure
from idealrank.reports.measures import direction_words, plain, range_words
from idealrank.reports.page.subject import Subject


@dataclass(frozen=True, kw_only=True)
class Entry:
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


def glossary(subject: Subject) -> list[Entry]:
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


def entry_of(cls: type[Measure], names: tuple[str, ...]) -> Entry:
    """What a class says of itself, as sentences.

    Examples
    --------
    >>> from idealrank.measures.binary import P
    >>> entry_of(P, ("P@5",)).formula
    'P@k = |relevant in the top k| / k'
    """
    facts = facts_of(cls)
    return Entry(
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
