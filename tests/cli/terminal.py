"""Run the command line as a user does, and compare everything it said with a file.

``UPDATE_SNAPSHOTS=1 make test ARGS=tests/cli`` writes the files anew; what changed is then read in
the diff.
"""

import difflib
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from idealrank.conventions import SWITCHES

DATA = Path(__file__).parent / "data"
SNAPSHOTS = Path(__file__).parent / "snapshots"
_SWITCH = "|".join(sorted(SWITCHES, key=len, reverse=True))


@dataclass(frozen=True)
class Said:
    """Exit code and both streams of a command."""

    code: int
    out: str
    err: str

    def text(self, command: str) -> str:
        parts = [
            f"$ {command}",
            f"exit code {self.code}",
            "----- stdout",
            self.out,
            "----- stderr",
            self.err,
        ]
        return re.sub(r"\n{2,}(?=----- )", "\n", "\n".join(parts)).rstrip() + "\n"


def environment(**changes: str) -> dict[str, str]:
    """What decides about the look of output, fixed."""
    decided = ("COLORTERM", "FORCE_COLOR", "GITHUB_ACTIONS", "NO_COLOR", "PYTHONWARNINGS")
    plain = {name: value for name, value in os.environ.items() if name not in decided}
    return {**plain, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", **changes}


def idealrank(*arguments: str, stdin: bytes = b"", cwd: Path = DATA, **changes: str) -> Said:
    """Run ``idealrank`` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "idealrank", *arguments],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env=environment(**changes),
        check=False,
    )
    return Said(done.returncode, done.stdout.decode(), done.stderr.decode())


def without_switches(text: str) -> str:
    """The text without its lists of all switches, which grow with every new one; tests of their own
    check them whole.

    JSON keeps name and fingerprint; a table, the switches that differ from `standard`; a list in an
    error, its first name.
    """
    text = re.sub(
        r'("convention": \{\s*"name": "[^"]*",\s*"fingerprint": "[^"]*"),[^{}]*\}',
        r"\1, ...}",
        text,
    )
    text = re.sub(r'"switches": \{[^{}]*\}', '"switches": {...}', text)
    text = re.sub(rf"(?m)^   (?:{_SWITCH}) .*\n", "", text)
    text = re.sub(
        rf"(expected (?:one of |a group \())({_SWITCH})(?:, (?:{_SWITCH}|rel))+\b",
        r"\1\2, ...",
        text,
    )
    return re.sub(
        r"no variants of [^:]*:((?:[^\n]|\n  )*)",
        lambda found: f"no variants of ...: {' '.join(found[1].split())}",
        text,
    )


def check_snapshot(name: str, text: str) -> None:
    """Compare with the file of that name, or write it where that was asked for."""
    path = SNAPSHOTS / f"{name}.txt"
    text = (
        without_switches(text)
        .replace(f'"version": "{package_version()}"', '"version": "..."')
        .replace(f"idealrank {package_version()}", "idealrank ...")
    )
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.write_text(text, encoding="utf-8")
    assert path.exists(), f"{path} is missing; UPDATE_SNAPSHOTS=1 writes it"
    expected = path.read_text(encoding="utf-8")
    changes = difflib.unified_diff(
        expected.splitlines(), text.splitlines(), str(path), "what was said", lineterm=""
    )
    assert text == expected, "\n" + "\n".join(changes)


def package_version() -> str:
    from idealrank import __version__

    return __version__
