"""From 100 thousand lines on: the time per line must not grow with the file."""

from collections.abc import Iterator
from pathlib import Path

from jobs_text import evaluation
from measuring import Contender, Timing, in_turns, peak_beyond, seconds
from plot import Series, write_plot
from report import Row
from workload import DEPTH, trec_files

SUBJECT = "TREC text of growing length"
PLOT = Path(__file__).resolve().parent / "results" / "lines.svg"


def rows(*, quick: bool, full: bool, **_: bool) -> Iterator[Row]:
    """Time against lines; what ten lines take before anything is read is taken off, to compare the
    reading alone.
    """
    queries = [1, 100, 1000, 6980 if quick else 10_000, *([100_000] if full else [])]
    files = {n: trec_files(n) for n in queries}
    contenders = {
        str(n): Contender(evaluation(*files[n]), 9 if n <= 1000 else 5 if n <= 10_000 else 3)
        for n in queries
    }
    timings = {name: Timing.least(samples) for name, samples in in_turns(contenders).items()}
    start, *points = [(n * DEPTH, timings[str(n)].cpu) for n in queries]
    behind = (
        "processor time, least of some runs: "
        + ", ".join(f"{lines:,} lines {seconds(cpu)}" for lines, cpu in points)
        + f"; start-up {seconds(start[1])}"
    )
    (fewer, short), (more, long) = points[-2:]
    growth = (long - start[1]) / (short - start[1]) * fewer / more
    subject = f"{SUBJECT}, 100,000 to {more:,} lines"
    what = f"time of a line at {more:,} against that at {fewer:,}"
    yield Row(
        subject, what, "linear: at most 1.25 x", f"{growth:.2f} x", growth <= 1.25, behind, timings
    )
    beyond = peak_beyond(contenders[str(queries[-1])], files[queries[-1]])
    if beyond is not None:
        yield Row(
            subject,
            "peak memory beyond the mapped files",
            "",
            f"{beyond / 1e6:.0f} MB",
            None,
            f"{queries[-1]:,} queries",
        )
    if not quick:
        write_plot(
            PLOT,
            [Series("idealrank evaluate", points)],
            "lines of the run",
            "processor time in seconds",
        )
