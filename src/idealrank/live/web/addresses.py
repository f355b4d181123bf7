"""Addresses that a server listens on."""

import ipaddress


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
