"""One difference as the cells of a table, the same in every format, and the decimals that all of a comparison is shown with."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from idealrank.analysis.comparison import Comparison, Difference, Pair, Slice
from idealrank.reports.cells import Cell, Column, Tone
from idealrank.reports.digits import decimals, interval, number, p_text
from idealrank.reports.verdicts import word

_OF_DIFFERENCES = ("mean difference", "pseudo-median of the differences")

SHORT = {"judgments do not reach": "out of reach"}
"""Words of tables for verdicts that are too long for a column."""


@dataclass(frozen=True)
class Shown:
    """How the numbers of a comparison are shown.

    Attributes
    ----------
    places : int
        Decimals of means and differences: one number for the whole comparison, so that its tables and sentences agree.
    ends : int
        Decimals of intervals; others only where an interval is not of a difference.
    alpha : float
        What p values are held against.

    Examples
    --------
    >>> Shown(3, 3, 0.05).signed(0.0312)
    '+0.031'
    """

    places: int
    ends: int
    alpha: float

    @classmethod
    def of(cls, comparison: Comparison, asked: int | None = None) -> "Shown":
        """By the intervals of all differences of a comparison; slices among them.

        Examples
        --------
        >>> import idealrank as ir
        >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
        >>> Shown.of(ir.compare(one, one)).places
        4
        """
        rows = [one for _, row in comparison.rows() for one in (row, *(row.slices or ()))]
        return cls.of_rows(rows, comparison.method.level, asked)

    @classmethod
    def of_pair(cls, pair: Pair) -> "Shown":
        """The same of one pair.

        Examples
        --------
        >>> import idealrank as ir
        >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
        >>> Shown.of_pair(ir.compare(one, one).pairs[0]).places
        4
        """
        rows = [one for row in pair.measures.values() for one in (row, *(row.slices or ()))]
        return cls.of_rows(rows, next(iter(pair.measures.values())).level)

    @classmethod
    def of_rows(cls, rows: Sequence[Difference | Slice], level: float, asked: int | None = None) -> "Shown":
        """The same of any rows that are shown together.

        Examples
        --------
        >>> Shown.of_rows([], 0.95)
        Shown(places=4, ends=4, alpha=0.05)
        """
        of_differences = [row for row in rows if row.about in _OF_DIFFERENCES]
        others = [row for row in rows if row.about not in _OF_DIFFERENCES]
        decided = [(one, other) for row in rows if row.verdict in ("better", "worse") for one, other in _unlike(row)]
        ends = [(end, 0.0) for row in of_differences for end in _beyond(row.interval, 0.0)]
        places = decimals((row.interval for row in of_differences), apart=[*decided, *ends], asked=asked)
        shares = [(end, 0.5) for row in others for end in _beyond(row.interval, 0.5)]
        return cls(
            places, decimals((row.interval for row in others), apart=shares, asked=asked) if others else places, round(1 - level, 12)
        )

    def number(self, value: float) -> str:
        """A mean, or what else has no sign."""
        return number(value, self.places)

    def signed(self, value: float | None) -> str:
        """A difference."""
        return "-" if value is None else number(value, self.places, signed=True)

    def interval(self, row: Difference | Slice) -> str:
        """Both ends, with signs where it is of a difference of means."""
        return interval(row.interval, self.ends, signed=row.about == "mean difference")

    def p(self, p: float) -> str:
        """A p value on its own side of alpha."""
        return p_text(p, self.alpha)


def _unlike(row: Difference | Slice) -> list[tuple[float, float]]:
    """What a decided row must not show as equal."""
    return [(row.mean_a, row.mean_b), (row.difference, 0.0)]


def _beyond(ends: tuple[float, float], limit: float) -> list[float]:
    """The end of an interval nearest to a limit that the interval excludes."""
    low, high = ends
    return [low] if low > limit else [high] if high < limit else []


def number_columns(first: str, second: str, level: float) -> list[Column]:
    """The columns of `number_cells`.

    Examples
    --------
    >>> [column.title for column in number_columns("a", "b", 0.95)][:4]
    ['a', 'b', 'difference', '95 % interval']
    """
    titles = [first, second, "difference", f"{100 * level:g} % interval", "p", "+/=/-", "d_z", "detectable"]
    return [*(Column(title, "number") for title in titles), Column("verdict")]


def number_cells(row: Difference | Slice, direction: int, shown: Shown, *, mark: str = "") -> list[Cell]:
    """Means, difference, interval, p, wins, d_z, the detectable difference, verdict.

    Parameters
    ----------
    row : Difference or Slice
        What is shown.
    direction : int
        Of its measure: the better mean is strong.
    shown : Shown
        With how many digits.
    mark : str
        Of a difference that is decided; what it means is then said in a note.

    Examples
    --------
    >>> from idealrank.analysis.comparison import slices
    >>> row = slices({"q": 0.5}, {"q": 0.75}, {"q": "news"})["news"]
    >>> [cell.text for cell in number_cells(row, 1, Shown(2, 2, 0.05))]
    ['0.50', '0.75', '+0.25', '-', '1', '1/0/0', '-', '-', 'undecided']
    """
    gain, decided = row.difference * direction, row.verdict in ("better", "worse")
    tone: Tone = "better" if row.verdict == "better" else "worse" if row.verdict == "worse" else ""
    return [
        Cell(shown.number(row.mean_a), row.mean_a, strong=gain < 0),
        Cell(shown.number(row.mean_b), row.mean_b, strong=gain > 0),
        Cell(shown.signed(row.difference), row.difference, mark=mark if decided else "", tone=tone),
        Cell(shown.interval(row), row.interval),
        Cell(shown.p(row.p_corrected), row.p_corrected),
        Cell(f"{row.wins}/{row.ties}/{row.losses}", f"{row.wins}/{row.ties}/{row.losses}", tone="quiet"),
        Cell("-" if math.isnan(row.effect) else f"{row.effect:+.2f}", row.effect, tone="quiet"),
        Cell(shown.number(row.detectable), row.detectable, tone="quiet"),
        Cell(SHORT.get(row.verdict, word(row)), tone=tone),
    ]


def share_cell(share: float | None) -> Cell:
    """A share in per cent; a dash where it was not measured.

    Examples
    --------
    >>> share_cell(0.0871).text, share_cell(None).text
    ('8.7%', '-')
    """
    return Cell("-" if share is None else f"{share:.1%}", share)
