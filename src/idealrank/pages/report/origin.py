"""Where a page comes from: its input files by hash, and when it was made."""

import os
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import PurePath
from threading import Thread

from idealrank.errors import OptionError
from idealrank.evaluation.evaluate import InputRecord
from idealrank.stats.randomness import in_order


def moment() -> str:
    """The time, UTC, ISO 8601, to the second; that of SOURCE_DATE_EPOCH where it is set, so that
    the same input gives the same bytes.

    The SOURCE_DATE_EPOCH specification, https://reproducible-builds.org/specs/source-date-epoch/
    """
    said = os.environ.get("SOURCE_DATE_EPOCH", "")
    try:
        when = datetime.fromtimestamp(int(said), UTC) if said else datetime.now(UTC)
    except (ValueError, OverflowError, OSError):
        raise OptionError(
            f"SOURCE_DATE_EPOCH={said!r}: expected whole seconds since 1970"
        ) from None
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def hashed(inputs: Iterable[InputRecord]) -> tuple[tuple[str, str], ...]:
    """Name without folder and SHA-256 of each file, each path once; a file that cannot be read any
    more is left out.
    """
    once = list({one.path: one for one in inputs}.values())
    digests = in_order(lambda number: _digest(once[number]), len(once), None)
    return tuple(
        (PurePath(one.path).name, digest)
        for one, digest in zip(once, digests, strict=True)
        if digest is not None
    )


def hashed_ahead(inputs: Iterable[InputRecord]) -> Callable[[], tuple[tuple[str, str], ...]]:
    """Begin `hashed` on threads of its own; the call returned waits for the result."""
    found: list[tuple[tuple[str, str], ...]] = []
    inputs = list(inputs)
    # a command that fails does not wait for it
    thread = Thread(target=lambda: found.append(hashed(inputs)), daemon=True)
    thread.start()

    def result() -> tuple[tuple[str, str], ...]:
        thread.join()
        return found[0] if found else hashed(inputs)  # which raises what the thread could not

    return result


def _digest(one: InputRecord) -> str | None:
    try:
        return one.sha256
    except OSError:
        return None
