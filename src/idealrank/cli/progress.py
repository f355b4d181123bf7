"""Long work in a thread of its own, so that the main thread can draw a bar and hear Ctrl-C while
the kernel computes.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from idealrank.cli import console
from idealrank.data.types import Progress
from idealrank.errors import StoppedError
from idealrank.reports.table.text import printable

Result = TypeVar("Result")

# Seconds before a bar is drawn: one that flashes by is noise.
PATIENCE = 2.0
_INTERVAL = 0.1  # seconds between two drawings of a bar
# Seconds that a stopped kernel may take to return before the process ends without it.
_FAREWELL = 1.0


class Count:
    """Progress of a Python job, which calls it with done and total and stops on its exception; its
    `note` follows the bar.
    """

    def __init__(self) -> None:
        self.done = 0
        self.total = 0
        self.note = ""
        self._stopped = False

    def stop(self) -> None:
        """End the job at its next call."""
        self._stopped = True

    def __call__(self, done: int, total: int) -> None:
        if self._stopped:
            raise StoppedError("stopped")
        self.done, self.total = done, total


class RatedCount:
    """Progress of a job that is passed on to a `Count`, whose note becomes the rate."""

    def __init__(self, count: Count, unit: str, now: Callable[[], float] = time.monotonic) -> None:
        self._count = count
        self._unit = unit
        self._now = now
        self._start = now()
        self._done_at_start = 0
        self._last_done = 0

    def __call__(self, done: int, total: int) -> None:
        seconds = self._now() - self._start
        if done < self._last_done:  # a second pass over the same rows
            self._start = self._now()
            self._done_at_start = done
            seconds = 0.0
        self._last_done = done
        if seconds > 0:
            rate = (done - self._done_at_start) / seconds / 1e6
            blank = " " if len(self._unit) > 1 else ""
            self._count.note = f"{rate:.1f} M{blank}{self._unit}/s"
        self._count(done, total)


class Watch:
    """Runner of jobs, one after another; on a terminal, a bar is drawn on stderr once all of them
    together have taken longer than some seconds.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._bar_from = time.monotonic() + patience

    def run(self, label: str, work: Callable[[Progress], Result]) -> Result:
        """Do the work and give its result, or raise what it raised."""
        return self._run(label, _Job(work, Progress()))

    def count(self, label: str, work: Callable[[Count], Result]) -> Result:
        """Run a job that reports its progress by a call."""
        return self._run(label, _Job(work, Count()))

    def _run(self, label: str, job: "_Job[Result]") -> Result:
        try:
            # Within the try: an interrupt may come before the start returns, and the work must be
            # stopped then, too.
            job.start()
            is_terminal = sys.stderr is not None and sys.stderr.isatty()
            if is_terminal and not job.ended.wait(max(0.0, self._bar_from - time.monotonic())):
                with suppress(OSError):  # the terminal is gone; the work is not
                    _draw(label, job)
            job.ended.wait()
        except KeyboardInterrupt as stopped:
            job.progress.stop()
            if not job.ended.wait(_FAREWELL):
                _leave(stopped)
            raise
        return job.result()


class _Job(Generic[Result]):
    """One piece of work in its thread."""

    def __init__(self, work: Callable[[Any], Result], progress: "Progress | Count") -> None:
        self.progress = progress
        self.ended = threading.Event()
        self._results: list[Result] = []
        self._errors: list[BaseException] = []
        self._work = work

    def start(self) -> None:
        threading.Thread(target=self._do, daemon=True).start()

    def _do(self) -> None:
        try:
            self._results.append(self._work(self.progress))
        except BaseException as error:  # noqa: BLE001  (carried over to the main thread, whatever it is)
            self._errors.append(error)
        finally:
            self.ended.set()

    def result(self) -> Result:
        # Not kept: the error holds the frames of the job, and with them its mapped files.
        if self._errors:
            raise self._errors.pop()
        return self._results[0]


def _draw(label: str, job: _Job[Any]) -> None:
    from rich import progress as bars  # noqa: PLC0415  (loaded only when a bar is drawn)
    from rich.console import Console  # noqa: PLC0415
    from rich.theme import Theme  # noqa: PLC0415

    # Of rich's own colours, pink reads as an error, and cyan cannot be read on white.
    blue = f"color({console.BLUE.number})"
    theme = {f"bar.{part}": blue for part in ("complete", "finished", "pulse")}
    theme |= {f"progress.{part}": "none" for part in ("percentage", "remaining")}
    terminal = Console(stderr=True, theme=Theme(theme))
    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.TaskProgressColumn(),
        bars.TimeRemainingColumn(),
        bars.TextColumn("{task.fields[note]}", markup=False),
    )
    with bars.Progress(*columns, console=terminal, transient=True) as bar:
        task = bar.add_task(printable(label), total=None, note="")
        while not job.ended.wait(_INTERVAL):
            note = getattr(job.progress, "note", "")
            bar.update(
                task,
                total=job.progress.total or None,
                completed=job.progress.done,
                note=printable(note),
            )


def _leave(stopped: KeyboardInterrupt) -> None:
    """Leave at once: a thread that waits for a pipe or computes in C++ cannot be ended, and Python
    would wait or abort at exit.
    """
    os._exit(console.interrupted(stopped))
