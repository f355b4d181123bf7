"""Copies of the project in which a change is made, and the rows of ARCHITECTURE.md that name its
files.
"""

import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from idealrank import _kernel

ROOT = Path(__file__).resolve().parents[2]
SOURCE = "src/idealrank"
CHANGED = "changed"  # Where a copy keeps the modules that check the changes in it
_COPIED = ("ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "budget.toml", "pyproject.toml")
_HEADING = "## Where to go for a change"
_PATH = re.compile(r"`([\w./*-]*(?:/|\.(?:pyi?|md|toml|json)))`")

# A copy must be imported in place of the installed package, also by processes that a test starts.
# An editable installation finds modules before the path is looked at; `site` loads this file after
# it.
_IN_PLACE = """\
import sys

sys.meta_path[:] = [
    finder for finder in sys.meta_path if not type(finder).__module__.startswith("_editable_")
]
"""


class Edit(NamedTuple):
    """A text that takes the place of another in a file; of a new file, the whole text."""

    path: str  # From the root of the project
    old: str
    new: str

    @classmethod
    def after(cls, path: str, old: str, added: str) -> "Edit":
        """Add a text after another one."""
        return cls(path, old, old + added)

    @classmethod
    def before(cls, path: str, old: str, added: str) -> "Edit":
        """Add a text before another one."""
        return cls(path, old, added + old)

    @classmethod
    def file(cls, path: str, text: str) -> "Edit":
        """Add a file."""
        return cls(path, "", text)


class Change(NamedTuple):
    """An addition that a row of ARCHITECTURE.md describes."""

    row: str  # First cell of the row
    edits: tuple[Edit, ...]
    # Files and folders of the row that this addition does not need, with the reason
    spared: Mapping[str, str] = {}

    @property
    def touched(self) -> list[str]:
        """Files that are changed or added."""
        return list(dict.fromkeys(edit.path for edit in self.edits))


class Page(NamedTuple):
    """The table of a page, and the files that its introduction names for all rows."""

    cells: Mapping[str, str]  # Second cell by first cell
    common: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> "Page":
        """Read the table of ARCHITECTURE.md."""
        _, _, section = text.partition(_HEADING)
        introduction, _, table = section.partition("\n| ")
        cells = {}
        for line in table.partition("\n\n")[0].splitlines():
            first, _, second = line.strip("| ").partition(" | ")
            cells[first] = second
        return cls(cells, tuple(paths_of(introduction)))


def paths_of(cell: str) -> list[str]:
    """Files and folders that a text names, from the root of the project; a folder ends in a slash,
    and a name may be a pattern.
    """
    return [_from_root(path) for path in _PATH.findall(cell)]


def _from_root(path: str) -> str:
    top = path.partition("/")[0]
    is_of_root = (ROOT / top).exists() and top != "__init__.pyi"
    return path if is_of_root else f"{SOURCE}/{path}"


class Assigned(NamedTuple):
    """Files of a change beside the names of its row: what is left of both."""

    unnamed: list[str]  # Files that nothing names; of a new folder, the folder
    untouched: list[str]  # Names without a file


def assigned(change: Change, names: Sequence[str], common: Iterable[str] = ()) -> Assigned:
    """Assign the files that a change touches to the names of its row.

    The name of a folder stands for one file in it, or for one new folder. The names of the
    introduction stand for any number of files.
    """
    spared = {_from_root(path) for path in change.spared}
    open_names = [name for name in names if name not in spared]
    left = list(dict.fromkeys(_new_folder(path) for path in change.touched))
    # files first, then folders from the inside out: the narrowest name takes a file
    for name in sorted(open_names, key=lambda name: (name.endswith("/"), -len(name))):
        taken = [path for path in left if _covers(name, path)][: 1 if name.endswith("/") else None]
        left = [path for path in left if path not in taken]
        if taken:
            open_names.remove(name)
    left = [path for path in left if not any(_covers(name, path) for name in common)]
    return Assigned(left, open_names + sorted(spared - set(names)))


def _new_folder(path: str) -> str:
    """The outermost folder of a file that the project lacks, with a slash; else the file."""
    for folder in reversed(Path(path).parents):
        if not (ROOT / folder).exists():
            return f"{folder.as_posix()}/"
    return path


def _covers(named: str, path: str) -> bool:
    if named.endswith("/"):
        return path.startswith(named)
    return fnmatch.fnmatchcase(path, named)


def copied(
    folder: Path, changes: Sequence[Change], *, folders: Sequence[str] = ("src", "tests")
) -> Path:
    """Copy the project, and make changes in the copy."""
    for name in folders:
        ignored = shutil.ignore_patterns("site", "__pycache__" if name == "tests" else "")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in _COPIED:
        shutil.copy2(ROOT / name, folder / name)
    kernel = Path(_kernel.__file__)
    shutil.copy2(kernel, folder / SOURCE / kernel.name)
    (folder / CHANGED).mkdir()
    (folder / CHANGED / "sitecustomize.py").write_text(_IN_PLACE, "utf-8")
    for change in changes:
        for edit in change.edits:
            _edit(folder, edit)
    return folder


def _edit(folder: Path, edit: Edit) -> None:
    path = folder / edit.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(edited(path.read_text("utf-8") if path.exists() else "", edit), "utf-8")


def edited(text: str, edit: Edit) -> str:
    """Make an edit in the text of its file, which is empty for a new file."""
    count = text.count(edit.old) if edit.old else int(not text)
    if count != 1:
        place = repr(edit.old) if edit.old else "no file"
        raise ValueError(
            f"{edit.path}: found {count} places, expected one of {place}; adapt the template in "
            "tests/changes/"
        )
    return text.replace(edit.old, edit.new) if edit.old else edit.new


def misfits(change: Change) -> list[str]:
    """Edits of a change that do not fit the files of the project."""
    texts: dict[str, str] = {}
    problems = []
    for edit in change.edits:
        path = ROOT / edit.path
        if edit.path not in texts:
            texts[edit.path] = path.read_text("utf-8") if path.exists() else ""
        try:
            texts[edit.path] = edited(texts[edit.path], edit)
        except ValueError as error:
            problems.append(str(error))
    return problems


def run_in(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with the package of a copy."""
    paths = [folder / CHANGED, folder / "src", folder]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def checked(folder: Path, *names: str) -> dict[str, str]:
    """Check changes in a copy: by name, what fails, empty if nothing does."""
    done = run_in(folder, "-m", "tests.changes.checks", str(folder), *names)
    if done.returncode:
        return dict.fromkeys(names, done.stdout + done.stderr)
    results: dict[str, str] = json.loads(done.stdout)
    return results
