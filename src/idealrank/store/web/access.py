"""The store behind the page: opened anew for each request, never created and never brought up to
date.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.exceptions import HTTPException

from idealrank.errors import IdealrankError, InputError, NotStoredError, OptionError
from idealrank.store import Store
from idealrank.store.database import NAME
from idealrank.store.record import Entry, Kind


class StoreFolder:
    """Folder of the store that is served, which may be missing."""

    def __init__(self, path: "str | Path | None") -> None:
        self.path = None if path is None else Path(path)

    @contextmanager
    def opened(self) -> Iterator[Store | None]:
        """Open the store for one request; None where there is none yet.

        A store belongs to one thread, and requests are answered in many.
        """
        if self.path is None or not (self.path / NAME).exists():
            yield None
            return
        try:
            store = Store.open(self.path, create=False, upgrade=False)
        except IdealrankError as error:
            raise HTTPException(503, str(error)) from error
        with store:
            yield store

    @contextmanager
    def required(self) -> Iterator[Store]:
        """Open the store where an entry of it was asked for."""
        with self.opened() as store:
            if store is None:
                raise HTTPException(
                    404,
                    "found no store here, so there are no entries; expected one with evaluations",
                )
            yield store


def entry_of(store: Store, beginning: str, kind: Kind | None = None) -> Entry:
    """Return the entry with an id or a prefix of it."""
    try:
        found = store.resolve(beginning, kind=kind)
    except OptionError as error:
        raise HTTPException(404, str(error)) from error
    except InputError as error:
        raise HTTPException(status_of(error), str(error)) from error
    return store.entry(found)


def status_of(error: InputError) -> int:
    """Return 404 if only what was asked for is not there, 503 if the store could not be read."""
    return 404 if isinstance(error, NotStoredError) else 503
