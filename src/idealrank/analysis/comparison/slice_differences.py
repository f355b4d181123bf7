"""Differences of two runs on slices of the queries: one slice, and all of them."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TypeVar, cast

from idealrank._lazy import repr_html
from idealrank.analysis.comparison.significance import Side
from idealrank.data.json_values import finite

_FIRST = ("a", "b", "measure")
_SAME = (*_FIRST, "direction", "level")  # in the record of a slice as in that of all queries
_OPPOSITE = {"better": "worse", "worse": "better"}

_Word = TypeVar("_Word", bound=str)


def opposite(verdict: _Word) -> _Word:
    """The verdict on a against b, from that on b against a."""
    return cast("_Word", _OPPOSITE.get(verdict, verdict))


def reversed_interval(interval: tuple[float, float], about: str) -> tuple[float, float]:
    """The interval for a - b; the share of wins of one run is that of losses of the other."""
    whole = 1.0 if about.startswith("share of wins") else 0.0
    return whole - interval[1], whole - interval[0]


@dataclass(frozen=True, kw_only=True)
class Slice:
    """One slice of the queries; every difference is b - a.

    Attributes
    ----------
    name : str
        Its category.
    n : int
        Queries in it that count in both runs.
    mean_a, mean_b, difference : float
        Means over these, weighted where weights were given.
    interval : tuple of float
        Of what `about` says, by the test behind `p_corrected`: all intervals of a family of slices hold at once. An end is infinite
        where there are too few queries.
    about : str
        "mean difference", or another statistic of the test, as in `Difference`.
    p, p_corrected : float
        Of no difference, two-sided; and after the correction over all slices.
    verdict : {"better", "worse", "undecided", "judgments do not reach"}
        About b, by the corrected p value; the last where the judgments of the slice's own queries do not carry it. `slices`, which knows
        values alone, never says so.
    effect, sd_difference : float
        The difference over the standard deviation of the differences; and that deviation.
    wins, ties, losses : int
        Queries on which b is better than, equal to (to 1e-12) and worse than a.
    detectable : float
        The smallest true difference that so few queries find with a chance of 0.8, beside so many tests; infinite where the test cannot
        find any, NaN where nothing varies.
    family : str
        Tests it was corrected in: ``slices`` of the primary measure, or ``slices of companions``.
    part : float
        What the slice adds to the difference over all queries: its share of their number, or of their weight, times its difference.
    """

    name: str
    n: int
    mean_a: float
    mean_b: float
    difference: float
    interval: tuple[float, float]
    about: str
    p: float
    p_corrected: float
    verdict: Side | Literal["judgments do not reach"]
    effect: float
    sd_difference: float
    wins: int
    ties: int
    losses: int
    detectable: float
    part: float
    family: str = "slices"

    def as_dict(self) -> dict[str, Any]:
        """Everything but the name, and the family of tests it was corrected in; None for what is not finite."""
        found = {name: finite(value) for name, value in asdict(self).items() if name != "name"}
        return found | {"interval": [finite(end) for end in self.interval], "family": self.family}

    def reversed(self) -> "Slice":
        """Return the difference a - b."""
        return replace(
            self, mean_a=self.mean_b, mean_b=self.mean_a, difference=0.0 - self.difference,
            interval=reversed_interval(self.interval, self.about), verdict=opposite(self.verdict), effect=0.0 - self.effect,
            wins=self.losses, losses=self.wins, part=0.0 - self.part,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Slices:
    """Differences on all slices by one measure.

    Attributes
    ----------
    rows : tuple of Slice
        Slices, the largest loss first.
    n : int
        Number of queries that count in both runs, in a slice or not.
    difference : float
        Difference over all these queries.
    uncategorised : tuple of str
        Queries in no slice.
    unknown : int
        Number of queries that have a category but were not compared.
    overlapping : bool
        True if a query is in several slices; the slices' parts then need not sum to the difference.
    level : float
        Confidence level of the intervals.
    test : str
        Test behind p values and intervals: permutation, t, wilcoxon or sign.
    tests : int
        Number of p values corrected together: the slices of all pairs, for the primary measure or for the others.
    seed : int
        Random seed.
    correction : str
        ``max-T``, ``bonferroni``, ``holm``, or ``none`` for a single slice.

    Examples
    --------
    >>> from idealrank.analysis.comparison import slices
    >>> a = {f"q{i}": 0.5 for i in range(12)}
    >>> b = {f"q{i}": 0.25 if i < 6 else 0.75 for i in range(12)}
    >>> found = slices(a, b, {f"q{i}": "short" if i < 6 else "long" for i in range(12)})
    >>> found.difference, [(row.name, row.difference, row.p, row.p_corrected) for row in found.rows]
    (0.0, [('short', -0.25, 0.03125, 0.0615234375), ('long', 0.25, 0.03125, 0.0615234375)])
    """

    rows: tuple[Slice, ...]
    n: int
    difference: float
    uncategorised: tuple[str, ...]
    unknown: int
    overlapping: bool
    level: float
    test: str
    tests: int
    seed: int
    correction: str = "none"

    _repr_html_ = repr_html  # for notebooks

    def __iter__(self) -> Iterator[Slice]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Slice:
        """The slice of a category."""
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"{name}: no such slice, only {', '.join(row.name for row in self.rows)}")

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON record, with slices by name.

        Examples
        --------
        >>> from idealrank.analysis.comparison import slices
        >>> slices({"q": 0.5}, {"q": 0.75}, {"q": "news"}).as_dict()["slices"]["news"]["difference"]
        0.25
        """
        about = {name: value for name, value in asdict(self).items() if name != "rows"}
        return {"slices": self.by_name(), **about, "uncategorised": list(self.uncategorised)}

    def without_verdicts(self) -> "Slices":
        """Return the slices without verdicts, for a run whose values mean nothing."""
        return replace(self, rows=tuple(replace(row, verdict="judgments do not reach") for row in self.rows))

    def reversed(self) -> "Slices":
        """Return the differences as a - b, the largest loss first."""
        return replace(self, difference=0.0 - self.difference, rows=tuple(row.reversed() for row in reversed(self.rows)))

    def by_name(self) -> dict[str, dict[str, Any]]:
        """Return the slices alone, as dicts."""
        return {row.name: row.as_dict() for row in self.rows}

    def records(self, whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Return the flat record of all queries, with a column for the slice, followed by one record per slice.

        Parameters
        ----------
        whole : dict
            Record of all queries, beginning with ``a``, ``b`` and ``measure``.

        Examples
        --------
        >>> from idealrank.analysis.comparison import slices
        >>> whole = {"a": "old", "b": "new", "measure": "RR", "level": 0.95, "n": 1, "unjudged_a": 0.0}
        >>> [list(record.values()) for record in slices({"q": 0.5}, {"q": 0.75}, {"q": "news"}).records(whole)]
        [['old', 'new', 'RR', None, 0.95, 1, 0.0, None], ['old', 'new', 'RR', 'news', 0.95, 1, None, 0.25]]
        """
        names = [*_FIRST, "slice", *(name for name in whole if name not in _FIRST), "part"]
        yield {name: whole.get(name) for name in names}
        same = {name: value for name, value in whole.items() if name in _SAME}
        for row in self.rows:
            own = row.as_dict() | dict(zip(("interval_low", "interval_high"), row.as_dict()["interval"], strict=True))
            yield {name: (own | same | {"slice": row.name}).get(name) for name in names}
