"""The bytes of a file, a stream or a compressed file, mapped into memory; nothing is parsed here.

Plain files are mapped as they are. Standard input, pipes and compressed files are written to an
unlinked temporary file first, so that everything after this module sees one kind of thing: a buffer
that the operating system pages in on access.
"""

import io
import mmap
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from idealrank import _kernel
from idealrank.errors import InputError, near_ids
from idealrank.io.decompression import unpacked
from idealrank.io.mapped_file import MappedFile, refuse_cut
from idealrank.io.notes import Notes

AnyPath: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = AnyPath | Sequence[AnyPath]
Data: TypeAlias = mmap.mmap | bytes

_CHUNK = 1 << 16
_ALIKE = 0.7  # likeness of file names, without ending, from which one is suggested
_COMPRESSED = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstandard": ".zst"}


class Source(NamedTuple):
    """One input, mapped."""

    path: str  # As the user typed it; ``"-"`` is standard input
    data: Data  # The decompressed bytes

    def open(self) -> io.BufferedReader:
        """A file-like reader with a position of its own over the same bytes, none of them copied
        beforehand.
        """
        return io.BufferedReader(_Raw(self.data, self.path))

    def refuse_cut(self) -> None:
        """Refuse a file that was truncated during reading, since the bytes read are not its
        content.
        """
        refuse_cut(self.path, self.data)

    def read(self) -> bytes:
        """All bytes, copied."""
        data = bytes(self.data)
        self.refuse_cut()
        return data

    def let_go(self) -> None:
        """Give the pages of a mapped file back to the system; they are read again when they are
        asked for.
        """
        if isinstance(self.data, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            self.data.madvise(mmap.MADV_DONTNEED)


class _Raw(io.RawIOBase):
    """Bytes in memory, with a position."""

    def __init__(self, data: Data, name: str) -> None:
        self._data, self._name = data, name
        self._view = memoryview(data)
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at = max(
            0,
            offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: len(self._view)}[whence],
        )
        return self._at

    def readinto(self, buffer: Any) -> int:
        piece = self._view[self._at : self._at + len(buffer)]
        buffer[: len(piece)] = piece
        refuse_cut(self._name, self._data)
        self._at += len(piece)
        return len(piece)


