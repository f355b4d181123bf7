"""Queries: all of an evaluation, sorted; and one with its rankings side by side and the account of
its value.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from idealrank.data.types import FloatArray
from idealrank.errors import IdealrankError, OptionError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.inputs.explanation import explain
from idealrank.measures.measure import Measure
from idealrank.measures.parse import parse_measure
from idealrank.pages.report.query_lists import depth_of, lists_of_hits
from idealrank.reports.subject import Listing
from idealrank.reports.table.cells import Cell, Column, Table, number, number_cell
from idealrank.reports.views.explanation import (
    documents_shown,
    explanation_head,
    improvements,
    ranking_table,
    text_columns,
)
from idealrank.store import Entry, Store, Stored
from idealrank.store.web.site import Site, entry_of

_PAGE = 50  # queries on a page
_BELOW = 5  # relevant documents further down, by name
_SORTS = {
    "loss": "largest loss first",
    "gain": "largest gain first",
    "worst": "worst value first",
    "best": "best value first",
    "id": "by id",
}


@dataclass(frozen=True)
class QuerySide:
    """An evaluation on a page of queries."""

    entry: Entry
    stored: Stored
    evaluation: Evaluation

    def value(self, measure: str, place: int | None) -> float:
        """Value of the query at a place; NaN if it does not count or is not there."""
        texts = self.measures
        if place is None or measure not in texts:
            return math.nan
        column = texts.index(measure)
        if not self.evaluation.scored[place, column]:
            return math.nan
        return float(self.evaluation.values[place, column])

    @property
    def measures(self) -> list[str]:
        """Texts of the measures."""
        return list(map(str, self.evaluation.measures))

    def place(self, query: str) -> int | None:
        """Place of a query; None if it is not evaluated."""
        queries = self.evaluation.queries
        return queries.index(query) if query in queries else None


def sides_of(site: Site, store: Store, ids: Sequence[str]) -> list[QuerySide]:
    """Evaluations of a page, read once."""
    sides = []
    for beginning in ids:
        entry = entry_of(store, beginning, "evaluation")
        stored = store.evaluation(entry.id)
        key = ("evaluation", entry.id)
        evaluation = site.results.get(key, lambda stored=stored: stored.evaluation)  # type: ignore[misc]
        sides.append(QuerySide(entry, stored, evaluation))
    return sides


def asked_sides(site: Site, store: Store, request: Request) -> list[QuerySide]:
    """The run of the address, after the run that it is compared with, if any."""
    parameters = request.query_params
    run = parameters.get("run", "").strip()
    against = parameters.get("against", "").strip()
    if not run:
        raise HTTPException(400, "found no run, expected ?run=ID with the id of an evaluation")
    return sides_of(site, store, [against, run] if against else [run])


def measure_of(sides: Sequence[QuerySide], text: str) -> Measure:
    """The measure of this text, or the first one that all evaluations have."""
    common = [
        measure
        for measure in sides[-1].evaluation.measures
        if all(measure in side.evaluation.measures for side in sides)
    ]
    name = str(parse_measure(text)) if text else ""
    for measure in common:
        if not name or str(measure) == name:
            return measure
    raise OptionError(
        f"measure {text or 'in common'}: found no values of it, expected one of "
        f"{', '.join(map(str, common)) or 'none at all'}"
    )


def queries_page(request: Request) -> Response:
    """Answer ``/queries``: every query with its values."""
    site = Site.of(request)
    parameters = request.query_params
    with site.folder.required() as store:
        sides = asked_sides(site, store, request)
        is_pair = len(sides) > 1
        measure = measure_of(sides, parameters.get("measure", "").strip())
        sort = parameters.get("sort", "loss" if is_pair else "worst")
        words = parameters.get("find", "").strip()
        queries, values = _values(sides, measure)
        texts = site.texts.of_queries(queries)
        if words:
            matching = [
                place
                for place, query in enumerate(queries)
                if words.lower() in f"{query}\n{texts.get(query, '')}".lower()
            ]
            queries = [queries[place] for place in matching]
            values = values[matching]
        order = _order(queries, values, sort, measure.direction or 1)
        n_pages = max(1, math.ceil(len(order) / _PAGE))
        page = min(_page_number(parameters.get("page", "1")), n_pages)
        rows = [
            {
                "query": queries[place],
                "text": texts.get(queries[place], ""),
                "values": list(map(number, values[place].tolist())),
                "difference": _difference(values[place]),
            }
            for place in order[(page - 1) * _PAGE : page * _PAGE]
        ]

        ids = _ids(sides)
        options = {**ids, "measure": str(measure), "sort": sort, "find": words}
        sorts = {
            name: text for name, text in _SORTS.items() if is_pair or name not in ("loss", "gain")
        }
        return site.page(
            "queries.html",
            {
                "title": f"Queries of {sides[-1].entry.name}",
                "sides": sides,
                "measure": str(measure),
                "rows": rows,
                "sort": sort,
                "sorts": sorts,
                "find": words,
                "has_texts": bool(texts),
                "page": page,
                "n_pages": n_pages,
                "n_queries": len(order),
                "ids": ids,
                "direction": measure.direction or 1,
                "measures": sides[-1].measures,
                "address": f"/query?{urlencode(ids)}&query=",
                "more": f"/queries?{urlencode(options)}&page=",
            },
        )


def _ids(sides: Sequence[QuerySide]) -> dict[str, str]:
    ids = {"run": sides[-1].entry.id}
    if len(sides) > 1:
        ids["against"] = sides[0].entry.id
    return ids


def _page_number(text: str) -> int:
    return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < 9 else 1


def _values(sides: Sequence[QuerySide], measure: Measure) -> tuple[list[str], FloatArray]:
    """Queries of the newer run, then the other queries of the older one; and their values, one
    column per side, NaN where a query does not count.
    """
    queries = list(dict.fromkeys([*sides[-1].evaluation.queries, *sides[0].evaluation.queries]))
    places = {query: place for place, query in enumerate(queries)}
    values = np.full((len(queries), len(sides)), math.nan)
    for column, side in enumerate(sides):
        measure_column = side.measures.index(str(measure))
        rows = [places[query] for query in side.evaluation.queries]
        counts = side.evaluation.scored[:, measure_column]
        side_values = side.evaluation.values[:, measure_column]
        values[rows, column] = np.where(counts, side_values, math.nan)
    return queries, values


def _order(queries: Sequence[str], values: FloatArray, sort: str, direction: int) -> list[int]:
    """Places in the order of a key of `_SORTS`; queries without a value come last."""
    if sort == "id" or sort not in _SORTS:
        return sorted(range(len(queries)), key=queries.__getitem__)
    worth = values[:, -1] * direction
    if values.shape[1] > 1 and sort in ("loss", "gain"):
        worth = (values[:, 1] - values[:, 0]) * direction
    if sort in ("gain", "best"):
        worth = -worth
    order: list[int] = np.argsort(worth, kind="stable").tolist()
    return order


def _difference(values: FloatArray) -> float | None:
    if values.size < 2 or not math.isfinite(values[1] - values[0]):
        return None
    return float(values[1] - values[0])


def query_page(request: Request) -> Response:
    """Answer ``/query``: one query, its rankings side by side, and how its value comes about."""
    site = Site.of(request)
    parameters = request.query_params
    query = parameters.get("query", "")
    with site.folder.required() as store:
        sides = asked_sides(site, store, request)
        places = [side.place(query) for side in sides]
        if all(place is None for place in places):
            raise HTTPException(404, f"query {query!r}: found in none of these evaluations")
        measure = measure_of(sides, parameters.get("measure", "").strip())
        ids = _ids(sides)
        return site.page(
            "query.html",
            {
                "title": site.texts.of_queries([query]).get(query, query),
                "query": query,
                "text": site.texts.of_queries([query]).get(query, ""),
                "sides": sides,
                "measure": str(measure),
                "values": _value_table(sides, places),
                "rankings": _rankings(site, sides, query, measure),
                "ids": ids,
                "folders": site.originals.folders,
                "measures": sides[-1].measures,
                "every": f"/queries?{urlencode(ids)}",
            }
            | _neighbours(sides, measure, query, ids),
        )


def _neighbours(
    sides: Sequence[QuerySide], measure: Measure, query: str, ids: dict[str, str]
) -> dict[str, Any]:
    """The queries before and after it, the largest loss or the worst value first."""
    queries, values = _values(sides, measure)
    order = _order(queries, values, "loss" if len(sides) > 1 else "worst", measure.direction or 1)
    rank = order.index(queries.index(query))
    around = {
        "before": order[rank - 1] if rank else None,
        "after": order[rank + 1] if rank + 1 < len(order) else None,
    }
    links: dict[str, str | None] = {}
    for name, place in around.items():
        links[name] = None
        if place is not None:
            options = {**ids, "measure": str(measure), "query": queries[place]}
            links[name] = f"/query?{urlencode(options, errors='replace')}"
    return {**links, "position": rank + 1, "n_queries": len(order)}


def _value_table(sides: Sequence[QuerySide], places: Sequence[int | None]) -> Table:
    columns: list[Column[str]] = [Column(title="measure", cell=str)]
    for side, place in zip(sides, places, strict=True):
        columns.append(_value_column(side, place))
    if len(sides) > 1:
        columns.append(
            Column(
                title="difference",
                kind="number",
                cell=lambda text: _change_cell(sides, places, text),
            )
        )
    return Table.of(columns, sides[-1].measures, title="Values of this query")


def _value_column(side: QuerySide, place: int | None) -> Column[str]:
    return Column(
        title=side.entry.name,
        kind="number",
        cell=lambda text: number_cell(side.value(text, place)),
    )


def _change_cell(sides: Sequence[QuerySide], places: Sequence[int | None], text: str) -> Cell:
    a, b = (side.value(text, place) for side, place in zip(sides, places, strict=True))
    gain = (b - a) * parse_measure(text).direction
    cell = number_cell(b - a, signed=True)
    if gain > 0:
        return cell._replace(tone="better")
    return cell._replace(tone="worse") if gain < 0 else cell


def _rankings(
    site: Site, sides: Sequence[QuerySide], query: str, measure: Measure
) -> list[dict[str, Any]]:
    return [
        {
            "name": side.entry.name,
            "id": side.entry.id,
            **(_explained(site, side, query, measure) or _listed(site, side, query, measure)),
        }
        for side in sides
    ]


def _explained(site: Site, side: QuerySide, query: str, measure: Measure) -> dict[str, Any] | None:
    """The whole ranking and account, from the files themselves; None without them."""
    original = site.originals.of(side.stored)
    if original is None:
        return None
    try:
        explanation = explain(
            original.qrels, original.run, query, measure, side.evaluation.convention
        )
    except IdealrankError:
        return None
    texts = site.texts.of_documents(documents_shown(explanation))
    table = ranking_table(explanation, f"Ranking of {side.entry.name}", texts)
    columns: list[Column[Any]] = [
        Column(title="rank", kind="number", cell=lambda row: Cell(str(row.rank), row.rank)),
        Column(title="document", cell=lambda row: row.document),
        Column(title="grade", kind="number", cell=lambda row: Cell(f"{row.grade:g}", row.grade)),
        Column(title="adds", kind="number", cell=lambda row: number_cell(row.contribution)),
    ]
    rows = explanation.ideal[: depth_of([measure])]
    columns += text_columns(rows, texts)
    ideal = Table.of(columns, rows, title=f"Ideal ranking beside {side.entry.name}")
    return {
        "table": table,
        "head": explanation_head(explanation)[1:],
        "better": _paragraphs(improvements(explanation)),
        "ideal": ideal,
    }


def _paragraphs(lines: Sequence[str]) -> list[str]:
    """Lines of a terminal as sentences; an indented line continues the one before."""
    sentences: list[str] = []
    for line in lines:
        if line.startswith(" ") and sentences:
            sentences[-1] += f": {line.strip()}"
        else:
            sentences.append(line)
    return [f"{line[:1].upper()}{line[1:]}." for line in sentences]


def _listed(site: Site, side: QuerySide, query: str, measure: Measure) -> dict[str, Any]:
    """The ranking as far as judged documents were kept."""
    depth = depth_of([measure])
    listing = lists_of_hits([side.stored.hits], [query], depth)[query].runs[0]
    if side.stored.hits is None:
        return {"table": None, "lacking": "The store has no documents of this evaluation."}
    if listing is None:
        return {"table": None, "lacking": "The run does not answer this query."}
    below = ""
    if listing.below:
        documents = [f"{name} at rank {rank}" for name, rank, *_ in listing.below[:_BELOW]]
        below = f"{len(listing.below)} relevant further down: {', '.join(documents)}"
    return {
        "table": _listing_table(site, side.entry.name, listing),
        "lacking": "",
        "below": below,
        "length": listing.length,
    }


class _Rank(NamedTuple):
    """A rank of a listing; an unjudged document has no name and grade."""

    rank: int
    document: str | None
    grade: float | None
    is_tied: bool


def _listing_table(site: Site, name: str, listing: Listing) -> Table:
    ranks = range(1, len(listing.documents) + 1)
    columns_of_listing = (ranks, listing.documents, listing.grades, listing.tied)
    rows = [_Rank(*row) for row in zip(*columns_of_listing, strict=True)]
    columns: list[Column[_Rank]] = [
        Column(title="rank", kind="number", cell=lambda row: Cell(str(row.rank), row.rank)),
        Column(title="document", cell=_document_cell),
        Column(title="grade", kind="number", cell=_grade_cell),
    ]
    if any(listing.tied):
        columns.append(Column(title="tied", cell=lambda row: "tied" if row.is_tied else ""))
    columns += text_columns(rows, site.texts.of_documents(filter(None, listing.documents)))
    return Table.of(columns, rows, title=f"Ranking of {name}")


def _document_cell(row: _Rank) -> Cell | str:
    return Cell("unjudged", tone="quiet") if row.document is None else row.document


def _grade_cell(row: _Rank) -> Cell:
    return Cell("-") if row.grade is None else Cell(f"{row.grade:g}", row.grade)
