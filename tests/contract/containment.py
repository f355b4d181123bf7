"""Promises that are not kept: the present contract must contain the frozen one.

A new name, class, measure, parameter with a default, command, option, choice or JSON key breaks no
program, so it needs no new record. A removed or changed one does. ``python -m tests.contract``
writes the record, at a release or after an intended change.
"""

from collections.abc import Iterator
from typing import Any

COMMAND = "python -m tests.contract"

# Lists of names, which may grow, and lists of parameters; any other list stays as it is. The
# outermost key of a path decides.
_NAMES = {"names", "from_convention", "options", "takes", "json"}
_PARAMETERS = {
    "functions",
    "stats",
    "clicks",
    "judging",
    "theory",
    "training",
    "classes",
    "ranking_gate",
}


def broken(frozen: Any, now: Any, *path: str) -> Iterator[str]:
    """Every promise of `frozen` that `now` does not keep.

    Examples
    --------
    >>> list(broken({"names": ["a", "b"]}, {"names": ["a", "c"], "classes": {}}))
    ["names: 'b' is gone"]
    """
    place = ".".join(path)
    if isinstance(frozen, dict) and isinstance(now, dict):
        for key, value in frozen.items():
            if key in now:
                yield from broken(value, now[key], *path, key)
            else:
                yield f"{'.'.join([*path, key])} is gone"
        return
    kind = next((key for key in path if key in _NAMES | _PARAMETERS), None)
    if isinstance(frozen, list) and isinstance(now, list) and kind in _NAMES:
        yield from (f"{place}: {name!r} is gone" for name in frozen if name not in now)
    elif isinstance(frozen, list) and isinstance(now, list) and kind in _PARAMETERS:
        if not takes_the_same_calls(frozen, now):
            yield f"{place}: was ({', '.join(frozen)}), is ({', '.join(now)})"
    elif frozen != now:
        yield f"{place}: was {frozen!r}, is {now!r}"


def takes_the_same_calls(frozen: list[str], now: list[str]) -> bool:
    """Parameters by place begin as they were, those by keyword are there, and each new one has a
    default.

    Examples
    --------
    >>> takes_the_same_calls(["a", "*", "b=1"], ["a", "c=None", "*", "d=2", "b=1"])
    True
    >>> takes_the_same_calls(["a", "b=1"], ["a", "c=None", "b=1"])
    False
    """
    (by_place, by_keyword), (places, keywords) = _sorted_out(frozen), _sorted_out(now)
    new = [*places[len(by_place) :], *(one for one in keywords if one not in by_keyword)]
    return (
        places[: len(by_place)] == by_place
        and set(by_keyword) <= {*places, *keywords}
        and all("=" in one or one[0] == "*" for one in new)
    )


def _sorted_out(parameters: list[str]) -> tuple[list[str], list[str]]:
    """Parameters by place, and those by keyword alone."""
    star = parameters.index("*") if "*" in parameters else len(parameters)
    return parameters[:star], parameters[star + 1 :]


def assert_kept(frozen: Any, now: Any, *path: str) -> None:
    """Fail with each broken promise, and the command to run if the change is intended."""
    found = list(broken(frozen, now, *path))
    assert not found, "\n".join(
        [
            "the contract is broken:",
            *found,
            f"if that is intended, write it anew and read the difference: {COMMAND}",
        ]
    )
