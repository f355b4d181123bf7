"""Results of row and nested readers, their columns of ids as the kernel takes them, and their
combination into one collection.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias, cast

import numpy as np

from idealrank import _kernel
from idealrank.data.problems import describe, in_python, quoted, switch_for
from idealrank.data.qrels import Qrels, QrelsDuplicates
from idealrank.data.run import Run
from idealrank.data.types import BoolArray, FloatArray, IntArray, ShortArray, decode_id, encode_id
from idealrank.errors import FileFormatError, InputError
from idealrank.io.complaints import Complain, Complaint


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
        >>> column = IdColumn(np.array([0, 1, 3]), b"abc", np.array([1, 0, 1], np.int32)).expanded()
        >>> column.offsets, bytes(column.data)
        (array([0, 2, 3, 5]), b'bcabc')
        """
        if self.codes is None:
            return self
        sizes = np.diff(self.offsets)[self.codes]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        # A letter's place in the old column is that in the new one, shifted as the start of its id.
        shifts = np.repeat(self.offsets[self.codes] - offsets[:-1], sizes)
        letters = np.arange(offsets[-1]) + shifts
        return IdColumn(offsets, np.frombuffer(self.data, np.uint8)[letters].tobytes())

    def not_utf8(self) -> list[int]:
        r"""Rows whose id is not UTF-8, as in a file in Latin-1."""
        try:
            str(memoryview(self.data), "utf-8")
        except UnicodeDecodeError:
            return [row for row in range(len(self)) if _has_other_bytes(self[row])]
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
        if self.codes is None:
            return self.offsets, self.data
        return self.offsets, self.data, self.codes


def _has_other_bytes(text: str) -> bool:
    """Return whether a text has bytes that are not UTF-8, which are decoded as surrogates."""
    return any("\udc80" <= letter <= "\udcff" for letter in text)


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
    """Join columns, one after the other."""
    return columns[0] if len(columns) == 1 else gathered(list(columns))


def gathered(columns: list[IdColumn]) -> IdColumn:
    """Join columns, one after the other, and empty the list, so that its memory can go."""
    data = bytearray()
    offsets = [np.zeros(1, np.int64)]
    for column in map(IdColumn.expanded, columns):
        first = int(column.offsets[0])
        last = int(column.offsets[-1])
        offsets.append(column.offsets[1:].astype(np.int64) - first + len(data))
        data += memoryview(column.data)[first:last]
    columns.clear()
    return IdColumn(np.concatenate(offsets), data)


Table: TypeAlias = Literal["qrels", "run"]
# Place of a row: the path as typed, with words for the place in it, and a line, or 0.
Place: TypeAlias = tuple[str, int]


class Rows(NamedTuple):
    """Three columns of one file."""

    # queries, documents: Ids, row by row
    queries: IdColumn
    documents: IdColumn
    values: FloatArray  # shape (n,): grades or scores
    # Place of a row, counted from 0; used only for messages
    place: Callable[[int], Place]


def joined(pieces: Sequence[Rows]) -> Rows:
    """Join the rows of one file, which was read in pieces.

    Examples
    --------
    >>> from idealrank.io.row_parts import pack
    >>> pieces = [
    ...     Rows(pack(["q"]), pack([name]), np.ones(1), lambda row, name=name: (name, row))
    ...     for name in "ab"
    ... ]
    >>> joined(pieces).documents[1], joined(pieces).place(1)
    ('b', ('b', 0))
    """
    if len(pieces) == 1:
        return pieces[0]
    places = [_Piece(piece.values.size, piece.place) for piece in pieces]
    return Rows(
        queries=concatenate([piece.queries for piece in pieces]),
        documents=concatenate([piece.documents for piece in pieces]),
        values=np.concatenate([piece.values for piece in pieces]),
        place=lambda row: _place_of_row(places, row),
    )


class _Piece(NamedTuple):
    """Number of rows, and the place of each."""

    size: int
    place: Callable[[int], Place]


class Block(NamedTuple):
    """One query with its documents, as nested formats have them; the list may be empty."""

    query: str  # Query id
    documents: Sequence[str]  # A document may be here twice
    values: Sequence[float]  # As many
    place: Place  # Of the query

    def items(self) -> Iterator[tuple[str | bytes, float]]:
        """Documents with their values, as a mapping gives them, except that one may come twice."""
        return zip(_plain(self.documents), self.values, strict=True)


@dataclass(frozen=True)
class Blocks:
    """All queries of one nested file."""

    blocks: list[Block] = field(default_factory=list)

    def items(self) -> Iterator[tuple[str | bytes, Any]]:
        """Queries with their documents: as a dict, which the kernel trusts and walks fastest,
        wherever nothing comes twice.
        """
        seen: set[str] = set()
        for block in self.blocks:
            documents = dict(block.items())
            is_first = block.query not in seen and len(documents) == len(block.documents)
            seen.add(block.query)
            yield _plain([block.query])[0], documents if is_first else block


