"""Parts of measure texts: numbers as short as can be, lists of options, names of functions."""

import hashlib
from collections.abc import Callable
from types import CodeType
from typing import Any

from idealrank.errors import OptionError


def number_text(value: float) -> str:
    """Shortest text of a number that reads back as the same number."""
    if float(value).is_integer() and abs(value) < 1e16:
        return str(int(value))
    return repr(float(value))


def split_outside_brackets(text: str) -> list[str]:
    """Split at commas outside of brackets."""
    parts = []
    depth = 0
    begin = 0
    for place, letter in enumerate(text):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        if letter == "," and depth == 0:
            parts.append(text[begin:place])
            begin = place + 1
    return [*parts, text[begin:]]


def function_text(function: Callable[..., Any]) -> str:
    """Return the text of a user-defined function."""
    return f"custom:{getattr(function, '__name__', type(function).__name__).strip('<>')}"


def function_digest(function: Callable[..., Any]) -> str:
    """Hexadecimal digits that distinguish functions of one name: a hash of their code, closure and
    defaults.
    """
    code = getattr(function, "__code__", None)
    behaviour = repr(function)
    if isinstance(code, CodeType):
        closure = [
            repr(cell.cell_contents) for cell in getattr(function, "__closure__", None) or ()
        ]
        behaviour = repr((_behaviour(code), closure, getattr(function, "__defaults__", None)))
    return hashlib.sha256(behaviour.encode()).hexdigest()[:8]


def _behaviour(code: CodeType) -> tuple[Any, ...]:
    """Return the behaviour of a code object, without its place in a file."""
    constants = [
        _behaviour(constant) if isinstance(constant, CodeType) else repr(constant)
        for constant in code.co_consts
    ]
    return code.co_code, constants, code.co_names, code.co_varnames


def name_taken(name: str, listed: str) -> OptionError:
    """The error for a user-defined measure that has the name of a listed one."""
    return OptionError(
        f"measure {name!r}: found the name of the listed measure {listed}, expected a name of its "
        "own",
        hint="give name=",
        command_hint="give it another name",
    )
