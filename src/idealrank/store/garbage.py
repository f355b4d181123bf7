"""Removal of unused files: value files without an entry, and leftovers of killed writers."""

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from idealrank.store.database import Database
from idealrank.store.value_files import UNFINISHED, ValueFiles

_HOUR = 3600.0
_VALUE_FILE = re.compile(r"[0-9a-f]{64}\.(npy|npz|json)")
_UNFINISHED_FILE = re.compile(rf"[0-9a-f]{{64}}\.\w+\.(\d+)\.[0-9a-f]+{re.escape(UNFINISHED)}")


@dataclass(frozen=True)
class Swept:
    """Files that `Store.gc` removed, or would remove.

    Attributes
    ----------
    files : int
        Value files that no entry references.
    unfinished : int
        Files of writers that were killed.
    bytes : int
        Total size of both.

    Examples
    --------
    >>> Swept(2, 0, 4096).bytes
    4096
    """

    files: int
    unfinished: int
    bytes: int


def sweep(database: Database, files: ValueFiles, *, dry_run: bool) -> Swept:
    """Remove them, under the write lock: a writer that has placed files and not yet committed holds it.

    Parameters
    ----------
    database, files
        Of the store.
    dry_run : bool
        Only count.
    """
    with database.writing() as connection:
        needed = {name for (name,) in connection.execute("SELECT DISTINCT file FROM kept")}
        unneeded = [path for path in _value_files(files.folder) if path.name not in needed]
        left = [path for path in _unfinished(files.folder) if _is_left(path)]
        freed = sum(_size(path) for path in (*unneeded, *left))
        if not dry_run:
            for path in (*unneeded, *left):
                path.unlink(missing_ok=True)
    return Swept(len(unneeded), len(left), freed)


def _value_files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.glob("??/*") if _VALUE_FILE.fullmatch(path.name) and path.parent.name == path.name[:2])


def _unfinished(folder: Path) -> Iterator[Path]:
    return folder.glob(f"*{UNFINISHED}")


def _is_left(path: Path) -> bool:
    """Return whether a file is abandoned: an hour old, with its process gone."""
    named = _UNFINISHED_FILE.fullmatch(path.name)
    try:
        return named is not None and time.time() - path.stat().st_mtime > _HOUR and not _lives(int(named[1]))
    except FileNotFoundError:
        return False


def _lives(process: int) -> bool:
    if os.name == "nt":  # there signal 0 would end it
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
