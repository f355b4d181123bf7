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
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeAlias

from idealrank import _kernel
from idealrank._lazy import load_extra
from idealrank.errors import FileFormatError, InputError, near_ids
from idealrank.io.complaints import Notes


class MappedFile(mmap.mmap):
    """A mapped file that is watched: cut short, it reads as zeros from there on, and no bus error
    ends the process.
    """

    watch: "_kernel.Watch | None" = None  # gone before the mapping is

    def close(self) -> None:
        self.watch = None
        super().close()


def refuse_cut(name: str, data: "mmap.mmap | bytes") -> None:
    """Raise FileFormatError if a mapped file became shorter since it was mapped."""
    if isinstance(data, MappedFile) and data.watch is not None and data.watch.cut:
        problem = "a file that became shorter during reading"
        expected = "an unchanged file"
        hint = "evaluate a copy if other programs change the file"
        raise FileFormatError(name, 0, problem, expected, hint)


LIMIT = 1 << 30  # bytes that any file may unpack to
RATIO = 200  # times its own size that a larger one may; text reaches 20
_MEMORY = 1 << 30  # bytes that a dictionary of xz may ask for; `xz -9` asks for 64 MiB
_STEP = 1 << 20  # bytes that a decompressor may return at a time
# A block of Zstandard has 4 bytes at least and 128 KiB unpacked at most; its decompressor takes no
# bound of its own.
_ZSTD_CHUNK = 1 << 10

_Unpacked: TypeAlias = Generator[bytes, None, int]


def unpacked(
    name: str, kind: str, data: "mmap.mmap | bytes", limit: int | None = None
) -> Iterator[bytes]:
    """Decompress data piece by piece; several streams one after the other are one file."""
    largest = limit if limit is not None else max(LIMIT, RATIO * len(data))
    size = 0
    for piece in _unbounded(name, kind, data):
        size += len(piece)
        if size > largest:
            problem = f"{kind} data that unpack to more than {largest:,} bytes from {len(data):,}"
            raise FileFormatError(
                name,
                0,
                problem,
                "a file that unpacks to less",
                "if the file is correct, unpack it first and read the result",
            )
        yield piece


def _unbounded(name: str, kind: str, data: "mmap.mmap | bytes") -> Iterator[bytes]:
    decompressor = _decompressor(kind)
    stream = decompressor.new_stream()
    position = 0
    while position < len(data):
        chunk = bytes(data[position : position + _CHUNK])
        refuse_cut(name, data)
        try:
            position += yield from decompressor.unpack(stream, chunk)
        except decompressor.damage as error:
            raise FileFormatError(
                name, 0, f"damaged {kind} data ({error})", f"a whole {kind} file"
            ) from None
        if stream.eof:
            position = _skip_zeros(data, position)
            refuse_cut(name, data)
            if position == len(data):
                return
            stream = decompressor.new_stream()
    raise FileFormatError(
        name, 0, f"truncated {kind} data", f"a whole {kind} file", "copy or download it again"
    )


class _Decompressor(NamedTuple):
    """Functions of one compression."""

    new_stream: Callable[[], Any]  # Makes the decompressor of one stream
    unpack: Callable[[Any, bytes], _Unpacked]  # Passes a chunk to it
    damage: tuple[type[Exception], ...]  # Exceptions that damaged data raise


def _decompressor(kind: str) -> _Decompressor:
    # Imported one by one: plain files need none of them, and few files need more than one.
    if kind == "gzip":
        import zlib  # noqa: PLC0415

        return _Decompressor(lambda: zlib.decompressobj(wbits=31), _of_zlib, (zlib.error,))
    if kind == "bzip2":
        import bz2  # noqa: PLC0415

        return _Decompressor(bz2.BZ2Decompressor, _of_bounded, (OSError, ValueError))
    if kind == "xz":
        import lzma  # noqa: PLC0415

        new_stream = partial(lzma.LZMADecompressor, memlimit=_MEMORY)
        return _Decompressor(new_stream, _of_bounded, (lzma.LZMAError,))
    zstandard = load_extra("zstandard", "reading Zstandard", "zstd")
    return _Decompressor(
        lambda: zstandard.ZstdDecompressor().decompressobj(), _of_zstandard, (zstandard.ZstdError,)
    )


def _of_zlib(stream: Any, chunk: bytes) -> _Unpacked:
    """The pieces of a chunk, and how many of its bytes they took."""
    packed = chunk
    while True:
        piece = stream.decompress(packed, _STEP)
        yield piece
        packed = stream.unconsumed_tail
        # A piece of the full size may have more behind it, even if all of the chunk was taken.
        if stream.eof or (not packed and len(piece) < _STEP):
            return len(chunk) - len(stream.unused_data)


def _of_bounded(stream: Any, chunk: bytes) -> _Unpacked:
    """Decompress bzip2 and xz, which report when they need more input."""
    yield stream.decompress(chunk, _STEP)
    while not stream.eof and not stream.needs_input:
        yield stream.decompress(b"", _STEP)
    return len(chunk) - len(stream.unused_data)


def _of_zstandard(stream: Any, chunk: bytes) -> _Unpacked:
    """Decompress Zstandard in small pieces."""
    for begin in range(0, len(chunk), _ZSTD_CHUNK):
        bite = chunk[begin : begin + _ZSTD_CHUNK]
        yield stream.decompress(bite)
        if stream.eof:
            return begin + len(bite) - len(stream.unused_data)
    return len(chunk)


