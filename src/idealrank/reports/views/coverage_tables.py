"""Tables of coverage: queries that count, unjudged documents, and what a reader should doubt."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from idealrank.data.label_kinds import LabelKind
from idealrank.evaluation.coverage import MANY_UNJUDGED, Coverage, MeasureCoverage
from idealrank.evaluation.evaluate import Evaluation
from idealrank.reports.table.cells import Cell, Column, Table, count_cell
from idealrank.reports.views.chance_levels import candidate_notes

_UNLABELLED: dict[LabelKind, str] = {
    "complete": "documents without a label are not relevant",
    "pooled": "documents without a label may be relevant",
    "positive-only": "documents without a label count as not relevant",
}
_MOST_NAMED = 5  # unanswered queries that a note names
_SEPARATE_CAUTIONS = 2  # runs with many unjudged documents; more of them share one caution
_ALWAYS = ("scored", "in qrels", "missing", "no relevant", "unjudged")  # counts, even if 0
_KEPT = ("scored", "missing", "unjudged")  # of these, a narrow terminal leaves out none


def queries_in_words(evaluation: Evaluation) -> str:
    """Return the word for queries: users where the judgments have a column of users."""
    return "users" if evaluation.provenance.query_word == "user" else "queries"


def coverage_table(evaluations: Sequence[Evaluation]) -> Table:
    """Build the coverage table: fixed counts, and others only if they are not 0."""
    covers = [(evaluation.name, evaluation.coverage) for evaluation in evaluations]
    table = coverage_of(covers, queries=queries_in_words(evaluations[0]))
    notes = [note for evaluation in evaluations for note in _missing(evaluation)]
    notes += candidate_notes(evaluations)
    notes += [*_unjudged(evaluations), *_labels(evaluations), *_unstable_ties(evaluations)]
    return replace(table, notes=notes)


def _unstable_ties(evaluations: Sequence[Evaluation]) -> list[str]:
    """Say that the tool of a convention may give another value, if an unstable sort orders tied
    documents.
    """
    length = evaluations[0].convention.unstable_from
    tied = [
        f"{evaluation.name} {evaluation.coverage.tied_documents:,}"
        for evaluation in evaluations
        if evaluation.coverage.tied_documents
    ]
    if not length or not tied:
        return []
    return [
        f"tied docs: {', '.join(tied)}; in lists of {length} or more documents the tool puts them "
        "in an order of its own, by an unstable sort, so that its value may differ: `idealrank "
        "reconcile --value` prints the range"
    ]


def _labels(evaluations: Sequence[Evaluation]) -> list[str]:
    """Describe the kinds of labels behind the runs that return a document without one."""
    notes = []
    for evaluation in evaluations:
        labels = evaluation.provenance.labels
        if labels is not None and evaluation.coverage.unjudged:
            source = " found" if labels.found else ""
            notes.append(f"labels: {labels.kind}{source}; {_UNLABELLED[labels.kind]}")
    return list(dict.fromkeys(notes))


def coverage_of(covers: Sequence[tuple[str, Coverage]], *, queries: str = "queries") -> Table:
    """Build the table of the counts of some coverages with their names."""
    rows = [_CoverageRow(name, _counts(cover)) for name, cover in covers]
    shown = [
        name for name in rows[0].counts if name in _ALWAYS or any(row.counts[name] for row in rows)
    ]
    _, first_coverage = covers[0]
    depth = first_coverage.unjudged_cutoff

    def column(name: str) -> Column[_CoverageRow]:
        title = f"unjudged@{depth}" if name == "unjudged" and depth else name
        title = f"tied {queries}" if name == "tied queries" else title
        return Column(
            title=title,
            kind="number",
            cell=lambda row: _count_cell(name, row.counts[name]),
            rank=0 if name in _KEPT else 1 + shown.index(name),
        )

    return Table.of(
        [Column(title="coverage", cell=lambda row: row.name), *map(column, shown)], rows
    )


class _MeasureRow(NamedTuple):
    measure: str
    run: str
    counts: MeasureCoverage


def measure_coverage_table(evaluations: Sequence[Evaluation]) -> Table:
    """Build the table of the measures whose counts differ from the coverage of the run; it may have
    no row.
    """
    columns: list[Column[_MeasureRow]] = [
        Column(title="coverage by measure", cell=lambda row: row.measure),
        Column(title="scored", kind="number", cell=lambda row: count_cell(row.counts.scored)),
        Column(
            title="no relevant", kind="number", cell=lambda row: count_cell(row.counts.no_relevant)
        ),
    ]
    if len(evaluations) > 1:
        columns.insert(1, Column(title="run", cell=lambda row: row.run))
    rows: list[_MeasureRow] = []
    for measure in map(str, evaluations[0].measures):
        rows += _rows_of_measure(measure, evaluations)
    return Table.of(columns, rows)


def _rows_of_measure(measure: str, evaluations: Sequence[Evaluation]) -> list[_MeasureRow]:
    """Make a row for each run whose counts differ from its coverage, or one for all of them."""
    rows = []
    for evaluation in evaluations:
        cover = evaluation.coverage
        counts = cover.by_measure.get(measure)
        plain = MeasureCoverage(scored=cover.scored, no_relevant=cover.no_relevant)
        if counts is not None and counts != plain:
            rows.append(_MeasureRow(measure, evaluation.name, counts))
    if len(rows) == len(evaluations) and len({row.counts for row in rows}) == 1:
        return [_MeasureRow(measure, "every run", rows[0].counts)]
    return rows


class _CoverageRow(NamedTuple):
    name: str
    counts: dict[str, float]


def _count_cell(name: str, value: float) -> Cell:
    return Cell(f"{value:.1%}" if name == "unjudged" else f"{value:,.0f}", value)


def _counts(cover: Coverage) -> dict[str, float]:
    return {
        "scored": cover.scored,
        "in qrels": cover.queries_in_qrels,
        "missing": cover.missing,
        "not judged": cover.without_judgments,
        "no relevant": cover.no_relevant,
        "unjudged": float(cover.unjudged_share),
        "tied queries": cover.tied_queries,
        "tied docs": cover.tied_documents,
        "duplicates": cover.duplicates,
        "cut grades": cover.truncated_grades,
        "excluded": cover.excluded,
        "breaches": cover.breaches,
        "out of range": cover.out_of_range,
    }


def _unjudged(evaluations: Sequence[Evaluation]) -> list[str]:
    """Caution that values may depend more on the judgments than on a run, since many documents are
    unjudged; three or more such runs have one line.
    """
    doubtful = [evaluation for evaluation in evaluations if _is_doubtful(evaluation)]
    if len(doubtful) > _SEPARATE_CAUTIONS:
        least_unjudged, *_, most_unjudged = sorted(
            doubtful, key=lambda each: each.coverage.unjudged_share
        )
        shares = dict.fromkeys([_unjudged_share(least_unjudged), _unjudged_share(most_unjudged)])
        return [_unjudged_words(f"{len(doubtful)} runs", " to ".join(shares), least_unjudged)]
    return [
        _unjudged_words(evaluation.name, _unjudged_share(evaluation), evaluation)
        for evaluation in doubtful
    ]


def _is_doubtful(evaluation: Evaluation) -> bool:
    labels = evaluation.provenance.labels
    if labels is not None and labels.kind == "complete":
        return False  # then unjudged documents are not relevant
    cover = evaluation.coverage
    return (
        cover.unjudged_share >= MANY_UNJUDGED
        and not cover.mismatch
        and evaluation.convention.alignment.unjudged != "skipped"
    )


def _unjudged_share(evaluation: Evaluation) -> str:
    percent = 100 * evaluation.coverage.unjudged_share
    # Above 99 %, one decimal, cut off: a share below 1 never reads as 100%.
    return f"{min(percent, 99.9):.1f}%" if 99 < percent < 100 else f"{percent:.0f}%"


def _unjudged_words(runs: str, share: str, evaluation: Evaluation) -> str:
    cutoff = evaluation.coverage.unjudged_cutoff
    within = f" within rank {cutoff}" if cutoff else ""
    return (
        f"{runs}: {share} of the documents{within} are unjudged; values are too low if some are "
        "relevant"
    )


def _missing(evaluation: Evaluation) -> list[str]:
    missing = evaluation.coverage.missing_queries
    if not len(missing):
        return []
    some = ", ".join(list(missing)[:_MOST_NAMED])
    some += ", ..." if len(missing) > _MOST_NAMED else ""
    fates = {"zero": "each counted 0", "left-out": "left out"}
    fate = fates.get(evaluation.convention.alignment.missing, "")
    return [
        f"{evaluation.name} misses {len(missing):,} of {evaluation.coverage.queries_in_qrels:,} "
        f"judged {queries_in_words(evaluation)}, {fate}: {some}"
    ]
