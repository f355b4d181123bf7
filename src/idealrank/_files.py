"""Files that appear whole or not at all."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from idealrank.errors import InputError

_MOST_LINKS = 10  # from /dev/stdout to the stream


def write_bytes(
    pieces: Iterable[bytes], path: str, check: Callable[[Path], None] | None = None
) -> None:
    """Write a file of bytes, made under another name and renamed when it is complete."""
    target = real_path(path)  # behind a link, the file itself is replaced, not the link
    number = descriptor(path)
    try:
        if number is not None:
            with os.fdopen(os.dup(number), "wb") as stream:
                stream.writelines(pieces)
        elif target.exists() and not target.is_file() and not target.is_dir():
            with target.open("wb") as device:  # a pipe, or /dev/null, which must stay
                device.writelines(pieces)
        else:
            _write_renamed(pieces, target, check)
    except OSError as error:
        if number is not None:
            raise  # an open stream fails as standard output does, by its reader or its disk
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None


def descriptor(path: str) -> int | None:
    """The number of the open stream that a path names; None for any other path.

    The file behind such a stream is not the command's to replace: others have written to it, and
    will.

    Examples
    --------
    >>> descriptor("/dev/fd/63"), descriptor("out.csv")
    (63, None)
    """
    place = os.path.abspath(path)  # noqa: PTH100  (`resolve` would go on to the file behind the stream)
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(place)
        if folder in ("/dev/fd", "/proc/self/fd") and name.isdecimal():
            return int(name)
        try:
            place = os.path.join(folder, os.readlink(place))  # noqa: PTH115, PTH118
        except OSError:
            return None
    return None


def real_path(path: str | os.PathLike[str]) -> Path:
    """The place behind all links, whether or not anything is there."""
    try:
        place = Path(path).resolve()
        # Python 3.13 gives the last link of the circle in place of an error
        if not place.is_symlink():
            return place
    except RuntimeError:
        pass
    except OSError as error:
        raise InputError(
            f"{os.fspath(path)}: cannot be written: {error.strerror or error}"
        ) from None
    raise InputError(f"{os.fspath(path)}: found a circle of links, expected a folder")


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """Give another name in the same folder; the file gets its own name when it is complete, so that
    it appears whole or not at all.
    """
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.{os.urandom(4).hex()}.unfinished")
    try:
        yield unfinished
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Write several files, all of them or none; missing folders are made."""
    with ExitStack() as undone:
        for target in contents:
            for folder in reversed(target.parents):
                if not folder.exists():
                    _make_folder(folder)
                    undone.callback(_remove_folder, folder)
        for target, content in contents.items():
            before = target.read_bytes() if target.is_file() else None
            undone.callback(_restore, target, before)
            write_bytes([content], str(target))
        undone.pop_all()  # every file has its name: nothing is taken back


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir()
    except OSError as error:
        raise InputError(f"{folder}: cannot be made: {error.strerror or error}") from None


def _remove_folder(folder: Path) -> None:
    with suppress(OSError):  # another program may have put a file there
        folder.rmdir()


def _restore(target: Path, before: bytes | None) -> None:
    if before is not None:
        write_bytes([before], str(target))
    elif target.is_file():
        target.unlink()


def _write_renamed(
    pieces: Iterable[bytes], target: Path, check: Callable[[Path], None] | None
) -> None:
    if target.is_dir():
        raise InputError(f"{target}: found a directory, expected the name of a file to write")
    with appearing(target) as unfinished:
        with unfinished.open("xb") as file:
            file.writelines(pieces)
        if check is not None:
            check(unfinished)
