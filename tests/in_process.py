"""Run commands of pages and help texts inside the test's process: starting Python and loading the
library is most of what each costs.

What Python cannot do as plainly, other programs, redirections, several commands, is left to bash.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from idealrank.cli import main
from tests.docs import blocks

# Nothing bash would have to understand, but quotes, patterns of files and one pipe.
COMMAND = re.compile(
    r"(?P<variables>(?:[A-Z_0-9]+=\w* +)*)idealrank "
    r"(?P<arguments>[^|<>&;$`~\\{}\n]*)(?:\|(?P<pipe>[^|<>&;$`\\\n]*))?"
)


def arguments_of(text: str) -> list[str]:
    """Words as bash makes them; a word in quotes is never a pattern of files."""
    words = []
    for word, typed in zip(shlex.split(text), shlex.split(text, posix=False), strict=True):
        found = (
            sorted(map(str, Path().glob(word)))
            if "*" in typed and not re.search("[\"']", typed)
            else []
        )
        words += found or [word]
    return words


@contextlib.contextmanager
def surroundings(changes: dict[str, str]) -> Iterator[None]:
    """Variables of the environment changed for a while."""
    before = {name: os.environ.get(name) for name in changes}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            os.environ.update({} if value is None else {name: value})


def text_onto(file: IO[bytes], **options: Any) -> io.TextIOWrapper:
    return io.TextIOWrapper(os.fdopen(os.dup(file.fileno()), "wb"), encoding="utf-8", **options)


def run(arguments: list[str], **changes: str) -> tuple[int, str, str]:
    """Exit code and both streams of a command."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, surroundings(changes):
        with (
            text_onto(out) as stdout,
            text_onto(err) as stderr,
            contextlib.redirect_stdout(stdout),
            contextlib.redirect_stderr(stderr),
        ):
            code = main.run(arguments)
        said = []
        for stream in (out, err):
            stream.seek(0)
            said.append(stream.read().decode(errors="surrogateescape"))
    return code, said[0], said[1]


def command_of(script: str) -> re.Match[str] | None:
    """Arguments of a plain command of ours, and the program that reads its output; nothing where
    only bash can run the script.
    """
    return COMMAND.fullmatch(script.replace("\\\n", " ").strip())


def shell(script: str, status: int = 0) -> tuple[int, str]:
    """What `blocks.shell` gives, for a plain command of ours without a process of its own."""
    command = command_of(script)
    if command is None:
        return blocks.shell(script, status)
    variables = dict(one.split("=") for one in command["variables"].split())
    code, out, err = run(arguments_of(command["arguments"]), **blocks.QUIET | variables)
    if command["pipe"] is None:
        return code, err + out
    done = subprocess.run(
        ["bash", "-c", command["pipe"]], input=out.encode(), capture_output=True, check=False
    )
    return done.returncode, err + done.stderr.decode() + done.stdout.decode()
