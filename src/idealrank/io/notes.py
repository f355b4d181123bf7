"""Notes of a reader: safe guesses and doubtful guesses."""

from collections.abc import Callable
from typing import TypeAlias

from idealrank._warnings import warn

Tell: TypeAlias = Callable[[str], None]


class Notes:
    """Passes messages on: all of them to `tell`, or, without one, the doubtful ones as warnings."""

    def __init__(self, tell: Tell | None = None, tell_doubts: Tell | None = None) -> None:
        self._tell = tell
        self._tell_doubts = tell_doubts or tell

    def inform(self, message: str) -> None:
        """Say how something was read when there was no doubt about it."""
        if self._tell is not None:
            self._tell(message)

    def warn(self, message: str) -> None:
        """Say that another reading was possible, or that the data look odd."""
        if self._tell_doubts is not None:
            self._tell_doubts(message)
        else:
            warn(message)
