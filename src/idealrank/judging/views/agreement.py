"""Agreement of raters, as tables, Markdown, JSON and CSV."""

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
from idealrank.reports.table.records import Row, result_json
from idealrank.reports.table.text import Part, wrapped

_PLACES = 3
_SPLIT = 10  # queries listed


def agreement_parts(report: AgreementReport, *, per_query: bool = False) -> list[Part]:
    """Return the report as sentences and tables."""
    return [
        [
            f"{len(report.raters)} raters, {report.n_pairs:,} pairs of query and document, "
            f"{report.n_shared:,} of them graded by two or more"
        ],
        outside_lines(report.outside),
        coefficients_table(report.coefficients),
        _by_grade(report.grades),
        _by_rater(report.by_rater),
        _by_query(report.by_query, per_query=per_query),
        _notes(report),
    ]


def outside_lines(outside: "dict[str, int]") -> list[str]:
    """State how many grades were outside the scale."""
    if not outside:
        return []
    counts = ", ".join(f"{n:,} of {rater}" for rater, n in outside.items())
    return [f"outside the scale, and clipped or dropped as asked: {counts}"]


def coefficients_table(coefficients: "dict[str, Agreement]") -> Table:
    """Return a table with a row for each coefficient and its interval."""
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
    return Table.of(columns, coefficients, kept=3)


def _by_grade(grades: Sequence[GradeAgreement]) -> Table:
    columns: list[Column[GradeAgreement]] = [
        Column(title="grade", cell=lambda row: f"{row.grade:g}"),
        Column(title="ratings", kind="number", cell=lambda row: count_cell(row.n_ratings)),
        Column(
            title="another rater agrees",
            kind="number",
            cell=lambda row: number_cell(row.agreement, _PLACES),
        ),
        Column(
            title="by chance", kind="number", cell=lambda row: number_cell(row.by_chance, _PLACES)
        ),
    ]
    return Table.of(columns, grades, kept=3)


def _by_rater(raters: Sequence[RaterAgreement]) -> Table:
    columns: list[Column[RaterAgreement]] = [
        Column(title="rater", cell=lambda row: row.rater),
        Column(title="pairs", kind="number", cell=lambda row: count_cell(row.n_units)),
        Column(
            title="kappa with others",
            kind="number",
            cell=lambda row: number_cell(row.value, _PLACES),
        ),
        Column(
            title="bias",
            kind="number",
            cell=lambda row: number_cell(row.bias, _PLACES, signed=True),
        ),
        Column(
            title="mean grade", kind="number", cell=lambda row: number_cell(row.mean_grade, _PLACES)
        ),
    ]
    return Table.of(columns, raters, kept=3)


def _by_query(queries: Sequence[ClusterAgreement], *, per_query: bool) -> Table:
    judged = [row for row in queries if row.n_units]
    rows = judged
    title = ""
    if not per_query:
        rows = sorted(judged, key=lambda row: row.value)[:_SPLIT]
        title = "Queries with the least agreement:" if len(judged) > _SPLIT else ""
    columns: list[Column[ClusterAgreement]] = [
        Column(title="query", cell=lambda row: row.cluster),
        Column(title="pairs", kind="number", cell=lambda row: count_cell(row.n_units)),
        Column(title="percent", kind="number", cell=lambda row: number_cell(row.value, _PLACES)),
    ]
    return Table.of(columns, rows, title=title)


def _notes(report: AgreementReport) -> list[str]:
    coefficient = next(iter(report.coefficients.values()))
    units = "queries, or clusters of them" if report.clustered else "pairs"
    phrases = [
        f"intervals by leaving out one of {number(coefficient.n_clusters, 0)} {units} at a time, "
        f"with t on {coefficient.n_clusters - 1} degrees",
        "bias: mean of the rater's grade less the mean grade of the others",
        "a dash: undefined, as where a rater always gives one grade",
    ]
    return ["method", *wrapped("; ".join(phrases))]


def agreement_record(coefficient: Agreement) -> dict[str, object]:
    """Return a coefficient for JSON; null where there is no number."""
    return {
        "value": coefficient.value,
        "interval": list(coefficient.interval),
        "standard_error": coefficient.standard_error,
        "pairs": coefficient.n_units,
        "clusters": coefficient.n_clusters,
    }


def agreement_json(report: AgreementReport) -> str:
    """Return JSON text with every query."""
    record = {
        "pairs": report.n_pairs,
        "shared_pairs": report.n_shared,
        "clustered": report.clustered,
        "outside_scale": report.outside,
        "agreement": {
            name: agreement_record(coefficient) for name, coefficient in report.coefficients.items()
        },
        "grades": [
            {
                "grade": row.grade,
                "ratings": row.n_ratings,
                "agreement": row.agreement,
                "by_chance": row.by_chance,
            }
            for row in report.grades
        ],
        "raters": [
            {
                "rater": row.rater,
                "pairs": row.n_units,
                "cohen_kappa": row.value,
                "bias": row.bias,
                "mean_grade": row.mean_grade,
            }
            for row in report.by_rater
        ],
        "queries": [
            {"query": row.cluster, "pairs": row.n_units, "percent": row.value}
            for row in report.by_query
        ],
    }
    return result_json(record)


def agreement_rows(report: AgreementReport, *, per_query: bool = False) -> Iterator[Row]:
    """Yield titles and rows: a row for each coefficient, or with `per_query` for each query."""
    if per_query:
        yield ["query", "pairs", "percent"]
        for row in report.by_query:
            yield [row.cluster, str(row.n_units), number_text(row.value)]
        return
    yield ["agreement", "value", "low", "high", "standard_error", "pairs", "clusters"]
    for name, coefficient in report.coefficients.items():
        numbers = (coefficient.value, *coefficient.interval, coefficient.standard_error)
        counts = (str(coefficient.n_units), str(coefficient.n_clusters))
        yield [name, *map(number_text, numbers), *counts]


def number_text(value: float | None) -> str:
    """Write a number for CSV with every digit; empty where there is none."""
    return "" if value is None or finite(value) is None else repr(float(value))
