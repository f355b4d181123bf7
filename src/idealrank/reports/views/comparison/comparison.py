"""The report of `idealrank compare`: a paragraph in plain words, tables, also of slices of the
queries, and the method; JSON and CSV with every digit.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from idealrank.analysis.comparison import Comparison, Pair
from idealrank.reports.subject import leading_pairs
from idealrank.reports.table.cells import (
    Cell,
    Column,
    NamedCells,
    Table,
    count_cell,
    counted,
    number_cell,
)
from idealrank.reports.table.records import Row, method_json, record_rows
from idealrank.reports.table.text import MethodLines, MoreLines, Part, clipped, filled, wrapped
from idealrank.reports.views.comparison.columns import (
    Line,
    Shown,
    Where,
    difference_columns,
    meanings,
)
from idealrank.reports.views.comparison.label_phrases import labels_note
from idealrank.reports.views.comparison.league import Letters, is_many, letters_note, opening
from idealrank.reports.views.comparison.pair_sentences import (
    Told,
    judge_sentences,
    label_sentences,
    needed_text,
    verdict_sentences,
    verdict_text,
)
from idealrank.reports.views.comparison.phrases import (
    BOTH_RUNS,
    IN_PYTHON,
    TEST_NAMES,
    Asked,
    labels_command,
    unchanged,
)
from idealrank.reports.views.comparison.verdicts import (
    correction_word,
    decided_tone,
    mark_of,
    stars_text,
)
from idealrank.reports.views.conventions import (
    cautioned,
    design_phrases,
    paragraph,
    unanswered,
    warned,
)

if TYPE_CHECKING:
    from idealrank.analysis.comparison.slice_differences import Slice, Slices

_NAME = 14  # letters of a run's name
_SLICE = 28  # letters of a slice's name


def method_text(comparison: Comparison) -> str:
    """Describe the method of a comparison in phrases."""
    method = comparison.method
    phrases = [f"{TEST_NAMES[method.test].full}, two-sided"]
    if method.test == "permutation":
        drawn = "exact, over all signs"
        if method.n_resamples is not None:
            drawn = f"{method.n_resamples:,} draws, seed {method.seed}"
        phrases.append(drawn)
    about = next(row.about for _, row in comparison.rows())
    of_what = "" if about == "mean difference" else f": of the {about}"
    phrases.append(f"each interval from the same test{of_what}")
    phrases += family_phrases(comparison)
    if method.margin is not None:
        margin = f"margin {method.margin:g}"
        if method.largest_loss is not None:
            margin += f", largest loss of a query {method.largest_loss:g}"
        phrases.append(margin)
    phrases += design_phrases(
        weighted=method.weighted, clustered=method.clustered, judgments=method.judgments
    )
    return "; ".join([*phrases, *slice_phrases(comparison)])


def mark_note(comparison: Comparison, mark: str, labels: Mapping[str, str] | None = None) -> str:
    """Explain the mark of a difference: test, correction and level; the labels are other names of
    measures.
    """
    method = comparison.method
    return (
        f"{mark} p at most {1 - method.level:.12g}: {TEST_NAMES[method.test].full}, two-sided; "
        f"{'; '.join(family_phrases(comparison, labels))}."
    )


def family_phrases(comparison: Comparison, labels: Mapping[str, str] | None = None) -> list[str]:
    """Describe the families that are corrected together: the first measure, its companions,
    slices.
    """
    method = comparison.method
    measure = next(iter(comparison.pairs[0].measures))
    first = (labels or {}).get(measure, measure)
    how = correction_word(method.correction)
    tested = {
        "primary measure": f"tests of {first}",
        "companions": "tests of the other measures",
        "slices": f"slices of {first}",
        "slices of companions": "slices of the other measures",
    }
    alone = {
        "primary measure": f"{first} is tested alone",
        "companions": "the other measure is tested alone",
    }
    phrases = []
    for family, n_tests in method.families.items():
        if n_tests > 1:
            phrases.append(f"{n_tests:,} {tested[family]} corrected together ({how})")
        elif family in alone:
            phrases.append(alone[family])
    return phrases


def comparison_parts(
    comparison: Comparison,
    *,
    every_pair: bool = False,
    digits: int | None = None,
    letters: Letters = "better",
    origin: Asked = IN_PYTHON,
) -> list[Part]:
    """Build the whole report: two to five runs pair by pair, more runs by groups without a
    significant difference.
    """
    shown = Shown.of(comparison, digits)
    parts: list[Part] = []
    if is_many(comparison):
        parts.append(filled([*warned(comparison.mismatches), *cautioned(comparison.cautions)]))
        parts += opening(comparison, shown, digits, letters)
        parts += _sentences_on_runs(comparison, shown, origin)
    else:
        parts += _verdicts_of_pairs(comparison, shown, origin)

    several = len(comparison.pairs) > 1
    with_pairs = every_pair or not is_many(comparison)
    for pair in comparison.pairs if with_pairs else ():
        title = f"{pair.b} against {pair.a}" if several else ""
        parts.append(pair_table(pair, shown, title=title, clip=_NAME))
        parts.append(judged_table(pair, shown, clip=_NAME))
        parts += [_rankings(pair, titled=several), _left_out(pair)]
    parts += slice_parts(comparison, shown, with_pairs=with_pairs)

    legend = reach_legend(parts)
    parts.append(_labels_command(comparison, origin))
    if not comparison.mismatches:
        bases = [row.basis for _, row in comparison.rows()]
        parts.append(labels_note(comparison.labels, bases, origin))
    measures = [row.measure for row in comparison.pairs[0].measures.values()]
    method = _method(comparison, letters, with_pairs=with_pairs)
    return [*parts, legend, method, paragraph(comparison.convention, measures)]


def _labels_command(comparison: Comparison, origin: Asked) -> list[str]:
    """Return the lines with the command that chooses labels, if the leading pair has too few."""
    leading = leading_pairs(comparison)[0]
    primary = next(iter(leading.measures.values()))
    if primary.verdict != "too few judgments":
        return []
    return labels_command(primary, leading.a, leading.b, "compare", origin)


def _verdicts_of_pairs(comparison: Comparison, shown: Shown, origin: Asked) -> list[Part]:
    """Build the verdict on two runs; of several, on the leading pair, then a line for each pair."""
    leading = leading_pairs(comparison)[0]
    several = len(comparison.pairs) > 1
    told = verdict_sentences(comparison, leading, shown, origin)
    warnings = warned(comparison.mismatches)
    if not several:
        return [filled([*told.brief, *warnings[-1:]]), MoreLines(filled(told.more))]
    judged = judge_sentences(comparison.rows(), shown)
    besides = [*told.more, *judged, *label_sentences(comparison, origin, but=leading)]
    besides = [text for text in dict.fromkeys(besides) if text not in told.brief]
    return [
        filled(warnings),
        filled(told.brief),
        MoreLines(filled(besides)),
        _summary(comparison, shown),
    ]


def _sentences_on_runs(comparison: Comparison, shown: Shown, origin: Asked) -> list[Part]:
    """Build the sentences below the tables of many runs, which hold for all pairs."""
    unknown = [comparison.reach_unknown] if comparison.reach_unknown else []
    cautions = [
        *unanswered(comparison.missing),
        *judge_sentences(comparison.rows(), shown),
        *unknown,
    ]
    scales = list(dict.fromkeys(row.margin_scale for _, row in comparison.rows()))
    told = Told.of([*cautions, *label_sentences(comparison, origin)], scales)
    return [filled(told.brief), MoreLines(filled(told.more))]


def _summary(comparison: Comparison, shown: Shown) -> list[str]:
    """Write one line for each pair by the first measure."""
    measure = next(iter(comparison.pairs[0].measures))
    return [
        f"By {measure}, the first measure:",
        *(f"  {line}" for line in pair_lines(comparison, measure, shown)),
    ]


def pair_lines(comparison: Comparison, measure: str, shown: Shown | None = None) -> list[str]:
    """Write one line for each pair by one measure: verdict, difference and p."""
    shown = shown or Shown.of(comparison)
    lines = []
    for pair in comparison.pairs:
        row = pair.measures[measure]
        line = verdict_text(pair, row, comparison.method)
        if not pair.mismatch:
            line += f": {shown.signed(row.difference)}, p {shown.p(row.p_corrected)}"
            needed = needed_text(row, comparison.method)
            line += f"; {needed[:1].lower()}{needed[1:]}" if needed else ""
        lines.append(line)
    return lines


def pair_table(pair: Pair, shown: Shown, *, title: str = "", clip: int | None = None) -> Table:
    """Build the table of one pair, with a row for each measure."""
    return Table.of(
        [_MEASURE, *_columns("pair", pair, shown, clip)],
        map(Line.of, pair.measures.values()),
        title=title,
    )


_MEASURE: Column[Line] = Column(title="measure", cell=lambda line: line.measure)


def _columns(where: Where, pair: Pair, shown: Shown, clip: int | None) -> list[Column[Line]]:
    names = [name if clip is None else clipped(name, clip) for name in (pair.a, pair.b)]
    return difference_columns(where, shown, next(iter(pair.measures.values())).level, *names)


def judged_table(pair: Pair, shown: Shown, *, clip: int | None = None) -> Part:
    """Build the table of unjudged shares and tipping points, if any document is unjudged and the
    runs join the judgments.
    """
    rows = list(pair.measures.values())
    if pair.mismatch or not any(row.unjudged_a or row.unjudged_b for row in rows):
        return []
    return Table.of(
        [replace(_MEASURE, title="unjudged"), *_columns("judged", pair, shown, clip)],
        map(Line.of, rows),
    )


def reach_legend(parts: Iterable[Part]) -> MethodLines:
    """Explain the columns of tipping points; empty without such a column."""
    tables = [part for part in parts if isinstance(part, Table)]
    titles = {column.title for table in tables for column in table.columns}
    if "tips at" not in titles:
        return MethodLines([])
    return MethodLines(filled("; ".join([*meanings(["judged"]), BOTH_RUNS])))


def _rankings(pair: Pair, *, titled: bool) -> MoreLines:
    """Describe the similarity of the rankings; for two runs alone, the first sentence follows the
    verdict.
    """
    sentences = unchanged(pair.rankings)
    listed = sentences if titled else sentences[1:]
    return MoreLines(line for text in listed for line in filled([text]))


def _left_out(pair: Pair) -> list[str]:
    return [
        f"{row.measure}: {counted(row.excluded_queries, 'query', 'queries')} left out, not scored "
        f"in both runs; {row.n:,} compared"
        for row in pair.measures.values()
        if row.excluded_queries
    ]


def _method(comparison: Comparison, letters: Letters, *, with_pairs: bool) -> MethodLines:
    """Describe the method and the columns; the brief phrases are shown without --explain-method."""
    method = comparison.method
    phrases = [method_text(comparison)]
    brief = [TEST_NAMES[comparison.method.test].full]
    if not with_pairs and method.baseline is None:
        phrases.append(letters_note(comparison, letters))
        brief.append(phrases[-1])
        phrases.append("intervals of means: Student's, of each run alone")
    else:
        tables: list[Where] = ["pair"] if with_pairs else ["baseline"]
        if method.slices is not None:
            tables.append("slices")
        phrases += meanings(tables, method.power)
    how_to_see_pairs = [] if with_pairs else ["every pair: --every-pair, or --format csv or json"]
    brief += design_phrases(
        weighted=method.weighted, clustered=method.clustered, judgments=method.judgments
    )
    brief += [*slice_phrases(comparison), *how_to_see_pairs]
    return MethodLines(["method", *wrapped("; ".join([*phrases, *how_to_see_pairs]))], *brief)


def comparison_json(comparison: Comparison) -> Iterator[str]:
    """Yield JSON text: pairs, method, convention; float64 in the shortest form that reads back,
    null for numbers that are not finite.
    """
    yield method_json(comparison.as_dict())


def comparison_rows(comparison: Comparison) -> Iterator[Row]:
    """Yield the titles, and a row for each pair and measure with its slices below; a number that is
    not finite or was not measured is empty.
    """
    method = comparison.method
    how = {"test": method.test, "seed": method.seed, "convention": str(comparison.convention)}
    yield from record_rows(record | how for record in comparison.records())


# --- slices ---------------------------------------------------------------------------------------


def slice_parts(comparison: Comparison, shown: Shown, *, with_pairs: bool = True) -> list[Part]:
    r"""Build, for each pair, the slices by the first measure, the worst first, and the differences
    by other measures; nothing without slices.
    """
    if comparison.method.slices is None:
        return []
    first = next(iter(comparison.pairs[0].measures))
    if not with_pairs:
        rows = {
            f"{pair.b} - {pair.a}": _by_name(_slices_of(pair, first)) for pair in comparison.pairs
        }
        names = _names_of(rows.values())
        return [_differences_table(f"differences on slices by {first}", "pair", names, rows, shown)]
    parts = []
    for pair in comparison.pairs:
        parts += [slice_table(pair, first, shown), _other_slices(pair, first, shown)]
    return parts


def _slices_of(pair: Pair, measure: str) -> "Sequence[Slice]":
    slices = pair.measures[measure].slices
    return () if slices is None else slices.rows


def _by_name(rows: "Sequence[Slice]") -> "dict[str, Slice]":
    return {row.name: row for row in rows}


def _names_of(slices: "Iterable[Mapping[str, Slice]]") -> list[str]:
    """List the names of slices, each once, in the order in which they come first."""
    return list(dict.fromkeys(name for by_name in slices for name in by_name))


def slice_table(pair: Pair, measure: str, shown: Shown, *, clip: int | None = _NAME) -> Part:
    """Build the table of the slices of one pair by one measure, the worst first; names of runs have
    at most `clip` letters.
    """
    title = f"slices by {measure}: {pair.b} against {pair.a}, the worst first"
    rows = _slices_of(pair, measure)
    row = pair.measures[measure]
    if not rows:
        return [title, "  no slice has a query that counts in both runs"]
    names = [name if clip is None else clipped(name, clip) for name in (pair.a, pair.b)]
    return _table_of_slices(
        title=title, rows=rows, direction=row.direction, names=names, level=row.level, shown=shown
    )


def _table_of_slices(
    title: str,
    rows: "Sequence[Slice]",
    direction: int,
    names: Sequence[str],
    level: float,
    shown: Shown,
) -> Table:
    lines = [Line(row, direction, clipped(row.name, _SLICE)) for row in rows]
    return Table.of(_slice_columns(names, level, shown), lines, title=title)


def _slice_columns(names: Sequence[str], level: float, shown: Shown) -> list[Column[Line]]:
    return [
        Column(title="slice", cell=lambda line: line.name),
        *difference_columns("slices", shown, level, *names),
    ]


def _other_slices(pair: Pair, first: str, shown: Shown) -> Part:
    """Build the table of differences by other measures, slices ordered by the first."""
    others = [measure for measure in pair.measures if measure != first]
    rows = {measure: _by_name(_slices_of(pair, measure)) for measure in others}
    names = _names_of([_by_name(_slices_of(pair, first)), *rows.values()])
    if not others or not names:
        return []
    by_slice: dict[str, dict[str, Slice]] = {name: {} for name in names}
    for measure, by_name in rows.items():
        for name, row in by_name.items():
            by_slice[name][measure] = row
    return _differences_table("differences by other measures", "slice", others, by_slice, shown)


def _differences_table(
    title: str,
    corner: str,
    head: Sequence[str],
    rows: "Mapping[str, Mapping[str, Slice]]",
    shown: Shown,
) -> Table:
    """Build a table with a row for each name in `rows`, and a column for each name in `head`; the
    title explains the marks.
    """
    names: Column[str] = Column(title=corner, cell=lambda row: clipped(row, _SLICE))
    table = Table.of([names, *(_differences_column(name, rows, shown) for name in head)], rows)
    marks = {cell.mark for cell in table.cells()}
    return replace(table, title=f"{title} ({stars_text(marks)})")


def _differences_column(
    name: str, rows: "Mapping[str, Mapping[str, Slice]]", shown: Shown
) -> Column[str]:
    return Column(
        title=clipped(name, _NAME),
        kind="number",
        cell=lambda row: _difference(rows[row].get(name), shown),
    )


def _difference(row: "Slice | None", shown: Shown) -> Cell:
    if row is None:
        return Cell("-")
    text = shown.signed(row.difference)
    tone = decided_tone(row.verdict)
    return Cell(text, row.difference, mark=mark_of(row).star, tone=tone)


def slice_phrases(comparison: Comparison) -> list[str]:
    """Describe the queries in no slice, or in several; nothing without slices."""
    counts = comparison.method.slices
    if counts is None:
        return []
    phrases: list[str] = []
    if n := counts["in_several"]:
        of_one = "is in several slices and counts in each"
        of_many = "are in several slices and count in each"
        phrases.append(f"{_queries(n)} {of_one if n == 1 else of_many}")
    if n := counts["in_none"]:
        phrases.append(f"{_queries(n)} {'is' if n == 1 else 'are'} in no slice")
    if n := counts["unknown"]:
        phrases.append(f"{_queries(n)} with a category {'is' if n == 1 else 'are'} not compared")
    slices = [of_slice for _, row in comparison.rows() for of_slice in row.slices or ()]
    if any(math.isinf(of_slice.detectable) for of_slice in slices):
        few = "cannot detect any difference by this test, however large"
        if comparison.method.weighted:
            few = "count as too few of equal weight"
        phrases.append(f"detectable none: so few queries {few}")
    return phrases


def _queries(n: int) -> str:
    return counted(n, "query", "queries")


def slices_cells(slices: "Slices") -> Table:
    """Build the table of the result of `idealrank.slices`, the worst slice first."""
    shown = Shown.of_rows(slices.rows, slices.level)
    lines: list[Line | NamedCells] = [
        Line(row, 1, clipped(row.name, _SLICE)) for row in slices.rows
    ]
    total = NamedCells(
        slice=Cell("all"),
        queries=count_cell(slices.n),
        difference=number_cell(slices.difference, shown.places, signed=True),
    )
    return Table.of(_slice_columns(["a", "b"], slices.level, shown), [*lines, total])
