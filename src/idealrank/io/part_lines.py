"""Lines of a part of a run: the places in the files of the lines that cannot be used, and the lines
before them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from idealrank import _kernel
from idealrank.io.sources import BYTE_ORDER_MARK, Source

_BLOCK = 1 << 20  # bytes in which lines are looked for at a time
Place = tuple[int, int]
"""Number of a source, and of a line from 1."""


@dataclass(frozen=True)
class KnownLine:
    r"""A line by its bytes, since a part has no line numbers of the files."""

    text: bytes  # The whole line, without its end
    # Lines before it that are the same; all of them are of its query, and so in its part
    equal: int

    @classmethod
    def of(cls, buffers: Sequence[Any], place: Place) -> "KnownLine":
        """Return the line at a place of a part."""
        source, number = place
        text = _line(buffers[source], number)
        places = (equal_place for equal_place, _ in _equal_lines(buffers, [text]))
        equal_before = takewhile(lambda equal_place: equal_place < place, places)
        return cls(text, sum(1 for _ in equal_before))


@dataclass(frozen=True)
class LineProblem:
    r"""A line of a part that cannot be used."""

    error: _kernel.ParseError  # As the kernel raised it for the part
    line: KnownLine  # The line
    first: KnownLine | None  # Of a document that comes twice, the line with its first appearance

    @classmethod
    def of(cls, error: _kernel.ParseError, buffers: Sequence[Any]) -> "LineProblem":
        """Return the lines of an error of a part, which has `buffers`."""
        kind, source, number, _, detail = error.args
        first = None
        if kind == "duplicate":
            first_source, _, first_number = detail.partition(b":")
            first = KnownLine.of(buffers, (int(first_source), int(first_number)))
        return cls(error.with_traceback(None), KnownLine.of(buffers, (source, number)), first)


def first_problem(problems: Sequence[LineProblem], sources: Sequence[Source]) -> _kernel.ParseError:
    r"""Return the error of the problem that comes first in the files, with its place there."""
    lines = [line for problem in problems for line in (problem.line, problem.first)]
    places: dict[bytes, list[Place]] = {line.text: [] for line in lines if line is not None}

    def let_go() -> None:
        for source in sources:
            source.let_go()

    files = [source.data for source in sources]
    for place, text in _equal_lines(files, list(places), let_go):
        places[text].append(place)
        # the line of the problem is the one with as many equal lines before it as in its part
        for problem in problems:
            if problem.line.text == text and len(places[text]) == problem.line.equal + 1:
                kind, _, _, shown, detail = problem.error.args
                if problem.first is not None:
                    detail = b"%d:%d" % places[problem.first.text][problem.first.equal]
                return _kernel.ParseError(kind, *place, shown, detail)
    return _kernel.ParseError("changed", 0, 0, b"", b"")


def buffers_before(buffers: Sequence[Any], place: Place) -> Iterator[Any]:
    r"""Yield the lines of a part before a place."""
    source, number = place
    yield from buffers[:source]
    buffer = buffers[source]
    lines_left = number - 1
    end = first_line(buffer)
    for block in _blocks(buffer):
        n_lines = block.count(b"\n")
        if lines_left <= n_lines:
            letters = sum(map(len, block.split(b"\n", lines_left)[:lines_left]))
            end += letters + lines_left  # each line has its end
            break
        end += len(block)
        lines_left -= n_lines
    yield buffer[:end]


def _equal_lines(
    buffers: Iterable[Any], texts: Sequence[bytes], let_go: Callable[[], None] | None = None
) -> Iterator[tuple[Place, bytes]]:
    """Yield the place and the text of each line that has one of the texts, in their order."""
    for source, buffer in enumerate(buffers):
        number = 1
        for block in _blocks(buffer):
            starts: list[tuple[int, bytes]] = []
            for text in texts:
                starts += [(start, text) for start in _starts(block, text)]
            counted = 0  # bytes of the block whose lines `number` counts
            for start, text in sorted(starts):
                number += block.count(b"\n", counted, start)
                counted = start
                yield (source, number), text
            number += block.count(b"\n", counted)
            if let_go is not None:
                let_go()


def _blocks(buffer: Any) -> Iterator[bytes]:
    """Yield whole lines, about a megabyte at a time."""
    begin = first_line(buffer)
    size = _BLOCK
    while begin < len(buffer):
        block = bytes(buffer[begin : begin + size])
        end = len(block) if begin + len(block) == len(buffer) else block.rfind(b"\n") + 1
        if not end:  # a line that is longer
            size *= 2
            continue
        yield block[:end]
        begin += end
        size = _BLOCK


def has_mark(buffer: Any, place: int = 0) -> bool:
    """Return whether a byte order mark begins at a place."""
    return bytes(buffer[place : place + len(BYTE_ORDER_MARK)]) == BYTE_ORDER_MARK


def first_line(buffer: Any) -> int:
    """Return where the first line begins: after a byte order mark."""
    return len(BYTE_ORDER_MARK) if has_mark(buffer) else 0


def _starts(block: bytes, text: bytes) -> Iterator[int]:
    """Yield where the lines with this text begin."""
    newline = ord("\n")
    start = block.find(text)
    while start >= 0:
        end = start + len(text)
        begins_line = start == 0 or block[start - 1] == newline
        ends_line = end == len(block) or block[end] == newline
        if begins_line and ends_line:
            yield start
        start = block.find(text, start + 1)


def _line(buffer: Any, number: int) -> bytes:
    number_in_block = number
    for block in _blocks(buffer):
        n_lines = block.count(b"\n")
        if number_in_block <= n_lines or not block.endswith(b"\n"):
            return block.split(b"\n", number_in_block)[number_in_block - 1]
        number_in_block -= n_lines
    return b""
