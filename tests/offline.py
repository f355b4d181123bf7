"""No network: whoever tries to reach another machine is told so, and the test fails."""

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import pytest


@contextlib.contextmanager
def no_network() -> Iterator[None]:
    """Sockets reach this machine only, by address; names of other machines are not looked up."""
    tried: list[str] = []
    connect, look_up = socket.socket.connect, socket.getaddrinfo

    def connecting(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and str(address[0]) not in {"127.0.0.1", "::1"}:
            tried.append(f"connect to {address}")
            raise OSError(f"no network in this test: {address}")
        connect(self, address)

    def looking_up(host: Any, *rest: Any, **options: Any) -> Any:
        if host not in {"127.0.0.1", "::1", "localhost", None}:
            tried.append(f"look up {host}")
            raise OSError(f"no network in this test: {host}")
        return look_up(host, *rest, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connecting)
        patch.setattr(socket, "getaddrinfo", looking_up)
        yield
    assert not tried, f"went for the network: {tried}"
