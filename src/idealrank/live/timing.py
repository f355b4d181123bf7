"""Clock of search jobs, which tests replace; and the time of day."""

import queue
import time
from typing import Protocol, TypeVar

Item = TypeVar("Item")
_LONGEST_WAIT = 86_400.0  # seconds; `Queue.get` refuses a timeout that is too large


class Clock(Protocol):
    """Time as a job needs it."""

    def now(self) -> float:
        """Return seconds of a clock that is never set back."""
        ...

    def wait_for(self, items: "queue.Queue[Item]", seconds: float) -> "Item | None":
        """Return the next item, or None if none comes in so many seconds."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> float:
        """Return seconds of the monotonic clock."""
        return time.monotonic()

    def wait_for(self, items: "queue.Queue[Item]", seconds: float) -> "Item | None":
        """Wait for an item, a day at most."""
        try:
            return items.get(timeout=min(max(0.0, seconds), _LONGEST_WAIT))
        except queue.Empty:
            return None


def wall_time() -> float:
    """Return seconds since 1970, for dates that others send."""
    return time.time()
