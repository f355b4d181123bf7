"""The database of a store that may not be written: read beside a writer where there is one, and from a copy in memory otherwise.

SQLite reads a database with a log (WAL) only where it may make files beside it. It can be told that a file never changes
(``immutable=1``), but this folder may be read-only for one user, or one mount, and not for another.
"""

import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from idealrank.errors import InputError

_PATIENCE = 60.0  # seconds, while others open and close the store
_PAUSE = 0.01
_MODES = slice(18, 20)  # of the header of a database: who writes and who reads it with a log
_LOGLESS = b"\x01\x01"
_LOGS = ("-wal", "-journal")
# What SQLite says while others make the log or its shared memory, or take them away.
_FOR_A_MOMENT = ("unable to open", "readonly", "locked")


def is_read_only(path: Path) -> bool:
    """Return whether a database exists and it or its folder is read-only.

    Examples
    --------
    >>> is_read_only(Path("nowhere", "store.sqlite3"))
    False
    """
    return path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def connect(path: Path, timeout: float) -> sqlite3.Connection:
    """Open a database for reading, and make no file beside it.

    While another process has it open, this is a connection like any other and sees what is written. Otherwise it is the state of now.

    Parameters
    ----------
    path : Path
        The database.
    timeout : float
        Seconds to wait for a lock.

    Raises
    ------
    InputError
        It cannot be read.

    Examples
    --------
    >>> place = Path(tempfile.mkdtemp(), "one")
    >>> with closing(sqlite3.connect(place)) as made:
    ...     _ = made.execute("CREATE TABLE t (a)")
    >>> with closing(connect(place, 1.0)) as copied:
    ...     copied.execute("SELECT count(*) FROM t").fetchone()
    (0,)
    """
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            has_writer = _beside(path, "-wal").exists() and _beside(path, "-shm").exists()
            found = _live(path, timeout) if has_writer else _copied(path)
        except FileNotFoundError:  # of a log that its last user took away
            found = None
        except OSError as error:
            raise InputError(f"{path}: cannot be read: {error.strerror or error}; expected a store that may be read") from None
        if found is not None:
            return found
        if time.monotonic() > deadline:
            raise InputError(f"{path}: found it changing for {_PATIENCE:.0f} seconds, expected a moment to read it; try again")
        time.sleep(_PAUSE)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _live(path: Path, timeout: float) -> sqlite3.Connection | None:
    """A connection by the log and the shared memory of others; None where these are just made or taken away."""
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, timeout=timeout, isolation_level=None)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if not any(words in str(error) for words in _FOR_A_MOMENT):
            raise
        _beside(path, "-shm").open("rb").close()  # says why, where it may not be read
        return None
    except BaseException:
        connection.close()
        raise
    return connection


def _copied(path: Path) -> sqlite3.Connection | None:
    """A copy in memory; None where a writer came in between."""
    logs = [log for log in (_beside(path, ending) for ending in _LOGS) if log.exists()]
    content = path.read_bytes()
    if logs:  # left by a killed writer, and copied without their shared memory
        content = _with_logs(content, path.name, logs)
        if _beside(path, "-shm").exists():
            return None
    elif _beside(path, "-wal").exists() or path.read_bytes() != content:
        return None
    return in_memory(content)


def _with_logs(content: bytes, name: str, logs: list[Path]) -> bytes:
    """Bytes of a database when what its logs hold is in it."""
    with tempfile.TemporaryDirectory(prefix="idealrank-store-") as folder:
        copy = Path(folder, name)
        copy.write_bytes(content)
        for log in logs:
            shutil.copyfile(log, Path(folder, log.name))
        with closing(sqlite3.connect(copy)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.execute("PRAGMA journal_mode=DELETE")
        return copy.read_bytes()


def in_memory(content: bytes) -> sqlite3.Connection:
    """Open a database of these bytes.

    Examples
    --------
    >>> with closing(in_memory(b"")) as connection:
    ...     connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (0,)
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    if content:  # SQLite takes nothing for a lack of memory
        connection.deserialize(content[: _MODES.start] + _LOGLESS + content[_MODES.stop :])  # memory has no log
    return connection


def whole_copy(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Copy a database into memory, where it can be changed.

    Examples
    --------
    >>> with closing(in_memory(b"")) as one, closing(whole_copy(one)) as other:
    ...     other.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (0,)
    """
    connection.execute("BEGIN")  # one state of it
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    copy = in_memory(connection.serialize() if pages else b"")
    connection.close()
    return copy
