"""Checks that every request passes: host, origin and token; and the policy that every answer
carries.

A page on this machine is within reach of every page that the same browser opens. A foreign name
that resolves to this machine sends its own name as the host, and a form of a foreign page its own
origin: both are refused.
"""

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from typing import TypeAlias
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from idealrank.store.web.host_names import names_server

COOKIE = "idealrank-session"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
    "'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_READING = frozenset({"GET", "HEAD"})
SIGN_IN = "/sign-in"
_OPEN = ("/assets/", SIGN_IN)  # answered without a token: what the form for the token is made of

Refusal: TypeAlias = tuple[int, str]
"""Status, and the sentence that says why."""


@dataclass(frozen=True)
class Guard:
    """Rules for requests: the token, and the names of this host."""

    host: str = "127.0.0.1"
    token: str = field(default="", repr=False)
    names: Iterable[str] = ()

    @property
    def session(self) -> str:
        """Content of the cookie of a browser to which the token was given: not the token itself."""
        return hmac.digest(self.token.encode(), b"idealrank session", sha256).hex()

    def names_itself(self, host: str) -> bool:
        """Return whether the header `Host` of a request names this server."""
        return names_server(host, self.host, self.names)

    def refusal(self, method: str, path: str, headers: Headers) -> Refusal | None:
        """Return why a request is refused; None if it is not."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.names_itself(hosts[0]):
            why = (
                "found a host that is not this server's, expected localhost, its address, or a "
                "name given with --allow-host"
            )
            return 400, why
        if method not in _READING and not self._is_own(headers, hosts[0]):
            why = "found a request from another origin, expected one from a page of this server"
            return 403, why
        if self.token and not path.startswith(_OPEN) and not self._is_known(headers):
            why = (
                "found no token, or a wrong one; expected the token that the server was started "
                "with"
            )
            return 401, why
        return None

    def _is_own(self, headers: Headers, host: str) -> bool:
        """Return whether a request comes from a page of this host; programs send no origin, and
        have no cookie that a page could misuse.
        """
        origin = headers.get("origin")
        if origin is None:
            return headers.get("sec-fetch-site", "none") in {"none", "same-origin"}
        try:
            split = urlsplit(origin)
        except ValueError:
            return False
        return split.scheme in {"http", "https"} and split.netloc.lower() == host.lower()

    def _is_known(self, headers: Headers) -> bool:
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        # Headers are decoded as Latin-1; a token may be UTF-8.
        text = credentials.strip().encode("latin-1").decode("utf-8", "replace")
        if scheme.lower() == "bearer" and self.fits(text):
            return True
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        kept = cookies[COOKIE].value if COOKIE in cookies else ""
        return hmac.compare_digest(kept.encode("utf-8", "replace"), self.session.encode())

    def fits(self, token: str) -> bool:
        """Return whether this is the token, in a time that does not depend on how much of it is
        right.
        """
        return bool(self.token) and hmac.compare_digest(
            token.encode("utf-8", "replace"), self.token.encode()
        )


class Guarded:
    """Application behind a guard."""

    def __init__(self, app: ASGIApp, guard: Guard, refused: ASGIApp) -> None:
        self._app = app
        self._guard = guard
        self._refused = refused

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._guard.refusal(scope["method"], scope["path"], Headers(scope=scope))

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if refusal is None:
            await self._app(scope, receive, send_guarded)
        else:
            await self._refused({**scope, "refusal": refusal}, receive, send_guarded)
