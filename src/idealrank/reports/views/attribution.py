"""Why two runs differ, as text, JSON and CSV: rank moves, the worst queries with their
documents.
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, fields, replace

from idealrank.analysis.attribution import Attribution, DocumentChange, QueryChange
from idealrank.data.interchange import finite
from idealrank.measures.measure_texts import number_text
from idealrank.reports.table.cells import counted, p_text
from idealrank.reports.table.records import SCHEMA, Row, csv_cell
from idealrank.reports.table.text import clipped, columns, parts_text, wrapped
from idealrank.reports.views.comparison.pair_sentences import verdict_text
from idealrank.reports.views.conventions import warned
from idealrank.version import __version__

_ID = 28  # characters of an id
_SOME = 5
_ROUNDING = 1e-9  # of a difference
_CANCEL = (
    "Gains and losses partly cancel: one part is larger than the whole difference, so no "
    "percentages are shown."
)


def attribution_report(found: Attribution, *, queries: int = 5, documents: int = 3) -> str:
    """The whole report, regressions first."""
    parts = [_head(found), _moves(found)]
    shown = [query for query in found.queries[:queries] if query.difference]
    parts += [_query(found, query, documents) for query in shown]
    more = sum(query.difference != 0 for query in found.queries) - len(shown)
    if more:
        parts.append([f"{more:,} more {'query differs' if more == 1 else 'queries differ'}"])
    parts.append(_notes(found))
    return parts_text(parts)


def _head(found: Attribution) -> list[str]:
    gains = [query.difference * (-1 if found.direction < 0 else 1) for query in found.queries]
    better, worse = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    verdict = []
    if found.comparison is not None:
        pair, row = next(found.comparison.rows())
        said = verdict_text(
            replace(pair, a=found.run_a, b=found.run_b), row, found.comparison.method
        )
        verdict = [said if pair.mismatch else f"{said}, p {p_text(row.p_corrected)}"]
    return [
        *warned(found.mismatches),
        *verdict,
        f"{found.measure}: {found.run_a} {found.mean_a:.4f}, {found.run_b} "
        f"{found.mean_b:.4f}, difference {_signed(found.difference)} "
        f"over {counted(found.n, 'query', 'queries')}",
        f"{better:,} {'query' if better == 1 else 'queries'} better, {worse:,} worse, "
        f"{found.n - better - worse:,} equal",
    ]


def _signed(value: float) -> str:
    return f"{value:+.4f}" if value else "0.0000"


def _moves(found: Attribution) -> list[str]:
    """A row a kind of move; counts and differences alone where shares of the difference would
    mislead.
    """
    cancel = any(abs(move.difference) > abs(found.difference) + _ROUNDING for move in found.moves)
    rows = [
        [
            "relevant documents that",
            "number",
            "queries",
            "difference",
            *([] if cancel else ["share"]),
        ]
    ]
    for move in found.moves:
        name, number = (
            ("(no document)", "")
            if move.move == "no document"
            else (move.move, f"{move.documents:,}")
        )
        share = "-" if move.share is None else f"{round(100 * move.share)} %"
        rows.append(
            [
                name,
                number,
                f"{move.queries:,}",
                _signed(move.difference),
                *([] if cancel else [share]),
            ]
        )
    return [*(columns(rows) if len(rows) > 1 else []), *(["", _CANCEL] if cancel else [])]


def _query(found: Attribution, query: QueryChange, documents: int) -> list[str]:
    lines = [
        f"query {query.query}: {query.value_a:.4f} -> {query.value_b:.4f} "
        f"({_signed(query.difference)})"
    ]
    for name, answered in ((found.run_a, query.answered_a), (found.run_b, query.answered_b)):
        if not answered:
            lines.append(f"  {name} returned nothing")
    if query.unjudged_a != query.unjudged_b:
        lines.append(f"  unjudged documents: {query.unjudged_a:,} -> {query.unjudged_b:,}")
    changed = [document for document in found.documents(query.query) if document.difference]
    if changed:
        rows = [
            ["document", "grade", "rank", "adds", "difference"],
            *(_document(one) for one in _extremes(changed, documents)),
        ]
        lines += [f"  {line}" for line in columns(rows, left=(0, 1, 2, 3))]
    if len(changed) > documents:
        lines.append(f"  {len(changed) - documents:,} more changed")
    return lines


def _extremes(changed: list[DocumentChange], limit: int) -> list[DocumentChange]:
    """Those that changed most, in the order in which they came."""
    kept = sorted(range(len(changed)), key=lambda place: -abs(changed[place].difference))[:limit]
    return [changed[place] for place in sorted(kept)]


def _document(one: DocumentChange) -> list[str]:
    rank = " -> ".join(
        "none" if place is None else number_text(place) for place in (one.rank_a, one.rank_b)
    )
    adds = f"{one.added_a:.4f} -> {one.added_b:.4f}"
    return [clipped(one.document, _ID), number_text(one.grade), rank, adds, _signed(one.difference)]


def _notes(found: Attribution) -> list[str]:
    said = f"The split is {found.split}."
    notes = wrapped(said, indent="") if len(said) < 96 else _folded(said)
    if found.excluded:
        some = ", ".join(found.excluded[:_SOME]) + (", ..." if len(found.excluded) > _SOME else "")
        notes.append(
            f"left out of both: {counted(len(found.excluded), 'query', 'queries')} that the "
            f"convention leaves out of one ({some})"
        )
    return notes


def _folded(text: str, width: int = 98) -> list[str]:
    """Words filled into lines, those after the first indented."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > width:
            lines.append(" ")
        lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines


def attribution_json(
    found: Attribution, *, queries: int | None = None, documents: int | None = None
) -> Iterator[str]:
    """JSON text: moves, queries with their documents, convention; float64 in the shortest form that
    reads back.
    """
    record = found.as_dict(queries=queries, documents=documents)
    yield json.dumps(finite({"version": __version__, "schema": SCHEMA, **record}), indent=2) + "\n"


def attribution_rows(found: Attribution, *, queries: int | None = None) -> Iterator[Row]:
    """Titles, and a query a row, the worst change first."""
    names = [field.name for field in fields(QueryChange)]
    yield ["run_a", "run_b", "measure", *names, "convention"]
    for query in found.queries[:queries]:
        values = [csv_cell(finite(value)) for value in asdict(query).values()]
        yield [found.run_a, found.run_b, found.measure, *values, str(found.convention)]
