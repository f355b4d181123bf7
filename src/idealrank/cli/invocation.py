"""Origin of a result: the command line, as it could be typed again, and the commit of the working
copy.
"""

import os
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import click

_SECONDS = 10
# Where a build server has no repository at hand: GitHub, GitLab.
_VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA")


class Checkout(NamedTuple):
    """The state of the repository around the current folder."""

    # In hexadecimal digits; empty where there is no repository, no commit or no git
    commit: str = ""
    dirty: bool | None = None  # Whether tracked files differ from it; None if unknown


def checkout() -> Checkout:
    """The commit of the current folder's repository; without one, what a build server says in its
    variables.
    """
    commit = _said("rev-parse", "--verify", "HEAD")
    if commit is not None and _is_commit(commit):
        from idealrank.repository import has_changes  # noqa: PLC0415  (as in _said)

        # Runs and reports that are not tracked lie in nearly every folder, and change no code.
        return Checkout(commit, has_changes(seconds=_SECONDS))
    return next(
        (Checkout(value) for name in _VARIABLES if _is_commit(value := os.environ.get(name, ""))),
        Checkout(),
    )


def _is_commit(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", text) is not None


def _said(*words: str) -> str | None:
    """Return git's answer; None without one."""
    import subprocess  # noqa: PLC0415  (few commands ask git, and this takes as long to load as many of our modules)

    from idealrank.repository import ask_git  # noqa: PLC0415  (as above)

    try:
        done = ask_git(*words, seconds=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def command_line() -> str:
    """Return the command line, quoted for a shell; empty outside a command. Absolute paths are
    shortened, since they identify users.
    """
    context = click.get_current_context(silent=True)
    typed = () if context is None else context.find_root().obj or ()
    return shlex.join(["idealrank", *map(_shortened, typed)]) if typed else ""


def _shortened(word: str) -> str:
    """An absolute path as one below the folder of the work, or without its folder."""
    option, is_option, path = word.partition("=") if word.startswith("--") else ("", "", word)
    # -o/home/ann/x: an option and its value in one word
    if word[:1] == "-" and word[2:3] == os.sep:
        option, path = word[:2], word[2:]
    prefix, path = (path[:8], path[8:]) if path.startswith("traffic:") else ("", path)
    if not path.startswith(os.sep):
        return word
    here = Path.cwd()
    short = (
        str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else Path(path).name
    )
    return f"{option}{is_option}{prefix}{short or path}"
