"""Places of lines that cannot be used, in files that are read in parts: found block by block, so
that no file is in memory as a whole.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from idealrank import _kernel
from idealrank.io.sources import Source

_BLOCK = 1 << 20
MARK = b"\xef\xbb\xbf"
"""Byte order mark."""

Place = tuple[int, int]
"""Number of a source, and of a line from 1."""


@dataclass(frozen=True)
class KnownLine:
    r"""A line by its bytes, since a part does not know where its lines stand in the files."""

    text: bytes  # The whole line, without its end
    # Lines before it that are the same; all of them are of its query, and so in its part
    equal: int

    @classmethod
    def of(cls, buffers: Sequence[Any], place: Place) -> "KnownLine":
        """Return the line at a place of a part."""
        text = _line(buffers[place[0]], place[1])
        return cls(
            text, len(list(takewhile(lambda found: found[0] < place, _found(buffers, [text]))))
        )


@dataclass(frozen=True)
class LineProblem:
    r"""A line of a part that cannot be used."""

    error: _kernel.ParseError  # As the kernel raised it for the part
    line: KnownLine  # The line
    first: KnownLine | None  # Of a document that comes twice, the line with its first appearance

    @classmethod
    def of(cls, error: _kernel.ParseError, buffers: Sequence[Any]) -> "LineProblem":
        """Know the lines of an error of a part, which holds `buffers`."""
        kind, source, number, _, detail = error.args
        first = None
        if kind == "duplicate":
            of, _, at = detail.partition(b":")
            first = KnownLine.of(buffers, (int(of), int(at)))
        return cls(error.with_traceback(None), KnownLine.of(buffers, (source, number)), first)


def first_problem(problems: Sequence[LineProblem], sources: Sequence[Source]) -> _kernel.ParseError:
    r"""Return the error of the problem that comes first in the files, with its place there."""
    places: dict[bytes, list[Place]] = {
        line.text: [] for one in problems for line in (one.line, one.first) if line is not None
    }

    def let_go() -> None:
        for source in sources:
            source.let_go()

    for place, text in _found([source.data for source in sources], list(places), let_go):
        places[text].append(place)
        for one in problems:
            if one.line.text == text and len(places[text]) == one.line.equal + 1:
                kind, _, _, shown, detail = one.error.args
                if one.first is not None:
                    detail = b"%d:%d" % places[one.first.text][one.first.equal]
                return _kernel.ParseError(kind, *place, shown, detail)
    return _kernel.ParseError("changed", 0, 0, b"", b"")


def buffers_before(buffers: Sequence[Any], place: Place) -> Iterator[Any]:
    r"""Lines of a part before a place."""
    yield from buffers[: place[0]]
    end, left = _begin(buffers[place[0]]), place[1] - 1
    for block in _blocks(buffers[place[0]]):
        ends = block.count(b"\n")
        if left <= ends:
            end += sum(map(len, block.split(b"\n", left)[:left])) + left
            break
        end, left = end + len(block), left - ends
    yield buffers[place[0]][:end]


def _found(
    buffers: Iterable[Any], texts: Sequence[bytes], let_go: Any = None
) -> Iterator[tuple[Place, bytes]]:
    """Places of lines, in their order."""
    for source, buffer in enumerate(buffers):
        number = 1
        for block in _blocks(buffer):
            at = sorted((place, text) for text in texts for place in _within(block, text))
            last = 0
            for place, text in at:
                number, last = number + block.count(b"\n", last, place), place
                yield (source, number), text
            number += block.count(b"\n", last)
            if let_go is not None:
                let_go()


def _blocks(buffer: Any) -> Iterator[bytes]:
    """Whole lines, some megabytes at a time."""
    begin, size = _begin(buffer), _BLOCK
    while begin < len(buffer):
        block = bytes(buffer[begin : begin + size])
        end = len(block) if begin + len(block) == len(buffer) else block.rfind(b"\n") + 1
        if not end:  # a line that is longer
            size *= 2
            continue
        yield block[:end]
        begin, size = begin + end, _BLOCK


def _begin(buffer: Any) -> int:
    return len(MARK) if bytes(buffer[: len(MARK)]) == MARK else 0


def _within(block: bytes, text: bytes) -> Iterator[int]:
    at = block.find(text)
    while at >= 0:
        end = at + len(text)
        if (at == 0 or block[at - 1] == 10) and (end == len(block) or block[end] == 10):
            yield at
        at = block.find(text, at + 1)


def _line(buffer: Any, number: int) -> bytes:
    for block in _blocks(buffer):
        ends = block.count(b"\n")
        if number <= ends or not block.endswith(b"\n"):
            return block.split(b"\n", number)[number - 1]
        number -= ends
    return b""
