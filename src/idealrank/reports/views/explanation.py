"""An explanation as text: the list next to the ideal list, and the changes that would raise the
value most.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from idealrank.analysis.explanation import Explanation, IdealDocument, RankedDocument
from idealrank.measures.measure_texts import number_text
from idealrank.reports.table.cells import Cell, Column, Kind, Table
from idealrank.reports.table.records import add_text, result_json
from idealrank.reports.table.text import (
    Part,
    beginning_of,
    clipped,
    columns,
    exceeds_terminal,
    filled,
    left_out,
    line_width,
)
from idealrank.reports.views.conventions import paragraph

# Ranks shown of a list without a cutoff, unless all are asked for.
SHOWN = 20
_ID = 28  # letters of an id beside a text
_LEAST_TEXT = 16  # letters of a text, however narrow the terminal is


def shown_rows(explanation: Explanation, *, everything: bool) -> tuple[RankedDocument, ...]:
    """Return the rows down to the cutoff, with the whole tie group across it if ties are averaged;
    or all rows.
    """
    if everything or explanation.cutoff is None:
        return explanation.rows
    is_averaged = explanation.convention.alignment.ties == "expected"

    def first_rank(row: RankedDocument) -> float:
        if row.tie is None or not is_averaged:
            return row.rank
        first, _ = row.tie
        return first

    return tuple(row for row in explanation.rows if first_rank(row) <= explanation.cutoff)


def documents_shown(explanation: Explanation, *, everything: bool = False) -> list[str]:
    """Return the ids of the documents that a report shows."""
    rows = shown_rows(explanation, everything=everything)
    if not everything and explanation.cutoff is None:
        rows = rows[:SHOWN]
    ideal = _ideal_shown(explanation, rows, everything=everything)
    returned = [row.document for row in rows]
    return list(dict.fromkeys([*returned, *(row.document for row in ideal)]))


def explanation_parts(
    explanation: Explanation,
    *,
    everything: bool = False,
    query_text: str = "",
    document_texts: Mapping[str, str] = MappingProxyType({}),
) -> list[Part]:
    """Build the whole report; with texts of documents, the ideal list is below the list."""
    rows = shown_rows(explanation, everything=everything)
    if not everything and explanation.cutoff is None:
        rows = rows[:SHOWN]
    head, *more = explanation_head(explanation)
    lists: list[Part] = [_list(explanation, rows, everything=everything)]
    if document_texts:
        ideal = _ideal_shown(explanation, rows, everything=everything)
        lists = list(_with_texts(explanation, rows, ideal, document_texts))
    return [
        [head, *(filled(query_text, "  ", "  ") if query_text else []), *more],
        *lists,
        improvements(explanation),
        paragraph(explanation.convention, [explanation.measure], with_tool=True),
    ]


def explanation_head(explanation: Explanation) -> list[str]:
    """Return the head of an explanation: a line for the value, and a line for the list."""
    note = f" ({explanation.note})" if explanation.note else ""
    value = "has no value" if explanation.value is None else f"= {explanation.value:.4f}"
    lines = [
        f"run {explanation.run}, query {explanation.query}: {explanation.measure} {value}{note}"
    ]
    if explanation.resolved != explanation.measure:
        lines.append(f"in full {explanation.resolved}")
    if explanation.ideal_dcg is not None and explanation.value is not None:
        lines.append(f"DCG {explanation.dcg:.4f} / ideal DCG {explanation.ideal_dcg:.4f}")
    lines.append(
        f"{len(explanation.rows):,} returned, {explanation.n_judged:,} judged, "
        f"{explanation.n_relevant:,} of them relevant"
    )
    return lines


def _grade(grade: float | None) -> str:
    return "unjudged" if grade is None else number_text(grade)


def _tie(row: RankedDocument) -> str:
    if row.tie is None:
        return ""
    first, last = row.tie
    return f"{first}-{last}"


def _gain(gain: float) -> str:
    return number_text(gain) if float(gain).is_integer() else f"{gain:.4f}"


# Columns of the list, by title.
_LIST: dict[str, Callable[[RankedDocument], str]] = {
    "document": lambda row: row.document,
    "grade": lambda row: _grade(row.grade),
    "tied": _tie,
    "gain": lambda row: _gain(row.gain),
    "discount": lambda row: "" if row.discount is None else f"{row.discount:.4f}",
    "adds": lambda row: f"{row.contribution:.4f}",
}
# Columns of the ideal list; its discount is the discount of the rank at the left, and if ties are
# averaged, only JSON has it.
_IDEAL: dict[str, Callable[[IdealDocument], str]] = {
    "ideal document": lambda row: row.document,
    "grade": lambda row: _grade(row.grade),
    "gain": lambda row: _gain(row.gain),
    "adds": lambda row: f"{row.contribution:.4f}",
}


def _list(
    explanation: Explanation, rows: Sequence[RankedDocument], *, everything: bool
) -> list[str]:
    """Write the list, for NDCG next to the ideal list, rank by rank; then the contribution of the
    ranks that are not shown.
    """
    ideal = _ideal_shown(explanation, rows, everything=everything)
    last = max([*(row.rank for row in rows), *(row.rank for row in ideal)], default=0)
    if not last:
        return ["the run returned no document for this query"]
    left = {name: cell for name, cell in _LIST.items() if _is_shown(name, rows)}
    right = dict(_IDEAL) if ideal else {}
    # A gain that is the grade need not be repeated; the ids need the room.
    if all(row.gain == row.grade for row in ideal):
        right.pop("gain", None)

    returned = {row.rank: row for row in rows}
    best = {row.rank: row for row in ideal}

    def listing() -> list[list[str]]:
        listed = [["rank", *left, *(["|", *right] if right else [])]]
        for rank in range(1, last + 1):
            cells = [str(rank), *_cells(returned.get(rank), left)]
            listed.append([*cells, "|", *_cells(best.get(rank), right)] if right else cells)
        return _fitted(listed)

    hidden = []
    for name in ("gain", "discount", "ideal document"):
        shown_width = sum(max(map(len, cells)) + 2 for cells in zip(*listing(), strict=True)) - 2
        if not exceeds_terminal(shown_width):
            break
        hidden += [name] if name in left | right else []
        left.pop(name, None)
        right.pop(name, None)
        if name == "ideal document":
            right.clear()
    listed = listing()
    return [
        *columns(listed, left=_id_columns(listed[0])),
        *(filled(left_out(hidden)) if hidden else []),
        *_rest("returned", explanation.rows[len(rows) :]),
        *_rest("in the ideal", explanation.ideal[len(ideal) :]),
    ]


def _ideal_shown(
    explanation: Explanation, rows: Sequence[RankedDocument], *, everything: bool
) -> list[IdealDocument]:
    reach = max(len(rows), explanation.cutoff or SHOWN)
    return [row for row in explanation.ideal if everything or row.rank <= reach]


def _with_texts(
    explanation: Explanation,
    rows: Sequence[RankedDocument],
    ideal: Sequence[IdealDocument],
    texts: Mapping[str, str],
) -> Iterator[Part]:
    """Yield the list with the text of each document, and the ideal list below it: two lists with
    texts do not fit into one line.
    """
    cells = {name: cell for name, cell in _LIST.items() if _is_shown(name, rows)}
    rest = _rest("returned", explanation.rows[len(rows) :])
    if not rows:
        yield ["the run returned no document for this query"]
    else:
        yield [*_texts_beside(rows, cells, texts), *rest]
    if ideal:
        rest = _rest("in the ideal", explanation.ideal[len(ideal) :])
        yield [*_texts_beside(ideal, _IDEAL, texts), *rest]


def _texts_beside(
    rows: Sequence[Any], cells: Mapping[str, Callable[[Any], str]], texts: Mapping[str, str]
) -> list[str]:
    listed = [["rank", *cells], *([str(row.rank), *_cells(row, cells)] for row in rows)]
    for line in listed:
        line[1] = clipped(line[1], _ID)
    widths = [max(map(len, column)) + 2 for column in zip(*listed, strict=True)]
    room = max(line_width() - sum(widths), _LEAST_TEXT)
    shown = [beginning_of(texts.get(row.document, ""), room) for row in rows]
    listed = [[*line, text] for line, text in zip(listed, ["text", *shown], strict=True)]
    # The text stays on a narrow terminal, which leaves out how the value comes about.
    ranks = [0, 0, *(2 if name in ("gain", "discount") else 1 for name in [*cells][1:]), 0]
    return columns(listed, left=(1, len(listed[0]) - 1), ranks=ranks)


def ranking_table(
    explanation: Explanation,
    caption: str = "",
    texts: Mapping[str, str] = MappingProxyType({}),
) -> Table:
    """Build the table of the list down to the cutoff, with a row for each document."""
    rows = shown_rows(explanation, everything=False)
    rows = rows if explanation.cutoff is not None else rows[:SHOWN]
    columns: list[Column[RankedDocument]] = [
        Column(title="rank", kind="number", cell=lambda row: Cell(str(row.rank), row.rank))
    ]
    for name, cell in _LIST.items():
        if _is_shown(name, rows):
            kind: Kind = "text" if name in ("document", "tied") else "number"
            columns.append(Column(title=name, kind=kind, cell=cell))
    columns += text_columns(rows, texts)
    return Table.of(columns, rows, title=caption)


def text_columns(rows: Sequence[Any], texts: Mapping[str, str]) -> list[Column[Any]]:
    """Return the column of document texts; none if no row has a text."""
    if not any(row.document in texts for row in rows):
        return []
    return [Column(title="text", cell=lambda row: texts.get(row.document, ""))]


def _rest(where: str, rows: Sequence[RankedDocument | IdealDocument]) -> list[str]:
    """Describe the contribution of the documents below the shown ones."""
    if not rows:
        return []
    judged = sum(row.grade is not None for row in rows)
    return [
        f"{len(rows):,} more {where} ({judged:,} judged) add "
        f"{sum(row.contribution for row in rows):.4f}; --all shows them"
    ]


def _is_shown(name: str, rows: Sequence[RankedDocument]) -> bool:
    if name == "tied":
        return any(row.tie for row in rows)
    return name != "discount" or any(row.discount is not None for row in rows)


def _cells(row: Any, cells: Mapping[str, Callable[[Any], str]]) -> list[str]:
    return [cell(row) for cell in cells.values()] if row is not None else [""] * len(cells)


def _id_columns(head: Sequence[str]) -> tuple[int, ...]:
    return tuple(column for column, name in enumerate(head) if "document" in name)


def _fitted(table: list[list[str]]) -> list[list[str]]:
    """Clip long document ids in the middle, so that a line fits the width."""
    head = table[0]
    id_columns = _id_columns(head)
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    others = sum(width + 2 for column, width in enumerate(widths) if column not in id_columns)
    room = line_width() - others + 2  # no gap follows the last column
    needed = {column: widths[column] + 2 for column in id_columns}
    # The narrowest column first: the room that it does not need is shared by the others.
    for done, column in enumerate(sorted(id_columns, key=needed.__getitem__)):
        share = max(room // (len(id_columns) - done), 16)
        needed[column] = min(needed[column], share)
        room -= needed[column]
    fitted = [list(row) for row in table]
    for row in fitted:
        for column in id_columns:
            row[column] = clipped(row[column], needed[column] - 2)
    return fitted


def improvements(explanation: Explanation) -> list[str]:
    """Describe the two best changes in words; nothing for a query that does not count."""
    if explanation.value is None or (explanation.note and explanation.n_relevant == 0):
        return []
    swap = explanation.best_swap
    missing = explanation.best_missing
    rows = explanation.rows

    def placed(document: str, rank: int) -> str:
        return f"{document} (rank {rank}, {_graded(rows[rank - 1].grade)})"

    lines = ["best swap of two returned documents: none would raise the value"]
    if swap is not None:
        upper = placed(swap.upper, swap.upper_rank)
        lower = placed(swap.lower, swap.lower_rank)
        lines = [
            f"best swap of two returned documents: {_change(explanation.value, swap.value)}",
            f"  {lower} with {upper}",
        ]
    if missing is None:
        return [
            *lines,
            "best judged document that was not returned: none would raise the value at the cutoff",
        ]
    place = f"instead of {missing.instead_of}" if missing.instead_of else "below the list"
    return [
        *lines,
        f"best judged document that was not returned: {_change(explanation.value, missing.value)}",
        f"  {missing.document} ({_graded(missing.grade)}) at rank {missing.rank}, {place}",
    ]


def _graded(grade: float | None) -> str:
    return "unjudged" if grade is None else f"grade {number_text(grade)}"


def _change(before: float, after: float) -> str:
    return f"{before:.4f} -> {after:.4f} (+{after - before:.4f})"


def explanation_record(
    explanation: Explanation,
    *,
    everything: bool = False,
    query_text: str = "",
    document_texts: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Write an explanation as JSON, with its rows down to the cutoff, or all of them."""
    record = explanation.as_dict()
    record["rows"] = record["rows"][: len(shown_rows(explanation, everything=everything))]
    if query_text:
        record["text"] = query_text
    for row in (*record["rows"], *record["ideal"]):
        add_text(row, "document", document_texts)
    return result_json(record)
