"""Result of a search for the convention behind a stated number.

A stated number has digits, and numbers that it can stand for.
"""

import math
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, TypeAlias

from idealrank._lazy import printed
from idealrank.conventions.switches import difference_phrase
from idealrank.errors import OptionError

Reading: TypeAlias = Literal["as it is", "in percent", "one minus"]
Fit: TypeAlias = Literal["rounded", "cut off", "single precision"]

FITS: tuple[Fit, ...] = ("rounded", "cut off", "single precision")

# Sums in another order differ by this much in float64; tools that compute in float32 differ by up
# to 3e-6.
_DOUBLE = 1e-12
_SINGLE = 3e-6
# No float has more decimals that mean something here.
_FINEST = -30


def read_as(value: float, reading: Reading) -> float:
    """A computed value in the form in which it may have been stated."""
    if reading == "in percent":
        return 100 * value
    return 1 - value if reading == "one minus" else value


@dataclass(frozen=True, kw_only=True)
class Stated:
    """A number with its digits."""

    text: str
    number: float
    unit: float
    percent: bool = False

    @classmethod
    def parse(cls, value: "str | float") -> "Stated":
        """A stated number from its text, or from a number (the digits of its shortest text)."""
        text = str(value).strip()
        digits = text.removesuffix("%").strip()
        try:
            number = Decimal(digits)
        except InvalidOperation:
            number = Decimal("nan")
        if not number.is_finite() or math.isinf(float(number)):
            hint = "; a decimal point, not a comma" if "," in text else ""
            raise OptionError(f"value {text!r}: expected a number such as 0.8145 or 81.45%{hint}")
        exponent = int(number.as_tuple().exponent)
        return cls(
            text=text,
            number=float(number),
            unit=10.0 ** max(exponent, _FINEST),
            percent=text.endswith("%"),
        )

    @property
    def decimals(self) -> int:
        """Digits after the point."""
        return max(0, -round(math.log10(self.unit)))

    def distance(self, value: float, reading: Reading = "as it is") -> float:
        """Return the distance of a computed value from the stated one, on the scale of the stated
        one.
        """
        return abs(read_as(value, reading) - self.number)

    def fit(self, value: float, reading: Reading = "as it is") -> Fit | None:
        """Return how a computed value can have become the stated one."""
        as_stated = read_as(value, reading)
        off = abs(as_stated - self.number)
        slack = _DOUBLE * max(1.0, abs(self.number))
        if off <= self.unit / 2 + slack:
            return "rounded"
        # Cutting digits off moves a number towards 0.
        beyond = as_stated - self.number if self.number >= 0 else self.number - as_stated
        if -slack <= beyond < self.unit - slack:
            return "cut off"
        # Only a number with seven decimals or more shows the error of single precision.
        if self.unit < 0.9e-6 and off <= _SINGLE * max(1.0, abs(self.number)):
            return "single precision"
        return None


Found: TypeAlias = Literal[
    "preset", "other form", "one switch", "other cutoff", "two switches", "one query"
]

FOUND: tuple[Found, ...] = (
    "preset",
    "other form",
    "one switch",
    "other cutoff",
    "two switches",
    "one query",
)


@dataclass(frozen=True, kw_only=True)
class SwitchDifference:
    """A switch in which a convention differs from the current one."""

    # switch, current, here: Its name, and its value in the current convention and in this one
    switch: str
    current: str
    here: str
    acts: bool  # Whether it changes any query's value on these data

    def __str__(self) -> str:
        return difference_phrase(self.switch, self.here, self.current)


