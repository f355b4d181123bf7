"""Attribution of the difference of two runs as text, JSON and CSV: rank moves, and the worst
queries with their documents.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from idealrank.analysis.attribution import Attribution, DocumentChange, QueryChange
from idealrank.data.interchange import finite
from idealrank.measures.measure_texts import number_text
from idealrank.reports.table.cells import counted, p_text
from idealrank.reports.table.records import Row, add_text, csv_cell, result_json
from idealrank.reports.table.text import (
    beginning_of,
    clipped,
    columns,
    filled,
    line_width,
    parts_text,
)
from idealrank.reports.views.comparison.pair_sentences import verdict_text
from idealrank.reports.views.conventions import warned

_ID = 28  # letters of an id
_LEAST_TEXT = 16  # letters of a text, however narrow the terminal is
_SOME = 5  # queries that a note names
_ROUNDING = 1e-9  # error of a difference in floating point
_CANCEL = (
    "Gains and losses partly cancel: one part is larger than the whole difference, so no "
    "percentages are shown."
)


class ShownIds(NamedTuple):
    """Ids of the queries and documents that a report shows."""

    queries: list[str]
    documents: list[str]


def ids_in_report(attribution: Attribution, *, queries: int, documents: int) -> ShownIds:
    """Return the ids that the text report shows."""
    shown = [query.query for query in _differing(attribution, queries)]
    rows = (_changed(attribution, query) for query in shown)
    return ShownIds(shown, _ids(_extremes(changes, documents) for changes in rows))


def ids_in_record(
    attribution: Attribution, *, queries: int | None, documents: int | None
) -> ShownIds:
    """Return the ids that the JSON record has."""
    shown = [query.query for query in attribution.queries[:queries]]
    return ShownIds(shown, _ids(attribution.documents(query, limit=documents) for query in shown))


def _ids(changes: Iterable[Iterable[DocumentChange]]) -> list[str]:
    every = chain.from_iterable(changes)
    return list(dict.fromkeys(change.document for change in every))


def attribution_report(
    attribution: Attribution,
    *,
    queries: int = 5,
    documents: int = 3,
    query_texts: Mapping[str, str] = MappingProxyType({}),
    document_texts: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Write the whole report, regressions first."""
    parts = [_head(attribution), _moves(attribution)]
    shown = _differing(attribution, queries)
    for query in shown:
        text = query_texts.get(query.query, "")
        parts.append(_query(attribution, query, documents, text, document_texts))
    more = sum(query.difference != 0 for query in attribution.queries) - len(shown)
    if more:
        parts.append([f"{more:,} more {'query differs' if more == 1 else 'queries differ'}"])
    parts.append(_notes(attribution))
    return parts_text(parts)


def _differing(attribution: Attribution, limit: int) -> list[QueryChange]:
    return [query for query in attribution.queries[:limit] if query.difference]


def _changed(attribution: Attribution, query: str) -> list[DocumentChange]:
    return [document for document in attribution.documents(query) if document.difference]


def _head(attribution: Attribution) -> list[str]:
    gains = [
        query.difference * (-1 if attribution.direction < 0 else 1) for query in attribution.queries
    ]
    better = sum(gain > 0 for gain in gains)
    worse = sum(gain < 0 for gain in gains)
    verdict = []
    if attribution.comparison is not None:
        pair, row = next(attribution.comparison.rows())
        named = replace(pair, a=attribution.run_a, b=attribution.run_b)
        words = verdict_text(named, row, attribution.comparison.method)
        verdict = [words if pair.mismatch else f"{words}, p {p_text(row.p_corrected)}"]
    return [
        *warned(attribution.mismatches),
        *verdict,
        f"{attribution.measure}: {attribution.run_a} {attribution.mean_a:.4f}, {attribution.run_b} "
        f"{attribution.mean_b:.4f}, difference {_signed(attribution.difference)} over "
        f"{counted(attribution.n, 'query', 'queries')}",
        f"{better:,} {'query' if better == 1 else 'queries'} better, {worse:,} worse, "
        f"{attribution.n - better - worse:,} equal",
    ]


def _signed(value: float) -> str:
    return f"{value:+.4f}" if value else "0.0000"


def _moves(attribution: Attribution) -> list[str]:
    """Write a row for each kind of move; without shares of the difference if they would mislead."""
    cancel = any(
        abs(move.difference) > abs(attribution.difference) + _ROUNDING for move in attribution.moves
    )
    rows = [["relevant documents that", "number", "queries", "difference", "share"]]
    for move in attribution.moves:
        name = str(move.move)
        number = f"{move.documents:,}"
        if move.move == "no document":
            name, number = "(no document)", ""
        share = "-" if move.share is None else f"{round(100 * move.share)} %"
        rows.append([name, number, f"{move.queries:,}", _signed(move.difference), share])
    if cancel:
        rows = [row[:-1] for row in rows]
    lines = columns(rows) if len(rows) > 1 else []
    return [*lines, "", _CANCEL] if cancel else lines


