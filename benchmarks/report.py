"""What the benchmarks say: rows with a target and what was reached, as Markdown and as JSON."""

import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from measuring import Timing, seconds

PEERS = (
    "idealrank",
    "numpy",
    "lightgbm",
    "scikit-learn",
    "pytrec-eval-terrier",
    "ranx",
    "ir-measures",
)


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes
    ----------
    subject, what : str
        The job, and what of it is compared with what.
    target, reached : str
        As text; an empty target means that nothing was promised.
    met : bool or None
        Whether the target is reached.
    behind : str
        The numbers behind `reached`.
    timings : dict
        Of every contender, for JSON.
    """

    subject: str
    what: str
    target: str
    reached: str
    met: bool | None
    behind: str
    timings: dict[str, Timing] = field(default_factory=dict)


def faster(subject: str, what: str, at_least: float, ours: Timing, theirs: Timing) -> Row:
    """How many times longer another takes, on the clock; the ratio of processor times stands behind
    it.
    """
    ratio = theirs.wall / ours.wall
    behind = (
        f"{seconds(theirs.wall)} against {seconds(ours.wall)} on the clock; "
        f"of the processor {seconds(theirs.cpu)} against {seconds(ours.cpu)}, "
        f"{theirs.cpu / ours.cpu:.3g} x"
    )
    target = f"at least {at_least:g} x faster"
    return Row(
        subject,
        what,
        target,
        f"{ratio:.3g} x",
        ratio >= at_least,
        behind,
        {"ours": ours, "theirs": theirs},
    )


def costing(subject: str, what: str, at_most: float | None, ours: Timing, theirs: Timing) -> Row:
    """How many times the processor time of another we need; the times on the clock stand behind
    it.
    """
    ratio = ours.cpu / theirs.cpu
    behind = (
        f"of the processor {seconds(ours.cpu)} against {seconds(theirs.cpu)}; "
        f"{seconds(ours.wall)} against {seconds(theirs.wall)} on the clock"
    )
    target, met = ("", None) if at_most is None else (f"at most {at_most:g} x", ratio <= at_most)
    return Row(
        subject, what, target, f"{ratio:.2f} x", met, behind, {"ours": ours, "theirs": theirs}
    )


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = ["| job | compared | target | reached | behind it |", "|---|---|---|---|---|"]
    last = ""
    for row in rows:
        subject = "" if row.subject == last else row.subject
        mark = " **(missed)**" if row.met is False else ""
        lines.append(
            f"| {subject} | {row.what} | {row.target} | {row.reached}{mark} | {row.behind} |"
        )
        last = row.subject
    return "\n".join(lines) + "\n"


def conditions(command: str) -> str:
    """Where and when the numbers were taken, in a sentence."""
    here = machine()
    versions = ", ".join(f"{name} {number}" for name, number in here["versions"].items())
    return (
        f"Printed by `{command}` on {here['date'][:10]}: {here['processor']}, {here['cores']} "
        f"cores, {here['system']}, "
        f"Python {here['python']}; {versions}. Medians of contenders run in turns; processor "
        f"time is that of all threads together."
    )


def machine() -> dict[str, Any]:
    """What the numbers depend on beside the programs."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "compiler": subprocess.run(
            [compiler(), "--version"], capture_output=True, text=True, check=True
        ).stdout.splitlines()[0],
        "versions": {name: version(name) for name in PEERS},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")),
        platform.processor(),
    )


def compiler() -> str:
    """The C++ compiler for the yardsticks."""
    return os.environ.get("CXX", "g++")


def as_json(rows: Sequence[Row], arguments: Sequence[str]) -> dict[str, Any]:
    """Everything, for other programs."""
    return {
        "arguments": list(arguments),
        "machine": machine(),
        "executable": Path(sys.executable).name,
        "rows": [asdict(row) for row in rows],
    }
