"""Requests over HTTP by backends, judges and channels for alarms, and the failures that may
pass.
"""

import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

from idealrank._lazy import load_extra
from idealrank.errors import BackendError, shown
from idealrank.live.backends.shared import reason
from idealrank.live.timing import wall_time

LARGEST = 64 << 20
"""Bytes of an answer that is read whole, at most."""
MOST_VALUES = 2_000_000
"""Values of JSON in such an answer, at most: each takes up to some 200 bytes in memory."""
_STEP = 1 << 16  # bytes of a piece that is unpacked at once
_TEMPORARY = frozenset({408, 425, 429, 500, 502, 503, 504})  # codes of failures that may pass
_NO_ACCESS = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """Answer to a request."""

    status: int  # Status
    content: bytes  # The body, or its beginning
    retry_after: float | None = None  # Seconds of the header Retry-After

    @property
    def text(self) -> str:
        """The body as text."""
        return self.content.decode("utf-8", "replace")

    @property
    def is_temporary(self) -> bool:
        """Return True if the status is one of a failure that may pass."""
        return self.status in _TEMPORARY

    @property
    def is_outage(self) -> bool:
        """Return True if the status says nothing about the request: the service is busy or down, or
        gives no access.
        """
        return self.is_temporary or self.status in _NO_ACCESS

    def json(self) -> Any:
        """Return the value of the body, or raise `ValueError`."""
        return json.loads(self.content)


def http_client(what: str, extra: str, **options: Any) -> Any:
    """Return a client of httpx that follows no redirect: it would carry headers with secrets to
    another place.
    """
    return load_extra("httpx", what, extra).Client(
        **options, follow_redirects=False, trust_env=True
    )


def exchange(
    client: Any,
    name: str,
    method: str,
    url: str,
    *,
    most: int | None = None,
    hide: Callable[[str], str] = str,
    **request: Any,
) -> HttpAnswer:
    """Send a request, and read its answer, whatever its status."""
    httpx = load_extra("httpx", "requests over HTTP", "search")
    # httpx would unpack each part as a whole, and one of 64 KiB can unpack to gigabytes: gzip alone
    # is asked for, and unpacked here.
    request["headers"] = {"accept-encoding": "gzip", **(request.get("headers") or {})}
    content = bytearray()
    try:
        with client.stream(method, url, **request) as response:
            for part in _unpacked(name, response):
                content += part
                if len(content) > (LARGEST if most is None else most):
                    break
    except httpx.TimeoutException:
        raise BackendError(
            f"{name}: found no answer in {client.timeout.read:g} s", temporary=True
        ) from None
    except (httpx.InvalidURL, httpx.HTTPError, ValueError) as error:  # UnicodeError among the last
        text = hide(str(error))
        cause = f": {reason(text)}" if text.strip() else ""
        message = f"{name}: {type(error).__name__}{cause}"
        unsendable = isinstance(error, httpx.LocalProtocolError | httpx.UnsupportedProtocol)
        temporary = isinstance(error, httpx.TransportError) and not unsendable
        raise BackendError(message, temporary=temporary) from None
    if most is None:
        _refuse_large(name, content)
    return HttpAnswer(
        response.status_code,
        bytes(content[:most]),
        retry_after(response.headers.get("retry-after")),
    )


def _unpacked(name: str, response: Any) -> Iterator[bytes]:
    """Parts of a body, unpacked step by step."""
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("identity", "gzip"):
        raise BackendError(
            f"{name}: found an answer in the encoding {shown(encoding)}, expected gzip or none, as "
            "asked for"
        )
    if encoding == "identity":
        yield from response.stream
        return
    stream = zlib.decompressobj(wbits=31)  # 31: a gzip header, and the largest window
    try:
        for part in response.stream:
            packed = part
            piece = b""
            while packed or len(piece) == _STEP:  # a full piece may have more behind it
                piece = stream.decompress(packed, _STEP)
                yield piece
                packed = stream.unconsumed_tail
    except zlib.error as error:
        raise BackendError(
            f"{name}: found damaged gzip data ({error}), expected a whole answer", temporary=True
        ) from None


def _refuse_large(name: str, content: bytearray) -> None:
    """Refuse an answer whose values would take far more memory than the answer."""
    hint = "ask for fewer hits or fields, for example by a smaller `limit`"
    if len(content) > LARGEST:
        raise BackendError(
            f"{name}: found an answer of more than {LARGEST:,} bytes, expected at most as many",
            hint=hint,
        )
    # each value of JSON follows a comma or opens a list or an object
    values = sum(map(content.count, (b",", b"[", b"{")))
    if values > MOST_VALUES:
        raise BackendError(
            f"{name}: found an answer of about {values:,} values, expected at most {MOST_VALUES:,}",
            hint=hint,
        )


def retry_after(text: str | None) -> float | None:
    """Return the seconds of a header Retry-After, which has seconds or a date; None if it is
    missing or unreadable.

    Examples
    --------
    >>> retry_after("7"), retry_after(None), retry_after("soon")
    (7.0, None, None)
    """
    if text is None:
        return None
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - wall_time())
    except (TypeError, ValueError):
        return None
