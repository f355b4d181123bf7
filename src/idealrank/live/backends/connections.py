"""Connections of backends: one for each thread, closed together."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

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
        self._made: list[C] = []

    def get(self) -> C:
        """Return the connection of this thread; make it at the first call."""
        found: C | None = getattr(self._local, "connection", None)
        if found is not None:
            return found
        made = self._connect()
        self._local.connection = made
        with self._lock:
            self._made.append(made)
        return made

    def drop(self) -> None:
        """Close the connection of this thread, so that the next call makes another."""
        found: C | None = getattr(self._local, "connection", None)
        if found is None:
            return
        self._local.connection = None
        with self._lock:
            self._made.remove(found)
        self._disconnect(found)

    def close(self) -> None:
        """Close the connections of all threads."""
        with self._lock:
            made, self._made = self._made, []
        self._local = threading.local()
        for one in made:
            self._disconnect(one)
