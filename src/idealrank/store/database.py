"""The SQLite file of a store: made or brought up to date, and written in transactions that are on
the disk when they end.
"""

import errno
import os
import sqlite3
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from idealrank.errors import InputError
from idealrank.store.intact_records import teach
from idealrank.store.read_only import (
    PATIENCE,
    PAUSE,
    connect_read_only,
    is_passing,
    is_read_only,
    whole_copy,
)

if sys.platform == "darwin":
    import fcntl

# Tells a store from any other SQLite file: the letters "irst".
APPLICATION = 0x69727374
VERSION = 3

# What every version added to the one before. A store is made by all of them in turn, so that a new
# one and one brought up to date are the same; none may ever be changed once people have stores.
_FIRST = (
    # One row for each evaluation, comparison and gate. `record` is canonical JSON and never
    # changes; `digest` is its SHA-256, and `id` the first digits of that.
    """CREATE TABLE entry (
        id TEXT PRIMARY KEY, kind TEXT NOT NULL CHECK (kind IN ('evaluation', 'comparison', 'gate')), time TEXT NOT NULL,
        name TEXT NOT NULL, digest TEXT NOT NULL, record TEXT NOT NULL, convention TEXT NOT NULL, fingerprint TEXT NOT NULL,
        version TEXT NOT NULL, commit_id TEXT NOT NULL, dirty INTEGER, command TEXT NOT NULL, note TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID""",  # noqa: E501
    "CREATE INDEX entry_time ON entry (time)",
    """CREATE TABLE evaluation (
        id TEXT PRIMARY KEY REFERENCES entry (id) ON DELETE CASCADE, n_queries INTEGER NOT NULL, n_measures INTEGER NOT NULL,
        queries_file TEXT NOT NULL, values_file TEXT NOT NULL, scored_file TEXT
    ) WITHOUT ROWID""",  # noqa: E501
    """CREATE TABLE mean (
        id TEXT NOT NULL REFERENCES evaluation (id) ON DELETE CASCADE, place INTEGER NOT NULL, measure TEXT NOT NULL,
        resolved TEXT NOT NULL, value REAL, scored INTEGER NOT NULL, PRIMARY KEY (id, place)
    ) WITHOUT ROWID""",  # noqa: E501
    "CREATE INDEX mean_measure ON mean (measure)",
    """CREATE TABLE input (
        id TEXT NOT NULL REFERENCES evaluation (id) ON DELETE CASCADE, place INTEGER NOT NULL, name TEXT NOT NULL,
        size INTEGER NOT NULL, sha256 TEXT NOT NULL, PRIMARY KEY (id, place)
    ) WITHOUT ROWID""",  # noqa: E501
    # What a comparison or a gate was made of, in its order.
    """CREATE TABLE part (
        id TEXT NOT NULL REFERENCES entry (id) ON DELETE CASCADE, place INTEGER NOT NULL,
        evaluation TEXT NOT NULL REFERENCES evaluation (id), PRIMARY KEY (id, place)
    ) WITHOUT ROWID""",
    "CREATE INDEX part_evaluation ON part (evaluation)",
    "CREATE TABLE tag (id TEXT NOT NULL REFERENCES entry (id) ON DELETE CASCADE, tag TEXT NOT "
    "NULL, PRIMARY KEY (id, tag)) WITHOUT ROWID",
    "CREATE INDEX tag_tag ON tag (tag)",
    # The value files that each entry needs; these are never swept away.
    """CREATE TABLE kept (
        id TEXT NOT NULL REFERENCES entry (id) ON DELETE CASCADE, file TEXT NOT NULL, PRIMARY KEY (id, file)
    ) WITHOUT ROWID""",  # noqa: E501
    "CREATE INDEX kept_file ON kept (file)",
)
_NOTES_OF_THEIR_OWN = (
    """CREATE TABLE note (
        id TEXT NOT NULL REFERENCES entry (id) ON DELETE CASCADE, time TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (id, time, text)
    ) WITHOUT ROWID""",  # noqa: E501
    "INSERT INTO note (id, time, text) SELECT id, time, note FROM entry WHERE note <> ''",
    "ALTER TABLE entry DROP COLUMN note",
)
_MONITORS = (
    # One row for each round of canary queries; `record` is JSON, and the evaluation may be removed
    # without it.
    """CREATE TABLE round (
        monitor TEXT NOT NULL, number INTEGER NOT NULL, time TEXT NOT NULL,
        outcome TEXT NOT NULL CHECK (outcome IN ('running', 'complete', 'incomplete', 'failed', 'interrupted')),
        evaluation TEXT REFERENCES evaluation (id) ON DELETE SET NULL, record TEXT NOT NULL, PRIMARY KEY (monitor, number)
    ) WITHOUT ROWID""",  # noqa: E501
    "CREATE INDEX round_evaluation ON round (evaluation)",
    # What the alarms of a monitor know from its rounds so far.
    "CREATE TABLE monitor (name TEXT PRIMARY KEY, state TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE alarm (
        id TEXT PRIMARY KEY, monitor TEXT NOT NULL, rule TEXT NOT NULL, slice TEXT NOT NULL, opened INTEGER NOT NULL,
        opened_time TEXT NOT NULL, closed INTEGER, closed_time TEXT, closing TEXT, record TEXT NOT NULL
    ) WITHOUT ROWID""",  # noqa: E501
    "CREATE INDEX alarm_monitor ON alarm (monitor, opened)",
    # Messages to send; `sent` is the time when the channel took one.
    """CREATE TABLE notice (
        id TEXT PRIMARY KEY, place INTEGER NOT NULL, monitor TEXT NOT NULL, alarm TEXT NOT NULL REFERENCES alarm (id) ON DELETE CASCADE,
        event TEXT NOT NULL, channel TEXT NOT NULL, content TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, sent TEXT,
        problem TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID""",  # noqa: E501
    "CREATE INDEX notice_waiting ON notice (monitor, place) WHERE sent IS NULL",
)
MIGRATIONS: Mapping[int, Sequence[str]] = {1: _FIRST, 2: _NOTES_OF_THEIR_OWN, 3: _MONITORS}

NAME = "store.sqlite3"
_OLDEST = (3, 38, 0)  # columns can be dropped, and JSON is always read

# What to do about a refusal of the system.
_MAKE_ROOM = "free space on this disk and store it again"
_ALLOW_WRITING = "allow writing in this folder, or choose another folder, and store it again"
_ADVICE = {
    errno.ENOSPC: _MAKE_ROOM,
    errno.EDQUOT: _MAKE_ROOM,
    errno.EACCES: _ALLOW_WRITING,
    errno.EPERM: _ALLOW_WRITING,
    errno.EROFS: _ALLOW_WRITING,
    errno.EFBIG: "raise the limit on file sizes (ulimit -f) and store it again",
}

_DAMAGED = (
    "the file is damaged or not from idealrank: restore a backup, or import exported evaluations"
)

Row = tuple[Any, ...]


class Database:
    """The tables of one store, for one process and thread."""

    def __init__(self, folder: Path, *, upgrade: bool = True) -> None:
        if sqlite3.sqlite_version_info < _OLDEST:
            installed = ".".join(map(str, sqlite3.sqlite_version_info))
            oldest = ".".join(map(str, _OLDEST))
            raise InputError(
                f"{folder}: found SQLite {installed} in this Python, expected {oldest} or later; "
                f"use a newer Python"
            )
        self.path = folder / NAME
        self._process = os.getpid()
        self._upgrade = upgrade
        self.read_only = is_read_only(self.path)
        is_new = not self.path.exists()
        with self._with_reasons():
            self._connection = self._connected()
            try:
                self._set_up_functions()
                if self.read_only:
                    self._prepare_reading()
                else:
                    self._prepare()
            except BaseException:
                self._connection.close()
                raise
        if is_new:
            sync_folder(folder)
            sync_folder(folder.resolve().parent)

    def _connected(self) -> sqlite3.Connection:
        if self.read_only:
            return connect_read_only(self.path.absolute(), PATIENCE)
        return sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)

    def _set_up_functions(self) -> None:
        # What SQLite takes out of a record may be half of a letter, which is written by its escape.
        self._connection.text_factory = lambda text: text.decode("utf-8", "backslashreplace")
        teach(self._connection)

    def _prepare_reading(self) -> None:
        self._refuse_others()
        if self._number("user_version") == VERSION:
            return
        self._connection = whole_copy(self._connection)
        self._set_up_functions()
        self._connection.execute("BEGIN")
        self._migrate()
        self._connection.execute("COMMIT")

    def _prepare(self) -> None:
        self._connection.execute("BEGIN")  # one look: another process may be making the store
        self._refuse_others()
        self._refuse_earlier()
        self._connection.execute("COMMIT")
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode=WAL")
                break
            # The timeout does not cover two processes that make a store at once.
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(PAUSE)
        self._connection.execute("PRAGMA synchronous=FULL")
        # for macOS, whose fsync leaves data in the disk's own cache
        self._connection.execute("PRAGMA fullfsync=ON")
        self._connection.execute("PRAGMA foreign_keys=ON")
        if self._number("user_version") != VERSION:
            with self.writing():
                self._migrate()

    def _number(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])

    def _has_tables(self) -> bool:
        (count,) = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        return bool(count)

    def _refuse_others(self) -> None:
        schema = self._number("user_version")
        if self._number("application_id") != APPLICATION and (schema or self._has_tables()):
            raise InputError(
                f"{self.path}: found a database of another program, expected a store of idealrank; "
                "choose another folder"
            )
        if schema > VERSION:
            raise InputError(
                f"{self.path}: found a store of schema {schema}, expected {VERSION} or earlier; a "
                "newer idealrank wrote it: upgrade idealrank"
            )

    def _refuse_earlier(self) -> None:
        schema = self._number("user_version")
        if not self._upgrade and schema < VERSION:
            raise InputError(
                f"{self.path}: found a store of schema {schema}, expected {VERSION}; an earlier "
                "idealrank wrote it, and nothing is changed here: `idealrank history --store "
                f"{self.path.parent}` brings it up to date"
            )

    def _migrate(self) -> None:
        """Run what the store lacks, in the transaction of the caller: another process may have been
        quicker.
        """
        self._refuse_others()
        for version in range(self._number("user_version") + 1, VERSION + 1):
            for statement in MIGRATIONS[version]:
                self._connection.execute(statement)
        self._connection.execute(f"PRAGMA application_id={APPLICATION}")
        self._connection.execute(f"PRAGMA user_version={VERSION}")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it is on the disk when it ends without an error, and nothing of
        it otherwise.
        """
        self.check_writable()
        self._refuse_children()
        with self._with_reasons():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def check_writable(self) -> None:
        """Refuse a store that may only be read."""
        if self.read_only:
            raise InputError(
                f"{self.path.parent}: found a store that is read-only here, expected one that may "
                "be written; nothing was stored or changed: allow writing in this folder, or copy "
                "it to where you may write"
            )

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]:
        """All rows of a question."""
        self._refuse_children()
        values = [column_text(parameter) for parameter in parameters]
        deadline = time.monotonic() + PATIENCE
        with self._with_reasons():
            while True:
                try:
                    return self._connection.execute(sql, values).fetchall()
                except sqlite3.OperationalError as error:
                    # A writer that renews the log leaves its index unfinished for a moment. A
                    # connection that may write would finish it; one that may only read waits. A
                    # question that changes something is refused at once.
                    only_reads = sql.lstrip()[:6].upper() in ("SELECT", "PRAGMA")
                    can_wait = self.read_only and only_reads and is_passing(error)
                    if not can_wait or time.monotonic() > deadline:
                        raise
                time.sleep(PAUSE)

    @contextmanager
    def one_state(self) -> Iterator[None]:
        """Several questions about one state of the tables, whatever is written meanwhile; nothing
        can be changed inside.
        """
        self._refuse_children()
        with self._with_reasons():
            self._connection.execute("PRAGMA query_only=ON")
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                self._connection.execute("PRAGMA query_only=OFF")

    def _refuse_children(self) -> None:
        if os.getpid() != self._process:
            raise InputError(
                f"{self.path}: opened in another process, and SQLite does not survive a fork; open "
                "the store in each process"
            )

    @contextmanager
    def _with_reasons(self) -> Iterator[None]:
        """Add to errors of SQLite and of the system the file, and what was stored."""
        try:
            yield
        except sqlite3.Error as error:
            raise InputError(f"{self.path}: {_reason(error)}") from error
        # A message of SQLite may have bytes of a damaged page in it.
        except UnicodeDecodeError as error:
            reason = _reason(sqlite3.DatabaseError("malformed"))
            raise InputError(f"{self.path}: {reason}") from error
        except OSError as error:
            raise not_written(error.filename or self.path, error) from error

    def close(self) -> None:
        """Close the file; the store cannot be used any more."""
        if os.getpid() == self._process:
            self._connection.close()


