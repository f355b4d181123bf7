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
# Bytes for the data that any budget must leave: smaller pieces take most of the time to set up.
_LEAST = 24 << 20
# Bytes of the program on a system that does not tell how much the process takes.
_PROGRAM = 160 << 20


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
        text = value if isinstance(value, str) else ""
        amount = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", text, re.IGNORECASE)
        if amount is None or float(amount[1]) == 0:
            raise OptionError(
                f"memory={value!r}: expected an amount of memory, such as 512MB or 2GiB"
            )
        unit = _UNITS[(amount[2] or "").lower()]
        return cls(int(float(amount[1]) * unit), text.strip())

    def left(self) -> int:
        """Return the bytes that the program and the judgments leave for the data."""
        taken = resident()
        if self.total - taken < _LEAST:
            needed = taken + _LEAST
            advised = f"{-(-2 * needed // 10**6)}MB"  # rounded up
            raise InputError(
                f"memory={self.text}: the program and the judgments take {megabytes(taken)}, "
                f"expected at least {megabytes(needed)}",
                command_hint=f"--memory {advised}",
                hint=f'memory="{advised}"',
            )
        return self.total - taken


def resident() -> int:
    """Bytes that this process holds in memory, or its peak where the system tells no more."""
    if sys.platform == "win32":
        return _PROGRAM
    import resource  # noqa: PLC0415  (POSIX)

    try:
        statm = Path("/proc/self/statm").read_text(encoding="ascii")
        pages = int(statm.split()[1])  # the second number counts pages in memory
    except (OSError, IndexError, ValueError):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024  # kilobytes elsewhere
    return pages * resource.getpagesize()


def megabytes(size: int) -> str:
    """Return a number of bytes in words, rounded up to a million."""
    return f"{-(-size // 10**6)} MB"
