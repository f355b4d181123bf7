"""Input files of a number: path, size and time at once; SHA-256 on request, since it costs as much as scoring."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class InputFile:
    """A file that was evaluated.

    Attributes
    ----------
    path : str
        As typed.
    size : int
        Bytes.
    modified : str
        Time of the last change, UTC, ISO 8601.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.run"
    >>> _ = path.write_bytes(b"")
    >>> input_file(str(path)).sha256[:8]
    'e3b0c442'
    """

    path: str
    size: int
    modified: str

    @property
    def sha256(self) -> str:
        """SHA-256 of the file when this was first asked, in hexadecimal digits."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        import hashlib  # noqa: PLC0415  (not needed by those who do not ask)

        with Path(self.path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def input_file(path: str) -> InputFile:
    """Describe a file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     input_file(file.name).size
    0
    """
    status = Path(path).stat()
    return InputFile(path, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds"))


def input_files(paths: Iterable[str]) -> tuple[InputFile, ...]:
    """Describe the files among the paths; standard input and other streams have nothing to describe.

    Examples
    --------
    >>> input_files(["-"])
    ()
    """
    return tuple(input_file(path) for path in paths if path != "-" and Path(path).is_file())
