"""The report of `idealrank seeds`: two systems over copies and queries, the sources of variance,
and the benefit of more copies or queries.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from idealrank.analysis.systems import SystemComparison, SystemDifference
from idealrank.data.interchange import finite
from idealrank.reports.table.cells import (
    Cell,
    Column,
    Table,
    counted,
    decimals,
    interval_cell,
    number,
    number_cell,
    p_cell,
    p_text,
)
from idealrank.reports.table.records import Row, method_json, record_rows
from idealrank.reports.table.text import MethodLines, Part, clipped, filled, wrapped
from idealrank.reports.views.comparison.verdicts import decided_tone
from idealrank.reports.views.conventions import JUDGED, cautioned, paragraph, warned

_NAME = 14  # letters of a system's name
# Rows of the table of standard errors: numbers of copies, from the present number.
_MORE: Mapping[str, Callable[[int], int]] = {
    "as many copies": lambda seeds: seeds,
    "1 more of each": lambda seeds: seeds + 1,
    "twice as many": lambda seeds: 2 * seeds,
    "10 times as many": lambda seeds: 10 * seeds,
}
_QUERIES = (1, 2, 10)  # its columns: factors of the number of queries


def systems_parts(comparison: SystemComparison, digits: int | None = None) -> list[Part]:
    """Build the whole report."""
    rows = list(comparison)
    places = system_places(comparison, digits)
    parts: list[Part] = [
        filled(system_sentences(comparison, places)),
        systems_table(comparison, places, clip=_NAME),
        _variances(rows),
    ]
    parts += [_of_copies(comparison, rows[0], places), _more(rows[0])]
    return [
        *parts,
        _method(comparison),
        paragraph(comparison.convention, [row.measure for row in rows]),
    ]


def system_places(comparison: SystemComparison, digits: int | None = None) -> int:
    """Choose the decimals of means and differences, one number for all measures."""
    rows = list(comparison)
    intervals = [(row.found.low, row.found.high) for row in rows]
    apart = [(row.mean_a, row.mean_b) for row in rows if row.verdict in ("better", "worse")]
    for low, high in intervals:
        # An interval that excludes 0 must not seem to contain it.
        if low > 0 or high < 0:
            apart += [(low, 0.0), (high, 0.0)]
    return decimals(intervals, apart=apart, digits=digits)


def system_sentences(comparison: SystemComparison, places: int) -> list[str]:
    """Return the sentences of the first measure, the verdict first."""
    row = next(iter(comparison))
    verdict = {
        "better": f"{comparison.b} is better than {comparison.a}",
        "worse": f"{comparison.b} is worse than {comparison.a}",
        "undecided": f"It is undecided whether {comparison.b} is better than {comparison.a}",
    }[row.verdict]
    difference = row.found
    copies = f"means over {len(row.copies_a)} and {len(row.copies_b)} runs and {row.n:,} queries"
    means = f"{number(row.mean_b, places)} against {number(row.mean_a, places)} ({copies})"
    size, low, high = (
        number(value, places, signed=True)
        for value in (difference.difference, difference.low, difference.high)
    )
    interval = f"{100 * difference.level:g} % interval {low} to {high}"
    p = p_text(row.p_corrected, round(1 - difference.level, 12))
    sentences = [*warned(comparison.mismatches)]
    sentences.append(f"{verdict}: {row.measure} {means}, {size} ({interval}), p {p}.")
    sentences += cautioned(comparison.cautions)
    sentences.append(
        f"Training makes up {100 * row.training_share:.0f} % of the variance of this difference;"
    )
    sentences.append(
        "a test of means over queries alone would report a standard error of "
        f"{difference.query_error:.4f} instead of {difference.standard_error:.4f}."
    )

    if math.isfinite(row.detectable):
        sentences.append(
            f"With these runs and queries, a true difference of {number(row.detectable, places)} "
            "in changes like these would be found 80% of the time; smaller ones may be missed."
        )
    else:
        sentences.append(f"No power is stated, since {row.detectable_reason}.")
    if difference.standard_error:
        worth = row.queries_worth_one_copy()
        run = (
            "copy of each"
            if len(difference.training) > 1 or comparison.pairing == "crossed"
            else "copy"
        )
        queries = "more than any number of further queries"
        if worth is not None:
            queries = f"as much as {counted(worth, 'more query', 'more queries')}"
        sentences.append(f"One more {run} would lower the standard error {queries}.")
    return sentences


def systems_table(comparison: SystemComparison, places: int, *, clip: int | None = None) -> Table:
    """Build the table of all measures; names of systems have at most `clip` letters."""
    first, second = (
        name if clip is None else clipped(name, clip) for name in (comparison.a, comparison.b)
    )
    alpha = round(1 - comparison.level, 12)

    def difference(row: SystemDifference) -> Cell:
        tone = decided_tone(row.verdict)
        return number_cell(row.found.difference, places, signed=True, tone=tone)

    columns: list[Column[SystemDifference]] = [
        _MEASURE,
        Column(
            title=first,
            kind="number",
            cell=lambda row: number_cell(row.mean_a, places, strong=row.verdict == "worse"),
            rank=2,
        ),
        Column(
            title=second,
            kind="number",
            cell=lambda row: number_cell(row.mean_b, places, strong=row.verdict == "better"),
            rank=2,
        ),
        Column(title="difference", kind="number", cell=difference),
        Column(
            title=f"{100 * comparison.level:g} % interval",
            kind="number",
            cell=lambda row: interval_cell((row.found.low, row.found.high), places, signed=True),
        ),
        Column(title="p", kind="number", cell=lambda row: p_cell(row.p_corrected, alpha), rank=1),
        Column(
            title="d.f.",
            kind="number",
            cell=lambda row: Cell(f"{row.found.df:.1f}", row.found.df, tone="quiet"),
            rank=5,
        ),
        Column(
            title="training",
            kind="number",
            cell=lambda row: Cell(f"{100 * row.training_share:.0f} %", row.training_share),
            rank=4,
        ),
        Column(
            title="detectable",
            kind="number",
            cell=lambda row: number_cell(row.detectable, places, tone="quiet"),
            rank=3,
        ),
        Column(title="verdict", cell=lambda row: Cell(row.verdict, tone=decided_tone(row.verdict))),
    ]
    return Table.of(columns, comparison)


_MEASURE: Column[SystemDifference] = Column(title="measure", cell=lambda row: row.measure)


def _variances(rows: list[SystemDifference]) -> Table:
    """Build the table of standard deviations: of queries, of copies, and of the interaction of a
    copy and a query.
    """
    columns = [
        replace(_MEASURE, title="standard deviation"),
        _deviation("queries", lambda row: row.found.queries),
    ]
    for of in rows[0].trained:
        columns += [
            _deviation(f"copies of {of}", partial(_seeds, of=of)),
            _deviation(f"rest of {of}", partial(_residual, of=of)),
        ]
    return Table.of(columns, rows)


def _seeds(row: SystemDifference, of: str) -> float:
    return dict(zip(row.trained, row.found.training, strict=True))[of].seeds


def _residual(row: SystemDifference, of: str) -> float:
    return dict(zip(row.trained, row.found.training, strict=True))[of].residual


def _deviation(
    title: str, variance: Callable[[SystemDifference], float]
) -> Column[SystemDifference]:
    return Column(
        title=title, kind="number", cell=lambda row: number_cell(math.sqrt(variance(row)))
    )


def _of_copies(comparison: SystemComparison, row: SystemDifference, places: int) -> Table:
    runs = [*comparison.runs_a, *comparison.runs_b]
    means = [*row.copies_a, *row.copies_b]
    copies = [_Copy(run, mean) for run, mean in zip(runs, means, strict=True)]
    columns: list[Column[_Copy]] = [
        Column(title="run", cell=lambda copy: clipped(copy.run, 2 * _NAME)),
        Column(title=row.measure, kind="number", cell=lambda copy: number_cell(copy.mean, places)),
    ]
    return Table.of(columns, copies)


class _Copy(NamedTuple):
    run: str
    mean: float


def _more(row: SystemDifference) -> Table:
    columns: list[Column[str]] = [Column(title=f"standard error of {row.measure}", cell=str)]
    columns += [_error(row, row.n * times) for times in _QUERIES]
    return Table.of(columns, _MORE)


def _error(row: SystemDifference, queries: int) -> Column[str]:
    return Column(
        title=f"{queries:,} queries",
        kind="number",
        cell=lambda label: number_cell(row.standard_error(queries, _MORE[label])),
    )


_SINGLE: Mapping[str, str] = {
    "fixed": "a single run is not trained",
    "alike": "a single run's training varies as much as that of the other system",
}


def _method(comparison: SystemComparison) -> MethodLines:
    phrases = [
        "t test of the difference between systems, with models and queries both random",
        "the variances of queries and of training have a quantile of t each",
        "d.f.: degrees of freedom of one t interval of this width",
    ]
    if comparison.pairing == "crossed":
        phrases.append("models of both systems are paired one by one")
    else:
        phrases.append("models of the systems are independent")
    if comparison.single is not None:
        phrases.append(_SINGLE[comparison.single])
    first, *others = comparison.measures
    if len(others) == 1:
        phrases += [f"{first} is tested alone", "the other measure is tested alone"]
    elif others:
        several = f"{len(others)} tests of the other measures corrected together (Bonferroni)"
        phrases += [f"{first} is tested alone", several]
    phrases += JUDGED[comparison.judgments]
    phrases.append("training: share of the variance of the difference")
    phrases.append("rest: interaction of model and query")
    phrases.append(
        "detectable: the smallest true difference, in changes like the ones seen, found 80% of the "
        "time"
    )
    return MethodLines(
        ["method", *wrapped("; ".join(phrases))],
        "t test over models and queries",
        *JUDGED[comparison.judgments],
    )


def systems_json(comparison: SystemComparison) -> Iterator[str]:
    """Yield JSON text; null for numbers that are not finite."""
    yield method_json(comparison.as_dict())


def systems_rows(comparison: SystemComparison) -> Iterator[Row]:
    """Yield the titles, and a row for each measure; the variances of training are empty for a side
    that is not trained.
    """
    yield from record_rows(finite(_record(comparison, row)) for row in comparison)


def _record(comparison: SystemComparison, row: SystemDifference) -> dict[str, object]:
    record = row.as_dict()
    low, high = record.pop("interval")
    variance = record.pop("variance")
    copies_a, copies_b = (len(record.pop(name)) for name in ("copies_a", "copies_b"))
    flat: dict[str, object] = {
        "a": comparison.a,
        "b": comparison.b,
        "measure": row.measure,
        **record,
        "interval_low": low,
        "interval_high": high,
    }
    flat |= {"copies_a": copies_a, "copies_b": copies_b, "variance_queries": variance["queries"]}
    for of in ("a", "b", "difference"):
        part = variance["training"].get(of, {})
        flat |= {f"variance_{what}_{of}": part.get(what) for what in ("seeds", "residual")}
    return flat | {"convention": str(comparison.convention)}
