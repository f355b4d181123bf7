"""Next commit to evaluate in a bisection: git supplies the order of commits, a store their
values.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from idealrank.errors import InputError
from idealrank.repository import ask_git
from idealrank.store.timeline import Point, Rule, Suspects, Trace, breaks_between, onset

Folder = str | Path


def in_order(commits: Iterable[str], folder: Folder = ".") -> list[str]:
    """Sort the commits that a repository has, each after its ancestors."""
    hashes = sorted({commit for commit in commits if re.fullmatch("[0-9a-f]+", commit)})
    if not hashes:
        return []
    try:
        listed = _git(folder, "cat-file", "--batch-check", input_lines=hashes)
    except InputError:
        return []
    # git answers HASH TYPE SIZE, and HASH missing for a commit of another repository.
    answers = [line.split() for line in listed if line.endswith(tuple("0123456789"))]
    here = {words[0] for words in answers if words[1] == "commit"}
    if not here:
        return []
    walked = _git(folder, "rev-list", "--topo-order", "--stdin", input_lines=sorted(here))
    return [commit for commit in reversed(walked) if commit in here]


def trace(points: Sequence[Point], rule: Rule, folder: Folder = ".") -> Trace:
    """Find since when a line fails. Its points are in the order of commits if two or more commits
    are of this repository, else in the order of time.
    """
    newest = {point.commit: point for point in points if point.commit and not point.changed}
    commits = in_order(newest, folder)
    if len(commits) < 2:
        return Trace(onset=onset(points, rule))
    ordered = [newest[commit] for commit in commits]
    fails = dict(zip(commits, rule.fails(ordered), strict=True))
    start = onset(ordered, rule)
    suspected = suspects(fails, folder) if start.state == "fails" else None
    message = ""
    if suspected is not None:
        # With branches the neighbours in a list of commits need not be an ancestor and its
        # descendant; the two ends of the suspects are.
        good, bad = newest[suspected.good], newest[suspected.bad]
        start = replace(start, last_good=good, first_bad=bad, breaks=breaks_between(good, bad))
        message = subject(suspected.bad, folder) if suspected.found else ""
    left_out = sum(1 for point in points if point.changed or point.commit not in fails)
    return Trace(
        onset=start, order="commit", suspects=suspected, left_out=left_out, subject=message
    )


def fails_here(points: Sequence[Point], rule: Rule, folder: Folder = ".") -> bool | None:
    """Return whether the newest evaluation of the checked-out commit fails; None without one, or
    without a value.
    """
    here = head(folder)
    newest = {
        point.commit: point
        for point in points
        if point.commit and (not point.changed or point.commit == here)
    }
    if here not in newest:
        return None
    commits = in_order(newest, folder)
    return rule.fails([newest[commit] for commit in commits])[commits.index(here)]


def suspects(fails: Mapping[str, bool | None], folder: Folder = ".") -> Suspects | None:
    """Find the last change from fine to failing, and the commit to evaluate next."""
    commits = in_order(fails, folder)
    bad = next((commit for commit in reversed(commits) if fails[commit]), "")
    if not bad:
        return None
    ancestors = set(_git(folder, "rev-list", bad))
    good = [commit for commit in commits if fails[commit] is False and commit in ancestors]
    if not good:
        return None
    # An older commit than the newest bad one may fail, too: go back until none does.
    while True:
        suspected = _git(
            folder, "rev-list", "--topo-order", "--stdin", input_lines=_between(good, bad)
        )
        oldest = next(commit for commit in reversed(suspected) if fails.get(commit))
        if oldest == bad:
            break
        bad = oldest
    return _halved(fails, bad, good, suspected, folder)


def _between(good: Sequence[str], bad: str) -> list[str]:
    """Name a range to git: the bad commit and its ancestors, without the ancestors of good ones."""
    return [bad, *(f"^{commit}" for commit in good)]


def _halved(
    fails: Mapping[str, bool | None],
    bad: str,
    good: Sequence[str],
    suspected: Sequence[str],
    folder: Folder,
) -> Suspects:
    """The suspects, the next one chosen by git."""
    ancestors = set(_git(folder, "rev-list", bad))
    nearest = [commit for commit in good if commit in ancestors][-1]
    ranked = _git(folder, "rev-list", "--bisect-all", "--stdin", input_lines=_between(good, bad))
    # Each line is HASH (dist=N), the commit that halves the suspects best first.
    commits = [line.split()[0] for line in ranked]
    not_evaluated = [commit for commit in commits if commit not in fails]
    return Suspects(
        good=nearest,
        bad=bad,
        between=len(suspected),
        next=not_evaluated[0] if not_evaluated else "",
        steps=math.ceil(math.log2(len(suspected))) if not_evaluated else 0,
        unclear=sum(1 for commit in suspected if commit in fails and commit != bad),
    )


def head(folder: Folder = ".") -> str:
    """The commit that is checked out, as a full hash; empty outside a repository."""
    try:
        return _git(folder, "rev-parse", "HEAD")[0]
    except (InputError, IndexError):
        return ""


def subject(commit: str, folder: Folder = ".") -> str:
    """The first line of a commit's message; empty where there is none.

    Examples
    --------
    >>> subject("main", "/")
    ''
    """
    try:
        return next(iter(_git(folder, "log", "-1", "--format=%s", commit)), "")
    except InputError:
        return ""


def _git(folder: Folder, *arguments: str, input_lines: Sequence[str] = ()) -> list[str]:
    """The lines that git prints."""
    input_text = "".join(f"{line}\n" for line in input_lines)
    try:
        completed = ask_git(*arguments, folder=folder, input_text=input_text)
    except OSError as error:
        raise InputError(
            f"git: found {error.strerror}, expected the program to be installed"
        ) from None
    if completed.returncode:
        raise InputError(
            f"git {arguments[0]}: found {completed.stderr.strip() or 'a failure'}, expected a "
            f"repository that has these commits"
        )
    return completed.stdout.splitlines()
