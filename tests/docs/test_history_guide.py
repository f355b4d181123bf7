"""The guide about histories: the parts of its page that take a while, and what `git bisect` itself
finds.
"""

import re
import subprocess
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, blocks_of, complaints_of, shell

PAGE = ROOT / "docs" / "store" / "history.md"


@pytest.mark.slow
def test_the_whole_page_runs_the_loop_included(tmp_path: Path) -> None:
    text = re.sub(r"<!-- not run: .*? -->\n(?=```console)", "", PAGE.read_text(encoding="utf-8"))
    (tmp_path / "page.md").write_text(text, encoding="utf-8")

    assert text.count("not run") == 1
    assert complaints_of(tmp_path / "page.md") == []


@pytest.mark.slow
def test_git_bisect_finds_the_commit_that_the_loop_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (block,) = [block for block in blocks_of(text) if block.language == "sh"]
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    subprocess.run(["python3", "examples/history/project.py", "project"], check=True)

    status, said = shell(f"set -e\n{block.text}")

    (first_bad,) = set(
        re.findall(r"^(?:note:)? *(\w{8})\.\.\. is the first bad commit", text, re.MULTILINE)
    )
    assert status == 0, said
    assert re.search(rf"^{first_bad}\w+ is the first bad commit", said, re.MULTILINE), said
