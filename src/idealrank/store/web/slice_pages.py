"""Slices of the queries: means of one evaluation on each, or the differences of two."""

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from idealrank.api.comparison import compare
from idealrank.errors import IncompatibleError, InputError
from idealrank.pages.page.tables import slices_grid
from idealrank.reports.views.evaluation import slice_tables
from idealrank.store.web.query_pages import QuerySide, asked_sides, measure_of
from idealrank.store.web.site import Site

_CHOICES = 200


def slices_page(request: Request) -> Response:
    """Answer ``/slices``."""
    site, asked = Site.of(request), request.query_params
    with site.folder.opened() as store:
        context: dict[str, Any] = {
            "title": "Slices",
            "run": asked.get("run", "").strip(),
            "against": asked.get("against", "").strip(),
            "has_slices": bool(site.slices),
            "choices": [] if store is None else store.entries(kind="evaluation", limit=_CHOICES),
        }
        if store is None or not context["run"] or not site.slices:
            return site.page("slices.html", context)
        sides = asked_sides(site, store, request)
        measure = measure_of(sides, asked.get("measure", "").strip())
        context |= {
            "sides": sides,
            "measure": str(measure),
            "measures": [str(one) for one in sides[-1].evaluation.measures],
        }
        try:
            key = ("slices", tuple(side.entry.id for side in sides), str(measure))
            table = site.results.get(key, lambda: _table(site, sides, str(measure)))
        except (InputError, IncompatibleError) as error:
            return site.page("slices.html", context | {"lacking": str(error)}, 409)
        return site.page("slices.html", context | {"table": table})


def _table(site: Site, sides: list[QuerySide], measure: str) -> Any:
    if len(sides) == 1:
        found = sides[0].evaluation
        return replace(
            slice_tables([found], [found.by(site.slices)])[0], title="Means on each slice"
        )
    a, b = (side.evaluation.select([measure]) for side in sides)
    if a.name == b.name:
        a, b = (
            replace(one, name=f"{one.name} {side.entry.id[:6]}")
            for one, side in zip((a, b), sides, strict=True)
        )
    return slices_grid(compare(a, b, slices=site.slices).pairs[0], measure)
