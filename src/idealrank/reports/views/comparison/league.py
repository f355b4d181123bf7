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
_CELLS = 60  # cells of a line of the map; with more runs, neighbours share a cell
# Signs of significant pairs, each with the factor by which p is at least below alpha.
_BANDS = (("#", 50.0), ("+", 5.0), (":", 1.0))
_MAPPED = ("undecided", IDENTICAL, "equivalent", TOO_FEW)  # verdicts that have a sign of their own
_REVERSED, _SELF = "!", "\\"  # signs of a pair whose worse mean wins, and of the diagonal


def pair_map(comparison: Comparison, measure: str) -> list[str]:
    r"""Draw signs for all pairs by one measure: a line per run, with a sign for each run above it.

    With more than 60 runs, neighbours in the order of the means share a line and a cell.
    """
    order = list(comparison.groups(measure).letters)
    rows = {(pair.a, pair.b): pair.measures[measure] for pair in comparison.pairs}
    alpha = round(1 - comparison.method.level, 12)
    if len(order) <= _CELLS:
        return _map_of_runs(measure, order, rows, alpha)
    return _map_of_blocks(measure, order, rows)


def _map_of_runs(
    measure: str, order: Sequence[str], rows: Mapping[tuple[str, str], Difference], alpha: float
) -> list[str]:
    signs = []
    for place, run in enumerate(order):
        signs.append("".join(_sign(rows, better, run, alpha) for better in order[:place]))
    names = [f"{place:>3} {clipped(run, _NAME)}" for place, run in enumerate(order, 1)]
    lines = _framed(names, [line + _SELF for line in signs], len(order))
    used_signs = set("".join(signs))
    words = {sign: f"{sign} p <= {alpha / factor:g}" for sign, factor in _BANDS}
    for verdict in map(mark, _MAPPED):
        words[verdict.symbol] = f"{verdict.symbol} {verdict.word}"
    words |= {_REVERSED: f"{_REVERSED} the other way round, by ranks"}
    legend = ", ".join(text for sign, text in words.items() if sign in used_signs)
    return [f"pairs by {measure}", *lines, *filled([f"{legend}: column better than row"])]


def _sign(rows: Mapping[tuple[str, str], Difference], better: str, run: str, alpha: float) -> str:
    """Return the sign of a pair; its first run has the better mean."""
    is_reversed = (better, run) not in rows  # then the row is of the better run against `run`
    row = rows[(run, better)] if is_reversed else rows[(better, run)]
    if symbol := mark_of(row).symbol:
        return symbol
    expected = "better" if is_reversed else "worse"
    if row.verdict != expected:
        return _REVERSED
    # The last band takes every other significant pair.
    for sign, factor in _BANDS[:-1]:
        if row.p_corrected <= alpha / factor:
            return sign
    return _BANDS[-1][0]


