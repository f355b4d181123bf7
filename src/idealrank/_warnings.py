"""Warnings that point at the line of the user's own file."""

import warnings
from pathlib import Path
from types import FrameType

from idealrank.errors import IdealrankWarning

# Folders of idealrank and of Python's own library, each with its last separator.
_PACKAGE, _LIBRARY = (str(Path(file).parent / "x")[:-1] for file in (__file__, warnings.__file__))


def warn(message: str) -> None:
    """Warn the caller of idealrank: the warning shows the line outside the package that led
    here.

    A frame of Python's own library between both, as `contextlib` has it, is passed over.
    """
    frame = _outside()
    scope = frame.f_globals
    warnings.warn_explicit(
        message,
        IdealrankWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        scope.get("__name__", "<string>"),
        scope.setdefault("__warningregistry__", {}),
    )


def _outside() -> FrameType:
    """Nearest frame that is neither idealrank's nor of Python's library; failing that, the
    outermost one.
    """
    from inspect import currentframe  # noqa: PLC0415  (`import idealrank` needs it not)

    frame = currentframe()
    while frame is not None and frame.f_back is not None and _is_passed_over(frame):
        frame = frame.f_back
    if frame is None:  # an interpreter without frames
        raise RuntimeError("this Python gives no frames")
    return frame


def _is_passed_over(frame: FrameType) -> bool:
    file, module = frame.f_code.co_filename, str(frame.f_globals.get("__name__", ""))
    # methods of dataclasses have no file
    if file.startswith((_PACKAGE, "<frozen ")) or module.partition(".")[0] == "idealrank":
        return True
    return file.startswith(_LIBRARY) and "site-packages" not in file and "dist-packages" not in file
