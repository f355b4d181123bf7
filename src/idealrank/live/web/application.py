"""The application that shows a store: its addresses."""

from collections.abc import Mapping, Sequence

from starlette.routing import Route
from starlette.types import ASGIApp

from idealrank.live.web.access import StoreFolder
from idealrank.live.web.canary_pages import canaries_page, canary_page
from idealrank.live.web.convention_pages import conventions_page
from idealrank.live.web.details import comparison_page, evaluation_page, verdict_page
from idealrank.live.web.exposition import metrics
from idealrank.live.web.guard import Guard
from idealrank.live.web.json_api import OPERATIONS
from idealrank.live.web.openapi import PATH, openapi
from idealrank.live.web.originals import Originals
from idealrank.live.web.overview import overview
from idealrank.live.web.query_pages import queries_page, query_page
from idealrank.live.web.site import Site, guarded_application
from idealrank.live.web.slice_pages import slices_page


def application(
    folder: StoreFolder,
    guard: Guard,
    originals: Originals | None = None,
    slices: Mapping[str, Sequence[str]] | None = None,
) -> ASGIApp:
    """The page as an ASGI application."""
    site = Site(
        folder=folder, guard=guard, originals=originals or Originals(()), slices=slices or {}
    )
    routes = [
        Route("/", overview, methods=["GET"]),
        Route("/runs/{id}", evaluation_page, methods=["GET"]),
        Route("/verdicts/{id}", verdict_page, methods=["GET"]),
        Route("/compare", comparison_page, methods=["GET"]),
        Route("/queries", queries_page, methods=["GET"]),
        Route("/query", query_page, methods=["GET"]),
        Route("/slices", slices_page, methods=["GET"]),
        Route("/conventions", conventions_page, methods=["GET"]),
        Route("/canaries", canaries_page, methods=["GET"]),
        Route("/canaries/{name:path}", canary_page, methods=["GET"]),
        Route(PATH, openapi, methods=["GET"]),
        *(Route(one.path, one.endpoint, methods=["GET"], name=one.name) for one in OPERATIONS),
        Route("/metrics", metrics, methods=["GET"]),
    ]
    return guarded_application(site, routes)
