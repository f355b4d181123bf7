"""Git repositories for tests: the same commits on every machine."""

import os
import subprocess
from pathlib import Path

SECOND = 1_767_225_600  # 2026-01-01T00:00:00Z
NOBODY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
}


class Repository:
    """A repository in a folder, with a clock that goes on by an hour at each commit."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        self._commits = 0
        self.git("init", "-q", "-b", "main", *options)

    def git(self, *arguments: str) -> str:
        """What git prints."""
        when = f"{SECOND + 3600 * self._commits} +0000"
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_")
        }
        environment |= NOBODY | {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def commit(self, message: str, **files: str) -> str:
        """Write files, commit everything, and give the commit."""
        self._commits += 1
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD").strip()

    def commits(self) -> list[str]:
        """All of the branch that is checked out, the oldest first."""
        return self.git("rev-list", "--reverse", "--topo-order", "HEAD").split()

    def has(self, commit: str, name: str) -> bool:
        """True if a commit has a file."""
        return name in self.git("ls-tree", "--name-only", commit).split()
