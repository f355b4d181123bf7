"""Run the code blocks of Markdown pages: `python tests/docs/blocks.py README.md
docs/guides/trec.md`.

Needs the standard library alone, so that it also runs where nothing but an installed idealrank is
at hand (`make wheel`). The blocks of a page run in order, in one namespace, in a temporary
directory that has a copy of `examples/` if any of them names it.

* ``python`` with ``>>>`` prompts is a doctest; without, a script. A ``text`` block right after a
  script is what it must print.
* ``console``: each line after ``$`` runs in bash (``>`` continues it) and must print what follows,
  if anything follows; a command that is meant to fail is followed by ``$ echo $?``. The tests run
  plain commands of idealrank in their own process instead.
* ``sh``, ``bash``: a script that must succeed.
* In expected output ``...`` stands for anything. ``<!-- not run: why -->`` before a block excuses
  it. Commands that set a machine up (``make``, ``pip``, ``git``, ``cd``) are left out: they have
  tests of their own.
"""

import contextlib
import doctest
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>[\w+-]*).*$")
EXCUSE = re.compile(r"<!--\s*not run:\s*(?P<why>.+?)\s*-->")
SET_UP = re.compile(
    r"(sudo |python3? -m )?(make|git|pip|pipx|uvx?|venv|cd|apt-get|source|conda|docker)\b"
)
COMPARE = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SHELLS = {"sh", "bash", "shell"}
QUIET = {
    "COLUMNS": "120",
    "GITHUB_ACTIONS": "",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "PYTHONUTF8": "1",
    "TERM": "dumb",
}

Shell = Callable[[str, int], tuple[int, str]]


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, and the line of the page its text starts on."""

    language: str
    text: str
    line: int
    excuse: str = ""
    output: str | None = None


def blocks_of(page: str) -> list[Block]:
    """All fenced blocks of a page, in order; a ``text`` block right after a script becomes its
    output.
    """
    lines = page.splitlines()
    blocks: list[Block] = []
    number, last_words, last_end = 0, "", -1
    while number < len(lines):
        opening = FENCE.match(lines[number])
        if opening is None:
            last_words = lines[number] if lines[number].strip() else last_words
            number += 1
            continue
        end = next(
            (n for n in range(number + 1, len(lines)) if lines[n].strip() == opening["fence"]),
            len(lines),
        )
        indent = len(opening["indent"])
        text = "\n".join(line[indent:] for line in lines[number + 1 : end]) + "\n"
        excuse = EXCUSE.search(last_words)
        follows = last_end >= 0 and not "".join(lines[last_end + 1 : number]).strip()
        if opening["language"] == "text" and follows and blocks and blocks[-1].language == "python":
            script = blocks[-1]
            blocks[-1] = Block(script.language, script.text, script.line, script.excuse, text)
        else:
            blocks.append(
                Block(opening["language"], text, number + 2, excuse["why"] if excuse else "")
            )
        number, last_words, last_end = end + 1, "", end
    return blocks


def same(expected: str, found: str) -> bool:
    """True if printed text is the expected one; ``...`` stands for anything, blanks at line ends do
    not count.
    """
    tidy = [
        "\n".join(line.rstrip() for line in text.strip("\n").splitlines())
        for text in (expected, found)
    ]
    return doctest.OutputChecker().check_output(tidy[0] + "\n", tidy[1] + "\n", doctest.ELLIPSIS)


def difference(expected: str, found: str) -> str:
    return f"expected:\n{expected.rstrip()}\nfound:\n{found.rstrip()}"


def run_doctest(block: Block, page: str, names: dict[str, Any]) -> str:
    test = doctest.DocTestParser().get_doctest(block.text, {}, page, page, block.line - 1)
    test.globs = names
    said = io.StringIO()
    doctest.DocTestRunner(optionflags=COMPARE, verbose=False).run(
        test, out=said.write, clear_globs=False
    )
    return said.getvalue()


def run_script(block: Block, page: str, names: dict[str, Any]) -> str:
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            exec(compile("\n" * (block.line - 1) + block.text, page, "exec"), names)
    except Exception:
        return traceback.format_exc(limit=-3)
    if block.output is None or same(block.output, said.getvalue()):
        return ""
    return difference(block.output, said.getvalue())


def shell(script: str, status: int = 0) -> tuple[int, str]:
    """Run a script in bash as a reader would; `status` is what ``$?`` says at its start."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-c", f"(exit {status})\n{script}"]
    environment = os.environ | QUIET | {"PATH": path}
    done = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout.decode()


def commands_of(block: Block) -> Iterator[tuple[str, str]]:
    """Each command of a console block with the output that stands below it."""
    command, output, open_ended = "", [], False
    for line in block.text.splitlines():
        if line.startswith("$ ") or (
            command and not output and (open_ended or line.startswith("> "))
        ):
            if line.startswith("$ "):
                if command:
                    yield command, "\n".join(output)
                command, output = line[2:], []
            else:
                command += "\n" + line.removeprefix("> ")
            open_ended = line.endswith("\\")
        else:
            output.append(line)
    if command:
        yield command, "\n".join(output)


def run_console(block: Block, shell: Shell) -> str:
    complaints, status, excused = [], 0, True
    for command, expected in [*commands_of(block), ("true", "")]:
        if SET_UP.match(command):
            continue
        if status and not excused and not command.startswith("echo $?"):
            complaints.append(f"the command before `{command}` failed with status {status}")
        status, found = shell(command, status)
        excused = False
        if expected and not same(expected, found):
            complaints.append(f"$ {command}\n{difference(expected, found)}")
    return "\n".join(complaints)


def run_shell(block: Block) -> str:
    script = "\n".join(line for line in block.text.splitlines() if not SET_UP.match(line))
    status, found = shell(f"set -euo pipefail\n{script}")
    return f"status {status}\n{found}" if status else ""


def run_block(block: Block, page: str, names: dict[str, Any], shell: Shell) -> str:
    """What went wrong in one block; empty when nothing did, or when nothing is to run."""
    if block.excuse:
        return ""
    if block.language in {"python", "pycon"}:
        return (run_doctest if ">>> " in block.text else run_script)(block, page, names)
    if block.language == "console":
        return run_console(block, shell)
    return run_shell(block) if block.language in SHELLS else ""


def complaints_of(path: Path, shell: Shell = shell) -> list[str]:
    """Run every block of a page, commands of consoles by `shell`, and say what went wrong, with the
    page and line of each block.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    complaints = []
    blocks = blocks_of(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        if (ROOT / "examples").exists() and any("examples" in block.text for block in blocks):
            shutil.copytree(
                ROOT / "examples",
                Path(folder, "examples"),
                ignore=shutil.ignore_patterns(".*", "__pycache__"),
            )
        with contextlib.chdir(folder):
            for block in blocks:
                wrong = run_block(block, str(path), names, shell)
                if wrong:
                    complaints.append(f"{path}:{block.line}: {block.language} block\n{wrong}")
    return complaints


def main() -> int:
    pages = [Path(argument).resolve() for argument in sys.argv[1:]]
    complaints = [complaint for page in pages for complaint in complaints_of(page)]
    blocks = sum(len(blocks_of(page.read_text(encoding="utf-8"))) for page in pages)
    print(
        *complaints,
        f"{blocks} blocks of {len(pages)} pages, {len(complaints)} with complaints",
        sep="\n",
    )
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
