"""Failures of systems outside, as texts: the one place that decides which exceptions a watch
outlives.
"""

from collections.abc import Callable

from idealrank.errors import IdealrankError, shown


def failure_of(name: str, act: Callable[[], object], hide: Callable[[str], str] = str) -> str:
    """Do something with an engine, a channel or a file, and return why it failed; empty if it did
    not.

    Libraries of engines and channels raise exceptions of any class.
    """
    try:
        act()
    except IdealrankError as error:
        return hide(str(error)) or f"{name}: {type(error).__name__}"
    except Exception as error:  # noqa: BLE001  (see above)
        return f"{name}: {type(error).__name__}: {shown(hide(str(error)))}"
    return ""
