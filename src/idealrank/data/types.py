"""Array types, the lazily decoded sequence of query ids, and `Progress` of a kernel job for
packages that do not import the kernel.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from idealrank import _kernel
from idealrank._kernel import Progress
from idealrank.errors import OptionError

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
ShortArray: TypeAlias = npt.NDArray[np.int32]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
KeyArray: TypeAlias = npt.NDArray[np.uint64]
AnyArray: TypeAlias = npt.NDArray[Any]


class QueryIds(Sequence[str]):
    """Query ids as a sequence of text, decoded on access.

    Ten million ids as Python strings weigh more than the file they came from; most evaluations
    never need them.
    """

    def __init__(self, size: int, decode: Callable[[], list[str]]) -> None:
        self._size = size
        self._decode = decode
        self._ids: list[str] | None = None

    def _all(self) -> list[str]:
        if self._ids is None:
            self._ids = self._decode()
        return self._ids

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self._all()[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[type[list[str]], tuple[list[str]]]:
        """Another process gets the ids themselves."""
        return list, (list(self),)

    def __repr__(self) -> str:
        return f"QueryIds({self._size} queries)"


def thread_count(threads: object) -> int:
    """A number of threads, 0 for all cores."""
    if (
        isinstance(threads, bool)
        or not isinstance(threads, (int, np.integer))
        or not 0 <= threads < 1 << 16
    ):
        raise OptionError(f"threads={threads!r}: expected a whole number, 0 for all cores")
    return int(threads)


def decode_id(identifier: bytes) -> str:
    """Id bytes as text; bytes that are not UTF-8 come back as surrogates, so that nothing is
    lost.
    """
    return identifier.decode("utf-8", "surrogateescape")


def table_columns(table: _kernel.Table) -> tuple[list[bytes], list[bytes], FloatArray]:
    """Query ids, document ids and values of a table, a row each: what another process builds it
    from again.
    """
    queries: list[bytes] = []
    for query, size in zip(table.query_ids(), np.diff(table.offsets).tolist(), strict=True):
        queries += [query] * size
    return queries, table.document_ids(np.arange(table.n_rows)), table.values


def encode_id(identifier: str) -> bytes:
    """The bytes of an id, the inverse of `decode_id`."""
    return identifier.encode("utf-8", "surrogateescape")


def sought_id(identifier: str) -> bytes:
    r"""The bytes of an id that is looked for; half a surrogate pair, which no id holds, is looked
    for as well, and not found.
    """
    try:
        return encode_id(identifier)
    except UnicodeEncodeError:
        return identifier.encode("utf-8", "surrogatepass")


__all__ = ["Progress"]
