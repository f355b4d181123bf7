"""Fingerprints of judgments written slowly, from the definition: sums of a hash of every
judgment.
"""

import struct
from collections.abc import Iterable, Mapping

_64 = (1 << 64) - 1
_TEXT = (0x243F6A8885A308D3, 0x13198A2E03707345)
_ROW = (0xA4093822299F31D1, 0x082EFA98EC4E6C89)
_TABLE = (0x452821E638D01377, 0xBE5466CF34E90C6D)
_LISTS = (0xC0AC29B7C97C50DD, 0x3F84D5B5B5470917)
_NOTHING = _64


def fold(a: int, b: int) -> int:
    product = a * b
    return (product >> 64) ^ (product & _64)


def finish(z: int) -> int:
    """The finaliser of SplitMix64."""
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _64
    return z ^ (z >> 31)


def text(identifier: bytes, state: int, half: int) -> int:
    words = [len(identifier)]
    words += [
        int.from_bytes(identifier[at : at + 8], "little") for at in range(0, len(identifier), 8)
    ]
    for word in words:
        state = fold(state ^ word, _TEXT[half])
    return state


def bits(grade: float) -> int:
    return int(struct.unpack("<Q", struct.pack("<d", grade + 0.0))[0])


def row(state: int, of_grade: int, half: int) -> int:
    return finish(fold(state ^ of_grade, _ROW[half]))


def fingerprint_twin(grades: Mapping[bytes, Mapping[bytes, float]]) -> tuple[int, int]:
    """Of judgments ``{query: {document: grade}}``."""
    sums = [0, 0]
    for half in (0, 1):
        for query, graded in grades.items():
            state = text(query, _TABLE[half], half)
            rows = [
                row(text(document, state, half), bits(grade), half)
                for document, grade in graded.items()
            ]
            sums[half] += sum(rows or [row(state, _NOTHING, half)])
    return sums[0] & _64, sums[1] & _64


def fingerprint_lists_twin(labels: Iterable[tuple[bytes, list[float]]]) -> tuple[int, int]:
    """Of the labels of each query."""
    sums = [0, 0]
    for query, given in labels:
        for half in (0, 1):
            state = text(query, _LISTS[half], half)
            sums[half] += sum(
                [row(state, bits(label), half) for label in given] or [row(state, _NOTHING, half)]
            )
    return sums[0] & _64, sums[1] & _64
