"""The report of `idealrank seeds`: two systems over copies and queries, where the variance comes
from, and what more would buy.
"""

import json
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
from idealrank.reports.table.records import SCHEMA, Row, record_rows
from idealrank.reports.table.text import MethodLines, Part, clipped, filled, wrapped
from idealrank.reports.views.comparison.verdicts import decided_tone
from idealrank.reports.views.conventions import JUDGED, cautioned, paragraph, warned

_NAME = 14
_MORE: Mapping[str, Callable[[int], int]] = {
    "as many copies": lambda seeds: seeds,
    "1 more of each": lambda seeds: seeds + 1,
    "twice as many": lambda seeds: 2 * seeds,
    "10 times as many": lambda seeds: 10 * seeds,
}
_QUERIES = (1, 2, 10)


def systems_parts(found: SystemComparison, digits: int | None = None) -> list[Part]:
    """Words and tables."""
    rows, places = list(found), system_places(found, digits)
    parts: list[Part] = [
        filled(system_sentences(found, places)),
        systems_table(found, places, clip=_NAME),
        _variances(rows),
    ]
    parts += [_of_copies(found, rows[0], places), _more(rows[0])]
    return [*parts, _method(found), paragraph(found.convention, [row.measure for row in rows])]


def system_places(found: SystemComparison, asked: int | None = None) -> int:
    """Decimals of means and differences: one number for all measures, by their intervals."""
    rows = list(found)
    ends = [
        (end, 0.0)
        for row in rows
        for end in (row.found.low, row.found.high)
        if row.found.low > 0 or row.found.high < 0
    ]
    decided = [(row.mean_a, row.mean_b) for row in rows if row.verdict in ("better", "worse")]
    return decimals(
        [(row.found.low, row.found.high) for row in rows], apart=[*ends, *decided], asked=asked
    )


def system_sentences(found: SystemComparison, places: int) -> list[str]:
    """Return the sentences of the first measure, the verdict first."""
    row = next(iter(found))
    said = {
        "better": f"{found.b} is better than {found.a}",
        "worse": f"{found.b} is worse than {found.a}",
        "undecided": f"It is undecided whether {found.b} is better than {found.a}",
    }[row.verdict]
    one = row.found
    copies = f"means over {len(row.copies_a)} and {len(row.copies_b)} runs and {row.n:,} queries"
    sentences = [
        f"{said}: {row.measure} {number(row.mean_b, places)} against "
        f"{number(row.mean_a, places)} ({copies}), "
        f"{number(one.difference, places, signed=True)} ({100 * one.level:g} % interval "
        f"{number(one.low, places, signed=True)} to "
        f"{number(one.high, places, signed=True)}), p "
        f"{p_text(row.p_corrected, round(1 - one.level, 12))}."
    ]
    sentences = [*warned(found.mismatches), *sentences, *cautioned(found.cautions)]
    sentences.append(
        f"Training makes up {100 * row.training_share:.0f} % of the variance of this difference;"
    )
    sentences.append(
        f"a test of means over queries alone would report a standard error of "
        f"{one.query_error:.4f} instead of {one.standard_error:.4f}."
    )
    if math.isfinite(row.detectable):
        sentences.append(
            f"With these runs and queries, a true difference of "
            f"{number(row.detectable, places)} in changes like these would be found "
            "80% of the time; smaller ones may be missed."
        )
    else:
        sentences.append(f"No power is stated, since {row.detectable_reason}.")
    if one.standard_error:
        worth = row.queries_worth_one_copy()
        run = "copy of each" if len(one.training) > 1 or found.pairing == "crossed" else "copy"
        queries = "more than any number of further queries"
        if worth is not None:
            queries = f"as much as {counted(worth, 'more query', 'more queries')}"
        sentences.append(f"One more {run} would lower the standard error {queries}.")
    return sentences