@dataclass(frozen=True, kw_only=True)
class Match:
    """A convention, and the number it gives."""

    # Names that mean the same for this measure; the first is given by `fingerprint`
    conventions: tuple[str, ...]
    fingerprint: str  # Of the first
    measure: str  # The measure asked, or the same at another cutoff or in another form
    value: float  # The mean it gives, or the value of `query` alone
    reading: Reading  # How the value was compared with the stated one
    fit: Fit | None  # How it can have become the stated one; None where it cannot
    distance: float  # From the stated number, on its scale
    found: Found  # In which step of the search
    query: str | None  # Set when one query alone has this value
    form: str  # How the measure differs from the one asked; empty where its form is the same
    # From the current convention, without switches that cannot matter to this measure
    differences: tuple[SwitchDifference, ...]
    # Matches of one group give every query the same value: these data cannot tell them apart
    group: int

    @property
    def words(self) -> str:
        """The differences that act on these data, in words; empty when none does."""
        return "; ".join(str(difference) for difference in self.differences if difference.acts)

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record."""
        plain = asdict(self)
        plain["conventions"] = list(self.conventions)
        plain["differences"] = [
            {**asdict(difference), "words": str(difference)} for difference in self.differences
        ]
        return {**plain, "words": self.words}


@dataclass(frozen=True)
class QueryPair:
    """A query's value under two conventions; None where it does not count."""

    query: str
    a: float | None
    b: float | None


@dataclass(frozen=True)
class Twins:
    """Conventions that give every query of these data the same value."""

    conventions: tuple[str, ...]  # Their names
    data: tuple[str, ...]  # What data that might tell some of them apart would have to contain


@dataclass(frozen=True)
class Separation:
    """Two conventions that both fit, and the queries that tell them apart."""

    # a, b: Texts and fingerprints of the two conventions
    a: str
    b: str
    queries: tuple[QueryPair, ...]  # Queries on which they differ, most first


@dataclass(frozen=True)
class RefusedBy:
    """Conventions that give no number on these data, and why."""

    conventions: tuple[str, ...]
    reason: str


@dataclass(frozen=True, kw_only=True)
class UnstableTies:
    """A number that depends on the order in which a tool's unstable sort leaves equal scores."""

    conventions: tuple[str, ...]  # Conventions of the tool
    unstable_from: int  # Number of documents from which the sort is unstable
    # Number of queries with lists of this length whose value depends on the order of equal scores
    queries: int
    # low, high: Values with the worst and with the best order of their equal scores
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Reconciliation:
    """Conventions under which a run has a stated value.

    Attributes
    ----------
    stated : Stated
        The stated number with its digits.
    measure : str
        Text of the measure as requested.
    current, fingerprint : str
        Text and fingerprint of the current convention.
    value : float or None
        Value under the current convention; None if it refuses the data.
    matches : tuple of Match
        Conventions that give the number to the given digits: presets first, then by search step,
        nearest first.
    nearest : tuple of Match
        Nearest conventions that do not give the number; only if none does.
    twins : tuple of Twins
        Matches that these data cannot distinguish, and data that could.
    separations : tuple of Separation
        Queries that distinguish the first match from the others.
    refused : tuple of RefusedBy
        Presets that refuse these data.
    tried, numbers : int
        Number of conventions tried, and of different values found.
    unlisted : int
        Number of further matches left out of the list.
    complete : bool
        True if every step of the search was finished; the search stops early on large data.
    unstable : tuple of UnstableTies
        Tools whose own number for these data may be another one than that of their convention.

    Examples
    --------
    >>> import idealrank as ir
    >>> found = ir.reconcile({"q": {"a": 3, "b": 1}}, {"q": ["b", "a"]}, "0.7098")
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
    unstable: tuple[UnstableTies, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record.

        Examples
        --------
        >>> import idealrank as ir
        >>> ir.reconcile({"q": {"a": 1}}, {"q": ["a"]}, "1.0").as_dict()["current"]["name"]
        'standard'
        """
        return {
            "stated": self.stated.text,
            "measure": self.measure,
            "current": {"name": self.current, "fingerprint": self.fingerprint, "value": self.value},
            "matches": [match.as_dict() for match in self.matches],
            "nearest": [match.as_dict() for match in self.nearest],
            "twins": [
                {"conventions": list(twins.conventions), "data": list(twins.data)}
                for twins in self.twins
            ],
            "separations": [
                asdict(pair) | {"queries": list(map(asdict, pair.queries))}
                for pair in self.separations
            ],
            "refused": [
                {"conventions": list(refused.conventions), "reason": refused.reason}
                for refused in self.refused
            ],
            "tried": self.tried,
            "numbers": self.numbers,
            "unlisted": self.unlisted,
            "complete": self.complete,
            "unstable": [
                asdict(ties) | {"conventions": list(ties.conventions)} for ties in self.unstable
            ],
        }

    __str__ = printed
