"""Options for joining a run to its judgments: every choice before a measure."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args, get_type_hints

from idealrank.errors import OptionError, shown

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
        "docid-descending": "docid", "half": "expected", "average": "expected", "strict": "best", "weak": "worst", "le": "worst",
    },
    "unjudged": {"zero": "not-relevant", "skip": "skipped"},
    "missing": {"skip": "left-out"},
    "negative": {"keep": "kept"},
}  # fmt: skip


def check_choice(switch: str, value: object, allowed: tuple[object, ...]) -> object:
    """The value, if it is one of those allowed; else an error that lists them.

    Examples
    --------
    >>> check_choice("ties", "best", ("best", "worst"))
    'best'
    """
    if not any(value is one or (isinstance(value, type(one)) and value == one) for one in allowed):
        choices = " | ".join(map(str, allowed))
        raise OptionError(f"{switch}={shown(value)}: expected one of {choices}")
    return value


@dataclass(frozen=True, kw_only=True)
class Alignment:
    """The alignment half of a convention.

    Parameters
    ----------
    ties : {"docid", "docid-ascending", "input", "expected", "best", "worst"}
        Order of documents with equal scores: by document id (bytes, descending as trec_eval, or ascending), as they came in,
        or the expected, best or worst value over all orders.
    duplicates : {"error", "first", "last", "best", "twice"}
        Treatment of a document that a run lists twice for a query.
    score : {"float64", "float32"}
        The precision in which scores are compared; float32 makes ties of near-ties, as trec_eval 9 does.
    unjudged : {"not-relevant", "skipped", "error"}
        A returned document without a judgment.
    grades : {"given", "truncated", "minimum"}
        As they are, cut to whole numbers, or 0 where below 1.
    negative : {"kept", "zero", "removed", "padding", "error"}
        Negative grades: as they are, as 0, the document taken out of the list, only grade -1 taken out (padding), or refused.
    missing : {"zero", "left-out", "error"}
        A judged query that the run does not answer.
    without_judgments : {"left-out", "evaluated"}
        A query of the run that has no judgments.

    Examples
    --------
    >>> Alignment(ties="average").ties
    'expected'
    """

    ties: Ties = "docid"
    duplicates: Duplicates = "error"
    score: ScoreType = "float64"
    unjudged: Unjudged = "not-relevant"
    grades: Grades = "given"
    negative: Negative = "zero"
    missing: Missing = "zero"
    without_judgments: WithoutJudgments = "left-out"

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            given = getattr(self, name)
            value = ALSO_CALLED.get(name, {}).get(given, given) if isinstance(given, str) else given
            object.__setattr__(self, name, check_choice(name, value, allowed))


# Found out once: every preset is an alignment, and evaluating the annotations for each would take longer than all of them.
_CHOICES = {name: get_args(hint) for name, hint in get_type_hints(Alignment).items()}
