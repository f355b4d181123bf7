"""Parts that all pages share: the store, which each request opens anew, templates, styles, results
that were computed before, and answers to errors.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib import resources
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from idealrank.errors import (
    IdealrankError,
    IncompatibleError,
    InputError,
    NotStoredError,
    OptionError,
)
from idealrank.inputs.text_sources import TextSources
from idealrank.pages.page.html import styles, templates
from idealrank.store.database import NAME
from idealrank.store.record import Entry, Kind
from idealrank.store.store import Store
from idealrank.store.web.guard import COOKIE, SIGN_IN, Guard, Guarded
from idealrank.store.web.metrics_text import Gauge
from idealrank.store.web.originals import Originals, ResultCache
from idealrank.store.web.served_texts import ServedTexts
from idealrank.version import __version__


class StoreFolder:
    """Folder of the store that is served, which may be missing."""

    def __init__(self, path: "str | Path | None") -> None:
        self.path = None if path is None else Path(path)

    @contextmanager
    def opened(self) -> Iterator[Store | None]:
        """Open the store for one request; None where there is none yet.

        A store belongs to one thread, and requests are answered in many.
        """
        if self.path is None or not (self.path / NAME).exists():
            yield None
            return
        try:
            store = Store.open(self.path, create=False, upgrade=False)
        except IdealrankError as error:
            raise HTTPException(503, str(error)) from error
        with store:
            yield store

    @contextmanager
    def required(self) -> Iterator[Store]:
        """Open the store for a request that needs an entry; without a store the answer is 404."""
        with self.opened() as store:
            if store is None:
                raise HTTPException(
                    404,
                    "found no store here, so there are no entries; expected one with evaluations",
                )
            yield store


def entry_of(store: Store, beginning: str, kind: Kind | None = None) -> Entry:
    """Return the entry with an id or a prefix of it."""
    try:
        key = store.resolve(beginning, kind=kind)
    except OptionError as error:
        raise HTTPException(404, str(error)) from error
    except InputError as error:
        raise HTTPException(status_of(error), str(error)) from error
    return store.entry(key)


def status_of(error: InputError) -> int:
    """Return 404 if the store has no such entry, 503 if it could not be read."""
    return 404 if isinstance(error, NotStoredError) else 503


_MOST_BODY = 4096  # bytes of the form for the token
STORE_PAGES = (
    ("/", "Overview"),
    ("/compare", "Compare"),
    ("/slices", "Slices"),
    ("/conventions", "Conventions"),
)
"""Address and name of the pages of a store, as the top of each page lists them."""

_PACKAGE = "idealrank.store.web"

_TITLES = {
    400: "This request cannot be answered",
    401: "Sign in",
    403: "Not allowed",
    404: "Not found",
    405: "Only for reading",
    503: "The store cannot be read",
}


@dataclass(frozen=True, kw_only=True)
class AddedPages:
    """Pages that a feature adds to a served store."""

    package: str  # With its templates
    routes: Sequence[BaseRoute]
    listed: Sequence[tuple[str, str]]  # Address and name of those that the top of a page lists
    # Each monitor of a store with the number of its open alarms and its last round
    monitors: Callable[[Store], list[dict[str, Any]]]
    gauges: Callable[[Store], Sequence[Gauge]]  # For Prometheus


@dataclass(frozen=True, kw_only=True)
class Site:
    """One running page."""

    folder: StoreFolder  # Store that is shown
    guard: Guard  # Rules for requests
    # Folders with the files of evaluations
    originals: Originals = field(default_factory=lambda: Originals(()))
    # Categories of each query; empty without a file of slices
    slices: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # Texts of queries and documents; none without their files
    texts: ServedTexts = field(default_factory=lambda: ServedTexts(TextSources()))
    results: ResultCache = field(
        default_factory=ResultCache
    )  # Comparisons and evaluations, by their ids
    # Interval of the mean, by id of the evaluation and measure
    intervals: ResultCache = field(default_factory=lambda: ResultCache(20_000))
    # Address and name of the pages that the top of each page lists
    pages: Sequence[tuple[str, str]] = STORE_PAGES
    added: Sequence[AddedPages] = ()  # What features add to the pages of a store
    # Package with the templates and files that this site alone uses; empty for a store
    package: str = ""

    @classmethod
    def of(cls, request: Request) -> "Site":
        """The page that a request is for."""
        site: Site = request.app.state.site
        return site

    def monitors(self, store: Store) -> list[dict[str, Any]]:
        """Each monitor of a store with the number of its open alarms and its last round."""
        return list(chain.from_iterable(feature.monitors(store) for feature in self.added))

    def page(self, name: str, context: Mapping[str, Any], status: int = 200) -> Response:
        """Answer with a template."""
        shared: dict[str, Any] = {
            "version": __version__,
            "assets": asset_versions(self.package),
            "has_token": bool(self.guard.token),
            "address": "",
        }
        listed = [*self.pages, *chain.from_iterable(feature.listed for feature in self.added)]
        shared |= {"pages": listed, "is_store": not self.package}
        packages = [self.package] if self.package else [feature.package for feature in self.added]
        template = templates("`idealrank serve`", "web", *packages, _PACKAGE).get_template(name)
        text: str = template.render({**shared, **context})
        return Response(
            text.encode("utf-8", "backslashreplace"), status, media_type="text/html; charset=utf-8"
        )

    def asset(self, name: str) -> tuple[str, str]:
        """Content and type of a file that pages load."""
        assets = _assets(self.package)
        if name not in assets:
            raise HTTPException(404, "found no such file")
        return assets[name], _TYPES[name.rpartition(".")[2]]


_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}


@cache
def _assets(package: str) -> dict[str, str]:
    """Styles and scripts that pages load, of all pages and of a package."""
    texts: dict[str, str] = {}
    for home in (_PACKAGE, package) if package else (_PACKAGE,):
        for file in resources.files(home).joinpath("assets").iterdir():
            if file.name.rpartition(".")[2] in _TYPES:
                texts[file.name] = file.read_text(encoding="utf-8")
    return {**texts, "style.css": f"{styles()}\n{texts.pop('web.css')}"}


@cache
def asset_versions(package: str = "") -> dict[str, str]:
    """Addresses of files that pages load, each with the hash of its content: browsers keep them
    until they change.
    """
    return {
        name: f"/assets/{name}?v={sha256(text.encode()).hexdigest()[:12]}"
        for name, text in _assets(package).items()
    }


def failure(error: Exception) -> tuple[int, str]:
    """Status of an error, and the sentence that says why."""
    if isinstance(error, HTTPException):
        return error.status_code, str(error.detail)
    if isinstance(error, OptionError | IncompatibleError):
        return 400, str(error)
    if isinstance(error, IdealrankError):
        return 503, str(error)
    return 500, "this is a fault of idealrank; please report it with what the terminal shows"


async def answer_error(request: Request, error: Exception) -> Response:
    """Answer with a page that says what is wrong, or with JSON below ``/api``."""
    answer = failure_answer(Site.of(request), request.url.path, *failure(error))
    # The answer to a method that is not allowed lists the allowed ones.
    answer.headers.update(getattr(error, "headers", None) or {})
    return answer


def failure_answer(site: Site, path: str, status: int, detail: str) -> Response:
    """Answer with a status and a sentence: a page, JSON below ``/api``, or a line for metrics."""
    headers = {"www-authenticate": "Bearer"} if status == 401 else {}
    if path.startswith("/api"):
        content = json.dumps({"error": detail}, separators=(",", ":"))
        return Response(content, status, headers, media_type="application/json")
    if path == "/metrics":
        return Response(f"{detail}\n", status, headers, media_type="text/plain; charset=utf-8")
    title = _TITLES.get(status, "Something failed")
    context = {"title": title, "detail": detail, "status": status}
    page = site.page("failure.html", context, status)
    page.headers.update(headers)
    return page


def guarded_application(site: Site, routes: Sequence[BaseRoute]) -> ASGIApp:
    """Pages behind the guard of a site, with the files that all pages load, the form for the token,
    and answers to errors.
    """
    shared = [
        Route("/assets/{name}", _asset, methods=["GET"]),
        Route(SIGN_IN, _sign_in, methods=["POST"]),
    ]
    handlers: dict[Any, Any] = dict.fromkeys(
        (HTTPException, IdealrankError, Exception), answer_error
    )
    app = Starlette(routes=[*routes, *shared], exception_handlers=handlers)
    app.state.site = site

    async def refused(scope: Scope, receive: Receive, send: Send) -> None:
        await failure_answer(site, scope["path"], *scope["refusal"])(scope, receive, send)

    return Guarded(app, site.guard, refused)


def _asset(request: Request) -> Response:
    content, kind = Site.of(request).asset(request.path_params["name"])
    return Response(
        content, headers={"cache-control": "public, max-age=31536000, immutable"}, media_type=kind
    )


async def _sign_in(request: Request) -> Response:
    """Take the token from the form, and remember that it was given."""
    guard = Site.of(request).guard
    token = (await form_of(request, _MOST_BODY)).get("token", "")
    if not guard.fits(token.strip()):
        raise HTTPException(
            401, "found a wrong token; expected the token that the server was started with"
        )
    answer = RedirectResponse("/", 303)
    answer.set_cookie(COOKIE, guard.session, httponly=True, samesite="strict", path="/")
    return answer


async def form_of(request: Request, most: int) -> dict[str, str]:
    """Read a form as browsers send it; of each field the first value."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise HTTPException(
                413, f"found a form of more than {most:,} bytes, expected a smaller one"
            )
    fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    return {name: values[0] for name, values in fields.items()}