def _skip_zeros(data: "mmap.mmap | bytes", position: int) -> int:
    """Skip zero bytes between or after streams: tapes and block devices leave them as padding."""
    while position < len(data) and not any(data[position : position + _CHUNK]):
        position = min(position + _CHUNK, len(data))
    while position < len(data) and data[position] == 0:
        position += 1
    return position


AnyPath: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = AnyPath | Sequence[AnyPath]
Data: TypeAlias = mmap.mmap | bytes

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
"""Bytes that editors put in front of UTF-8."""

_CHUNK = 1 << 16  # bytes of a file that are read at a time
_ALIKE = 0.7  # likeness of file names, without ending, from which one is suggested
_COMPRESSED = {"gzip": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstandard": ".zst"}


class Source(NamedTuple):
    """One input, mapped."""

    path: str  # As the user typed it; ``"-"`` is standard input
    data: Data  # The decompressed bytes

    def open(self) -> io.BufferedReader:
        """Return a file-like reader of the same bytes with its own position; nothing is copied."""
        return io.BufferedReader(_Raw(self.data, self.path))

    def refuse_cut(self) -> None:
        """Refuse a file that was truncated during reading, since the bytes read are not its
        content.
        """
        refuse_cut(self.path, self.data)

    def read(self) -> bytes:
        """Return a copy of all bytes."""
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
        self._data = data
        self._name = name
        self._view = memoryview(data)
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        starts = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: len(self._view)}
        self._position = max(0, offset + starts[whence])
        return self._position

    def readinto(self, buffer: Any) -> int:
        piece = self._view[self._position : self._position + len(buffer)]
        buffer[: len(piece)] = piece
        refuse_cut(self._name, self._data)
        self._position += len(piece)
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
    r"""Open a file to be read once from its beginning, decompressed as it is read: an early stop
    unpacks no more than was read. The caller closes it.
    """
    name = os.fspath(path)
    data, kind = _opened(name, notes)
    if not kind and Path(name).is_file():  # read, not mapped: pages of a map stay with the process
        return io.BufferedReader(io.FileIO(name), _CHUNK)
    raw = _Pieces(unpacked(name, kind, data)) if kind else _Raw(data, name)
    return io.BufferedReader(raw, _CHUNK)


def open_sources(paths: Paths, notes: Notes) -> list[Source]:
    """Map one path or a list of them."""
    if hasattr(paths, "columns") or hasattr(paths, "collect_schema") or isinstance(paths, Mapping):
        raise InputError(
            f"found {type(paths).__name__}, expected a path or a list of paths; evaluate() takes "
            f"it directly, and a dataframe with qrels_columns= and run_columns="
        )
    listed: Sequence[AnyPath] = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    names = [os.fspath(path) for path in listed]
    if not names:
        raise InputError("found an empty list of paths, expected at least one file")
    if names.count("-") > 1:
        raise InputError(
            "found '-' (standard input) more than once, expected it once, since it can be read "
            "only once"
        )
    return [_open(name, notes) for name in names]


def _open(name: str, notes: Notes) -> Source:
    data, kind = _opened(name, notes)
    try:
        return Source(name, _spooled(unpacked(name, kind, data)) if kind else data)
    except OSError as error:
        raise InputError(refusal_text(name, error)) from None


def _opened(name: str, notes: Notes) -> tuple[Data, str]:
    """Return the bytes of a file as they are, and their compression."""
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
        by_ending = (packed for packed, ending in _COMPRESSED.items() if name.endswith(ending))
        promised = next(by_ending, "")
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
        folder = path.parent
        siblings = [sibling.name for sibling in folder.iterdir()] if _is_folder(folder) else []
        near = near_ids(path.name, siblings)
        close = [sibling for sibling in near if _are_alike(path, Path(sibling))]
        hint = f"; did you mean {str(path.with_name(close[0]))!r}?" if close else ""
        return f"{name}: found no such file{hint}"
    if isinstance(error, IsADirectoryError) or _is_folder(Path(name)):
        return f"{name}: found a directory, expected a file"
    if isinstance(error, PermissionError):
        return f"{name}: no permission to read it"
    return f"{name}: cannot be read: {error.strerror or error}"


def _are_alike(path: Path, other: Path) -> bool:
    """Return whether names are similar without their ending, which may be most of a short name."""
    from difflib import SequenceMatcher  # noqa: PLC0415  (only after a mistake)

    return SequenceMatcher(None, path.stem.casefold(), other.stem.casefold()).ratio() >= _ALIKE


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
    # a device such as /dev/zero has no end; /dev/null ends at once
    if stat.S_ISCHR(mode) and not file.isatty() and file.read(1):
        raise InputError(f"{name}: found a device, expected a file, a pipe or standard input")
    return _spooled(iter(lambda: file.read(1 << 20), b""))


def _mode(file: IO[bytes]) -> int:
    try:
        return os.fstat(file.fileno()).st_mode
    except io.UnsupportedOperation:  # a stand-in for standard input that lives in memory
        return 0


def _spooled(pieces: Iterable[bytes]) -> Data:
    """Write the pieces to a temporary file without a name, and map it."""
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
    """Tell the compression by magic bytes, none of which can begin a text; an ending may be
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
    modified = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
    return InputFile(path, status.st_size, modified)


def input_files(paths: Iterable[str]) -> tuple[InputFile, ...]:
    """Describe the files among the paths; standard input and other streams have nothing to
    describe.
    """
    return tuple(input_file(path) for path in paths if path != "-" and Path(path).is_file())
