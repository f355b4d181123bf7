"""Origin of a result: the command line, as it could be typed again, and the commit of the working
copy.
"""

import os
import re
import shlex
from pathlib import Path
from typing import NamedTuple

import click

_SECONDS = 10  # time limit of a call of git
# The commit on a build server without a repository: GitHub, GitLab.
_VARIABLES = ("GITHUB_SHA", "CI_COMMIT_SHA")

# A word with an absolute path, which is all that follows. The words that have one:
# PATH, file://PATH, -oPATH, --report=PATH, NAME=PATH, --report=NAME=PATH, traffic:PATH.
_PATH_IN_WORD = re.compile(
    rf"(?P<before>([^=/]*=)*(-\w|traffic:)?)(file:(//)?)?(?P<path>{re.escape(os.sep)}.*)", re.DOTALL
)


class Checkout(NamedTuple):
    """State of the repository around the current folder."""

    commit: str = ""  # In hexadecimal digits; empty without a repository, a commit or git
    dirty: bool | None = None  # Whether tracked files differ from it; None if unknown


def checkout() -> Checkout:
    """Return the commit of the current folder's repository; without one, the commit that a build
    server states in its variables.
    """
    commit = _git_answer("rev-parse", "--verify", "HEAD")
    if commit is not None and _is_commit(commit):
        from idealrank.repository import has_changes  # noqa: PLC0415  (as in _git_answer)

        # Runs and reports that are not tracked lie in nearly every folder, and change no code.
        return Checkout(commit, has_changes(seconds=_SECONDS))
    for name in _VARIABLES:
        if _is_commit(stated := os.environ.get(name, "")):
            return Checkout(stated)
    return Checkout()


def _is_commit(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", text) is not None


def _git_answer(*words: str) -> str | None:
    """Return git's answer; None without one."""
    import subprocess  # noqa: PLC0415  (few commands ask git, and this takes as long to load as many of our modules)

    from idealrank.repository import ask_git  # noqa: PLC0415  (as above)

    try:
        answer = ask_git(*words, seconds=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None


def command_line() -> str:
    """Return the command line, quoted for a shell; empty outside a command. Absolute paths are
    shortened, since they identify users.
    """
    context = click.get_current_context(silent=True)
    typed = () if context is None else context.find_root().obj or ()
    return shlex.join(["idealrank", *map(_shortened, typed)]) if typed else ""


def _shortened(word: str) -> str:
    """Shorten an absolute path in a word to one below the current folder, or to its name."""
    match = _PATH_IN_WORD.fullmatch(word)
    if match is None:
        return word
    here = Path.cwd()
    path = Path(match["path"])
    short = str(path.relative_to(here)) if path.is_relative_to(here) else path.name
    return f"{match['before']}{short or path}"
