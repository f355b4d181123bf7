"""Agreement of raters, as tables, Markdown, JSON and CSV."""

import json
from collections.abc import Iterator, Sequence

from idealrank.data.interchange import finite
from idealrank.judging import (
    Agreement,
    AgreementReport,
    ClusterAgreement,
    GradeAgreement,
    RaterAgreement,
)
from idealrank.reports.table.cells import (
    Column,
    Table,
    count_cell,
    interval_cell,
    number,
    number_cell,
)
from idealrank.reports.table.forms import parts_markdown
from idealrank.reports.table.records import SCHEMA, Row
from idealrank.reports.table.text import Part, wrapped
from idealrank.version import __version__

_PLACES = 3
_SPLIT = 10  # queries listed


def agreement_parts(found: AgreementReport, *, per_query: bool = False) -> list[Part]:
    """Sentences and tables."""
    parts: list[Part] = [
        [
            f"{len(found.raters)} raters, {found.n_pairs:,} pairs of query and document, "
            f"{found.n_shared:,} of them graded by two or more"
        ],
        outside_lines(found.outside),
        coefficients_table(found.coefficients),
        _by_grade(found.grades),
        _by_rater(found.by_rater),
        _by_query(found.by_query, per_query=per_query),
    ]
    return [*parts, _notes(found)]


def outside_lines(outside: "dict[str, int]") -> list[str]:
    """State how many grades were outside the scale."""
    if not outside:
        return []
    return [
        f"outside the scale, and clipped or dropped as asked: "
        f"{', '.join(f'{n:,} of {rater}' for rater, n in outside.items())}"
    ]


def coefficients_table(coefficients: "dict[str, Agreement]") -> Table:
    """A row a coefficient, with its interval."""
    confidence = next(iter(coefficients.values())).confidence
    columns: list[Column[str]] = [
        Column(title="agreement", cell=str),
        Column(
            title="value",
            kind="number",
            cell=lambda name: number_cell(coefficients[name].value, _PLACES),
        ),
        Column(
            title=f"{100 * confidence:g} % interval",
            kind="number",
            cell=lambda name: interval_cell(coefficients[name].interval, _PLACES),
        ),
        Column(
            title="standard error",
            kind="number",
            cell=lambda name: number_cell(coefficients[name].standard_error, _PLACES),
        ),
    ]
    return Table.of(columns, coefficients)


def _by_grade(grades: Sequence[GradeAgreement]) -> Table:
    columns: list[Column[GradeAgreement]] = [
        Column(title="grade", cell=lambda one: f"{one.grade:g}"),
        Column(title="ratings", kind="number", cell=lambda one: count_cell(one.n_ratings)),
        Column(
            title="another rater agrees",
            kind="number",
            cell=lambda one: number_cell(one.agreement, _PLACES),
        ),
        Column(
            title="by chance", kind="number", cell=lambda one: number_cell(one.by_chance, _PLACES)
        ),
    ]
    return Table.of(columns, grades)


def _by_rater(raters: Sequence[RaterAgreement]) -> Table:
    columns: list[Column[RaterAgreement]] = [
        Column(title="rater", cell=lambda one: one.rater),
        Column(title="pairs", kind="number", cell=lambda one: count_cell(one.n_units)),
        Column(
            title="kappa with others",
            kind="number",
            cell=lambda one: number_cell(one.value, _PLACES),
        ),
        Column(
            title="bias",
            kind="number",
            cell=lambda one: number_cell(one.bias, _PLACES, signed=True),
        ),
        Column(
            title="mean grade", kind="number", cell=lambda one: number_cell(one.mean_grade, _PLACES)
        ),
    ]
    return Table.of(columns, raters)


def _by_query(queries: Sequence[ClusterAgreement], *, per_query: bool) -> Table:
    judged = [one for one in queries if one.n_units]
    rows = judged if per_query else sorted(judged, key=lambda one: one.value)[:_SPLIT]
    columns: list[Column[ClusterAgreement]] = [
        Column(title="query", cell=lambda one: one.cluster),
        Column(title="pairs", kind="number", cell=lambda one: count_cell(one.n_units)),
        Column(title="percent", kind="number", cell=lambda one: number_cell(one.value, _PLACES)),
    ]
    return Table.of(
        columns,
        rows,
        title="" if per_query or len(rows) == len(judged) else "Queries with the least agreement:",
    )


def _notes(found: AgreementReport) -> list[str]:
    one = next(iter(found.coefficients.values()))
    of = "queries, or clusters of them" if found.clustered else "pairs"
    phrases = [
        f"intervals by leaving out one of {number(one.n_clusters, 0)} {of} at a time, with t "
        f"on {one.n_clusters - 1} degrees",
        "bias: mean of the rater's grade less the mean grade of the others",
        "a dash: undefined, as where a rater always gives one grade",
    ]
    return ["method", *wrapped("; ".join(phrases))]


def agreement_markdown(found: AgreementReport, *, per_query: bool = False) -> str:
    """The report as Markdown."""
    return parts_markdown(agreement_parts(found, per_query=per_query))


def agreement_record(one: Agreement) -> dict[str, object]:
    """A coefficient for JSON; null where there is no number."""
    return {
        "value": one.value,
        "interval": list(one.interval),
        "standard_error": one.standard_error,
        "pairs": one.n_units,
        "clusters": one.n_clusters,
    }


def agreement_json(found: AgreementReport, *, per_query: bool = True) -> str:  # noqa: ARG001  (JSON always has every query)
    """JSON text with every query."""
    record = {
        "version": __version__,
        "schema": SCHEMA,
        "pairs": found.n_pairs,
        "shared_pairs": found.n_shared,
        "clustered": found.clustered,
        "outside_scale": found.outside,
        "agreement": {name: agreement_record(one) for name, one in found.coefficients.items()},
        "grades": [
            {
                "grade": one.grade,
                "ratings": one.n_ratings,
                "agreement": one.agreement,
                "by_chance": one.by_chance,
            }
            for one in found.grades
        ],
        "raters": [
            {
                "rater": one.rater,
                "pairs": one.n_units,
                "cohen_kappa": one.value,
                "bias": one.bias,
                "mean_grade": one.mean_grade,
            }
            for one in found.by_rater
        ],
        "queries": [
            {"query": one.cluster, "pairs": one.n_units, "percent": one.value}
            for one in found.by_query
        ],
    }
    return json.dumps(finite(record), indent=2) + "\n"


def agreement_rows(found: AgreementReport, *, per_query: bool = False) -> Iterator[Row]:
    """Titles and rows: a row a coefficient, or with `per_query` a row a query."""
    if per_query:
        yield ["query", "pairs", "percent"]
        yield from (
            [one.cluster, str(one.n_units), number_text(one.value)] for one in found.by_query
        )
        return
    yield ["agreement", "value", "low", "high", "standard_error", "pairs", "clusters"]
    for name, one in found.coefficients.items():
        numbers = (one.value, *one.interval, one.standard_error)
        yield [name, *map(number_text, numbers), str(one.n_units), str(one.n_clusters)]


def number_text(value: float | None) -> str:
    """A number for CSV with every digit; empty where there is none."""
    return "" if value is None or finite(value) is None else repr(float(value))
