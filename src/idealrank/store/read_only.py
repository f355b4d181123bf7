"""A database that may not be written: read beside a writer where there is one, and from a copy in
memory otherwise.

SQLite reads a database with a log (WAL) only where it may make files beside it. It can be told that
a file never changes (``immutable=1``), but this folder may be read-only for one user, or one mount,
and not for another.
"""

import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

from idealrank.errors import InputError

PATIENCE = 60.0  # seconds to wait while another process opens, writes or closes the store
PAUSE = 0.01  # seconds between two attempts
# Two bytes of the header of a database: 2 if it is written and read with a log, 1 if without.
_MODES = slice(18, 20)
_LOGLESS = b"\x01\x01"
_LOGS = ("-wal", "-journal")
# Words of SQLite's errors while others make the log or its shared memory, or take them away.
_PASSING_ERRORS = ("unable to open", "readonly", "locked")


def is_read_only(path: Path) -> bool:
    """Return whether a database exists and it or its folder is read-only."""
    return path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def connect_read_only(path: Path, timeout: float) -> sqlite3.Connection:
    """Open a database for reading, and make no file beside it.

    While another process has it open, this is a connection like any other and sees what is written.
    Otherwise it is the state of now.
    """
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            has_writer = _beside(path, "-wal").exists() and _beside(path, "-shm").exists()
            connection = _shared(path, timeout) if has_writer else _copied(path)
        except FileNotFoundError:  # a log that its last user took away
            connection = None
        except OSError as error:
            raise InputError(
                f"{path}: cannot be read: {error.strerror or error}; expected a store that may be "
                "read"
            ) from None
        if connection is not None:
            return connection
        if time.monotonic() > deadline:
            raise InputError(
                f"{path}: the store changed for {PATIENCE:.0f} seconds, so it could not be read; "
                "try again"
            )
        time.sleep(PAUSE)


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


def _shared(path: Path, timeout: float) -> sqlite3.Connection | None:
    """A connection by the log and the shared memory of others; None where these are just made or
    taken away.
    """
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=ro", uri=True, timeout=timeout, isolation_level=None
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if not is_passing(error):
            raise
        _beside(path, "-shm").open("rb").close()  # says why, where it may not be read
        return None
    except BaseException:
        connection.close()
        raise
    return connection


def _copied(path: Path) -> sqlite3.Connection | None:
    """A copy in memory; None where a writer came in between."""
    possible_logs = [_beside(path, ending) for ending in _LOGS]
    logs = [log for log in possible_logs if log.exists()]
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
    """Open a database of these bytes."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    if content:  # SQLite reports empty content as a lack of memory
        # A database in memory has no log, so its header must not ask for one.
        connection.deserialize(content[: _MODES.start] + _LOGLESS + content[_MODES.stop :])
    return connection


def whole_copy(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Copy a database into memory, where it can be changed."""
    connection.execute("BEGIN")  # one state of it
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    copy = in_memory(connection.serialize() if pages else b"")
    connection.close()
    return copy


def is_passing(error: sqlite3.OperationalError) -> bool:
    """Return whether an error ends when another process has opened or closed the database."""
    return any(words in str(error) for words in _PASSING_ERRORS)
