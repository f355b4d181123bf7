"""What a search for a number's convention found."""

from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from idealrank.conventions.switches import difference_phrase
from idealrank.reconciliation.stated import Fit, Reading, Stated
from idealrank.reconciliation.text import describe

Found: TypeAlias = Literal["preset", "one switch", "other cutoff", "two switches", "one query"]

FOUND: tuple[Found, ...] = ("preset", "one switch", "other cutoff", "two switches", "one query")


@dataclass(frozen=True)
class SwitchDifference:
    """A switch in which a convention differs from the current one.

    Attributes
    ----------
    switch, current, here : str
        Its name, and its value in the current convention and in this one.
    acts : bool
        Whether it changes any query's value on these data.
    """

    switch: str
    current: str
    here: str
    acts: bool

    def __str__(self) -> str:
        return difference_phrase(self.switch, self.here, self.current)


@dataclass(frozen=True)
class Match:
    """A convention, and the number it gives.

    Attributes
    ----------
    conventions : tuple of str
        Names that mean the same for this measure; the first is given by `fingerprint`.
    fingerprint : str
        Of the first.
    measure : str
        The measure asked, or the same at another cutoff.
    value : float
        The mean it gives, or the value of `query` alone.
    reading : {"as it is", "in percent", "one minus"}
        How the value was compared with the stated one.
    fit : {"rounded", "cut off", "single precision"} or None
        How it can have become the stated one; None where it cannot.
    distance : float
        From the stated number, on its scale.
    found : {"preset", "one switch", "other cutoff", "two switches", "one query"}
        In which step of the search.
    query : str or None
        Set when one query alone has this value.
    differences : tuple of SwitchDifference
        From the current convention, without switches that cannot matter to this measure.
    group : int
        Matches of one group give every query the same value: these data cannot tell them apart.
    """

    conventions: tuple[str, ...]
    fingerprint: str
    measure: str
    value: float
    reading: Reading
    fit: Fit | None
    distance: float
    found: Found
    query: str | None
    differences: tuple[SwitchDifference, ...]
    group: int

    @property
    def words(self) -> str:
        """The differences that act on these data, in words; empty when none does."""
        return "; ".join(str(difference) for difference in self.differences if difference.acts)

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        plain = asdict(self)
        plain["conventions"] = list(self.conventions)
        plain["differences"] = [{**asdict(difference), "words": str(difference)} for difference in self.differences]
        return {**plain, "words": self.words}


@dataclass(frozen=True)
class QueryPair:
    """A query's value under two conventions; None where it does not count."""

    query: str
    a: float | None
    b: float | None


@dataclass(frozen=True)
class Twins:
    """Conventions that give every query of these data the same value.

    Attributes
    ----------
    conventions : tuple of str
        Their names.
    data : tuple of str
        What data that might tell some of them apart would have to contain.
    """

    conventions: tuple[str, ...]
    data: tuple[str, ...]


@dataclass(frozen=True)
class Separation:
    """Two conventions that both fit, and the queries that tell them apart.

    Attributes
    ----------
    a, b : str
        The conventions.
    queries : tuple of QueryPair
        Queries on which they differ, most first.
    """

    a: str
    b: str
    queries: tuple[QueryPair, ...]


@dataclass(frozen=True)
class RefusedBy:
    """Conventions that give no number on these data, and why."""

    conventions: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Reconciliation:
    """The conventions that give a stated number.

    Attributes
    ----------
    stated : Stated
        The number with its digits.
    measure : str
        As asked.
    current, fingerprint : str
        The convention the others are told against.
    value : float or None
        What it gives; None where it refuses the data.
    matches : tuple of Match
        Conventions that give the number, to the digits given: presets first, then by the step that found them, nearest first.
    nearest : tuple of Match
        The nearest that do not give it; only when nothing does.
    twins : tuple of Twins
        Matches that these data cannot tell apart, and data that might.
    separations : tuple of Separation
        The queries that tell the first match from others.
    refused : tuple of RefusedBy
        Presets that refuse these data.
    tried, numbers : int
        Conventions tried, and different numbers they gave.
    unlisted : int
        Further matches, left out because the list is long.
    complete : bool
        Whether every step of the search was taken to its end; large data stop it earlier.

    Examples
    --------
    >>> from idealrank.data.qrels import Qrels
    >>> from idealrank.data.run import Run
    >>> from idealrank.reconciliation import reconcile
    >>> found = reconcile(Qrels({"q": {"a": 3, "b": 1}}), Run({"q": ["b", "a"]}), "0.7098")
    >>> found.matches[0].conventions[0], found.matches[0].words
    ('ranx-burges', 'gain exp2 instead of linear')
    """

    stated: Stated
    measure: str
    current: str
    fingerprint: str
    value: float | None
    matches: tuple[Match, ...]
    nearest: tuple[Match, ...]
    twins: tuple[Twins, ...]
    separations: tuple[Separation, ...]
    refused: tuple[RefusedBy, ...]
    tried: int
    numbers: int
    unlisted: int
    complete: bool

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it: plain lists, dicts, texts and numbers.

        Examples
        --------
        >>> from idealrank.data.qrels import Qrels
        >>> from idealrank.data.run import Run
        >>> from idealrank.reconciliation import reconcile
        >>> reconcile(Qrels({"q": {"a": 1}}), Run({"q": ["a"]}), "1.0").as_dict()["current"]["name"]
        'standard'
        """
        return {
            "stated": self.stated.text,
            "measure": self.measure,
            "current": {"name": self.current, "fingerprint": self.fingerprint, "value": self.value},
            "matches": [match.as_dict() for match in self.matches],
            "nearest": [match.as_dict() for match in self.nearest],
            "twins": [{"conventions": list(twins.conventions), "data": list(twins.data)} for twins in self.twins],
            "separations": [{**asdict(pair), "queries": [asdict(query) for query in pair.queries]} for pair in self.separations],
            "refused": [{"conventions": list(refused.conventions), "reason": refused.reason} for refused in self.refused],
            "tried": self.tried,
            "numbers": self.numbers,
            "unlisted": self.unlisted,
            "complete": self.complete,
        }

    def __str__(self) -> str:
        return describe(self)
