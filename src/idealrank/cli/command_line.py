"""The command line, as it could be typed again."""

import os
import shlex
from pathlib import Path

import click


def command_line() -> str:
    """Return the command line, quoted for a shell; empty outside a command. Absolute paths are shortened, since they identify users.

    Examples
    --------
    >>> command_line()
    ''
    """
    context = click.get_current_context(silent=True)
    typed = () if context is None else context.find_root().obj or ()
    return shlex.join(["idealrank", *map(_shortened, typed)]) if typed else ""


def _shortened(word: str) -> str:
    """An absolute path as one below the folder of the work, or without its folder."""
    option, is_option, path = word.partition("=") if word.startswith("--") else ("", "", word)
    if word[:1] == "-" and word[2:3] == os.sep:  # -o/home/ann/x: an option and its value in one word
        option, path = word[:2], word[2:]
    prefix, path = (path[:8], path[8:]) if path.startswith("traffic:") else ("", path)
    if not path.startswith(os.sep):
        return word
    here = Path.cwd()
    short = str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else Path(path).name
    return f"{option}{is_option}{prefix}{short or path}"
