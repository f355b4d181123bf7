"""Ids that do not join although they look alike: what has to be done to one side so that they would."""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from urllib.parse import unquote

# What differs -> how to take the difference away. Tried in this order: the smallest change that joins something is the suspicion.
_CHANGES: dict[str, Callable[[str], str]] = {
    "blanks at the ends": str.strip,
    "invisible characters": lambda text: re.sub(r"[\ufeff\u200b-\u200f\u00ad]", "", text),
    "upper and lower case": str.casefold,
    "quotation marks": lambda text: text.strip("'\"`"),
    "the form of Unicode (composed or not)": lambda text: unicodedata.normalize("NFC", text),
    "percent-encoding": unquote,
    "a decimal point (numbers written as 7.0)": lambda text: re.sub(r"\A(\d+)\.0+\Z", r"\1", text),
    "zeros in front": lambda text: re.sub(r"\A0+(?=\d)", "", text),
    "a file ending": lambda text: re.sub(r"\.(?:txt|html?|xml|json|pdf|md)\Z", "", text, flags=re.IGNORECASE),
    "a folder in front": lambda text: text.rstrip("/").rpartition("/")[2],
    "a prefix before the number": lambda text: re.sub(r"\A\D+(?=\d+\Z)", "", text),
    "a prefix and zeros before the number": lambda text: re.sub(r"\A\D*0*(?=\d+\Z)", "", text),
    "the part after a separator": lambda text: re.split(r"[-_:#]", text)[0],
}


@dataclass(frozen=True)
class Resemblance:
    """A suspicion why two sets of ids do not meet.

    Attributes
    ----------
    difference : str
        What differs, in words.
    left, right : str
        A pair that would meet without it.
    count : int
        How many ids of the left side would.
    """

    difference: str
    left: str
    right: str
    count: int


def resemblance(left: Iterable[str], right: Iterable[str]) -> Resemblance | None:
    """Find a change of spelling under which ids of both sides meet.

    Parameters
    ----------
    left, right : iterable of str
        Ids that do not meet as they are.

    Examples
    --------
    >>> resemblance(["007", "012"], ["7", "12"]).difference
    'zeros in front'
    >>> resemblance(["a"], ["b"]) is None
    True
    """
    left, right = list(dict.fromkeys(left)), list(dict.fromkeys(right))
    for difference, change in _CHANGES.items():
        changed = {change(text): text for text in reversed(right)}
        changed.pop("", None)
        meeting = [text for text in left if change(text) in changed and changed[change(text)] != text]
        if meeting:
            return Resemblance(difference, meeting[0], changed[change(meeting[0])], len(meeting))
    return None
