"""Notes of a reader: safe guesses and doubtful guesses."""

from collections.abc import Callable
from typing import TypeAlias

from idealrank._warnings import warn

Tell: TypeAlias = Callable[[str], None]


class Notes:
    """Passes messages on: all of them to `tell`, or, without one, the doubtful ones as warnings.

    Parameters
    ----------
    tell : callable, optional
        Gets every message; the command line prints them to stderr.
    tell_doubts : callable, optional
        Gets the doubtful ones in its place.

    Examples
    --------
    >>> said = []
    >>> Notes(said.append).inform("read as CSV")
    >>> said
    ['read as CSV']
    """

    def __init__(self, tell: Tell | None = None, tell_doubts: Tell | None = None) -> None:
        self._tell = tell
        self._tell_doubts = tell_doubts or tell

    def inform(self, message: str) -> None:
        """Say how something was read when there was no doubt about it.

        Examples
        --------
        >>> Notes().inform("silence, without a listener")
        """
        if self._tell is not None:
            self._tell(message)

    def warn(self, message: str) -> None:
        """Say that another reading was possible, or that the data look odd.

        Examples
        --------
        >>> Notes(print).warn("two columns could be the score")
        two columns could be the score
        """
        if self._tell_doubts is not None:
            self._tell_doubts(message)
        else:
            warn(message)
