"""Addresses that a server listens on."""

import ipaddress
from collections.abc import Iterable
from urllib.parse import urlsplit


def is_loopback(host: str) -> bool:
    """Return whether an address is reached from this machine alone.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_address(name: str) -> bool:
    """Return whether a host is a number, not a name.

    Examples
    --------
    >>> is_address("192.168.1.5"), is_address("::1"), is_address("example.org")
    (True, True, False)
    """
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def shown_host(host: str) -> str:
    """Host as it stands in an address of the web.

    Examples
    --------
    >>> shown_host("::1"), shown_host("0.0.0.0"), shown_host("127.0.0.1")
    ('[::1]', '127.0.0.1', '127.0.0.1')
    """
    if host in {"0.0.0.0", ""}:  # noqa: S104  (nothing is bound here)
        return "127.0.0.1"
    if host == "::":
        return "[::1]"
    return f"[{host}]" if ":" in host else host


def names_server(header: str, host: str, names: Iterable[str] = ()) -> bool:
    """Return whether the header `Host` of a request names a server; a foreign name that resolves to this machine does not.

    On loopback these are its names. A server that listens on the network is also reached by its addresses: an address cannot be made to
    point elsewhere, as a name can.

    Parameters
    ----------
    header : str
        What the request says.
    host : str
        Address that the server listens on.
    names : iterable of str
        Further names of this host.

    Examples
    --------
    >>> names_server("localhost:8765", "127.0.0.1"), names_server("evil.example", "127.0.0.1"), names_server("10.0.0.2", "0.0.0.0")
    (True, False, True)
    """
    try:
        split = urlsplit(f"//{header}")
        name, _ = split.hostname or "", split.port
    except ValueError:
        return False
    if not name or split.netloc != header or split.username is not None:
        return False
    return name in {host.lower(), *(one.lower() for one in names)} or is_loopback(name) or (not is_loopback(host) and is_address(name))
