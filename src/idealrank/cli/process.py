"""The process of a command: its standard streams, and the signals that end it."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn, TextIO


class UnwritableError(Exception):
    """Standard output takes nothing more, for another reason than that its reader left."""


@contextmanager
def writing_output() -> Iterator[None]:
    """Tell an error of standard output from one of a file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UnwritableError(error.strerror or str(error)) from error


def to_void(stream: TextIO | None) -> None:
    """Let a stream that nothing can be written to write nowhere; Python would fail once more when
    it flushes it at its end.

    Examples
    --------
    >>> to_void(None)
    """
    if stream is not None:
        void = os.open(os.devnull, os.O_WRONLY)
        os.dup2(void, stream.fileno())
        os.close(void)


def open_closed_streams() -> None:
    """Put something in the place of standard streams that were closed: the next file opened would
    take their descriptors, and their text.

    Examples
    --------
    >>> open_closed_streams()
    """
    for descriptor, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(descriptor)
        except OSError:
            # The first free one is this. Standard output stays one that nothing can be written to.
            os.open(os.devnull, os.O_WRONLY if descriptor == 2 else os.O_RDONLY)
            setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))


class SignalledError(KeyboardInterrupt):
    """A signal asked the process to end: files that are being written are taken away on the way
    out, as after Ctrl-C.
    """


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Make SIGTERM an exception of the main thread, as Ctrl-C is; a second signal of either kind
    ends the process at once.

    A signal that is ignored, as by `nohup`, stays ignored.

    Examples
    --------
    >>> with ended_by_signals():
    ...     pass
    """
    is_main = threading.current_thread() is threading.main_thread()
    handlers = {
        number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM) if is_main
    }
    replaced = {
        number: handler
        for number, handler in handlers.items()
        if handler in (signal.SIG_DFL, signal.default_int_handler)
    }

    def leave(number: int, _frame: FrameType | None) -> NoReturn:
        os._exit(128 + number)

    def stop(number: int, _frame: FrameType | None) -> NoReturn:
        for replaced_number in replaced:
            signal.signal(replaced_number, leave)
        raise SignalledError(number) if number == signal.SIGTERM else KeyboardInterrupt

    for number in replaced:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in replaced.items():
            signal.signal(number, handler)
