"""A budget of memory: parsed from text, and what of it is left for the data."""

import re
import sys
from pathlib import Path
from typing import NamedTuple

from idealrank.errors import InputError, OptionError

_UNITS = {
    "": 1,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "ki": 1 << 10,
    "mi": 1 << 20,
    "gi": 1 << 30,
    "ti": 1 << 40,
}
_LEAST = 24 << 20  # below that pieces are so small that most time goes into their number
_PROGRAM = 160 << 20  # of a system that does not tell how much the process takes


class MemoryBudget(NamedTuple):
    """Bytes that the process may take, everything included."""

    total: int  # Bytes
    text: str  # As given, for messages

    @classmethod
    def of(cls, value: "str | int | MemoryBudget") -> "MemoryBudget":
        """Read ``"512MB"``, ``"2GiB"`` or a number of bytes."""
        if isinstance(value, MemoryBudget):
            return value
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return cls(value, megabytes(value))
        found = (
            re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", value, re.IGNORECASE)
            if isinstance(value, str)
            else None
        )
        if found is None or float(found[1]) == 0:
            raise OptionError(
                f"memory={value!r}: expected an amount of memory, such as 512MB or 2GiB"
            )
        return cls(
            int(float(found[1]) * _UNITS[(found[2] or "").lower()]),
            value.strip() if isinstance(value, str) else "",
        )

    def left(self) -> int:
        """Bytes that the program and what it holds leave for the data."""
        taken = resident()
        if self.total - taken < _LEAST:
            raise InputError(
                f"memory={self.text}: the program and the judgments take {megabytes(taken)}, "
                f"expected at least {megabytes(taken + _LEAST)}",
                command_hint=f"--memory {-(-2 * (taken + _LEAST) // 10**6)}MB",
                hint=f'memory="{-(-2 * (taken + _LEAST) // 10**6)}MB"',
            )
        return self.total - taken


def resident() -> int:
    """Bytes that this process holds in memory; where the system tells the peak only, that."""
    if sys.platform == "win32":
        return _PROGRAM
    import resource  # noqa: PLC0415  (POSIX)

    try:
        return (
            int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
            * resource.getpagesize()
        )
    except (OSError, IndexError, ValueError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024


def megabytes(size: int) -> str:
    """Bytes in words."""
    return f"{-(-size // 10**6)} MB"
