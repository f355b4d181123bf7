"""Results that are computed once, however many requests ask for them."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

_MOST_KEPT = 64


class Kept:
    """Results by what they are computed from, the latest used ones; each is computed once, however
    many ask for it at a time.
    """

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._found: OrderedDict[Hashable, Any] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of a key, and compute it if it is not kept."""
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                found: T = self._found[key]
                return found
            making = self._making.setdefault(key, threading.Lock())
        with making:
            with self._lock:
                if key in self._found:
                    made_meanwhile: T = self._found[key]
                    return made_meanwhile
            try:
                made = make()
            finally:
                with self._lock:
                    self._making.pop(key, None)
            self.put(key, made)
            return made

    def put(self, key: Hashable, value: Any) -> None:
        """Keep a result that was computed elsewhere."""
        with self._lock:
            self._found[key] = value
            self._found.move_to_end(key)
            while len(self._found) > self._most:
                self._found.popitem(last=False)

    def known(self, key: Hashable) -> Any:
        """Return the result of a key; None if it is not kept."""
        with self._lock:
            return self._found.get(key)
