"""Unpack an untrusted zip archive: names and sizes first, then step by step, within a limit of
memory.
"""

import struct
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import BinaryIO

from idealrank.errors import InputError, shown

MOST = 1 << 30  # bytes of memory that an archive may ask for
ALWAYS = 64 << 20  # bytes that every archive may ask for
TIMES = 100  # an archive may ask for this many times its own size
_STEP = 1 << 20  # bytes that are unpacked at a time
_BYTES_PER_VALUE = 72  # that Python takes for a value of JSON, about
# zipfile reads the whole directory of an archive, so that its size is limited.
_MOST_MEMBERS = 16
_BYTES_PER_MEMBER = 256

# The end of an archive without a comment: signature, disks, entries, size and place of the
# directory, length of the comment.
_END = struct.Struct("<4s4H2LH")
_SIGNATURE = b"PK\x05\x06"
# A large archive (ZIP64) has a locator of 20 bytes before its end, which begins so.
_LARGE_SIGNATURE = b"PK\x06\x07"
_LOCATOR = 20

# Errors for bytes that are no archive, or a damaged one; RuntimeError for one with a password.
_NO_ARCHIVE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    RuntimeError,
    ValueError,
    OverflowError,
)


class Room:
    """Memory that the parts of one archive may take together."""

    def __init__(self, packed: int) -> None:
        self._packed = packed
        self.most = min(MOST, max(ALWAYS, TIMES * packed))
        self._taken = 0

    def take(self, size: int) -> None:
        """Count these bytes."""
        self._taken += size
        if self._taken > self.most:
            raise InputError(
                f"found contents that take {self._taken:,} bytes or more when unpacked, expected "
                f"at most {self.most:,} of an archive of {self._packed:,} bytes ({ALWAYS >> 20} "
                f"MiB or {TIMES} times its size, and never more than {MOST >> 30} GiB); evaluate "
                "fewer queries at a time"
            )

    def take_json(self, content: bytes) -> None:
        """Count what a text of JSON takes as Python's objects, before it is read; errors as for
        `take`.
        """
        self.take(_BYTES_PER_VALUE * (1 + sum(map(content.count, (b",", b":", b"[", b"{")))))


def unpacked(file: BinaryIO, is_expected: Callable[[str], bool], room: Room) -> dict[str, bytes]:
    """Unpack all members of an archive."""
    try:
        _check_end(file)
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
            names: set[str] = set()
            for member in members:
                _check_member(member, is_expected, names)
                names.add(member.filename)
            room.take(sum(member.file_size for member in members))
            return {member.filename: _content(archive, member) for member in members}
    except InputError:  # a ValueError, too, but its message is complete
        raise
    except _NO_ARCHIVE as error:
        raise foreign(shown(str(error) or type(error).__name__)) from None


def foreign(problem: str) -> InputError:
    """Make the error for an archive that no store wrote."""
    return InputError(f"found {problem}, expected an exported evaluation; export it again")


def _check_end(file: BinaryIO) -> None:
    """Look at the number of members and the size of the directory, of which zipfile would make an
    object each.
    """
    size = file.seek(0, 2)
    file.seek(max(0, size - _LOCATOR - _END.size))
    tail = file.read()
    if len(tail) < _END.size:
        raise foreign("a file without the end of an archive")
    signature, *_, members, directory, _, comment = _END.unpack(tail[-_END.size :])
    if signature != _SIGNATURE or comment or tail.startswith(_LARGE_SIGNATURE):
        raise foreign("a file without the end of an archive that a store writes")
    if members > _MOST_MEMBERS or directory > _MOST_MEMBERS * _BYTES_PER_MEMBER:
        raise foreign(f"{members:,} members in a directory of {directory:,} bytes")


def _check_member(
    member: zipfile.ZipInfo, is_expected: Callable[[str], bool], earlier_names: set[str]
) -> None:
    name = member.filename
    if not is_expected(name):
        raise InputError(f"found {shown(repr(name))} in it, expected only a record and value files")
    if name in earlier_names:
        raise foreign(f"{name} twice in it")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise foreign(f"{name} in another compression than a store's")


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Unpack one member, never beyond the size that was counted."""
    content = BytesIO()
    with archive.open(member) as stream:
        while content.tell() <= member.file_size and (step := stream.read(_STEP)):
            content.write(step)
    if content.tell() != member.file_size:
        raise foreign(f"{member.filename} of another size than {member.file_size:,} bytes")
    return content.getvalue()
