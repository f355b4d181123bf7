"""How sure a mean, or a difference of two means over the same queries, is: intervals, tests, corrections, power.

Everything here is of plain arrays (queries, measures) and knows nothing of runs or files. Randomness comes in as `rng` alone.
"""

from importlib import import_module
from typing import Any

_HOMES: dict[str, str] = {
    "Design": "design",
    "HSD": "hsd",
    "Interval": "intervals",
    "Letters": "compact_letters",
    "adjust": "multiple",
    "difference_interval": "intervals",
    "letters": "compact_letters",
    "mean_interval": "intervals",
    "tukey_hsd": "hsd",
}

__all__ = [
    "HSD",
    "Design",
    "Interval",
    "Letters",
    "adjust",
    "difference_interval",
    "letters",
    "mean_interval",
    "tukey_hsd",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