class _Pieces(io.RawIOBase):
    """Bytes that come piece by piece, none of them kept."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not len(self._rest):
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def open_stream(path: AnyPath, notes: Notes) -> io.BufferedReader:
    r"""One file to be read once from its beginning, decompressed as it is read: an early stop has
    unpacked no more than that. Close it.
    """
    name = os.fspath(path)
    data, kind = _opened(name, notes)
    if not kind and Path(name).is_file():  # read, not mapped: pages of a map stay with the process
        return io.BufferedReader(io.FileIO(name), _CHUNK)
    return io.BufferedReader(
        _Pieces(unpacked(name, kind, data)) if kind else _Raw(data, name), _CHUNK
    )


def open_sources(paths: Paths, notes: Notes) -> list[Source]:
    """Map one path or a list of them."""
    if hasattr(paths, "columns") or hasattr(paths, "collect_schema") or isinstance(paths, Mapping):
        raise InputError(
            f"found {type(paths).__name__}, expected a path or a list of paths; evaluate() "
            f"takes it directly, and a dataframe "
            "with qrels_columns= and run_columns="
        )
    listed: Sequence[AnyPath] = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    names = [os.fspath(path) for path in listed]
    if not names:
        raise InputError("found an empty list of paths, expected at least one file")
    if names.count("-") > 1:
        raise InputError(
            "found '-' (standard input) more than once, expected it once, since it can be "
            "read only once"
        )
    return [_open(name, notes) for name in names]


def _open(name: str, notes: Notes) -> Source:
    data, kind = _opened(name, notes)
    try:
        return Source(name, _spooled(unpacked(name, kind, data)) if kind else data)
    except OSError as error:
        raise InputError(refusal_text(name, error)) from None


def _opened(name: str, notes: Notes) -> tuple[Data, str]:
    """The bytes of a file as they are, and their compression."""
    if "\0" in name:
        raise InputError(f"{name!r}: found a NUL byte in a path, expected the name of a file")
    try:
        os.fsencode(name)
    except UnicodeEncodeError:
        raise InputError(
            f"{name!r}: found half a surrogate pair in a path, expected the name of a file"
        ) from None
    try:
        if name == "-":
            data = _map(sys.stdin.buffer, name)
        else:
            with Path(name).open("rb") as file:
                data = _map(file, name)
        kind = _compression(data)
        promised = next((kind for kind, ending in _COMPRESSED.items() if name.endswith(ending)), "")
        if promised and promised != kind and len(data):
            notes.warn(
                f"{name}: found {kind or 'uncompressed'} data, expected {promised} from the "
                f"ending; its content decides"
            )
    except OSError as error:
        raise InputError(refusal_text(name, error)) from None
    return data, kind


def refusal_text(name: str, error: OSError) -> str:
    """Return one sentence for a file that cannot be opened."""
    if isinstance(error, FileNotFoundError):
        path = Path(name)
        siblings = (
            [sibling.name for sibling in path.parent.iterdir()] if _is_folder(path.parent) else []
        )
        close = [
            sibling for sibling in near_ids(path.name, siblings) if _are_alike(path, Path(sibling))
        ]
        return f"{name}: found no such file" + (
            f"; did you mean {str(path.with_name(close[0]))!r}?" if close else ""
        )
    if isinstance(error, IsADirectoryError) or _is_folder(Path(name)):
        return f"{name}: found a directory, expected a file"
    if isinstance(error, PermissionError):
        return f"{name}: no permission to read it"
    return f"{name}: cannot be read: {error.strerror or error}"


def _are_alike(one: Path, other: Path) -> bool:
    """Return whether names are similar without their ending, which may be most of a short name."""
    from difflib import SequenceMatcher  # noqa: PLC0415  (only after a mistake)

    return SequenceMatcher(None, one.stem.casefold(), other.stem.casefold()).ratio() >= _ALIKE


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # a name too long for the system
        return False


def _map(file: IO[bytes], name: str) -> Data:
    """Map an open file; spool it first when it is a stream, or when some of it was read already."""
    mode = _mode(file)
    if stat.S_ISREG(mode) and file.tell() == 0:
        return _map_regular(file)
    # /dev/zero and its kind have no end; /dev/null has nothing else
    if stat.S_ISCHR(mode) and not file.isatty() and file.read(1):
        raise InputError(f"{name}: found a device, expected a file, a pipe or standard input")
    return _spooled(iter(lambda: file.read(1 << 20), b""))


def _mode(file: IO[bytes]) -> int:
    try:
        return os.fstat(file.fileno()).st_mode
    except io.UnsupportedOperation:  # a stand-in for standard input that lives in memory
        return 0


def _spooled(pieces: Iterable[bytes]) -> Data:
    """The pieces written to a temporary file without a name, and that mapped."""
    import tempfile  # noqa: PLC0415  (plain files do without)

    with tempfile.TemporaryFile() as spool:
        spool.writelines(pieces)
        spool.flush()
        return _map_regular(spool)


def _map_regular(file: IO[bytes]) -> Data:
    if os.fstat(file.fileno()).st_size == 0:
        return b""
    mapped = MappedFile(file.fileno(), 0, access=mmap.ACCESS_READ)
    mapped.watch = _kernel.Watch(mapped)
    if hasattr(mmap, "MADV_WILLNEED"):
        mapped.madvise(mmap.MADV_WILLNEED)
    return mapped


def _compression(data: Data) -> str:
    """The compression by its magic bytes, none of which can begin a text; an ending may be
    wrong.
    """
    start = bytes(data[:10])
    if start.startswith(b"\x1f\x8b"):
        return "gzip"
    if start.startswith(b"BZh") and start[4:10] in (b"1AY&SY", b"\x17rE8P\x90"):
        return "bzip2"
    if start.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    return "zstandard" if start.startswith(b"\x28\xb5\x2f\xfd") else ""
