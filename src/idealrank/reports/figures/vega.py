"""The library that draws, vl-convert: loaded where it is used, and asked first whether it has room."""

import subprocess
import sys
from functools import cache
from typing import Any

from idealrank._lazy import load_extra
from idealrank.errors import InputError


def vega(what: str, extra: str) -> Any:
    """vl-convert.

    Parameters
    ----------
    what : str
        What needs it, for the message.
    extra : str
        The extra of idealrank that has it.

    Raises
    ------
    MissingExtraError
        It is not installed.
    InputError
        The process may not have the addresses that its engine reserves; see `check_room`.

    Examples
    --------
    >>> vega("a picture", "plots").__name__
    'vl_convert'
    """
    library = load_extra("vl_convert", what, extra, package="vl-convert-python")  # 30 MB that only drawings need
    check_room(what)
    return library


@cache
def check_room(what: str) -> None:
    """Refuse to draw under a limit on the address space that is too low.

    The JavaScript engine of vl-convert reserves tens of gigabytes of addresses, not of memory, and ends the whole process where it may not.
    So under a limit it is tried in a process of its own.

    Examples
    --------
    >>> check_room("a picture")
    """
    limit = _address_limit()
    if limit is None:
        return
    tried = [sys.executable, "-c", "import vl_convert; vl_convert.javascript_bundle()"]
    if subprocess.run(tried, check=False, stdin=subprocess.DEVNULL, capture_output=True).returncode:  # noqa: S603  (no shell)
        raise InputError(
            f"{what}: the address space of this process is limited to {limit / 2**30:,.1f} GiB (ulimit -v), found that the drawing library "
            "cannot start; expected no such limit, since it reserves far more addresses than it has memory. Limit the memory by another "
            "way (a control group, as with systemd-run -p MemoryMax=4G), or leave pictures and pages out"
        )


def _address_limit() -> int | None:
    """In bytes; None where there is none, or where the system knows no such thing."""
    try:
        import resource  # noqa: PLC0415  (Windows has none)
    except ModuleNotFoundError:
        return None
    soft, _hard = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


@cache
def bundle(what: str, extra: str) -> str:
    """Vega, Vega-Lite and Vega-Embed as one script; parameters and errors as of `vega`.

    Examples
    --------
    >>> "vegaEmbed" in bundle("a picture", "plots")
    True
    """
    script: str = vega(what, extra).javascript_bundle()
    return script
