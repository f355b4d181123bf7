"""The application that shows a store: its addresses."""

from collections.abc import Mapping, Sequence
from itertools import chain

from starlette.routing import Route
from starlette.types import ASGIApp

from idealrank._features import offered
from idealrank.inputs.text_sources import TextSources
from idealrank.store.web.convention_pages import conventions_page
from idealrank.store.web.details import comparison_page, evaluation_page, slices_page, verdict_page
from idealrank.store.web.exposition import metrics
from idealrank.store.web.guard import Guard
from idealrank.store.web.json_api import OPERATIONS, PATH, openapi
from idealrank.store.web.originals import Originals
from idealrank.store.web.overview import overview
from idealrank.store.web.query_pages import queries_page, query_page
from idealrank.store.web.served_texts import ServedTexts
from idealrank.store.web.site import AddedPages, Site, StoreFolder, guarded_application


def application(
    folder: StoreFolder,
    guard: Guard,
    originals: Originals | None = None,
    slices: Mapping[str, Sequence[str]] | None = None,
    texts: TextSources | None = None,
) -> ASGIApp:
    """The page as an ASGI application."""
    added: list[AddedPages] = [offered("pages of a served store")()]
    site = Site(
        folder=folder,
        guard=guard,
        originals=originals or Originals(()),
        slices=slices or {},
        texts=ServedTexts(texts or TextSources()),
        added=added,
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
        *chain.from_iterable(feature.routes for feature in added),
        Route(PATH, openapi, methods=["GET"]),
        *(
            Route(operation.path, operation.endpoint, methods=["GET"], name=operation.name)
            for operation in OPERATIONS
        ),
        Route("/metrics", metrics, methods=["GET"]),
    ]
    return guarded_application(site, routes)
