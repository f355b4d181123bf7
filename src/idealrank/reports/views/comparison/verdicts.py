"""Word, colour and mark of each verdict in reports, pages and figures."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from idealrank.analysis.comparison import Difference
from idealrank.reports.table.cells import Tone

if TYPE_CHECKING:
    from idealrank.analysis.comparison.slice_differences import Slice
    from idealrank.analysis.gate.outcome import Check

IDENTICAL = "identical"
"""The word for two runs that have one value on every query: more queries cannot tell them apart."""


class Look(NamedTuple):
    """Presentation of one verdict, or of one outcome of a gate.

    Attributes
    ----------
    tone : {"", "better", "worse", "quiet"}
        Colour of its word, and its class in HTML.
    side : {"better", "worse", "equal"}
        Mark and colour in figures; "equal" is hollow.
    decided : bool
        Whether it answers the question that was asked.

    Examples
    --------
    >>> Look(tone="quiet").side
    'equal'
    """

    tone: Tone = ""
    side: str = "equal"
    decided: bool = False


# A new verdict needs one line here; without it, it is shown as undecided is, in its own word.
VERDICTS: Mapping[str, Look] = {
    "better": Look(tone="better", side="better", decided=True),
    "worse": Look(tone="worse", side="worse", decided=True),
    "equivalent": Look(decided=True),
    "undecided": Look(tone="quiet"),
    "too few judgments": Look(tone="quiet"),
    IDENTICAL: Look(tone="quiet"),
    "passed": Look(decided=True),
    "failed": Look(tone="worse", decided=True),
    "kept": Look(decided=True),
    "broken": Look(tone="worse", decided=True),
}


def look(verdict: str) -> Look:
    """The look of a verdict; one that the table does not have looks like an undecided one.

    Examples
    --------
    >>> look("worse").tone, look("a verdict of tomorrow").tone
    ('worse', 'quiet')
    """
    return VERDICTS.get(verdict, VERDICTS["undecided"])


def decided_tone(verdict: str) -> Tone:
    """The colour of a number whose verdict says which run is better; none of another.

    Examples
    --------
    >>> decided_tone("worse"), decided_tone("undecided")
    ('worse', '')
    """
    return "better" if verdict == "better" else "worse" if verdict == "worse" else ""


def correction_word(correction: str) -> str:
    """The name of a correction for people.

    Examples
    --------
    >>> correction_word("holm"), correction_word("max-T")
    ('Holm', 'max-T')
    """
    return {"holm": "Holm", "bonferroni": "Bonferroni"}.get(correction, correction)


def is_identical(row: "Difference | Slice | Check") -> bool:
    """Return whether both runs have the same value on every query.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> is_identical(ir.compare(one, one)["RR"])
    True
    """
    return not row.wins and not row.losses


def word(row: "Difference | Slice") -> str:
    """The verdict for people: a difference that is undecided because all values are equal is called identical.

    Examples
    --------
    >>> import idealrank as ir
    >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
    >>> row = ir.compare(one, one)["RR"]
    >>> row.verdict, word(row)
    ('undecided', 'identical')
    """
    return IDENTICAL if row.verdict == "undecided" and is_identical(row) else row.verdict
