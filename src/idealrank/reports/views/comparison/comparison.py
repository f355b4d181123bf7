"""The report of `idealrank compare`: a paragraph that anyone can read, tables, and the method; JSON
and CSV with every digit.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from idealrank.analysis.comparison import Comparison, Pair
from idealrank.reports.subject import leading_pairs
from idealrank.reports.table.cells import Column, Table, counted
from idealrank.reports.table.records import SCHEMA, Row, record_rows
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
    Asked,
    labels_command,
    unchanged,
)
from idealrank.reports.views.comparison.slice_tables import NAME, slice_parts, slice_phrases
from idealrank.reports.views.comparison.verdicts import correction_word
from idealrank.reports.views.conventions import (
    cautioned,
    design_phrases,
    paragraph,
    unanswered,
    warned,
)

_TESTS = {
    "permutation": "sign-flip permutation test",
    "t": "paired t test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
}


def method_text(comparison: Comparison) -> str:
    """Describe the method of a comparison in phrases."""
    method = comparison.method
    phrases = [f"{_TESTS[method.test]}, two-sided"]
    if method.test == "permutation":
        drawn = method.n_resamples is not None
        phrases.append(
            f"{method.n_resamples:,} draws, seed {method.seed}"
            if drawn
            else "exact, over all signs"
        )
    about = next(row.about for _, row in comparison.rows())
    phrases.append(
        "each interval from the same test"
        + ("" if about == "mean difference" else f": of the {about}")
    )
    phrases += family_phrases(comparison)
    if method.margin is not None:
        limit = (
            ""
            if method.largest_loss is None
            else f", largest loss of a query {method.largest_loss:g}"
        )
        phrases.append(f"margin {method.margin:g}{limit}")
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
        f"{mark} p at most {1 - method.level:.12g}: {_TESTS[method.test]}, two-sided; "
        f"{'; '.join(family_phrases(comparison, labels))}."
    )


def family_phrases(comparison: Comparison, labels: Mapping[str, str] | None = None) -> list[str]:
    """Describe the families that are corrected together: the first measure, its companions,
    slices.
    """
    method, measure = comparison.method, next(iter(comparison.pairs[0].measures))
    first = (labels or {}).get(measure, measure)
    how = correction_word(method.correction)
    said = {
        "primary measure": lambda n: f"{n:,} tests of {first} corrected together ({how})",
        "companions": lambda n: f"{n:,} tests of the other measures corrected together ({how})",
        "slices": lambda n: f"{n:,} slices of {first} corrected together ({how})",
        "slices of companions": lambda n: (
            f"{n:,} slices of the other measures corrected together ({how})"
        ),
    }
    alone = {
        "primary measure": f"{first} is tested alone",
        "companions": "the other measure is tested alone",
    }
    return [
        said[name](n) if n > 1 else alone[name]
        for name, n in method.families.items()
        if n > 1 or name in alone
    ]


def comparison_parts(
    comparison: Comparison,
    *,
    every_pair: bool = False,
    digits: int | None = None,
    letters: Letters = "better",
    asked: Asked = IN_PYTHON,
) -> list[Part]:
    """The whole report: two to five runs pair by pair, more runs by groups without a significant
    difference.
    """
    pairs = comparison.pairs
    first = comparison.pairs[0]
    many = is_many(comparison)
    shown = Shown.of(comparison, digits)
    several, with_pairs = len(pairs) > 1, every_pair or not many
    above = filled([*warned(comparison.mismatches), *cautioned(comparison.cautions)])
    parts = [above, *opening(comparison, shown, digits, letters)] if many else []
    parts += _of_runs(comparison, shown, asked) if many else _of_pairs(comparison, shown, asked)
    for pair in pairs if with_pairs else ():
        parts += [
            pair_table(
                pair, shown, title=f"{pair.b} against {pair.a}" if several else "", clip=NAME
            )
        ]
        parts += [
            judged_table(pair, shown, clip=NAME),
            _rankings(pair, titled=several),
            _left_out(pair),
        ]
    parts += slice_parts(comparison, shown, with_pairs=with_pairs)
    measures = [row.measure for row in first.measures.values()]
    note = (
        []
        if comparison.mismatches
        else labels_note(comparison.labels, [row.basis for _, row in comparison.rows()], asked)
    )
    method = _method(comparison, letters, with_pairs=with_pairs)
    leading = leading_pairs(comparison)[0]
    primary = next(iter(leading.measures.values()))
    too_few = primary.verdict == "too few judgments"
    command = labels_command(primary, leading.a, leading.b, "compare", asked) if too_few else []
    return [
        *parts,
        command,
        note,
        reach_legend(parts),
        method,
        paragraph(comparison.convention, measures),
    ]


def _of_pairs(comparison: Comparison, shown: Shown, asked: Asked) -> list[Part]:
    """The verdict on two runs; of several, on the leading pair, then a line for each pair."""
    first, several = leading_pairs(comparison)[0], len(comparison.pairs) > 1
    told = verdict_sentences(comparison, first, shown, asked)
    apart = warned(comparison.mismatches)
    if not several:
        return [filled([*told.brief, *apart[-1:]]), MoreLines(filled(told.more))]
    judged = judge_sentences(comparison.rows(), shown)
    besides = [*told.more, *judged, *label_sentences(comparison, asked, but=first)]
    besides = [text for text in dict.fromkeys(besides) if text not in told.brief]
    return [
        filled(apart),
        filled(told.brief),
        MoreLines(filled(besides)),
        _summary(comparison, shown),
    ]


def _of_runs(comparison: Comparison, shown: Shown, asked: Asked) -> list[Part]:
    """Sentences below the tables of many runs: what holds for all pairs."""
    unknown = [comparison.reach_unknown] if comparison.reach_unknown else []
    cautions = [
        *unanswered(comparison.missing),
        *judge_sentences(comparison.rows(), shown),
        *unknown,
    ]
    scales = list(dict.fromkeys(row.margin_scale for _, row in comparison.rows()))
    told = Told.of([*cautions, *label_sentences(comparison, asked)], scales)
    return [filled(told.brief), MoreLines(filled(told.more))]


def _summary(comparison: Comparison, shown: Shown) -> list[str]:
    """One line for each pair: what the first measure says."""
    measure = next(iter(comparison.pairs[0].measures))
    return [
        f"By {measure}, the first measure:",
        *(f"  {line}" for line in pair_lines(comparison, measure, shown)),
    ]


def pair_lines(comparison: Comparison, measure: str, shown: Shown | None = None) -> list[str]:
    """One line for each pair: what a measure says of it."""
    shown, lines = shown or Shown.of(comparison), []
    for pair in comparison.pairs:
        row = pair.measures[measure]
        needed = (
            f"; {said[:1].lower()}{said[1:]}"
            if (said := needed_text(row, comparison.method))
            else ""
        )
        numbers = f": {shown.signed(row.difference)}, p {shown.p(row.p_corrected)}{needed}"
        lines.append(
            verdict_text(pair, row, comparison.method) + ("" if pair.mismatch else numbers)
        )
    return lines


def pair_table(pair: Pair, shown: Shown, *, title: str = "", clip: int | None = None) -> Table:
    """Every measure of one pair, a row each."""
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
    legend = "; ".join([*meanings(["judged"]), BOTH_RUNS])
    tips = any(
        column.title == "tips at"
        for part in parts
        if isinstance(part, Table)
        for column in part.columns
    )
    return MethodLines(filled(legend) if tips else [])


def _rankings(pair: Pair, *, titled: bool) -> MoreLines:
    """Describe the similarity of the rankings; of two runs alone the sentences contain the first
    one.
    """
    return MoreLines(
        line for text in unchanged(pair.rankings)[0 if titled else 1 :] for line in filled([text])
    )


def _left_out(pair: Pair) -> list[str]:
    return [
        f"{row.measure}: {counted(row.excluded_queries, 'query', 'queries')} left out, not "
        f"scored in both runs; {row.n:,} compared"
        for row in pair.measures.values()
        if row.excluded_queries
    ]


def _method(comparison: Comparison, letters: Letters, *, with_pairs: bool) -> MethodLines:
    method = comparison.method
    phrases = [method_text(comparison)]
    brief = [_TESTS[comparison.method.test]]
    if not with_pairs and method.baseline is None:
        phrases.append(letters_note(comparison, letters))
        brief.append(phrases[-1])
        phrases.append("intervals of means: Student's, of each run alone")
    else:
        tables: tuple[Where, Where] = ("pair" if with_pairs else "baseline", "slices")
        phrases += meanings(tables if method.slices is not None else tables[:1], method.power)
    every = [] if with_pairs else ["every pair: --pairs, or --format csv or json"]
    brief += design_phrases(
        weighted=method.weighted, clustered=method.clustered, judgments=method.judgments
    )
    brief += [*slice_phrases(comparison), *every]
    return MethodLines(["method", *wrapped("; ".join([*phrases, *every]))], *brief)


def comparison_json(comparison: Comparison) -> Iterator[str]:
    """JSON text: pairs, method, convention; float64 in the shortest form that reads back, null for
    what is not finite.
    """
    record = comparison.as_dict()
    record["method"]["schema"] = SCHEMA
    yield json.dumps(record, indent=2) + "\n"


def comparison_rows(comparison: Comparison) -> Iterator[Row]:
    """Titles, a pair and measure a row, and below it its slices; empty where a number is not finite
    or was not measured.
    """
    method = comparison.method
    how = {"test": method.test, "seed": method.seed, "convention": str(comparison.convention)}
    yield from record_rows(record | how for record in comparison.records())
