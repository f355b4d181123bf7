"""What each verdict looks like in pages and figures: the one table that maps verdicts to colours, marks and their opposites."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar, cast

from idealrank.reports.cells import Tone

V = TypeVar("V", bound=str)


@dataclass(frozen=True, kw_only=True)
class Look:
    """How one verdict, or one outcome of a gate, is shown.

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
    "judgments do not reach": Look(tone="quiet"),
    "passed": Look(decided=True),
    "failed": Look(tone="worse", decided=True),
    "kept": Look(decided=True),
    "broken": Look(tone="worse", decided=True),
}
_OPPOSITE: Mapping[str, str] = {"better": "worse", "worse": "better"}


def look(verdict: str) -> Look:
    """The look of a verdict; one that the table does not have looks like an undecided one.

    Examples
    --------
    >>> look("worse").tone, look("a verdict of tomorrow").tone
    ('worse', 'quiet')
    """
    return VERDICTS.get(verdict, VERDICTS["undecided"])


def opposite(verdict: V) -> V:
    """The verdict on a against b, from that on b against a.

    Examples
    --------
    >>> opposite("better"), opposite("undecided")
    ('worse', 'undecided')
    """
    return cast("V", _OPPOSITE.get(verdict, verdict))
