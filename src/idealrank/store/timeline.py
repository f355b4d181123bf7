"""History of a value: changes between neighbours, and the point since which it is too low."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal

from idealrank.data.interchange import frame_of
from idealrank.errors import OptionError

State = Literal["fails", "fine", "never fine", "unknown"]

# A fall from 0.7 to 0.6 is 0.09999999999999998 in float64, and counts as 0.1.
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class Point:
    """Value with its origin.

    Attributes
    ----------
    id : str
        Of the evaluation, in the store.
    when : str
        UTC, ISO 8601.
    run : str
        Its name.
    value : float
        The aggregate of a measure, or its value for one query; NaN where there is none.
    convention : str
        Name and fingerprint.
    judgments : str
        Hash of the files of judgments; empty where it is not known.
    judgments_content : str
        Fingerprint of the content of the judgments; likewise.
    commit : str
        Of the git repository that it was made in; empty outside one.
    changed : bool
        Whether files of the repository differed from that commit.
    tags : tuple of str
        Names it was given.
    note : str
        Notes of the user.

    Examples
    --------
    >>> Point(id="3f2a", when="2026-01-01T00:00:00Z", run="bm25", value=0.5).known
    True
    """

    id: str
    when: str
    run: str
    value: float
    convention: str = ""
    judgments: str = ""
    judgments_content: str = ""
    commit: str = ""
    changed: bool = False
    tags: tuple[str, ...] = ()
    note: str = ""

    @property
    def known(self) -> bool:
        """True if there is a value."""
        return not math.isnan(self.value)


def breaks_between(before: Point, after: Point) -> tuple[str, ...]:
    """List the changes that make two values incomparable: ``"convention"``, ``"judgments"``, both
    or neither.
    """
    breaks = []
    if before.convention != after.convention:
        breaks.append("convention")
    judgments_before = before.judgments_content
    judgments_after = after.judgments_content
    if not (judgments_before and judgments_after):
        # Entries of earlier versions have no fingerprint of the content: their files are compared.
        judgments_before = before.judgments
        judgments_after = after.judgments
    if judgments_before and judgments_after and judgments_before != judgments_after:
        breaks.append("judgments")
    return tuple(breaks)


@dataclass(frozen=True)
class Step:
    """A point of a line, and how it differs from the one before."""

    point: Point  # The later one
    # Difference from the value before; it is None for the first point, if one of the two has no
    # value, or after a break
    change: float | None
    # What changed so that the two must not be compared: ``"convention"``, ``"judgments"``
    breaks: tuple[str, ...]


def steps(points: Sequence[Point]) -> list[Step]:
    """Each point of one line with its change to the one before."""
    line_steps = []
    before: Point | None = None
    for point in points:
        breaks = () if before is None else breaks_between(before, point)
        change = None
        if before is not None and before.known and point.known and not breaks:
            change = point.value - before.value
        line_steps.append(Step(point, change, breaks))
        before = point
    return line_steps


@dataclass(frozen=True)
class Rule:
    """Rule for values that are too low.

    Parameters
    ----------
    below : float, optional
        Below this number (above it, where less is better).
    drop : float, optional
        By this much or more below the best value before it, under the same convention and
        judgments.
    direction : {1, -1}
        Of the measure: 1 where more is better.

    Raises
    ------
    OptionError
        Neither or both are given, a drop is not above 0, or the measure knows no better.

    Examples
    --------
    >>> Rule(below=0.5).text, Rule(drop=0.1).text
    ('below 0.5', '0.1 or more below the best before')
    """

    below: float | None = None
    drop: float | None = None
    direction: int = 1

    def __post_init__(self) -> None:
        if (self.below is None) == (self.drop is None):
            raise OptionError(
                f"found below={self.below} and drop={self.drop}, expected one of them"
            )
        if self.drop is not None and not (math.isfinite(self.drop) and self.drop > 0):
            raise OptionError(f"drop={self.drop}: expected a finite number above 0")
        if self.below is not None and not math.isfinite(self.below):
            raise OptionError(f"below={self.below}: expected a finite number")
        if self.direction not in {1, -1}:
            raise OptionError(
                "neither higher nor lower values of this measure are better, so no value fails; "
                "expected another measure"
            )

    @property
    def text(self) -> str:
        """Policy as a sentence."""
        low, best = ("below", "best") if self.direction == 1 else ("above", "lowest")
        if self.below is not None:
            return f"{low} {self.below:g}"
        return f"{self.drop:g} or more {low} the {best} before"

    def fails(self, points: Sequence[Point]) -> list[bool | None]:
        """Tell for each point whether it fails; None if it has no value.

        Examples
        --------
        >>> line = [
        ...     Point(id=name, when="", run="r", value=value)
        ...     for name, value in (("a", 0.5), ("b", 0.75), ("c", 0.6))
        ... ]
        >>> Rule(drop=0.1).fails(line)
        [False, False, True]
        """
        return [
            None if not point.known else failing
            for point, failing in zip(points, self._fails(points), strict=True)
        ]

    def _fails(self, points: Sequence[Point]) -> Iterator[bool]:
        best = -math.inf
        before = None
        for point in points:
            if before is not None and breaks_between(before, point):
                best = -math.inf
            worth = point.value * self.direction
            if self.below is not None:
                yield worth < self.below * self.direction
            else:
                yield worth <= best - (self.drop or 0.0) + _ROUNDING
            if point.known:
                best = max(best, worth)
                before = point


@dataclass(frozen=True, kw_only=True)
class Onset:
    """Start of a failure in a line of values.

    Attributes
    ----------
    rule : Rule
        Rule for failing values.
    state : {"fails", "fine", "never fine", "unknown"}
        Whether the newest value fails; "never fine" where every value does, "unknown" where there
        is none.
    last_good, first_bad : Point or None
        The two sides of the last change from fine to failing; None where there is no such change.
    breaks : tuple of str
        Other changes between the two, so that no change of the system need be behind it:
        ``"convention"``, ``"judgments"``.
    later_fall : (Point, Point) or None
        Two neighbours after `first_bad` between which the value falls most, where it falls there by
        more than between the two sides: values that vary by chance may cross a line drawn below a
        lucky one before anything breaks.

    Examples
    --------
    >>> line = [
    ...     Point(id=name, when="", run="r", value=value)
    ...     for name, value in (("a", 0.9), ("b", 0.2), ("c", 0.3))
    ... ]
    >>> start = onset(line, Rule(below=0.5))
    >>> start.state, start.last_good.id, start.first_bad.id
    ('fails', 'a', 'b')
    """

    rule: Rule
    state: State
    last_good: Point | None = None
    first_bad: Point | None = None
    breaks: tuple[str, ...] = ()
    later_fall: tuple[Point, Point] | None = None


def onset(points: Sequence[Point], rule: Rule) -> Onset:
    """Find the last change from fine to failing.

    A query may fail, recover and fail again: what is found is the last time it began. A newest
    value that is fine is reported as such, with the last time it failed, if it ever did.
    """
    valued: list[Point] = []
    fails: list[bool] = []
    for point, failing in zip(points, rule.fails(points), strict=True):
        if failing is not None:
            valued.append(point)
            fails.append(failing)
    if not valued:
        return Onset(rule=rule, state="unknown")
    turns = [place for place in range(1, len(fails)) if fails[place] and not fails[place - 1]]
    if not turns and fails[-1]:
        return Onset(rule=rule, state="never fine", first_bad=valued[0])
    if not turns:
        return Onset(rule=rule, state="fine")
    last_turn = turns[-1]
    good, bad = valued[last_turn - 1], valued[last_turn]
    return Onset(
        rule=rule,
        state="fails" if fails[-1] else "fine",
        last_good=good,
        first_bad=bad,
        breaks=breaks_between(good, bad),
        later_fall=_later_fall(valued[last_turn - 1 :], rule),
    )


def _later_fall(points: Sequence[Point], rule: Rule) -> tuple[Point, Point] | None:
    """Find the two neighbours between which a line falls most; None if these are its first two
    points.
    """
    if rule.drop is None:  # a floor leaves no doubt about the crossing
        return None
    falls = {
        (before, point): (before.value - point.value) * rule.direction
        for before, point in pairwise(points)
    }
    comparable = [pair for pair in falls if not breaks_between(*pair)]
    deepest = max(comparable, key=lambda pair: falls[pair], default=None)
    if (
        deepest is None
        or falls[deepest] < rule.drop
        or falls[deepest] <= falls[points[0], points[1]] + _ROUNDING
    ):
        return None
    return deepest


@dataclass(frozen=True, kw_only=True)
class Suspects:
    """The commits that one change from fine to failing may lie in."""

    # good, bad: The nearest evaluated commits on its two sides: full hashes
    good: str
    bad: str
    # Commits after the good one up to the bad one, that one included; 1 when the bad one is found
    # to be the first
    between: int
    # The commit whose evaluation halves them; empty when the first bad one is found, or nothing is
    # left to evaluate
    next: str = ""
    steps: int = 0  # About how many evaluations it still takes
    # Commits between them that were evaluated without a value: they are passed over
    unclear: int = 0

    @property
    def found(self) -> bool:
        """True if the bad commit is the first one."""
        return self.between == 1


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Start of a failure in one line, and the commits to look at."""

    onset: Onset  # Since when
    # Whether the evaluations were put in the order of their commits, or in that in which they were
    # made
    order: Literal["commit", "time"] = "time"
    # The commits between the last good and the first bad one, where a repository knows them
    suspects: Suspects | None = None
    # Evaluations that have no commit of this repository, or of changed files, so that they have no
    # place in that order
    left_out: int = 0
    subject: str = ""  # First line of the message of the first bad commit, once that one is found


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """Values of one measure in a store, in the order of computation.

    Attributes
    ----------
    measure : str
        Text of the measure.
    query : str
        The query they are of; empty for the aggregate over all queries.
    direction : {1, -1, 0}
        1 where more is better.
    points : tuple of Point
        The oldest first.

    Examples
    --------
    >>> line = Timeline(measure="AP", points=(Point(id="a", when="", run="bm25", value=0.5),))
    >>> line.lines()["bm25"][0].value, line.to_frame("polars").height
    (0.5, 1)
    """

    measure: str
    query: str = ""
    direction: int = 1
    points: tuple[Point, ...] = ()

    def lines(self, *, together: bool = False) -> dict[str, list[Point]]:
        """The points by run, in order; `together` takes all for one line, as where each run is
        named after its commit.
        """
        if together:
            return {"": list(self.points)} if self.points else {}
        lines: dict[str, list[Point]] = {}
        for point in self.points:
            lines.setdefault(point.run, []).append(point)
        return lines

    def steps(self, *, together: bool = False) -> dict[str, Step]:
        """Each point with its change to the one before in its line, by the id of the evaluation.

        Examples
        --------
        >>> line = [
        ...     Point(id=name, when="", run="r", value=value)
        ...     for name, value in (("a", 0.5), ("b", 0.75))
        ... ]
        >>> Timeline(measure="AP", points=tuple(line)).steps()["b"].change
        0.25
        """
        by_id: dict[str, Step] = {}
        for points in self.lines(together=together).values():
            by_id |= {step.point.id: step for step in steps(points)}
        return by_id

    def since(self, rule: Rule, *, together: bool = False) -> dict[str, Onset]:
        """Find for each line since when it fails."""
        return {run: onset(points, rule) for run, points in self.lines(together=together).items()}

    def to_frame(self, backend: Any = "pandas") -> Any:
        """A dataframe with a row for each point and a column for each of its attributes; tags are
        joined by commas.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow", ...}
            Any eager dataframe library that narwhals supports and that is installed.
        """
        rows = [
            asdict(point)
            | {"tags": ",".join(point.tags), "measure": self.measure, "query": self.query}
            for point in self.points
        ]
        names = [*Point.__dataclass_fields__, "measure", "query"]
        return frame_of({name: [row[name] for row in rows] for name in names}, backend)
