"""Shared parts of backends: a connection for each thread, their common keys, vectors in the forms
that engines take, and messages of engines and their clients.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from idealrank._keys import amount, read
from idealrank._sections import Section
from idealrank.errors import BackendError, shown
from idealrank.io.configuration_files import require_files
from idealrank.live.backends import LONGEST_TIMEOUT
from idealrank.live.backends.protocol import SearchQuery

C = TypeVar("C")


class Connections(Generic[C]):
    """One connection for each thread that asks, for clients whose connections serve one thread at a
    time.
    """

    def __init__(self, connect: Callable[[], C], disconnect: Callable[[C], object]) -> None:
        self._connect = connect
        self._disconnect = disconnect
        self._local = threading.local()
        self._lock = threading.Lock()
        self._opened: list[C] = []

    def get(self) -> C:
        """Return the connection of this thread; make it at the first call."""
        connection: C | None = getattr(self._local, "connection", None)
        if connection is not None:
            return connection
        connection = self._connect()
        self._local.connection = connection
        with self._lock:
            self._opened.append(connection)
        return connection

    def drop(self) -> None:
        """Close the connection of this thread, so that the next call makes another."""
        connection: C | None = getattr(self._local, "connection", None)
        if connection is None:
            return
        self._local.connection = None
        with self._lock:
            self._opened.remove(connection)
        self._disconnect(connection)

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            opened = self._opened
            self._opened = []
        self._local = threading.local()
        for connection in opened:
            self._disconnect(connection)


_LONGEST = 300  # letters of a message


def reason(error: object) -> str:
    r"""Return the first line of a message as printable text of at most 300 characters."""
    lines = str(error).strip().splitlines()
    text = lines[0] if lines else type(error).__name__
    printable = "".join(
        letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text[: _LONGEST + 1]
    )
    return printable if len(printable) <= _LONGEST else f"{printable[: _LONGEST - 4]} ..."


@dataclass(frozen=True, kw_only=True)
class BackendKeys:
    """Keys of every backend, besides its kind."""

    timeout: float = amount(
        "Seconds for an answer; default `timeout` of the top level.",
        10.0,
        most=LONGEST_TIMEOUT,
        unit="seconds",
    )


K = TypeVar("K", bound=BackendKeys)


def keys_from(keys: type[K], section: Section) -> K:
    """Read the keys of a backend; the files that they name exist."""
    values = read(keys, section, known=("kind",))
    require_files(keys, section)
    return values


def vector_numbers(query: SearchQuery, name: str) -> list[float]:
    """Return the vector of a query as numbers."""
    if query.vector is None:
        raise BackendError(
            f"{name}: query {shown(repr(query.id))} has no vector, expected one for a search by "
            "vector"
        )
    return [float(number) for number in query.vector]


def vector_bytes(query: SearchQuery, name: str) -> bytes:
    """Return the vector of a query as float32, little-endian."""
    return np.array(vector_numbers(query, name), dtype="<f4").tobytes()
