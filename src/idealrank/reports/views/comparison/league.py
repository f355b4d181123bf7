"""Comparisons of many runs for people: the top group, then league tables with letters, or tables
against a baseline, and a map.

Letters are as papers have them: each run has one, and a mean carries the letters of the runs it is
better than. The map has the differences of all pairs, the best run first, and is never wider than a
page.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from idealrank.analysis.comparison import Comparison, Difference, RunMean
from idealrank.data.types import BoolArray
from idealrank.reports.table.cells import (
    Cell,
    Column,
    NamedCells,
    Table,
    count_cell,
    counted,
    decimals,
    interval_cell,
    number_cell,
)
from idealrank.reports.table.text import Part, clipped, filled, fits
from idealrank.reports.views.comparison.columns import Line, Shown, difference_columns
from idealrank.reports.views.comparison.verdicts import IDENTICAL, TOO_FEW, mark, mark_of

_NAME = 24  # letters of a run's name
_CELLS = 60  # of a line: with more runs, neighbours share a cell
_BANDS = (("#", 50.0), ("+", 5.0), (":", 1.0))  # by how many times p is below alpha
_MAPPED = ("undecided", IDENTICAL, "equivalent", TOO_FEW)  # verdicts that have a sign of their own
_AGAINST, _SELF = "!", "\\"


def pair_map(comparison: Comparison, measure: str) -> list[str]:
    r"""Signs for all pairs by one measure: a line a run, with a sign for each run above it.

    With more than 60 runs, neighbours in the order of the means share a line and a cell, which then
    shows how many of its pairs have a better run.
    """
    order = list(comparison.groups(measure).letters)
    rows = {(pair.a, pair.b): pair.measures[measure] for pair in comparison.pairs}
    alpha = round(1 - comparison.method.level, 12)
    if len(order) <= _CELLS:
        return _of_each(measure, order, rows, alpha)
    return _of_blocks(measure, order, rows)


def _of_each(
    measure: str, order: Sequence[str], rows: Mapping[tuple[str, str], Difference], alpha: float
) -> list[str]:
    signs = [
        [_sign(rows, better, run, alpha) for better in order[:place]]
        for place, run in enumerate(order)
    ]
    names = [f"{place:>3} {clipped(run, _NAME)}" for place, run in enumerate(order, 1)]
    lines = _framed(names, ["".join(line) + _SELF for line in signs], len(order))
    used = {sign for line in signs for sign in line}
    words = {sign: f"{sign} p <= {alpha / part:g}" for sign, part in _BANDS}
    words |= {shown.symbol: f"{shown.symbol} {shown.word}" for shown in map(mark, _MAPPED)}
    words |= {_AGAINST: f"{_AGAINST} the other way round, by ranks"}
    legend = ", ".join(text for sign, text in words.items() if sign in used)
    return [f"pairs by {measure}", *lines, *filled([f"{legend}: column better than row"])]


def _sign(rows: Mapping[tuple[str, str], Difference], better: str, run: str, alpha: float) -> str:
    """Return the sign of a pair; its first run has the better mean."""
    turned = (better, run) not in rows
    row = rows[(run, better) if turned else (better, run)]
    if symbol := mark_of(row).symbol:
        return symbol
    if (row.verdict == "better") != turned:
        return _AGAINST
    return next(sign for sign, part in _BANDS if row.p_corrected <= alpha / part or part == 1)


def _framed(names: Sequence[str], lines: Sequence[str], count: int) -> list[str]:
    """Lines with names before them, and the numbers of the columns above them, their tens where
    these change.
    """
    width = max(map(len, names))
    tens = "".join(
        str(place // 10 % 10) if place % 10 == 0 else " " for place in range(1, count + 1)
    ).rstrip()
    ones = "".join(str(place % 10) for place in range(1, count + 1))
    heads = [" " * (width + 3) + text for text in (tens, ones) if text]
    return [
        *heads,
        *(f"  {name.ljust(width)} {line}" for name, line in zip(names, lines, strict=True)),
    ]


def _of_blocks(
    measure: str, order: Sequence[str], rows: Mapping[tuple[str, str], Difference]
) -> list[str]:
    """Neighbours in one cell: the share of its pairs with a better run."""
    place = {run: number for number, run in enumerate(order)}
    differs = np.zeros((len(order), len(order)), np.bool_)
    for (a, b), row in rows.items():
        differs[place[a], place[b]] = differs[place[b], place[a]] = not mark_of(row).symbol
    size = -(-len(order) // _CELLS)
    blocks = [range(first, min(first + size, len(order))) for first in range(0, len(order), size)]
    lines = [
        "".join(_share(differs, line, column) for column in blocks[: number + 1])
        for number, line in enumerate(blocks)
    ]
    places = [
        f"{block[0] + 1:>3}" + (f"-{block[-1] + 1}" if len(block) > 1 else "") for block in blocks
    ]
    names = [
        f"{place:<7} {clipped(order[block[0]], _NAME - 4)}"
        for place, block in zip(places, blocks, strict=True)
    ]
    said = (
        f"Each line and column stands for {size} runs with neighbouring means. Signs show the "
        f"share of "
        "pairs of a cell with a better run: . none, 1 to 9 tenths, # all."
    )
    return [f"pairs by {measure}", *_framed(names, lines, len(blocks)), *filled([said])]


def _share(differs: BoolArray, line: range, column: range) -> str:
    if line == column:
        if len(line) == 1:
            return _SELF
        share = differs[np.ix_(line, line)].sum() / (len(line) * (len(line) - 1))
    else:
        share = differs[np.ix_(line, column)].mean()
    if share == 0:
        return "."
    return "#" if share == 1 else str(min(max(round(10 * float(share)), 1), 9))


Letters: TypeAlias = Literal["better", "groups"]

_LONG_ROW = 4  # runs in a row from which only the first and the last are written


def letter_of(place: int) -> str:
    """The letter of a run by its place in the table; after z follow aa, ab, and so on."""
    text, left = "", place + 1
    while left:
        left, digit = divmod(left - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def listed(places: Iterable[int], runs: int) -> str:
    """Letters of several runs; of four and more in a row the ends, with commas where letters alone
    would be read otherwise.
    """
    rows: list[list[int]] = []
    for place in sorted(places):
        if rows and place == rows[-1][-1] + 1:
            rows[-1].append(place)
        else:
            rows.append([place])
    long = [len(row) >= _LONG_ROW for row in rows]
    texts = [
        [f"{letter_of(row[0])}-{letter_of(row[-1])}"] if is_long else [*map(letter_of, row)]
        for row, is_long in zip(rows, long, strict=True)
    ]
    return ("," if any(long) or runs > 26 else "").join(text for row in texts for text in row)


def better_letters(comparison: Comparison, measure: str, order: Sequence[str]) -> dict[str, str]:
    """By run: letters of the runs that it is better than by the verdicts of this measure, which the
    judgments must carry.
    """
    place = {run: number for number, run in enumerate(order)}
    beaten = comparison.groups(measure).better_than
    return {run: listed((place[other] for other in beaten[run]), len(order)) for run in order}


def letters_note(comparison: Comparison, letters: Letters) -> str:
    """Explain the letters of a league table: letters of worse runs count verdicts, and letters of
    groups count p alone.
    """
    alpha = f"{1 - comparison.method.level:g}"
    if letters == "groups":
        return (
            f"letters count p alone: runs that share one do not differ significantly (corrected p "
            f"above {alpha})"
        )
    named = f"letters count verdicts: the worse runs, corrected p at most {alpha}"
    withheld = sum(row.verdict == TOO_FEW for _, row in comparison.rows())
    if not withheld:
        return named
    pairs = "1 difference has" if withheld == 1 else f"{withheld:,} differences have"
    return f"{named}; {pairs} {TOO_FEW} and no letter, however small p"


MANY = 6  # runs; from here on a report begins with groups, and pairs are shown on request
_MAPS = 3  # measures; with more of them only the first has its map
_LETTERS = 20
_TITLES: dict[Letters, str] = {"better": "better than", "groups": "group"}
_SOME = 9  # runs named in a sentence


def is_many(comparison: Comparison) -> bool:
    """Return whether there are so many runs that groups come before pairs."""
    return len(comparison.names) >= MANY


class Ranked(NamedTuple):
    """Runs by one measure."""

    measure: str  # Text of the measure
    means: dict[str, RunMean]  # Of each run, the best first
    # As tables show them; empty where runs were compared with a baseline alone
    letters: dict[str, str]
    # Letters of groups without significant differences, or letters of the runs that a run is better
    # than
    about: Letters = "groups"

    def columns(
        self,
        places: int,
        *,
        level: float | None = None,
        letters: Literal["column", "mark"] = "column",
    ) -> list[Column[str]]:
        """Beside each run its mean, the best strong; intervals where their level is given; letters
        in a column, or as marks.
        """
        best = next(iter(self.means.values())).mean
        marks = self.letters if letters == "mark" else {}

        def mean(run: str) -> Cell:
            return number_cell(
                self.means[run].mean, places, strong=self.means[run].mean == best
            )._replace(mark=marks.get(run, ""))

        columns = [Column(title=self.measure, kind="number", cell=mean)]
        if level:
            columns.append(
                Column(
                    title=f"{100 * level:g} % interval",
                    kind="number",
                    cell=lambda run: interval_cell(self.means[run].interval, places),
                )
            )
        return [
            *columns,
            *(
                [Column(title=_TITLES[self.about], cell=lambda run: fitting(self.letters[run]))]
                if letters == "column"
                else []
            ),
        ]

    @classmethod
    def of(cls, comparison: Comparison, measure: str) -> "Ranked":
        """The runs of a comparison."""
        means = comparison.means[measure]
        if comparison.method.baseline is not None:
            direction = comparison.pairs[0].measures[measure].direction
            return cls(
                measure, dict(sorted(means.items(), key=lambda one: -one[1].mean * direction)), {}
            )
        groups = comparison.groups(measure)
        return cls(
            measure,
            {run: means[run] for run in groups.letters},
            {run: shortened(text) for run, text in groups.letters.items()},
        )


def ranked_by_all(comparison: Comparison, letters: Letters) -> list[Ranked]:
    """The runs by each measure; letters that name runs follow the order by the first."""
    found = [Ranked.of(comparison, measure) for measure in comparison.means]
    if letters == "groups" or comparison.method.baseline is not None:
        return found
    order = list(found[0].means)
    return [
        one._replace(letters=better_letters(comparison, one.measure, order), about="better")
        for one in found
    ]


def run_columns(
    order: Sequence[str], letters: Letters, clip: int | None = None
) -> list[Column[str]]:
    """The first columns of a league table: the place of each run, or its letter, and its name of at
    most `clip` letters.
    """
    places = {run: place for place, run in enumerate(order)}
    named: Column[str] = Column(
        title="run", cell=lambda run: run if clip is None else clipped(run, clip)
    )
    if letters == "better":
        return [Column(title="#", cell=lambda run: letter_of(places[run])), named]
    return [
        Column(title="#", kind="number", cell=lambda run: count_cell(places[run] + 1, "quiet")),
        named,
    ]


def shortened(letters: str) -> str:
    """Letters with only the ends of long rows of them, cut where even that is too long for a
    table.
    """
    signs, bracket, numbers = letters.partition("[")
    rows: list[str] = []
    for sign in signs:
        follows = rows and ord(sign) == ord(rows[-1][-1]) + 1
        rows = [*rows[:-1], rows[-1] + sign] if follows else [*rows, sign]
    text = (
        "".join(row if len(row) < _LONG_ROW else f"{row[0]}-{row[-1]}" for row in rows)
        + bracket
        + numbers
    )
    return fitting(text)


def fitting(text: str) -> str:
    """Letters cut where they are too long for a column; JSON has all."""
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 2]}.."


def opening(
    comparison: Comparison, shown: Shown, digits: int | None = None, letters: Letters = "better"
) -> list[Part]:
    """Build the opening of a report: top group, league table and map of all pairs, or each run
    against the baseline.
    """
    measures = list(comparison.means)
    if comparison.method.baseline is not None:
        return [
            part for measure in measures for part in _against_baseline(comparison, measure, shown)
        ]
    mapped = measures if len(measures) <= _MAPS else measures[:1]
    sentences = [headline(comparison, measure) for measure in measures]
    return [
        filled(sentences),
        *league_tables(comparison, digits, letters),
        *(pair_map(comparison, measure) for measure in mapped),
    ]


def headline(comparison: Comparison, measure: str) -> str:
    """The first sentence on several runs: the best run, and the runs that do not differ from it; or
    how many beat the baseline.
    """
    if comparison.method.baseline is not None:
        return _against(comparison, measure)
    groups, runs = comparison.groups(measure), len(comparison.names)
    best, *others = groups.top
    better, limits = len(groups.better_than[best]), verdict_limits(comparison, measure)
    if not others and not limits:
        return f"By {groups.measure}, {best} is better than all {runs - 1:,} others."
    if not others:
        first = (
            f"By {groups.measure}, {best} has the best mean of {runs:,} runs and differs "
            f"significantly from all others"
        )
        return (
            f"{first}, but is better than "
            f"{f'only {better:,} of them' if better else 'none of them'}: {limits}."
        )
    shown = ", ".join(others[:_SOME]) + (
        f" and {len(others) - _SOME:,} more" if len(others) > _SOME else ""
    )
    if len(groups.top) == runs:
        return (
            f"By {groups.measure}, none of {runs:,} runs differs significantly from the best, "
            f"{best}."
        )
    first = (
        f"By {groups.measure}, {best} has the best mean of {runs:,} runs, and does not differ "
        f"significantly from {shown}"
    )
    return (
        f"{first}. Of the others, {best} is better than {better:,}: {limits}."
        if limits
        else f"{first}."
    )


def verdict_limits(comparison: Comparison, measure: str) -> str:
    """Say why the best run is not better than each run from which it differs significantly; empty
    if it is.
    """
    groups = comparison.groups(measure)
    settled = {*groups.top, *groups.better_than[groups.top[0]]}
    pairs = (
        (pair, pair.measures[groups.measure])
        for pair in comparison.pairs
        if groups.top[0] in (pair.a, pair.b)
    )
    found = Counter(row.verdict for pair, row in pairs if not {pair.a, pair.b} <= settled)
    equal, rest = found.pop("equivalent", 0), sum(found.values()) - found["too few judgments"]
    unreached = found["too few judgments"]
    said = [
        counted(equal, "is equivalent", "are equivalent") if equal else "",
        f"too few judgments for {unreached:,}" if unreached else "",
        counted(rest, "has another verdict", "have another verdict") if rest else "",
    ]
    return " and ".join(filter(None, said))


def _against(comparison: Comparison, measure: str) -> str:
    found = [pair.measures[measure].verdict for pair in comparison.pairs]
    better, worse = (found.count(verdict) for verdict in ("better", "worse"))
    counts = (
        f"{better:,} better than {comparison.method.baseline}, {worse:,} worse, "
        f"{len(found) - better - worse:,} neither"
    )
    return f"Of {len(found):,} runs, by {measure}: {counts}."


def league_tables(
    comparison: Comparison, digits: int | None = None, letters: Letters = "better"
) -> list[Table]:
    r"""Runs with means and letters, the best by the first measure first; as many measures side by
    side as fit on a page.
    """
    ranked = ranked_by_all(comparison, letters)
    order = list(ranked[0].means)
    first, *others = ranked
    names = run_columns(order, letters, _NAME)
    columns = [
        *names,
        *first.columns(league_places(comparison, first, digits), level=comparison.method.level),
    ]
    tables = [Table.of(columns, order)]
    for one in others:
        more = one.columns(league_places(comparison, one, digits))
        wider = Table.of([*columns, *more], order)
        if fits(wider):
            columns, tables[-1] = [*columns, *more], wider
        else:
            columns = [*names, *more]
            tables.append(Table.of(columns, order))
    return tables


def league_places(comparison: Comparison, ranked: Ranked, asked: int | None = None) -> int:
    """Decimals of the means of one measure: by their intervals, and enough that runs that differ do
    not look the same.
    """
    rows = [pair.measures[ranked.measure] for pair in comparison.pairs]
    apart = [(row.mean_a, row.mean_b) for row in rows if row.verdict in ("better", "worse")]
    return decimals((one.interval for one in ranked.means.values()), apart=apart, asked=asked)


def _against_baseline(comparison: Comparison, measure: str, shown: Shown) -> list[Part]:
    """Every run beside the baseline, the best first."""
    ranked = Ranked.of(comparison, measure)
    found = {pair.b: pair.measures[measure] for pair in comparison.pairs}
    named: list[Column[Line]] = [
        column.of(lambda line: line.name)
        for column in run_columns(list(ranked.means), "groups", _NAME)
    ]
    columns = [
        *named,
        *difference_columns("baseline", shown, next(iter(found.values())).level, b=measure),
    ]
    return [
        filled([headline(comparison, measure)]),
        Table.of(columns, [_of_run(run, ranked, found, shown) for run in ranked.means]),
    ]


def _of_run(
    run: str, ranked: Ranked, found: Mapping[str, Difference], shown: Shown
) -> Line | NamedCells:
    """Its difference; of the baseline itself place, name and mean."""
    if run in found:
        return Line.of(found[run], run)
    named = {
        column.title: column.beside(run)
        for column in run_columns(list(ranked.means), "groups", _NAME)
    }
    return NamedCells(
        named
        | {
            "mean b": number_cell(ranked.means[run].mean, shown.places),
            "verdict": Cell("baseline", tone="quiet"),
        }
    )
