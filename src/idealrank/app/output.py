"""Where results go: standard output, or a file that appears whole or not at all."""

import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from idealrank.errors import InputError


def write(pieces: Iterable[str], path: str | None) -> None:
    """Write text as UTF-8; bytes of ids that were not UTF-8 come out as they came in.

    Parameters
    ----------
    pieces : iterable of str
        The text.
    path : str or None
        A file, made under another name and renamed when it is complete; None or ``"-"`` is standard output.

    Raises
    ------
    InputError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(["a", "b"], f"{folder}/out.txt")
    ...     Path(folder, "out.txt").read_text(encoding="utf-8"), len(os.listdir(folder))
    ('ab', 1)
    """
    if path is None or path == "-":
        _write_stdout(pieces)
        return
    target = Path(path).resolve()  # behind a link, the file itself is replaced, not the link
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            with target.open("wb") as device:  # a pipe, or /dev/null, which nobody wants replaced
                device.writelines(_batches(pieces))
        else:
            _write_renamed(pieces, target)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def _write_stdout(pieces: Iterable[str]) -> None:
    for batch in _batches(pieces):
        sys.stdout.buffer.write(batch)
    sys.stdout.buffer.flush()


def _write_renamed(pieces: Iterable[str], target: Path) -> None:
    if target.is_dir():
        raise InputError(f"{target}: found a directory, expected the name of a file to write")
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with open(descriptor, "wb") as file:
            file.writelines(_batches(pieces))
        _usual_permissions(name)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def _usual_permissions(name: str) -> None:
    """A temporary file is readable by its owner alone; the result should be what `open` would have made."""
    mask = os.umask(0)
    os.umask(mask)
    os.chmod(name, 0o666 & ~mask)


def _batches(pieces: Iterable[str]) -> Iterable[bytes]:
    """Pieces joined to batches worth a system call."""
    batch: list[str] = []
    size = 0
    for piece in pieces:
        batch.append(piece)
        size += len(piece)
        if size > 1 << 16:
            yield "".join(batch).encode("utf-8", "surrogateescape")
            batch, size = [], 0
    yield "".join(batch).encode("utf-8", "surrogateescape")