def column_text(value: Any) -> Any:
    r"""A value as a column takes it. SQLite's texts are UTF-8, so other bytes, as in names of
    files, become escapes.
    """
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


def _reason(error: sqlite3.Error) -> str:
    message = str(error)
    if "full" in message:
        return f"{message}; nothing was stored: {_ADVICE[errno.ENOSPC]}"
    if "disk I/O" in message:
        return (
            f"{message}; nothing was stored: see that the disk is sound, has room and takes files "
            f"this large, and store it again"
        )
    if "locked" in message:
        return (
            f"{message} for {PATIENCE:.0f} seconds by another process; nothing was stored: try "
            f"again later"
        )
    if "FOREIGN KEY" in message:
        return (
            "another process removed an entry; nothing was stored: `idealrank history` lists the "
            "entries"
        )
    if "same thread" in message:
        return "opened in another thread; open the store in each thread"
    if "readonly" in message or "unable to open" in message:
        return (
            f"{message}; expected a question that changes nothing, or a folder that may be "
            "written: see its permissions"
        )
    if "not a database" in message or "malformed" in message:
        return f"{message}; {_DAMAGED}"
    return message


def not_written(path: "Path | str", error: OSError) -> InputError:
    """Make the error for a file of a store that the system refuses to write."""
    advice = _ADVICE.get(error.errno or 0, "remove the cause and store it again")
    return InputError(f"{path}: {error.strerror or error}; nothing was stored: {advice}")


def to_disk(handle: int) -> None:
    """Bring an open file to the disk, as far as the system can."""
    if sys.platform == "darwin":
        with suppress(OSError):  # a file system may not know it
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


def sync_folder(folder: Path) -> None:
    """Bring the names in a folder to the disk; Windows has no such call, and its file systems keep
    names by a journal.
    """
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        to_disk(handle)
    finally:
        os.close(handle)
