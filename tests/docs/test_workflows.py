"""Workflows of ours and of the guides name what they run by its content: a tag can be moved to
other code, a commit cannot.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = [
    *(ROOT / ".github").rglob("*.y*ml"),
    *(ROOT / "src").rglob("*.yml"),
    ROOT / "README.md",
    *(ROOT / "docs").rglob("*.md"),
    *(ROOT / "examples").rglob("*.md"),
]
USES = re.compile(r"^\s*(?:- )?uses: (.*)$", re.MULTILINE)
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+|\./.*")


def test_workflows_are_found() -> None:
    assert sum(len(USES.findall(path.read_text(encoding="utf-8"))) for path in FILES) > 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_action_is_named_by_its_commit(path: Path) -> None:
    used = USES.findall(path.read_text(encoding="utf-8"))

    assert [one for one in used if not PINNED.fullmatch(one.strip())] == []


def test_one_action_has_one_commit() -> None:
    used = {one.strip() for path in FILES for one in USES.findall(path.read_text(encoding="utf-8"))}

    assert len({one.partition("@")[0] for one in used}) == len(used)
