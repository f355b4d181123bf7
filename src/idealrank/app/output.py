"""Where results go: standard output, or a file that appears whole or not at all."""

import os
import sys
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
    write_bytes(_batches(pieces), path)


def write_bytes(pieces: Iterable[bytes], path: str) -> None:
    """Write a file of bytes, made under another name and renamed when it is complete.

    Raises
    ------
    InputError
        The file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bytes([b"a", b"b"], f"{folder}/out.gz")
    ...     Path(folder, "out.gz").read_bytes()
    b'ab'
    """
    target = Path(path).resolve()  # behind a link, the file itself is replaced, not the link
    try:
        if target.exists() and not target.is_file() and not target.is_dir():
            with target.open("wb") as device:  # a pipe, or /dev/null, which nobody wants replaced
                device.writelines(pieces)
        else:
            _write_renamed(pieces, target)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def _write_stdout(pieces: Iterable[str]) -> None:
    for batch in _batches(pieces):
        sys.stdout.buffer.write(batch)
    sys.stdout.buffer.flush()


def _write_renamed(pieces: Iterable[bytes], target: Path) -> None:
    if target.is_dir():
        raise InputError(f"{target}: found a directory, expected the name of a file to write")
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.unfinished")
    try:
        with unfinished.open("xb") as file:
            file.writelines(pieces)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


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
