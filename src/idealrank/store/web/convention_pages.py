"""One run under other conventions: what another tool would report for the same ranking.

The judgments and the run are evaluated anew where they are found. Otherwise the ranking is rebuilt
from the judged documents that the store keeps, and a measure is shown only if the rebuilt ranking
gives each stored value again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from idealrank.conventions import PRESETS, Convention
from idealrank.data.qrels import Qrels
from idealrank.data.run import Run
from idealrank.errors import IdealrankError
from idealrank.evaluation.evaluate import Evaluation
from idealrank.evaluation.judged_hits import JudgedHits
from idealrank.inputs.evaluation import evaluate_read
from idealrank.measures.measure import Measure
from idealrank.reports.table.cells import Cell, Column, Table, number, number_cell
from idealrank.reports.views.conventions import in_words, title
from idealrank.store.web.query_pages import QuerySide, sides_of
from idealrank.store.web.site import Site

_MOST_QUERIES = 2000  # up to which all conventions are computed at once
_SAME = 1e-9  # two values that differ by rounding alone
_CHANGED = 8  # queries in the table of changes
_CHOICES = 200  # runs to choose from


@dataclass(frozen=True, kw_only=True)
class KnownRanking:
    """Judgments and a run that can be evaluated under any convention, and the measures for which
    they can.
    """

    # qrels, run: The originals, or what is rebuilt of them
    qrels: Qrels
    run: Run
    measures: tuple[Measure, ...]  # Measures whose stored values they give again
    lacking: str = ""  # Why other measures, or all, cannot be computed; empty with the originals


def rebuilt(evaluation: Evaluation, hits: JudgedHits | None) -> "KnownRanking | str":
    """Rebuild a ranking from its judged documents; a sentence says why it is impossible."""
    cover = evaluation.coverage
    if hits is None:
        return "The store has no documents of this evaluation."
    if cover.tied_queries or cover.duplicates:
        return (
            "Documents of this run have equal scores or are listed twice, and the store does not "
            "keep their order in the file."
        )
    with_relevant = np.zeros(len(hits.queries), np.bool_)
    with_relevant[hits.query[hits.grade > 0]] = True
    unseen = int(np.count_nonzero(~with_relevant))
    if cover.no_relevant not in (0, unseen):
        return "Some queries have no relevant document, and the store does not keep which."

    # A query that got no relevant document has one that the run missed, or none at all.
    missed = 1.0 if cover.no_relevant == 0 else 0.0
    qrels: dict[str, dict[str, float]] = {}
    for place, query in enumerate(hits.queries):
        qrels[query] = {} if with_relevant[place] else {"missed": missed}

    # All ranks have unjudged documents first; then judged documents take their places.
    lists: dict[str, dict[str, float]] = {}
    for query, length in zip(hits.queries, hits.lengths, strict=True):
        if length:
            ranks = range(1, min(int(length), hits.depth) + 1)
            lists[query] = {f"unjudged {rank}": -float(rank) for rank in ranks}
    for place, rank, document, grade in zip(
        hits.query.tolist(), hits.rank.tolist(), hits.documents, hits.grade.tolist(), strict=True
    ):
        query = hits.queries[int(place)]
        qrels[query][document] = grade
        lists[query].pop(f"unjudged {rank}", None)
        lists[query][document] = -float(rank)

    judged = Qrels(qrels)
    ranking = Run(lists, name=evaluation.name)
    again = evaluate_read(judged, ranking, evaluation.measures, evaluation.convention)
    kept = tuple(measure for measure in evaluation.measures if _is_same(evaluation, again, measure))
    lacking = ""
    if len(kept) < len(evaluation.measures):
        lacking = (
            "The store keeps judged documents that the run returned, and these measures also need "
            "those that it missed."
        )
    return KnownRanking(qrels=judged, run=ranking, measures=kept, lacking=lacking)


def _is_same(stored: Evaluation, other: Evaluation, measure: Measure) -> bool:
    a, b = (evaluation.select([measure]) for evaluation in (stored, other))
    places = {query: place for place, query in enumerate(b.queries)}
    if set(places) != set(a.queries):
        return False
    order = [places[query] for query in a.queries]
    return bool(
        np.allclose(a.values, b.values[order], rtol=0, atol=_SAME, equal_nan=True)
        and (a.scored == b.scored[order]).all()
    )


def ranking_of(site: Site, side: QuerySide) -> "KnownRanking | str":
    """The ranking of an evaluation, from the originals or from what the store keeps."""
    original = site.originals.of(side.stored)
    if original is not None:
        return KnownRanking(
            qrels=original.qrels, run=original.run, measures=side.evaluation.measures
        )
    return site.results.get(
        ("rebuilt", side.entry.id), lambda: rebuilt(side.evaluation, side.stored.hits)
    )


def conventions_page(request: Request) -> Response:
    """Answer ``/conventions``."""
    site = Site.of(request)
    parameters = request.query_params
    with site.folder.opened() as store:
        entries = [] if store is None else store.entries(kind="evaluation", limit=_CHOICES)
        run = parameters.get("run", "").strip()
        context: dict[str, Any] = {
            "title": "Conventions",
            "choices": entries,
            "run": run,
            "presets": list(PRESETS),
            "chosen": "",
        }
        if store is None or not run:
            return site.page("conventions.html", context)

        (side,) = sides_of(site, store, [run])
        chosen = parameters.get("convention", "").strip()
        convention = Convention.of(chosen) if chosen else None
        ranking = ranking_of(site, side)
        context |= {
            "side": side,
            "chosen": chosen,
            "run": side.entry.id,
            "stored": title(side.evaluation.convention),
        }
        if isinstance(ranking, str):
            return site.page("conventions.html", context | {"lacking": ranking})
        if not ranking.measures:
            return site.page("conventions.html", context | {"lacking": ranking.lacking})
        context |= {"note": ranking.lacking, "is_rebuilt": site.originals.of(side.stored) is None}
        if convention is not None:
            context |= _chosen_convention(site, side, ranking, convention)
        if side.evaluation.values.shape[0] <= _MOST_QUERIES:
            context |= {"every": _table(site, side, ranking, chosen)}
        return site.page("conventions.html", context)


def _under(
    site: Site, side: QuerySide, ranking: KnownRanking, convention: Convention
) -> "Evaluation | str":
    """The evaluation under another convention, computed once; a sentence if the convention refuses
    the data.
    """

    def made() -> "Evaluation | str":
        try:
            return evaluate_read(ranking.qrels, ranking.run, ranking.measures, convention)
        except IdealrankError as error:
            return str(error)

    key = ("under", side.entry.id, convention.fingerprint, ranking.lacking)
    return site.results.get(key, made)


def _chosen_convention(
    site: Site, side: QuerySide, ranking: KnownRanking, convention: Convention
) -> dict[str, Any]:
    recomputed = _under(site, side, ranking, convention)
    if isinstance(recomputed, str):
        return {"lacking": recomputed}
    measure = ranking.measures[0]
    before = side.evaluation.mean()[str(measure)]
    after = recomputed.mean()[str(measure)]
    contrast = f"not {number(before)}" if abs(after - before) > _SAME else "too"
    return {
        "headline": f"{convention.name} says {measure} {number(after)}, {contrast}",
        "words": in_words(convention).split("; "),
        "convention_title": title(convention),
        "queries": _changed(side, recomputed, measure),
    }


class _Change(NamedTuple):
    """A query whose value differs under another convention."""

    query: str
    was: float
    now: float

    @property
    def difference(self) -> float:
        return self.now - self.was


def _changed(side: QuerySide, recomputed: Evaluation, measure: Measure) -> Table | None:
    """Queries whose value changes most."""
    before = side.evaluation.select([measure]).per_query()
    after = recomputed.select([measure]).per_query()
    text = str(measure)
    changes: list[_Change] = []
    for query, values in after.items():
        was = before.get(query, {}).get(text)
        now = values[text]
        if was is not None and now is not None and abs(now - was) > _SAME:
            changes.append(_Change(query, was, now))
    largest = sorted(changes, key=lambda change: -abs(change.difference))[:_CHANGED]
    if not largest:
        return None
    columns: list[Column[_Change]] = [
        Column(title="query", cell=lambda change: change.query),
        Column(title="stored", kind="number", cell=lambda change: number_cell(change.was)),
        Column(title="now", kind="number", cell=lambda change: number_cell(change.now)),
        Column(
            title="difference",
            kind="number",
            cell=lambda change: number_cell(change.difference, signed=True),
        ),
    ]
    return Table.of(columns, largest, title=f"Queries whose {text} changes most")


def _table(site: Site, side: QuerySide, ranking: KnownRanking, chosen: str) -> Table:
    """Every preset, one row each."""
    by_preset = {name: _under(site, side, ranking, preset) for name, preset in PRESETS.items()}
    stored = side.evaluation.mean()
    columns: list[Column[str]] = [
        Column(title="convention", cell=lambda name: Cell(name, strong=name == chosen))
    ]
    columns += [
        Column(
            title=str(measure),
            kind="number",
            cell=_mean_cell(by_preset, measure, stored[str(measure)]),
        )
        for measure in ranking.measures
    ]
    columns.append(Column(title="tool", cell=lambda name: Cell(PRESETS[name].tool, tone="quiet")))
    return Table.of(columns, list(PRESETS), title="Means under every convention")


def _mean_cell(by_preset: "Mapping[str, Evaluation | str]", measure: Measure, stored: float) -> Any:
    def cell(name: str) -> Cell:
        evaluation = by_preset[name]
        if isinstance(evaluation, str):
            return Cell("refused", tone="quiet")
        value = evaluation.mean()[str(measure)]
        shown = number_cell(value)
        return shown if abs(value - stored) > _SAME else Cell(shown.text, shown.value, tone="quiet")

    return cell
