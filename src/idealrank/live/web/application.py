"""The application: its addresses, and its answers to errors."""

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from idealrank.errors import IdealrankError
from idealrank.live.web.access import StoreFolder
from idealrank.live.web.canary_pages import canaries_page, canary_page
from idealrank.live.web.convention_pages import conventions_page
from idealrank.live.web.details import comparison_page, evaluation_page, verdict_page
from idealrank.live.web.exposition import metrics
from idealrank.live.web.guard import COOKIE, SIGN_IN, Guard, Guarded
from idealrank.live.web.json_api import OPERATIONS
from idealrank.live.web.openapi import PATH, openapi
from idealrank.live.web.originals import Originals
from idealrank.live.web.overview import overview
from idealrank.live.web.query_pages import queries_page, query_page
from idealrank.live.web.site import Site, answer_error, told
from idealrank.live.web.slice_pages import slices_page

_MOST_BODY = 4096


def application(
    folder: StoreFolder, guard: Guard, originals: Originals | None = None, slices: Mapping[str, Sequence[str]] | None = None
) -> ASGIApp:
    """The page as an ASGI application.

    Parameters
    ----------
    folder : StoreFolder
        The store that is shown.
    guard : Guard
        Rules for requests.
    originals : Originals, optional
        Folders with judgments and runs.
    slices : mapping of str to sequence of str, optional
        Categories of each query.

    Examples
    --------
    >>> application(StoreFolder(None), Guard())  # doctest: +ELLIPSIS
    <idealrank.live.web.guard.Guarded object at ...>
    """
    site = Site(folder, guard, originals or Originals(()), slices or {})
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
        Route("/assets/{name}", _asset, methods=["GET"]),
        Route(SIGN_IN, _sign_in, methods=["POST"]),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: answer_error, IdealrankError: answer_error, Exception: answer_error})
    app.state.site = site

    async def refused(scope: Scope, receive: Receive, send: Send) -> None:
        await told(site, scope["path"], *scope["refusal"])(scope, receive, send)

    return Guarded(app, guard, refused)


def _asset(request: Request) -> Response:
    content, kind = Site.asset(request.path_params["name"])
    return Response(content, headers={"cache-control": "public, max-age=31536000, immutable"}, media_type=kind)


async def _sign_in(request: Request) -> Response:
    """Take the token from the form, and remember that it was given."""
    guard = Site.of(request).guard
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BODY:
            raise HTTPException(413, "found a form of more than 4,096 bytes, expected a token")
    given = parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0]
    if not guard.fits(given.strip()):
        raise HTTPException(401, "found a wrong token; expected the token that the server was started with")
    answer = RedirectResponse("/", 303)
    answer.set_cookie(COOKIE, guard.session, httponly=True, samesite="strict", path="/")
    return answer
