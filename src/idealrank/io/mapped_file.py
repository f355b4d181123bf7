"""A file in memory as the system maps it, which may be cut short while it is read."""

import mmap
from typing import TYPE_CHECKING

from idealrank.errors import FileFormatError

if TYPE_CHECKING:
    from idealrank import _kernel


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
        found, expected = "a file that became shorter during reading", "an unchanged file"
        raise FileFormatError(
            name, 0, found, expected, "evaluate a copy if other programs change the file"
        )
