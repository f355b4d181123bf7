"""The columns of all tables of differences, one list for every format and for pages; and their
decimals.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from idealrank.analysis.comparison import Comparison, Difference, Pair
from idealrank.reports.table.cells import (
    Cell,
    Column,
    Kind,
    count_cell,
    decimals,
    interval,
    interval_cell,
    number,
    number_cell,
    p_cell,
    p_text,
    share_cell,
)
from idealrank.reports.views.comparison.phrases import share as share_text
from idealrank.reports.views.comparison.verdicts import caution_mark, decided_tone, mark_of, word
from idealrank.stats.comparison import POWER

if TYPE_CHECKING:
    from idealrank.analysis.comparison.slice_differences import Slice

_OF_DIFFERENCES = ("mean difference", "pseudo-median of the differences")


class Shown(NamedTuple):
    """Decimal places of the numbers of a comparison."""

    # Decimals of means and differences: one number for the whole comparison, so that its tables and
    # sentences agree
    places: int
    ends: int  # Decimals of intervals; others only where an interval is not of a difference
    alpha: float | None  # Level with which p values are compared; None for none
    # Whether differences and verdicts have their marks, which a note then explains
    marked: bool = False

    @classmethod
    def of(cls, comparison: Comparison, digits: int | None = None) -> "Shown":
        """Choose decimal places by the intervals of all differences, slices among them."""
        rows = [part for _, row in comparison.rows() for part in (row, *(row.slices or ()))]
        return cls.of_rows(rows, comparison.method.level, digits)

    @classmethod
    def of_pair(cls, pair: Pair) -> "Shown":
        """Choose decimal places for one pair.

        Examples
        --------
        >>> import idealrank as ir
        >>> one = ir.evaluate({"q": {"x": 1}}, {"q": ["x"]}, "RR")
        >>> Shown.of_pair(ir.compare(one, one).pairs[0]).places
        4
        """
        rows = [part for row in pair.measures.values() for part in (row, *(row.slices or ()))]
        return cls.of_rows(rows, next(iter(pair.measures.values())).level)

    @classmethod
    def of_rows(
        cls, rows: "Sequence[Difference | Slice]", level: float, digits: int | None = None
    ) -> "Shown":
        """Choose decimal places for rows that are shown together."""
        # Numbers that decide a verdict keep their order after rounding: the means of both runs, the
        # sign of the difference, and the end of an interval beside the value of no effect.
        of_differences = [row for row in rows if row.about in _OF_DIFFERENCES]
        decided = [row for row in rows if row.verdict in ("better", "worse")]
        apart: list[tuple[float, float]] = []
        for row in decided:
            apart += [(row.mean_a, row.mean_b), (row.difference, 0.0)]
        apart += [(end, 0.0) for row in of_differences for end in _beyond(row.interval, 0.0)]
        places = decimals((row.interval for row in of_differences), apart=apart, digits=digits)

        ends = places
        shares = [row for row in rows if row.about not in _OF_DIFFERENCES]
        if shares:
            apart = [(end, 0.5) for row in shares for end in _beyond(row.interval, 0.5)]
            ends = decimals((row.interval for row in shares), apart=apart, digits=digits)
        # Rounded: in floating point, 1 - 0.95 is not 0.05.
        return cls(places, ends, round(1 - level, 12))

    @classmethod
    def on_page(cls, rows: "Sequence[Difference | Slice]") -> "Shown":
        """Choose decimal places for one table of a page."""
        # No interval that excludes 0 may seem to contain it.
        usual = [row for row in rows if row.about == "mean difference"]
        places = decimals(
            (row.interval for row in usual),
            apart=[(end, 0.0) for row in usual for end in row.interval],
        )
        return cls(places, places, None)

    def number(self, value: float) -> str:
        """Format a mean, or another number without a sign."""
        return number(value, self.places)

    def signed(self, value: float | None) -> str:
        """Format a difference; a dash for None."""
        return "-" if value is None else number(value, self.places, signed=True)

    def interval(self, row: "Difference | Slice") -> str:
        """Format the interval of a row, with signs if it is of a difference of means."""
        return interval(row.interval, self.ends, signed=row.about == "mean difference")

    def p(self, p: float) -> str:
        """Format a p value on its own side of alpha."""
        return p_text(p, self.alpha)


def _beyond(ends: tuple[float, float], limit: float) -> list[float]:
    """Return the end of an interval nearest to a limit; none if the interval contains it."""
    low, high = ends
    if low > limit:
        return [low]
    return [high] if high < limit else []


class Line(NamedTuple):
    """Row of a table of differences."""

    row: "Difference | Slice"  # The difference
    direction: int  # Direction of its measure: the better mean is in bold
    name: str = ""  # Name of the row if that is not its measure: a slice, a run, a change
    # a, b: Names of the runs, if each row has its own
    a: str = ""
    b: str = ""
    measure: str = ""  # Text of its measure

    @classmethod
    def of(cls, row: Difference, name: str = "", a: str = "", b: str = "") -> "Line":
        """Make the line of a difference over all queries."""
        return cls(row=row, direction=row.direction, name=name, a=a, b=b, measure=row.measure)


Where: TypeAlias = Literal[
    "pair",
    "with slices",
    "slices",
    "baseline",
    "robust",
    "judged",
    "page",
    "page: more",
    "page: pairs",
    "page: slices",
    "page: robust",
]
"""The tables: for each, the function of `reports` that makes it, and the formats that print it.
Rows of those marked * may be slices.