def systems_table(found: SystemComparison, places: int, *, clip: int | None = None) -> Table:
    """A row a measure; names of systems of at most `clip` letters."""
    first, second = (name if clip is None else clipped(name, clip) for name in (found.a, found.b))
    alpha = round(1 - found.level, 12)
    columns: list[Column[SystemDifference]] = [
        _MEASURE,
        Column(
            title=first,
            kind="number",
            cell=lambda row: number_cell(row.mean_a, places, strong=row.verdict == "worse"),
        ),
        Column(
            title=second,
            kind="number",
            cell=lambda row: number_cell(row.mean_b, places, strong=row.verdict == "better"),
        ),
        Column(
            title="difference",
            kind="number",
            cell=lambda row: number_cell(
                row.found.difference, places, signed=True, tone=decided_tone(row.verdict)
            ),
        ),
        Column(
            title=f"{100 * found.level:g} % interval",
            kind="number",
            cell=lambda row: interval_cell((row.found.low, row.found.high), places, signed=True),
        ),
        Column(title="p", kind="number", cell=lambda row: p_cell(row.p_corrected, alpha)),
        Column(
            title="d.f.",
            kind="number",
            cell=lambda row: Cell(f"{row.found.df:.1f}", row.found.df, tone="quiet"),
        ),
        Column(
            title="training",
            kind="number",
            cell=lambda row: Cell(f"{100 * row.training_share:.0f} %", row.training_share),
        ),
        Column(
            title="detectable",
            kind="number",
            cell=lambda row: number_cell(row.detectable, places, tone="quiet"),
        ),
        Column(title="verdict", cell=lambda row: Cell(row.verdict, tone=decided_tone(row.verdict))),
    ]
    return Table.of(columns, found)


_MEASURE: Column[SystemDifference] = Column(title="measure", cell=lambda row: row.measure)


def _variances(rows: list[SystemDifference]) -> Table:
    """Standard deviations: of queries, of copies, of what a copy does to one query."""
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


def _of_copies(found: SystemComparison, row: SystemDifference, places: int) -> Table:
    sides = ((found.runs_a, row.copies_a), (found.runs_b, row.copies_b))
    copies = [
        _Copy(run, mean) for runs, means in sides for run, mean in zip(runs, means, strict=True)
    ]
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


def _method(found: SystemComparison) -> MethodLines:
    phrases = [
        "t test of the difference between systems, with models and queries both random",
        "the variances of queries and of training have a quantile of t each",
        "d.f.: degrees of freedom of one t interval of this width",
    ]
    phrases.append(
        "models of both systems are paired one by one"
        if found.pairing == "crossed"
        else "models of the systems are independent"
    )
    if found.single is not None:
        phrases.append(
            {
                "fixed": "a single run is not trained",
                "alike": "a single run's training varies as much as that of the other system",
            }[found.single]
        )
    if len(found.measures) > 1:
        more = len(found.measures) - 1
        several = f"{more} tests of the other measures corrected together (Bonferroni)"
        phrases += [
            f"{next(iter(found.measures))} is tested alone",
            several if more > 1 else "the other measure is tested alone",
        ]
    phrases += JUDGED[found.judgments]
    phrases.append("training: share of the variance of the difference")
    phrases.append("rest: interaction of model and query")
    phrases.append(
        "detectable: the smallest true difference, in changes like the ones seen, found 80% "
        "of the time"
    )
    return MethodLines(
        ["method", *wrapped("; ".join(phrases))],
        "t test over models and queries",
        *JUDGED[found.judgments],
    )


def systems_json(found: SystemComparison) -> Iterator[str]:
    """JSON text: systems, measures, method, convention; null for what is not finite."""
    record = found.as_dict()
    record["method"]["schema"] = SCHEMA
    yield json.dumps(finite(record), indent=2) + "\n"


def systems_rows(found: SystemComparison) -> Iterator[Row]:
    """Titles, and a measure a row; variances of training as columns, empty where a side is not
    trained.
    """
    yield from record_rows(finite(_record(found, row)) for row in found)


def _record(found: SystemComparison, row: SystemDifference) -> dict[str, object]:
    record = row.as_dict()
    low, high = record.pop("interval")
    variance = record.pop("variance")
    copies_a, copies_b = (len(record.pop(name)) for name in ("copies_a", "copies_b"))
    flat: dict[str, object] = {
        "a": found.a,
        "b": found.b,
        "measure": row.measure,
        **record,
        "interval_low": low,
        "interval_high": high,
    }
    flat |= {"copies_a": copies_a, "copies_b": copies_b, "variance_queries": variance["queries"]}
    for of in ("a", "b", "difference"):
        part = variance["training"].get(of, {})
        flat |= {f"variance_{what}_{of}": part.get(what) for what in ("seeds", "residual")}
    return flat | {"convention": str(found.convention)}