def _query(
    attribution: Attribution,
    query: QueryChange,
    documents: int,
    text: str,
    document_texts: Mapping[str, str],
) -> list[str]:
    lines = [
        f"query {query.query}: {query.value_a:.4f} -> {query.value_b:.4f} "
        f"({_signed(query.difference)})"
    ]
    if text:
        lines += filled(text, "  ", "  ")
    for name, answered in (
        (attribution.run_a, query.answered_a),
        (attribution.run_b, query.answered_b),
    ):
        if not answered:
            lines.append(f"  {name} returned nothing")
    if query.unjudged_a != query.unjudged_b:
        lines.append(f"  unjudged documents: {query.unjudged_a:,} -> {query.unjudged_b:,}")
    changed = _changed(attribution, query.query)
    if changed:
        lines += _document_lines(_extremes(changed, documents), document_texts)
    if len(changed) > documents:
        lines.append(f"  {len(changed) - documents:,} more changed")
    return lines


def _document_lines(changes: list[DocumentChange], texts: Mapping[str, str]) -> list[str]:
    """Write a row for each document, with its text where there is one."""
    rows = [["document", "grade", "rank", "adds", "difference"], *map(_document, changes)]
    left = [0, 1, 2, 3]
    ranks = [0, 1, 2, 3, 0]
    if any(change.document in texts for change in changes):
        widths = [max(map(len, cells)) + 2 for cells in zip(*rows, strict=True)]
        room = max(line_width() - sum(widths) - 2, _LEAST_TEXT)  # 2 of the indent
        shown = [beginning_of(texts.get(change.document, ""), room) for change in changes]
        rows = [[*row, text] for row, text in zip(rows, ["text", *shown], strict=True)]
        left.append(5)
        ranks.append(0)
    return columns(rows, left=left, ranks=ranks, indent="  ")


def _extremes(changed: list[DocumentChange], limit: int) -> list[DocumentChange]:
    """Return the documents that changed most, in their order."""
    kept = sorted(range(len(changed)), key=lambda place: -abs(changed[place].difference))[:limit]
    return [changed[place] for place in sorted(kept)]


def _document(document: DocumentChange) -> list[str]:
    rank = " -> ".join(
        "none" if place is None else number_text(place)
        for place in (document.rank_a, document.rank_b)
    )
    adds = f"{document.added_a:.4f} -> {document.added_b:.4f}"
    return [
        clipped(document.document, _ID),
        number_text(document.grade),
        rank,
        adds,
        _signed(document.difference),
    ]


def _notes(attribution: Attribution) -> list[str]:
    sentence = f"The split is {attribution.split}."
    notes = filled(sentence, indent="  ")
    excluded = attribution.excluded
    if excluded:
        some = ", ".join(excluded[:_SOME])
        some += ", ..." if len(excluded) > _SOME else ""
        notes.append(
            f"left out of both: {counted(len(excluded), 'query', 'queries')} that the convention "
            f"leaves out of one ({some})"
        )
    return notes


def attribution_json(
    attribution: Attribution,
    *,
    queries: int | None = None,
    documents: int | None = None,
    query_texts: Mapping[str, str] = MappingProxyType({}),
    document_texts: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[str]:
    """Yield JSON text: moves, queries with their documents, convention; float64 in the shortest
    form that reads back.
    """
    record = attribution.as_dict(queries=queries, documents=documents)
    for query in record["queries"]:
        add_text(query, "query", query_texts)
        for document in query["documents"]:
            add_text(document, "document", document_texts)
    yield result_json(record)


def attribution_rows(
    attribution: Attribution,
    *,
    queries: int | None = None,
    query_texts: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Row]:
    """Yield the titles, and a row for each query, the worst change first; texts of queries are in a
    last column.
    """
    names = [field.name for field in fields(QueryChange)]
    yield ["run_a", "run_b", "measure", *names, "convention", *(["text"] if query_texts else [])]
    for query in attribution.queries[:queries]:
        values = [csv_cell(finite(value)) for value in asdict(query).values()]
        text = [query_texts.get(query.query, "")] if query_texts else []
        yield [
            attribution.run_a,
            attribution.run_b,
            attribution.measure,
            *values,
            str(attribution.convention),
            *text,
        ]
