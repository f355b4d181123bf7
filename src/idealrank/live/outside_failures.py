"""Failures of systems outside, as texts: the one place that decides which exceptions a watch outlives."""

from collections.abc import Callable

from idealrank.errors import IdealrankError, shown


def failure_of(name: str, act: Callable[[], object], hide: Callable[[str], str] = str) -> str:
    """Do something with an engine, a channel or a file, and return why it failed; empty if it did not.

    Libraries of engines and channels raise exceptions of any class. Each is a failure of that system, and never the end of a watch.

    Parameters
    ----------
    name : str
        Name of the system, for an exception that does not say where it comes from.
    act : callable
        What is done.
    hide : callable, optional
        Hides secrets in a text.

    Examples
    --------
    >>> failure_of("hook", lambda: None), failure_of("hook", lambda: {}["a"])
    ('', "hook: KeyError: 'a'")
    """
    try:
        act()
    except IdealrankError as error:
        return hide(str(error)) or f"{name}: {type(error).__name__}"
    except Exception as error:  # noqa: BLE001  (see above)
        return f"{name}: {type(error).__name__}: {shown(hide(str(error)))}"
    return ""
