"""Journals: files of JSON lines that survive the end of the process at any point; searches and
judges keep their answers so. Locks of files, which the system frees.
"""

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import IO, Any

from idealrank._files import appearing, real_path
from idealrank.errors import FileFormatError, InputError, OptionError, shown


def lock_file(handle: int) -> bool:
    """Lock an open file for this process; False if another process, or another handle, has the
    lock.
    """
    if os.name == "nt":
        import msvcrt  # noqa: PLC0415  (Windows)

        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            return False
        return True
    import fcntl  # noqa: PLC0415  (not on Windows)

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


_BATCH = 64  # lines between two calls of fsync

ReadLine = Callable[[Mapping[str, Any]], None]
"""Takes a line of the journal; raises KeyError, TypeError, ValueError or OverflowError for a line
that does not fit.
"""


class LineJournal:
    """File of JSON lines below a header line that names their kind.

    Each line is written as soon as it comes, and reaches the disk in batches. A last line that was
    cut is dropped. One process writes at a time.
    """

    def __init__(self, path: str, what: str, record: str, *, restart: bool = False) -> None:
        self.path = path
        self._what, self._record = what, record
        self._waiting = 0
        try:
            self._file: IO[bytes] = Path(path).open("a+b", buffering=0)  # noqa: SIM115  (closed by `close`)
        except (OSError, ValueError) as error:  # a NUL in the path is a ValueError
            raise self._unwritten(error) from None
        try:
            self._lock()
            if restart:
                self._checked()
                self._file.truncate(0)
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        if not lock_file(self._file.fileno()):
            raise OptionError(
                f"{self.path}: found another {self._what} that writes this journal, expected one "
                "at a time"
            )

    @property
    def _format(self) -> str:
        return f"idealrank {self._what} journal 1"

    def _checked(self) -> bytes:
        """Return the content of the file; refuse a file that is not such a journal, before anything
        in it is changed.
        """
        self._file.seek(0)
        content = self._file.read()
        first_line, line_end, _ = content.partition(b"\n")
        # The process may have ended while it wrote the header. All headers of this format begin
        # with the same bytes, up to the closing brace: a torn one is a part of them, or has all.
        beginning = json.dumps({"format": self._format})[:-1].encode()
        is_torn = not line_end
        if is_torn and (beginning.startswith(first_line) or first_line.startswith(beginning)):
            return content
        line = first_line.decode("utf-8", "surrogateescape")
        header = self._parsed(line, 1)
        if header.get("format") != self._format:
            hint = "choose another output, or delete the file"
            raise FileFormatError(
                self.path, 1, shown(repr(line)), f"the journal of a {self._what}", hint
            )
        return content

    def start(self, header: Mapping[str, Any], read: ReadLine) -> Mapping[str, Any] | None:
        """Read the lines that are there, and return the header above them; write `header` and
        return None for a new journal.

        A torn last line is cut.
        """
        content = self._checked()
        whole = content[: content.rfind(b"\n") + 1]
        if len(whole) < len(content):
            self._file.truncate(len(whole))
        if not whole:
            self.write({"format": self._format, **header})
            return None
        # the last piece is what follows the last line end: nothing
        first_line, *records = whole.decode("utf-8", "surrogateescape").split("\n")[:-1]
        stored_header = self._parsed(first_line, 1)
        for number, line in enumerate(records, 2):
            try:
                read(self._parsed(line, number))
            except (KeyError, TypeError, ValueError, OverflowError):
                raise FileFormatError(self.path, number, shown(repr(line)), self._record) from None
        return stored_header

    def _parsed(self, line: str, number: int) -> dict[str, Any]:
        try:
            value = json.loads(line)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise FileFormatError(self.path, number, shown(repr(line)), "a line of a journal")
        return value

    def write(self, line: Mapping[str, Any]) -> None:
        """Append a line."""
        try:
            data = memoryview((json.dumps(line, ensure_ascii=True) + "\n").encode())
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:
            raise self._unwritten(error) from None
        self._waiting += 1
        if self._waiting >= _BATCH:
            self.sync()

    def rewrite(self, header: Mapping[str, Any], lines: Iterable[Mapping[str, Any]]) -> None:
        """Put other lines in place of all there are, at once; a process that ends on the way leaves
        the old ones.
        """
        if os.name == "nt":  # an open file cannot be replaced there
            self._file.close()
        pieces = (
            f"{json.dumps(line, ensure_ascii=True)}\n".encode() for line in chain([header], lines)
        )
        try:
            with appearing(real_path(self.path)) as unfinished, unfinished.open("xb") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
                shutil.copymode(self.path, unfinished)
            replaced = self._file
            self._file = Path(self.path).open("a+b", buffering=0)  # noqa: SIM115  (closed by `close`)
        except OSError as error:
            raise self._unwritten(error) from None
        replaced.close()
        self._lock()

    def sync(self) -> None:
        """Bring all lines to the disk."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise self._unwritten(error) from None
        self._waiting = 0

    def close(self) -> None:
        """Bring all lines to the disk, and close the file."""
        if not self._file.closed:
            try:
                self.sync()
            finally:
                self._file.close()

    def __enter__(self) -> "LineJournal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _unwritten(self, error: Exception) -> InputError:
        reason = getattr(error, "strerror", None) or error
        hint = f"make room or correct the path; the same command continues the {self._what}"
        return InputError(f"{self.path}: cannot be written: {reason}", hint=hint)
