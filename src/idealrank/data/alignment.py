"""Options for joining a run to its judgments: every choice before a measure. A field of `Alignment`
has its row as a `Switch` beside it.

`Occurrences` are the cases in the data that make switches act: a switch without its case cannot
change a number.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from idealrank.errors import OptionError, shown

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Ties: TypeAlias = Literal["docid", "docid-ascending", "input", "expected", "best", "worst"]
Duplicates: TypeAlias = Literal["error", "first", "last", "best", "twice"]
ScoreType: TypeAlias = Literal["float64", "float32"]
Unjudged: TypeAlias = Literal["not-relevant", "skipped", "error"]
Grades: TypeAlias = Literal["given", "truncated", "minimum"]
Negative: TypeAlias = Literal["kept", "zero", "removed", "padding", "error"]
Missing: TypeAlias = Literal["zero", "left-out", "error"]
WithoutJudgments: TypeAlias = Literal["left-out", "evaluated"]

# The words other tools and papers use for the same policies.
ALSO_CALLED = {
    "ties": {
        "docid-descending": "docid",
        "half": "expected",
        "average": "expected",
        "strict": "best",
        "weak": "worst",
        "le": "worst",
    },
    "unjudged": {"zero": "not-relevant", "skip": "skipped"},
    "missing": {"skip": "left-out"},
    "negative": {"keep": "kept"},
}


def check_choice(switch: str, value: object, allowed: tuple[object, ...]) -> object:
    """The value, if it is one of those allowed; else an error that lists them."""
    # A choice of another type may be equal, as True is to 1, and is refused all the same.
    is_allowed = any(
        value is choice or (isinstance(value, type(choice)) and value == choice)
        for choice in allowed
    )
    if not is_allowed:
        choices = " | ".join(map(str, allowed))
        raise OptionError(f"{switch}={shown(value)}: expected one of {choices}")
    return value


class Occurrences(NamedTuple):
    """Cases that occur in some data."""

    near_ties: bool  # Scores that only float32 takes for equal
    # ties, ties_float32: Judged documents with equal scores, in either precision
    ties: bool
    ties_float32: bool
    duplicates: bool
    unjudged: bool
    missing: bool
    without_judgments: bool
    # fractions, below_one: Grades that are not whole; grades other than 0 below 1
    fractions: bool
    below_one: bool
    # lowest_grade, lowest_whole: The lowest grade as given, and cut to whole numbers; 0 when there
    # is none
    lowest_grade: float
    lowest_whole: float
    padding: bool  # A grade of -1, as given or cut to whole numbers


Settle: TypeAlias = Callable[[Occurrences, Mapping[str, str]], str]
"""The value that a switch has on given data: the value of the convention, or a fixed one where the
switch cannot act on them.
"""


class Switch(NamedTuple):
    """Row of one switch: its values in words, the values to try, and the data on which it can
    act.
    """

    # What it decides on, before the long words of a value: "a document listed twice: an error"
    about: str
    noun: str  # The switch as a cause: "so much is the ties"
    # Opens a difference, before the short words of a value: "ties" in "ties in input order instead
    # of by document id"
    lead: str
    values: Mapping[str, tuple[str, str]]  # By value: its long words and its short ones
    shown_by: str  # Data on which its values can give different numbers
    # See `Settle`; None where the switch acts on all data, as far as is looked at
    settle: Settle | None = None
    usual: str | None = None  # The value that sentences omit, since it has no effect
    # Of a switch with values without end: those that a tool may have used
    open_values: tuple[str, ...] | None = None
    open_tried: tuple[object, ...] = ()  # Of such a switch: those under which a verdict is tried

    @property
    def used_by_tools(self) -> tuple[str, ...]:
        """The values that may stand behind a number; "error" among them gives none."""
        return tuple(self.values) if self.open_values is None else self.open_values

    @property
    def tried(self) -> tuple[object, ...]:
        """The values under which a verdict is tried; "error" among them gives none."""
        return tuple(self.values) if self.open_values is None else self.open_tried

    def long(self, value: str) -> str:
        """Describe a value in a sentence about the whole convention."""
        return self.values[value][0] if value in self.values else value

    def short(self, value: str) -> str:
        """Describe a value in contrast to another."""
        return self.values[value][1] if value in self.values else value


def same_words(words: str) -> tuple[str, str]:
    """Long and short words of a value that needs no more words in a sentence than in contrast to
    another.

    Examples
    --------
    >>> same_words("left out")
    ('left out', 'left out')
    """
    return words, words


def choices_of(half: type["DataclassInstance"]) -> dict[str, tuple[str, ...]]:
    """Values of each switch that has no values without end; a field without a row is refused.

    Examples
    --------
    >>> choices_of(Alignment)["score"]
    ('float64', 'float32')
    """
    rows: dict[str, Switch] = {field.name: field.metadata["row"] for field in fields(half)}
    return {name: tuple(row.values) for name, row in rows.items() if row.open_values is None}


def _unless(case: str, *, switch: str, idle: str) -> Settle:
    """A switch that acts only where a case occurs."""
    return lambda occurs, switches: switches[switch] if getattr(occurs, case) else idle


def _settled_ties(occurs: Occurrences, switches: Mapping[str, str]) -> str:
    # Floored terms have no expected value, ties or not: that pair must stay visible to be refused.
    refused = switches["ties"] == "expected" and switches["rounding"] == "floor-2"
    acts = occurs.ties_float32 if switches["score"] == "float32" else occurs.ties
    return switches["ties"] if acts or refused else "docid"


def _settled_grades(occurs: Occurrences, switches: Mapping[str, str]) -> str:
    acts = {"given": True, "truncated": occurs.fractions, "minimum": occurs.below_one}
    return switches["grades"] if acts[switches["grades"]] else "given"


def _settled_negative(occurs: Occurrences, switches: Mapping[str, str]) -> str:
    lowest = {"given": occurs.lowest_grade, "truncated": occurs.lowest_whole, "minimum": 0.0}
    if lowest[switches["grades"]] >= 0:
        return "zero"
    if switches["negative"] == "padding" and not occurs.padding:
        return "kept"
    return switches["negative"]


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """The alignment half of a convention.

    Parameters
    ----------
    ties : {"docid", "docid-ascending", "input", "expected", "best", "worst"}
        Order of documents with equal scores: by document id (bytes, descending as trec_eval, or
        ascending), as they came in, or the expected, best or worst value over all orders.
    duplicates : {"error", "first", "last", "best", "twice"}
        Treatment of a document that a run lists twice for a query.
    score : {"float64", "float32"}
        The precision in which scores are compared; float32 makes ties of near-ties, as trec_eval 9
        does.
    unjudged : {"not-relevant", "skipped", "error"}
        A returned document without a judgment.
    grades : {"given", "truncated", "minimum"}
        As they are, cut to whole numbers, or 0 where below 1.
    negative : {"kept", "zero", "removed", "padding", "error"}
        Negative grades: as they are, as 0, the document taken out of the list, only grade -1 taken
        out (padding), or refused.
    missing : {"zero", "left-out", "error"}
        A judged query that the run does not answer.
    without_judgments : {"left-out", "evaluated"}
        A query of the run that has no judgments.

    Examples
    --------
    >>> Alignment(ties="average").ties
    'expected'
    """

    ties: Ties = field(
        default="docid",
        metadata={
            "row": Switch(
                about="equal scores",
                noun="ties",
                lead="ties",
                values={
                    "docid": ("by document id, descending", "by document id"),
                    "docid-ascending": ("by document id, ascending", "by document id ascending"),
                    "input": same_words("in input order"),
                    "expected": ("averaged over all their orders", "averaged over all orders"),
                    "best": ("in their best order", "in the best order"),
                    "worst": ("in their worst order", "in the worst order"),
                },
                shown_by="documents of different grades with equal scores",
                settle=_settled_ties,
            )
        },
    )
    duplicates: Duplicates = field(
        default="error",
        metadata={
            "row": Switch(
                about="a document listed twice",
                noun="documents listed twice",
                lead="documents listed twice:",
                values={
                    "error": ("an error", "refused"),
                    "first": ("counted once, at the first line", "the first kept"),
                    "last": ("counted once, at the last line", "the last kept"),
                    "best": ("counted once, with the best score", "the best score kept"),
                    "twice": ("counted each time", "both counted"),
                },
                shown_by="a document listed twice for a query",
                settle=_unless("duplicates", switch="duplicates", idle="error"),
            )
        },
    )
    score: ScoreType = field(
        default="float64",
        metadata={
            "row": Switch(
                about="scores compared as",
                noun="precision of scores",
                lead="scores compared as",
                values={"float64": same_words("float64"), "float32": same_words("float32")},
                shown_by="scores that differ only after the seventh digit",
                settle=_unless("near_ties", switch="score", idle="float64"),
                usual="float64",
            )
        },
    )
    unjudged: Unjudged = field(
        default="not-relevant",
        metadata={
            "row": Switch(
                about="unjudged documents",
                noun="unjudged documents",
                lead="unjudged documents",
                values={
                    "not-relevant": same_words("not relevant"),
                    "skipped": same_words("skipped"),
                    "error": ("an error", "refused"),
                },
                shown_by="a returned document without a judgment above a judged one",
                settle=_unless("unjudged", switch="unjudged", idle="not-relevant"),
                usual="not-relevant",
            )
        },
    )
    grades: Grades = field(
        default="given",
        metadata={
            "row": Switch(
                about="grades",
                noun="fractional grades",
                lead="grades",
                values={
                    "given": ("as given", "as they are"),
                    "truncated": same_words("cut to whole numbers"),
                    "minimum": ("0 where below 1", "below 1 as 0"),
                },
                shown_by="a grade that is not a whole number",
                settle=_settled_grades,
            )
        },
    )
    negative: Negative = field(
        default="zero",
        metadata={
            "row": Switch(
                about="negative grades",
                noun="negative grades",
                lead="negative grades",
                values={
                    "kept": same_words("kept"),
                    "zero": ("counted 0", "as 0"),
                    "removed": same_words("removed with their documents"),
                    "padding": ("kept, but -1 is padding", "-1 removed as padding"),
                    "error": ("an error", "refused"),
                },
                shown_by="a negative grade",
                settle=_settled_negative,
            )
        },
    )
    missing: Missing = field(
        default="zero",
        metadata={
            "row": Switch(
                about="a query missing from the run",
                noun="queries missing from the run",
                lead="queries missing from the run",
                values={
                    "zero": ("counted 0", "as 0"),
                    "left-out": same_words("left out"),
                    "error": ("an error", "refused"),
                },
                shown_by="a judged query that the run does not answer",
                settle=_unless("missing", switch="missing", idle="zero"),
            )
        },
    )
    without_judgments: WithoutJudgments = field(
        default="left-out",
        metadata={
            "row": Switch(
                about="a query without judgments",
                noun="queries without judgments",
                lead="queries without judgments",
                values={"left-out": same_words("left out"), "evaluated": same_words("evaluated")},
                shown_by="a query of the run without judgments",
                settle=_unless("without_judgments", switch="without_judgments", idle="left-out"),
            )
        },
    )

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            written = getattr(self, name)
            spellings = ALSO_CALLED.get(name, {})
            value = spellings.get(written, written) if isinstance(written, str) else written
            object.__setattr__(self, name, check_choice(name, value, allowed))


_CHOICES = choices_of(Alignment)