* pair: `comparison.pair_table`, text; `markup.comparison_cells` without slices, Markdown and LaTeX.
* with slices *: `markup.comparison_cells`, slices below each measure, Markdown and LaTeX.
* slices *: `comparison.slice_table`, text.
* baseline: `league`, runs beside a baseline, text.
* judged: `comparison.judged_table`, how far the judgments reach, text.
* robust: `robustness.movers_table`, variants, text.
* page: `tables.pair_grid` of a page; page: more: `more_grid`; page: pairs: `every_pair_grid`; page:
  slices *: `slices_grid`; page: robust: `robust_grid`.

JSON, CSV and frames do not use these columns: they have the fields of `Difference` and `Slice`.
"""

Form: TypeAlias = Callable[[Line, Shown], Cell]


def of_whole(cell: Callable[[Difference, Shown], Cell]) -> Form:
    """Make the cell of a line from fields that only a difference over all queries has; a slice has
    a dash.
    """

    def of_line(line: Line, shown: Shown) -> Cell:
        return cell(line.row, shown) if isinstance(line.row, Difference) else Cell("-")

    return of_line


class Compared(NamedTuple):
    """A column of tables of differences."""

    name: str  # Key of its cell in `NamedCells`
    # The tables that have it, and its title there; ``{a}``, ``{b}`` and ``{level}`` stand for both
    # runs and the level
    titles: Mapping[Where, str]
    cell: Form  # Function from a line to its cell
    kind: Kind = "number"  # Alignment of its texts
    on_page: Form | None = None  # The cell on a page; default the same without colours and marks
    # Meaning of the column, for the paragraph on the method; ``{power}`` stands for the power of
    # `detectable`
    meaning: str = ""
    rank: int = 0  # As in `Column`: a narrow terminal leaves out the greatest rank first

    def column(self, where: Where, shown: Shown, words: Mapping[str, str]) -> "Column[Line]":
        """Make the column of one table."""
        form = self.cell
        if where.startswith("page"):
            form = self.on_page or self._plain
        return Column(
            title=self.titles[where].format(**words),
            kind=self.kind,
            cell=lambda line: form(line, shown),
            name=self.name,
            rank=self.rank,
        )

    def _plain(self, line: Line, shown: Shown) -> Cell:
        cell = self.cell(line, shown)
        return Cell(cell.text, cell.value)


def difference_columns(
    where: Where,
    shown: Shown,
    level: float,
    a: str = "a",
    b: str = "b",
    *,
    without: Collection[str] = (),
) -> "list[Column[Line]]":
    """Make the columns of one table, in their order."""
    words = {"a": a, "b": b, "level": f"{100 * level:g} %"}
    return [
        compared.column(where, shown, words)
        for compared in COLUMNS
        if where in compared.titles and compared.name not in without
    ]


def meanings(tables: Iterable[Where], power: float = POWER) -> list[str]:
    """Explain the columns of some tables, each column once."""
    share = f"{100 * power:g} %"
    explained = [compared for compared in COLUMNS if compared.meaning]
    lines: dict[str, None] = {}
    for where in tables:
        for compared in explained:
            if where in compared.titles:
                lines[f"{compared.titles[where]}: {compared.meaning.format(power=share)}"] = None
    return list(lines)


# --- the cells ------------------------------------------------------------------------------------


def _mean(line: Line, shown: Shown, side: Literal["a", "b"]) -> Cell:
    gain_of_b = line.row.difference * line.direction
    if side == "a":
        return number_cell(line.row.mean_a, shown.places, strong=gain_of_b < 0)
    return number_cell(line.row.mean_b, shown.places, strong=gain_of_b > 0)


def _difference(line: Line, shown: Shown) -> Cell:
    star = mark_of(line.row).star if shown.marked else ""
    tone = decided_tone(line.row.verdict)
    return Cell(shown.signed(line.row.difference), line.row.difference, mark=star, tone=tone)


def _wins(line: Line, _: Shown) -> Cell:
    counts = f"{line.row.wins}/{line.row.ties}/{line.row.losses}"
    return Cell(counts, counts, tone="quiet")


def _outcomes(line: Line, _: Shown) -> Cell:
    return Cell(f"{line.row.wins:,} / {line.row.ties:,} / {line.row.losses:,}")


def _effect(line: Line, _: Shown) -> Cell:
    return Cell(
        "-" if math.isnan(line.row.effect) else f"{line.row.effect:+.2f}",
        line.row.effect,
        tone="quiet",
    )


def _detectable(line: Line, shown: Shown) -> Cell:
    # so few queries can show no difference
    if not isinstance(line.row, Difference) and math.isinf(line.row.detectable):
        return Cell("none", None, tone="quiet")
    return number_cell(line.row.detectable, shown.places, tone="quiet")


def _tipping(
    row: Difference, _: Shown, share: Literal["significance", "sign", "likely", "likely_ahead"]
) -> Cell:
    """Make the cell of a share of unjudged documents at which a difference tips or turns, or of the
    likely share; a dash if there is none, or it is unknown.
    """
    tipping = row.tipping
    if tipping is None:
        return Cell("-")
    if not tipping.own_behind:
        return Cell("-")
    value: float | None = getattr(tipping, share)
    if share == "significance" and value == 0:
        return Cell("-")
    return Cell("never" if value is None else share_text(value).replace(" %", "%"), value)


def _interval(line: Line, shown: Shown, *, signed: bool = False) -> Cell:
    return interval_cell(
        line.row.interval, shown.ends, signed=signed or line.row.about == "mean difference"
    )


def _judged_plain(row: Difference, shown: Shown) -> Cell:
    return number_cell(row.difference_judged, shown.places, signed=True)


def _judged(row: Difference, shown: Shown) -> Cell:
    difference = row.difference_judged
    return Cell(row.judged_reason or shown.signed(difference), difference)


def _short_verdict(line: Line, shown: Shown) -> Cell:
    # Sentences only count the verdicts of unknown error rate, so their mark is always shown.
    unknown = isinstance(line.row, Difference) and not line.row.error_rate_known
    caution = caution_mark(line.row) if shown.marked or unknown else ""
    return Cell(word(line.row), mark=caution, tone=decided_tone(line.row.verdict))


def _verdict(line: Line, _: Shown) -> Cell:
    mark = mark_of(line.row)
    return Cell(mark.word, mark=caution_mark(line.row), tone=mark.tone)


# --- the list -------------------------------------------------------------------------------------


def _in(title: str, *where: Where) -> dict[Where, str]:
    return dict.fromkeys(where, title)


_FULL: tuple[Where, ...] = ("pair", "with slices")
_TEXT: tuple[Where, ...] = (*_FULL, "slices", "baseline")
_PAGE: tuple[Where, ...] = ("page", "page: pairs", "page: slices")

COLUMNS = (
    Compared(
        name="verdict", titles=_in("verdict", *_PAGE), cell=_verdict, kind="text", on_page=_verdict
    ),
    Compared(
        "queries",
        _in("queries", "with slices", "slices", "page: slices", "page: more"),
        lambda line, _: count_cell(line.row.n),
        rank=2,
    ),
    Compared(
        "left out",
        _in("left out", "page: more"),
        of_whole(lambda row, _: count_cell(row.excluded_queries)),
    ),
    Compared(
        "mean a",
        _in("{a}", *_FULL, "slices", "robust", "page", "page: slices"),
        partial(_mean, side="a"),
        rank=2,
    ),
    Compared(
        "mean b",
        _in("{b}", *_TEXT, "robust", "page", "page: slices"),
        partial(_mean, side="b"),
        rank=2,
    ),
    Compared(
        "difference",
        _in("difference", *_TEXT, *_PAGE, "page: robust") | _in("b - a", "robust"),
        _difference,
    ),
    Compared("interval", _in("{level} interval", *_TEXT, "robust", *_PAGE), _interval),
    Compared("interval", _in("interval", "page: robust"), partial(_interval, signed=True)),
    Compared(
        "p",
        _in("p", *_TEXT, "robust", *_PAGE),
        lambda line, shown: p_cell(line.row.p_corrected, shown.alpha),
        rank=1,
    ),
    Compared(
        "wins",
        _in("+/=/-", *_TEXT) | _in("better / equal / worse", "page", "page: pairs"),
        _wins,
        on_page=_outcomes,
        meaning="queries on which the second run is better, equal, worse",
        rank=3,
    ),
    Compared(
        "d_z",
        _in("d_z", *_FULL, "robust") | _in("effect d_z", "page: more"),
        _effect,
        meaning="difference over its standard deviation",
        rank=5,
    ),
    Compared(
        "detectable",
        _in("detectable", *_TEXT) | _in("detectable with 80 % power", "page: more"),
        _detectable,
        meaning="the smallest true difference that these queries detect with {power} power",
        rank=4,
    ),
    Compared(
        "queries needed",
        _in("queries needed", "page: more"),
        of_whole(lambda row, _: count_cell(row.queries_needed)),
    ),
    Compared(
        "p alone",
        _in("p of this row alone", "page: more") | _in("p", "page: robust"),
        lambda line, _: p_cell(line.row.p),
    ),
    Compared(
        "unjudged a",
        _in("{a}", "judged") | _in("unjudged {a}", "page"),
        of_whole(lambda row, _: share_cell(row.unjudged_a)),
    ),
    Compared(
        "unjudged b",
        _in("{b}", "judged") | _in("unjudged {b}", "page"),
        of_whole(lambda row, _: share_cell(row.unjudged_b)),
    ),
    Compared(
        "tips at",
        _in("tips at", "judged"),
        of_whole(partial(_tipping, share="significance")),
        meaning="relevant share of the unjudged documents of the run behind at which significance "
        "is lost (paired t)",
    ),
    Compared(
        "turns at",
        _in("turns at", "judged"),
        of_whole(partial(_tipping, share="sign")),
        meaning="the share at which the sign changes",
        rank=1,
    ),
    Compared(
        "likely behind",
        _in("likely behind", "judged"),
        of_whole(partial(_tipping, share="likely")),
        meaning="upper limit of the relevant share in the run behind, from judged documents at "
        "these ranks",
        rank=2,
    ),
    Compared(
        "likely ahead",
        _in("likely ahead", "judged"),
        of_whole(partial(_tipping, share="likely_ahead")),
        meaning="lower limit of the relevant share in the run ahead, likewise",
        rank=2,
    ),
    Compared(
        "judged",
        _in("difference on judged documents", "judged") | _in("on judged documents", "page: more"),
        of_whole(_judged),
        on_page=of_whole(_judged_plain),
        rank=3,
    ),
    Compared(
        name="verdict",
        titles=_in("verdict", *_TEXT, "robust", "page: robust"),
        cell=_short_verdict,
        kind="text",
        on_page=_verdict,
    ),
)
"""All of them. A new column is one more value here: its titles say which tables have it."""
