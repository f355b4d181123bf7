"""The table 'Where to go for a change' of ARCHITECTURE.md, executed: for a row, a template adds
such a thing to a copy of the project, in the files that the row names, and the added thing works.

A row that lacks a file, or names one too many, fails; planted rows show it.
"""

from importlib import import_module
from pathlib import Path

import pytest

from tests.changes.copies import (
    ROOT,
    Change,
    Edit,
    Page,
    assigned,
    checked,
    copied,
    misfits,
    paths_of,
)

QUICK = ("measure", "switch", "column", "file_format", "output_format")
SLOW = ("backend", "click_model", "statistic", "feature")
EVERYTHING = ("docs", "experiments", "src", "tests")
PAGE = Page.read((ROOT / "ARCHITECTURE.md").read_text("utf-8"))


def change_of(name: str) -> Change:
    change: Change = import_module(f"tests.changes.{name}").CHANGE
    return change


def names_of(change: Change) -> list[str]:
    return paths_of(PAGE.cells[change.row])


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the failures of the quick changes, which one process checks in one copy."""
    folder = copied(tmp_path_factory.mktemp("quick"), [change_of(name) for name in QUICK])
    return checked(folder, *QUICK)


@pytest.mark.parametrize("name", QUICK)
def test_what_a_row_describes_works(name: str, failures: dict[str, str]) -> None:
    assert failures[name] == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_what_a_longer_row_describes_works(name: str, tmp_path: Path) -> None:
    folder = copied(tmp_path, [change_of(name)], folders=EVERYTHING)
    assert checked(folder, name)[name] == ""


@pytest.mark.parametrize("name", [*QUICK, *SLOW])
def test_a_template_fits_the_files_that_it_changes(name: str) -> None:
    assert misfits(change_of(name)) == []


@pytest.mark.parametrize("name", [*QUICK, *SLOW])
def test_a_row_names_the_files_of_its_change_and_no_others(name: str) -> None:
    change = change_of(name)
    assert assigned(change, names_of(change), PAGE.common) == ([], [])


@pytest.mark.parametrize("name", [*QUICK, *SLOW])
def test_a_row_that_loses_a_file_is_found(name: str) -> None:
    change = change_of(name)
    names = names_of(change)
    for lost in set(names) - set(PAGE.common):  # which the introduction names for all rows
        fewer = [name for name in names if name != lost]
        assert assigned(change, fewer, PAGE.common) != ([], []), lost


def test_planted_violations_are_found() -> None:
    read, new = "src/idealrank/io/read.py", "src/idealrank/io/new.py"
    change = Change("a thing", (Edit.file(new, ""),))
    assert assigned(change, paths_of("its module in `io/`")) == ([], [])
    assert assigned(change, paths_of("its module in `data/`")) == ([new], ["src/idealrank/data/"])
    names = paths_of("a module in `io/`, its row in `io/read.py`")
    assert assigned(change, names) == ([], [read])
    assert assigned(change._replace(spared={"io/read.py": "no need"}), names) == ([], [])
    spared = change._replace(spared={"io/gone.py": "no need"})
    assert assigned(spared, names[:1]) == ([], ["src/idealrank/io/gone.py"])
    assert len(misfits(change._replace(edits=(Edit(read, "no such text", ""),)))) == 1
    assert len(misfits(change._replace(edits=(Edit.file(read, ""),)))) == 1
    twice = change._replace(edits=(*change.edits, Edit(read, "a", "b")))
    assert assigned(twice, names) == ([], [])
    assert assigned(twice, names[:1]).unnamed  # the folder stands for one file
    room = change._replace(edits=tuple(Edit.file(f"src/idealrank/new/{n}.py", "") for n in "ab"))
    assert assigned(room, paths_of("its folder in `src/idealrank/`")) == ([], [])


def test_a_thing_that_does_not_work_is_found(tmp_path: Path) -> None:
    change = change_of("output_format")
    (edit,) = change.edits
    broken = change._replace(edits=(edit._replace(new=edit.new.replace('";"', '""')),))
    failure = checked(copied(tmp_path, [broken]), "output_format")["output_format"]
    assert "output_format.py" in failure  # the check itself ran, and failed
