"""Decompression step by step: a few megabytes in memory at a time, and no more in all than a file
of its size can reasonably hold.
"""

import mmap
from collections.abc import Callable, Generator, Iterator
from typing import Any, TypeAlias

from idealrank._lazy import load_extra
from idealrank.errors import FileFormatError
from idealrank.io.mapped_file import refuse_cut

LIMIT = 1 << 30  # bytes that any file may unpack to
RATIO = 200  # times its own size that a larger one may; text reaches 20
_MEMORY = 1 << 30  # bytes that a dictionary of xz may ask for; `xz -9` asks for 64 MiB
_CHUNK = 1 << 16
_STEP = 1 << 20
# A block of Zstandard has 4 bytes at least and 128 KiB unpacked at most; its decompressor takes no
# bound of its own.
_ZSTD_CHUNK = 1 << 10

_Pieces: TypeAlias = Generator[bytes, None, int]


def unpacked(
    name: str, kind: str, data: "mmap.mmap | bytes", limit: int | None = None
) -> Iterator[bytes]:
    """The data decompressed piece by piece; several streams one after the other are one file."""
    most = limit if limit is not None else max(LIMIT, RATIO * len(data))
    size = 0
    for piece in _unbounded(name, kind, data):
        size += len(piece)
        if size > most:
            found = f"{kind} data that unpack to more than {most:,} bytes from {len(data):,}"
            raise FileFormatError(
                name,
                0,
                found,
                "a file that unpacks to less",
                "if the file is correct, unpack it first and read the result",
            )
        yield piece


def _unbounded(name: str, kind: str, data: "mmap.mmap | bytes") -> Iterator[bytes]:
    new_stream, steps, damage = _decompressor(kind)
    stream, at = new_stream(), 0
    while at < len(data):
        chunk = bytes(data[at : at + _CHUNK])
        refuse_cut(name, data)
        try:
            at += yield from steps(stream, chunk)
        except damage as error:
            raise FileFormatError(
                name, 0, f"damaged {kind} data ({error})", f"a whole {kind} file"
            ) from None
        if stream.eof:
            at = _skip_zeros(data, at)
            refuse_cut(name, data)
            if at == len(data):
                return
            stream = new_stream()
    raise FileFormatError(
        name, 0, f"truncated {kind} data", f"a whole {kind} file", "copy or download it again"
    )


def _decompressor(
    kind: str,
) -> "tuple[Callable[[], Any], Callable[[Any, bytes], _Pieces], tuple[type[Exception], ...]]":
    """A maker of decompressors for one stream, how they take a chunk, and the exceptions that
    damaged data raise.
    """
    # Imported one by one: plain files need none of them, and few files need more than one.
    if kind == "gzip":
        import zlib  # noqa: PLC0415

        return lambda: zlib.decompressobj(wbits=31), _of_zlib, (zlib.error,)
    if kind == "bzip2":
        import bz2  # noqa: PLC0415

        return bz2.BZ2Decompressor, _of_bounded, (OSError, ValueError)
    if kind == "xz":
        import lzma  # noqa: PLC0415

        return lambda: lzma.LZMADecompressor(memlimit=_MEMORY), _of_bounded, (lzma.LZMAError,)
    zstandard = load_extra("zstandard", "reading Zstandard", "zstd")
    return (
        lambda: zstandard.ZstdDecompressor().decompressobj(),
        _of_zstandard,
        (zstandard.ZstdError,),
    )


def _of_zlib(stream: Any, chunk: bytes) -> _Pieces:
    """The pieces of a chunk, and how many of its bytes they took."""
    rest = chunk
    while True:
        piece = stream.decompress(rest, _STEP)
        yield piece
        rest = stream.unconsumed_tail
        if stream.eof or (not rest and len(piece) < _STEP):
            return len(chunk) - len(stream.unused_data)


def _of_bounded(stream: Any, chunk: bytes) -> _Pieces:
    """Decompress bzip2 and xz, which report when they need more input."""
    yield stream.decompress(chunk, _STEP)
    while not stream.eof and not stream.needs_input:
        yield stream.decompress(b"", _STEP)
    return len(chunk) - len(stream.unused_data)


def _of_zstandard(stream: Any, chunk: bytes) -> _Pieces:
    """Decompress Zstandard in small pieces."""
    for begin in range(0, len(chunk), _ZSTD_CHUNK):
        bite = chunk[begin : begin + _ZSTD_CHUNK]
        yield stream.decompress(bite)
        if stream.eof:
            return begin + len(bite) - len(stream.unused_data)
    return len(chunk)


def _skip_zeros(data: "mmap.mmap | bytes", at: int) -> int:
    """Zero bytes between or after streams are padding (tapes and block devices leave them)."""
    while at < len(data) and not any(rest := data[at : at + _CHUNK]):
        at += len(rest)
    while at < len(data) and data[at] == 0:
        at += 1
    return at
