"""Problems of the data in words: those found by the kernel, by kind, and scores that are whole
numbers beyond what float64 holds.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from idealrank.data.types import AnyArray, BoolArray, FloatArray, decode_id
from idealrank.errors import FileFormatError, IdealrankError, InputError, StoppedError

FIELDS = {
    "qrels": "4 fields: QUERY ITERATION DOCUMENT GRADE",
    "run": "6 fields: QUERY Q0 DOCUMENT RANK SCORE TAG",
}
FIELDS["pair"] = FIELDS["run"]
_NUMBER = {
    "qrels": "a number as grade (field 4)",
    "run": "a number as score (field 5)",
    "pair": "a number as score (field 5)",
}


def quoted(text: bytes) -> str:
    r"""Bytes of a file as printable text in quotes, at most 120 bytes of them."""
    printable = decode_id(text[:120]).encode("unicode_escape", "backslashreplace").decode("ascii")
    return f'"{printable}"' + (" ..." if len(text) > 120 else "")


def describe(
    kind: str, text: bytes, detail: bytes, table: Literal["qrels", "run", "pair"], other: str = ""
) -> tuple[str, str, str]:
    """Describe one kind of problem: found, expected, next step; `other` is the source in which a
    duplicate stood first, if another one.
    """
    line = quoted(text)
    quoted_detail = quoted(detail)
    value = "grade" if table == "qrels" else "score"
    duplicate_hint = "allow it with duplicates=first, last or best" + (
        " (or twice)" if table == "run" else ""
    )
    problems = {
        "fields": (f"{decode_id(detail)} fields in {line}", FIELDS[table], ""),
        "number": (f"{quoted_detail} in {line}", _NUMBER[table], ""),
        "nan": (
            f"{value} {quoted_detail if detail else 'NaN'} in {line}",
            "a number, since NaN has no order",
            f"omit the document, or give it a {value}",
        ),
        "infinite": (f"grade {quoted_detail} in {line}", "a finite grade", ""),
        "control": (
            f"a control byte in {line}",
            "text without control bytes",
            "is this a text file?",
        ),
        "empty-id": (f"an empty id in {line}", "ids of at least one byte", ""),
        "too-long": (f"an id of four gigabytes in {line}", "shorter ids", "are line ends missing?"),
        "cut": (
            "a file that became shorter during reading",
            "an unchanged file",
            "evaluate a copy if other programs change the file",
        ),
        "changed": (
            "text that changed during reading",
            "an unchanged file",
            "evaluate a copy if other programs change the file",
        ),
        "utf8": (f"an id with half a surrogate pair, {line}", "text that has a UTF-8 form", ""),
        "duplicate": (
            f"a document a second time{_since(detail, other)} in {line}",
            "each document once per query",
            duplicate_hint,
        ),
    }
    return problems.get(kind, (f"{kind} {line}", FIELDS[table], ""))


def _since(detail: bytes, other: str) -> str:
    """Say where a duplicate stood first: the kernel gives source and line, or nothing where there
    are no lines.
    """
    first = decode_id(detail.partition(b":")[2])
    earlier = f"in {other}:{first}" if other else f"on line {first}"
    return f" (first {earlier})" if first else ""


def _other_source(source: int, detail: bytes, names: Sequence[str]) -> str:
    """Name of the source in which a duplicate stood first; empty where it is the same one."""
    first = detail.partition(b":")[0]
    if first.isdigit() and int(first) != source and int(first) < len(names):
        return names[int(first)]
    return ""


def translate(
    error: Exception, names: Sequence[str], table: Literal["qrels", "run", "pair"]
) -> IdealrankError:
    """The library's error for a ``ParseError`` of the kernel."""
    kind, source, line, text, detail = error.args
    if kind == "stopped":
        return StoppedError("stopped before the end")
    other = _other_source(int(source), detail, names) if kind == "duplicate" else ""
    problem, expected, hint = describe(kind, text, detail, table, other)
    switch = switch_for(kind)
    if names:
        return FileFormatError(
            names[min(int(source), len(names) - 1)], line, problem, expected, hint, switch=switch
        )
    if switch:
        hint = in_python(switch)
    return InputError(f"{table}: found {problem}, expected {expected}", hint=hint, switch=switch)


def in_python(switch: str) -> str:
    """The hint for data without a file, which come from Python."""
    return f'allow it with convention="standard,{switch}"'


def switch_for(kind: str) -> str:
    """The setting under which a problem of this kind is none; empty where there is no such
    switch.
    """
    return "duplicates=first" if kind == "duplicate" else ""


# Scores that are whole numbers of 64 bits beyond what float64 holds are refused: their order would
# be lost without a word. A number of more bits, which JSON and text can spell, is neither a count
# nor a time of any machine: it is read as the nearest float64.

_LIMIT = 1 << 53  # every whole number up to this is a float64
_BEYOND = 1 << 64
EXPECTED = (
    "a score that float64 holds (every whole number up to 2**53 is one); subtract the smallest "
    "score from all of them first"
)


def is_lost(value: Any) -> bool:
    """Return whether a whole number of at most 64 bits changes in float64."""
    return (
        isinstance(value, (int, np.integer))
        and _LIMIT < abs(int(value)) < _BEYOND
        and int(float(value)) != int(value)
    )


def is_large(values: FloatArray) -> bool:
    """Return whether a finite number is so large that float64 cannot hold neighbouring whole
    numbers.
    """
    return bool(values.size) and bool((np.abs(values) >= _LIMIT).any())


def first_lost(values: Iterable[Any]) -> int | None:
    """The place of the first whole number that changes in float64."""
    return next((place for place, value in enumerate(values) if is_lost(value)), None)


def lost_of_array(values: AnyArray) -> BoolArray:
    """Mark the whole numbers of an array that change in float64; none in an array of other
    numbers.
    """
    if (
        values.dtype.kind not in "iu"
        or values.size == 0
        or (values.max() <= _LIMIT and values.min() >= -_LIMIT)
    ):
        return np.zeros(values.size, bool)
    # Without its trailing zeros, a number that float64 holds has 53 bits at most.
    size = np.abs(values.reshape(-1)).astype(np.uint64)
    lowest = size & (~size + np.uint64(1))
    lost: BoolArray = size // np.maximum(lowest, np.uint64(1)) > _LIMIT
    return lost


def first_lost_of_lists(values: Any, numbers: AnyArray) -> int | None:
    """Find the first lost number in the source of an array; nested lists hold whole numbers that
    NumPy rounded already.
    """
    if numbers.dtype.kind == "f" and isinstance(values, Sequence) and is_large(numbers):
        return first_lost(np.asarray(values, object).reshape(-1))
    lost = np.flatnonzero(lost_of_array(numbers))
    return int(lost[0]) if lost.size else None
