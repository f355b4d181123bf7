"""Times and memory of whole processes, taken in turns so that a noisy minute hits every contender
alike.
"""

import contextlib
import json
import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


class BenchmarkError(Exception):
    """A contender failed, or its values are not those they must be: then no time means anything."""


@dataclass(frozen=True)
class Sample:
    """One run of one process.

    Attributes
    ----------
    cpu, wall : float
        Seconds of processor time, user and system, over all threads; seconds on the clock.
    peak : int
        The most bytes that were resident, mapped files included; never less than the program that
        started it held then.
    said : str
        Standard output.
    """

    cpu: float
    wall: float
    peak: int
    said: str

    def reported(self) -> dict[str, Any]:
        """What a contender printed as JSON."""
        answer: dict[str, Any] = json.loads(self.said)
        return answer


@dataclass(frozen=True)
class Contender:
    """A command, how often it is run, and what is added to its environment."""

    command: tuple[str, ...]
    rounds: int
    environment: Mapping[str, str] | None = None

    def run(self) -> Sample:
        """Run it once."""
        process, start = self.start(subprocess.PIPE), time.perf_counter()
        assert process.stdout is not None
        with process.stdout as pipe:
            said = pipe.read()
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise BenchmarkError(f"{' '.join(self.command)}: exit code {process.returncode}")
        return Sample(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * 1024, said.decode())

    def start(self, output: int) -> "subprocess.Popen[bytes]":
        """Start it, its complaints going to nowhere."""
        _forget_peak()
        environment = {**os.environ, **(self.environment or {})}
        return subprocess.Popen(
            self.command, stdout=output, stderr=subprocess.DEVNULL, env=environment
        )


def _forget_peak() -> None:
    """Set the peak of this process, which wrote the files perhaps, to what it holds now: Linux
    counts it for whatever it starts.
    """
    with contextlib.suppress(OSError):  # other systems
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


@dataclass(frozen=True)
class Timing:
    """Medians over the runs of one contender; for small differences the least of them, for other
    programs only ever add time.
    """

    cpu: float
    wall: float
    peak: int
    runs: int

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Timing":
        """Of whole processes."""
        return cls(
            statistics.median(sample.cpu for sample in samples),
            statistics.median(sample.wall for sample in samples),
            max(sample.peak for sample in samples),
            len(samples),
        )

    @classmethod
    def least(cls, samples: Sequence[Sample]) -> "Timing":
        """The shortest of whole processes."""
        return cls(
            min(sample.cpu for sample in samples),
            min(sample.wall for sample in samples),
            max(sample.peak for sample in samples),
            len(samples),
        )

    @classmethod
    def of_calls(cls, samples: Sequence[Sample]) -> "Timing":
        """Of the one call that each process timed itself."""
        calls = [sample.reported() for sample in samples]
        return cls(
            statistics.median(call["cpu"] for call in calls),
            statistics.median(call["wall"] for call in calls),
            max(sample.peak for sample in samples),
            len(samples),
        )

    @classmethod
    def least_of_calls(cls, samples: Sequence[Sample]) -> "Timing":
        """The shortest of these calls."""
        calls = [sample.reported() for sample in samples]
        return cls(
            min(call["cpu"] for call in calls),
            min(call["wall"] for call in calls),
            max(sample.peak for sample in samples),
            len(samples),
        )

    def as_dict(self) -> dict[str, float]:
        """For JSON."""
        return asdict(self)


def seconds(value: float) -> str:
    """Two or three significant digits.

    >>> seconds(0.04211), seconds(34.56)
    ('0.042 s', '34.6 s')
    """
    return f"{value:.3f} s" if value < 1 else f"{value:.2f} s" if value < 10 else f"{value:.1f} s"


def in_turns(contenders: Mapping[str, Contender]) -> dict[str, list[Sample]]:
    """Run all contenders round after round; those with fewer rounds drop out."""
    samples: dict[str, list[Sample]] = {name: [] for name in contenders}
    for number in range(max(contender.rounds for contender in contenders.values())):
        for name, contender in contenders.items():
            if number < contender.rounds:
                samples[name].append(contender.run())
    return samples


def require_equal(
    what: str, ours: Mapping[str, float], theirs: Mapping[str, float], tolerance: float
) -> None:
    """Refuse to go on when values differ by more than they may."""
    for name, value in theirs.items():
        if not abs(ours[name] - value) <= tolerance:
            raise BenchmarkError(
                f"{what}: {name} is {value!r}, ours {ours[name]!r}; they may differ by "
                f"{tolerance:g}"
            )


def peak_beyond(contender: Contender, mapped: Sequence[Path]) -> int | None:
    """The most memory that a process holds beside these files, in bytes; None where the system does
    not tell.

    Every few milliseconds /proc/PID/smaps says how much of each mapping is resident; all count
    (heap, stacks, libraries) except the given files, whose pages the system shares between
    processes and takes back when it needs them. What a sample may miss cannot be more than the peak
    that the system itself keeps, less the files: the larger of both is the answer. Looking costs
    time, so a process that is looked at is never timed.
    """
    process = contender.start(subprocess.DEVNULL)
    smaps, own = Path(f"/proc/{process.pid}/smaps"), {str(path.resolve()) for path in mapped}
    most = 0
    while process.poll() is None:
        try:
            most = max(most, _resident(smaps.read_text(), own))
        except OSError:  # between its end and our noticing it
            break
        time.sleep(0.002)
    process.wait()
    if not most:
        return None
    return max(most, contender.run().peak - sum(path.stat().st_size for path in mapped))


def _resident(smaps: str, without: set[str]) -> int:
    """Resident bytes of all mappings but those of some files."""
    total, counted = 0, True
    for line in smaps.splitlines():
        head, _, rest = line.partition(" ")
        if not head.endswith(":"):
            counted = rest.split(None, 4)[-1] not in without
        elif head == "Rss:" and counted:
            total += int(rest.split()[0]) * 1024
    return total
