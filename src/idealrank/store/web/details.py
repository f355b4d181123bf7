"""One stored result: an evaluation with its coverage, origin and slices, a comparison, or a gate;
and any two evaluations against each other.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from idealrank.analysis.comparison.requirements import JudgmentsOption
from idealrank.errors import IncompatibleError, InputError, OptionError
from idealrank.inputs.comparison import compare
from idealrank.measures.parse import parse_measures
from idealrank.pages.page.html import page_context
from idealrank.pages.page.tables import slices_grid
from idealrank.pages.report.gather import gather
from idealrank.reports.subject import Subject
from idealrank.reports.views.coverage_tables import coverage_table
from idealrank.reports.views.evaluation import slice_tables
from idealrank.store import Entry, Store
from idealrank.store.stored_report import found_in
from idealrank.store.timeline import Timeline
from idealrank.store.views.history import minute
from idealrank.store.views.tables import inputs_table, means_table, verdict_table
from idealrank.store.web.overview import intervals_of
from idealrank.store.web.query_pages import QuerySide, asked_sides, measure_of
from idealrank.store.web.site import Site, entry_of
from idealrank.store.web.timelines import Drawing

_OLDER = 50  # earlier evaluations in the drawing of one run; half as many later ones
_CHOICES = 200  # evaluations to choose from
_MOST_USES = 20  # comparisons and gates of an evaluation


def evaluation_page(request: Request) -> Response:
    """Answer ``/runs/ID``."""
    site = Site.of(request)
    with site.folder.required() as store:
        entry = entry_of(store, request.path_params["id"], "evaluation")
        context = _about(store, entry) | _over_time(site, store, entry)
        try:
            subject = subject_of(site, store, [entry.id])
        except OptionError as error:  # a measure of a user's own class
            only_means = {
                "title": entry.name,
                "lacking": str(error),
                "means": means_table(entry.means or {}),
            }
            return site.page("evaluation_means.html", context | only_means)
        evaluation = subject.evaluations[0]
        inputs = inputs_table(evaluation.provenance.inputs)
        return site.page(
            "evaluation.html",
            page_context(subject)
            | context
            | {
                "coverage": replace(coverage_table([evaluation]), title="Coverage"),
                "inputs": replace(inputs, title="Input files"),
                "address": f"/query?run={entry.id}&query=",
                "first": str(subject.measures[0]),
            },
        )


def verdict_page(request: Request) -> Response:
    """Answer ``/verdicts/ID``: a comparison or a gate as it was stored."""
    site = Site.of(request)
    with site.folder.required() as store:
        entry = entry_of(store, request.path_params["id"])
        if entry.kind == "evaluation":
            return RedirectResponse(f"/runs/{entry.id}", 302)
        context = _about(store, entry)
        try:
            subject = subject_of(site, store, [entry.id])
        # it cannot be computed again, and is a result all the same
        except (OptionError, InputError, IncompatibleError) as error:
            kept = (
                store.comparison(entry.id) if entry.kind == "comparison" else store.gate(entry.id)
            )
            table = replace(verdict_table(entry.kind, kept.result), title="Result as stored")
            return site.page(
                "evaluation_means.html",
                context | {"title": entry.name, "lacking": str(error), "means": table},
            )
        return site.page(
            "comparison.html",
            page_context(subject)
            | context
            | {"address": _query_address(entry.parts), "every": _all_queries_address(entry.parts)},
        )


def comparison_page(request: Request) -> Response:
    """Answer ``/compare``: a form, or two evaluations against each other."""
    site = Site.of(request)
    parameters = request.query_params
    a = parameters.get("a", "").strip()
    b = parameters.get("b", "").strip()
    ids = [key for key in (a, b) if key] or parameters.getlist("id")
    different = parameters.get("judgments") == "different"
    with site.folder.opened() as store:
        choices = [] if store is None else store.entries(kind="evaluation", limit=_CHOICES)
        if store is None or not ids:
            form = {"title": "Compare", "choices": choices, "a": "", "b": ""}
            return site.page("compare.html", form)
        if len(set(ids)) != 2:  # before any of them is looked up: an address may have thousands
            raise _not_two(len(set(ids)))
        entries = [entry_of(store, key, "evaluation") for key in dict.fromkeys(ids)]
        if not a:  # ticked in a list: the older one comes first
            entries = sorted(entries, key=lambda entry: (entry.record.time, entry.id))
        compared = [entry.id for entry in entries]
        if compared[0] == compared[1]:
            raise _not_two(1)
        if not parameters.get("a"):
            return RedirectResponse(f"/compare?a={compared[0]}&b={compared[1]}", 303)

        context: dict[str, Any] = {
            "a": compared[0],
            "b": compared[1],
            "choices": choices,
            "pair": entries,
        }
        try:
            measures = parameters.get("measure", "").strip()
            subject = subject_of(site, store, compared, measures=measures, different=different)
        except IncompatibleError as error:
            can_ask = not different and "judgments" in str(error)
            return site.page(
                "compare.html",
                context | {"title": "Compare", "lacking": str(error), "can_ask": can_ask},
                409,
            )
        return site.page(
            "comparison.html",
            page_context(subject)
            | context
            | {"address": _query_address(compared), "every": _all_queries_address(compared)},
        )


def _not_two(count: int) -> HTTPException:
    return HTTPException(400, f"found {count} evaluation(s), expected two different ones; tick two")


def _query_address(ids: Sequence[str]) -> str:
    """Address of the page of a query, without its id; of two evaluations the second is the run."""
    if len(ids) == 2:
        against, run = ids
        return f"/query?run={run}&against={against}&query="
    return f"/query?run={ids[0]}&query="


def _all_queries_address(ids: Sequence[str]) -> str:
    """Address of the list of all queries of two evaluations; empty for one evaluation."""
    if len(ids) != 2:
        return ""
    against, run = ids
    return f"/queries?run={run}&against={against}"


def subject_of(
    site: Site, store: Store, ids: Sequence[str], *, measures: str = "", different: bool = False
) -> Subject:
    """Everything about some results, as reports take it; computed once."""

    def made() -> Subject:
        chosen = parse_measures(measures) if measures else ()
        judgments: JudgmentsOption = "different" if different else "same"
        material = found_in(store, ids, chosen, judgments=judgments)
        return gather(replace(material, hits=()))

    return site.results.get((tuple(ids), measures, different), made)


def _about(store: Store, entry: Entry) -> dict[str, Any]:
    """Origin of an entry, and what was made of it."""
    record = entry.record
    sql = (
        "SELECT DISTINCT e.id, e.kind, e.name, e.time FROM part p JOIN entry e ON e.id = p.id "
        "WHERE p.evaluation = ? ORDER BY e.time"
    )
    used_in = [] if entry.kind != "evaluation" else store.rows(sql, [entry.id])
    return {
        "entry": entry,
        "record": record,
        "when_stored": minute(record.time),
        "used_in": used_in[-_MOST_USES:],
        "parts_of": [store.entry(part) for part in entry.parts],
    }


def _over_time(site: Site, store: Store, entry: Entry) -> dict[str, Any]:
    """Older and newer evaluations of the same run by the first measure."""
    measure = next(iter(entry.means or {}), "")
    if not measure:
        return {}
    timeline = store.history(measure, run=entry.name)
    ids = [point.id for point in timeline.points]
    place = ids.index(entry.id) if entry.id in ids else len(ids) - 1
    near = timeline.points[max(0, place - _OLDER) : place + _OLDER // 2 + 1]
    if len(near) < 2:
        return {}
    shown = Timeline(measure=measure, direction=timeline.direction, points=near)
    before = timeline.points[place - 1] if place else None
    return {
        "drawing": Drawing.of(shown, intervals_of(site, store, shown)),
        "before": before,
        "n_near": len(near),
    }


def slices_page(request: Request) -> Response:
    """Answer ``/slices``."""
    site = Site.of(request)
    parameters = request.query_params
    with site.folder.opened() as store:
        context: dict[str, Any] = {
            "title": "Slices",
            "run": parameters.get("run", "").strip(),
            "against": parameters.get("against", "").strip(),
            "has_slices": bool(site.slices),
            "choices": [] if store is None else store.entries(kind="evaluation", limit=_CHOICES),
        }
        if store is None or not context["run"] or not site.slices:
            return site.page("slices.html", context)
        sides = asked_sides(site, store, request)
        measure = measure_of(sides, parameters.get("measure", "").strip())
        context |= {
            "sides": sides,
            "measure": str(measure),
            "measures": sides[-1].measures,
        }
        try:
            key = ("slices", tuple(side.entry.id for side in sides), str(measure))
            table = site.results.get(key, lambda: _table(site, sides, str(measure)))
        except (InputError, IncompatibleError) as error:
            return site.page("slices.html", context | {"lacking": str(error)}, 409)
        return site.page("slices.html", context | {"table": table})


def _table(site: Site, sides: list[QuerySide], measure: str) -> Any:
    if len(sides) == 1:
        evaluation = sides[0].evaluation
        (table,) = slice_tables([evaluation], [evaluation.by(site.slices)])
        return replace(table, title="Means on each slice")
    a, b = (side.evaluation.select([measure]) for side in sides)
    if a.name == b.name:
        a, b = (
            replace(evaluation, name=f"{evaluation.name} {side.entry.id[:6]}")
            for evaluation, side in zip((a, b), sides, strict=True)
        )
    return slices_grid(compare(a, b, slices=site.slices).pairs[0], measure)
