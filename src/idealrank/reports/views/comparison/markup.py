"""Comparisons to paste, as Markdown and LaTeX: the tables of the report with marks, letters and
notes on the method; a table for a paper.

The table for a paper has a row for each run and a column for each measure, the best in bold, and a
triangle up or down if a run is better or worse than the baseline, or the letters of all pairs.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import get_args

from idealrank.analysis.comparison import Comparison, Difference, Pair
from idealrank.errors import OptionError, shown
from idealrank.measures.parse import MeasureLike, canonical_text, parse_measure
from idealrank.reports.table.cells import Cell, Column, Table, number_cell
from idealrank.reports.table.forms import as_latex, as_markdown, as_text, markdown_text
from idealrank.reports.views.comparison.columns import Line, Shown, difference_columns
from idealrank.reports.views.comparison.comparison import mark_note, method_text
from idealrank.reports.views.comparison.league import (
    Letters,
    Ranked,
    better_letters,
    is_many,
    league_places,
    letter_of,
    letters_note,
    ranked_by_all,
    run_columns,
)
from idealrank.reports.views.comparison.pair_sentences import (
    judge_sentences,
    needed_text,
    verdict_text,
)
from idealrank.reports.views.comparison.phrases import plain_sentence
from idealrank.reports.views.comparison.verdicts import (
    STAR_WORDS,
    TOO_FEW,
    basis_notes,
    is_identical,
    mark,
    mark_of,
)
from idealrank.reports.views.conventions import cautioned, warned


def comparison_markdown(
    comparison: Comparison,
    *,
    every_pair: bool = False,
    digits: int | None = None,
    letters: Letters = "better",
) -> str:
    """Write a Markdown table, with marks and method explained below: a row for each measure, or for
    each of many runs, with letters.
    """
    cautions = [markdown_text(caution) for caution in cautioned(comparison.cautions)]
    lines = [*warned(comparison.mismatches, markdown_text), *cautions]
    above = "".join(f"**{line}**\n\n" for line in lines)
    if _as_league(comparison, every_pair=every_pair):
        return above + as_markdown(_league(comparison, digits, letters, intervals=True))
    table = comparison_cells(comparison, digits)
    sentences = _said(comparison) if len(comparison.pairs) == 1 else []
    judged = judge_sentences(comparison.rows(), Shown.of(comparison, digits))
    return above + as_markdown(
        replace(table, notes=[*sentences, *judged, *table.notes, _below(comparison)])
    )


def _said(comparison: Comparison) -> list[str]:
    """Write sentences on one pair: that nothing differs, the difference in plain words, and how
    many queries would decide.
    """
    (pair,) = comparison.pairs
    first = next(iter(pair.measures.values()))
    same = verdict_text(pair, first, comparison.method) if is_identical(first) else ""
    texts = [same, plain_sentence(pair), needed_text(first, comparison.method)]
    return [f"{text.removesuffix('.')}." for text in texts if text]


def comparison_latex(
    comparison: Comparison,
    *,
    every_pair: bool = False,
    digits: int | None = None,
    letters: Letters = "better",
) -> str:
    r"""Write a LaTeX table with the rules of booktabs: the better mean is bold, decided differences
    are marked, and a note explains the mark.
    """
    if _as_league(comparison, every_pair=every_pair):
        return as_latex(_league(comparison, digits, letters, intervals=False), split=True)
    return f"% {_below(comparison)}\n{as_latex(comparison_cells(comparison, digits))}"


def _as_league(comparison: Comparison, *, every_pair: bool) -> bool:
    method = comparison.method
    return (
        is_many(comparison) and not every_pair and method.baseline is None and method.slices is None
    )


def comparison_cells(comparison: Comparison, digits: int | None = None) -> Table:
    """Build a table with a row for each pair and measure, and its slices below; for a single pair,
    names of runs are heads of columns.
    """
    shown = Shown.of(comparison, digits)._replace(marked=True)
    method = comparison.method
    several = len(comparison.pairs) > 1
    first = comparison.pairs[0]
    sliced = method.slices is not None
    columns: list[Column[Line]] = [Column(title="measure", cell=lambda line: line.measure)]
    if several:
        columns = [
            Column(title="a", cell=lambda line: line.a),
            Column(title="b", cell=lambda line: line.b),
            *columns,
        ]
    if sliced:
        columns.append(Column(title="slice", cell=lambda line: line.name))
    a, b = first.a, first.b
    if several:
        a, b = "mean a", "mean b"
    columns += difference_columns("with slices" if sliced else "pair", shown, method.level, a, b)
    table = Table.of(
        columns, (line for pair, row in comparison.rows() for line in _lines(pair, row))
    )
    return replace(table, notes=star_notes(comparison, [table]))


def star_notes(comparison: Comparison, tables: Iterable[Table]) -> list[str]:
    """Explain the marks of tables of differences, and what their verdicts rest on."""
    marks = {cell.mark for table in tables for cell in table.cells()}
    notes = [mark_note(comparison, f"* {STAR_WORDS['*']},")] if "*" in marks else []
    notes += [f"? {STAR_WORDS['?']}."] if "?" in marks else []
    return [*notes, *basis_notes(comparison.rows())]


def _lines(pair: Pair, row: Difference) -> Iterator[Line]:
    """Yield a difference over all queries, and below it the differences of its slices."""
    line = Line.of(row, "all", pair.a, pair.b)
    yield line
    for of_slice in row.slices or ():
        yield line._replace(row=of_slice, name=of_slice.name)


def _league(
    comparison: Comparison, digits: int | None, letters: Letters, *, intervals: bool
) -> Table:
    """Build a table with a row for each run, the best by the first measure first; letters are in
    columns of their own, or marks if there are no intervals.
    """
    ranked = ranked_by_all(comparison, letters)
    level = comparison.method.level
    order = list(ranked[0].means)
    columns: list[Column[str]] = [Column(title="run", cell=str)]
    if letters == "better":
        columns = run_columns(order, letters)
    for by_measure in ranked:
        places = league_places(comparison, by_measure, digits)
        if intervals:
            columns += by_measure.columns(places, level=level)
        else:
            columns += by_measure.columns(places, letters="mark")
    meaning = letters_note(comparison, letters)
    sentences = [f"{meaning[0].upper()}{meaning[1:]}."]
    if intervals:
        sentences.append(f"{100 * level:g} % intervals of each mean alone (Student).")
    sentences.append(f"Method: {method_text(comparison)}.")
    sentences.append(f"Convention {comparison.convention}.")
    notes = [" ".join(sentences), *basis_notes(comparison.rows(), marked=False)]
    return Table.of(columns, order, notes=notes)


def _below(comparison: Comparison) -> str:
    level = f"{100 * comparison.method.level:g} % intervals"
    return (
        f"Differences are b - a. {level}; {method_text(comparison)}. Convention "
        f"{comparison.convention}."
    )


def paper_table(
    comparison: Comparison,
    *,
    order: str = "",
    labels: Mapping[str, str] | None = None,
    digits: int | None = None,
    star: str = "",
    letters: Letters | None = None,
) -> Table:
    """Build the table of a comparison: with letters of all pairs, or with marks against the
    baseline, by default the first run.
    """
    names = labels or {}
    ranked = {measure: Ranked.of(comparison, measure) for measure in comparison.means}
    runs = list(ranked[order].means) if order else list(comparison.names)
    columns: list[Column[str]] = [Column(title="run", cell=lambda run: names.get(run, run))]
    if letters == "better":
        places = {run: letter_of(place) for place, run in enumerate(runs)}
        columns.insert(0, Column(title="#", cell=places.__getitem__))
    for text, by_measure in ranked.items():
        if letters is None:
            marks = _marks(comparison, text)
        elif letters == "better":
            marks = better_letters(comparison, text, runs)
        else:
            marks = dict(comparison.groups(text).letters)
        decimals = league_places(comparison, by_measure, digits)
        means = _column(comparison, by_measure, decimals, star, marks)
        columns.append(replace(means, title=names.get(text, text)))
    table = Table.of(columns, runs)
    notes = []
    if any(cell.strong for cell in table.cells()):
        notes.append(f"{star or 'Bold:'} the best mean of each measure.")
    notes += (
        _paper_notes(comparison, names)
        if letters is None
        else [
            f"Superscript {letters_note(comparison, letters)}.",
            f"{method_text(comparison)}.",
        ]
    )
    notes += basis_notes(comparison.rows(), marked=False)
    return replace(table, notes=[" ".join([*notes, f"Convention {comparison.convention}."])])


def _baseline(comparison: Comparison) -> str:
    """Return the baseline; of a comparison of all pairs, the first run."""
    return comparison.method.baseline or comparison.names[0]


def _marks(comparison: Comparison, measure: str) -> dict[str, str]:
    """Return the marks of runs against the baseline."""
    baseline = _baseline(comparison)
    return {
        pair.b: mark_of(pair.measures[measure]).paper
        for pair in comparison.pairs
        if pair.a == baseline
    }


def _paper_notes(comparison: Comparison, names: Mapping[str, str]) -> list[str]:
    """Explain the marks against the baseline; none in a table without marks."""
    baseline = _baseline(comparison)
    marks = {mark_of(row).paper for pair, row in comparison.rows() if pair.a == baseline} - {""}
    if not marks:
        return []
    signs = ", ".join(f"{mark(state).paper} {state}" for state in ("better", "worse"))
    explained = mark_note(comparison, f"{signs},", names)
    notes = [f"Against {names.get(baseline, baseline)}: {explained}"]
    if mark(TOO_FEW).paper in marks:
        notes.append(f"{mark(TOO_FEW).paper} {STAR_WORDS['?']}.")
    return notes


def _column(
    comparison: Comparison, ranked: Ranked, places: int, star: str, marks: Mapping[str, str]
) -> Column[str]:
    """Make the column of the means of one measure, with marks of runs."""
    values = [run_mean.mean for run_mean in ranked.means.values()]
    direction = comparison.pairs[0].measures[ranked.measure].direction
    has_best = direction and len(set(values)) > 1
    best = values[0] if has_best else None

    def mean(run: str) -> Cell:
        value = ranked.means[run].mean
        mark_of_best = star if value == best else ""
        return number_cell(value, places, strong=value == best)._replace(
            mark=mark_of_best + marks.get(run, "")
        )

    return Column(title=ranked.measure, kind="number", cell=mean)


def _written(form: Callable[[Table], str], star: str = "") -> Callable[..., str]:
    """Make the writer of one format."""

    def write(
        comparison: Comparison,
        *,
        order: str = "",
        labels: Mapping[str, str] | None = None,
        digits: int | None = None,
        letters: Letters | None = None,
    ) -> str:
        table = paper_table(
            comparison, order=order, labels=labels, digits=digits, star=star, letters=letters
        )
        return form(table)

    return write


def known_labels(
    labels: Mapping[str, str], names: Sequence[str], measures: Collection[str], where: str
) -> dict[str, str]:
    """Return labels by name of the run or text of the measure, whose spelling may be any."""
    known_texts = {}
    for name, text in labels.items():
        text_or_name = name if name in names else canonical_text(name)
        if text_or_name not in names and text_or_name not in measures:
            expected = ", ".join([*names, *measures])
            raise OptionError(
                f"{where}{shown(name)}: found no run or measure of that name, expected one of "
                f"{expected}"
            )
        known_texts[text_or_name] = text
    return known_texts


def paper_text(
    comparison: Comparison,
    form: str = "latex",
    *,
    order: "MeasureLike | None" = None,
    labels: Mapping[str, str] | None = None,
    digits: int | None = None,
    letters: Letters | None = None,
) -> str:
    """Write the table for a paper in a format; the function of `Comparison.paper_table`."""
    if form not in PAPER_FORMATS:
        raise OptionError(
            f"form {shown(repr(form))}: expected one of {', '.join(map(repr, PAPER_FORMATS))}"
        )
    if letters is not None and letters not in get_args(Letters):
        expected = ", ".join(map(repr, get_args(Letters)))
        raise OptionError(f"letters {shown(repr(letters))}: expected one of {expected}")
    if letters is not None and comparison.method.baseline is not None:
        raise OptionError(
            f"letters {letters!r}: found a comparison against {comparison.method.baseline}, "
            "expected every pair of runs",
            hint="leave out baseline=",
            command_hint="leave out --baseline",
        )
    first = "" if order is None else str(parse_measure(order))
    if first and first not in comparison.means:
        raise OptionError(
            f"order {shown(first)}: not compared, expected one of {', '.join(comparison.means)}"
        )
    known = known_labels(labels or {}, comparison.names, comparison.means, "label ")
    return PAPER_FORMATS[form](
        comparison, order=first, labels=known, digits=digits, letters=letters
    )


PAPER_FORMATS: Mapping[str, Callable[..., str]] = {
    "table": _written(as_text, "*"),
    "markdown": _written(as_markdown),
    "latex": _written(partial(as_latex, split=True)),
}
"""Writers of the table by format."""