def _plain(ids: Sequence[str]) -> Sequence[str | bytes]:
    """The ids, as bytes where they hold bytes that are not UTF-8."""
    try:
        "".join(ids).encode()
    except UnicodeEncodeError:
        return [encode_id(identifier) for identifier in ids]
    return ids


def to_qrels(
    parts: Iterable[Rows | Blocks], paths: Sequence[str], duplicates: QrelsDuplicates
) -> Qrels:
    """Make judgments of all files of a collection."""
    return Qrels.from_table(_table(parts, "qrels", duplicates), name=paths[0], paths=paths)


def to_run(parts: Iterable[Rows | Blocks], paths: Sequence[str], name: str) -> Run:
    """Make a run of all files of a collection; the convention decides on documents listed twice."""
    return Run.from_table(_table(parts, "run", "keep"), name=name, paths=paths)


def _table(parts: Iterable[Rows | Blocks], table: Table, duplicates: Any) -> _kernel.Table:
    columns = _kernel.ColumnTable()
    rows = list[_Piece]()
    blocks = list[Block]()
    try:
        for part in parts:  # which may be read on the way: none is kept
            if isinstance(part, Blocks):
                blocks += part.blocks
                continue
            rows.append(_Piece(part.values.size, part.place))
            columns.add(part.queries.parts, part.documents.parts, np.ascontiguousarray(part.values))
        if not rows:
            return _kernel.from_mapping(cast(Any, Blocks(blocks)), duplicates=duplicates)
        if blocks:
            raise InputError(
                "found rows in one file and nested lists in another, expected one layout for "
                "all files of a collection"
            )
        return columns.finish(duplicates=duplicates)
    except _kernel.ParseError as error:
        _raise(error, table, rows, blocks)


def _raise(
    error: Exception, table: Table, rows: Sequence[_Piece], blocks: Sequence[Block]
) -> NoReturn:
    kind, _, row, text, detail = error.args
    path, line = _place_of_row(rows, row - 1) if rows else _place_of_second(blocks, text)
    problem, expected, hint = describe(kind, text, detail, table)
    if kind == "duplicate":
        problem = f"{quoted(text)} a second time"
        if rows:
            first_path, first_line = _place_of_row(rows, int(detail.split(b":")[1]) - 1)
            is_same_file = first_path == path
            earlier = f"on line {first_line}" if is_same_file else f"in {first_path}:{first_line}"
            problem += f" (first {earlier})" if first_line else ""
        if path.startswith(f"{table}: row "):  # a dataframe, which has no file
            hint = in_python(switch_for(kind))
    raise FileFormatError(path, line, problem, expected, hint, switch=switch_for(kind)) from None


def _place_of_row(pieces: Sequence[_Piece], row: int) -> Place:
    row_of_piece = row
    for piece in pieces:
        if row_of_piece < piece.size:
            return piece.place(row_of_piece)
        row_of_piece -= piece.size
    raise IndexError(row)


def _place_of_second(blocks: Sequence[Block], text: bytes) -> Place:
    """Find the block in which a pair appears for the second time."""
    pair = decode_id(text)
    seen = set()
    for block in blocks:
        # ids may hold blanks, so the text does not tell where the query ends
        if pair.startswith(block.query + " "):
            for document in block.documents:
                if (block.query, document) in seen and pair == f"{block.query} {document}":
                    return block.place
                seen.add((block.query, document))
    return blocks[0].place


def complain_of_duplicates(
    parts: Sequence[Rows | Blocks], table: Table, complain: Complain
) -> None:
    """Hand every document that comes twice under a query to `complain`.

    Examples
    --------
    >>> complain_of_duplicates(
    ...     [Blocks([Block("q", ["d", "d"], [1, 2], ("a.json", 0))])],
    ...     "qrels",
    ...     lambda complaint: print(complaint.found),
    ... )
    "q d" a second time
    """
    if not _repeats(parts, table):
        return
    seen: set[tuple[str, str]] = set()
    _, expected, hint = describe("duplicate", b"", b"", table)
    for query, document, part, number in _pairs(parts):
        if (query, document) in seen:
            place = part.place(number) if isinstance(part, Rows) else part.blocks[number].place
            path, line = place
            complain(
                Complaint(
                    kind="duplicate",
                    path=path,
                    line=line,
                    found=f'"{query} {document}" a second time',
                    expected=expected,
                    hint=hint,
                )
            )
        seen.add((query, document))


def _repeats(parts: Sequence[Rows | Blocks], table: Table) -> bool:
    """Return whether anything repeats; the kernel checks this faster and in less memory than the
    search for all repeats.
    """
    try:
        _table(parts, table, "error")
    except FileFormatError:
        return True
    return False


def _pairs(parts: Sequence[Rows | Blocks]) -> Iterator[tuple[str, str, Rows | Blocks, int]]:
    """Yield query, document, and where they are: a part, and the number of its row or block."""
    for part in parts:
        if isinstance(part, Rows):
            for row in range(len(part.queries)):
                yield part.queries[row], part.documents[row], part, row
        else:
            for number, block in enumerate(part.blocks):
                for document in block.documents:
                    yield block.query, document, part, number
