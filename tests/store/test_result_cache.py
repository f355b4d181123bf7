"""The cache of a served store: each result is computed once, whatever threads ask for it."""

import threading
from typing import Any

from idealrank.store.web.originals import ResultCache


class _SlowlyKept(ResultCache):
    """A cache that another thread asks for a result after it was computed, before it is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.computed: list[str] = []
        self.second: threading.Thread | None = None

    def put(self, key: Any, value: Any) -> None:
        if self.second is None:
            self.second = threading.Thread(target=self.get, args=(key, lambda: self.make("second")))
            self.second.start()
            self.second.join(0.1)  # long enough to compute the result again, if nothing stops it
        super().put(key, value)

    def make(self, name: str) -> str:
        self.computed.append(name)
        return name


def test_a_thread_that_asks_before_a_result_is_kept_does_not_compute_it_again() -> None:
    cache = _SlowlyKept()
    assert cache.get("key", lambda: cache.make("first")) == "first"
    assert cache.second is not None
    cache.second.join()
    assert cache.computed == ["first"]
    assert cache.known("key") == "first"
