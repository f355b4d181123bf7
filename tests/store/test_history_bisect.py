"""Which commit to evaluate next: against real repositories, whose first bad commit is known, and
against git bisect itself.
"""

import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from idealrank.errors import InputError
from idealrank.store import bisect
from tests.git import Repository


def hunt(
    repository: Repository, fails: Callable[[str], bool | None], known: dict[str, bool | None]
) -> tuple[str, int]:
    """Evaluate what is proposed until nothing is left: the commit found, and how many evaluations
    it took.
    """
    for evaluated in range(100):
        left = bisect.suspects(known, repository.folder)
        assert left is not None
        if not left.next:
            assert left.found
            return left.bad, evaluated
        known[left.next] = fails(left.next)
    raise AssertionError("it does not end")


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    repository = Repository(tmp_path_factory.mktemp("line"))
    for number in range(24):
        repository.commit(f"change {number}")
    return repository


@pytest.mark.spread(2)
@pytest.mark.parametrize("broken", [1, 7, 12, 22, 23])
def test_the_loop_finds_the_commit_that_broke_it_in_log2_evaluations(
    line: Repository, broken: int
) -> None:
    commits = line.commits()

    found, evaluated = hunt(
        line, lambda commit: commits.index(commit) >= broken, {commits[0]: False, commits[-1]: True}
    )

    assert found == commits[broken]
    assert evaluated <= math.ceil(math.log2(23))


def test_the_number_of_steps_said_is_enough(line: Repository) -> None:
    commits = line.commits()

    left = bisect.suspects({commits[0]: False, commits[-1]: True}, line.folder)

    assert left == bisect.Suspects(
        good=commits[0], bad=commits[-1], between=23, next=left.next if left else "", steps=5
    )
    assert left is not None
    assert left.next in commits[10:13]


def test_of_several_changes_the_last_one_is_looked_for(line: Repository) -> None:
    commits = line.commits()
    known: dict[str, bool | None] = {
        commits[2]: True,
        commits[5]: False,
        commits[9]: True,
        commits[20]: True,
    }

    left = bisect.suspects(known, line.folder)

    assert left is not None
    assert (left.good, left.bad, left.between) == (commits[5], commits[9], 4)


def test_commits_without_a_value_are_passed_over(line: Repository) -> None:
    commits = line.commits()
    known: dict[str, bool | None] = {commits[4]: False, commits[5]: None, commits[6]: True}

    left = bisect.suspects(known, line.folder)

    assert left == bisect.Suspects(good=commits[4], bad=commits[6], between=2, unclear=1)


def test_on_branches_the_loop_finds_what_git_bisect_finds(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    repository.commit("root")
    for side in ("left", "right"):
        repository.git("checkout", "-q", "-b", side, "main")
        for number in range(6):
            repository.commit(
                f"{side} {number}", **({"broken": "yes"} if (side, number) == ("right", 3) else {})
            )
    repository.git("checkout", "-q", "left")
    repository.git("merge", "-q", "--no-ff", "-m", "both", "right")
    repository.commit("after")
    commits = repository.commits()

    found, evaluated = hunt(
        repository,
        lambda commit: repository.has(commit, "broken"),
        {commits[0]: False, commits[-1]: True},
    )

    repository.git("bisect", "start", commits[-1], commits[0])
    said = repository.git("bisect", "run", "sh", "-c", "test ! -e broken")
    assert f"{found} is the first bad commit" in said
    assert bisect.subject(found, repository.folder) == "right 3"
    assert evaluated <= math.ceil(math.log2(len(commits))) + 1


def test_without_a_fine_ancestor_there_is_nothing_to_halve(
    line: Repository, tmp_path: Path
) -> None:
    commits = line.commits()

    assert bisect.suspects({commits[3]: True}, line.folder) is None
    assert bisect.suspects({commits[3]: True, commits[9]: False}, line.folder) is None
    assert bisect.suspects({commits[3]: False, commits[9]: True}, tmp_path) is None
    assert bisect.in_order([commits[9], "f" * 40, commits[3], "--help"], line.folder) == [
        commits[3],
        commits[9],
    ]


def test_the_head_is_the_last_commit(line: Repository) -> None:
    assert bisect.head(line.folder) == line.commits()[-1]


def test_a_machine_without_git_says_so(monkeypatch: pytest.MonkeyPatch, line: Repository) -> None:
    commits = line.commits()
    monkeypatch.setenv("PATH", "")

    assert bisect.in_order(commits, line.folder) == []
    assert bisect.suspects({commits[0]: False, commits[1]: True}, line.folder) is None
    with pytest.raises(InputError, match="expected the program to be installed"):
        bisect._git(line.folder, "log")


def test_the_helper_makes_what_git_sees(line: Repository) -> None:
    count = subprocess.run(
        ["git", "-C", line.folder, "rev-list", "--count", "main"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout

    assert int(count) == len(line.commits()) == 24
