"""Next commit to evaluate in a bisection: git supplies the order of commits, a store their
values.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from idealrank.errors import InputError
from idealrank.repository import ask_git
from idealrank.store.timeline import Onset, Point, Rule, Suspects, Trace, breaks_between, onset

Folder = str | Path


def in_order(commits: Iterable[str], folder: Folder = ".") -> list[str]:
    """Sort the commits that a repository has, each after its ancestors."""
    wanted = sorted(
        {
            commit
            for commit in commits
            if commit and all(letter in "0123456789abcdef" for letter in commit)
        }
    )
    if not wanted:
        return []
    try:
        listed = _git(folder, "cat-file", "--batch-check", given=wanted)
    except InputError:
        return []
    here = {
        line.split()[0]
        for line in listed
        if line.endswith(tuple("0123456789")) and line.split()[1] == "commit"
    }
    if not here:
        return []
    walked = _git(folder, "rev-list", "--topo-order", "--stdin", given=sorted(here))
    return [commit for commit in reversed(walked) if commit in here]


def trace(points: Sequence[Point], rule: Rule, folder: Folder = ".") -> Trace:
    """Since when a line fails: in the order of commits where two or more are of this repository,
    else in that of time.
    """
    newest = {point.commit: point for point in points if point.commit and not point.changed}
    known = in_order(newest, folder)
    if len(known) < 2:
        return Trace(onset=onset(points, rule))
    ordered = [newest[commit] for commit in known]
    fails = dict(zip(known, rule.fails(ordered), strict=True))
    found, left = onset(ordered, rule), None
    if found.state == "fails":
        left = suspects(fails, folder)
        found = (
            found if left is None else _on_both_sides(found, newest[left.good], newest[left.bad])
        )
    left_out = sum(1 for point in points if point.changed or point.commit not in fails)
    about = subject(left.bad, folder) if left is not None and left.found else ""
    return Trace(onset=found, order="commit", suspects=left, left_out=left_out, subject=about)


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
    known = in_order(newest, folder)
    return rule.fails([newest[commit] for commit in known])[known.index(here)]


def _on_both_sides(found: Onset, good: Point, bad: Point) -> Onset:
    """With branches the neighbours in a list of commits need not be an ancestor and its descendant;
    these are.
    """
    return replace(found, last_good=good, first_bad=bad, breaks=breaks_between(good, bad))


def suspects(fails: Mapping[str, bool | None], folder: Folder = ".") -> Suspects | None:
    """Where the last change from fine to failing lies, and which commit to evaluate next."""
    known = in_order(fails, folder)
    bad = next((commit for commit in reversed(known) if fails[commit]), "")
    if not bad:
        return None
    before = set(_git(folder, "rev-list", bad))
    good = [commit for commit in known if fails[commit] is False and commit in before]
    if not good:
        return None
    while True:
        left = _git(
            folder,
            "rev-list",
            "--topo-order",
            "--stdin",
            given=[bad, *(f"^{commit}" for commit in good)],
        )
        oldest = next(commit for commit in reversed(left) if fails.get(commit))
        if oldest == bad:
            break
        bad = oldest
    return _halved(fails, bad, good, left, folder)


def _halved(
    fails: Mapping[str, bool | None],
    bad: str,
    good: Sequence[str],
    left: Sequence[str],
    folder: Folder,
) -> Suspects:
    """The suspects, the next one chosen by git."""
    before = set(_git(folder, "rev-list", bad))
    nearest = [commit for commit in good if commit in before][-1]
    ranked = [
        line.split()[0]
        for line in _git(
            folder, "rev-list", "--bisect-all", "--stdin", given=[bad, *(f"^{one}" for one in good)]
        )
    ]
    unknown = [commit for commit in ranked if commit not in fails]
    return Suspects(
        good=nearest,
        bad=bad,
        between=len(left),
        next=unknown[0] if unknown else "",
        steps=math.ceil(math.log2(len(left))) if unknown else 0,
        unclear=sum(1 for commit in left if commit in fails and commit != bad),
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


def _git(folder: Folder, *arguments: str, given: Sequence[str] = ()) -> list[str]:
    """The lines that git prints."""
    try:
        done = ask_git(*arguments, folder=folder, given="\n".join(given) + "\n" if given else "")
    except OSError as error:
        raise InputError(
            f"git: found {error.strerror}, expected the program to be installed"
        ) from None
    if done.returncode:
        raise InputError(
            f"git {arguments[0]}: found {done.stderr.strip() or 'a failure'}, expected a "
            f"repository that has these commits"
        )
    return done.stdout.splitlines()