def _framed(names: Sequence[str], lines: Sequence[str], count: int) -> list[str]:
    """Put names before the lines, and the numbers of the columns above them, with a digit for the
    tens only at each ten.
    """
    width = max(map(len, names))
    tens, ones = "", ""
    for place in range(1, count + 1):
        tens += str(place // 10 % 10) if place % 10 == 0 else " "
        ones += str(place % 10)
    heads = [" " * (width + 3) + text for text in (tens.rstrip(), ones) if text]
    named = [f"  {name.ljust(width)} {line}" for name, line in zip(names, lines, strict=True)]
    return [*heads, *named]


def _map_of_blocks(
    measure: str, order: Sequence[str], rows: Mapping[tuple[str, str], Difference]
) -> list[str]:
    """Draw neighbours in one cell, as the share of its pairs with a better run."""
    place = {run: number for number, run in enumerate(order)}
    differs = np.zeros((len(order), len(order)), np.bool_)
    # Only the marks of better and worse have no symbol of their own.
    for (a, b), row in rows.items():
        differs[place[a], place[b]] = differs[place[b], place[a]] = not mark_of(row).symbol
    size = -(-len(order) // _CELLS)  # rounded up
    blocks = [range(first, min(first + size, len(order))) for first in range(0, len(order), size)]
    lines, names = [], []
    for number, block in enumerate(blocks):
        columns = blocks[: number + 1]
        lines.append("".join(_share(differs, block, column) for column in columns))
        places = f"{block[0] + 1:>3}"
        places += f"-{block[-1] + 1}" if len(block) > 1 else ""
        names.append(f"{places:<7} {clipped(order[block[0]], _NAME - 4)}")
    explanation = (
        f"Each line and column stands for {size} runs with neighbouring means. Signs show the "
        "share of pairs of a cell with a better run: . none, 1 to 9 tenths, # all."
    )
    return [f"pairs by {measure}", *_framed(names, lines, len(blocks)), *filled([explanation])]


def _share(differs: BoolArray, line: range, column: range) -> str:
    """Return the sign of a cell; on the diagonal, pairs of a run with itself do not count."""
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
    """Return the letter of a run by its place in the table; after z follow aa, ab, and so on."""
    # Base 26 with digits from 1 to 26, as in the columns of a spreadsheet.
    text = ""
    remaining = place + 1
    while remaining:
        remaining, digit = divmod(remaining - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def listed(places: Iterable[int], runs: int) -> str:
    """List the letters of several runs: only the ends of four or more in a row, and commas where
    letters alone would be ambiguous.
    """
    rows: list[list[int]] = []
    for place in sorted(places):
        if rows and place == rows[-1][-1] + 1:
            rows[-1].append(place)
        else:
            rows.append([place])
    texts = []
    for row in rows:
        if len(row) >= _LONG_ROW:
            texts.append(f"{letter_of(row[0])}-{letter_of(row[-1])}")
        else:
            texts += map(letter_of, row)
    is_ambiguous = runs > 26 or any(len(row) >= _LONG_ROW for row in rows)
    return ("," if is_ambiguous else "").join(texts)


def better_letters(comparison: Comparison, measure: str, order: Sequence[str]) -> dict[str, str]:
    """Return, by run, the letters of the runs that it is better than by the verdicts of a measure,
    which the judgments must support.
    """
    place = {run: number for number, run in enumerate(order)}
    beaten = comparison.groups(measure).better_than
    places = {run: [place[other] for other in beaten[run]] for run in order}
    return {run: listed(places[run], len(order)) for run in order}


def letters_note(comparison: Comparison, letters: Letters) -> str:
    """Explain the letters of a league table: letters of worse runs count verdicts, and letters of
    groups count p alone.
    """
    alpha = f"{1 - comparison.method.level:g}"
    if letters == "groups":
        return (
            "letters count p alone: runs that share one do not differ significantly (corrected p "
            f"above {alpha})"
        )
    explanation = f"letters count verdicts: the worse runs, corrected p at most {alpha}"
    withheld = sum(row.verdict == TOO_FEW for _, row in comparison.rows())
    if not withheld:
        return explanation
    pairs = "1 difference has" if withheld == 1 else f"{withheld:,} differences have"
    return f"{explanation}; {pairs} {TOO_FEW} and no letter, however small p"


MANY = 6  # runs; from here on a report begins with groups, and pairs are shown on request
_MAPS = 3  # measures; with more of them only the first has its map
_LETTERS = 20  # width of a column of letters
_TITLES: dict[Letters, str] = {"better": "better than", "groups": "group"}
_SOME = 9  # runs named in a sentence


def is_many(comparison: Comparison) -> bool:
    """Return whether there are so many runs that groups come before pairs."""
    return len(comparison.names) >= MANY


class Ranked(NamedTuple):
    """Runs by one measure."""

    measure: str  # Text of the measure
    means: dict[str, RunMean]  # Mean of each run, the best first
    letters: dict[str, str]  # As tables show them; empty for a comparison with a baseline
    # Meaning of the letters: groups without significant differences, or the worse runs
    about: Letters = "groups"

    def columns(
        self,
        places: int,
        *,
        level: float | None = None,
        letters: Literal["column", "mark"] = "column",
    ) -> list[Column[str]]:
        """Make the columns of the means, the best in bold, of intervals if their level is given,
        and of letters, unless they are marks.
        """
        best = next(iter(self.means.values())).mean
        marks = self.letters if letters == "mark" else {}

        def mean_cell(run: str) -> Cell:
            mean = self.means[run].mean
            cell = number_cell(mean, places, strong=mean == best)
            return cell._replace(mark=marks.get(run, ""))

        def ends_cell(run: str) -> Cell:
            return interval_cell(self.means[run].interval, places)

        def letters_cell(run: str) -> str:
            return fitting(self.letters[run])

        columns = [Column(title=self.measure, kind="number", cell=mean_cell)]
        if level:
            title = f"{100 * level:g} % interval"
            columns.append(Column(title=title, kind="number", cell=ends_cell))
        if letters == "column":
            columns.append(Column(title=_TITLES[self.about], cell=letters_cell))
        return columns

    @classmethod
    def of(cls, comparison: Comparison, measure: str) -> "Ranked":
        """Rank the runs of a comparison."""
        means = comparison.means[measure]
        if comparison.method.baseline is not None:
            direction = comparison.pairs[0].measures[measure].direction
            order = sorted(means, key=lambda run: -means[run].mean * direction)
            return cls(measure, {run: means[run] for run in order}, {})
        groups = comparison.groups(measure)
        ordered = {run: means[run] for run in groups.letters}
        letters = {run: shortened(text) for run, text in groups.letters.items()}
        return cls(measure, ordered, letters)


def ranked_by_all(comparison: Comparison, letters: Letters) -> list[Ranked]:
    """Rank the runs by each measure; letters that name runs follow the order by the first."""
    ranked = [Ranked.of(comparison, measure) for measure in comparison.means]
    if letters == "groups" or comparison.method.baseline is not None:
        return ranked
    order = list(ranked[0].means)
    return [
        by_measure._replace(
            letters=better_letters(comparison, by_measure.measure, order), about="better"
        )
        for by_measure in ranked
    ]


def run_columns(
    order: Sequence[str], letters: Letters, clip: int | None = None
) -> list[Column[str]]:
    """Make the first columns of a league table: the place of each run, or its letter, and its name
    of at most `clip` letters.
    """
    places = {run: place for place, run in enumerate(order)}
    names: Column[str] = Column(
        title="run", cell=lambda run: run if clip is None else clipped(run, clip)
    )
    if letters == "better":
        return [Column(title="#", cell=lambda run: letter_of(places[run])), names]
    return [
        Column(title="#", kind="number", cell=lambda run: count_cell(places[run] + 1, "quiet")),
        names,
    ]


def shortened(letters: str) -> str:
    """Shorten letters to the ends of long rows, and cut them if that is too long for a table."""
    # Groups beyond the last letter are numbers in brackets, which stay as they are.
    signs, bracket, numbers = letters.partition("[")
    rows: list[str] = []
    for sign in signs:
        if rows and ord(sign) == ord(rows[-1][-1]) + 1:
            rows[-1] += sign
        else:
            rows.append(sign)
    text = "".join(row if len(row) < _LONG_ROW else f"{row[0]}-{row[-1]}" for row in rows)
    return fitting(text + bracket + numbers)


def fitting(text: str) -> str:
    """Cut letters that are too long for a column; JSON has all."""
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 2]}.."


def opening(
    comparison: Comparison, shown: Shown, digits: int | None = None, letters: Letters = "better"
) -> list[Part]:
    """Build the opening of a report: the top group, the league table and the map of all pairs; or
    each run against the baseline.
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
    """Write the first sentence on several runs: the best run, and the runs that do not differ from
    it; or how many beat the baseline.
    """
    if comparison.method.baseline is not None:
        return _baseline_headline(comparison, measure)
    groups = comparison.groups(measure)
    runs = len(comparison.names)
    best, *others = groups.top
    better = len(groups.better_than[best])
    limits = verdict_limits(comparison, measure)
    if not others and not limits:
        return f"By {groups.measure}, {best} is better than all {runs - 1:,} others."
    if not others:
        first = (
            f"By {groups.measure}, {best} has the best mean of {runs:,} runs and differs "
            "significantly from all others"
        )
        beaten = f"only {better:,} of them" if better else "none of them"
        return f"{first}, but is better than {beaten}: {limits}."
    listed_runs = ", ".join(others[:_SOME])
    listed_runs += f" and {len(others) - _SOME:,} more" if len(others) > _SOME else ""
    if len(groups.top) == runs:
        return (
            f"By {groups.measure}, none of {runs:,} runs differs significantly from the best, "
            f"{best}."
        )
    first = (
        f"By {groups.measure}, {best} has the best mean of {runs:,} runs, and does not differ "
        f"significantly from {listed_runs}"
    )
    if limits:
        return f"{first}. Of the others, {best} is better than {better:,}: {limits}."
    return f"{first}."


def verdict_limits(comparison: Comparison, measure: str) -> str:
    """Say why the best run is not better than each run from which it differs significantly; empty
    if it is.
    """
    groups = comparison.groups(measure)
    best = groups.top[0]
    # Runs of the top group do not differ from the best run, and beaten runs need no reason.
    settled = {*groups.top, *groups.better_than[best]}
    counts = Counter[str]()
    for pair in comparison.pairs:
        if best in (pair.a, pair.b) and not {pair.a, pair.b} <= settled:
            counts[pair.measures[groups.measure].verdict] += 1
    equal = counts["equivalent"]
    unreached = counts["too few judgments"]
    n_others = counts.total() - equal - unreached
    limits = [
        counted(equal, "is equivalent", "are equivalent") if equal else "",
        f"too few judgments for {unreached:,}" if unreached else "",
        counted(n_others, "has another verdict", "have another verdict") if n_others else "",
    ]
    return " and ".join(filter(None, limits))


def _baseline_headline(comparison: Comparison, measure: str) -> str:
    verdicts = [pair.measures[measure].verdict for pair in comparison.pairs]
    better, worse = (verdicts.count(verdict) for verdict in ("better", "worse"))
    counts = (
        f"{better:,} better than {comparison.method.baseline}, {worse:,} worse, "
        f"{len(verdicts) - better - worse:,} neither"
    )
    return f"Of {len(verdicts):,} runs, by {measure}: {counts}."


def league_tables(
    comparison: Comparison, digits: int | None = None, letters: Letters = "better"
) -> list[Table]:
    r"""Build tables of runs with means and letters, the best by the first measure first; as many
    measures side by side as fit on a page.
    """
    first, *others = ranked_by_all(comparison, letters)
    order = list(first.means)
    names = run_columns(order, letters, _NAME)
    places = league_places(comparison, first, digits)
    columns = [*names, *first.columns(places, level=comparison.method.level)]
    tables = [Table.of(columns, order)]
    for other in others:
        more = other.columns(league_places(comparison, other, digits))
        wider = Table.of([*columns, *more], order)
        if fits(wider):
            columns, tables[-1] = [*columns, *more], wider
        else:
            columns = [*names, *more]
            tables.append(Table.of(columns, order))
    return tables


def league_places(comparison: Comparison, ranked: Ranked, digits: int | None = None) -> int:
    """Choose the decimals of the means of one measure by their intervals; runs that differ must not
    look the same.
    """
    rows = [pair.measures[ranked.measure] for pair in comparison.pairs]
    apart = [(row.mean_a, row.mean_b) for row in rows if row.verdict in ("better", "worse")]
    return decimals(
        (run_mean.interval for run_mean in ranked.means.values()), apart=apart, digits=digits
    )


def _against_baseline(comparison: Comparison, measure: str, shown: Shown) -> list[Part]:
    """Build the table of every run against the baseline, the best first."""
    ranked = Ranked.of(comparison, measure)
    by_run = {pair.b: pair.measures[measure] for pair in comparison.pairs}
    level = next(iter(by_run.values())).level
    columns: list[Column[Line]] = [
        column.of(lambda line: line.name)
        for column in run_columns(list(ranked.means), "groups", _NAME)
    ]
    columns += difference_columns("baseline", shown, level, b=measure)
    return [
        filled([headline(comparison, measure)]),
        Table.of(columns, [_baseline_row(run, ranked, by_run, shown) for run in ranked.means]),
    ]


def _baseline_row(
    run: str, ranked: Ranked, by_run: Mapping[str, Difference], shown: Shown
) -> Line | NamedCells:
    """Make the row of a run: its difference, or place, name and mean of the baseline itself."""
    if run in by_run:
        return Line.of(by_run[run], run)
    cells = NamedCells()
    for column in run_columns(list(ranked.means), "groups", _NAME):
        cells[column.title] = column.beside(run)
    cells["mean b"] = number_cell(ranked.means[run].mean, shown.places)
    cells["verdict"] = Cell("baseline", tone="quiet")
    return cells
