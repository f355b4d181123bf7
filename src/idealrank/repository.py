"""Questions to git about an untrusted working copy: git runs nothing that the copy's configuration names."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

# What a configuration can make git run on the way to an answer. Hooks, monitors and signatures are switched off here.
_OFF = ("core.fsmonitor=false", f"core.hooksPath={os.devnull}", "log.showSignature=false")
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",  # the index is only read
    "GIT_ALLOW_PROTOCOL": "none",  # a copy with objects left out would fetch them, by any command as transport
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_FOREIGN = ("local", "worktree")  # scopes of the copy's own configuration; system, global and command are the user's


def ask_git(*words: str, folder: str | Path = ".", given: str = "", seconds: float | None = None) -> "subprocess.CompletedProcess[str]":
    """Return git's answer in a folder.

    Parameters
    ----------
    *words : str
        A command that only reads, with its arguments.
    folder : path
        Anywhere in the repository.
    given : str
        For its standard input.
    seconds : float, optional
        How long it may take.

    Returns
    -------
    CompletedProcess
        With exit code and both streams.

    Raises
    ------
    OSError
        There is no git.
    TimeoutExpired
        It took longer.

    Examples
    --------
    >>> ask_git("rev-parse", "HEAD", folder="/").returncode
    128
    """
    # A filter turns contents when git compares files; this is the only command that does.
    filters = _without_filters(folder, seconds) if words[0] == "status" else ()
    return _run([*(("-c", setting) for setting in (*_OFF, *filters))], words, folder, given, seconds)


def _without_filters(folder: str | Path, seconds: float | None) -> Iterator[str]:
    """Settings that switch off the filters of the copy's own configuration; filters of the user, such as Git LFS, stay."""
    listed = _run([], ("config", "--show-scope", "--name-only", "-z", "--get-regexp", r"^filter\."), folder, "", seconds).stdout.split("\0")
    for scope, key in zip(listed[::2], listed[1::2], strict=False):
        section, _, setting = key.rpartition(".")
        if scope in _FOREIGN:
            yield f"{section}.{setting}={'false' if setting == 'required' else ''}"


def _run(
    settings: list[tuple[str, str]], words: tuple[str, ...], folder: str | Path, given: str, seconds: float | None
) -> "subprocess.CompletedProcess[str]":
    git = shutil.which("git")
    if git is None:
        raise FileNotFoundError(2, os.strerror(2), "git")
    command = [git, "-C", str(folder), "--no-pager", *(word for pair in settings for word in pair), *words]
    return subprocess.run(  # noqa: S603  (no shell)
        command, input=given, capture_output=True, encoding="utf-8", errors="replace", timeout=seconds, check=False,
        env=os.environ | _ENVIRONMENT,
    )  # fmt: skip
