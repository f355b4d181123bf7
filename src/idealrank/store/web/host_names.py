"""Names by which a server on this machine may be called.

Needs no package, so that `idealrank monitor` serves metrics without the extra `web`.
"""

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Return whether an address is reached from this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_address(name: str) -> bool:
    """Return whether a host is a number, not a name."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def shown_host(host: str) -> str:
    """Host as it stands in an address of the web."""
    if host in {"0.0.0.0", ""}:  # noqa: S104  (nothing is bound here)
        return "127.0.0.1"
    if host == "::":
        return "[::1]"
    return f"[{host}]" if ":" in host else host


def names_server(header: str, host: str, names: Iterable[str] = ()) -> bool:
    """Return whether the header `Host` of a request names a server; a foreign name that resolves to
    this machine does not.
    """
    try:
        split = urlsplit(f"//{header}")
        name = split.hostname or ""
        _ = split.port
    except ValueError:
        return False
    if not name or split.netloc != header or split.username is not None:
        return False
    is_known = name in {host.lower(), *(known.lower() for known in names)}
    # An address cannot be a foreign name that resolves to this machine.
    return is_known or is_loopback(name) or (not is_loopback(host) and is_address(name))
