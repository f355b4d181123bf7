"""Values as JSON has them."""

import math
from collections.abc import Mapping
from typing import Any, overload


@overload
def finite(value: float) -> float | None: ...


@overload
def finite(value: Any) -> Any: ...


def finite(value: Any) -> Any:
    """Return the value, or None for a float that JSON has no number for; mappings, lists and tuples of such values likewise.

    Examples
    --------
    >>> finite(0.5), finite(math.nan), finite({"a": [math.inf]})
    (0.5, None, {'a': [None]})
    """
    if isinstance(value, Mapping):
        return {name: finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
