"""Input files of a number: path, size and time at once; SHA-256 on request, since it costs as much
as scoring.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class InputFile:
    """A file that was evaluated."""

    path: str  # As typed
    size: int  # Bytes
    modified: str  # Time of the last change, UTC, ISO 8601

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
    """Describe a file."""
    status = Path(path).stat()
    return InputFile(
        path,
        status.st_size,
        datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds"),
    )


def input_files(paths: Iterable[str]) -> tuple[InputFile, ...]:
    """Describe the files among the paths; standard input and other streams have nothing to
    describe.
    """
    return tuple(input_file(path) for path in paths if path != "-" and Path(path).is_file())
