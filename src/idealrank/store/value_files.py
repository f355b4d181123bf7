"""Value files: named by the hash of their content, written whole, on the disk before any entry
names them; unused ones are removed.
"""

import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from idealrank.data.types import AnyArray
from idealrank.errors import InputError
from idealrank.store.database import Database, Row, not_written, sync_folder, to_disk

FOLDER = "values"
UNFINISHED = ".unfinished"


@dataclass(frozen=True)
class Blob:
    """Content of one value file."""

    name: str  # The SHA-256 of the content and the ending, as ``"e3b0...855.npy"``
    content: bytes  # All of it

    @classmethod
    def of(cls, content: bytes, ending: str) -> "Blob":
        """A file of this content."""
        return cls(f"{hashlib.sha256(content).hexdigest()}.{ending}", content)


def array_blob(array: AnyArray) -> Blob:
    """An array as a plain NumPy file, little-endian, in C order: one row lies in one piece."""
    buffer = BytesIO()
    plain = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    np.lib.format.write_array(buffer, plain, version=(1, 0), allow_pickle=False)
    return Blob.of(buffer.getvalue(), "npy")


class ValueFiles:
    """The folder of value files of a store."""

    def __init__(self, store: Path) -> None:
        self.folder = store / FOLDER

    def path(self, name: str) -> Path:
        """Return the path of a file, in a folder named by its first two digits."""
        return self.folder / name[:2] / name

    def prepared(self, blobs: Sequence[Blob]) -> "Prepared":
        """Write what is not there yet under temporary names, to be placed inside a transaction."""
        return Prepared(self, blobs)

    def read(self, name: str, whose: str) -> bytes:
        """The content of a file, its hash checked."""
        path = self.path(name)
        try:
            content = path.read_bytes()
        except OSError as error:
            raise _lost(path, whose, f"cannot be read ({error.strerror or error})") from None
        if hashlib.sha256(content).hexdigest() != name.partition(".")[0]:
            raise _lost(
                path,
                whose,
                f"is damaged: its {len(content):,} bytes do not match the SHA-256 in its name",
            )
        return content


class Prepared:
    """Files that are on the disk under temporary names; leaving the block removes the files that
    were not placed.
    """

    def __init__(self, files: ValueFiles, blobs: Iterable[Blob]) -> None:
        self._files = files
        self._blobs = list({blob.name: blob for blob in blobs}.values())
        self._unfinished: dict[str, Path] = {}

    def __enter__(self) -> "Prepared":
        try:
            for blob in self._blobs:
                if not self._is_there(blob):
                    self._write(blob)
        except OSError as error:
            self.__exit__()
            raise not_written(self._files.folder, error) from error
        return self

    def _is_there(self, blob: Blob) -> bool:
        """Return whether the whole file is in place. False for a damaged file, and for one that a
        sweep removes meanwhile.
        """
        path = self._files.path(blob.name)
        try:
            return path.stat().st_size == len(blob.content) and path.read_bytes() == blob.content
        except (FileNotFoundError, IsADirectoryError):
            return False

    def _write(self, blob: Blob) -> None:
        self._files.folder.mkdir(exist_ok=True)
        unfinished = (
            self._files.folder / f"{blob.name}.{os.getpid()}.{secrets.token_hex(4)}{UNFINISHED}"
        )
        self._unfinished[blob.name] = unfinished
        with unfinished.open("xb") as file:
            file.write(blob.content)
            file.flush()
            to_disk(file.fileno())

    def place(self) -> None:
        """Give every file its name and bring the names to the disk. Inside a transaction, which
        keeps sweepers away.
        """
        folders = set()
        for blob in self._blobs:
            target = self._files.path(blob.name)
            target.parent.mkdir(parents=True, exist_ok=True)
            if blob.name not in self._unfinished and not target.is_file():
                self._write(blob)  # a sweeper was quicker than this transaction
            if blob.name in self._unfinished:
                self._rename(blob, target)
            folders.add(target.parent)
        for folder in sorted(folders):
            sync_folder(folder)
        sync_folder(self._files.folder)
        sync_folder(self._files.folder.parent)

    def _rename(self, blob: Blob, target: Path) -> None:
        try:
            self._unfinished[blob.name].replace(target)
        except FileNotFoundError:  # swept away while this process slept for hours
            self._write(blob)
            self._unfinished[blob.name].replace(target)
        del self._unfinished[blob.name]

    def __exit__(self, *_: object) -> None:
        for path in self._unfinished.values():
            path.unlink(missing_ok=True)


def _lost(path: Path, whose: str, problem: str) -> InputError:
    return InputError(
        f"{path}: {problem}; {whose} needs it: restore the file from a backup, or import the "
        "exported evaluation"
    )


class Readable(Protocol):
    """Protocol of a store for readers of its tables (by a SELECT) and value files, independent of
    `Store`.
    """

    folder: Path
    files: ValueFiles

    def rows(self, sql: str, parameters: Sequence[Any] = ()) -> list[Row]: ...


_HOUR = 3600.0  # seconds
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
    """Remove unused files under the write lock; a writer has it until its files are committed."""
    with database.writing() as connection:
        needed = {name for (name,) in connection.execute("SELECT DISTINCT file FROM kept")}
        unneeded = [path for path in _value_files(files.folder) if path.name not in needed]
        unfinished = files.folder.glob(f"*{UNFINISHED}")
        abandoned = [path for path in unfinished if _is_abandoned(path)]
        freed = sum(_size(path) for path in (*unneeded, *abandoned))
        if not dry_run:
            for path in (*unneeded, *abandoned):
                path.unlink(missing_ok=True)
    return Swept(files=len(unneeded), unfinished=len(abandoned), bytes=freed)


def _value_files(folder: Path) -> Iterator[Path]:
    return (
        path
        for path in folder.glob("??/*")
        if _VALUE_FILE.fullmatch(path.name) and path.parent.name == path.name[:2]
    )


def _is_abandoned(path: Path) -> bool:
    """Return whether an unfinished file is an hour old and its process gone."""
    name = _UNFINISHED_FILE.fullmatch(path.name)
    try:
        return (
            name is not None
            and time.time() - path.stat().st_mtime > _HOUR
            and not _is_running(int(name[1]))
        )
    except FileNotFoundError:
        return False


def _is_running(process: int) -> bool:
    if os.name == "nt":  # there signal 0 would end it
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass  # a process of another user, or no number of a process: its file stays
    return True


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
