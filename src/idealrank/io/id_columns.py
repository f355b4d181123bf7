"""Columns of ids as the kernel takes them: one run of bytes, and where each id begins."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from idealrank.data.types import BoolArray, IntArray, ShortArray, decode_id, encode_id


@dataclass(frozen=True)
class IdColumn:
    """Ids packed as Arrow packs text."""

    offsets: IntArray | ShortArray  # shape (n + 1,): id i is ``data[offsets[i]:offsets[i + 1]]``
    data: Any  # UTF-8
    # shape (n_rows,): place of each row's id among these; None where row i has id i
    codes: ShortArray | None = None

    def __len__(self) -> int:
        return int(self.offsets.size) - 1 if self.codes is None else int(self.codes.size)

    def __getitem__(self, row: int) -> str:
        return decode_id(self.bytes_at(row))

    def bytes_at(self, row: int) -> bytes:
        """One id as it is in memory."""
        place = row if self.codes is None else int(self.codes[row])
        return bytes(memoryview(self.data)[self.offsets[place] : self.offsets[place + 1]])

    def expanded(self) -> "IdColumn":
        """Return the column with an id for each row in place of codes.

        Examples
        --------
        >>> found = IdColumn(np.array([0, 1, 3]), b"abc", np.array([1, 0, 1], np.int32)).expanded()
        >>> found.offsets, bytes(found.data)
        (array([0, 2, 3, 5]), b'bcabc')
        """
        if self.codes is None:
            return self
        sizes = np.diff(self.offsets)[self.codes]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        letters = np.arange(offsets[-1]) + np.repeat(self.offsets[self.codes] - offsets[:-1], sizes)
        return IdColumn(offsets, np.frombuffer(self.data, np.uint8)[letters].tobytes())

    def not_utf8(self) -> list[int]:
        r"""Rows whose id is not UTF-8, as in a file in Latin-1."""
        try:
            str(memoryview(self.data), "utf-8")
        except UnicodeDecodeError:
            return [
                row
                for row in range(len(self))
                if any("\udc80" <= letter <= "\udcff" for letter in self[row])
            ]
        return []

    @property
    def is_empty(self) -> BoolArray:
        """Mask of the rows whose id is empty."""
        empty: BoolArray = self.offsets[1:] == self.offsets[:-1]
        if self.codes is None:
            return empty
        return empty[self.codes] if empty.any() else np.zeros(self.codes.size, bool)

    def take(self, rows: Sequence[int]) -> "IdColumn":
        """Some of the ids, in this order.

        Examples
        --------
        >>> pack(["a", "b", "c"]).take([2, 0])[0]
        'c'
        """
        return pack([self[row] for row in rows])

    @property
    def parts(self) -> tuple[Any, ...]:
        """Return the column for the kernel."""
        return (
            (self.offsets, self.data)
            if self.codes is None
            else (self.offsets, self.data, self.codes)
        )


def pack(ids: Sequence[str]) -> IdColumn:
    """Pack texts; surrogates that stand for bytes outside UTF-8 become those bytes again."""
    text = "".join(ids)
    offsets = np.zeros(len(ids) + 1, np.int64)
    if text.isascii():
        np.cumsum(np.fromiter(map(len, ids), np.int64, len(ids)), out=offsets[1:])
        return IdColumn(offsets, text.encode("ascii"))
    encoded = [encode_id(identifier) for identifier in ids]
    np.cumsum(np.fromiter(map(len, encoded), np.int64, len(ids)), out=offsets[1:])
    return IdColumn(offsets, b"".join(encoded))


def concatenate(columns: Sequence[IdColumn]) -> IdColumn:
    """One column after the other."""
    return columns[0] if len(columns) == 1 else gathered(list(columns))


def gathered(columns: list[IdColumn]) -> IdColumn:
    """One column after the other, and the list emptied on the way, so that its memory can go."""
    data, offsets = bytearray(), [np.zeros(1, np.int64)]
    for column in map(IdColumn.expanded, columns):
        first, last = int(column.offsets[0]), int(column.offsets[-1])
        offsets.append(column.offsets[1:].astype(np.int64) - first + len(data))
        data += memoryview(column.data)[first:last]
    columns.clear()
    return IdColumn(np.concatenate(offsets), data)
